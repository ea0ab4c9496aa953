"""Integrate the item means out: log Pr(ratings | precision) under flat, known or hierarchical means.

The integral over mu is a trapezoidal rule in z, logit(mu) = 2 sinh(z): the integrand is analytic there and dies doubly
exponentially, so that a few dozen nodes are exact to 1e-9 for every pattern of ratings and every prior at once.
The step follows the narrowest likelihood, and the narrowest prior.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import NamedTuple, Protocol

import numpy as np
import scipy as sp

from bayesagree.agreement._exact.compression import ByLevel, refined
from bayesagree.agreement._exact.likelihood import Likelihood
from bayesagree.agreement._exact.patterns import Floats
from bayesagree.errors import ConvergenceError

DROP, LEAST_DROP, MOST_DROP = 18.0, 15.5, 25.0
"""A box fits where the log density at its edges lies this far below its maximum."""
NODES = 14
"""Nodes of one side of a box."""
MOST_NODES, NEGLIGIBLE = 200, 19.0
"""Nodes of a side at most; minus the logarithm of the share of the mass that may be lost between nodes."""
CELLS = 4_000_000
"""Largest table of (pattern, node) held at once."""


class Nodes(NamedTuple):
    """Nodes logit(mu) of the trapezoidal rule and the logarithms of their weights d logit(mu)."""

    logit: Floats
    log_weight: Floats


def nodes(step: float, low: float, high: float) -> Nodes:
    """Place nodes from logit(mu) = low to high."""
    first, last = np.floor(np.arcsinh(low / 2) / step), np.ceil(np.arcsinh(high / 2) / step)
    if last - first > 200_000:
        raise ConvergenceError(
            f"an item's likelihood is too narrow for the exact engine ({last - first:.0f} nodes); use engine='nuts'"
        )
    z = step * np.arange(first, last + 1)
    return Nodes(2 * np.sinh(z), np.log(2 * step * np.cosh(z)))


class ItemMeans(Protocol):
    """A prior of the item means."""

    def log_evidence(self, precision: float, level: int) -> float:
        """Return log Pr(ratings | precision); every level shortens all steps to 0.8."""
        ...


def likelihood_step(like: Likelihood, precision: float) -> float:
    """Return the step that resolves the narrowest item likelihood.

    That is 0.7 of its standard deviation in logit(mu), whether its mean lies in the middle or, as the farthest item's,
    so near an end that the nodes are stretched there.
    """
    n = float(like.size.max())
    stretch = np.hypot(1, np.log1p(precision * like.farthest) / 2)
    return min(0.15, 0.7 / float(np.sqrt(n * (precision + 1))), 0.45 / float(np.sqrt(n) * stretch))


def blocks(like: Likelihood, n_nodes: int) -> Iterator[Likelihood]:
    """Cut the patterns so that no table exceeds `CELLS`."""
    rows = max(1, CELLS // n_nodes)
    n = like.weight.size
    if n <= rows:
        yield like
        return
    for start in range(0, n, rows):
        cut = slice(start, start + rows)
        yield replace(
            like, statistics=like.statistics[cut], weight=like.weight[cut], size=like.size[cut], group=like.group[cut]
        )


def _scaled(table: Floats) -> tuple[Floats, Floats]:
    """Return exp(table - row maximum), in place of the table, and the row maxima."""
    top = table.max(axis=1)
    np.subtract(table, top[:, None], out=table)
    return np.exp(table, out=table), top


@dataclass(frozen=True)
class KnownMeans:
    """mu_i ~ U(0, 1) (the paper's flat prior), or N(g_i, sd) on (0, 1) around a known truth g_i.

    Attributes
    ----------
    like
        Its `group` says which prior a pattern has: 0 flat, k the truth ``truth[k - 1]``.
    truth
        Distinct known truths on [0, 1], shape (truth,).
    sd
        Their common standard deviation.
    """

    like: Likelihood
    truth: Floats
    sd: float

    def log_evidence(self, precision: float, level: int) -> float:
        """Return log Pr(ratings | precision)."""
        like = self.condensed[level]
        return float(like.weight @ self._evidence(like, precision, level)) + like.log_width

    def pattern_evidence(self, precision: float) -> Floats:
        """Return log Pr(ratings of one item | precision) for every pattern, shape (pattern,)."""
        return self._evidence(self.like, precision, 0)

    @cached_property
    def condensed(self) -> ByLevel:
        """The likelihood on fewer patterns."""
        return ByLevel(self.like)

    def _evidence(self, like: Likelihood, precision: float, level: int) -> Floats:
        at, log_prior = self.log_prior(precision, refined(level))
        parts = []
        for block in blocks(like, at.size):
            # The prior counts before the maximum is taken: a truth may contradict the ratings.
            relative, top = _scaled(block.table(precision, at) + log_prior[block.group])
            parts.append(np.log(relative.sum(axis=1)) + top)
        return np.concatenate(parts)

    def log_prior(self, precision: float, fineness: float) -> tuple[Floats, Floats]:
        """Return nodes logit(mu) and the log prior mass at each, shape (prior, node): flat first, then each truth."""
        step = likelihood_step(self.like, precision)
        if self.truth.size:
            step = min(step, 1.2 * self.sd)
        at, log_weight = nodes(fineness * step, -26.0, 26.0)
        log_slope = sp.special.log_expit(at) + sp.special.log_expit(-at) + log_weight
        rows = [log_slope]
        for g in self.truth:
            mass = sp.special.ndtr((1 - g) / self.sd) - sp.special.ndtr(-g / self.sd)
            density = -0.5 * ((sp.special.expit(at) - g) / self.sd) ** 2
            density -= np.log(mass * self.sd * np.sqrt(2 * np.pi))
            rows.append(log_slope + density)
        return at, np.stack(rows)


class Box(NamedTuple):
    """Where the posterior of (m, s) given the precision lives."""

    m: tuple[float, float]
    s: tuple[float, float]


class HyperGrid(NamedTuple):
    """Log density of (m, s) given one precision on a product grid, and the quadrature weights."""

    m: Floats
    s: Floats
    log_density: Floats
    weight: Floats
    box: Box


UNIT = Box((0.0, 1.0), (0.0, 1.0))


@dataclass
class HierarchicalMeans:
    """mu_i ~ Beta(m t, (1 - m) t) with m ~ U(0, 1) and s = (1 + t)^(-1/2) ~ U(0, 1).

    s sqrt(m (1 - m)) is the standard deviation of the item means; s = 0, all items alike, lies inside the prior.

    Attributes
    ----------
    like
        The ratings.
    found
        Where earlier integrations found the posterior of (m, s), by log precision: the next one starts there.
    """

    like: Likelihood
    found: dict[float, Box] = field(default_factory=dict)

    @cached_property
    def condensed(self) -> ByLevel:
        """The likelihood on fewer patterns."""
        return ByLevel(self.like)

    def log_evidence(self, precision: float, level: int) -> float:
        """Return log Pr(ratings | precision)."""
        grid = self.grid(precision, level)
        top = grid.log_density.max()
        return float(np.log(np.sum(np.exp(grid.log_density - top) * grid.weight)) + top) + self.like.log_width

    def grid(self, precision: float, level: int) -> HyperGrid:
        """Return the mass of (m, s) on a grid that covers its posterior at one precision.

        The box zooms in from the unit square (or from where it was at a near precision) until it just covers the
        posterior.
        """
        n_m = n_s = round(NODES / refined(level))
        box = self.guess(np.log(precision))
        for attempt in range(60):
            m, weight_m = _rule(box.m, n_m, spread=False)
            s, weight_s = _rule(box.s, n_s, spread=True)
            density = self.log_density(precision, m, s, level)
            fitted = _fitted(box, m, s, density)
            if fitted == box or (attempt > 9 and not _grows(box, fitted)):
                times = _too_coarse(box, m, s, density)
                enough = [round(k * x / refined(level)) for k, x in zip((n_m, n_s), times)]
                if any(k < MOST_NODES and more > 1.1 * k for k, more in zip((n_m, n_s), enough)):
                    n_m, n_s = (min(max(k, more), MOST_NODES) for k, more in zip((n_m, n_s), enough))
                    continue
                self.found[float(np.log(precision))] = box
                return HyperGrid(m, s, density, np.outer(weight_m, weight_s), box)
            box = fitted
        raise ConvergenceError(
            f"the posterior of the item-mean prior was not located at precision {precision:.4g} (box {box}); "
            "use item_mean='flat' or engine='nuts'"
        )

    def guess(self, y: float) -> Box:
        """Guess the box at log precision y between the nearest ones found, or take the nearest a little wider."""
        below = max((v for v in self.found if v <= y), default=None)
        above = min((v for v in self.found if v >= y), default=None)
        if below is None and above is None:
            return UNIT
        if below is None or above is None:
            nearest = self.found[below if above is None else above]  # type: ignore[index]
            return _blend(nearest, nearest, 0.0, room=0.03)
        share = 0.0 if above == below else (y - below) / (above - below)
        return _blend(self.found[below], self.found[above], share, room=0.0)

    def log_density(self, precision: float, m: Floats, s: Floats, level: int) -> Floats:
        """Return sum_i log Pr(ratings of i | precision, m, s), shape (m, s)."""
        like = self.condensed[level]
        mean, spread = np.repeat(m, s.size), np.tile(s, m.size)
        a, b = beta_shapes(mean, spread)
        centre = sp.special.logit(mean)
        width = np.minimum(spread / np.sqrt(mean * (1 - mean)), 2.0)
        step = likelihood_step(self.like, precision)
        # Narrow priors need a short step, but only near their centre: one grid per halving of the step and place.
        octave = np.ceil(np.log2(np.maximum(step * 1.6 * np.hypot(2, centre) / width, 1))).astype(int)
        low, high = centre - 7.5 * width - 28 / a, centre + 7.5 * width + 28 / b
        total = np.empty(mean.size)
        place = 64 * octave + np.where(octave > 0, np.round(centre / 3).astype(int), 0)
        for k in np.unique(place):
            some = place == k
            at, log_weight = nodes(refined(level) * step / 2.0 ** octave[some][0], low[some].min(), high[some].max())
            prior = log_beta_shape(at[:, None], mean[some], spread[some])
            prior += log_weight[:, None]
            np.exp(prior, out=prior)
            prior /= prior.sum(axis=0)
            total[some] = sum(self._log_sum(block, precision, at, prior) for block in blocks(like, at.size))
        return total.reshape(m.size, s.size)

    @staticmethod
    def _log_sum(block: Likelihood, precision: float, at: Floats, prior: Floats) -> Floats:
        relative, top = _scaled(block.table(precision, at))
        mass = np.maximum(relative @ prior, 1e-300)
        return block.weight @ (np.log(mass, out=mass) + top[:, None])


def beta_shapes(m: Floats, s: Floats) -> tuple[Floats, Floats]:
    """Return the shapes (m t, (1 - m) t) of the prior of an item mean, t = s^-2 - 1."""
    t = (1 - s) * (1 + s) / s**2
    return m * t, (1 - m) * t


def log_beta_shape(at: Floats, m: Floats, s: Floats) -> Floats:
    """Return the log density of logit(mu) under Beta(m t, (1 - m) t) up to a constant, exact at large t."""
    t = (1 - s) * (1 + s) / s**2
    away = at - sp.special.logit(m)
    far = np.maximum(away - 600, 0) if at.max() - sp.special.logit(m).min() > 600 else 0.0
    log_mix = np.expm1(away - far)
    log_mix *= m
    np.log1p(log_mix, out=log_mix)
    away *= m
    away -= log_mix
    away -= far
    away *= t
    return away


@cache
def _legendre(n: int) -> tuple[Floats, Floats]:
    x, weight = np.polynomial.legendre.leggauss(n)
    return (x + 1) / 2, weight / 2


@cache
def _trapezoid(n: int) -> tuple[Floats, Floats]:
    return np.linspace(0, 1, n), np.full(n, 1 / (n - 1))


@cache
def _half_midpoint(n: int) -> tuple[Floats, Floats]:
    return (np.arange(n) + 0.5) / n, np.full(n, 1 / n)


def _rule(side: tuple[float, float], n: int, *, spread: bool) -> tuple[Floats, Floats]:
    """Return nodes and weights on one side of the box.

    Inside (0, 1) the density has died at both ends: the trapezoidal rule. The density is even in s: the midpoint rule
    from s = 0. At the other ends of (0, 1) it is cut: Gauss-Legendre.
    """
    low, high = side
    if spread and low == 0 and high < 1:
        x, weight = _half_midpoint(n)
    elif low == 0 or high == 1:
        x, weight = _legendre(round(1.5 * n))
    else:
        x, weight = _trapezoid(n)
    return low + (high - low) * x, (high - low) * weight


def _fitted(box: Box, m: Floats, s: Floats, density: Floats) -> Box:
    """Return the box at whose sides the log density lies `DROP` below its maximum, or the same box if it is close."""
    top = density.max()
    return Box(_fitted_side(box.m, m, top - density.max(axis=1)), _fitted_side(box.s, s, top - density.max(axis=0)))


def _grows(box: Box, fitted: Box) -> bool:
    return any(new[0] < old[0] or new[1] > old[1] for old, new in zip(box, fitted))


def _too_coarse(box: Box, m: Floats, s: Floats, density: Floats) -> tuple[float, float]:
    """Return how many times too wide the steps in m and in s are.

    With few items, each with many ratings, the posterior is a funnel: as long in s as the prior lets it, and at small s
    far narrower in m than the box. Sides cut by (0, 1) keep their nodes: Gauss-Legendre is dense near the cut, where
    the curvature says nothing.
    """
    drop = density.max() - density
    times_m = 0.0 if box.m[0] == 0 or box.m[1] == 1 else _times(m, drop)
    times_s = 0.0 if box.s[1] == 1 else _times(s, drop.min(axis=0)[:, None])
    return times_m, times_s


def _times(at: Floats, drop: Floats) -> float:
    """Return how many times too wide the steps are for the narrowest column, shape (node, column), that has mass.

    On a normal density of curvature c the trapezoidal rule of step h errs by 2 exp(-2 pi^2 / (c h^2)) of its mass.
    """
    step = np.diff(at)
    slope = np.diff(drop, axis=0) / step[:, None]
    bend = np.diff(slope, axis=0) * (step[1:] + step[:-1])[:, None] / 2
    has_mass = drop[1:-1] < NEGLIGIBLE
    return float(np.sqrt(np.max(bend * (NEGLIGIBLE - drop[1:-1]), initial=0, where=has_mass) / (2 * np.pi**2)))


def _fitted_side(side: tuple[float, float], at: Floats, drop: Floats) -> tuple[float, float]:
    low, high = side
    best = int(np.argmin(drop))
    if (best == 0 and low > 0) or (best == at.size - 1 and high < 1):
        # The maximum lies further out, who knows how far.
        room = high - low
        return _snapped(low - room, high) if best == 0 else _snapped(low, high + room)
    new_low, new_high = _edge(at, drop, low), -_edge(-at[::-1], drop[::-1], -high)
    # A side that reaches an end of (0, 1) leaves it only for a much smaller box.
    near = 0.08 * (new_high - new_low)
    return _snapped(new_low if low or new_low > near else 0.0, new_high if high < 1 or new_high < 1 - near else 1.0)


def _edge(at: Floats, drop: Floats, low: float) -> float:
    """Return where the density has died towards the low end of one side."""
    root = np.sqrt(drop)
    at_edge = max(root[0] + (root[0] - root[1]) / (at[1] - at[0]) * (at[0] - low), 0.0) ** 2
    if LEAST_DROP < at_edge < MOST_DROP:
        return low
    best = int(np.argmin(drop))
    if at_edge <= LEAST_DROP:
        # Still alive at the edge: as far as a normal density goes, at most three times as far as now.
        further = min(np.sqrt(DROP / max(at_edge, 1.0)) - 1, 2.0)
        return low - further * (at[best] - low)
    first = int(np.flatnonzero(drop < DROP)[0])
    if first == 0:
        return low
    if best - first < 2:
        return float(at[first - 1])
    return float(
        at[first] - (at[first] - at[first - 1]) * (np.sqrt(DROP) - root[first]) / (root[first - 1] - root[first])
    )


def _snapped(low: float, high: float) -> tuple[float, float]:
    """Let a side that almost reaches an end of (0, 1) reach it: no node may come arbitrarily close to s = 0."""
    near = 0.03 * (high - low)
    return 0.0 if low < near else low, 1.0 if high > 1 - near else high


def _blend(first: Box, second: Box, share: float, room: float) -> Box:
    """Return the box `share` of the way from the first to the second, with some room at its sides."""

    def side(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
        low, high = ((1 - share) * u + share * v for u, v in zip(a, b))
        return _snapped(low - room * (high - low), high + room * (high - low))

    return Box(side(first.m, second.m), side(first.s, second.s))
