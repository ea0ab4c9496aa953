"""Votes and predictions of one informed posterior: the frame of labels of any form, and the form without order.

The forms `ordered` and `gold` exchange the pieces: parameters, likelihood of votes, draws of items.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayesagree._types import Advance, Array, Floats, Integers, Places, Rng
from bayesagree.annotations.gold import Gold
from bayesagree.inference.blocks import DrawBlock, label_dtype
from bayesagree.inference.posterior import Drawer, Groups, Request
from bayesagree.inference.slices import (
    ENOUGH_TO_BEGIN,
    Fit,
    Likelihoods,
    Prior,
    chains_of,
    climb,
    posterior,
)
from bayesagree.inference.streams import one_blas_thread
from bayesagree.plausibility.informed.annotators import warn_of_careless, weights
from bayesagree.plausibility.informed.family import Items, columns_of, draw_items, kinds
from bayesagree.plausibility.informed.frame import Frame, Parameters, by_cells
from bayesagree.plausibility.informed.prior import InformedPrior

# Parameters are learnt from so many cells (item, label) of annotated items, or so many items: more tell little more.
LEARNT_CELLS, LEARNT_ITEMS = 24_000, 1000
# Cells (item, sample, label) that are drawn at once: what fits into a processor's cache takes half of the time.
DRAWN_CELLS = 400_000
# Prior standard deviations of the odds of the second kind of items over which they are summed, and where chains begin:
# where it is nearly no item, most items, and all.
ODDS, BEGIN = np.linspace(-2.75, 2.75, 18), (-3.0, 2.0, 8.0)


@dataclass(frozen=True, eq=False)
class LabelFrame(Frame):
    """Labels and predictions on the same items; a form gives `layout`, `likelihood` and `draw_items`."""

    prior: InformedPrior | None = None
    gold: Gold | None = None

    @cached_property
    def weighed(self) -> tuple[Floats, Integers]:
        """The weight of each annotator, of none here, and the votes (item, label) that are about their items."""
        return np.empty(0), self.annotations.counts()

    @abstractmethod
    def draw_items(self, rng: Rng, theta: Floats, block: Places, each: int, *, best: bool) -> Array:
        """Draw plausibilities (item, sample, label), `each` times at every parameter vector; or best labels."""

    @property
    def weights(self) -> Floats:
        """Weight of each annotator, shape (annotator,)."""
        return self.weighed[0]

    @property
    def counts(self) -> Integers:
        """Votes that are about their items, shape (item, label)."""
        return self.weighed[1]

    def drawer(self, request: Request) -> Drawer:
        """Return the function that draws a block of items given draws of the parameters."""
        theta = self.drawn(request).reshape(-1, self.layout.mean.size)
        each, best = request.samples // len(theta), request.top_labels == 1
        step = max(1, DRAWN_CELLS // (request.samples * self.annotations.categories.size))

        def draw(block: slice, rng: Rng) -> DrawBlock:
            every = np.arange(block.start, block.stop)
            parts = np.array_split(every, -(-every.size // step))
            drawn = np.concatenate([self.draw_items(rng, theta, part, each, best=best) for part in parts])
            if drawn.ndim == 3:
                return DrawBlock(block, plausibility=drawn)
            return DrawBlock(block, drawn[..., None].astype(label_dtype(self.annotations.categories.size)))

        return draw

    def known(self, request: Request) -> Groups:
        """Return the parameters, and how many votes items and labels have."""
        of_items, of_labels = (self.annotations.counts().sum(axis=axis) for axis in (1, 0))
        constant = {"n_votes": (("item",), of_items), "n_votes_of_label": (("category",), of_labels)}
        return {**super().known(request), "constant_data": constant}

    def diagnostics(self, request: Request) -> dict[str, Any]:
        """Return R-hat and effective sample size of the parameters, and the weights of annotators."""
        found = super().diagnostics(request)
        return found | ({"annotator_weight": (("annotator",), self.weights)} if self.weights.size else {})

    def coords(self) -> dict[str, Any]:
        """Return the names of parameters and annotators."""
        return super().coords() | ({"annotator": self.annotations.annotators} if self.weights.size else {})


class VoteFrame(LabelFrame):
    """Labels whose votes teach the parameters; a form gives `layout`, `said`, `of_votes` and `draw_items`."""

    @property
    @abstractmethod
    def said(self) -> Floats:
        """What predictions say of all items, shape (item, column)."""

    @abstractmethod
    def of_votes(self, item: Places, counts: Integers) -> Likelihoods:
        """Return the log probability of votes (row, label) of items (row,) in one order, shape (row, vector)."""

    @cached_property
    def weighed(self) -> tuple[Floats, Integers]:
        """The weight of each annotator, and the votes (item, label) that are about their items."""
        with one_blas_thread():
            weight, counts = weights(self)
        warn_of_careless(self.annotations, weight)
        return weight, counts

    def learnt(self, counts: Integers) -> tuple[Places, Floats]:
        """Return items to learn from, of those that have the same votes and predictions one, and how many they are."""
        voted = np.flatnonzero(counts.any(axis=1))
        most = max(LEARNT_ITEMS, LEARNT_CELLS // counts.shape[1])
        voted = np.sort(np.random.default_rng(0).permutation(voted)[:most])
        key = np.concatenate([counts[voted], self.said[voted]], axis=1)
        _, first, number = np.unique(key, axis=0, return_index=True, return_counts=True)
        return voted[first], number.astype(float)

    def likelihood(self, rng: Rng) -> tuple[Likelihoods, Floats]:
        """Return the log likelihood of distinct items, and how many are like each."""
        at, number = self.learnt(self.counts)
        return self.of_votes(at, self.counts[at]), number

    def near_mode(self, counts: Integers) -> Floats:
        """Return parameters near their mode given votes (item, label)."""
        at, number = self.learnt(counts)
        return climb(self.of_votes(at, counts[at]), self.layout.prior, number, ENOUGH_TO_BEGIN).mode


class InformedProblem(VoteFrame):
    """Labels without order and predictions on the same items."""

    # A third to two thirds of the draws are effective.
    a_draw = 1

    @cached_property
    def layout(self) -> Parameters:
        """Names and priors of the parameters."""
        return (self.prior or InformedPrior()).parameters(self.covariates.names)

    @cached_property
    def columns(self) -> Floats:
        """Covariates of all items, shape (label, item, column)."""
        return columns_of(self.covariates, self.annotations.counts())

    @cached_property
    def items(self) -> Items:
        """Covariates of all items, and the votes that are about them."""
        return Items.of(self.columns, self.counts)

    @property
    def said(self) -> Floats:
        """Covariates of all items, shape (item, label * column)."""
        return self.columns.swapaxes(0, 1).reshape(self.annotations.items.size, -1)

    def of_votes(self, item: Places, counts: Integers) -> Likelihoods:
        """Return the log probability of votes (row, label) of items (row,) in one order, shape (row, vector)."""
        rows = Items.of(np.ascontiguousarray(self.columns[:, item]), counts)
        return by_cells(lambda theta: kinds(theta, rows).log_likelihoods(theta[:, -1])[0], counts.size)

    def near_mode(self, counts: Integers) -> Floats:
        """Return parameters near their mode, the odds of the second kind of items held at their mean."""
        odds = self.layout.mean[-1]
        return np.append(self.begin(counts, [odds])[0].mode, odds)

    def begin(self, counts: Integers, every: Sequence[float]) -> list[Fit]:
        """Climb near the modes of the other parameters, the odds of the second kind of items held at each."""
        (item, number), (mean, sd) = self.learnt(counts), self.layout.prior
        values, prior, found = self.of_votes(item, counts[item]), Prior(mean[:-1], sd[:-1]), list[Fit]()
        for at in every:

            def held(some: Floats, at: float = at) -> Floats:
                return values(np.insert(some, some.shape[1], at, axis=1))

            start = found[-1].mode if found else None
            found.append(climb(held, prior, number, ENOUGH_TO_BEGIN, start))
        return found

    def sampled(self, draws: int, chains: int, rng: Rng, progress: Advance) -> Floats:
        """Draw the parameters, shape (chain, draw, parameter).

        The odds of the second kind are summed over a grid, and drawn from it afterwards: their posterior may be as flat
        as their prior, and chains that carry them along mix slowly.
        """
        (at, number), (mean, sd) = self.learnt(self.counts), self.layout.prior
        odds, rows, number = mean[-1] + sd[-1] * ODDS, self.items.rows(at), number.astype(np.float32)

        def of_odds(some: Floats) -> Floats:
            each = kinds(np.pad(some, ((0, 0), (0, 1))), rows).log_likelihoods(*odds)
            return np.stack([number @ one for one in each]) - 0.5 * np.square(ODDS)[:, None]

        by_odds = by_cells(of_odds, rows.counts.size)
        prior = Prior(mean[:-1], sd[:-1])
        density = posterior(lambda theta: np.logaddexp.reduce(by_odds(theta), axis=0), prior)
        out = chains_of(density, self.begin(self.counts, BEGIN), draws, chains, rng, progress, self.a_draw)
        weight = by_odds(out.reshape(-1, out.shape[2]))
        chosen = odds[(weight + rng.gumbel(size=weight.shape)).argmax(axis=0)]
        return np.concatenate([out, chosen.reshape(*out.shape[:2], 1)], axis=2)

    def draw_items(self, rng: Rng, theta: Floats, block: Places, each: int, *, best: bool) -> Array:
        """Draw items, `each` times at every parameter vector, as `family.draw_items`."""
        return draw_items(rng, theta, self.items.rows(block), each, best=best)
