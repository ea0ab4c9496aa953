"""The frame of informed posteriors: annotations and predictions of the same items, and parameters that all items share.

A kind brings the names and normal priors of its parameters (`layout`), the log likelihood of items at many parameter
vectors (`likelihood`), and the draws of a block of items given the parameters (`drawer`). The parameters are drawn on
elliptical slices (`inference.slices`).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Advance, Floats, Rng, silent
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import shorten, warn
from bayesagree.inference.convergence import ENOUGH_DRAWS, MODES_APART, diagnostics, of_parameters
from bayesagree.inference.posterior import Groups, Request
from bayesagree.inference.slices import ENOUGH_TO_BEGIN, Likelihoods, Prior, chains_of, climb, posterior
from bayesagree.inference.streams import Seed, one_blas_thread, stream_apart
from bayesagree.plausibility.informed.covariates import Covariates, Excluded, aligned

# Cells (item, label, vector) that are computed at once: with more only memory grows.
MOST_CELLS = 480_000


class Parameters(NamedTuple):
    """Names, prior means and prior standard deviations of parameters that all items share."""

    names: NDArray[np.str_]
    mean: Floats
    sd: Floats

    @classmethod
    def of(cls, every: Mapping[str, tuple[float, float]]) -> Self:
        """Take mean and standard deviation of each by name."""
        mean, sd = np.array([*every.values()], np.float64).T.copy()
        return cls(np.array([*every]), mean, sd)

    @property
    def prior(self) -> Prior:
        """Means and standard deviations."""
        return Prior(self.mean, self.sd)


@dataclass(frozen=True, eq=False)
class Frame(ABC):
    """Annotations and predictions on the same items, and what follows from them before any item is drawn."""

    annotations: Any
    predictions: Predictions
    exclude: Excluded = None
    _drawn: dict[Any, Floats] = field(default_factory=dict, init=False, repr=False)
    # An interval from 4 x 5 sets of parameters holds adult2's score in .80 to .85, from 4 x 50 in .90.
    fewest_sets: ClassVar[int] = 50
    # Sweeps of a draw of parameters with one mode, each a pass over all items.
    a_draw: ClassVar[int] = 2

    @classmethod
    def of(cls, annotations: Any, predictions: Predictions, *rest: Any, **named: Any) -> Self:
        """Align annotations and predictions."""
        return cls(*aligned(annotations, predictions), *rest, **named)

    @cached_property
    @abstractmethod
    def layout(self) -> Parameters:
        """Names and priors of the parameters."""

    @abstractmethod
    def likelihood(self, rng: Rng) -> tuple[Likelihoods, Floats]:
        """Return the log likelihood of items at parameters, shape (item, vector), and how many are like each."""

    @cached_property
    def covariates(self) -> Covariates:
        """What the predictions say of all items."""
        return Covariates.of(self.predictions, self.exclude)

    def sampled(self, draws: int, chains: int, rng: Rng, progress: Advance) -> Floats:
        """Draw the parameters, shape (chain, draw, parameter), by chains that begin near their mode."""
        (values, number), prior = self.likelihood(rng), self.layout.prior
        fit = climb(values, prior, number, ENOUGH_TO_BEGIN)
        density = posterior(lambda theta: number @ values(theta), prior)
        return chains_of(density, [fit], draws, chains, rng, progress, self.a_draw)

    def parameters(self, draws: int, chains: int, random_seed: Seed, progress: Advance = silent) -> Floats:
        """Draw the parameters from their own stream, shape (chain, draw, parameter)."""
        rng = np.random.default_rng(stream_apart(random_seed, "parameters"))
        with one_blas_thread():
            return self.sampled(draws, chains, rng, progress)

    @classmethod
    def sets(cls, draws: int) -> int:
        """Return how many sets of parameters a chain of so many draws of items has."""
        # Few consecutive draws share their parameters, as a new set costs a hundred passes over all items.
        most = max(1, min(5, draws // cls.fewest_sets))
        return draws // next(d for d in range(most, 0, -1) if draws % d == 0)

    def drawn(self, request: Request) -> Floats:
        """Draw the parameters of a request, once, shape (chain, draw, parameter)."""
        key = self.sets(request.draws), request.chains, request.random_seed
        if key not in self._drawn:
            self._drawn[key] = self.parameters(*key, request.progress or silent)
            warn_of_chains(self.layout.names, self._drawn[key])
        return self._drawn[key]

    def known(self, request: Request) -> Groups:
        """Return the parameters, by name."""
        return of_parameters(self.drawn(request)) | {"diagnostics": self.diagnostics(request)}

    def diagnostics(self, request: Request) -> dict[str, Any]:
        """Return R-hat and effective sample size of the parameters."""
        return of_parameters(self.drawn(request))["diagnostics"]

    def coords(self) -> dict[str, Any]:
        """Return the names of the parameters."""
        return {"parameter": self.layout.names}


def warn_of_chains(names: NDArray[np.str_], draws: Floats) -> None:
    """Warn where chains of the parameters disagree, draws (chain, draw, parameter); short ones say nothing of that."""
    if draws.shape[0] < 2 or draws.shape[1] < ENOUGH_DRAWS:
        return
    r_hat, _ = diagnostics(draws)
    if (bad := np.flatnonzero(r_hat > MODES_APART)).size:
        warn(
            f"chains of {bad.size} of {names.size} parameters disagree (r_hat up to {r_hat[bad].max():.2f}, limit "
            f"{MODES_APART}): {shorten(names[bad])}; raise draws=. The posterior is bimodal: scores may change "
            "by up to a third of a standard deviation between seeds"
        )


def by_cells(function: Likelihoods, cells: int) -> Likelihoods:
    """Return a function of parameters (vector, parameter) that takes a few vectors of so many cells at a time."""
    step = max(1, MOST_CELLS // max(cells, 1))

    def of_all(theta: Floats) -> Floats:
        return np.concatenate([function(theta[at : at + step]) for at in range(0, len(theta), step)], axis=-1)

    return of_all
