"""The best labels of each draw, block of items by block: the form in which certainty and metrics take any posterior."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import DTypeLike

from bayesagree._types import Array, Floats, Places
from bayesagree.errors import InputError, positive_int
from bayesagree.inference.results import variable


class DrawBlock(NamedTuple):
    """Draws of a few neighbouring items; sample = chain * draws + draw.

    A posterior gives some of the values; scores read `top_label`, so that (draw x item x label) need never exist.

    Attributes
    ----------
    items
        Which items, as positions.
    top_label
        The `rank` best labels of each draw, best first, shape (item, sample, rank).
    plausibility
        All plausibilities, shape (item, sample, category).
    mean, variance
        Where the truth of an item is a number: its draws, and the variance of ratings around it, shape (item, sample).
        The best labels then are the sides of a threshold, or none.
    diagnostics
        R-hat and bulk ESS of each item, shape (item, 2), where Markov chains made the draws.
    """

    items: slice
    top_label: Any = None
    plausibility: Any = None
    mean: Any = None
    variance: Any = None
    diagnostics: Any = None

    @property
    def truth(self) -> Array:
        """The number of each draw, or its best label, shape (item, sample)."""
        return self.true_label if self.mean is None else self.mean

    @property
    def true_label(self) -> Array:
        """The best label of each draw, shape (item, sample)."""
        return np.ascontiguousarray(self.top_label[:, :, 0])

    def some(self, inside: Places) -> "DrawBlock":
        """Return some items of the block, `items` then being their positions."""
        if inside.size == len(self.top_label):
            return self
        items: Any = (
            np.arange(self.items.start, self.items.stop) if isinstance(self.items, slice) else self.items
        )
        return DrawBlock(items[inside], *(None if values is None else values[inside] for values in self[1:]))

    def ranked(self, depth: int | None) -> "DrawBlock":
        """Return the block with the best labels of its plausibilities, where these are all that it has."""
        if depth is None or self.plausibility is None:
            return self
        return self._replace(top_label=best_labels(self.plausibility, depth))


class Stream(NamedTuple):
    """Draws block of items by block, the settings that the posterior chose by itself, and how well its chains mixed."""

    blocks: Iterator[Any]
    chosen: Mapping[str, Any] = {}
    diagnostics: Mapping[str, Any] = {}


# Plausibilities that are copied at once.
AT_ONCE = 1_000_000


def label_dtype(n_labels: int) -> DTypeLike:
    """Return the smallest integer type that holds a label's position."""
    return np.int16 if n_labels <= np.iinfo(np.int16).max else np.int32


def best_labels(plausibility: Floats, depth: int) -> Array:
    """Return the best labels of plausibilities (..., category), shape (..., rank); equal ones in label order."""
    n_labels = plausibility.shape[-1]
    rows = plausibility.reshape(-1, n_labels)
    out = np.empty((len(rows), depth), label_dtype(n_labels))
    for start in range(0, len(rows), step := max(1, AT_ONCE // n_labels)):
        left, best = rows[start : start + step], out[start : start + step]
        best[:, 0] = left.argmax(axis=1)
        left = left.copy() if depth > 1 else left
        for rank in range(1, depth):
            np.put_along_axis(left, best[:, rank - 1 : rank], -np.inf, axis=1)
            best[:, rank] = left.argmax(axis=1)
    return out.reshape(*plausibility.shape[:-1], depth)


def by_chain(values: Array, chains: int) -> Array:
    """Bring a block from (item, sample, ...) to (chain, draw, item, ...)."""
    n_items, n_samples, *rest = values.shape
    return np.moveaxis(values.reshape(n_items, chains, n_samples // chains, *rest), 0, 2)


def check_depth(top_labels: int, n_labels: int) -> int:
    """Return how many best labels to keep of each draw."""
    depth = positive_int(top_labels, "top_labels")
    if depth > n_labels:
        raise InputError(f"top_labels={depth} is more than the {n_labels} labels there are")
    return depth


def category_axis(categories: Array, has_order: bool) -> xr.Variable:
    """Return the axis of the labels of a result, which holds whether they have an order."""
    return variable("category", categories, {"ordered": int(has_order)})
