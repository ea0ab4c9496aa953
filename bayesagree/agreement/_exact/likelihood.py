"""Log likelihood of every pattern of ratings, as a table over nodes of the item mean, at one precision.

An item's ratings are Beta(mu p, (1 - mu) p). Everything is a sum over columns: log L(pattern, node) =
sum_c statistic(pattern, c) * term(c, node), where a column is a bin of the scale (interval-censored rating) or one of
the three sufficient statistics of the density (n, sum log x, sum log(1 - x)). Nodes are logits of mu, so that a mean
of 1e-300 keeps its digits.
"""

import math
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numba
import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._numerics.beta import SMALLEST, tails
from bayesagree._numerics.types import Floats
from bayesagree.agreement._exact.patterns import RatingCounts

type Kind = Literal["averaged", "binned", "inflated", "density", "squeezed"]
type Ends = tuple[float, float]

# Narrowest interval that a continuous rating stands for, where some rating sits on an end of the scale.
SMALLEST_BIN = 1e-6
# Below this width, intervals away from the ends are density times width.
FINE = 2e-4
# Intervals this many widths away from the ends do without the second derivative of the density (1e-9 of it).
STRAIGHT = 3000
LEGENDRE = np.polynomial.legendre.leggauss(5)
# Bins nearer to an end than this, and than this divided by the precision, are computed by a series.
NEAR_END = 0.5
# Counts of at most this many bins are a dense matrix: its product is faster, and small enough.
MOST_DENSE = 200


@dataclass(eq=False)
class Likelihood:
    """Sufficient statistics of every pattern.

    Attributes
    ----------
    statistics
        Sparse, shape (pattern, column): counts of bins, then (n, sum log x, sum log(1 - x)) where densities are used.
    low, high
        Edges of the bins on [0, 1], shape (bin,).
    densities
        Number of the last columns, those of densities.
    weight, size, group
        Items with the pattern, its number of ratings, and the item's prior, shape (pattern,).
    log_width
        Added to the log marginal likelihood: density times bin width, so that binned values are comparable.
    bin_width
        Width of the interval a continuous rating stands for, or NaN where the density itself is used.
    ends
        Shares w of outright answers at the low and at the high end on an item of mean 1/2; (0, 0): none.
    """

    statistics: Any
    low: Floats
    high: Floats
    densities: int
    weight: Floats
    size: Floats
    group: NDArray[np.int64]
    log_width: float
    bin_width: float
    ends: Ends = (0.0, 0.0)

    @cached_property
    def farthest(self) -> float:
        """Largest mean logit of an item's ratings, towards either end."""
        middle = (self.low + self.high) / 2
        columns = np.zeros(self.statistics.shape[1])
        columns[: middle.size] = sp.special.logit(middle)
        if self.densities:
            columns[middle.size + 1 : middle.size + 3] = 1, -1
        return float(np.max(np.abs(self.statistics @ columns) / self.size))

    @cached_property
    def only_ends(self) -> bool:
        """Whether no answer lies between the ends of the scale."""
        inside = (self.low > 0) & (self.high < 1)
        return not self.densities and not np.asarray(self.statistics[:, : self.low.size].sum(axis=0))[inside].any()

    def with_ends(self, ends: Ends) -> "Likelihood":
        """Return the same statistics with other shares of outright answers at the ends."""
        other = copy(self)  # with the cached properties, which do not depend on the shares
        other.ends = ends
        return other

    def of(self, some: Any) -> "Likelihood":
        """Return the likelihood of some patterns."""
        columns = {name: getattr(self, name)[some] for name in ("statistics", "weight", "size", "group")}
        return replace(self, **columns)

    def table(self, precision: float, at: Floats) -> Floats:
        """Return the log likelihood, shape (pattern, node), at one precision and nodes logit(mu)."""
        # A mean of 1e-300 times a small precision underflows: a shape of 0 has no Beta function.
        a, b = (np.maximum(precision * sp.special.expit(side * at), SMALLEST) for side in (1, -1))
        log_beta = sp.special.betaln(a, b)
        terms = []
        if self.low.size:
            terms.append(self._log_bins(precision, a, b, log_beta))
        if self.densities:
            terms.append(_density_terms(a, b, log_beta, self.densities))
        table = self.statistics @ (np.concatenate(terms) if len(terms) > 1 else terms[0])
        return table + self._outright(terms[0], at) if any(self.ends) else table

    def _outright(self, log_bins: Floats, at: Floats) -> Floats:
        """Return what outright answers at the ends add to the table, shape (pattern, node)."""
        low, high, inside = outright_shares(self.ends, at)
        counts, rows, places = [], [], (np.flatnonzero(self.low <= 0), np.flatnonzero(self.high >= 1))
        for share, place in zip((low, high), places):
            if place.size:
                counts.append(self._counts(int(place[0])))
                rows.append(np.logaddexp(share, inside + log_bins[place[0]]) - log_bins[place[0]])
        counts.append(self.size - sum(counts))
        return np.stack(counts, axis=1) @ np.stack([*rows, inside])

    def _counts(self, column: int) -> Floats:
        """Return one column of the statistics, shape (pattern,)."""
        values = self.statistics[:, [column]]
        return np.asarray(values if isinstance(values, np.ndarray) else values.toarray()).ravel()

    def _log_bins(self, precision: float, a: Floats, b: Floats, log_beta: Floats) -> Floats:
        smooth = precision < self.smooth_below
        near_end = ~smooth & (max(precision, 1.0) * np.minimum(self.high, 1 - self.low) < NEAR_END)
        probability = np.empty((self.low.size, a.size))
        for some, compute in ((smooth, smooth_bins), (near_end, end_bins), (~(smooth | near_end), wide_bins)):
            if some.any():
                probability[some] = compute(self.low[some], self.high[some], a, b, log_beta)
        return np.log(np.maximum(probability, SMALLEST, out=probability), out=probability)

    @cached_property
    def smooth_below(self) -> Floats:
        """Precision below which the density is nearly straight inside a bin, shape (bin,); 0 for wide bins."""
        width = self.high - self.low
        nearest = np.minimum(self.low, 1 - self.high)
        return np.where(nearest >= 10 * width, 0.04 * nearest * (1 - nearest) / width**2 - 1, 0.0)


