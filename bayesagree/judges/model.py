"""The corrected rate's regression as a PyMC model."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesagree.annotations import Labels
from bayesagree.annotations.gold import ItemGroup
from bayesagree.errors import InputError
from bayesagree.io.doors import as_annotations
from bayesagree.judges._panel import By, Inclusion, Verdicts, panel_of, regression
from bayesagree.judges.prior import CorrectedRatePrior, Target

if TYPE_CHECKING:
    import pymc as pm


def corrected_rate_model(
    verdicts: Verdicts,
    people: Labels,
    *,
    system: ItemGroup | None = None,
    positive: Hashable,
    by: By = None,
    inclusion: Inclusion = None,
    target: Target = "share",
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
    import pymc as pm
    import pytensor.tensor as pt

    people = as_annotations(people, (Labels,), "people")
    panel = panel_of(verdicts, people, system, positive, by, inclusion)
    if people.has_repeats:
        raise InputError("people= holds several answers of a person to an item; keep one: duplicates='first'")
    chosen, seen = prior or CorrectedRatePrior(), panel.seen
    data = regression(panel, chosen)
    with pm.Model(coords={"item": panel.items[seen], "column": data.names}) as graph:
        n = pm.Data("observed_votes", panel.votes[seen], dims="item")
        k = pm.Data("observed_positive_votes", panel.positive[seen].astype(int), dims="item")
        sd: Any = np.ones(data.scale_index.size)
        if data.scale_prior.size:
            every: Any = pt.concatenate([pm.HalfNormal("scale", data.scale_prior), np.ones(1)])
            sd = every[data.scale_index]
        mean = pt.dot(data.columns[seen], pm.Normal("coefficient", dims="column") * sd)
        if target == "share":
            rho = pm.Uniform("vote_correlation")
            effect = pm.Normal("item_effect", dims="item")
            share = pm.math.invprobit((mean + pt.sqrt(rho) * effect) / pt.sqrt(1 - rho))
            pm.Binomial("positive_votes", n, pt.clip(share, 1e-12, 1 - 1e-12), observed=k, dims="item")
        else:
            right = pm.Beta.dist(chosen.people_right, chosen.people_wrong)
            sensitivity, specificity = (
                pm.Truncated(f"people_{name}", right, lower=0.5, upper=1.0)
                for name in ("sensitivity", "specificity")
            )
            weights = pt.stack([pm.math.invprobit(-mean), pm.math.invprobit(mean)], axis=-1)
            parts = [pm.Binomial.dist(n, 1 - specificity), pm.Binomial.dist(n, sensitivity)]
            pm.Mixture("positive_votes", weights, parts, observed=k, dims="item")
    return graph
