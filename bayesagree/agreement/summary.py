"""Summary of draws of Phi, the decision that it supports, and the difference between two groups."""

from typing import NamedTuple

import xarray as xr

from bayesagree._types import SAMPLE, Floats
from bayesagree.errors import InputError
from bayesagree.inference.intervals import hdi


class Summary(NamedTuple):
    """Mean, sd and HDI of Phi, and Pr(Phi > 0)."""

    mean: float
    sd: float
    lower: float
    upper: float
    prob_positive: float


def summarise(drawn: Floats, ci_prob: float) -> Summary:
    """Return the summary of draws of Phi."""
    lower, upper = hdi(drawn, ci_prob)
    return Summary(float(drawn.mean()), float(drawn.std(ddof=1)), lower, upper, float((drawn > 0).mean()))


def decision(lower: float, upper: float) -> str:
    """Return the decision that an interval of Phi supports: agreement above 0, disagreement below, else undecided."""
    return "agreement" if lower > 0 else "disagreement" if upper < 0 else "undecided"


def phi_summary(tree: xr.DataTree, other: xr.DataTree | None = None, *, ci_prob: float = 0.95) -> xr.Dataset:
    """Return the summary of draws of Phi, also of a trace sampled from `common_agreement_model`, or of a difference.

    Parameters
    ----------
    tree
        Any result with `phi` (chain, draw) in its posterior.
    other
        A second one, of other annotations: the summary is then of `tree` minus `other`, two groups of annotators or
        two rounds, whose posteriors are taken as independent.
    ci_prob
        Probability of the interval.

    Returns
    -------
    Dataset
        `mean`, `sd`, `lower` and `upper` (HDI) and `prob_positive`; its attribute `decision` is agreement, disagreement
        or undecided; with `other` also `difference` (chain, draw), and no decision.

    Raises
    ------
    InputError
        No `phi` in a posterior; different numbers of chains or draws.

    See Also
    --------
    common_agreement : its group ``agreement`` has the same summary.
    agreement_difference : the difference of every coefficient of two sets of annotations.

    Examples
    --------
    >>> one = Ratings.from_matrix([[4, 4, 5, 4], [1, 2, 1, 1]], scale=(1, 5), step=1)
    >>> two = Ratings.from_matrix([[1, 4, 5, 2], [1, 5, 1, 4]], scale=(1, 5), step=1)
    >>> first, second = (common_agreement(ratings, random_seed=1) for ratings in (one, two))
    >>> phi_summary(first).attrs["decision"], float(phi_summary(first, second)["prob_positive"]) > 0.9
    ('undecided', True)
    """
    given = [one["posterior"].to_dataset() for one in (tree, other) if one is not None]
    if lacking := [posterior for posterior in given if "phi" not in posterior]:
        raise InputError(f"no phi in this posterior, which has {', '.join(map(str, lacking[0]))}")
    phi, *subtracted = (posterior["phi"].values for posterior in given)
    if subtracted and phi.shape != subtracted[0].shape:
        raise InputError(
            f"posteriors of {phi.shape} and {subtracted[0].shape} (chain, draw); use the same draws= and chains="
        )
    drawn = phi - sum(subtracted)
    summary = summarise(drawn, ci_prob)
    found = xr.Dataset(summary._asdict(), attrs={"ci_kind": "hdi", "ci_prob": ci_prob})
    if subtracted:
        return found.assign(difference=(SAMPLE, drawn))
    return found.assign_attrs(decision=decision(summary.lower, summary.upper))
