"""Log likelihood of every rating pattern, as a table over nodes of the item mean, at one precision.

An item's ratings are Beta(mu p, (1 - mu) p). Everything is a sum over columns: log L(pattern, node) =
sum_c statistic(pattern, c) * term(c, node), where a column is a bin of the scale (interval-censored rating) or one of
the three sufficient statistics of the density (n, sum log x, sum log(1 - x)). Nodes are logits of mu, so that a mean
of 1e-300 keeps its digits.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numba
import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree.agreement._exact.patterns import Floats, Patterns
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError, as_python
from bayesagree.patterns.patterns import RatingPatterns

type Kind = Literal["binned", "density", "squeezed"]

SMALLEST_BIN = 1e-6
"""Narrowest interval that a continuous rating stands for, where some rating sits on an end of the scale."""
CANCELS = 1e-4
"""A tail below this is not computed as one minus the other."""
FINE = 2e-4
"""Below this width, intervals away from the ends are density times width."""
BENT = 3000
"""Intervals this many widths away from the ends do without the second derivative of the density (1e-9 of it)."""
LEGENDRE = np.polynomial.legendre.leggauss(5)
NEAR_END = 0.5
"""Bins nearer to an end than this, and than this divided by the precision, are computed by a series."""


@dataclass(frozen=True)
class Likelihood:
    """Sufficient statistics of every pattern.

    Attributes
    ----------
    statistics
        Sparse, shape (pattern, column): counts of bins, then (n, sum log x, sum log(1 - x)) where densities are used.
    low, high
        Edges of the bins on [0, 1], shape (bin,).
    densities
        How many of the last columns belong to densities.
    weight, size, group
        Items with the pattern, its number of ratings, and the item's prior, shape (pattern,).
    log_width
        Added to the log marginal likelihood: density times bin width, so that binned values are comparable.
    bin_width
        Width of the interval a continuous rating stands for, or NaN where the density itself is used.
    """

    statistics: Any
    low: Floats
    high: Floats
    densities: int
    weight: Floats
    size: Floats
    group: Any
    log_width: float
    bin_width: float

    @cached_property
    def farthest(self) -> float:
        """Largest mean logit of an item's ratings, towards either end."""
        middle = (self.low + self.high) / 2
        columns = np.zeros(self.statistics.shape[1])
        columns[: middle.size] = sp.special.logit(middle)
        if self.densities:
            columns[middle.size + 1 : middle.size + 3] = 1, -1
        return float(np.max(np.abs(self.statistics @ columns) / self.size))

    def table(self, precision: float, at: Floats) -> Floats:
        """Return the log likelihood, shape (pattern, node), at one precision and nodes logit(mu)."""
        a, b = _shapes(precision, at)
        log_beta = sp.special.betaln(a, b)
        terms = []
        if self.low.size:
            smooth = precision < self.smooth_below
            near_end = ~smooth & (max(precision, 1.0) * np.minimum(self.high, 1 - self.low) < NEAR_END)
            other = ~(smooth | near_end)
            log_p = np.empty((self.low.size, at.size))
            if smooth.any():
                log_p[smooth] = _log_smooth_bins(self.low[smooth], self.high[smooth], a, b, log_beta)
            if near_end.any():
                log_p[near_end] = _log_end_bins(self.low[near_end], self.high[near_end], a, b, log_beta)
            if other.any():
                edges, first, last = _edges(self.low[other], self.high[other])
                log_p[other] = _log_bins(first, last, edges, a, b, log_beta)
            terms.append(log_p)
        if self.densities:
            terms.append(_density_terms(a, b, log_beta, self.densities))
        return self.statistics @ (np.concatenate(terms) if len(terms) > 1 else terms[0])

    @cached_property
    def smooth_below(self) -> Floats:
        """Precision below which the density hardly bends inside a bin, shape (bin,); 0 for wide bins."""
        width = self.high - self.low
        nearest = np.minimum(self.low, 1 - self.high)
        return np.where(nearest >= 10 * width, 0.04 * nearest * (1 - nearest) / width**2 - 1, 0.0)


def _shapes(precision: float, at: Floats) -> tuple[Floats, Floats]:
    tiny = 1e-300
    return np.maximum(precision * sp.special.expit(at), tiny), np.maximum(precision * sp.special.expit(-at), tiny)


def _log_end_bins(low: Floats, high: Floats, a: Floats, b: Floats, log_beta: Floats) -> Floats:
    """Return log Pr(low <= x < high) for x ~ Beta(a, b) where all bins lie next to 0 or 1, shape (bin, node)."""
    left = low < 1 - high
    probability = np.empty((low.size, a.size))
    probability[left] = _end_bins(low[left], high[left], a, b, log_beta)
    probability[~left] = _end_bins(1 - high[~left], 1 - low[~left], b, a, log_beta)
    return np.log(np.maximum(probability, 1e-300, out=probability), out=probability)


