"""Groups of an evaluation from its truths: scores beside those of annotations alone, scores by group of annotators."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree.errors import InputError, warn
from bayesagree.inference.posterior import Posterior, Scores, Truths

# Group of scores under a truth that does not learn from models of which the annotations cannot tell their independence.
WITHOUT_UNSURE = "without_unsure"
# Votes of a group on an item from which scores against its own truth are not far too low.
ENOUGH_VOTES = 10


def beside_annotations_only(groups: Scores) -> Scores:
    """Return the groups of an evaluation under two truths or three: those of the first, beside scores under the others.

    The third is one that models of doubtful independence do not inform.
    """
    scores = groups["posterior"]
    beside = zip(range(1, scores.sizes["truth"]), ("annotations_only", WITHOUT_UNSURE))
    found = {name: group.isel(truth=0) for name, group in groups.items()}
    return found | {name: scores.isel(truth=at) for at, name in beside}


def group_truths(found: Truths, posteriors: Sequence[Posterior], names: NDArray[Any], n_votes: Any) -> Truths:
    """Return the truths of groups of annotators, from those of a posterior that has one for each."""
    join = partial(scores_by_group, n_votes=n_votes)
    return replace(found, posteriors=posteriors, join=join, coords={"group": names, "other_group": names})


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
    return (worst / worst.sum("group")).mean(("chain", "draw"))


def is_grouped(truth: Any) -> bool:
    """Whether a truth is of each group of annotators."""
    kept: Any = truth["posterior"] if isinstance(truth, xr.DataTree) and "posterior" in truth else {}
    return any("group" in kept[name].dims for name in ("plausibility", "top_label") if name in kept)


def require_one_truth(truth: Any) -> None:
    """Refuse a truth of each group of annotators."""
    if is_grouped(truth):
        raise InputError("this posterior has a truth for each group; take one of them: truth.sel(group=...)")


def each_group(function: Callable[..., xr.DataArray]) -> Callable[..., xr.DataArray]:
    """Apply a function of a truth, its first argument, to that of each group, and join what it returns as `group`."""

    @functools.wraps(function)
    def call(truth: Any, *args: Any, **given: Any) -> xr.DataArray:
        if not is_grouped(truth):
            return function(truth, *args, **given)
        names = pd.Index(truth["posterior"]["group"].values, name="group")
        parts = [
            function(truth.isel(group=g), *args, **given).drop_vars("group", errors="ignore")
            for g in range(names.size)
        ]
        joined = xr.concat(parts, names, combine_attrs="override")
        return joined.transpose("chain", "draw", "group", ..., missing_dims="ignore")

    return call