def outright_shares(ends: Ends, at: Floats) -> tuple[Floats, Floats, Floats]:
    """Return log probabilities of an outright low end, an outright high end, and a judgment inside, at logit(mu) = at.

    The odds of an outright end against a judgment inside are w / (1 - w) times those of the item mean being there.
    """
    # A share may round to 1 and a mean to an end, whose odds are infinite: they stop at the largest numbers before.
    at = np.clip(at, -700.0, 700.0)
    with np.errstate(divide="ignore"):
        low, high = (sp.special.logit(min(share, 1 - 2.0**-53)) for share in ends)
    low, high = low - at, high + at
    norm = np.logaddexp(np.logaddexp(low, high), 0.0)
    return low - norm, high - norm, -norm


def wide_bins(low: Floats, high: Floats, a: Floats, b: Floats, log_beta: Floats) -> Floats:
    """Return Pr(low <= x < high) for x ~ Beta(a, b) from both tails at every edge, shape (bin, node)."""
    edges, position = np.unique(np.concatenate([low, high]), return_inverse=True)
    return _between(position[: low.size], position[low.size :], edges, a, b, log_beta)


@numba.njit(cache=True, nogil=True)
def _between(low, high, edges, a, b, log_beta):
    """Return Pr(edges[low] <= x < edges[high]) for every node, shape (bin, node)."""
    below, above = np.empty(edges.size), np.empty(edges.size)
    result = np.empty((low.size, a.size))
    for j in range(a.size):
        for e in range(edges.size):
            below[e], above[e] = tails(a[j], b[j], edges[e], log_beta[j])
        for k in range(low.size):
            # From the smaller tail, so that a bin far out keeps its digits.
            upper = below[low[k]] > 0.5
            result[k, j] = above[low[k]] - above[high[k]] if upper else below[high[k]] - below[low[k]]
    return result


def smooth_bins(low: Floats, high: Floats, a: Floats, b: Floats, log_beta: Floats) -> Floats:
    """Return Pr(low <= x < high) of narrow bins by Gauss-Legendre with 5 nodes, shape (bin, node)."""
    half = (high - low) / 2
    probability = np.zeros((low.size, a.size))
    for place, weight in zip(*LEGENDRE):
        x = low + half * (1 + place)
        term = np.stack([np.log(x), np.log1p(-x), np.ones_like(x)], axis=1) @ np.stack([a - 1, b - 1, -log_beta])
        np.exp(term, out=term)
        term *= (weight * half)[:, None]
        probability += term
    return probability


def end_bins(low: Floats, high: Floats, a: Floats, b: Floats, log_beta: Floats) -> Floats:
    """Return Pr(low <= x < high) of ascending bins next to 0 or 1 by a series, shape (bin, node)."""
    left = low < 1 - high
    probability = np.empty((low.size, a.size))
    probability[left] = _next_to_0(low[left], high[left], a, b, log_beta)
    # Mirrored, and from the end inwards: neighbours share an edge, which is computed once.
    probability[~left] = _next_to_0(1 - high[~left][::-1], 1 - low[~left][::-1], b, a, log_beta)[::-1]
    return probability


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
def _next_to_0(low, high, a, b, log_beta):
    """Return Pr(low <= x < high) next to 0 from the series of the incomplete beta function, shape (bin, node)."""
    result, below = np.empty((low.size, a.size)), np.zeros(a.size)
    for k in range(low.size):
        log_high = math.log(high[k])
        log_low = math.log(low[k]) if low[k] > 0 else -math.inf
        if k == 0 or low[k] != high[k - 1]:
            for j in range(a.size):
                below[j] = math.exp(a[j] * log_low - log_beta[j]) * _series(a[j], b[j], low[k]) if low[k] > 0 else 0.0
        for j in range(a.size):
            u, v = a[j], b[j]
            at_high = math.exp(u * log_high - log_beta[j])
            up_to_high = at_high * _series(u, v, high[k])
            # (high^u - low^u) / u without the difference of two large numbers where u is small.
            result[k, j] = up_to_high - at_high * (math.expm1(u * (log_low - log_high)) / u) - below[j]
            below[j] = up_to_high
    return result