def _edges(low: Floats, high: Floats) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct edges of bins, and the positions of each bin's two edges."""
    edges, position = np.unique(np.concatenate([low, high]), return_inverse=True)
    return edges, position[: low.size], position[low.size :]


@numba.njit(cache=True, nogil=True)
def _fraction(a, b, x):
    """Return the continued fraction of the incomplete beta function (Lentz), for x < (a + 1) / (a + b + 2)."""
    tiny = 1e-300
    c = 1.0
    d = 1 / (1 - (a + b) * x / (a + 1))
    h = d
    for m in range(1, 5000):
        t = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / max(1 + t * d, tiny)
        c = max(1 + t / c, tiny)
        h *= d * c
        t = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / (1 + t * d)
        c = 1 + t / c
        h *= d * c
        if abs(d * c - 1) < 2e-16:
            break
    return h


@numba.njit(cache=True, nogil=True)
def _log_bins(low, high, edges, a, b, log_beta):
    """Return log Pr(edges[low] <= x < edges[high]) for every node, shape (bin, node)."""
    below, above = np.empty(edges.size), np.empty(edges.size)
    result = np.empty((low.size, a.size))
    for j in range(a.size):
        for e in range(edges.size):
            x = edges[e]
            if x <= 0 or x >= 1:
                below[e], above[e] = (0.0, 1.0) if x <= 0 else (1.0, 0.0)
                continue
            front = math.exp(a[j] * math.log(x) + b[j] * math.log1p(-x) - log_beta[j])
            # The fraction converges fast on one side; the other is its complement, unless that cancels.
            left = x < (a[j] + 1) / (a[j] + b[j] + 2)
            if left:
                below[e] = front * _fraction(a[j], b[j], x) / a[j]
                above[e] = 1 - below[e]
            if not left or above[e] < CANCELS:
                above[e] = front * _fraction(b[j], a[j], 1 - x) / b[j]
            if not left:
                below[e] = 1 - above[e]
                if below[e] < CANCELS:
                    below[e] = front * _fraction(a[j], b[j], x) / a[j]
        for k in range(low.size):
            # From the smaller tail, so that a bin far out keeps its digits.
            upper = below[low[k]] > 0.5
            p = above[low[k]] - above[high[k]] if upper else below[high[k]] - below[low[k]]
            result[k, j] = math.log(max(p, 1e-300))
    return result


def _log_smooth_bins(low: Floats, high: Floats, a: Floats, b: Floats, log_beta: Floats) -> Floats:
    """Return log Pr(low <= x < high) of narrow bins by Gauss-Legendre with 5 nodes, shape (bin, node)."""
    half = (high - low) / 2
    probability = np.zeros((low.size, a.size))
    for place, weight in zip(*LEGENDRE):
        x = low + half * (1 + place)
        term = np.stack([np.log(x), np.log1p(-x), np.ones_like(x)], axis=1) @ np.stack([a - 1, b - 1, -log_beta])
        np.exp(term, out=term)
        term *= (weight * half)[:, None]
        probability += term
    return np.log(np.maximum(probability, 1e-300, out=probability), out=probability)


@numba.njit(cache=True, nogil=True)
def _series(u, v, x):
    """Return sum_k (1 - v) ... (k - v) x^k / (k! (u + k)), k = 1, 2, ...: I_x(u, v) is x^u (1 / u + this) / B(u, v)."""
    total, term, k = 0.0, 1.0, 0
    while abs(term) > 1e-17:
        k += 1
        term *= (k - v) / k * x
        total += term / (u + k)
    return total


@numba.njit(cache=True, nogil=True)
def _end_bins(low, high, a, b, log_beta):
    """Return Pr(low <= x < high) next to 0 from the series of the incomplete beta function, shape (bin, node)."""
    result = np.empty((low.size, a.size))
    for k in range(low.size):
        log_high = math.log(high[k])
        log_low = math.log(low[k]) if low[k] > 0 else -math.inf
        for j in range(a.size):
            u, v = a[j], b[j]
            at_high = math.exp(u * log_high - log_beta[j])
            probability = at_high * _series(u, v, high[k])
            # (high^u - low^u) / u without the difference of two large numbers where u is small.
            probability -= at_high * (math.expm1(u * (log_low - log_high)) / u)
            if low[k] > 0:
                probability -= math.exp(u * log_low - log_beta[j]) * _series(u, v, low[k])
            result[k, j] = probability
    return result


