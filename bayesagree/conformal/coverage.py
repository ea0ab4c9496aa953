"""Coverage and size of prediction sets against two truths, by group; sets of items that did not calibrate them.

A set may cover the labels of annotators (the mass of the plausibilities inside, averaged over items), the vote winners,
or a stated mass of each item. These differ, and a table that shows one alone misleads.
"""

from typing import Any

import numpy as np
import pandas as pd
import scipy as sp
import xarray as xr

from bayesagree._types import Array, Booleans, Floats
from bayesagree.annotations._model_outputs import positions
from bayesagree.annotations.gold import ItemGroup
from bayesagree.annotations.predictions import Predictions
from bayesagree.conformal._truth import Truth, expected_plausibility, plausibility_draws, winners
from bayesagree.conformal.calibration import EVERYONE, conformalize
from bayesagree.conformal.sets import groups_of
from bayesagree.errors import InputError, positive_int, probability, shorten
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_predictions, as_truth

# A mass this far below the wanted one reaches it: sums of vote shares carry rounding errors.
ROUNDING = 1e-9


def set_coverage(
    truth: Truth, sets: xr.DataArray, *, mass: float = 0.9, by: ItemGroup | None = None, ci_prob: float = 0.95
) -> pd.DataFrame:
    """Compute coverage and size of prediction sets, with intervals, on items that did not calibrate them.

    Parameters
    ----------
    truth
        Plausibilities of the items: a posterior, vote shares or another point estimate (item, category), or labels.
    sets
        Whether a label is in the set, bool (model, item, category): `ConformalSets.predict_set`, `cross_sets`, or the
        sets of any other package. Items without a truth are left out.
    mass
        Mass of the plausibilities that a set should hold, for the rows ``mass_coverage``.
    by
        Group of each item, for a row per group.
    ci_prob
        Probability of the intervals.

    Returns
    -------
    DataFrame
        One row per model, group (with `by`) and quantity: ``value``, ``lower``, ``upper``, ``n_items``, ``ci_kind``,
        ``ci_prob``. Quantities: ``coverage``, mean mass of the plausibilities in the sets: the chance that a set holds
        the label of an annotator; ``majority_coverage``, share of sets with the most plausible label;
        ``mass_coverage``, share of sets (and draws) that hold the `mass`; ``size``, mean number of labels. Intervals
        are for these very sets and new items of the same kind: intervals of equal tails of the mean under a Bayesian
        bootstrap of the items, with one more item that is half covered (Jeffreys), as a Beta distribution of the same
        mean and variance.

    Raises
    ------
    InputError
        Sets without some of the items or with other labels.

    References
    ----------
    Brown, Cai and DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16 (2001),
    https://doi.org/10.1214/ss/1009213286.

    See Also
    --------
    cross_sets

    Examples
    --------
    >>> shares = xr.DataArray([[0.7, 0.3], [1.0, 0.0]], {"item": [0, 1], "category": ["a", "b"]}, ("item", "category"))
    >>> sets = xr.DataArray([[[True, False], [True, True]]], shares.expand_dims(model=["A"]).coords)
    >>> set_coverage(shares, sets)[["quantity", "value"]].values.tolist()
    [['coverage', 0.85], ['majority_coverage', 1.0], ['mass_coverage', 0.5], ['size', 1.5]]
    """
    truth = as_truth(truth)
    expected = expected_plausibility(truth)
    chosen = _aligned(sets, expected.items, expected.categories)
    values = {
        "coverage": np.einsum("ik,mik->mi", expected.values, chosen.astype(float)),
        "majority_coverage": np.einsum("ik,mik->mi", winners(expected.values), chosen.astype(float)),
        "mass_coverage": _mass_coverage(truth, chosen, probability(mass, "mass")),
        "size": chosen.sum(axis=2).astype(float),
    }
    groups = np.full(expected.items.size, EVERYONE) if by is None else groups_of(by, expected.items)
    rows = []
    names = ["model", "group", "quantity", "value", "lower", "upper", "n_items"]
    for m, model in enumerate(sets["model"].values.tolist()):
        for group in np.unique(groups):
            own = groups == group
            for quantity, of_items in values.items():
                scale = expected.categories.size if quantity == "size" else 1
                ends = (scale * end for end in _mean_interval(of_items[m, own] / scale, ci_prob))
                rows.append((model, group, quantity, float(of_items[m, own].mean()), *ends, int(own.sum())))
    table = pd.DataFrame(rows, columns=names).assign(ci_kind="eti", ci_prob=ci_prob)
    return table.drop(columns="group") if by is None else table


