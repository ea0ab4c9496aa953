"""The maximum-likelihood counterpart of the Plackett-Luce posterior (Stutz et al., section 3.1 and appendix B.4)."""

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Rankings
from bayesagree.errors import ConvergenceError, as_python, warn
from bayesagree.plausibility.plackett_luce.partial_ranking import rankings_log_probability

# Newton's method: distance of the slopes whose difference is the curvature, and what rounding hides of the height.
NUDGE, ROUNDING, MOST_STEPS = 1e-4, 1e-12, 200


def plackett_luce_ml(rankings: Rankings, *, shape: float | None = None) -> xr.DataArray:
    """Find the plausibilities that make the rankings of each item most probable.

    The log-likelihood is concave in the log worths, ties included. Its maximum over the labels that somebody named (or
    was offered) exists, and is unique, if and only if every such label was ranked above every other one directly or
    through a chain of labels. For the other items the maximum lies at infinity, and the mode of the posterior of the
    log worths under `shape` takes its place, with all labels.

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
    Hunter, "MM algorithms for generalized Bradley-Terry models", Annals of Statistics 2004 (existence).

    Examples
    --------
    >>> cyclic = Rankings.from_blocks([[[[0], [1], [2]], [[1], [2], [0]], [[2], [0], [1]]]], labels=3)
    >>> plackett_luce_ml(cyclic).values.round(6).tolist()
    [[0.333333, 0.333333, 0.333333]]
    """
    n_labels = rankings.categories.size
    table = np.zeros((rankings.items.size, n_labels))
    exists = np.zeros(rankings.items.size, dtype=bool)
    groups = {}
    shape = 1 / n_labels if shape is None else shape
    for i in range(rankings.items.size):
        ranks, offered = _races(rankings, i)
        own = rankings.label_index[rankings.item_index[rankings.ranking_index()] == i]
        named = np.unique(own) if rankings.offered is None else np.flatnonzero(offered.any(axis=0))
        race, open_to = ranks[:, named], offered[:, named]
        strong = _strong_components(race, open_to)
        exists[i] = strong.max() == 0
        if exists[i]:
            table[i, named] = _maximum(race, open_to, np.zeros(named.size))
            continue
        groups[i] = [
            [as_python(rankings.categories[k]) for k in named[strong == c]] for c in range(strong.max() + 1)
        ]
        rest = n_labels - named.size
        if rest:  # all labels that nobody named, as one
            nobody = np.setdiff1d(np.arange(n_labels), named)[:1]
            race = np.column_stack([race, ranks[:, nobody]])
            open_to = np.column_stack([open_to, offered[:, nobody]])
            shares = _maximum(race, open_to, shape * np.append(np.ones(named.size), rest))
            table[i], table[i, named] = shares[-1] / rest, shares[:-1]
        else:
            table[i, named] = _maximum(race, open_to, np.full(named.size, shape))
    if groups:
        first = next(iter(groups))
        warn(
            f"{len(groups)} of {exists.size} items have no maximum, as {as_python(rankings.items[first])!r}: between "
            f"the labels {' | '.join(map(str, groups[first]))} comparisons go one way at most; the posterior "
            f"mode with shape={shape:g} stands in"
        )
    coords = {"item": rankings.items, "category": rankings.categories, "exists": ("item", exists)}
    return xr.DataArray(table, dims=("item", "category"), coords=coords, name="plausibility")


def _races(rankings: Rankings, item: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the ranks of an item's rankings, unnamed labels last, and what was on offer, both (ranking, label)."""
    rows = np.flatnonzero(rankings.item_index == item)
    ranks = np.empty((rows.size, rankings.categories.size), np.int64)
    offered = np.ones(ranks.shape, bool)
    for place, r in enumerate(rows):
        entries = slice(rankings.start[r], rankings.start[r + 1])
        ranks[place] = rankings.block[entries].max() + 1
        ranks[place, rankings.label_index[entries]] = rankings.block[entries]
        if (sets := rankings.offered) is not None:
            shown = sets.label_index[sets.start[r] : sets.start[r + 1]]
            offered[place] = np.isin(np.arange(ranks.shape[1]), shown)
    return ranks, offered


def _strong_components(ranks: NDArray[np.int64], offered: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the component of each label in the graph "some annotator ranks i in an earlier block than j"."""
    beats = (ranks[:, :, None] < ranks[:, None]) & offered[:, :, None] & offered[:, None]
    return sp.sparse.csgraph.connected_components(beats.any(axis=0), connection="strong")[1]


def _maximum(ranks: NDArray[np.int64], offered: NDArray[np.bool_], shapes: Floats) -> Floats:
    """Maximise the log likelihood plus sum(shape x - e^x) over log worths x by Newton's method; return the shares."""
    own = np.where(offered, ranks, np.where(offered, ranks, 0).max(axis=1, keepdims=True))

    def height_and_slope(x: Floats) -> tuple[float, Floats]:
        value, slope = rankings_log_probability(np.where(offered, x, -np.inf), own)
        worth = np.exp(x) if shapes.any() else np.zeros(x.size)
        return value.sum() + (shapes * x - worth).sum(), slope.sum(axis=0) + shapes - worth

    n, x, slope = shapes.size, np.zeros(shapes.size), np.zeros(shapes.size)
    no_scale = (
        0.0 if shapes.any() else 1 / n
    )  # the likelihood alone does not change with the scale of the worths
    for _ in range(MOST_STEPS):
        height, slope = height_and_slope(x)
        around = [height_and_slope(x + step)[1] for step in NUDGE * np.concatenate([np.eye(n), -np.eye(n)])]
        curvature = (np.array(around[n:]) - np.array(around[:n])) / (2 * NUDGE)
        step = np.linalg.solve((curvature + curvature.T) / 2 + no_scale, slope)
        rise = slope @ step / (1 + abs(height))
        while rise > ROUNDING and height_and_slope(x + step)[0] < height:
            step /= 2
        x = x + step
        if rise <= ROUNDING:
            break
    if np.abs(slope).max() > 1e-4 * len(ranks):
        raise ConvergenceError(f"the likelihood was not maximised in {MOST_STEPS} steps")
    worth = np.exp(x - x.max())
    return worth / worth.sum()
