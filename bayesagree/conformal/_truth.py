"""Expected plausibilities and draws of any truth: a posterior, a point estimate, or the labels themselves."""

from collections.abc import Callable
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
from bayesagree.inference.streams import BLOCK, item_blocks
from bayesagree.inference.top_labels import plausibility_block, plausibility_draws

# A posterior of plausibilities, vote shares or another point estimate (item, category), or labels.
type Truth = xr.DataTree | xr.DataArray | Labels


class Plausibilities(NamedTuple):
    """Plausibilities by name: items, categories, values (item, category)."""

    items: NDArray[Any]
    categories: NDArray[Any]
    values: Floats


class PlausibilityDraws(NamedTuple):
    """Draws by name: items, categories, draws (sample, item, category) of some items, how many to read at once."""

    items: NDArray[Any]
    categories: NDArray[Any]
    read: Callable[[slice], Floats]
    at_once: int

    @property
    def blocks(self) -> list[slice]:
        """Blocks of items to read one after the other."""
        return item_blocks(self.items.size, self.at_once)


def expected_plausibility(truth: Truth) -> Plausibilities:
    """Return the expected plausibilities: in closed form where the posterior has one, else the mean of its draws.

    Raises
    ------
    InputError
        A posterior without plausibilities, or a point estimate with rows that do not sum to one.
    """
    if isinstance(truth, xr.DataTree) and (shape := concentration_of(truth)) is not None:
        values = shape.values
        return Plausibilities(*_axes(shape), values / values.sum(axis=1, keepdims=True))
    draws = plausibility_of(truth)
    values = np.concatenate([draws.read(items).mean(axis=0) for items in draws.blocks])
    return Plausibilities(draws.items, draws.categories, values)


def plausibility_of(truth: Truth) -> PlausibilityDraws:
    """Return the draws of a truth; a point estimate is a single draw."""
    if isinstance(truth, Labels):
        known = _shares(truth)
    elif isinstance(truth, xr.DataArray):
        known = _point(truth)
    elif isinstance(truth, xr.DataTree):
        return _posterior(truth)
    else:
        raise InputError(f"truth is {type(truth).__name__}; pass a posterior, a DataArray (item, category) or Labels")
    return PlausibilityDraws(known.items, known.categories, lambda items: known.values[None, items], known.items.size)


def winners(plausibilities: Floats) -> Floats:
    """Return weight one on the most plausible label of each item, the first in label order among equal ones."""
    chosen = np.zeros_like(plausibilities)
    chosen[np.arange(chosen.shape[0]), plausibilities.argmax(axis=1)] = 1.0
    return chosen


def scores_of(predictions: Predictions, items: NDArray[Any] | None, categories: NDArray[Any]) -> NDArray[np.floating]:
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


def _shares(labels: Labels) -> Plausibilities:
    counts = labels.counts().astype(np.float64)
    total = counts.sum(axis=1, keepdims=True)
    voted = total[:, 0] > 0
    if not voted.all():
        warn(f"{int((~voted).sum())} items have no annotation and are left out: {shorten(labels.items[~voted])}")
    return Plausibilities(labels.items[voted], labels.categories, (counts / np.maximum(total, 1))[voted])


def _point(estimate: xr.DataArray) -> Plausibilities:
    if set(estimate.dims) != {"item", "category"}:
        raise InputError(f"a point estimate has dims (item, category), not {estimate.dims}")
    estimate = estimate.transpose("item", "category")
    items, categories = _axes(estimate)
    values = np.ascontiguousarray(estimate.values, np.float64)
    total = values @ np.ones(values.shape[1])
    bad = ~(np.abs(total - 1) <= 1e-6)
    if bad.any() or values.min() < 0:
        row = int((bad | (values.min(axis=1) < 0)).argmax())
        raise InputError(
            f"item {as_python(items[row])!r}: plausibilities {shorten(values[row])} sum to {total[row]:.8g} or are "
            "negative; divide counts by their sum, and drop items without annotations"
        )
    return Plausibilities(items, categories, values)


def _posterior(tree: xr.DataTree) -> PlausibilityDraws:
    if "posterior" not in tree or "plausibility" not in tree["posterior"].data_vars:
        found = list(map(str, tree["posterior"].data_vars)) if "posterior" in tree else ["no posterior"]
        way_out = "draw them without top_labels=" if "top_label" in found else "take a posterior of labels or rankings"
        raise InputError(f"no plausibilities of labels in this result ({', '.join(found)}); {way_out}")
    items = np.asarray(tree["posterior"]["item"])
    categories = np.asarray(plausibility_draws(tree, slice(0))["category"])

    def read(block: slice) -> Floats:
        values = plausibility_block(tree, block)
        return np.ascontiguousarray(values, np.float64).reshape(-1, *values.shape[2:])

    return PlausibilityDraws(items, categories, read, BLOCK)


def _axes(values: xr.DataArray) -> tuple[NDArray[Any], NDArray[Any]]:
    return np.asarray(values["item"]), np.asarray(values["category"])
