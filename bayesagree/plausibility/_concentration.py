"""Dirichlet posteriors of many items at once: what `dirichlet` and `prirn` share once their shapes are known."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._streams import Seed, block_generators, item_blocks, map_blocks
from bayesagree._tree import check_size, positive_int, result_tree
from bayesagree.errors import InputError
from bayesagree.plausibility._blocks import DrawBlock, label_dtype
from bayesagree.plausibility._dirichlet_numba import plausibility_draws, top_label_draws


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
        """Add up the weight of each (item, label), then the prior shape of the label, shape (label,)."""
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
        """Return all shapes, shape (item, label)."""
        table = np.full((self.n_items, self.n_labels), self.rest)
        table[np.repeat(np.arange(self.n_items), np.diff(self.start)), self.label] = self.shape
        return table

    def top_label_blocks(self, depth: int, n_samples: int, seed: Seed) -> Iterator[DrawBlock]:
        """Yield the `depth` best labels of every draw, block of items by block."""
        dtype = label_dtype(self.n_labels)
        blocks = item_blocks(self.n_items)

        def draw(job: tuple[slice, np.random.Generator]) -> DrawBlock:
            items, rng = job
            out = np.empty((items.stop - items.start, n_samples, depth), dtype=dtype)
            bounds = self.start[items.start : items.stop + 1]
            top_label_draws(rng, bounds, self.label, self.shape, self.rest, self.n_labels, out)
            return DrawBlock(items, out)

        yield from map_blocks(draw, list(zip(blocks, block_generators(seed, len(blocks)))))

    def plausibilities(self, n_samples: int, seed: Seed) -> NDArray[np.float64]:
        """Return all draws, shape (sample, item, label)."""
        out = np.empty((n_samples, self.n_items, self.n_labels))
        blocks = item_blocks(self.n_items)

        def draw(job: tuple[slice, np.random.Generator]) -> tuple[slice, NDArray[np.float64]]:
            items, rng = job
            block = np.empty((items.stop - items.start, n_samples, self.n_labels))
            plausibility_draws(rng, self.start[items.start : items.stop + 1], self.label, self.shape, self.rest, block)
            return items, block

        for items, block in map_blocks(draw, list(zip(blocks, block_generators(seed, len(blocks))))):
            out[:, items] = np.swapaxes(block, 0, 1)
        return out


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
    settings: Mapping[str, Any],
) -> xr.DataTree:
    """Draw from Dirichlet posteriors into the result every exact plausibility returns."""
    draws, chains = positive_int(draws, "draws"), positive_int(chains, "chains")
    sizes = {"chain": chains, "draw": draws, "item": items.size}
    if top_labels is None:
        check_size(
            sizes | {"label": labels.size}, 8, max_bytes,
            "pass top_labels=L to keep only the L best labels of each draw, or evaluate(), which streams",
        )  # fmt: skip
        values = concentration.plausibilities(chains * draws, seed)
        posterior = {"plausibility": (("chain", "draw", "item", "label"), values.reshape(*sizes.values(), -1))}
    else:
        depth = check_depth(top_labels, labels.size)
        check_size(sizes | {"rank": depth}, 2, max_bytes, "use fewer draws, or evaluate(), which streams")
        stacked = np.empty((items.size, chains * draws, depth), dtype=label_dtype(labels.size))
        for block in concentration.top_label_blocks(depth, chains * draws, seed):
            stacked[block.items] = block.top_label
        top = np.moveaxis(stacked.reshape(items.size, chains, draws, depth), 0, 2)
        posterior = {"top_label": (("chain", "draw", "item", "rank"), top)}
    check_size({"item": items.size, "label": labels.size}, 8, max_bytes, "use evaluate(), which streams")
    return result_tree(
        {"posterior": posterior, "constant_data": {"concentration": (("item", "label"), concentration.dense())}},
        {"item": items, "label": labels, "rank": np.arange(1, (top_labels or 0) + 1)},
        engine="exact",
        seed=seed,
        settings=settings,
    )


def check_depth(top_labels: int, n_labels: int) -> int:
    """Return how many best labels to keep of each draw."""
    depth = positive_int(top_labels, "top_labels")
    if depth > n_labels:
        raise InputError(f"top_labels={depth} is more than the {n_labels} labels there are")
    return depth
