"""Summary of draws of Phi, the decision that it supports, and the difference between two groups."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import xarray as xr

from bayesagree._types import Floats
from bayesagree.errors import InputError
from bayesagree.inference.intervals import hdi
from bayesagree.inference.results import require_from

SAMPLE = ("chain", "draw")


class Request(NamedTuple):
    """What a posterior of Phi is drawn for.

    Attributes
    ----------
    shape
        Numbers of chains and of draws in each.
    ci_prob
        Probability of the interval.
    keep_item_means
        Whether the item means are kept.
    options
        Model, engine, seed and settings, as `result_tree` takes them.
    sampler
        Further arguments of `pymc.sample`.
    """

    shape: tuple[int, int]
    ci_prob: float
    keep_item_means: bool
    options: dict[str, Any]
    sampler: Mapping[str, Any] | None = None


def decision(lower: float, upper: float) -> str:
    """Return the decision that an interval of Phi supports: agreement above 0, disagreement below, else undecided."""
    return "agreement" if lower > 0 else "disagreement" if upper < 0 else "undecided"


def phi_summary(tree: xr.DataTree, *, ci_prob: float = 0.95) -> xr.Dataset:
    """Return the summary of draws of Phi, also of a trace sampled from `common_agreement_model`.

    Parameters
    ----------
    tree
        Any result with `phi` (chain, draw) in its posterior.
    ci_prob
        Probability of the interval.

    Returns
    -------
    Dataset
        `mean`, `sd`, `lower` and `upper` (HDI) and `prob_positive`; its attribute `decision` is agreement, disagreement
        or undecided.

    Raises
    ------
    InputError
        No `phi` in the posterior.

    See Also
    --------
    common_agreement : its group ``agreement`` has the same summary.

    Examples
    --------
    >>> import pymc as pm
    >>> from bayesagree.agreement.phi import common_agreement_model
    >>> ratings = Ratings.from_matrix([[4, 4, 5, 4], [1, 2, 1, 1]], scale=(1, 5), step=1)
    >>> with common_agreement_model(ratings):
    ...     trace = pm.sample_prior_predictive(50, random_seed=1)
    >>> phi_summary(xr.DataTree.from_dict({"posterior": trace["prior"].to_dataset()})).attrs["decision"]
    'undecided'
    """
    posterior = tree["posterior"].to_dataset()
    if "phi" not in posterior:
        raise InputError(f"no phi in this posterior, which has {', '.join(map(str, posterior))}")
    phi = posterior["phi"].values
    summary = _summary(phi, ci_prob).assign(sd=phi.std(ddof=1))
    return summary.assign_attrs(decision=decision(float(summary["lower"]), float(summary["upper"])))


def phi_difference(first: xr.DataTree, second: xr.DataTree, *, ci_prob: float = 0.95) -> xr.Dataset:
    """Return the posterior of Phi_first - Phi_second, of two groups of annotators or two rounds.

    Parameters
    ----------
    first, second
        Results of `common_agreement` on different annotations (their posteriors are taken as independent).
    ci_prob
        Probability of the interval.

    Returns
    -------
    Dataset
        `difference` (chain, draw), `mean`, `lower` and `upper` (HDI) and `prob_positive`.

    Raises
    ------
    InputError
        Different numbers of chains or draws.

    See Also
    --------
    common_agreement : the posterior of one Phi.

    Examples
    --------
    >>> one = Ratings.from_matrix([[4, 4, 5, 4], [1, 2, 1, 1]], scale=(1, 5), step=1)
    >>> two = Ratings.from_matrix([[1, 4, 5, 2], [1, 5, 1, 4]], scale=(1, 5), step=1)
    >>> difference = phi_difference(common_agreement(one, random_seed=1), common_agreement(two, random_seed=2))
    >>> float(difference["prob_positive"]) > 0.9
    True
    """
    for tree in (first, second):
        require_from("common_agreement", tree, "posterior/phi")
    a, b = (tree["posterior"].to_dataset()["phi"].values for tree in (first, second))
    if a.shape != b.shape:
        raise InputError(
            f"posteriors of {a.shape} and {b.shape} (chain, draw); use the same draws= and chains= for both"
        )
    return _summary(a - b, ci_prob).assign(difference=(SAMPLE, a - b))


def _summary(drawn: Floats, ci_prob: float) -> xr.Dataset:
    lower, upper = hdi(drawn, ci_prob)
    summary = {"mean": drawn.mean(), "lower": lower, "upper": upper, "prob_positive": (drawn > 0).mean()}
    return xr.Dataset(summary, attrs={"ci_kind": "hdi", "ci_prob": ci_prob})
