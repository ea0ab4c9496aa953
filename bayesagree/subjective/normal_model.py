"""Group performance as a posterior for any metric: errors of ratings, correlations, one number per annotator.

    y_j ~ Normal(mu_g, s^2)          performance of annotator j of group g
    mu_g ~ Normal(m, t^2),           r = t^2 / (s^2 + t^2) ~ U(0, 1),   p(m, s) = 1/s

r is the share of the variance between annotators that groups explain. Everything but r is conjugate, so the posterior
is one integral over r, here on cells, and draws are independent. For agreement with labels `group_posterior` knows
more: how many annotations each annotator gave.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.predictive import Checks, Observed, draws_of
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree._numerics.types import Floats
from bayesagree.errors import InputError, positive_int
from bayesagree.subjective.group_model import group_tree

if TYPE_CHECKING:
    import pymc as pm


CELLS = 4000


class Sufficient(NamedTuple):
    """Sufficient statistics: number and mean of each group; and the sum of squares within groups."""

    n: Floats
    mean: Floats
    within: float


class GroupValues(NamedTuple):
    """Values of the annotators whom all models have one for, (model, annotator), their group, and which groups."""

    values: Floats
    group: NDArray[np.int64]
    used: NDArray[np.int64]
    posterior_name: str = "group_performance_normal"

    def checks(self, posterior: xr.Dataset, which: int) -> Checks:
        """Return likelihood and replicates of a model's values, normal around the mean of the group."""
        drawn = draws_of(posterior, "performance", "within_sd")
        value, mean, sd = self.values[which], drawn["performance"][:, self.group], drawn["within_sd"][:, None]
        log_likelihood = -np.log(sd) - np.log(2 * np.pi) / 2 - ((value - mean) / sd) ** 2 / 2
        observed = Observed("value", "annotator", value)
        return Checks(observed, log_likelihood, lambda rng: mean + sd * rng.standard_normal(mean.shape))


def normal_group_posterior(result: xr.Dataset, *, draws: int = 1000, chains: int = 4, seed: Seed = None) -> xr.DataTree:
    """Draw the performance of every model for each group, for any metric, with partial pooling.

    Parameters
    ----------
    result
        Result of `group_performance`.
    draws, chains
        chains x draws independent draws.
    seed
        Same seed, same draws.

    Returns
    -------
    DataTree
        Group ``posterior``: ``performance`` (chain, draw, model, group), ``mean_performance``, ``dispersion``,
        ``within_sd`` s and ``between_share`` r (chain, draw, model). Group ``constant_data``: ``n_annotators`` (group).
        Groups without an annotator that all models have a value for are left out.

    Raises
    ------
    InputError
        Fewer than two groups, no group with two annotators, or annotators who are all alike within groups.

    Examples
    --------
    >>> values = [[0.9, 1.0, 0.8, 0.2, 0.3, 0.1]]
    >>> result = xr.Dataset(
    ...     {"annotator_performance": (("model", "annotator"), values), "group_of": ("annotator", [0, 0, 0, 1, 1, 1])},
    ...     {"model": ["A"], "group": ["f", "m"]},
    ...     {"metric": "absolute_error"},
    ... )
    >>> tree = normal_group_posterior(result, seed=1)
    >>> tree["posterior"]["performance"].mean(("chain", "draw")).round(1).values.tolist()
    [[0.9, 0.2]]
    """
    n_samples = positive_int(draws, "draws") * positive_int(chains, "chains")
    rng = np.random.default_rng(seed_sequence(seed))
    of_groups = group_values(result)
    fits = [_draws(sufficient(value, of_groups.group), n_samples, rng) for value in of_groups.values]
    names = result["group"].to_numpy()[of_groups.used]
    n_annotators = {"n_annotators": (("group",), np.bincount(of_groups.group))}
    return group_tree(
        fits,
        (chains, draws),
        result["model"].to_numpy(),
        names,
        n_annotators,
        model=of_groups.posterior_name,
        engine="exact",
        seed=seed,
        settings={"metric": result.attrs.get("metric")},
    )


