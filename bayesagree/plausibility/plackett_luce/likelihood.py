"""Plackett-Luce without a posterior: how probable rankings are, and which plausibilities make them most probable."""

from itertools import pairwise
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats
from bayesagree.annotations import Rankings
from bayesagree.errors import ConvergenceError, InputError, as_python, warn
from bayesagree.plausibility.plackett_luce._cases import Cases, read_cases
from bayesagree.plausibility.plackett_luce._ranking_kernels import heights_and_slopes, races_log_probability
from bayesagree.plausibility.plackett_luce._sampler import worth_prior

# Newton's method: distance of the slopes whose difference is the curvature, and what rounding hides of the height.
NUDGE, ROUNDING, MOST_STEPS = 1e-4, 1e-12, 200


def plackett_luce_log_likelihood(
    rankings: Rankings,
    plausibility: xr.DataArray,
) -> xr.DataArray:
    """Compute the log probability of each ranking given plausibilities.

    Parameters
    ----------
    rankings
        Partial rankings with ties; tied and unranked labels may have come in any order, which is summed over.
    plausibility
        Dims item and label, and any others such as chain and draw; only ratios within an item matter.

    Returns
    -------
    DataArray
        Log probabilities (..., ranking), with coordinate ``item`` along ranking.

    Raises
    ------
    InputError
        Plausibilities that miss an item or a label, or are negative.

    References
    ----------
    Stutz et al., appendix B.4.3, whose recursion over the subsets of a block is here one integral per block.

    Examples
    --------
    >>> theta = xr.DataArray([[0.3, 0.15, 0.4, 0.1, 0.05]], dims=("item", "category"))
    >>> tied = Rankings.from_blocks([[[[0, 1, 2]]]], labels=5)
    >>> plackett_luce_log_likelihood(tied, theta).values.round(6).tolist()
    [-0.955303]
    """
    values, dims = _plausibility_values(rankings, plausibility)
    choice, item = rankings.offered, rankings.item_index
    everything = np.arange(rankings.categories.size)
    flat = values.reshape(-1, *values.shape[-2:])
    named = flat[:, item[rankings.ranking_index()], rankings.label_index]
    rest = np.empty((len(flat), rankings.n_annotations))
    # Summed, not subtracted from the whole: a rest of 1e-20 beside named labels of 1 would lose all digits.
    for r, (start, stop) in enumerate(pairwise(rankings.start)):
        others = np.setdiff1d(everything if choice is None else choice[r], rankings.label_index[start:stop])
        rest[:, r] = flat[:, item[r], others].sum(axis=1)
    out = np.empty_like(rest)
    races_log_probability(named, rest, rankings.start, rankings.block, out)
    coords = {d: plausibility.coords[d] for d in dims if d in plausibility.coords}
    return xr.DataArray(
        out.reshape(*values.shape[:-2], -1),
        dims=(*dims, "ranking"),
        coords=coords | {"item": ("ranking", rankings.items[item])},
        name="log_likelihood",
    )


def plackett_luce_ml(rankings: Rankings, *, shape: float | None = None) -> xr.DataArray:
    """Find the plausibilities that make the rankings of each item most probable.

    The log-likelihood is concave in the log worths, ties included. Its maximum over the labels that somebody named
    exists, and is unique, if and only if every such label was ranked above every other one directly or through a
    chain of labels ("i in an earlier block than j" is strongly connected). For the other items the maximum lies at
    infinity, and the mode of the posterior of the log worths under `shape` takes its place, with all labels.

    Parameters
    ----------
    rankings
        Partial rankings with ties.
    shape
        Shape of the gamma prior of that mode, by default 1/K as in `plackett_luce`.

    Returns
    -------
    DataArray
        Plausibilities (item, category), each row sums to one; coordinate ``exists`` (item): whether it is the maximum.

    Raises
    ------
    ConvergenceError
        The maximum was not found to the stated accuracy.

    Warns
    -----
    UserWarning
        Names an item without a maximum and the groups of labels between which at most one side wins.

    References
    ----------
    Stutz et al., section 3.1 and appendix B.4 (the deterministic counterpart); Hunter, "MM algorithms for generalized
    Bradley-Terry models", Annals of Statistics 2004 (existence).

    Examples
    --------
    >>> cyclic = Rankings.from_blocks([[[[0], [1], [2]], [[1], [2], [0]], [[2], [0], [1]]]], labels=3)
    >>> plackett_luce_ml(cyclic).values.round(6).tolist()
    [[0.333333, 0.333333, 0.333333]]

    Label 0 won two of three races against label 1, and one of two against label 2:

    >>> races = [[[0], [1]], [[0], [1]], [[1], [0]], [[0], [2]], [[2], [0]]]
    >>> met = [[0, 1]] * 3 + [[0, 2]] * 2
    >>> plackett_luce_ml(Rankings.from_blocks([races], labels=3, offered=[met])).values.round(6).tolist()
    [[0.4, 0.2, 0.4]]
    """
    cases = read_cases(rankings)
    prior = worth_prior(cases, shape, "exact")
    table = np.zeros((cases.n_items, cases.n_labels))
    exists = np.zeros(cases.n_items, dtype=bool)
    groups: dict[int, list[list[Any]]] = {}
    for i in range(cases.n_items):
        named = cases.label[cases.label_start[i] : cases.label_start[i + 1]]
        strong = _strong_components(cases, i, named.size)
        exists[i] = strong.max() == 0
        if exists[i]:
            table[i, named] = _maximum(cases, i, np.zeros(named.size))
            continue
        groups[i] = [[as_python(rankings.categories[k]) for k in named[strong == c]] for c in range(strong.max() + 1)]
        shapes = np.append(np.full(named.size, prior.shape), prior.unnamed[i])
        shares = _maximum(cases, i, shapes[shapes > 0])
        table[i] = 0.0 if cases.n_unnamed[i] == 0 else shares[-1] / cases.n_unnamed[i]
        table[i, named] = shares[: named.size]
    if groups:
        first = next(iter(groups))
        warn(
            f"{len(groups)} of {cases.n_items} items have no maximum, as {as_python(rankings.items[first])!r}: between "
            f"the labels {' | '.join(map(str, groups[first]))} comparisons go one way at most; the posterior "
            f"mode with shape={prior.shape:g} stands in"
        )
    coords = {"item": rankings.items, "category": rankings.categories, "exists": ("item", exists)}
    return xr.DataArray(table, dims=("item", "category"), coords=coords, name="plausibility")


