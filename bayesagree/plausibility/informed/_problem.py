"""Votes, covariates and parameters of one informed posterior, as its engine and its PyMC model take them."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.inference.posterior import Request
from bayesagree.inference.streams import Seed, stream_apart
from bayesagree.plausibility.informed import guards
from bayesagree.plausibility.informed._kernels import prior_means
from bayesagree.plausibility.informed.covariates import Covariates, Excluded, on_items_of
from bayesagree.plausibility.informed.fit import Fit, Votes, fit_parameters
from bayesagree.plausibility.informed.prior import InformedPrior, Layout
from bayesagree.plausibility.informed.sampler import draws_per_parameters, parameter_draws


@dataclass(frozen=True, eq=False)
class InformedProblem:
    """Labels and predictions on the same items, and what follows from them before any item is drawn."""

    labels: Labels
    predictions: Predictions
    exclude: Excluded = None
    prior: InformedPrior | None = None
    approximate: bool = False
    _drawn: dict[Any, Floats] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        labels: Labels,
        predictions: Predictions,
        exclude: Excluded = None,
        prior: InformedPrior | None = None,
        *,
        approximate: bool = False,
    ) -> Self:
        """Align labels and predictions."""
        everywhere = on_items_of(labels, predictions)
        predictions = predictions.aligned(everywhere.items, everywhere.categories)
        return cls(everywhere, predictions, exclude, prior, approximate)

    @cached_property
    def covariates(self) -> Covariates:
        """The covariates of all items."""
        return Covariates.of(self.predictions, self.exclude)

    @cached_property
    def votes(self) -> Votes:
        """The votes of all items."""
        return Votes.of(self.labels)

    @cached_property
    def layout(self) -> Layout:
        """Names and priors of the parameters."""
        names = tuple(map(str, self.labels.categories))
        return Layout(self.covariates.names, names, self.prior or InformedPrior())

    @cached_property
    def fit(self) -> Fit:
        """The parameters."""
        return fit_parameters(self.votes, self.covariates, self.layout)

    def parameters(self, draws: int, chains: int, random_seed: Seed, engine: str = "hmc") -> Floats:
        """Draw the parameters, shape (chain, draw, parameter)."""
        random_seed = stream_apart(random_seed, "parameters")
        return parameter_draws(self.votes, self.covariates, self.layout, self.fit, draws, chains, random_seed, engine)

    def drawn(self, request: Request) -> Floats:
        """Draw the parameters of a request, once."""
        key = request.draws, request.chains, request.random_seed
        if key not in self._drawn:
            engine = "normal" if self.approximate else "hmc"
            each = draws_per_parameters(self.votes, request.draws, engine)
            self._drawn[key] = self.parameters(request.draws // each, request.chains, request.random_seed, engine)
            guards.warn_of_chains(self.layout.names, self._drawn[key])
        return self._drawn[key]

    def prior_means(self, theta: Floats | None = None) -> Floats:
        """Return the mean of every item before its own votes, (item, category), by default at the parameters' mode."""
        means = np.empty((self.labels.items.size, self.labels.categories.size))
        prior_means(self.fit.mode if theta is None else theta, self.covariates.dense, self.covariates.hit, means)
        return means

    def held_out(self, random_seed: Seed) -> guards.HeldOut:
        """Mean log score of votes that were held out."""
        rng, layout = np.random.default_rng(stream_apart(random_seed, "held-out votes")), self.layout
        return guards.held_out_log_scores(self.votes, self.covariates, layout.categories, layout.prior, rng)