def group_values(result: xr.Dataset) -> GroupValues:
    """Read the values of annotators who have one for every model from a result of `group_performance`."""
    group, values = result["group_of"].to_numpy(), result["annotator_performance"].to_numpy()
    kept = (group >= 0) & ~np.isnan(values).any(axis=0)
    used, group = np.unique(group[kept], return_inverse=True)
    return GroupValues(values[:, kept], group, used)


def normal_group_model(value: Floats, group: NDArray[np.int64]) -> "pm.Model":
    """Build the posterior of one model's performance in PyMC, from one value and one group per annotator.

    Returns
    -------
    pymc.Model
        Free ``location`` m, ``log_scale`` log s, ``between_share`` r and ``effect`` (group), standard normal; derived
        ``performance`` (group). ``observed_value`` and ``group_of_annotator`` are data.
    """
    import pymc as pm

    sufficient(value, group)
    with pm.Model(coords={"group": np.arange(group.max() + 1), "annotator": np.arange(value.size)}) as graph:
        location, log_scale = pm.Flat("location"), pm.Flat("log_scale", initval=float(np.log(value.std())))
        share = pm.Uniform("between_share", 0, 1)
        scale: Any = pm.math.exp(log_scale)
        effect = pm.Normal("effect", 0, 1, dims="group")
        spread = scale * pm.math.sqrt(share / (1 - share))
        performance: Any = pm.Deterministic("performance", location + spread * effect, dims="group")
        of = pm.Data("group_of_annotator", group.astype(np.int64), dims="annotator")
        observed = pm.Data("observed_value", value, dims="annotator")
        pm.Normal("value", performance[of], scale, observed=observed, dims="annotator")
    return graph


def sufficient(value: Floats, group: NDArray[np.int64]) -> Sufficient:
    """Summarise the annotators of each group; refuse data from which the spread cannot be learnt."""
    n = np.bincount(group).astype(np.float64)
    if n.size < 2:
        raise InputError(f"{n.size} group has a value; the spread over groups needs at least two")
    mean = np.bincount(group, value) / n
    within = float(((value - mean[group]) ** 2).sum())
    if n.max() < 2 or within <= 1e-12 * max(float((value**2).sum()), 1e-300):
        raise InputError(
            "annotators of a group do not differ, or every group has only one: the spread within groups is not known"
        )
    return Sufficient(n, mean, within)


def _draws(data: Sufficient, n_samples: int, rng: np.random.Generator) -> dict[str, Floats]:
    """Draw r, then s, m and the group means given the ones before."""
    edges = np.linspace(0, 1, CELLS + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    log_density = _log_density(data, middle / (1 - middle))[0]
    mass = np.exp(log_density - log_density.max())
    share = edges[rng.choice(CELLS, n_samples, p=mass / mass.sum())] + rng.random(n_samples) / CELLS
    ratio = share / (1 - share)
    _, weight, centre, squares = _log_density(data, ratio)
    scale = np.sqrt(squares / 2 / rng.standard_gamma((data.n.sum() - 1) / 2, n_samples))
    location = centre + scale / np.sqrt(weight.sum(axis=1)) * rng.standard_normal(n_samples)
    precision = data.n + 1 / ratio[:, None]
    mean = (data.n * data.mean + location[:, None] / ratio[:, None]) / precision
    performance = mean + scale[:, None] / np.sqrt(precision) * rng.standard_normal(mean.shape)
    return {"performance": performance, "within_sd": scale, "between_share": share}


def _log_density(data: Sufficient, ratio: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the log posterior of t^2/s^2 values (for uniform r), weights of the groups, the centre, sum of squares."""
    weight = 1 / (1 / data.n + ratio[:, None])
    centre = (weight * data.mean).sum(axis=1) / weight.sum(axis=1)
    squares = data.within + (weight * (data.mean - centre[:, None]) ** 2).sum(axis=1)
    log_density = -np.log1p(ratio[:, None] * data.n).sum(axis=1) / 2 - np.log(weight.sum(axis=1)) / 2
    return log_density - (data.n.sum() - 1) / 2 * np.log(squares), weight, centre, squares
