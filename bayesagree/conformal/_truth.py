"""Expected plausibilities and draws of any truth: a posterior, a point estimate, or the labels themselves."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations._model_outputs import positions
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, as_python, shorten, warn
from bayesagree.inference.results import concentration_of
from bayesagree.inference.top_labels import TruthDraws, truth_draws

# A posterior of plausibilities, vote shares or another point estimate (item, category), or labels.
Truth = xr.DataTree | xr.DataArray | Labels


class Plausibilities(NamedTuple):
    """Plausibilities by name: items, categories, values (item, category)."""

    items: NDArray[Any]
    categories: NDArray[Any]
    values: Floats


def expected_plausibility(truth: Truth) -> Plausibilities:
    """Return the expected plausibilities: in closed form where the posterior has one, else the mean of its draws.

    Raises
    ------
    InputError
        A posterior without plausibilities, or a point estimate with rows that do not sum to one.
    """
    if isinstance(truth, xr.DataTree) and (shape := concentration_of(truth)) is not None:
        values = shape.values / shape.values.sum(axis=1, keepdims=True)
        return Plausibilities(np.asarray(shape["item"]), np.asarray(shape["category"]), values)
    draws = plausibility_draws(truth)
    means = [np.asarray(block.plausibility).mean(axis=1) for block in draws.blocks]
    return Plausibilities(draws.items, draws.labels, np.concatenate(means))


def plausibility_draws(truth: Truth) -> TruthDraws:
    """Return the draws of a truth with their plausibilities; a point estimate is a single draw."""
    if isinstance(truth, Labels):
        truth = _shares(truth)
    elif isinstance(truth, xr.DataArray):
        _check_sums(truth)
    elif not isinstance(truth, xr.DataTree):
        raise InputError(
            f"truth is {type(truth).__name__}; pass a posterior, a DataArray (item, category) or Labels"
        )
    return truth_draws(truth, 1, plausibility=True)


def winners(plausibilities: Floats) -> Floats:
    """Return weight one on the most plausible label of each item, the first in label order among equal ones."""
    chosen = np.zeros_like(plausibilities)
    chosen[np.arange(chosen.shape[0]), plausibilities.argmax(axis=1)] = 1.0
    return chosen


def scores_of(
    predictions: Predictions, items: NDArray[Any] | None, categories: NDArray[Any]
) -> NDArray[np.floating]:
    """Return the scores (model, item, category) of these items, or of all, in the order of these categories.

    Raises
    ------
    InputError
        Hard labels, items without predictions, other categories.
    """
    scores = predictions.scores
    if scores is None:
        raise InputError("these predictions are hard labels; prediction sets need a score for each label")
    if not np.array_equal(predictions.categories, categories):
        scores = scores[:, :, positions(categories, predictions.categories, "the predictions", "label")]
    if items is None or np.array_equal(predictions.items, items):
        return scores
    place = pd.Index(predictions.items).get_indexer(pd.Index(items))
    if (place < 0).any():
        raise InputError(
            f"{int((place < 0).sum())} items have a truth and no prediction: {shorten(items[place < 0])}; predict "
            "them, or leave them out of the truth"
        )
    return scores[:, place]


def _shares(labels: Labels) -> xr.DataArray:
    counts = labels.counts().astype(np.float64)
    voted = counts.any(axis=1)
    if not voted.all():
        warn(f"{int((~voted).sum())} items have no annotation and are left out: {shorten(labels.items[~voted])}")
    shares = counts[voted] / counts[voted].sum(axis=1, keepdims=True)
    return xr.DataArray(shares, {"item": labels.items[voted], "category": labels.categories}, ("item", "category"))


def _check_sums(estimate: xr.DataArray) -> None:
    """Refuse a point estimate whose rows are no distributions."""
    if set(estimate.dims) != {"item", "category"}:
        raise InputError(f"a point estimate has dims (item, category), not {estimate.dims}")
    values = estimate.transpose("item", "category").values.astype(np.float64)
    total = values.sum(axis=1)
    bad = ~(np.abs(total - 1) <= 1e-6) | (values.min(axis=1) < 0)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"item {as_python(estimate['item'].values[row])!r}: plausibilities {shorten(values[row])} sum to "
            f"{total[row]:.8g} or are negative; divide counts by their sum, and drop items without annotations"
        )
