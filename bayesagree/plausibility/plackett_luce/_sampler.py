"""Plackett-Luce worths of many items, block of items by block, and the worths of labels not in play."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Rankings
from bayesagree.errors import one_of, positive, positive_int
from bayesagree.inference.blocks import label_dtype
from bayesagree.inference.convergence import diagnostics
from bayesagree.inference.pseudo_label import spread, top_labels
from bayesagree.plausibility.plackett_luce._gibbs import TINY, gibbs
from bayesagree.plausibility.plackett_luce._races import Races

Unranked = Literal["exact", "lumped"]
# Shape of each of the labels that are lumped together, within their sum: shares that differ by a thousandth.
EQUAL = 1e6


class Run(NamedTuple):
    """How long the sampler runs: `draws` kept per chain, one every `thin` sweeps, after `tune` sweeps."""

    chains: int
    tune: int
    draws: int
    thin: int


def worth_shape(n_labels: int, shape: float | None, unranked: Unranked) -> float:
    """Return the prior shape of the worth of a named label, for one treatment of the labels that nobody named."""
    one_of(unranked, "unranked", ("exact", "lumped"))
    usual = 1.0 if unranked == "lumped" else 1.0 / n_labels
    return positive(usual if shape is None else shape, "shape")


@dataclass(frozen=True, eq=False)
class Problem:
    """The rankings as races, and the gamma prior of their worths.

    `shape` (slot,): of each label in play, and of the sum over all others, which is a gamma variable too; `split`: of
    each of these within their sum, which falls to them as a Dirichlet distribution.
    """

    races: Races
    n_labels: int
    shape: Floats
    split: float

    @classmethod
    def of(
        cls,
        rankings: Rankings,
        reliability: int = 1,
        shape: float | None = None,
        unranked: Unranked = "exact",
        in_play: NDArray[np.bool_] | None = None,
    ) -> "Problem":
        """Read rankings, each of them `reliability` times."""
        races = Races.of(rankings, positive_int(reliability, "reliability"), in_play)
        n_labels = rankings.categories.size
        one = worth_shape(n_labels, shape, unranked)
        shapes = np.full(races.label.size, one)
        others = n_labels + 1 - np.diff(races.slot_start)
        shapes[races.others] = one * (np.minimum(others, 1) if unranked == "lumped" else others)
        return cls(races, n_labels, shapes, EQUAL if unranked == "lumped" else one)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.races.n_items

    @property
    def named(self) -> NDArray[np.bool_]:
        """Whether each label is in play, shape (item, category), and last the sum over all others, which is not."""
        table = np.zeros((self.n_items, self.n_labels + 1), bool)
        table[self.races.item, self.races.label] = True
        table[:, -1] = False
        return table

    def draw(self, items: slice, run: Run, rng: np.random.Generator) -> Floats:
        """Return shares of the slots of neighbouring items, shape (chain, draw, slot); those of an item sum to one."""
        races, edges = self.races, self.races.slot_start[items.start : items.stop + 1]
        out = np.empty((run.chains, run.draws, edges[-1] - edges[0]))
        for i, first, last, own in zip(
            range(items.start, items.stop), edges, edges[1:], rng.spawn(edges.size - 1)
        ):
            shape, drawn = self.shape[first:last], np.empty((run.draws, last - first))
            for chain in out:
                worth = own.standard_gamma(shape + races.arrivals[first:last])
                worth = np.maximum(worth, np.where(shape > 0, TINY, 0.0))
                start = (worth / worth.sum())[None]
                gibbs(races, self.shape, i, run.tune, own, start)
                drawn[0] = start[0]
                gibbs(races, self.shape, i, run.thin, own, drawn)
                chain[:, first - edges[0] : last - edges[0]] = drawn
        return out

    def diagnostics(self, items: slice, theta: Floats) -> Floats:
        """Return R-hat and effective sample size of the worst label of each item, shape (item, 2)."""
        start = self.races.slot_start[items.start : items.stop] - self.races.slot_start[items.start]
        r_hat, ess = diagnostics(theta)
        return np.stack([np.fmax.reduceat(r_hat, start), np.fmin.reduceat(ess, start)], axis=1)

    def reduce(self, items: slice, theta: Floats, depth: int | None, rng: np.random.Generator) -> NDArray[Any]:
        """Return the best `depth` labels of each draw, or all plausibilities, shape (item, sample, ...).

        Labels not in play compete too, each with its own random share of their mass.
        """
        width, dtype = (self.n_labels, np.float64) if depth is None else (depth, label_dtype(self.n_labels))
        out = np.zeros((items.stop - items.start, theta.shape[0] * theta.shape[1], width), dtype)
        edges, flat = self.races.slot_start[items.start : items.stop + 1], theta.reshape(-1, theta.shape[2])
        for one, start, stop, of_item in zip(out, edges, edges[1:], rng.spawn(len(out))):
            label = self.races.label[start : stop - 1]
            rest = np.setdiff1d(np.arange(self.n_labels), label)
            write = spread if depth is None else top_labels
            own = np.ascontiguousarray(flat[:, start - edges[0] : stop - edges[0]])
            write(own, label, rest, self.split, of_item, one)
        return out
