"""Plausibilities from ratings: the normal-inverse-gamma posterior.

The ratings of item i scatter around a mean m_i with variance v_i; every annotator of reliability gamma counts as gamma
observations:

    x_ir ~ Normal(m_i, v_i),    v_i ~ InverseGamma(a0, b0),    m_i | v_i ~ Normal(m0, v_i / k0).

The posterior is of the same family, so draws are exact and independent. A threshold turns it into two labels: is the
mean below or not?

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", section 2.2 (statistical model; real-valued
annotations).
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.nuts import sample_nuts
from bayesagree._inference.results import MAX_BYTES, check_size, result_tree
from bayesagree._inference.storage import Destination, KeptDraws, Store, Variable, refuse_nuts
from bayesagree._inference.streams import Seed
from bayesagree.annotations import Ratings
from bayesagree.annotations.ratings import THRESHOLD_LABELS
from bayesagree.errors import InputError, positive, positive_int
from bayesagree.plausibility._draws.blocks import HERE, DrawBlock, Schedule
from bayesagree.plausibility.dirichlet._draws import check_depth

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
        """Refuse what is no prior."""
        if not np.isfinite(self.mean):
            raise InputError(f"prior mean {self.mean!r} must be finite")
        for name in ("strength", "shape", "scale"):
            positive(getattr(self, name), f"prior {name}")

    @classmethod
    def for_scale(cls, scale: tuple[float, float]) -> "NormalInverseGammaPrior":
        """Return the default: centred, worth a tenth of a rating, standard deviation about a quarter of the range."""
        low, high = scale
        return cls((low + high) / 2, 0.1, 1.5, 1.5 * ((high - low) / 4) ** 2)


def normal_inverse_gamma(
    ratings: Ratings,
    *,
    reliability: float = 1.0,
    prior: NormalInverseGammaPrior | None = None,
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    engine: Literal["exact", "nuts"] = "exact",
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
        Trust in one rating, in units of observations: gamma >= 0 multiplies the number of ratings and their scatter.
    prior
        By default `NormalInverseGammaPrior.for_scale`.
    draws, chains, seed, engine, max_bytes, client, to
        As in `dirichlet`.

    Returns
    -------
    DataTree
        Group ``posterior``: ``mean`` and ``variance`` (chain, draw, item), in units of the scale and their square.
        Group ``constant_data``: the posterior's ``location``, ``strength``, ``shape`` and ``scale`` (item).

    References
    ----------
    Stutz et al., section 2.2; the update is the conjugate one with the likelihood raised to the power gamma.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[1.2, -0.3, 0.7, 2.0]], scale=(-4, 4))
    >>> prior = NormalInverseGammaPrior(mean=0.1, strength=0.5, shape=1.5, scale=0.8)
    >>> tree = normal_inverse_gamma(ratings, reliability=2.5, prior=prior, seed=1)
    >>> tree["constant_data"]["location"].values.round(6).tolist()
    [0.861905]
    """
    draws, chains = positive_int(draws, "draws"), positive_int(chains, "chains")
    prior = prior or NormalInverseGammaPrior.for_scale(ratings.scale)
    settings = {"reliability": reliability, "prior": asdict(prior)}
    store = Store.at(
        to, seed, model="normal_inverse_gamma", **settings, annotations=ratings, draws=draws, chains=chains
    )
    sizes = {"chain": chains, "draw": draws, "item": ratings.items.size}
    if store is None:
        check_size(sizes, 16, max_bytes, "use fewer draws, to= for a file, or evaluate(), which streams")
    elif (finished := store.finished()) is not None:
        return finished
    after = _posterior(ratings, reliability, prior)
    variable = Variable(tuple(sizes), tuple(sizes.values()), np.float64)
    groups: dict[str, Any] = {"constant_data": {name: (("item",), values) for name, values in after.items()}}
    if engine == "nuts":
        refuse_nuts(client, to)
        sampled = sample_nuts(
            normal_inverse_gamma_model(ratings, reliability=reliability, prior=prior),
            draws=draws,
            chains=chains,
            seed=seed,
        )
        kept = KeptDraws(dict.fromkeys(VARIABLES, variable), None)
        drawn = sampled["posterior"].to_dataset()
        kept.put(slice(0, ratings.items.size), {name: drawn[name].values for name in VARIABLES})
        stats = {k: (("chain", "draw"), sampled["sample_stats"][k].values) for k in ("diverging", "energy")}
        groups["sample_stats"] = stats
    elif engine == "exact":
        kept = KeptDraws(dict.fromkeys(VARIABLES, variable), store)
        for items, *draws_of in _draw_blocks(after, chains * draws, seed, Schedule(client, first=kept.first)):
            kept.put(items, {name: v.reshape(chains, draws, -1) for name, v in zip(VARIABLES, draws_of)})
    else:
        raise InputError(f"engine={engine!r} is not one of 'exact', 'nuts'")
    groups["posterior"] = {name: kept.variable(name) for name in VARIABLES}
    return kept.finish(
        result_tree(
            groups, {"item": ratings.items}, model="normal_inverse_gamma", engine=engine, seed=seed, settings=settings
        )
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
    schedule: Schedule = HERE,
) -> Iterator[Any]:
    """Stream the order of the labels "below" and "at_or_above" the threshold, block of items by block."""
    if threshold is None:
        raise InputError("ratings have no labels; pass threshold=c to ask whether the mean is below c or not")
    depth = check_depth(depth, THRESHOLD_LABELS.size)
    after = _posterior(ratings, reliability, prior or NormalInverseGammaPrior.for_scale(ratings.scale))
    then = schedule.then

    def order(drawn: tuple[slice, NDArray[np.float64], NDArray[np.float64]]) -> Any:
        above = (threshold <= drawn[1].T).astype(np.int16)
        block = DrawBlock(drawn[0], np.stack([above, 1 - above], axis=2)[:, :, :depth])
        return block if then is None else then(block)

    n_samples = positive_int(draws, "draws") * positive_int(chains, "chains")
    return _draw_blocks(after, n_samples, seed, schedule._replace(then=order))


