"""Plausibilities from ratings: the normal-inverse-gamma posterior.

The ratings of item i scatter around a mean m_i with variance v_i; every annotator of reliability gamma counts as gamma
observations:

    x_ir ~ Normal(m_i, v_i),    v_i ~ InverseGamma(a0, b0),    m_i | v_i ~ Normal(m0, v_i / k0).

The posterior is of the same family, so draws are exact and independent. A threshold turns it into two labels: is the
mean below or not?

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", appendix A (Wikipedia Toxicity, AVA).
"""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesagree._types import Advance, Named, Rng
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError, one_of, positive
from bayesagree.inference.blocks import DrawBlock
from bayesagree.inference.posterior import Drawer, Groups, Request
from bayesagree.inference.rating_posterior import RatingPosterior
from bayesagree.inference.streams import Seed
from bayesagree.io.doors import as_annotations
from bayesagree.plausibility.normal_inverse_gamma.levels import Effects, Levels, means_model
from bayesagree.plausibility.normal_inverse_gamma.model import normal_inverse_gamma_model
from bayesagree.plausibility.normal_inverse_gamma.prior import NormalInverseGammaPrior

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class NormalInverseGamma(RatingPosterior):
    """Specification of the posterior of `normal_inverse_gamma`, whose arguments it holds."""

    reliability: float = 1.0
    prior: NormalInverseGammaPrior | None = None
    annotator_effects: Effects = None
    name = "normal_inverse_gamma"

    def __post_init__(self) -> None:
        one_of(self.annotator_effects, "annotator_effects", (None, "shift"))
        if self.annotator_effects and (self.prior is not None or self.reliability != 1):
            raise InputError(
                "annotator_effects='shift' has priors of its own; leave prior= and reliability= out"
            )

    def prior_of(self, annotations: Ratings) -> NormalInverseGammaPrior:
        """Return the prior, by default that of the scale."""
        return self.prior or NormalInverseGammaPrior.for_scale(annotations.scale)

    def settings(self, annotations: Ratings) -> Named:
        """Return the arguments of the model."""
        if self.annotator_effects:
            return {"annotator_effects": self.annotator_effects}
        return {"reliability": self.reliability, "prior": asdict(self.prior_of(annotations))}

    def levels(self, annotations: Ratings) -> Levels:
        """Return the ratings with levels of their annotators, and an intercept as all that is known of items."""
        column = np.ones((annotations.items.size, 1))
        return Levels.of(annotations, column, np.array([[0.5], [0.5]]), ["intercept"])

    def problem(self, annotations: Ratings) -> Named | Levels:
        """Return the updated parameters of each item: m0, k0, a0 and b0 become m, k, a and b."""
        if self.annotator_effects:
            return self.levels(annotations)
        prior = self.prior_of(annotations)
        gamma = positive(self.reliability, "reliability", zero=True)
        n_items = annotations.items.size
        item = annotations.item_index
        x = annotations.rating
        n = np.bincount(item, minlength=n_items)
        # Around the item's own mean: sums of squares of values far from 0 would cancel.
        centre = np.bincount(item, weights=x, minlength=n_items) / np.maximum(n, 1)
        scatter = np.bincount(item, weights=(x - centre[item]) ** 2, minlength=n_items)
        weight = gamma * n
        strength = prior.strength + weight
        shift = prior.strength * weight * (centre - prior.mean) ** 2 / (2 * strength)
        return {
            "location": (prior.strength * prior.mean + weight * centre) / strength,
            "strength": strength,
            "shape": prior.shape + weight / 2,
            "scale": prior.scale + gamma * scatter / 2 + shift,
        }

    def model(self, annotations: Ratings) -> "pm.Model":
        """Build the same posterior in PyMC."""
        if self.annotator_effects:
            return means_model(self.levels(annotations))
        return normal_inverse_gamma_model(annotations, reliability=self.reliability, prior=self.prior)

    def known(self, problem: Named | Levels, request: Request) -> Groups:
        """Return the parameters, from which certainties follow exactly, or levels of annotators."""
        if isinstance(problem, Levels):
            return problem.known(request)
        return {"posterior_parameters": {name: (("item",), values) for name, values in problem.items()}}

    def coords(self, problem: Named | Levels) -> Named:
        """Return the names of annotators with levels."""
        return problem.coords() if isinstance(problem, Levels) else {}

    def drawer(self, problem: Named | Levels, request: Request) -> Drawer:
        """Return the function that draws mean and variance of a block of items."""
        if isinstance(problem, Levels):
            return problem.drawer(request)

        def draw(items: slice, rng: Rng) -> DrawBlock:
            location, strength, shape, scale = (values[items] for values in problem.values())
            variance = scale / rng.standard_gamma(shape, (request.samples, shape.size))
            mean = location + np.sqrt(variance / strength) * rng.standard_normal(variance.shape)
            return DrawBlock(items, mean=mean.T, variance=variance.T)

        return draw


def normal_inverse_gamma(
    ratings: Ratings,
    *,
    reliability: float = 1.0,
    prior: NormalInverseGammaPrior | None = None,
    annotator_effects: Effects = None,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    client: Any = None,
    progress: Advance | None = None,
) -> xr.DataTree:
    """Draw the mean and variance of each item's ratings from their posterior.

    Parameters
    ----------
    ratings
        Ratings on a bounded scale (the bounds only set the default prior).
    reliability
        Weight of a rating, in units of observations: gamma >= 0 multiplies the number of ratings and their scatter.
    prior
        By default `NormalInverseGammaPrior.for_scale`.
    annotator_effects
        ``"shift"``: annotators rate high or low, with care or without, and means are what all of them give together,
        each counting the same: another model, the crossed linear mixed model of module `levels`, in which items share
        one prior and one variance.
    draws, chains, random_seed, client
        As in `dirichlet`.
    progress
        Called with the number of new sweeps of the annotators' levels, at most 500 a chain, then of items drawn.

    Returns
    -------
    DataTree
        Group ``posterior``: ``mean`` and ``variance`` (chain, draw, item), in units of the scale and their square.
        Group ``posterior_parameters``: the posterior's ``location``, ``strength``, ``shape`` and ``scale`` (item).
        With levels group ``posterior`` has also ``annotator_shift``, how much higher an annotator rates, and
        ``annotator_sd`` (chain, draw, annotator), in units of the scale; ``posterior_parameters`` and ``diagnostics``
        are of the parameters that all items share.

    Warns
    -----
    UserWarning
        With levels: annotators whose ratings say little, and annotators who never meet.

    References
    ----------
    Stutz et al., appendix A; the update is the conjugate one with the likelihood raised to the power gamma.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[1.2, -0.3, 0.7, 2.0]], scale=(-4, 4))
    >>> prior = NormalInverseGammaPrior(mean=0.1, strength=0.5, shape=1.5, scale=0.8)
    >>> tree = normal_inverse_gamma(ratings, reliability=2.5, prior=prior, random_seed=1)
    >>> tree["posterior_parameters"]["location"].values.round(6).tolist()
    [0.861905]
    """
    ratings = as_annotations(ratings, (Ratings,), "ratings")
    request = Request(draws, chains, random_seed, client=client, progress=progress)
    return NormalInverseGamma(reliability=reliability, prior=prior, annotator_effects=annotator_effects).draw(
        ratings, request
    )
