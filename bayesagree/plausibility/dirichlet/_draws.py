"""Dirichlet posteriors of many items at once: what `dirichlet` and `prirn` share once their shapes are known."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.results import check_size, result_tree
from bayesagree._inference.storage import KeptDraws, Store, Variable
from bayesagree._inference.streams import Seed
from bayesagree.errors import InputError, positive_int
from bayesagree.plausibility._draws.blocks import HERE, DrawBlock, Schedule, label_dtype
from bayesagree.plausibility.dirichlet._kernels import plausibility_draws, top_label_draws


@dataclass(frozen=True, eq=False)
class Concentration:
    """Shapes of one Dirichlet distribution per item, most of them the same small number.

    Attributes
    ----------
    start, label, shape
        Item i gives the labels ``label[start[i]:start[i + 1]]`` these shapes.
    rest
        Shape of all its other labels.
    n_labels
        Number of labels.
    """

    start: NDArray[np.int64]
    label: NDArray[np.int32]
    shape: NDArray[np.float64]
    rest: float
    n_labels: int

    @classmethod
    def of(
        cls,
        item: NDArray[np.integer[Any]],
        label: NDArray[np.integer[Any]],
        weight: NDArray[np.float64],
        *,
        n_items: int,
        prior: NDArray[np.float64],
    ) -> Self:
        """Add up the weight of each (item, category), then the prior shape of the label, shape (label,)."""
        n_labels = prior.size
        cell, at = np.unique(item.astype(np.int64) * n_labels + label, return_inverse=True)
        shape = np.bincount(at, weights=weight, minlength=cell.size)
        if (prior != prior[0]).any():
            # Unnamed labels of different shapes do not form one group: every label counts as named.
            dense = np.tile(prior, (n_items, 1))
            dense.ravel()[cell] += shape
            start = np.arange(n_items + 1) * n_labels
            return cls(start, np.tile(np.arange(n_labels, dtype=np.int32), n_items), dense.ravel(), 0.0, n_labels)
        start = np.searchsorted(cell, np.arange(n_items + 1) * n_labels)
        return cls(start, (cell % n_labels).astype(np.int32), shape + prior[0], float(prior[0]), n_labels)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.start.size - 1

    def dense(self) -> NDArray[np.float64]:
        """Return all shapes, shape (item, category)."""
        table = np.full((self.n_items, self.n_labels), self.rest)
        table[np.repeat(np.arange(self.n_items), np.diff(self.start)), self.label] = self.shape
        return table

    def top_label_blocks(self, depth: int, n_samples: int, seed: Seed, schedule: Schedule = HERE) -> Iterator[Any]:
        """Yield the `depth` best labels of every draw, a `DrawBlock` for each block of items."""
        dtype = label_dtype(self.n_labels)

        def draw(items: slice, rng: np.random.Generator) -> DrawBlock:
            out = np.empty((items.stop - items.start, n_samples, depth), dtype=dtype)
            bounds = self.start[items.start : items.stop + 1]
            top_label_draws(rng, bounds, self.label, self.shape, self.rest, self.n_labels, out)
            return DrawBlock(items, out)

        return schedule.draw(draw, self.n_items, seed)

    def plausibility_blocks(self, n_samples: int, seed: Seed, schedule: Schedule = HERE) -> Iterator[Any]:
        """Yield items and all their draws, shape (item, sample, label), for each block of items."""

        def draw(items: slice, rng: np.random.Generator) -> tuple[slice, NDArray[np.float64]]:
            block = np.empty((items.stop - items.start, n_samples, self.n_labels))
            plausibility_draws(rng, self.start[items.start : items.stop + 1], self.label, self.shape, self.rest, block)
            return items, block

        return schedule.draw(draw, self.n_items, seed)


def concentration_tree(
    concentration: Concentration,
    items: NDArray[Any],
    labels: NDArray[Any],
    *,
    draws: int,
    chains: int,
    seed: Seed,
    top_labels: int | None,
    max_bytes: int,
    model: str,
    settings: Mapping[str, Any],
    client: Any = None,
    store: Store | None = None,
) -> xr.DataTree:
    """Draw from Dirichlet posteriors into the result every exact plausibility returns."""
    if store is not None and (finished := store.finished()) is not None:
        return finished
    sizes = {"chain": positive_int(chains, "chains"), "draw": positive_int(draws, "draws"), "item": items.size}
    depth = None if top_labels is None else check_depth(top_labels, labels.size)
    name, last = ("plausibility", {"category": labels.size}) if depth is None else ("top_label", {"rank": depth})
    dtype = np.float64 if depth is None else label_dtype(labels.size)
    if store is None:
        check_size(sizes | last, np.dtype(dtype).itemsize, max_bytes, way_out(depth))
    check_size({"item": items.size, "category": labels.size}, 8, max_bytes, "use evaluate(), which streams")
    sizes |= last
    kept = KeptDraws({name: Variable(tuple(sizes), tuple(sizes.values()), dtype)}, store)
    schedule, n_samples = Schedule(client, first=kept.first), chains * draws
    blocks: Iterator[Any] = (
        concentration.plausibility_blocks(n_samples, seed, schedule)
        if depth is None
        else concentration.top_label_blocks(depth, n_samples, seed, schedule)
    )
    for which, values, *_ in blocks:
        kept.put(which, {name: by_chain(values, chains)})
    return kept.finish(
        result_tree(
            {
                "posterior": {name: kept.variable(name)},
                "constant_data": {"concentration": (("item", "category"), concentration.dense())},
            },
            {"item": items, "category": labels, "rank": np.arange(1, (depth or 0) + 1)},
            model=model,
            engine="exact",
            seed=seed,
            settings=settings,
        )
    )


def by_chain(values: NDArray[Any], chains: int) -> NDArray[Any]:
    """Bring a block from (item, sample, ...) to (chain, draw, item, ...)."""
    n_items, n_samples, *rest = values.shape
    return np.moveaxis(values.reshape(n_items, chains, n_samples // chains, *rest), 0, 2)


def way_out(depth: int | None) -> str:
    """Say what to do about a result that is too large for memory."""
    if depth is None:
        return "pass top_labels=L to keep only the L best labels of each draw, to= for a file, or evaluate()"
    return "use fewer draws, to= for a file, or evaluate(), which streams"


def check_depth(top_labels: int, n_labels: int) -> int:
    """Return how many best labels to keep of each draw."""
    depth = positive_int(top_labels, "top_labels")
    if depth > n_labels:
        raise InputError(f"top_labels={depth} is more than the {n_labels} labels there are")
    return depth
