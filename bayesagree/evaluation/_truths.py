"""Groups of an evaluation from its truths: by reliability, by group of annotators, beside annotations alone."""

from typing import Any

import numpy as np
import xarray as xr

from bayesagree._types import SAMPLE
from bayesagree.errors import shorten, warn
from bayesagree.inference.posterior import Truths

# Groups of an evaluation.
Scores = dict[str, xr.Dataset]
# Group of scores under a truth that does not learn from models of which the annotations cannot tell their independence.
WITHOUT_UNSURE = "without_unsure"
# Votes of a group on an item from which scores against its own truth are not far too low.
ENOUGH_VOTES = 10


def by_truth(found: Scores, truths: Truths) -> Scores:
    """Return the groups that users get of those whose variables have a dim ``truth``.

    Without an axis of truths the first are the scores. Beside them stand scores under annotations alone, and under a
    truth that models of doubtful independence do not inform.
    """
    scores = found["posterior"]
    if depends := [name for name in scores if str(name).startswith(truths.unsettled[0])]:
        warn(f"{shorten(depends)} {truths.unsettled[1]}")
    if truths.axis == "group":
        return scores_by_group(found, truths.n_votes)
    if truths.axis and scores.sizes["truth"] > 1:
        return {name: group.rename(truth=truths.axis) for name, group in found.items()}
    beside = zip(range(1, scores.sizes["truth"]), ("annotations_only", WITHOUT_UNSURE))
    first = {name: group.isel(truth=0) for name, group in found.items()}
    return first | {name: scores.isel(truth=at) for at, name in beside}


def scores_by_group(found: Scores, n_votes: Any) -> Scores:
    """Make one axis over groups of annotators of the truths of an evaluation.

    Beside the scores stand ``differences`` of two groups and ``worst_served``, the probability that a group has the
    worst score of all. Few votes of the groups, `n_votes` (group, item), make a warning.
    """
    if n_votes is not None and (each := np.mean(n_votes[n_votes > 0])) < ENOUGH_VOTES:
        warn(
            f"{each:.1f} votes per group and item: scores against the truth of a group come out too low, most for the "
            "group whose votes scatter most, and worst_served may name it for that alone; group_posterior says whom a "
            "model serves badly"
        )
    groups = {name: group.rename(truth="group") for name, group in found.items()}
    scores = groups["posterior"]
    with xr.set_options(keep_attrs=True):
        apart = scores - scores.rename(group="other_group")
    return groups | {
        "differences": apart.transpose("chain", "draw", "group", "other_group", "model"),
        "worst_served": scores.map(_chance_of_worst, keep_attrs=False),
    }


def _chance_of_worst(values: xr.DataArray) -> xr.DataArray:
    """Return how often each group has the worst score; groups that tie share a draw."""
    bad = -values if values.attrs["higher_is_better"] else values
    worst = bad == bad.max("group")
    return (worst / worst.sum("group")).mean(SAMPLE)
