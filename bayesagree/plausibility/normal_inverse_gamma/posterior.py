"""Plausibilities from ratings: the normal-inverse-gamma posterior.

The ratings of item i scatter around a mean m_i with variance v_i; every annotator of reliability gamma counts as gamma
observations:

    x_ir ~ Normal(m_i, v_i),    v_i ~ InverseGamma(a0, b0),    m_i | v_i ~ Normal(m0, v_i / k0).

The posterior is of the same family, so draws are exact and independent. A threshold turns it into two labels: is the
mean below or not?

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", appendix A (Wikipedia Toxicity, AVA).
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree._inference.nuts import Sampler
from bayesagree._inference.open_model import annotation_data, part
from bayesagree._inference.results import MAX_BYTES
from bayesagree._inference.storage import Destination
from bayesagree._inference.streams import Seed
from bayesagree.annotations import Ratings
from bayesagree.annotations.ratings import THRESHOLD_LABELS
from bayesagree.draws.blocks import LOCAL, DrawBlock, Schedule, check_depth
from bayesagree.draws.run import (
    Block,
    Groups,
    ItemPosterior,
    Request,
    Values,
    draw_posterior,
    worst_of_items,
)
from bayesagree.errors import InputError, positive, positive_int

if TYPE_CHECKING:
    import pymc as pm

VARIABLES = ("mean", "variance")


@dataclass(frozen=True)
class NormalInverseGammaPrior:
    """Prior of an item's mean and variance, in the units of the ratings.

    Attributes
    ----------
    mean, strength
        Centre m0 of the mean, and how many ratings it is worth (k0).
    shape, scale
        Shape a0 and scale b0 of the inverse-gamma variance.
    """

    mean: float
    strength: float
    shape: float
    scale: float

    def __post_init__(self) -> None:
        """Validate the parameters."""
        if not np.isfinite(self.mean):
            raise InputError(f"prior mean {self.mean!r} must be finite")
        for name in ("strength", "shape", "scale"):
            positive(getattr(self, name), f"prior {name}")

    @classmethod
    def for_scale(cls, scale: tuple[float, float]) -> "NormalInverseGammaPrior":
        """Return the default: centred, worth a tenth of a rating, standard deviation about a quarter of the range."""
        low, high = scale
        return cls((low + high) / 2, 0.1, 1.5, 1.5 * ((high - low) / 4) ** 2)


@dataclass(frozen=True, eq=False)
class NormalInverseGammaPosterior(ItemPosterior):
    """The posterior of `normal_inverse_gamma`, with its data and prior."""

    annotations: Ratings
    reliability: float = 1.0
    given_prior: NormalInverseGammaPrior | None = None
    name = "normal_inverse_gamma"
    engine = "exact"

    @property
    def prior(self) -> NormalInverseGammaPrior:
        """The prior, by default that of the scale."""
        return self.given_prior or NormalInverseGammaPrior.for_scale(self.annotations.scale)

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that define the model."""
        return {"reliability": self.reliability, "prior": asdict(self.prior)}

    @cached_property
    def parameters(self) -> dict[str, NDArray[np.floating]]:
        """Updated parameters of each item: k0, m0, a0 and b0 become k, m, a and b."""
        ratings, prior = self.annotations, self.prior
        gamma = positive(self.reliability, "reliability", zero=True)
        n_items, item, x = ratings.items.size, ratings.item_index, ratings.rating
        n = np.bincount(item, minlength=n_items)
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

    def model(self) -> "pm.Model":
        """Build the same posterior in PyMC."""
        return normal_inverse_gamma_model(self.annotations, reliability=self.reliability, prior=self.given_prior)

    def variables(self, request: Request) -> dict[str, tuple[dict[str, int], Any]]:
        """Return the variables to keep: mean and variance of each item."""
        return {name: ({}, np.float64) for name in VARIABLES}

    def groups(self, request: Request) -> Groups:
        """Return the parameters, from which certainties follow exactly."""
        return {"posterior_parameters": {name: (("item",), values) for name, values in self.parameters.items()}}

    def draw(self, request: Request, schedule: Schedule) -> Iterator[Block]:
        """Yield independent draws."""
        shape = (request.chains, request.draws, -1)
        for items, *drawn in self.moments(request.chains * request.draws, request.seed, schedule):
            yield items, {name: values.reshape(shape) for name, values in zip(VARIABLES, drawn)}

    def moments(self, n_samples: int, seed: Seed, schedule: Schedule) -> Iterator[Any]:
        """Yield items and draws of their mean and variance, both of shape (sample, item), block by block."""
        parameters = self.parameters

        def draw(items: slice, rng: np.random.Generator) -> tuple[slice, NDArray[np.float64], NDArray[np.float64]]:
            location, strength, shape, scale = (values[items] for values in parameters.values())
            variance = scale / rng.standard_gamma(shape, (n_samples, shape.size))
            mean = location + np.sqrt(variance / strength) * rng.standard_normal(variance.shape)
            return items, mean, variance

        return schedule.draw(draw, self.annotations.items.size, seed)

    def from_nuts(self, sampled: xr.DataTree, request: Request) -> Values:
        """Read mean and variance from PyMC's draws."""
        drawn = {name: np.asarray(sampled["posterior"][name]) for name in VARIABLES}
        return drawn | worst_of_items(np.stack([*drawn.values()], axis=-1))


