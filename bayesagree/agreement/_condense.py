"""Continuous ratings of any number of items as a few dozen weighted ones.

Under the Beta density an item enters through its number of ratings n, c = (sum log x + sum log(1 - x)) / 2, which does
not meet the item mean, and d = (sum log x - sum log(1 - x)) / 2. Its log evidence is linear in c and analytic in d,
whatever the prior of the mean: summed over the items of equal n, it is a sum over Chebyshev nodes of d whose weights
are computed once (those of the polynomial through the nodes).
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy as sp

from bayesagree.agreement._likelihood import Likelihood
from bayesagree.agreement._patterns import Floats

NODES = 40
"""Chebyshev nodes before any refinement: the log evidence of 7000 items moves by 2e-10."""
WINDOW = 24.0
"""Width of d that one set of nodes covers: a rating of 1e-100 must not spread them over what the others leave empty."""


class ByLevel(dict[int, Likelihood]):
    """A likelihood condensed to more nodes at every level of refinement."""

    def __init__(self, like: Likelihood) -> None:
        self.like = like

    def __missing__(self, level: int) -> Likelihood:
        """Condense for a new level."""
        self[level] = condensed(self.like, round(NODES / refined(level)))
        return self[level]


def refined(level: int) -> float:
    """Return the factor by which a level of refinement shortens every step."""
    return 0.8**level


def condensed(like: Likelihood, n_nodes: int) -> Likelihood:
    """Return a likelihood with the same log evidence and at most `n_nodes` patterns for like items.

    These are items of equal n in the same window of d. Patterns with a rating on a level, or near an end of the scale,
    stay as they are.
    """
    if not like.densities:
        return like
    first = like.low.size
    other = np.ones(like.statistics.shape[1])
    other[first : first + 3] = 0
    free = abs(like.statistics) @ other == 0
    densities = _columns(like.statistics, first)
    window = np.round((densities[:, 1] - densities[:, 2]) / (2 * WINDOW))
    kinds, kind = np.unique(np.stack([like.size, like.group, window], axis=1), axis=0, return_inverse=True)
    kept, parts = ~free, []
    for k, (size, group, _) in enumerate(kinds):
        some = np.flatnonzero(free & (kind == k))
        if some.size <= n_nodes:
            kept[some] = True
            continue
        rows, weight = _on_nodes(densities[some], like.weight[some], n_nodes)
        statistics = np.zeros((n_nodes, other.size))
        statistics[:, first : first + 3] = rows
        parts.append((statistics, weight, np.full(n_nodes, size), np.full(n_nodes, int(group))))
    if not parts:
        return like
    statistics, weight, size, group = (np.concatenate(column) for column in zip(*parts))
    rest = like.statistics[kept]
    dense = isinstance(rest, np.ndarray)
    together = np.concatenate([rest, statistics]) if dense else sp.sparse.vstack([rest, statistics], "csr")
    return replace(
        like, statistics=together, weight=np.append(like.weight[kept], weight), size=np.append(like.size[kept], size),
        group=np.append(like.group[kept], group),
    )  # fmt: skip


def _columns(statistics: Any, first: int) -> Floats:
    """Return the columns n, sum log x, sum log(1 - x)."""
    columns = statistics[:, first : first + 3]
    return columns if isinstance(columns, np.ndarray) else columns.toarray()


def _on_nodes(rows: Floats, weight: Floats, n: int) -> tuple[Floats, Floats]:
    """Return n, sum log x and sum log(1 - x) at Chebyshev nodes of d, and their weights."""
    c, d = (rows[:, 1] + rows[:, 2]) / 2, (rows[:, 1] - rows[:, 2]) / 2
    middle, half = (d.max() + d.min()) / 2, (d.max() - d.min()) / 2
    at = middle + half * np.cos(np.pi * (np.arange(n) + 0.5) / n)
    mean_c = weight @ c / weight.sum()
    nodes = np.stack([np.full(n, rows[0, 0]), mean_c + at, mean_c - at], axis=1)
    return nodes, _interpolation_weights((d - middle) / half, weight, n)


def _interpolation_weights(x: Floats, weight: Floats, n: int) -> Floats:
    """Return w such that sum_i weight_i f(x_i) = sum_k w_k f(node_k) for every polynomial f of degree below n."""
    moments = np.empty(n)
    before, now = weight * x, weight.astype(float)  # weight * T_(-1), weight * T_0
    for j in range(n):
        moments[j] = now.sum()
        before, now = now, 2 * x * now - before
    return np.asarray(sp.fft.dct(moments, type=3)) / n
