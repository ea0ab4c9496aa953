"""Groups of an evaluation from its truths: scores beside those of annotations alone, scores by group of annotators."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.errors import InputError, shorten, warn
from bayesagree.inference.posterior import Groups, Posterior, Truths, of_truth, over_truths

# Share of each group in the population that a score is for.
Population = Mapping[Any, float] | None
# Group of scores under a truth that does not learn from models of which the annotations cannot tell their independence.
WITHOUT_UNSURE = "without_unsure"
# Votes of a group on an item from which scores against its own truth are not far too low.
ENOUGH_VOTES = 10


def beside_annotations_only(groups: Groups) -> Groups:
    """Return the groups of an evaluation under two truths or three: those of the first, beside scores under the others.

    The third is one that models of doubtful independence do not inform.
    """
    dims, values, *_ = next(iter(groups["posterior"].values()))
    beside = ("annotations_only", WITHOUT_UNSURE)[: values.shape[dims.index("truth")] - 1]
    found = {name: of_truth(group, 0) for name, group in groups.items()}
    return found | {name: of_truth(groups["posterior"], at) for at, name in enumerate(beside, start=1)}


def group_truths(
    found: Truths, posteriors: Sequence[Posterior], names: NDArray[Any], population: Population, n_votes: Any
) -> Truths:
    """Return the truths of groups of annotators, from those of a posterior that has one for each."""
    join = partial(scores_by_group, names=names, population=population, n_votes=n_votes)
    return replace(found, posteriors=posteriors, join=join, coords={"group": names, "other_group": names})


def scores_by_group(found: Groups, names: NDArray[Any], population: Population, n_votes: Any = None) -> Groups:
    """Make one axis over groups of annotators of the truths of an evaluation.

    Beside the scores stand ``differences`` of two groups, ``worst_served``, the probability that a group has the worst
    score of all, and with shares of a population its score, the weighted mean over groups. Few votes of the groups,
    `n_votes` (group, item), make a warning.
    """
    if n_votes is not None and (each := np.mean(n_votes[n_votes > 0])) < ENOUGH_VOTES:
        warn(
            f"{each:.1f} votes per group and item: scores against the truth of a group come out too low, most for the "
            "group whose votes scatter most, and worst_served may name it for that alone; group_posterior says whom a "
            "model serves badly"
        )
    groups = over_truths(found, "group")
    scores = groups["posterior"]
    groups["differences"], groups["worst_served"] = {}, {}
    for name, (dims, values, *attrs) in scores.items():
        difference = values[:, :, :, None] - values[:, :, None]
        groups["differences"][name] = (*dims[:3], "other_group", "model"), difference, *attrs
        bad = -values if attrs[0]["higher_is_better"] else values
        worst = bad == bad.max(axis=2, keepdims=True)
        chance = (worst / worst.sum(axis=2, keepdims=True)).mean(axis=(0, 1))
        groups["worst_served"][name] = dims[2:], chance
    if population is not None:
        weight = _weights(population, names)
        groups["population"] = {
            name: ((*dims[:2], "model"), np.einsum("cdgm,g->cdm", values, weight), *attrs)
            for name, (dims, values, *attrs) in scores.items()
        }
    return groups


def _weights(population: Mapping[Any, float], names: NDArray[Any]) -> Floats:
    """Return the share of each group, which sum to one."""
    given = {str(name): float(share) for name, share in population.items()}
    if set(given) != set(names.tolist()):
        raise InputError(
            f"population= names {shorten(given, 20)}, and the groups are {shorten(names, 20)}; name each"
        )
    weight = np.array([given[name] for name in names.tolist()])
    if not (np.isfinite(weight) & (weight >= 0)).all() or not weight.sum() > 0:
        raise InputError(f"population={dict(population)!r}: shares are numbers >= 0, and one is above 0")
    return weight / weight.sum()


def is_grouped(truth: Any) -> bool:
    """Whether a truth is of each group of annotators."""
    return isinstance(truth, xr.DataTree) and "posterior" in truth and "group" in _truth(truth).dims


def require_one_truth(truth: Any) -> None:
    """Refuse a truth of each group of annotators."""
    if is_grouped(truth):
        raise InputError("this posterior has a truth for each group; take one of them: truth.sel(group=...)")


def _truth(tree: xr.DataTree) -> xr.DataArray:
    found = tree["posterior"].data_vars
    return next((found[name] for name in ("plausibility", "top_label") if name in found), xr.DataArray(0))


def each_group[**P](function: Callable[P, xr.DataArray]) -> Callable[P, xr.DataArray]:
    """Apply a function of a truth, its first argument, to that of each group, and join what it returns as `group`."""

    @functools.wraps(function)
    def call(*args: P.args, **given: P.kwargs) -> xr.DataArray:
        truth: Any = args[0] if args else given.get("truth")
        if not is_grouped(truth):
            return function(*args, **given)
        names = truth["posterior"]["group"].values
        one: Any = function
        rest = {name: value for name, value in given.items() if name != "truth"}
        parts = [
            one(truth.sel(group=name), *args[1:], **rest).drop_vars("group", errors="ignore") for name in names
        ]
        joined = xr.concat(parts, pd.Index(names, name="group"), combine_attrs="override")
        return joined.transpose(*(dim for dim in ("chain", "draw") if dim in joined.dims), "group", ...)

    return call