def likelihood(counts: RatingCounts, kind: Kind, *, discrete: bool) -> Likelihood:
    """Return the sufficient statistics for one kind of likelihood (see `common_agreement`)."""
    if kind == "squeezed":
        return _from_density(counts, _squeezed_statistics(counts))
    if discrete:
        edges = np.arange(counts.values.size + 1) / counts.values.size
        return _from_bins(counts, counts.counts, edges[:-1], edges[1:], np.nan)
    if kind == "density" or (kind == "binned" and ((counts.values > 0) & (counts.values < 1)).all()):
        return _from_density(counts, counts.counts @ _density_columns(counts.values))
    return _from_intervals(counts)


def _from_bins(counts: RatingCounts, statistics: Any, low: Floats, high: Floats, width: float) -> Likelihood:
    dense = statistics.toarray() if statistics.shape[1] <= MOST_DENSE else statistics
    return Likelihood(dense, low, high, 0, counts.weight, counts.size, counts.group, 0.0, width)


def _from_density(counts: RatingCounts, statistics: Floats) -> Likelihood:
    none = np.empty(0)
    return Likelihood(statistics, none, none, 3, counts.weight, counts.size, counts.group, 0.0, np.nan)


def intervals(values: Floats) -> tuple[Floats, NDArray[np.int64], float]:
    """Return the centres of the intervals of ascending values, the interval of each value, and their width.

    They are as wide as the smallest gap; values nearer than `SMALLEST_BIN` to each other are read to that precision.
    """
    gap = float(np.diff(values).min(initial=1.0))
    if gap >= SMALLEST_BIN:
        return values, np.arange(values.size), gap
    cell = np.round(values / SMALLEST_BIN)
    new = np.diff(cell, prepend=-1.0) > 0
    return cell[new] * SMALLEST_BIN, np.cumsum(new) - 1, SMALLEST_BIN


def _from_intervals(counts: RatingCounts) -> Likelihood:
    """Let every rating stand for an interval as wide as the smallest gap.

    Far from the ends, on a fine scale, its probability is the density times the width to second order in the width.
    """
    values, which, gap = intervals(counts.values)
    low, high = np.maximum(values - gap / 2, 0), np.minimum(values + gap / 2, 1)
    # 30 widths from an end the next term, of order width^4, is below 2e-8 of the density where a shape is below 1.
    flat = (np.minimum(values, 1 - values) > 30 * gap) & (gap < FINE)
    given, column = counts.counts, which[counts.counts.indices]
    some = ~flat[column]
    place = np.repeat(np.arange(given.shape[0]), np.diff(given.indptr))[some], (np.cumsum(~flat) - 1)[column[some]]
    bins = sp.sparse.csr_array((given.data[some], place), shape=(given.shape[0], np.count_nonzero(~flat)))
    if not flat.any():
        return _from_bins(counts, bins, low, high, gap)
    columns = np.where(flat, _density_columns(np.where(flat, values, 0.5), gap).T, 0).T
    densities = sp.sparse.csr_array((given.data, column, given.indptr), shape=(given.shape[0], values.size)) @ columns
    statistics = sp.sparse.hstack([bins, sp.sparse.csr_array(densities)], format="csr")
    low, high, weight = low[~flat], high[~flat], counts.weight
    log_width = float(weight @ densities[:, 0]) * np.log(gap)
    return Likelihood(statistics, low, high, densities.shape[1], weight, counts.size, counts.group, log_width, gap)


def _density_columns(values: Floats, width: float = 0.0) -> Floats:
    """Return (1, log x, log(1 - x)) and, for intervals, the multipliers of the second derivative of the density."""
    columns = [np.ones_like(values), np.log(values), np.log1p(-values)]
    if width > 0:
        # The mean of f over an interval is f + width^2 / 24 f''.
        share = np.where(np.minimum(values, 1 - values) < STRAIGHT * width, width**2 / 24, 0)
        columns += [share / values**2, share / (1 - values) ** 2, -2 * share / (values * (1 - values))]
    return np.stack(columns, axis=1)


def _density_terms(a: Floats, b: Floats, log_beta: Floats, n: int) -> Floats:
    terms = [-log_beta, a - 1, b - 1]
    if n > 3:
        terms += [(a - 1) * (a - 2), (b - 1) * (b - 2), (a - 1) * (b - 1)]
    return np.stack(terms)


def _squeezed_statistics(counts: RatingCounts) -> Floats:
    """Return the statistics of (x (n - 1) + 1/2) / n, n = most ratings of an item, as in the paper's published code."""
    entries = counts.counts.tocoo()
    row, column = entries.coords
    n = counts.size.max()  # the published code takes the length of a row of its table, where some ratings may miss
    squeezed = (counts.values[column] * (n - 1) + 0.5) / n
    statistics = np.zeros((counts.weight.size, 3))
    np.add.at(statistics, row, entries.data[:, None] * _density_columns(squeezed))
    return statistics
