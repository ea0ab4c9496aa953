"""Top-k accuracy without Monte-Carlo error, and on the items of a risk level."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._inference.docstrings import shared
from bayesagree.annotations.predictions import Predictions
from bayesagree.certainty import label_certainty, level_probability
from bayesagree.errors import InputError
from bayesagree.metrics._scorer import mass_of_best, over_draws

_shared = shared(
    truth="A posterior of plausibilities, or of ratings, with `threshold`.",
    predictions="Models to score, on the same items and labels.",
    k="Size of the model's prediction set.",
    threshold='For ratings: the labels are then "below" and "at_or_above".',
)


@_shared
@checked
def expected_top_k_accuracy(
    truth: xr.DataTree, predictions: Predictions, *, k: int = 1, threshold: float | None = None
) -> xr.DataArray:
    """Posterior mean of the top-k accuracy, without Monte-Carlo error.

    The sum over the model's k best labels of their exact certainty, averaged over items.

    Parameters
    ----------
    truth
        A posterior with a closed form: `dirichlet`, `prirn`, or `normal_inverse_gamma` with `threshold`.
    {predictions, k, threshold}

    Returns
    -------
    DataArray
        Expected accuracy (model).

    See Also
    --------
    top_k_accuracy, label_certainty

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> score = expected_top_k_accuracy(dirichlet(given.labels, seed=1), given.predictions)
    >>> score.values.round(2).tolist()
    [0.72, 0.73, 0.62]
    """
    certainty = label_certainty(truth, exact=True, threshold=threshold)
    aligned = predictions.aligned(np.asarray(certainty["item"]), np.asarray(certainty["category"]))
    value = mass_of_best(certainty.values, aligned, k)
    return xr.DataArray(value, dims="model", coords={"model": predictions.models}, name=f"top_{k}_accuracy")


@_shared
@checked
def accuracy_given_risk(
    truth: xr.DataTree,
    predictions: Predictions,
    risk: Mapping[Any, float],
    level: float,
    *,
    k: int = 1,
    threshold: float | None = None,
) -> xr.DataArray:
    """Top-k accuracy on the items of a risk level, each weighted by its probability of being one.

    "The high-risk items" are not known when the truth is not; the weight of an item is the probability that the risk of
    its most plausible label is `level`.

    Parameters
    ----------
    {truth, predictions}
    risk, level
        Label to level, and the level asked for.
    {k, threshold}

    Returns
    -------
    DataArray
        One value per draw, dims (chain, draw, model).

    Raises
    ------
    InputError
        A level that no label has.

    See Also
    --------
    top_k_accuracy, risk_certainty

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> risk = {0: 0, 1: 0, 2: 1, 3: 1}
    >>> score = accuracy_given_risk(dirichlet(given.labels, seed=1), given.predictions, risk, 1)
    >>> score.mean(("chain", "draw")).values.round(2).tolist()
    [0.73, 0.73, 0.61]
    """
    probability = level_probability(truth, risk, threshold=threshold)
    if level not in probability["level"]:
        raise InputError(f"risk level {level!r} is not one of {probability['level'].values.tolist()}")
    weight = probability.sel(level=level).values
    return over_draws("top_{}_accuracy", truth, predictions, k, threshold, weight)
