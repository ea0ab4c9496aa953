"""The common-agreement model in PyMC, and its NUTS draws in the form of the exact engine's."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesagree._inference.results import result_tree
from bayesagree._inference.streams import Seed
from bayesagree._numerics.intervals import hdi
from bayesagree.agreement._exact.likelihood import Kind, intervals
from bayesagree.agreement._exact.patterns import Floats
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError, positive

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class AgreementPrior:
    """What `common_agreement_model` believes before the ratings; the defaults are uniform, as in `common_agreement`.

    Attributes
    ----------
    phi
        (1 + Phi) / 2 is Beta distributed with these shapes.
    mean_location, mean_spread
        So are m and s of the hierarchical item means, with these shapes.

    Examples
    --------
    >>> AgreementPrior(phi=(4, 2)).phi  # annotators expected to agree: mean of Phi 1/3
    (4, 2)
    """

    phi: tuple[float, float] = (1.0, 1.0)
    mean_location: tuple[float, float] = (1.0, 1.0)
    mean_spread: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        """Refuse what are no shapes of a Beta distribution."""
        for name, shapes in vars(self).items():
            if len(shapes) != 2:
                raise InputError(f"prior {name}={shapes!r} must be the two shapes of a Beta distribution")
            for shape in shapes:
                positive(shape, f"prior {name}")


def build_model(
    ratings: Ratings, truth: Floats, sd: float, group: Any, *, hierarchical: bool, kind: Kind, prior: AgreementPrior
) -> "pm.Model":
    """Build the model: one row of `rating` per observed rating, one `item_mean` per rated item."""
    import pymc as pm

    rated, item = np.unique(ratings.item_index, return_inverse=True)
    coords = {"item": ratings.items[rated], "rating_row": np.arange(item.size)}
    with pm.Model(coords=coords) as model:
        phi: Any = _phi(prior.phi)
        precision: Any = pm.Deterministic("precision", 2 * (1 - pm.math.log(1 - phi) / np.log(2)))
        mu = _hierarchical_means(prior) if hierarchical else _known_means(truth, sd, group[rated])
        mean: Any = mu[pm.Data("item_of_row", item, dims="rating_row")]
        _observe(ratings, item, mean * precision, (1 - mean) * precision, kind)
    return model


def _phi(shapes: tuple[float, float]) -> Any:
    import pymc as pm

    if shapes == (1, 1):
        return pm.Uniform("phi", -1, 1)
    share: Any = pm.Beta("phi_share", *shapes)
    return pm.Deterministic("phi", 2 * share - 1)


def _hierarchical_means(prior: AgreementPrior) -> Any:
    import pymc as pm

    from bayesagree._inference.random_draws import beta_variable

    m, s = (
        pm.Uniform(name, 0, 1) if shapes == (1, 1) else pm.Beta(name, *shapes)
        for name, shapes in (("mean_location", prior.mean_location), ("mean_spread", prior.mean_spread))
    )
    t: Any = s**-2 - 1
    return beta_variable("item_mean", m * t, (1 - m) * t, dims="item")


def _known_means(truth: Floats, sd: float, group: Any) -> Any:
    import pymc as pm

    from bayesagree._inference.random_draws import truncated_normal_variable

    if not truth.size:
        return pm.Uniform("item_mean", 0, 1, dims="item")
    known = group > 0
    centre, spread = np.full(group.size, 0.5), np.full(group.size, 1e4)
    centre[known], spread[known] = truth[group[known] - 1], sd
    return truncated_normal_variable("item_mean", centre, spread, dims="item")


def _observe(ratings: Ratings, item: Any, alpha: Any, beta: Any, kind: Kind) -> None:
    from bayesagree._inference.random_draws import beta_variable
    from bayesagree.agreement._binned_beta import BinnedBeta

    unit = ratings.unit()
    if kind == "squeezed":
        n = np.bincount(item)[item]
        beta_variable("rating", alpha, beta, observed=(unit * (n - 1) + 0.5) / n, dims="rating_row")
    elif ratings.step is not None:
        n = ratings.n_levels or 1
        BinnedBeta("rating", alpha, beta, np.linspace(0, 1, n + 1), observed=ratings.levels(), dims="rating_row")
    elif kind == "density" or (unit.min() > 0 and unit.max() < 1):
        beta_variable("rating", alpha, beta, observed=unit, dims="rating_row")
    else:
        distinct, code = np.unique(unit, return_inverse=True)
        values, which, gap = intervals(distinct)
        ends = np.stack([np.maximum(values - gap / 2, 0), np.minimum(values + gap / 2, 1)])
        edges = np.unique(np.append(ends, [0.0, 1.0]))
        # Neighbours touch at an edge that rounding may have split: the bin starts at the nearest edge to its left end.
        start = np.searchsorted(edges, ends[0][which[code]], side="left")
        BinnedBeta("rating", alpha, beta, edges, observed=start, dims="rating_row")


def sample_tree(
    model: "pm.Model",
    ratings: Ratings,
    *,
    draws: int,
    chains: int,
    item_means: bool,
    seed: Seed,
    settings: Mapping[str, Any],
) -> xr.DataTree:
    """Sample the model and return `phi` (and what else was asked for) with its summary."""
    from bayesagree._inference.nuts import sample_nuts

    posterior = sample_nuts(model, draws=draws, chains=chains, seed=seed)["posterior"].to_dataset()
    phi = posterior["phi"].values
    names = [name for name in ("mean_location", "mean_spread") if name in posterior]
    variables: dict[str, Any] = {name: (("chain", "draw"), posterior[name].values) for name in ("phi", *names)}
    coords: dict[str, Any] = {}
    if item_means:
        low, high = ratings.scale
        coords["item"] = posterior["item"].values
        variables["item_mean"] = (("chain", "draw", "item"), low + (high - low) * posterior["item_mean"].values)
    lower, upper = hdi(phi)
    scalars = {
        "mean": phi.mean(), "sd": phi.std(ddof=1), "lower": lower, "upper": upper, "prob_positive": (phi > 0).mean(),
    }  # fmt: skip
    groups = {"posterior": variables, "agreement": {k: ((), v) for k, v in scalars.items()}}
    return result_tree(groups, coords, model="common_agreement", engine="nuts", seed=seed, settings=settings)
