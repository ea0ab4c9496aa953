"""Common agreement with annotators' levels: one is stricter than the others.

    x_ij ~ Beta(mu_ij p, (1 - mu_ij) p),    logit(mu_ij) = logit(mu_i) + shift_j

Shifts are normal with a learnt standard deviation (partially pooled) and add up to zero over the annotators: mu_i is
the item's mean for their average, Phi = 1 - 2^(1 - p/2) the agreement that is left once levels are removed.
`common_agreement_model` is the model, and NUTS draws from it.
"""

from typing import Literal

import numpy as np
import pandas as pd
import scipy as sp
import xarray as xr

from bayesagree._types import SAMPLE
from bayesagree.agreement._patterns import pair_counts
from bayesagree.agreement._phi.likelihood import Kind
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError, of_commands, one_of, warn
from bayesagree.inference.intervals import column_hdi

AnnotatorEffects = Literal["none", "shift"]

HYPER = ("mean_location", "mean_spread")
# A plain fit warns where annotators' levels are no accident (p-value of the F test of two-way analysis of variance)
# and make up a tenth of the variance within items: below, Phi with and without them is the same to two digits.
LEVELS_P_VALUE, LEVELS_SHARE = 1e-3, 0.1


def check_effects(effects: str, ratings: Ratings, kind: Kind) -> None:
    """Refuse options that the model of annotators' levels does not have."""
    if one_of(effects, "annotator_effects", ("none", "shift")) == "none":
        return
    if np.unique(ratings.annotator_index).size < 2:
        raise InputError(
            "annotators' levels are relative to each other: annotator_effects needs two annotators or more"
        )
    if kind == "inflated":
        raise InputError("likelihood='inflated' has no annotator effects; use 'binned'")


def level_share(ratings: Ratings) -> tuple[float, float]:
    """Return the share of the variance within items that annotators' levels make up, and the p-value of the F test.

    Two-way analysis of variance without interaction, any missing pattern, by least squares; the share is adjusted for
    the number of annotators as R^2 is, and can be negative.
    """
    unit, each = ratings.unit(), np.arange(ratings.rating.size)
    (items, item), (people, annotator) = (
        np.unique(index, return_inverse=True) for index in (ratings.item_index, ratings.annotator_index)
    )
    free, levels = unit.size - items.size, people.size - 1
    within = unit - (np.bincount(item, unit) / np.bincount(item))[item]
    total = float(within @ within)
    if levels < 1 or free <= levels or total == 0:
        return 0.0, 1.0
    design = pair_counts(np.tile(each, 2), np.concatenate([item, items.size + annotator]))
    rest = float(sp.sparse.linalg.lsqr(design, within, atol=1e-12, btol=1e-12)[3]) ** 2
    ratio = ((total - rest) / levels) / max(rest / (free - levels), 1e-300)
    return 1 - rest / (free - levels) / (total / free), float(sp.special.fdtrc(levels, free - levels, ratio))


def warn_of_levels(ratings: Ratings) -> None:
    """Warn where annotators' levels are no accident and explain much of the disagreement."""
    share, p_value = level_share(ratings)
    if share >= LEVELS_SHARE and p_value < LEVELS_P_VALUE:
        warn(
            f"annotators' levels explain {share:.0%} of the variance within items (some are "
            "stricter than others). Phi is the agreement of the ratings as given; "
            f"{'bayesagree annotators' if of_commands.get() else "annotator_effects='shift'"} estimates the agreement "
            "after levels are removed"
        )


def annotator_levels(tree: xr.DataTree, *, ci_prob: float = 0.95) -> pd.DataFrame:
    """List each annotator's level with its interval, strictest first.

    Parameters
    ----------
    tree
        Any result with `annotator_shift` (chain, draw, annotator) in its posterior, as of `common_agreement`,
        `normal_inverse_gamma` or `informed_normal` with ``annotator_effects``, or a trace of your own model.
    ci_prob
        Probability of the intervals.

    Returns
    -------
    DataFrame
        One row per annotator: annotator; shift, its lower and upper (HDI), the mean log odds (of normal models: the
        units of the ratings) by which the annotator rates above the average of all; prob_above = Pr(shift > 0).

    Raises
    ------
    InputError
        A posterior without `annotator_shift`.

    See Also
    --------
    common_agreement : its argument `annotator_effects`.

    Examples
    --------
    >>> table = [[1, 2, 4], [2, 3, 5], [1, 1, 3], [3, 3, 5], [2, 2, 4]]
    >>> ratings = Ratings.from_matrix(table, scale=(1, 5), step=1, annotators=["a", "b", "c"])
    >>> import pymc as pm
    >>> from bayesagree.agreement.phi import common_agreement_model
    >>> with common_agreement_model(ratings, annotator_effects="shift"):
    ...     prior = pm.sample_prior_predictive(50, random_seed=1)  # NUTS takes its time: pm.sample()
    >>> annotator_levels(xr.DataTree.from_dict({"posterior": prior["prior"].to_dataset()})).columns.tolist()
    ['annotator', 'shift', 'lower', 'upper', 'prob_above']
    """
    posterior = tree["posterior"].to_dataset()
    if "annotator_shift" not in posterior:
        raise InputError(
            "no annotator_shift in this posterior; pass annotator_effects='shift' to common_agreement"
        )
    drawn = posterior["annotator_shift"].transpose(*SAMPLE, "annotator").values
    lower, upper = column_hdi(drawn.reshape(-1, drawn.shape[-1]), ci_prob)
    rows = {"annotator": posterior["annotator"].values, "shift": drawn.mean(axis=(0, 1))}
    rows |= {"lower": lower, "upper": upper, "prob_above": (drawn > 0).mean(axis=(0, 1))}
    return pd.DataFrame(rows).sort_values("shift", kind="stable", ignore_index=True)
