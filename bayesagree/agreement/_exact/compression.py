"""Compression of sufficient statistics: continuous ratings of any number of items as a few dozen weighted ones.

Under the Beta density an item enters through its number of ratings n, c = (sum log x + sum log(1 - x)) / 2, which is
free of the item mean, and d = (sum log x - sum log(1 - x)) / 2. Its log evidence is linear in c and analytic in d,
whatever the prior of the mean: summed over the items of equal n, it is a sum over Chebyshev nodes of d whose weights
are computed once (those of the polynomial through the nodes). The difference between a narrow interval and density
times width is a small correction and enters by its slope: the second derivative of the density (`_density_columns`),
and near an end of the scale the log probability of the bin less the log density at its middle. Items with a rating in
one of the bins next to an end share nodes with those that have the same ones.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._numerics.beta import SMALLEST
from bayesagree._numerics.multisets import run_starts, words
from bayesagree._numerics.types import Floats
from bayesagree.agreement._exact.likelihood import Ends, Likelihood

# Chebyshev nodes before any refinement: the log evidence of 7000 items inside the scale moves by 2e-10.
NODES = 40
# Width of d that one set of nodes covers: a rating of 1e-100 must not spread them over empty space.
WINDOW = 24.0
# Logarithm of an item's error with `NODES` on a whole window: fewer items need fewer nodes to err as little.
LOG_ERROR = float(np.log(1e-14))
# Widest interval of a rating whose log evidence is linear in its correction, and the correction, as a log likelihood,
# whose central difference is the slope.
LINEAR, SMALL = 1e-5, 0.01
# Bins at each end of the scale that no correction stands for, and patterns from which on one does for the others: the
# log evidence of 100,000 items moves by less than 1e-3, and the posterior of log p by a millionth of its deviation.
OWN_BINS, MANY = 3, 10_000


class CompressedByLevel(dict[int, Likelihood]):
    """A likelihood compressed onto more nodes at every level of refinement."""

    def __init__(self, like: Likelihood) -> None:
        self.like = like
        self.groups = similar(like)

    def __missing__(self, level: int) -> Likelihood:
        """Compress for a new level."""
        self[level] = compressed(self.like, self.groups, round(NODES / refined(level)))
        return self[level]


class CompressedWithEnds(dict[int, Likelihood]):
    """A compressed likelihood with other shares of outright ends: they are equal within a group of similar items."""

    def __init__(self, source: dict[int, Likelihood], ends: Ends) -> None:
        self.source, self.ends = source, ends

    def __missing__(self, level: int) -> Likelihood:
        """Take over what was compressed before."""
        self[level] = self.source[level].with_ends(self.ends)
        return self[level]


def refined(level: int) -> float:
    """Return the factor by which a level of refinement shortens every step."""
    return 0.8**level


class Corrections(NamedTuple):
    """Differences between ratings in narrow intervals and density times width.

    Attributes
    ----------
    amounts
        How much of each correction the items of a pattern have, sparse, shape (pattern, correction).
    columns
        One of each correction as statistics of the likelihood, shape (correction, column).
    size
        Log likelihood of one of each where the shape at its end of the scale is 0, shape (correction,).
    """

    amounts: Any
    columns: Floats
    size: Floats


class Group(NamedTuple):
    """Patterns that may share nodes: items of equal n in the same window of d, equal in the bins next to the ends.

    Attributes
    ----------
    patterns
        Their numbers, shape (pattern,).
    own
        Their ratings in the bins that stay, shape (bin,).
    densities, weight, corrections
        Statistics of the density (pattern, 3), items, and corrections of each.
    """

    patterns: NDArray[np.int64]
    own: Floats
    densities: Floats
    weight: Floats
    corrections: Corrections

    def enough(self, n: int, all_items: float) -> int:
        """Return the nodes that err as little on this range of d and share of the items as n do on a whole window."""
        d = self.densities[:, 1] - self.densities[:, 2]
        half, share = max(float(d.max() - d.min()) / 4, SMALLEST), float(self.weight.sum()) / all_items
        # Nodes err by rho^-n, log rho = arcsinh(a / half), with the nearest singularity at i a, a half window or more.
        n_of_range = n * np.arcsinh(1) / np.arcsinh(WINDOW / 2 / half)
        return max(round(n_of_range * (1 - np.log(share) / LOG_ERROR)), 1)


def compressed(like: Likelihood, groups: list[Group], n_nodes: int) -> Likelihood:
    """Return a likelihood with the same log evidence and a few dozen patterns for each group of similar items."""
    kept, parts, all_items = [], [], like.weight.sum()
    for group in groups:
        n, has_corrections = group.enough(n_nodes, all_items), bool(group.corrections.amounts.nnz)
        if group.weight.size <= n * (3 if has_corrections else 1) or (has_corrections and like.bin_width > LINEAR):
            kept.append(group.patterns)
        else:
            rows, weight = _on_nodes(group, n)
            parts.append((rows, weight, np.full(weight.size, group.patterns[0])))
    if not parts:
        return like
    rows, weight, stands_for = (np.concatenate(column) for column in zip(*parts))
    whole = np.concatenate([np.empty(0, np.int64), *kept])
    items = np.append(whole, stands_for)
    rows, weight = (
        np.concatenate([sp.sparse.csr_array(like.statistics[whole]).toarray(), rows]),
        np.append(like.weight[whole], weight),
    )
    return replace(like, statistics=rows, weight=weight, size=like.size[items], group=like.group[items])


def _split(like: Likelihood, statistics: Any) -> tuple[Any, Floats, Corrections]:
    """Return the counts of the bins that stay (pattern, bin), densities (pattern, 3) and corrections of the others."""
    bins, curvatures = like.low.size, like.densities - 3
    middle = (like.low + like.high) / 2
    away = np.minimum(middle, 1 - middle) / like.bin_width
    near = (away > OWN_BINS - 0.5) & (like.bin_width <= LINEAR) & (like.weight.size > MANY)
    n_near, x = int(near.sum()), middle[near]
    density = np.stack([np.ones_like(x), np.log(x), np.log1p(-x)], axis=1)
    columns = np.zeros((n_near + curvatures, statistics.shape[1]))
    columns[np.arange(n_near), np.flatnonzero(near)] = 1
    columns[:n_near, bins : bins + 3] = -density
    columns[n_near:, bins + 3 :] = np.eye(curvatures)
    counts = statistics[:, :bins]
    amounts = sp.sparse.hstack([counts[:, near], statistics[:, bins + 3 :]], format="csr")
    amounts.eliminate_zeros()
    densities = statistics[:, bins : bins + 3].toarray() + counts[:, near] @ density
    size = np.append(1 / (12 * away[near] ** 2), np.full(curvatures, 2.0))
    return counts @ sp.sparse.diags_array(1.0 - near), densities, Corrections(amounts, columns, size)


def similar(like: Likelihood) -> list[Group]:
    """Return the groups of patterns that may share nodes."""
    if not like.densities:
        return []
    own, densities, corrections = _split(like, sp.sparse.csr_array(like.statistics))
    ends = own @ words(np.arange(own.shape[1])).astype(np.float64)
    window = np.round((densities[:, 1] - densities[:, 2]) / (2 * WINDOW))
    # One key for all columns: whole numbers sort faster than rows of floats.
    key = np.zeros(like.weight.size, np.int64)
    for column in (like.size, like.group, ends, window, np.diff(corrections.amounts.indptr) > 0):
        key = words(key + (np.asarray(column, np.float64) + 0.0).view(np.int64)).view(np.int64)  # -0.0 becomes 0.0
    order = np.argsort(key, kind="stable")
    bounds = run_starts(key[order])
    own, densities, weight = own[order[bounds[:-1]]].toarray(), densities[order], like.weight[order]
    amounts = (sp.sparse.diags_array(like.weight) @ corrections.amounts)[order]
    return [
        Group(order[a:b], row, densities[a:b], weight[a:b], corrections._replace(amounts=amounts[a:b]))
        for row, a, b in zip(own, bounds[:-1].tolist(), bounds[1:].tolist())
    ]


def _on_nodes(group: Group, n: int) -> tuple[Floats, Floats]:
    """Return the statistics at Chebyshev nodes of d, and their weights.

    The log evidence is linear in the corrections: its slope in what a node has of them all is a difference between the
    node with some of it and the node with as much less.
    """
    _, own, densities, weight, corrections = group
    bins = own.size
    c, d = (densities[:, 1] + densities[:, 2]) / 2, (densities[:, 1] - densities[:, 2]) / 2
    middle, half = (d.max() + d.min()) / 2, (d.max() - d.min()) / 2
    at = middle + half * np.cos(np.pi * (np.arange(n) + 0.5) / n)
    x = (d - middle) / half if half else np.zeros_like(d)
    mean_c = weight @ c / weight.sum()
    nodes, weights = np.zeros((n, corrections.columns.shape[1])), _at_nodes(x, weight, n)
    nodes[:, :bins], nodes[:, bins], nodes[:, bins + 1], nodes[:, bins + 2] = (
        own,
        densities[0, 0],
        mean_c + at,
        mean_c - at,
    )
    if not corrections.amounts.nnz:
        return nodes, weights
    amounts = _at_nodes(x, corrections.amounts, n)
    times = np.maximum(np.abs(amounts) @ corrections.size, SMALLEST) / SMALL
    step = (amounts / times[:, None]) @ corrections.columns
    return np.concatenate([nodes, nodes + step, nodes - step]), np.concatenate([weights, times / 2, -times / 2])


def _at_nodes(x: Floats, amounts: Any, n: int) -> Floats:
    """Return w such that sum_i amount_i f(x_i) = sum_k w_k f(node_k) for every polynomial f of degree below n.

    Amounts of shape (item,) or, of several kinds, (item, kind), sparse; w has shape (node,) or (node, kind).
    """
    moments = []
    before, now = x, np.ones_like(x)  # T_(-1), T_0
    for _ in range(n):
        moments.append(now @ amounts)
        before, now = now, 2 * x * now - before
    return np.asarray(sp.fft.dct(np.stack(moments), type=3, axis=0)) / n
