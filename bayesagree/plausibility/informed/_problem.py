"""Votes, covariates and parameters of one informed posterior, as its engine and its PyMC model take them.

`InformedProblem` is the frame of labels of any form, and the form without order; `ordered` exchanges the pieces.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import shorten, warn
from bayesagree.inference.convergence import ENOUGH_DRAWS, MODES_APART, diagnostics
from bayesagree.inference.posterior import Drawer, Drawn, Request, label_dtype
from bayesagree.inference.slices import (
    ENOUGH_TO_BEGIN,
    Fit,
    Likelihoods,
    Prior,
    chains_of,
    climb,
    posterior,
)
from bayesagree.inference.streams import Seed, one_blas_thread, stream_apart
from bayesagree.plausibility.informed.annotators import warn_of_careless, weights
from bayesagree.plausibility.informed.covariates import Covariates, Excluded, aligned
from bayesagree.plausibility.informed.family import Items, draw_items, kinds
from bayesagree.plausibility.informed.prior import InformedPrior, Layout

# Most consecutive draws of a chain that share their parameters: a new set costs a hundred passes over all items.
MOST_SHARED = 5
# Parameters are learnt from so many cells (item, label) of annotated items, or so many items: more tell little more.
LEARNT_CELLS, LEARNT_ITEMS = 24_000, 1000
# Cells (item, label, vector) that are computed at once: more leave the processor's cache.
MOST_CELLS = 100_000
# Prior standard deviations of the odds of the second kind of items over which they are summed, and where chains begin:
# where it is nearly no item, most items, and all.
ODDS, BEGIN = np.linspace(-2.75, 2.75, 18), (-3.0, 2.0, 8.0)


def warn_of_chains(names: NDArray[np.str_], draws: Floats) -> None:
    """Warn where chains of the parameters disagree, draws (chain, draw, parameter); short ones say nothing of that."""
    if draws.shape[0] < 2 or draws.shape[1] < ENOUGH_DRAWS:
        return
    r_hat, _ = diagnostics(draws)
    bad = np.flatnonzero(r_hat > MODES_APART)
    if bad.size:
        warn(
            f"chains of {bad.size} of {names.size} parameters disagree (r_hat up to {r_hat[bad].max():.2f}, limit "
            f"{MODES_APART}): {shorten(names[bad])}; raise draws=. The posterior is bimodal: scores may change "
            "by up to a third of a standard deviation between seeds"
        )


@dataclass(frozen=True, eq=False)
class InformedProblem:
    """Labels and predictions on the same items, and what follows from them before any item is drawn.

    A form gives `layout`, the names and normal priors of its parameters; `said`, what predictions say of items; the
    log probability of votes (`log_votes`), and how parameters and items are drawn.
    """

    labels: Labels
    predictions: Any  # Predictions, or None where the labels alone tell of annotators
    exclude: Excluded = None
    prior: InformedPrior | None = None
    _drawn: dict[Any, Floats] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        labels: Labels,
        predictions: Predictions,
        exclude: Excluded = None,
        prior: InformedPrior | None = None,
    ) -> Self:
        """Align labels and predictions."""
        return cls(*aligned(labels, predictions), exclude, prior)

    @cached_property
    def covariates(self) -> Covariates:
        """The covariates of all items."""
        if self.predictions is None:
            shape = self.labels.items.size, 0, self.labels.categories.size
            return Covariates(np.zeros(shape, np.float32), np.zeros(shape[:2], np.int32), ())
        return Covariates.of(self.predictions, self.exclude)

    @cached_property
    def weighed(self) -> tuple[Floats, NDArray[np.int64]]:
        """The weight of each annotator, and the votes (item, label) that are about their items."""
        with one_blas_thread():
            weight, counts = weights(self)
        warn_of_careless(self.labels, weight)
        return weight, counts

    @property
    def weights(self) -> Floats:
        """Weight of each annotator, shape (annotator,)."""
        return self.weighed[0]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Votes that are about their items, shape (item, label)."""
        return self.weighed[1]

    def learnt(self, counts: NDArray[np.int64]) -> tuple[NDArray[np.intp], Floats]:
        """Return items to learn from, of those that have the same votes and predictions one, and how many they are."""
        voted = np.flatnonzero(counts.any(axis=1))
        most = max(LEARNT_ITEMS, LEARNT_CELLS // counts.shape[1])
        voted = np.sort(np.random.default_rng(0).permutation(voted)[:most])
        key = np.concatenate([counts[voted], self.said[voted]], axis=1)
        _, first, number = np.unique(key, axis=0, return_index=True, return_counts=True)
        return voted[first], number.astype(float)

    def learn(self, counts: NDArray[np.int64]) -> Floats:
        """Return the parameters under which votes (item, label) are most probable, roughly."""
        return self.climbed(counts).mode

    def parameters(self, draws: int, chains: int, random_seed: Seed) -> Floats:
        """Draw the parameters, shape (chain, draw, parameter)."""
        rng = np.random.default_rng(stream_apart(random_seed, "parameters"))
        with one_blas_thread():
            return self.sampled(draws, chains, rng)

    def drawn(self, request: Request) -> Floats:
        """Draw the parameters of a request, once, shape (chain, draw, parameter)."""
        key = request.draws, request.chains, request.random_seed
        if key not in self._drawn:
            shared = next(d for d in range(MOST_SHARED, 0, -1) if request.draws % d == 0)
            self._drawn[key] = self.parameters(request.draws // shared, request.chains, request.random_seed)
            warn_of_chains(self.layout.names, self._drawn[key])
        return self._drawn[key]

    def drawer(self, request: Request) -> Drawer:
        """Return the function that draws a block of items given draws of the parameters."""
        theta = self.drawn(request).reshape(-1, self.layout.mean.size)
        each, dtype = request.samples // len(theta), label_dtype(self.labels.categories.size)

        def draw(block: slice, rng: np.random.Generator) -> Drawn:
            drawn = self.draw_items(rng, theta, block, each, best=request.top_labels == 1)
            if drawn.ndim == 2:
                return Drawn(block, {"top_label": drawn[..., None].astype(dtype)})
            return Drawn(block, {"plausibility": drawn})

        return draw

    # The form without order.

    @cached_property
    def layout(self) -> Any:
        """Names and priors of the parameters."""
        return Layout(self.covariates.names, self.prior or InformedPrior())

    @cached_property
    def items(self) -> Items:
        """Covariates of all items, and the votes that are about them."""
        return Items(self.columns, self.counts)

    @cached_property
    def columns(self) -> Floats:
        """Covariates of all items, shape (label, item, column)."""
        return Items.of(self.covariates, self.labels.counts().astype(np.int64)).columns

    @property
    def said(self) -> Floats:
        """Covariates of all items, shape (item, label * column)."""
        return self.columns.swapaxes(0, 1).reshape(self.labels.items.size, -1)

    def log_votes(self, theta: Floats, item: NDArray[Any], counts: NDArray[np.int64]) -> Floats:
        """Return the log probability of votes (row, label) of items (row,) in one order, shape (row, vector)."""
        rows = Items(np.ascontiguousarray(self.columns[:, item]), counts)
        return kinds(theta, self.layout, rows).log_likelihoods(theta[:, -1])[0]

    def climbed(self, counts: NDArray[np.int64], odds: float | None = None) -> Fit:
        """Climb near the mode of the parameters, the odds of the second kind of items held, or at their mean."""
        at, number = self.learnt(counts)
        items, layout = Items(self.columns, counts).rows(at), self.layout
        odds = float(layout.mean[-1]) if odds is None else odds

        def values(some: Floats) -> Floats:
            return kinds(np.pad(some, ((0, 0), (0, 1))), layout, items).log_likelihoods(np.array(odds))[0]

        prior = Prior(layout.mean[:-1], layout.sd[:-1])
        mode, root = climb(by_cells(values, at.size * counts.shape[1]), prior, number, ENOUGH_TO_BEGIN)
        return Fit(np.append(mode, odds), root)

    def sampled(self, draws: int, chains: int, rng: Rng) -> Floats:
        """Draw the parameters, shape (chain, draw, parameter).

        The odds of the second kind are summed over a grid, and drawn from it afterwards: their posterior may be as flat
        as their prior, and chains that carry them along mix slowly.
        """
        (at, number), (*_, odds_mean), (*_, odds_sd) = (
            self.learnt(self.counts),
            self.layout.mean,
            self.layout.sd,
        )
        rough, odds = self.items.rows(at).single(), odds_mean + odds_sd * ODDS

        def of_odds(some: Floats) -> Floats:
            each = kinds(np.pad(some, ((0, 0), (0, 1))), self.layout, rough).log_likelihoods(*odds)
            return np.stack([number.astype(np.float32) @ one for one in each]) - 0.5 * np.square(ODDS)[:, None]

        by_odds = by_cells(of_odds, at.size * self.counts.shape[1])
        fits = [self.climbed(self.counts, one) for one in BEGIN]
        fits = [Fit(mode[:-1], root) for mode, root in fits]
        prior = Prior(self.layout.mean[:-1], self.layout.sd[:-1])
        density = posterior(lambda theta: sp.special.logsumexp(by_odds(theta), axis=0), prior)
        out = chains_of(density, fits, draws, chains, rng)
        weight = by_odds(out.reshape(-1, out.shape[2]))
        chosen = odds[(weight + rng.gumbel(size=weight.shape)).argmax(axis=0)]
        return np.concatenate([out, chosen.reshape(*out.shape[:2], 1)], axis=2)

    def draw_items(self, rng: Rng, theta: Floats, block: slice, each: int, *, best: bool) -> NDArray[Any]:
        """Draw items, `each` times at every parameter vector, as `family.draw_items`."""
        return draw_items(rng, theta, self.layout, self.items.rows(block), each, best=best)


def by_cells(function: Likelihoods, cells: int) -> Likelihoods:
    """Return a function of parameters (vector, parameter) that takes a few vectors of so many cells at a time."""
    step = max(1, MOST_CELLS // max(cells, 1))

    def of_all(theta: Floats) -> Floats:
        return np.concatenate([function(theta[at : at + step]) for at in range(0, len(theta), step)], axis=-1)

    return of_all
