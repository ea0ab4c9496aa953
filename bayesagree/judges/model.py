"""The corrected rate's regression as a PyMC model."""

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from bayesagree._types import Floats
from bayesagree.annotations import Labels, Ratings
from bayesagree.annotations.gold import ItemGroup
from bayesagree.inference.nuts import Sampler, sample_nuts
from bayesagree.judges._panel import design, panel_of
from bayesagree.judges._regression import Regression, Target, regression
from bayesagree.judges.prior import CorrectedRatePrior

if TYPE_CHECKING:
    import pymc as pm


def corrected_rate_model(
    verdicts: Labels | Ratings,
    people: Labels,
    *,
    system: ItemGroup | None = None,
    positive: Hashable,
    by: Mapping[str, ItemGroup] | pd.DataFrame | None = None,
    inclusion: Mapping[Hashable, float] | pd.Series | None = None,
    target: Literal["share", "truth"] = "share",
    prior: CorrectedRatePrior | None = None,
) -> "pm.Model":
    """PyMC model of people's votes given the verdicts, the same posterior as `corrected_rate`'s.

    Parameters
    ----------
    verdicts, people, system, positive, by, inclusion, target, prior
        As `corrected_rate`.

    Returns
    -------
    pymc.Model
        Free ``coefficient`` (column), in units of the standard deviation of its prior, ``scale`` (scale) if there are
        several systems or features; ``item_effect`` and ``vote_correlation``, or ``people_sensitivity`` and
        ``people_specificity``; observed ``positive_votes`` (item), whose
        values and numbers of votes are data. The rate is its average over the items.

    Raises
    ------
    InputError
        As `corrected_rate`.

    Examples
    --------
    >>> verdicts = Labels.from_matrix([[1], [0], [1], [0]], annotators=["judge"])
    >>> people = Labels.from_matrix([[1, 1], [0, 1]], items=[0, 1])
    >>> corrected_rate_model(verdicts, people, positive=1).observed_RVs
    [positive_votes]
    """
    panel = panel_of(verdicts, people, system, positive, by, inclusion)
    made, chosen = design(panel), prior or CorrectedRatePrior()
    data = regression(panel, made, chosen)
    return model_of(data, target, chosen, {"item": panel.items[panel.seen], "column": made.names})


def model_of(data: Regression, target: Target, prior: CorrectedRatePrior, coords: Mapping[str, Any]) -> "pm.Model":
    """Build the model of a regression."""
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model(coords=dict(coords)) as graph:
        n: Any = pm.Data("observed_votes", data.votes, dims="item")
        k = pm.Data("observed_positive_votes", data.positive, dims="item")
        sd: Any = np.ones(data.scale_index.size)
        if data.scale_prior.size:
            scale = pm.HalfNormal("scale", data.scale_prior)
            every: Any = pt.concatenate([scale, np.ones(1)])
            sd = every[data.scale_index]
        standard = pm.Normal("coefficient", dims="column")
        mean = pt.dot(data.columns, standard * sd)
        if target == "share":
            rho: Any = pm.Uniform("vote_correlation")
            effect = pm.Normal("item_effect", dims="item")
            share = pm.math.invprobit((mean + pt.sqrt(rho) * effect) / pt.sqrt(1 - rho))
            pm.Binomial("positive_votes", n, pt.clip(share, 1e-12, 1 - 1e-12), observed=k, dims="item")
        else:
            right = pm.Beta.dist(prior.people_right, prior.people_wrong)
            sensitivity, specificity = (
                pm.Truncated(f"people_{name}", right, lower=0.5, upper=1.0)
                for name in ("sensitivity", "specificity")
            )
            positive = pt.stack([pm.math.invprobit(-mean), pm.math.invprobit(mean)], axis=-1)
            parts = [pm.Binomial.dist(n, 1 - specificity), pm.Binomial.dist(n, sensitivity)]
            pm.Mixture("positive_votes", positive, parts, observed=k, dims="item")
    return graph


def sample_model(
    data: Regression,
    target: Target,
    prior: CorrectedRatePrior,
    run: Mapping[str, int],
    random_seed: Any,
    sampler: Sampler,
) -> tuple[Floats, Floats, dict[str, Floats]]:
    """Draw coefficients, scales and people's parameters by NUTS, chains joined."""
    coords = {"item": np.arange(data.votes.size), "column": np.arange(data.scale_index.size)}
    graph = model_of(data, target, prior, coords)
    found = sample_nuts(
        graph, draws=run["draws"], chains=run["chains"], tune=run["tune"], random_seed=random_seed, sampler=sampler
    )
    draws = found["posterior"].to_dataset()
    size = run["draws"] * run["chains"]

    def joined(name: str) -> Floats:
        return draws[name].values.reshape(size, *draws[name].shape[2:])

    scale = joined("scale") if data.scale_prior.size else np.empty((size, 0))
    coefficient = joined("coefficient") * np.hstack([scale, np.ones((size, 1))])[:, data.scale_index]
    names = ("vote_correlation",) if target == "share" else ("people_sensitivity", "people_specificity")
    return coefficient, scale, {name: joined(name) for name in names}
