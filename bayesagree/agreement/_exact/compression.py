"""Compression of sufficient statistics: continuous ratings of any number of items as a few dozen weighted ones.

Under the Beta density an item enters through its number of ratings n, c = (sum log x + sum log(1 - x)) / 2, which is
free of the item mean, and d = (sum log x - sum log(1 - x)) / 2. Its log evidence is linear in c and analytic in d,
whatever the prior of the mean: summed over the items of equal n, it is a sum over Chebyshev nodes of d whose weights
are computed once (those of the polynomial through the nodes). Items with a rating in a bin next to an end of the scale
share nodes with those that have the same ones; the second derivative of the density near an end (narrow intervals,
`_density_columns`) enters by its slope.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._numerics.multisets import run_starts, words
from bayesagree.agreement._exact.likelihood import Ends, Likelihood
from bayesagree.agreement._exact.patterns import Floats

NODES = 40
"""Chebyshev nodes before any refinement: the log evidence of 7000 items inside the scale moves by 2e-10."""
WINDOW = 24.0
"""Width of d that one set of nodes covers: a rating of 1e-100 must not spread them over empty space."""

LINEAR, SMALL = 1e-5, 0.01
"""Widest interval of a rating whose log evidence is linear in what multiplies the second derivative of the density, and
the share of the largest of these multipliers whose difference is the slope."""


class CompressedByLevel(dict[int, Likelihood]):
    """A likelihood compressed onto more nodes at every level of refinement."""

    def __init__(self, like: Likelihood) -> None:
        self.like = like

    def __missing__(self, level: int) -> Likelihood:
        """Compress for a new level."""
        self[level] = compressed(self.like, round(NODES / refined(level)))
        return self[level]


class CompressedWithEnds(dict[int, Likelihood]):
    """A compressed likelihood with other shares of outright ends: they are equal within a group of similar items."""

    def __init__(self, source: dict[int, Likelihood], ends: Ends) -> None:
        self.source, self.ends = source, ends

    def __missing__(self, level: int) -> Likelihood:
        """Take over what was compressed before."""
        self[level] = replace(self.source[level], ends=self.ends)
        return self[level]


def refined(level: int) -> float:
    """Return the factor by which a level of refinement shortens every step."""
    return 0.8**level


def compressed(like: Likelihood, n_nodes: int) -> Likelihood:
    """Return a likelihood with the same log evidence and a few dozen patterns for each group of similar items.

    These are items of equal n in the same window of d and with the same ratings in bins next to the ends of the scale.
    """
    if not like.densities:
        return like
    bins = like.low.size
    densities = _dense(like.statistics[:, bins:])
    curved = densities[:, 3:].any(axis=1)
    kept, parts = [], []
    for some in _similar(like, densities, curved):
        has_curvature = curved[some[0]]
        # A group with curvature needs the nodes of up to three slopes beside its own.
        if some.size <= n_nodes * (4 if has_curvature else 1) or (has_curvature and like.bin_width > LINEAR):
            kept.append(some)
        else:
            rows, weight = _on_nodes(densities[some], like.weight[some], n_nodes)
            parts.append((rows, weight, np.full(weight.size, some[0])))
    if not parts:
        return like
    rows, weight, stands_for = (np.concatenate(column) for column in zip(*parts))
    own = np.concatenate([np.empty(0, np.int64), *kept])
    items = np.append(own, stands_for)
    statistics = _beside(like.statistics[items, :bins], np.concatenate([densities[own], rows]))
    weight = np.append(like.weight[own], weight)
    return replace(like, statistics=statistics, weight=weight, size=like.size[items], group=like.group[items])


def _similar(like: Likelihood, densities: Floats, curved: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Return the groups of patterns that may share nodes."""
    bins = like.low.size
    ends = like.statistics[:, :bins] @ words(np.arange(bins)).astype(np.float64)
    window = np.round((densities[:, 1] - densities[:, 2]) / (2 * WINDOW))
    key = np.zeros(like.weight.size, np.int64)
    for column in (like.size, like.group, ends, window, curved):
        key = words(key + (np.asarray(column, np.float64) + 0.0).view(np.int64)).view(np.int64)  # -0.0 becomes 0.0
    order = np.argsort(key, kind="stable")
    return np.split(order, run_starts(key[order])[1:-1])


def _dense(columns: Any) -> Floats:
    return columns if isinstance(columns, np.ndarray) else columns.toarray()


def _beside(bins: Any, densities: Floats) -> Any:
    """Return the columns of bins and of densities side by side, sparse as those of bins are."""
    if isinstance(bins, np.ndarray):
        return np.concatenate([bins, densities], axis=1)
    return sp.sparse.hstack([bins, sp.sparse.csr_array(densities)], format="csr")


def _on_nodes(rows: Floats, weight: Floats, n: int) -> tuple[Floats, Floats]:
    """Return the columns of densities at Chebyshev nodes of d, and their weights.

    The log evidence is linear in the multipliers of the second derivative of the density: its slope in each of these
    columns is a difference between nodes with and without some of it.
    """
    c, d = (rows[:, 1] + rows[:, 2]) / 2, (rows[:, 1] - rows[:, 2]) / 2
    middle, half = (d.max() + d.min()) / 2, (d.max() - d.min()) / 2
    at = middle + half * np.cos(np.pi * (np.arange(n) + 0.5) / n)
    x = (d - middle) / half if half else np.zeros_like(d)
    mean_c = weight @ c / weight.sum()
    nodes = np.zeros((n, rows.shape[1]))
    nodes[:, 0], nodes[:, 1], nodes[:, 2] = rows[0, 0], mean_c + at, mean_c - at
    together, weights = [nodes], [_interpolation_weights(x, weight, n)]
    for column in range(3, rows.shape[1]):
        step = SMALL * np.abs(rows[:, column]).max()
        if step:
            moved = nodes.copy()
            moved[:, column] = step
            together.append(moved)
            weights.append(_interpolation_weights(x, weight * rows[:, column] / step, n))
            weights[0] = weights[0] - weights[-1]
    return np.concatenate(together), np.concatenate(weights)


def _interpolation_weights(x: Floats, weight: Floats, n: int) -> Floats:
    """Return w such that sum_i weight_i f(x_i) = sum_k w_k f(node_k) for every polynomial f of degree below n."""
    moments = np.empty(n)
    before, now = weight * x, weight.astype(float)  # weight * T_(-1), weight * T_0
    for j in range(n):
        moments[j] = now.sum()
        before, now = now, 2 * x * now - before
    return np.asarray(sp.fft.dct(moments, type=3)) / n
