"""Log likelihood of every pattern of ratings, as a table over nodes of the item mean, at one precision.

An item's ratings are Beta(mu_i p, (1 - mu_i) p). Everything is a sum over columns: log L(pattern, node) =
sum_c statistic(pattern, c) * term(c, node), where a column is a bin of the scale (interval-censored rating) or one of
the three sufficient statistics of the density (n, sum log x, sum log(1 - x)). Nodes are logits of mu.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy as sp

from bayesagree._types import Floats, Integers, Pair, Triple
from bayesagree.agreement._patterns import RatingCounts, pair_counts

Kind = Literal["averaged", "binned", "inflated"]

# Shapes and probabilities are clipped here, above the smallest normal double, so that logs and ratios stay finite.
SMALLEST = 1e-300
# Narrowest interval that a continuous rating stands for, where some rating sits on an end of the scale.
SMALLEST_BIN = 1e-6
# Below this width, of a slider from 0 to 100 too, intervals this many widths away from the ends are density times
# width: Phi moves by .0001, its log evidence by .02 (200 items by five, Phi from .26 to .999).
FINE, OWN_BINS, SHORT = 1 / 100, 10, 1e-5
# Rule inside a bin, for a relative error of 1e-8 up to this precision times width^2 / distance to the end.
LEGENDRE, SMOOTH = np.polynomial.legendre.leggauss(12), 12.0
# Width of a cell, in which continuous items are joined: their log evidence moves by about .01 (3000 items, Phi .95).
CELL = 0.3
# Attributes of a likelihood that have one entry for each pattern.
BY_PATTERN = ("statistics", "weight", "size", "group")


@dataclass(eq=False)
class Likelihood:
    """Sufficient statistics of every pattern.

    Attributes
    ----------
    statistics
        Shape (pattern, column): counts of bins, then (n, sum log x, sum log(1 - x)) where densities are used.
    low, high
        Edges of the bins on [0, 1], shape (bin,).
    densities
        Whether the last three columns are those of densities.
    weight, size, group
        Items with the pattern, its number of ratings, and the item's prior, shape (pattern,).
    log_width
        Added to the log marginal likelihood: density times bin width, so that binned values are comparable.
    bin_width
        Width of the interval a continuous rating stands for, or NaN where the density itself is used.
    """

    statistics: Floats
    low: Floats
    high: Floats
    densities: bool
    weight: Floats
    size: Floats
    group: Integers
    log_width: float = 0.0
    bin_width: float = np.nan

    @cached_property
    def farthest(self) -> float:
        """Largest mean logit of an item's ratings, towards either end."""
        columns = np.zeros(self.statistics.shape[1])
        columns[: self.low.size] = sp.special.logit((self.low + self.high) / 2)
        if self.densities:
            columns[-2:] = 1, -1
        return float(np.max(np.abs(self.statistics @ columns) / self.size))

    @property
    def only_ends(self) -> bool:
        """Whether no answer lies between the ends of the scale."""
        return not self.densities and not self.statistics[:, (self.low > 0) & (self.high < 1)].any()

    def of(self, some: Any) -> "Likelihood":
        """Return the likelihood of some patterns."""
        return replace(self, **{name: getattr(self, name)[some] for name in BY_PATTERN})

    def terms(self, precision: float, at: Floats) -> Floats:
        """Return what each column is multiplied by, shape (column, node), at one precision and nodes logit(mu)."""
        # A mean of 1e-18 times a small precision underflows: a shape of 0 has no Beta function.
        a, b = (np.maximum(precision * sp.special.expit(side * at), SMALLEST) for side in (1, -1))
        bins = np.log(np.maximum(bin_probability(self.low, self.high, precision, a, b), SMALLEST))
        return np.concatenate([bins, [-sp.special.betaln(a, b), a - 1, b - 1]]) if self.densities else bins

    def ends(self, terms: Floats, at: Floats, shares: Floats) -> Pair:
        """Return what outright answers at the ends add to the table: counts (pattern, 3) and rows (share, 3, node).

        The odds of an outright end against a judgment are w / (1 - w) times those of the item mean being there.
        `shares` are the w of both ends, shape (share, 2).
        """
        log_low, log_high, inside = outright_shares(shares[:, :1], shares[:, 1:], at)
        counts, rows = [self.size], [inside]
        for share, place in ((log_low, self.low <= 0), (log_high, self.high >= 1)):
            if place.any():
                column = int(np.flatnonzero(place)[0])
                counts.append(self.statistics[:, column])
                rows.append(np.logaddexp(share - inside - terms[column], 0.0))
        return np.stack(counts, axis=1), np.stack(rows, axis=1)


def outright_shares(low: Any, high: Any, at: Floats) -> Triple:
    """Return log probabilities of an outright low end, an outright high end, and a judgment, at logit(mu) = at."""
    at = np.clip(at, -700.0, 700.0)  # a mean may round to an end, whose odds are infinite
    with np.errstate(divide="ignore"):
        low, high = (sp.special.logit(np.minimum(share, 1 - 2.0**-53)) for share in (low, high))
    low, high = low - at, high + at
    norm = np.logaddexp(np.logaddexp(low, high), 0.0)
    return low - norm, high - norm, -norm


