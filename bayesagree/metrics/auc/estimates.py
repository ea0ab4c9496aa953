"""Area under the curve (AUC) without ground truth, by three definitions of the truth.

======  ==============================  =====================================================================
method  the truth is                    AUC against
======  ==============================  =====================================================================
dgt     one label per item              the majority of the item's labels
sgt     each annotator's own            the labels of each annotator, averaged by number of labels
pgt     a probability per item          the smoothed share of positive labels (`concordance`)
======  ==============================  =====================================================================

Source: Urkullu, Perez, Calvo: On the evaluation and selection of classifier learning algorithms with crowdsourced
data, section 3. More than two labels: Hand and Till, A simple generalisation of the area under the ROC curve (2001).
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._inference.docstrings import shared
from bayesagree._inference.streams import Seed
from bayesagree._numerics.types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, as_python, shorten
from bayesagree.metrics.auc._areas import Areas, AucMethod, AucOptions, Compare, VoteTies, against_truth, areas

_shared = shared(
    labels="Crowd labels (for `auc`: of two kinds), at most one per item and annotator.",
    predictions="Models; items that nobody labelled have no part.",
    method='Truth that the labels define, see the table of this module: ``"pgt"``, ``"dgt"`` or ``"sgt"``.',
    weights="Weight of each annotator's labels, by name; by default all are 1.",
    prior="""
    For "pgt": pseudo-labels of each kind added to an item, p_i = (n_i1 + prior) / (n_i + 2 prior): 0.5 is
    Jeffreys-Perks, 1 Laplace, 0 the plain share.
    """,
    ties="""
    For "dgt", an item with a tied vote: a coin thrown once for all models ("random"), a coin thrown for each model, as
    published, which adds noise to every comparison ("redrawn"), or left out ("exclude").
    """,
    seed="Decides the coins.",
)


@_shared
@checked
def auc(
    labels: Labels,
    predictions: Predictions,
    *,
    method: AucMethod = "pgt",
    weights: Mapping[Any, float] | None = None,
    prior: float = 0.5,
    ties: VoteTies = "random",
    seed: Seed = None,
) -> xr.DataArray:
    """Area under the curve (AUC) of each model, from crowd labels of two kinds; the last label is the positive one.

    The AUC is the probability that a model scores a positive item above a negative one, equal scores counting one
    half. Scores are those of the positive label; hard labels count as scores 0 and 1.

    Parameters
    ----------
    {labels, predictions, method, weights, prior, ties, seed}

    Returns
    -------
    DataArray
        AUC with dim (model,), NaN where it does not exist. attrs count the `uninformative_items`, which have no label,
        no weight or an excluded tie ("pgt" with a prior keeps them, at 1/2), and, for "sgt", the
        `uninformative_annotators`, who used one label only and have no part in the mean. A warning names them.

    Raises
    ------
    InputError
        More than two labels, repeated annotations, other items, unknown annotators for "sgt" or `weights`.

    Examples
    --------
    >>> labels = Labels.from_counts([[3, 0], [2, 1], [1, 2], [0, 3]], labels=["no", "yes"])
    >>> scores = {"A": [[0.9, 0.1], [0.7, 0.3], [0.8, 0.2], [0.4, 0.6]]}
    >>> auc(labels, Predictions.from_scores(scores, labels=["no", "yes"])).round(3).item()
    0.833

    References
    ----------
    Urkullu, Perez, Calvo, algorithms 1 (dgt), 2 (sgt) and 3 (pgt).
    """
    if labels.categories.size != 2:
        raise InputError(
            f"auc needs two labels, got {labels.categories.size} ({shorten(labels.categories)}); "
            "use one_vs_rest_auc or hand_till_auc"
        )
    options = AucOptions(method, weights, prior, ties)
    return _estimate(labels, predictions, options, seed, _last_label, lambda table: table[0])


@_shared
@checked
def one_vs_rest_auc(
    labels: Labels,
    predictions: Predictions,
    *,
    method: AucMethod = "pgt",
    weights: Mapping[Any, float] | None = None,
    prior: float = 0.5,
    ties: VoteTies = "random",
    seed: Seed = None,
) -> xr.DataArray:
    """AUC of each model for each label against all others together.

    "dgt" votes among all labels first.

    Parameters
    ----------
    {labels, predictions, method, weights, prior, ties, seed}

    Returns
    -------
    DataArray
        AUC with dims (model, category).

    Examples
    --------
    >>> labels = Labels.from_counts([[3, 0, 0], [0, 3, 0], [0, 1, 2]], labels=["a", "b", "c"])
    >>> predictions = Predictions.from_labels({"A": ["a", "b", "b"]}, labels=["a", "b", "c"])
    >>> one_vs_rest_auc(labels, predictions).values.tolist()
    [[1.0, 0.8333333333333334, 0.5]]
    """
    options = AucOptions(method, weights, prior, ties)
    areas_of = _estimate(labels, predictions, options, seed, _each_label, lambda table: table.T)
    return areas_of.assign_coords(category=labels.categories)


@_shared
@checked
def hand_till_auc(
    labels: Labels,
    predictions: Predictions,
    *,
    method: AucMethod = "pgt",
    weights: Mapping[Any, float] | None = None,
    prior: float = 0.5,
    ties: VoteTies = "random",
    seed: Seed = None,
) -> xr.DataArray:
    """Hand and Till's M of each model: the mean AUC over pairs of labels.

    For labels k and l, the mean of the AUC of k against l by the score of k, and of l against k by the score of l,
    on the annotations that say k or l. "dgt" votes among all labels first.
    A pair that no model can be compared on has no part in the mean (a warning names it).

    Parameters
    ----------
    {labels, predictions, method, weights, prior, ties, seed}

    Returns
    -------
    DataArray
        M with dim (model,).

    Examples
    --------
    >>> labels = Labels.from_counts([[3, 0, 0], [0, 3, 0], [0, 1, 2]], labels=["a", "b", "c"])
    >>> predictions = Predictions.from_labels({"A": ["a", "b", "b"]}, labels=["a", "b", "c"])
    >>> hand_till_auc(labels, predictions).round(3).item()
    0.694
    """
    return _estimate(labels, predictions, AucOptions(method, weights, prior, ties), seed, _each_pair, _mean_of_pairs)


def _mean_of_pairs(table: Floats) -> Floats:
    exists = ~np.isnan(table)
    return np.where(exists, table, 0).sum(axis=0) / np.where(exists.any(axis=0), exists.sum(axis=0), np.nan)


def _last_label(labels: Labels, scores: Floats, options: AucOptions) -> dict[Any, Areas]:
    return {None: areas(labels, labels.label_index == labels.categories.size - 1, scores[-1], options)}


def _each_label(labels: Labels, scores: Floats, options: AucOptions) -> dict[Any, Areas]:
    return {
        as_python(name): areas(labels, labels.label_index == k, scores[k], options)
        for k, name in enumerate(labels.categories)
    }


def _each_pair(labels: Labels, scores: Floats, options: AucOptions) -> dict[Any, Areas]:
    """Compare each pair of labels on the annotations that say either."""
    found = {}
    for k, m in combinations(range(labels.categories.size), 2):
        rows = np.flatnonzero((labels.label_index == k) | (labels.label_index == m))
        here, item = np.unique(labels.item_index[rows], return_inverse=True)
        pair = replace(
            labels,
            items=labels.items[here],
            item_index=item.astype(np.int32),
            annotator_index=labels.annotator_index[rows],
            label_index=labels.label_index[rows],
            count=labels.count[rows],
        )
        one, other = (areas(pair, pair.label_index == c, scores[c][:, here], options) for c in (k, m))
        names = as_python(labels.categories[k]), as_python(labels.categories[m])
        found[names] = replace(one, values=(one.values + other.values) / 2)
    return found


def _estimate(
    labels: Labels,
    predictions: Predictions,
    options: AucOptions,
    seed: Seed,
    compare: Compare,
    combine: Callable[[Floats], Floats],
) -> xr.DataArray:
    """Combine the areas (label or pair, model), and warn of uninformative items and annotators."""
    options = options.checked()
    found = against_truth(labels, predictions, options, seed, compare)
    values = combine(np.stack([area.values for area in found.values()]))
    kept = options.method == "pgt" and options.prior > 0
    missing = [key for key, area in found.items() if np.isnan(area.values).any()]
    if missing:
        where = "" if missing == [None] else f" for the labels {shorten(missing)}"
        warnings.warn(f"no AUC{where}: nobody used both labels, or no items or annotators differ", stacklevel=3)
    attrs: dict[str, Any] = {"method": options.method}
    for name, of, fate in (
        ("items", lambda area: area.uninformative_items, "stay at one half" if kept else "have no part in the AUC"),
        ("annotators", lambda area: area.uninformative_annotators, "have no part in the AUC"),
    ):
        key, uninformative = max(((key, of(area)) for key, area in found.items()), key=lambda pair: pair[1].size)
        attrs[f"uninformative_{name}"] = uninformative.size
        if uninformative.size:
            why = "without labels that tell anything" if name == "items" else "used one label only or have weight 0 and"
            place = "" if key is None else f" (labels {key!r})"
            warnings.warn(f"{uninformative.size} {name} {why} {fate}{place}: {shorten(uninformative)}", stacklevel=3)
    dims = ("model", "category")[: values.ndim]
    return xr.DataArray(values, dims=dims, coords={"model": predictions.models}, name="auc", attrs=attrs)
