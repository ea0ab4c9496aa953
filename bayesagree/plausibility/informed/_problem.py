"""Votes, covariates and parameters of one informed posterior, as its engine and its PyMC model take them."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import shorten, warn
from bayesagree.inference.convergence import ENOUGH_DRAWS, MODES_APART, diagnostics
from bayesagree.inference.posterior import Drawer, Drawn, Request, label_dtype
from bayesagree.inference.streams import Seed, one_blas_thread, stream_apart
from bayesagree.plausibility.informed.annotators import warn_of_careless, weights
from bayesagree.plausibility.informed.covariates import Covariates, Excluded, on_items_of
from bayesagree.plausibility.informed.family import Items, draw_items, kinds, prior_means
from bayesagree.plausibility.informed.fit import ENOUGH_TO_BEGIN, Fit, Learner
from bayesagree.plausibility.informed.prior import InformedPrior, Layout

# A new set of parameters costs a hundred passes over all items, more than its draws of these.
# Most consecutive draws of a chain that share their parameters.
MOST_SHARED = 5


def draws_per_parameters(draws: int) -> int:
    """Return how many consecutive draws of a chain share one draw of the parameters; it divides `draws`."""
    return next(d for d in range(MOST_SHARED, 0, -1) if draws % d == 0)


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
    """Labels and predictions on the same items, and what follows from them before any item is drawn."""

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
        everywhere = on_items_of(labels, predictions)
        predictions = predictions.aligned(everywhere.items, everywhere.categories)
        return cls(everywhere, predictions, exclude, prior)

    @cached_property
    def covariates(self) -> Covariates:
        """The covariates of all items."""
        if self.predictions is None:
            shape = self.labels.items.size, 0, self.labels.categories.size
            return Covariates(np.zeros(shape, np.float32), np.zeros(shape[:2], np.int32), ())
        return Covariates.of(self.predictions, self.exclude)

    @cached_property
    def weighed(self) -> tuple[Floats, Items]:
        """The weight of each annotator, and covariates and votes of all items, those that are about them."""
        with one_blas_thread():
            weight, counts = weights(self)
        warn_of_careless(self.labels, weight)
        return weight, self.every.with_counts(counts)

    def learn(self, counts: NDArray[np.int64]) -> Floats:
        """Return the parameters under which votes (item, label) are most probable, roughly."""
        odds = float(self.layout.mean[-1])
        return np.append(
            Learner(self.layout, self.every.with_counts(counts)).mode(odds, ENOUGH_TO_BEGIN).mode, odds
        )

    def log_votes(self, mode: Floats, item: NDArray[Any], counts: NDArray[np.int64]) -> Floats:
        """Return the log probability of votes (row, label) of items (row,) in one order."""
        rows = Items(np.ascontiguousarray(self.every.columns[:, item]), counts)
        return kinds(mode[None], self.layout, rows).log_likelihoods(mode[-1])[0][:, 0]

    @cached_property
    def every(self) -> Items:
        """Covariates of all items, and the votes of all annotators."""
        return Items.of(self.covariates, self.labels.counts().astype(np.int64))

    @property
    def weights(self) -> Floats:
        """Weight of each annotator, shape (annotator,)."""
        return self.weighed[0]

    @property
    def items(self) -> Items:
        """Covariates and votes of all items."""
        return self.weighed[1]

    @cached_property
    def layout(self) -> Any:
        """Names and priors of the parameters."""
        return Layout(self.covariates.names, self.prior or InformedPrior())

    @cached_property
    def fit(self) -> Fit:
        """The parameters' mode, the odds of the second kind of items held at their prior mean."""
        odds = float(self.layout.mean[-1])
        mode, root = Learner(self.layout, self.items).mode(odds)
        return Fit(np.append(mode, odds), root)

    def parameters(self, draws: int, chains: int, random_seed: Seed) -> Floats:
        """Draw the parameters, shape (chain, draw, parameter)."""
        rng = np.random.default_rng(stream_apart(random_seed, "parameters"))
        with one_blas_thread():
            return Learner(self.layout, self.items).draws(draws, chains, rng)

    def drawn(self, request: Request) -> Floats:
        """Draw the parameters of a request, once, shape (chain, draw, parameter)."""
        key = request.draws, request.chains, request.random_seed
        if key not in self._drawn:
            sets = request.draws // draws_per_parameters(request.draws)
            self._drawn[key] = self.parameters(sets, request.chains, request.random_seed)
            warn_of_chains(self.layout.names, self._drawn[key])
        return self._drawn[key]

    def prior_means(self, theta: Floats | None = None) -> Floats:
        """Return the mean of every item before its own votes, (item, category), by default at the parameters' mode."""
        return prior_means(self.fit.mode if theta is None else theta, self.layout, self.items)

    def drawer(self, request: Request) -> Drawer:
        """Return the function that draws a block of items given draws of the parameters."""
        theta = self.drawn(request).reshape(-1, self.layout.mean.size)
        each, n_labels = request.samples // len(theta), self.labels.categories.size
        best, items, layout = request.top_labels == 1, self.items, self.layout

        def draw(block: slice, rng: np.random.Generator) -> Drawn:
            drawn = draw_items(rng, theta, layout, items.rows(block), each, best=best)
            return Drawn(
                block,
                {"top_label": drawn[..., None].astype(label_dtype(n_labels))}
                if best
                else {"plausibility": drawn},
            )

        return draw