def bin_probability(low: Floats, high: Floats, precision: float, a: Floats, b: Floats) -> Floats:
    """Return Pr(low <= x < high) for x ~ Beta(a, b) with a + b = precision, shape (bin, node).

    Bins inside the scale are Gauss-Legendre sums, unless the density may be narrow inside one; others are differences
    of the incomplete beta function, each of its smaller tail, which costs fifty times as much.
    """
    width = high - low
    nearest = np.maximum(np.minimum(low, 1 - high), 0.0)
    smooth = (nearest > 0) & (precision * width**2 < SMOOTH * nearest)
    found = np.empty((low.size, a.size))
    if smooth.any():
        place, weight = (v[:, None] for v in LEGENDRE)
        x = (low + width * (1 + place) / 2)[:, smooth].ravel()
        log = np.stack([np.log(x), np.log1p(-x), np.ones_like(x)], axis=1)
        density = np.exp(log @ np.stack([a - 1, b - 1, -sp.special.betaln(a, b)]))
        found[smooth] = (
            ((weight * width[smooth] / 2).ravel()[:, None] * density).reshape(len(place), -1, a.size).sum(0)
        )
    first, last = low <= 0, high >= 1
    found[first] = sp.special.betainc(a, b, high[first, None])
    found[last] = sp.special.betaincc(a, b, low[last, None])
    rest = ~(smooth | first | last)
    if rest.any():
        edges, place = np.unique(np.concatenate([low[rest], high[rest]]), return_inverse=True)
        below, above = (tail(a, b, edges[:, None]) for tail in (sp.special.betainc, sp.special.betaincc))
        start, end = np.split(place, 2)
        found[rest] = np.where(below[start] > 0.5, above[start] - above[end], below[end] - below[start])
    return found


def likelihood(counts: RatingCounts, kind: Kind, *, discrete: bool) -> Likelihood:
    """Return the sufficient statistics for one kind of likelihood (see `common_agreement`)."""
    if discrete:
        n = counts.values.size
        return replace(_from_intervals(counts, (np.arange(n) + 0.5) / n, np.arange(n), 1 / n), bin_width=np.nan)
    if kind == "binned" and counts.share_of_ends == 0:
        columns = counts.counts @ _density_columns(counts.values)
        none = np.empty(0)
        return Likelihood(columns, none, none, True, counts.weight, counts.size, counts.group)
    return _from_intervals(counts, *intervals(counts.values))


def intervals(values: Floats) -> tuple[Floats, Integers, float]:
    """Return the centres of the intervals of ascending values, the interval of each value, and their width.

    They are as wide as the smallest gap; values nearer than `SMALLEST_BIN` to each other are read to that precision.
    """
    gap = float(np.diff(values).min(initial=1.0))
    if gap >= SMALLEST_BIN:
        return values, np.arange(values.size), gap
    cell = np.round(values / SMALLEST_BIN)
    new = np.diff(cell, prepend=-1.0) > 0
    return cell[new] * SMALLEST_BIN, np.cumsum(new) - 1, SMALLEST_BIN


def _from_intervals(counts: RatingCounts, centre: Floats, which: Integers, gap: float) -> Likelihood:
    """Let every value stand for an interval, on a fine scale and far from the ends by its density times the width."""
    own = OWN_BINS if gap > SHORT else 3  # of a scale so fine few ratings lie there
    flat = (np.minimum(centre, 1 - centre) > own * gap) & (gap < FINE)
    bin_of = np.where(flat, -1, np.cumsum(~flat) - 1)[which]
    some = bin_of >= 0
    shape = which.size, np.count_nonzero(~flat)
    statistics = (counts.counts @ pair_counts(np.flatnonzero(some), bin_of[some], shape)).toarray()
    log_width = 0.0
    low = np.maximum(centre[~flat] - gap / 2, 0)
    high = np.minimum(centre[~flat] + gap / 2, 1)
    if flat.any():
        columns = np.where(some[:, None], 0.0, _density_columns(np.where(some, 0.5, centre[which])))
        densities = counts.counts @ columns
        log_width = float(counts.weight @ densities[:, 0]) * np.log(gap)
        statistics = np.hstack([statistics, densities])
    common = counts.weight, counts.size, counts.group
    return Likelihood(statistics, low, high, bool(flat.any()), *common, log_width, gap)


def _density_columns(values: Floats) -> Floats:
    return np.stack([np.ones_like(values), np.log(values), np.log1p(-values)], axis=1)


def compressed(like: Likelihood) -> Likelihood:
    """Return continuous items as fewer weighted ones, for sums over all items of what is smooth in their ratings.

    Under the density an item enters through n, c = (sum log x + sum log(1 - x)) / 2, in which its log evidence is
    linear, and d = (sum log x - sum log(1 - x)) / 2, in which it is smooth. Items of equal n (and equal bins) within a
    cell of d count as two, with their means of c and d, and their variance of d.
    """
    if not like.densities:
        return like
    c, d = (like.statistics[:, -2:] @ np.array([[1, 1], [1, -1]]) / 2).T
    alike = np.column_stack([like.statistics[:, :-2], like.size, like.group, np.floor(d / CELL)])
    key = alike @ np.random.default_rng(0).random(alike.shape[1])  # distinct rows have distinct sums
    _, first, cell = np.unique(key, return_index=True, return_inverse=True)
    if 2 * first.size >= d.size:
        return like
    weight = np.bincount(cell, like.weight)
    c, centre = (np.bincount(cell, like.weight * of) / weight for of in (c, d))
    spread = np.sqrt(np.bincount(cell, like.weight * (d - centre[cell]) ** 2) / weight)
    few = like.of(np.repeat(first, 2))
    at = np.repeat(centre, 2) + np.outer(spread, [1, -1]).ravel()
    few.statistics[:, -2:] = np.repeat(c, 2)[:, None] + at[:, None] * np.array([1, -1])
    return replace(few, weight=np.repeat(weight / 2, 2))