def cross_sets(
    truth: Truth, predictions: Predictions, *, folds: int = 2, random_seed: Seed = None, **options: Any
) -> xr.DataArray:
    """Compute the set of every item with a truth, calibrated on the other random folds.

    Parameters
    ----------
    truth, predictions
        As in `conformalize`.
    folds
        Number of folds; with two, each half calibrates the sets of the other.
    random_seed
        For the folds.
    options
        Further arguments of `conformalize`: coverage, method, score, by.

    Returns
    -------
    DataArray
        Whether a label is in the set, bool (model, item, category).

    See Also
    --------
    set_coverage

    Examples
    --------
    >>> names = {"item": range(100), "category": [0, 1]}
    >>> shares = xr.DataArray([[0.7, 0.3], [1.0, 0.0]] * 50, names, ("item", "category"))
    >>> models = Predictions.from_scores({"A": [[0.6, 0.4], [0.9, 0.1]] * 50})
    >>> set_coverage(shares, cross_sets(shares, models, random_seed=1))["value"].round(3).tolist()
    [1.0, 1.0, 1.0, 1.5]
    """
    truth = as_truth(truth)
    predictions = as_predictions(predictions, truth)
    expected = expected_plausibility(truth)
    n_items = expected.items.size
    if positive_int(folds, "folds") < 2 or folds > n_items:
        raise InputError(f"folds={folds} must be from 2 to the number of items, {n_items}")
    models = predictions.on_items(expected.items).aligned(expected.items, expected.categories)
    coords = {"item": expected.items, "category": expected.categories}
    known = xr.DataArray(expected.values, coords, ("item", "category"))
    fold = np.random.default_rng(*seed_sequence(random_seed).spawn(1)).permutation(n_items) % folds
    found = np.zeros((models.models.size, n_items, expected.categories.size), bool)
    for f in range(folds):
        new = np.flatnonzero(fold == f)
        sets = conformalize(known[fold != f], models, **options)
        found[:, new] = sets.predict_set(models.take(new, expected.items[new]), by=options.get("by")).values
    return xr.DataArray(
        found, {"model": predictions.models, **coords}, ("model", "item", "category"), "prediction_set"
    )


def _aligned(sets: xr.DataArray, items: Array, categories: Array) -> Booleans:
    """Return the sets of these items (model, item, category), in this order."""
    if set(sets.dims) != {"model", "item", "category"} or sets.dtype != bool:
        raise InputError(f"sets are bool with dims (model, item, category), not {sets.dtype} with {sets.dims}")
    sets = sets.transpose("model", "item", "category")
    column = positions(categories, sets["category"].values, "the sets", "label")
    row = sets.get_index("item").get_indexer(items)
    if (row < 0).any():
        raise InputError(f"{(row < 0).sum()} items have a truth and no set: {shorten(items[row < 0])}")
    return sets.values[:, row][:, :, column]


def _mass_coverage(truth: Truth, sets: Booleans, mass: float) -> Floats:
    """Return the share of draws in which a set holds the mass, shape (model, item)."""
    parts = []
    for block in plausibility_draws(truth).blocks:
        held = np.einsum("isk,mik->mis", np.asarray(block.plausibility), sets[:, block.items].astype(float))
        parts.append((held >= mass - ROUNDING).mean(axis=2))
    return np.concatenate(parts, axis=1)


def _mean_interval(values: Floats, prob: float) -> tuple[float, float]:
    """Return the interval of the mean of values between 0 and 1.

    Items have Dirichlet weights 1, and half an item more is covered, half an item is not: of values 0 and 1 the mean is
    then Beta(hits + 1/2, misses + 1/2); of others, the Beta distribution with the same mean and variance stands for it.
    Tails are equal (Brown, Cai and DasGupta 2001: the shortest interval covers less), and reach to the mean.
    """
    n = values.size
    mean = (values.sum() + 0.5) / (n + 1)
    variance = ((values**2).sum() + 0.5 - (n + 1) * mean**2) / ((n + 1) * (n + 2))
    size = mean * (1 - mean) / variance - 1
    tails = np.array([1 - probability(prob, "ci_prob"), 1 + prob]) / 2
    lower, upper = sp.special.betaincinv(mean * size, (1 - mean) * size, tails)
    return float(min(lower, values.mean())), float(max(upper, values.mean()))