def likelihood(ratings: Ratings | RatingPatterns, patterns: Patterns, kind: Kind) -> Likelihood:
    """Build the sufficient statistics for one kind of likelihood (see `common_agreement`)."""
    if kind == "squeezed":
        return _from_density(patterns, _squeezed_statistics(patterns))
    if kind == "binned" and ratings.step is not None:
        n = patterns.values.size
        edges = np.arange(n + 1) / n
        return _from_bins(patterns, patterns.counts, edges[:-1], edges[1:], np.nan)
    inside = (patterns.values > 0) & (patterns.values < 1)
    if kind == "density" or inside.all():
        if isinstance(ratings, Ratings):
            _refuse_ends(ratings, bool(inside.all()))
        values = patterns.values
        return _from_density(patterns, patterns.counts @ _density_columns(values))
    return _from_intervals(patterns)


def _from_bins(patterns: Patterns, counts: Any, low: Floats, high: Floats, width: float) -> Likelihood:
    dense = counts.toarray() if counts.shape[1] <= 200 else counts
    return Likelihood(dense, low, high, 0, patterns.weight, patterns.size, patterns.group, 0.0, width)


def _from_density(patterns: Patterns, statistics: Floats) -> Likelihood:
    none = np.empty(0)
    return Likelihood(statistics, none, none, 3, patterns.weight, patterns.size, patterns.group, 0.0, np.nan)


def intervals(values: Floats) -> tuple[Floats, NDArray[np.int64], float]:
    """Return the centres of the intervals that ascending values stand for, whose each value is, and their width.

    They are as wide as the smallest gap; values nearer than `SMALLEST_BIN` to each other are read to that precision.
    """
    gap = float(np.diff(values).min(initial=1.0))
    if gap >= SMALLEST_BIN:
        return values, np.arange(values.size), gap
    centres, which = np.unique(np.round(values / SMALLEST_BIN) * SMALLEST_BIN, return_inverse=True)
    return centres, which, SMALLEST_BIN


def _from_intervals(patterns: Patterns) -> Likelihood:
    """Let every rating stand for an interval as wide as the smallest gap.

    Far from the ends, on a fine scale, its probability is the density times the width to second order in the width.
    """
    values, which, gap = intervals(patterns.values)
    low, high = np.maximum(values - gap / 2, 0), np.minimum(values + gap / 2, 1)
    same = sp.sparse.csr_array((np.ones(which.size), (np.arange(which.size), which)), shape=(which.size, values.size))
    counts = patterns.counts @ same
    flat = (np.minimum(values, 1 - values) > 30 * gap) & (gap < FINE)
    if not flat.any():
        return _from_bins(patterns, counts, low, high, gap)
    densities = counts[:, flat] @ _density_columns(values[flat], gap)
    statistics = sp.sparse.hstack([counts[:, ~flat], sp.sparse.csr_array(densities)], format="csr")
    log_width = float(patterns.weight @ densities[:, 0]) * np.log(gap)
    return Likelihood(
        statistics, low[~flat], high[~flat], densities.shape[1], patterns.weight, patterns.size, patterns.group,
        log_width, gap,
    )  # fmt: skip


def _density_columns(values: Floats, width: float = 0.0) -> Floats:
    """Return (1, log x, log(1 - x)) and, for intervals, what multiplies the second derivative of the density."""
    columns = [np.ones_like(values), np.log(values), np.log1p(-values)]
    if width > 0:
        half = np.where(np.minimum(values, 1 - values) < BENT * width, width**2 / 24, 0)
        columns += [half / values**2, half / (1 - values) ** 2, -2 * half / (values * (1 - values))]
    return np.stack(columns, axis=1)


def _density_terms(a: Floats, b: Floats, log_beta: Floats, n: int) -> Floats:
    terms = [-log_beta, a - 1, b - 1]
    if n > 3:
        terms += [(a - 1) * (a - 2), (b - 1) * (b - 2), (a - 1) * (b - 1)]
    return np.stack(terms)


def _squeezed_statistics(patterns: Patterns) -> Floats:
    """Map x to (x (n - 1) + 1/2) / n, n = ratings of the item, as the code published with the paper does."""
    counts = patterns.counts.tocoo()
    row, column = counts.coords
    n = patterns.size[row]
    squeezed = (patterns.values[column] * (n - 1) + 0.5) / n
    statistics = np.zeros((patterns.weight.size, 3))
    np.add.at(statistics, row, counts.data[:, None] * _density_columns(squeezed))
    return statistics


def _refuse_ends(ratings: Ratings, all_inside: bool) -> None:
    if all_inside:
        return
    unit = ratings.unit()
    row = int(np.flatnonzero((unit <= 0) | (unit >= 1))[0])
    raise InputError(
        f"item {as_python(ratings.items[ratings.item_index[row]])!r}, annotator "
        f"{as_python(ratings.annotators[ratings.annotator_index[row]])!r}: rating {ratings.rating[row]:g} sits on an "
        "end of the scale, where the Beta density is 0 or infinite; use likelihood='binned'"
    )