def _maximum(cases: Cases, item: int, shapes: Floats) -> Floats:
    """Maximise the log likelihood plus sum(shape x - e^x) over log worths x, the last for unnamed labels.

    Newton's method; the curvature is a difference of slopes.
    """
    n, x, slope = shapes.size, np.zeros(shapes.size), np.zeros((1, shapes.size))
    around = NUDGE * np.concatenate([np.zeros((1, n)), np.eye(n), -np.eye(n)])
    no_scale = 0.0 if shapes.any() else 1 / n  # the likelihood alone does not change with the scale of the worths
    for _ in range(MOST_STEPS):
        height, slope = heights_and_slopes(x + around, cases, item, shapes)
        curvature = (slope[n + 1 :] - slope[1 : n + 1]) / (2 * NUDGE)
        step = np.linalg.solve((curvature + curvature.T) / 2 + no_scale, slope[0])
        rise = slope[0] @ step / (1 + abs(height[0]))
        while rise > ROUNDING and heights_and_slopes(x + step[None], cases, item, shapes)[0] < height[0]:
            step /= 2
        x += step
        if rise <= ROUNDING:
            break
    if np.abs(slope[0]).max() > 1e-4 * cases.multiplicity.sum():
        raise ConvergenceError(f"item at position {item}: the likelihood was not maximised in {MOST_STEPS} steps")
    worth = np.exp(x - x.max())
    return worth / worth.sum()


def _strong_components(cases: Cases, item: int, n_named: int) -> NDArray[np.int64]:
    """Return the component of each named label in the graph "some annotator ranks i in an earlier block than j".

    A label that a ranking does not name is in its last block if it was on offer, else in none.
    """
    above = np.eye(n_named, dtype=bool)
    for r in range(cases.ranking_start[item], cases.ranking_start[item + 1]):
        last = cases.block_start[r + 1] - cases.block_start[r]
        rank = np.full(n_named, last)
        for place, b in enumerate(range(cases.block_start[r], cases.block_start[r + 1])):
            rank[cases.entry[cases.entry_start[b] : cases.entry_start[b + 1]]] = place
        took_part = np.ones(n_named, dtype=bool)
        if cases.limited:
            took_part[:] = False
            took_part[cases.offered[cases.offered_start[r] : cases.offered_start[r + 1]]] = True
        above |= (rank[:, None] < rank) & took_part[:, None] & took_part
    for _ in range(n_named.bit_length()):  # chains twice as long each time
        above = above @ above
    return np.unique((above & above.T).argmax(axis=1), return_inverse=True)[1]


def _plausibility_values(rankings: Rankings, plausibility: xr.DataArray) -> tuple[Floats, list[str]]:
    """Return plausibilities as (..., item, category) in the order of the rankings, and the names of the other dims."""
    if not {"item", "category"} <= set(plausibility.dims):
        raise InputError(f"plausibilities have dims (..., item, category), not {plausibility.dims}")
    for dim, names in (("item", rankings.items), ("category", rankings.categories)):
        if dim in plausibility.coords:
            missing = [as_python(n) for n in names if n not in set(plausibility[dim].values.tolist())]
            if missing:
                raise InputError(f"plausibilities miss the {dim} {missing[0]!r}; give every {dim} of the rankings")
            plausibility = plausibility.sel({dim: names})
        elif plausibility.sizes[dim] != names.size:
            noun = {"category": "label"}.get(dim, dim)
            raise InputError(
                f"{plausibility.sizes[dim]} {noun}s of plausibilities for {names.size} {noun}s of rankings"
            )
    dims = [str(d) for d in plausibility.dims if d not in ("item", "category")]
    values = plausibility.transpose(*dims, "item", "category").values.astype(np.float64)
    if not (values >= 0).all():
        raise InputError("plausibilities must not be negative or NaN")
    return values, dims
