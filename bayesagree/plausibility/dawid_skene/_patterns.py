"""Items with equal votes, counted: the pixels of twenty masks have some hundred patterns of votes, not a million.

Where items of two labels number at least `FEWEST`, and `REPEATED` times their patterns, the `VARIANTS` draw patterns in
the place of items: the same posteriors, by another Gibbs sampler. Confusion is drawn, not integrated out, so that items
are independent given what they share. The items of a kept draw are drawn anew from their conditional distribution,
which leaves them a draw of the posterior together with confusion, prevalence and alpha.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy as sp
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats, Rng
from bayesagree.annotations import Labels
from bayesagree.plausibility.dawid_skene._confusion import ConfusionRows, write_confusion
from bayesagree.plausibility.dawid_skene._gibbs import CONDITIONAL_SHARE, Start, Written
from bayesagree.plausibility.dawid_skene._gibbs_kernels import draw_prevalence, draw_rows
from bayesagree.plausibility.dawid_skene._pattern_kernels import (
    draw_patterns,
    sweep_patterns,
    write_best,
    write_shares,
    write_truth,
)
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

# Variants that draw patterns.
VARIANTS = ("full", "hierarchical", "mixed_membership", "votes")
# Fewest items, and items per pattern, that are counted by patterns; most votes of an item.
FEWEST, REPEATED, MOST_VOTES = 20_000, 10, 60
# Sweeps before the first draw and per draw: latent labels of an item move together, and some twenty forget the start.
SWEEPS = (200, 1)


class Repeated(NamedTuple):
    """How many items have each pattern, shape (pattern,), and the pattern of each item, shape (item,)."""

    number: NDArray[np.int64]
    of_item: NDArray[np.int64]


def count_patterns(labels: Labels) -> tuple[Labels, Repeated] | None:
    """Return one item of each pattern of votes and how often it is there; None where too few items are alike."""
    size = np.bincount(labels.item_index, minlength=labels.items.size)
    if labels.categories.size != 2 or size.size < FEWEST or size.max() > MOST_VOTES:
        return None
    most = size.size // REPEATED
    pattern = _pattern_of(labels, most)
    return None if pattern.max() >= most else _one_of_each(labels, pattern, np.ones(size.size, np.int64))


def merge_patterns(labels: Labels, number: NDArray[np.int64]) -> tuple[Labels, Repeated]:
    """Return one item of each pattern of votes, where the items given are themselves there so many times."""
    return _one_of_each(labels, _pattern_of(labels, labels.items.size), number)


def _pattern_of(labels: Labels, most: int) -> NDArray[np.int64]:
    """Return the number of each item's pattern, 0, 1, ... by first appearance; where there are more than most, any."""
    size = np.bincount(labels.item_index, minlength=labels.items.size)
    vote = labels.annotator_index.astype(np.int64) * 2 + labels.label_index
    order = np.lexsort((vote, labels.item_index))
    vote, start, pattern = vote[order] + 1, np.cumsum(size) - size, size
    for place in range(size.max()):
        has = np.flatnonzero(size > place)
        here = np.zeros(size.size, np.int64)
        here[has] = vote[start[has] + place]
        pattern = pd.factorize(pattern * (2 * labels.annotators.size + 1) + here)[0]
        if pattern.max() >= most:
            break
    return pattern.astype(np.int64)


def _one_of_each(labels: Labels, pattern: NDArray[np.int64], number: NDArray[np.int64]) -> tuple[Labels, Repeated]:
    first = np.unique(pattern, return_index=True)[1]
    found = np.full(pattern.size, -1)
    found[first] = np.arange(first.size)
    kept = found[labels.item_index] >= 0
    rows = {name: getattr(labels, name)[kept] for name in ("annotator_index", "label_index", "count")}
    item = found[labels.item_index[kept]].astype(labels.item_index.dtype)
    one_each = replace(labels, items=labels.items[first], item_index=item, **rows)
    total = np.zeros(first.size, np.int64)
    np.add.at(total, pattern, number)
    return one_each, Repeated(total, pattern)


def split_patterns(labels: Labels, repeated: Repeated, parts: int) -> tuple[Labels, Repeated]:
    """Divide the items of each pattern p into so many patterns with the same votes: p * parts, p * parts + 1, ..."""
    item, part = np.divmod(np.arange(repeated.number.size * parts), parts)
    rows = np.repeat(np.arange(labels.item_index.size), parts)
    index = labels.item_index[rows].astype(np.int64) * parts + np.tile(np.arange(parts), labels.item_index.size)
    others = {name: getattr(labels, name)[rows] for name in ("annotator_index", "label_index", "count")}
    number = (repeated.number[item] + parts - 1 - part) // parts
    return replace(labels, items=np.arange(item.size), item_index=index, **others), Repeated(
        number, np.arange(item.size)
    )


