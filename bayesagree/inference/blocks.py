"""The best labels of each draw, block of items by block: the form in which certainty and metrics take any posterior."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import DTypeLike, NDArray

from bayesagree.errors import InputError, positive_int
from bayesagree.inference.streams import Seed, block_generators, item_blocks, map_blocks


class DrawBlock(NamedTuple):
    """Draws for a few neighbouring items.

    All rank metrics need only the best labels of each draw, so that (draw x item x label) never exists.

    Attributes
    ----------
    items
        Which items, as positions.
    top_label
        The `rank` best labels of each draw, best first, shape (item, sample, rank); sample = chain * draws + draw.
    diagnostics
        R-hat and bulk ESS of each item, shape (item, 2), where Markov chains made the draws.
    plausibility
        All plausibilities, shape (item, sample, category), on request.
    number, variance
        Where the truth of an item is a number: its draws, and the variance of ratings around it, shape (item, sample).
        The best labels then are the sides of a threshold, or none.
    """

    items: slice
    top_label: NDArray[Any]
    diagnostics: NDArray[np.float64] | None = None
    plausibility: NDArray[np.float64] | None = None
    number: NDArray[np.float64] | None = None
    variance: NDArray[np.float64] | None = None

    @property
    def truth(self) -> NDArray[Any]:
        """The number of each draw, or its best label, shape (item, sample)."""
        return self.true_label if self.number is None else self.number

    @property
    def true_label(self) -> NDArray[Any]:
        """The best label of each draw, shape (item, sample)."""
        return np.ascontiguousarray(self.top_label[:, :, 0])

    def some(self, inside: NDArray[np.intp]) -> "DrawBlock":
        """Return some items of the block, `items` then being their positions."""
        if inside.size == len(self.top_label):
            return self
        rows = ("top_label", "plausibility", "number", "variance")
        some = {name: getattr(self, name) for name in rows}
        some = {name: values if values is None else values[inside] for name, values in some.items()}
        items: Any = self.items
        at = np.arange(items.start, items.stop)[inside] if isinstance(items, slice) else items[inside]
        return self._replace(items=at, **some)


class Schedule(NamedTuple):
    """Where blocks of items are drawn, and the reduction applied to each.

    Attributes
    ----------
    client
        The `distributed.Client` whose workers draw; None for threads of this process. A worker holds the annotations
        and, for each of its threads, one block being drawn and about two results. A block of 64 items with S samples
        takes 64 S x 2 bytes x depth for the best labels (Plackett-Luce: also 8 bytes x labels named), 64 S x 8 bytes x
        labels for full plausibilities: 1.5 MB and 0.9 GB for 4000 samples of the best three, or of all, of 419 labels.
    then
        Applied to each block where it was drawn, so that draws need not travel.
    """

    client: Any = None
    then: Callable[[Any], Any] | None = None

    def draw(
        self, work: Callable[[slice, np.random.Generator], Any], n_items: int, random_seed: Seed
    ) -> Iterator[Any]:
        """Draw blocks in order, each from its own random stream, whichever thread or worker runs it."""
        blocks = item_blocks(n_items)
        jobs = list(zip(blocks, block_generators(random_seed, len(blocks))))
        then = self.then  # a worker gets no client
        one = (lambda job: work(*job)) if then is None else (lambda job: then(work(*job)))
        return map_blocks(one, jobs, self.client)

    def finish(self, block: Any) -> Any:
        """Reduce a block."""
        return block if self.then is None else self.then(block)


class Stream(NamedTuple):
    """Draws block of items by block, the settings that the posterior chose by itself, and how well its chains mixed."""

    blocks: Iterator[Any]
    chosen: Mapping[str, Any] = {}
    diagnostics: Mapping[str, Any] = {}


# Threads of this process, all blocks, as they are.
LOCAL = Schedule()
# Plausibilities that are copied at once.
AT_ONCE = 1_000_000


def label_dtype(n_labels: int) -> DTypeLike:
    """Return the smallest integer type that holds a label's position."""
    return np.int16 if n_labels <= np.iinfo(np.int16).max else np.int32


def best_labels(plausibility: NDArray[np.float64], depth: int) -> NDArray[Any]:
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


def by_chain(values: NDArray[Any], chains: int) -> NDArray[Any]:
    """Bring a block from (item, sample, ...) to (chain, draw, item, ...)."""
    n_items, n_samples, *rest = values.shape
    return np.moveaxis(values.reshape(n_items, chains, n_samples // chains, *rest), 0, 2)


def check_depth(top_labels: int, n_labels: int) -> int:
    """Return how many best labels to keep of each draw."""
    depth = positive_int(top_labels, "top_labels")
    if depth > n_labels:
        raise InputError(f"top_labels={depth} is more than the {n_labels} labels there are")
    return depth


def category_axis(categories: NDArray[Any], has_order: bool) -> xr.Variable:
    """Return the axis of the labels of a result, which holds whether they have an order."""
    return xr.Variable(("category",), categories, {"ordered": int(has_order)})