@checked
def normal_inverse_gamma(
    ratings: Ratings,
    *,
    reliability: float = 1.0,
    prior: NormalInverseGammaPrior | None = None,
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    engine: Literal["exact", "nuts"] = "exact",
    sampler: Sampler = None,
    max_bytes: int = MAX_BYTES,
    client: Any = None,
    to: Destination = None,
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
    draws, chains, seed, engine, max_bytes, client, to
        As in `dirichlet`.

    Returns
    -------
    DataTree
        Group ``posterior``: ``mean`` and ``variance`` (chain, draw, item), in units of the scale and their square.
        Group ``posterior_parameters``: the posterior's ``location``, ``strength``, ``shape`` and ``scale`` (item).

    References
    ----------
    Stutz et al., appendix A; the update is the conjugate one with the likelihood raised to the power gamma.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[1.2, -0.3, 0.7, 2.0]], scale=(-4, 4))
    >>> prior = NormalInverseGammaPrior(mean=0.1, strength=0.5, shape=1.5, scale=0.8)
    >>> tree = normal_inverse_gamma(ratings, reliability=2.5, prior=prior, seed=1)
    >>> tree["posterior_parameters"]["location"].values.round(6).tolist()
    [0.861905]
    """
    posterior = NormalInverseGammaPosterior(ratings, reliability, prior)
    return draw_posterior(
        posterior, Request(draws, chains, seed, engine, sampler, max_bytes=max_bytes, client=client, to=to)
    )


def normal_inverse_gamma_blocks(
    ratings: Ratings,
    *,
    threshold: float | None = None,
    depth: int = 2,
    reliability: float = 1.0,
    prior: NormalInverseGammaPrior | None = None,
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    schedule: Schedule = LOCAL,
) -> Iterator[Any]:
    """Stream the order of the labels "below" and "at_or_above" the threshold, block of items by block."""
    if threshold is None:
        raise InputError("ratings have no labels; pass threshold=c to ask whether the mean is below c or not")
    depth = check_depth(depth, THRESHOLD_LABELS.size)
    posterior = NormalInverseGammaPosterior(ratings, reliability, prior)
    then = schedule.then

    def order(drawn: tuple[slice, NDArray[np.float64], NDArray[np.float64]]) -> Any:
        above = (threshold <= drawn[1].T).astype(np.int16)
        block = DrawBlock(drawn[0], np.stack([above, 1 - above], axis=2)[:, :, :depth])
        return block if then is None else then(block)

    n_samples = positive_int(draws, "draws") * positive_int(chains, "chains")
    return posterior.moments(n_samples, seed, schedule._replace(then=order))


@checked
def normal_inverse_gamma_model(
    ratings: Ratings,
    *,
    reliability: float = 1.0,
    prior: NormalInverseGammaPrior | None = None,
    mean: Callable[[Any], Any] | None = None,
    variance: Callable[[], Any] | None = None,
) -> "pm.Model":
    """Build the same posterior as a PyMC model; observed data are long, one entry of ``rating`` per annotation.

    Parameters
    ----------
    ratings, reliability, prior
        As `normal_inverse_gamma`.
    mean
        A prior of one's own of the items' means: a function of their variances (item), called inside the model, that
        returns the means (item) in units of the scale.
    variance
        The same of the variances: a function without arguments.

    Returns
    -------
    pymc.Model
        ``mean`` and ``variance`` (item); observed ``rating`` (annotation) when the reliability is 1, else a potential.
        ``item_of_annotation``, ``annotator_of_annotation`` and ``observed_rating`` are data.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[4, 5, 4], [1, 2, 2]], scale=(1, 5), step=1)
    >>> [v.name for v in normal_inverse_gamma_model(ratings).free_RVs]
    ['variance', 'offset']
    """
    import pymc as pm

    chosen = prior or NormalInverseGammaPrior.for_scale(ratings.scale)
    power = positive(reliability, "reliability", zero=True)
    coords = {
        "item": ratings.items, "annotator": ratings.annotators, "annotation": np.arange(ratings.n_annotations),
    }  # fmt: skip
    with pm.Model(coords=coords) as model:
        item, _ = annotation_data(ratings.item_index, ratings.annotator_index)
        rating = pm.Data("observed_rating", ratings.rating, dims="annotation")

        def our_variance() -> Any:
            return pm.InverseGamma("variance", alpha=chosen.shape, beta=chosen.scale, dims="item")

        spread = part("variance", variance, our_variance, dims="item")

        def our_mean() -> Any:
            offset = pm.Normal("offset", 0.0, 1.0, dims="item")
            return pm.Deterministic("mean", chosen.mean + offset * (spread / chosen.strength) ** 0.5, dims="item")

        centre = part("mean", mean, our_mean, spread, dims="item")
        if power == 1:
            pm.Normal("rating", centre[item], spread[item] ** 0.5, observed=rating, dims="annotation")
        else:
            log_likelihood: Any = pm.logp(pm.Normal.dist(centre[item], spread[item] ** 0.5), rating)
            pm.Potential("tempered_log_likelihood", (log_likelihood * power).sum())
    return model