class PatternSampler:
    """One chain of "full", "hierarchical" (alpha 0) or "mixed_membership": see `sweep_patterns`."""

    def __init__(
        self, start: Start, confusion: ConfusionRows, repeated: Repeated, prior: DawidSkenePrior, alpha: float
    ) -> None:
        self.cells, self.prevalence_shape, shares, _, rng, _ = start
        cells, self.confusion, self.prior, self.alpha = start.cells, confusion, prior, alpha
        self.number, self.of_item = repeated
        self.pair, self.prevalence = cells.cell.reshape(-1, 2), np.full(2, 0.5)
        most = int(cells.sizes.max())
        self.chance = np.zeros((cells.n_items, most + 1))
        self.sizes_above = np.cumsum(np.bincount(cells.sizes, self.number, most + 1)[:0:-1])[::-1].copy()
        # All annotations of an item start with one latent label, as under Dawid-Skene.
        ones = rng.binomial(self.number, shares.reshape(-1, 2)[:, 1])
        self.weights = self.weights_of(ones)
        sides = [np.bincount(cells.sizes, side, most + 1)[:0:-1] for side in (self.number - ones, ones)]
        self.above = np.cumsum(sides, axis=1)[:, ::-1].copy()
        if alpha:  # from equal labels alpha would fall at once
            draw_rows(rng, cells, self.weights, confusion.rows, confusion.confusion)
            known = cells.item_start, self.pair, self.number, alpha, self.prevalence, confusion.confusion
            draw_patterns(rng, *known, self.weights, self.above, self.chance)

    def weights_of(self, ones: NDArray[np.int64]) -> Floats:
        """Count the annotations of each confusion cell where so many items of each pattern have the true label 1."""
        size, n = self.cells.sizes, self.cells.cell_label.size
        zero, one = np.repeat(self.number - ones, size), np.repeat(ones, size)
        return np.bincount(self.pair[:, 0], zero, n) + np.bincount(self.pair[:, 1], one, n)

    def sweep(self, rng: Rng, times: int = 1) -> None:
        """Draw every unknown, so many times."""
        ambiguity = float(np.log(self.prior.ambiguity)), float(self.prior.ambiguity_sd), self.sizes_above
        known = self.cells, self.confusion.rows, self.pair, self.number, self.prevalence_shape, *ambiguity
        drawn = self.prevalence, self.confusion.confusion, self.weights, self.above, self.chance
        self.alpha = sweep_patterns(rng, times, *known, self.alpha, *drawn)

    @property
    def shape(self) -> tuple[float, float]:
        """Prior shapes of both plausibilities of an item."""
        return self.alpha * self.prevalence[0], self.alpha * self.prevalence[1]

    @property
    def expected(self) -> Floats:
        """Expectation of each pattern's plausibilities given what items share, shape (candidate,)."""
        zero, one = self.shape if self.alpha else (1e-9 * self.prevalence[0], 1e-9 * self.prevalence[1])
        ones = self.chance @ np.arange(self.chance.shape[1])
        share = (one + ones) / (zero + one + self.cells.sizes)
        return np.column_stack([1 - share, share]).ravel()

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.of_item.size

    def draw(self, rng: Rng, times: int, out: Written) -> None:
        """Sweep so many times and write the draw."""
        self.sweep(rng, times)
        self._write_items(rng, out.whole, out.items)
        rows, drawn = self.confusion.rows, self.confusion.confusion
        write_confusion(rng, self.cells, rows, self.prevalence, drawn, out.accuracy, out.confusion)

    def _write_items(self, rng: Rng, whole: bool, out: NDArray[Any]) -> None:
        """Draw the plausibilities of every item, shape (item, category), or its best labels, shape (item, rank)."""
        zero, one = self.shape
        if self.alpha == 0:
            best = self.expected[1::2]
            if whole:
                return write_truth(rng, self.of_item, best, CONDITIONAL_SHARE, out)
        elif whole:
            return write_shares(rng, self.of_item, self.cells.item_start, zero, one, self.chance, out)
        else:
            size, which = np.unique(self.cells.sizes, return_inverse=True)
            m = np.minimum(np.arange(self.chance.shape[1]), size[:, None])
            best = (self.chance * sp.special.betainc(zero + (size[:, None] - m), one + m, 0.5)[which]).sum(axis=1)
        return write_best(rng, self.of_item, best, out)

    def hyperparameters(self) -> dict[str, Floats]:
        """Return alpha where it is drawn, and the hyperparameters of the confusion."""
        return ({"ambiguity": np.array(self.alpha)} if self.alpha else {}) | self.confusion.hyperparameters()


class VotePatternSampler(PatternSampler):
    """Plausibilities ~ Dirichlet(votes + 1/2): of an item all latent labels are known, and alpha (1/2, 1/2) is too.

    The truth with which annotators are compared is drawn by itself.
    """

    def __init__(self, start: Start, confusion: ConfusionRows, repeated: Repeated, prior: DawidSkenePrior) -> None:
        super().__init__(start, confusion, repeated, prior, 0.0)
        self.alpha = 1.0
        votes = np.rint(start.shares.reshape(-1, 2)[:, 1] * self.cells.sizes).astype(np.int64)
        self.chance[np.arange(votes.size), votes * (self.cells.sizes > 0)] = 1.0
        self.sweep(start.rng)

    @property
    def shape(self) -> tuple[float, float]:
        """Prior shapes of both plausibilities of an item."""
        return 0.5, 0.5

    def sweep(self, rng: Rng, times: int = 1) -> None:
        """Draw a true label of each item, the prevalence and the confusion; draws are independent."""
        ones = rng.binomial(self.number, self.expected[1::2])
        labelled = self.cells.sizes > 0
        count = np.array([(self.number - ones)[labelled].sum(), ones[labelled].sum()], float)
        draw_prevalence(rng, self.prevalence_shape, count, self.prevalence)
        draw_rows(rng, self.cells, self.weights_of(ones), self.confusion.rows, self.confusion.confusion)

    def hyperparameters(self) -> dict[str, Floats]:
        """Return no hyperparameters."""
        return {}