def normal_inverse_gamma_model(
    ratings: Ratings, *, reliability: float = 1.0, prior: NormalInverseGammaPrior | None = None
) -> "pm.Model":
    """Build the same posterior as a PyMC model; observed data are long, one entry of ``rating`` per annotation.

    Returns
    -------
    pymc.Model
        ``mean`` and ``variance`` (item); observed ``rating`` (annotation) when the reliability is 1, else a potential.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[4, 5, 4], [1, 2, 2]], scale=(1, 5), step=1)
    >>> [v.name for v in normal_inverse_gamma_model(ratings).free_RVs]
    ['variance', 'offset']
    """
    import pymc as pm

    prior = prior or NormalInverseGammaPrior.for_scale(ratings.scale)
    power = positive(reliability, "reliability", zero=True)
    coords = {"item": ratings.items, "annotation": np.arange(ratings.n_annotations)}
    with pm.Model(coords=coords) as model:
        variance: Any = pm.InverseGamma("variance", alpha=prior.shape, beta=prior.scale, dims="item")
        offset = pm.Normal("offset", 0.0, 1.0, dims="item")
        mean: Any = pm.Deterministic("mean", prior.mean + offset * (variance / prior.strength) ** 0.5, dims="item")
        item = ratings.item_index
        if power == 1:
            pm.Normal("rating", mean[item], variance[item] ** 0.5, observed=ratings.rating, dims="annotation")
        else:
            log_likelihood: Any = pm.logp(pm.Normal.dist(mean[item], variance[item] ** 0.5), ratings.rating)
            pm.Potential("tempered_log_likelihood", (log_likelihood * power).sum())
    return model


def _posterior(ratings: Ratings, reliability: float, prior: NormalInverseGammaPrior) -> dict[str, NDArray[np.floating]]:
    """Return the updated parameters of each item, k0, m0, a0 and b0 become k, m, a and b."""
    gamma = positive(reliability, "reliability", zero=True)
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


def _draw_blocks(
    after: dict[str, NDArray[np.floating]], n_samples: int, seed: Seed, schedule: Schedule
) -> Iterator[Any]:
    """Yield items and draws of their mean and variance, both of shape (sample, item)."""

    def draw(items: slice, rng: np.random.Generator) -> tuple[slice, NDArray[np.float64], NDArray[np.float64]]:
        location, strength, shape, scale = (values[items] for values in after.values())
        variance = scale / rng.standard_gamma(shape, (n_samples, shape.size))
        mean = location + np.sqrt(variance / strength) * rng.standard_normal(variance.shape)
        return items, mean, variance

    return schedule.draw(draw, after["location"].size, seed)
