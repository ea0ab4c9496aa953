"""Hierarchical item means: the posterior of their hyperparameters (m, s) on a grid that follows it.

The box of the grid zooms in on the posterior at one precision and starts, at the next, from its neighbours' boxes.
"""

from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple, Self

import numpy as np
import scipy as sp

from bayesagree._numerics.multisets import run_starts
from bayesagree._numerics.types import Floats
from bayesagree.agreement._exact.compression import refined
from bayesagree.agreement._exact.item_means import (
    ItemMeans,
    blocks,
    likelihood_step,
    log_beta_shape,
    nodes,
    prior_step,
    prior_window,
    steps,
)
from bayesagree.agreement._exact.likelihood import Ends
from bayesagree.agreement._exact.prior_masses import REACH, evidence_of_priors
from bayesagree.errors import ConvergenceError

# A box fits where the log density at its edges lies this far below its maximum.
DROP, LEAST_DROP, MOST_DROP = 18.0, 15.5, 25.0
# Nodes of one side of a box.
NODES = 14
# Nodes of a side at most; minus the logarithm of the share of the mass that may be lost between nodes.
MOST_NODES, NEGLIGIBLE = 200, 19.0
# Attempts at a box, and those after which it may only grow, or it could alternate between two that nearly fit.
ZOOMS, GROWTHS = 60, 9
# Room at the sides of a box taken over from one neighbour, as a share of the side.
SPARE = 0.03


type Side = tuple[float, float]


class Box(NamedTuple):
    """Sides of the region that holds the posterior of (m, s) at one precision."""

    m: Side
    s: Side


class HyperGrid(NamedTuple):
    """Log density of (m, s) given one precision on a product grid, and the quadrature weights."""

    m: Floats
    s: Floats
    log_density: Floats
    weight: Floats
    box: Box


class Grids(dict[float, HyperGrid]):
    """Grids by log precision; a finer level replaces those before."""

    level = -np.inf

    def keep(self, y: float, grid: HyperGrid, level: int) -> HyperGrid:
        """Return the grid, and keep it unless there are finer ones."""
        if level > self.level:
            self.clear()
            self.level = level
        if level == self.level:
            self[y] = grid
        return grid


UNIT = Box((0.0, 1.0), (0.0, 1.0))


@dataclass(eq=False)
class HierarchicalMeans(ItemMeans):
    """mu_i ~ Beta(m t, (1 - m) t) with m and s = (1 + t)^(-1/2) uniform on (0, 1), or with the Beta priors given.

    s is the square root of the overdispersion 1 / (1 + t), s sqrt(m (1 - m)) the standard deviation of the item means;
    s = 0, equal means of all items, lies inside the prior.

    Attributes
    ----------
    like
        Likelihood of the ratings.
    found
        Boxes of (m, s) of earlier integrations, by log precision: the next one starts there, so that every call
        adds one.
    enough
        Nodes in m and in s that the last grid of a level needed, by level: the next one starts with as many.
    grids
        Grids of the finest level so far, by log precision; they too grow with every call.
    """

    found: dict[float, Box] = field(default_factory=dict)
    enough: dict[int, tuple[int, int]] = field(default_factory=dict)
    grids: Grids = field(default_factory=Grids)

    def with_ends(self, ends: Ends, found: dict[float, Box] | None = None) -> Self:
        """Return the same prior and ratings with other shares of outright answers at the ends, and no grids."""
        other = super().with_ends(ends)
        other.grids, other.found = Grids(), self.found if found is None else found
        return other

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
        least = round(NODES / refined(level))
        n_m, n_s = self.enough.get(level, (least, least))
        # Neighbouring precisions have similar boxes: from these most fits take one or two attempts.
        box = self.guess(np.log(precision))
        for attempt in range(ZOOMS):
            m, weight_m = _rule(box.m, n_m, even=False)
            s, weight_s = _rule(box.s, n_s, even=tuple(self.prior.mean_spread) == (1, 1))
            density = self.log_density(precision, m, s, level)
            fitted = _fitted(box, m, s, density)
            if fitted == box or (attempt > GROWTHS and not _grows(box, fitted)):
                times = _too_coarse(box, m, s, density)
                given, more = (n_m, n_s), [round(k * x / refined(level)) for k, x in zip((n_m, n_s), times)]
                n_m, n_s = (min(max(least, k), MOST_NODES) for k in more)
                self.enough[level] = n_m, n_s
                if any(k > 1.1 * before for k, before in zip((n_m, n_s), given)):
                    n_m, n_s = max(n_m, given[0]), max(n_s, given[1])
                    continue
                y = float(np.log(precision))
                self.found[y] = box
                return self.grids.keep(y, HyperGrid(m, s, density, np.outer(weight_m, weight_s), box), level)
            box = fitted
        raise ConvergenceError(
            f"the posterior of the item-mean prior was not located at precision {precision:.4g} (box {box}); "
            "use item_mean='flat' or engine='nuts'"
        )

    def guess(self, y: float) -> Box:
        """Return the box at log precision y between the nearest ones found, or the nearest one a little wider."""
        below = max((v for v in self.found if v <= y), default=None)
        above = min((v for v in self.found if v >= y), default=None)
        if below is None and above is None:
            return UNIT
        if below is None or above is None:
            nearest = self.found[below if above is None else above]  # type: ignore[index]
            return _blend(nearest, nearest, 0.0, room=SPARE)
        share = 0.0 if above == below else (y - below) / (above - below)
        return _blend(self.found[below], self.found[above], share, room=0.0)

    def log_density(self, precision: float, m: Floats, s: Floats, level: int) -> Floats:
        """Return sum_i log Pr(ratings of i | precision, m, s), shape (m, s)."""
        like, prior = self.compressed[level], self.prior
        mean, deviation = np.repeat(m, s.size), np.tile(s, m.size)
        window, step = prior_window(mean, deviation), likelihood_step(self.like, precision)
        # Narrow priors need a short step, but only near their centre: one grid per halving of the step and place.
        octave = np.ceil(np.log2(np.maximum(step / prior_step(window), 1))).astype(np.int64)
        place = 64 * octave + np.where(octave > 0, np.round(window.centre / 3).astype(np.int64), 0)
        order = np.argsort(place, kind="stable")
        step = refined(level) * step
        first, last = steps(step / 2.0**octave, window.low, window.high)
        # The lattice of the first halving is the table's, where narrower priors take the likelihood from.
        times = 2 if octave.any() else 1
        low, high = steps(step / times, window.low.min(), window.high.max())
        at = 2 * np.sinh(step / times * np.arange(low - REACH, high + REACH + 1))
        pitch, starts = times / 2.0 ** octave[order], run_starts(place[order])
        priors = pitch, mean[order], deviation[order], first[order], last[order], starts
        total = np.zeros(mean.size)
        for block in blocks(like, at.size):
            table = block.table(precision, at)
            total[order] += evidence_of_priors(table, block.weight, low - REACH, step / times, *priors)
        log_m, log_s = (log_beta(x, shapes) for x, shapes in ((m, prior.mean_location), (s, prior.mean_spread)))
        return total.reshape(m.size, s.size) + log_m[:, None] + log_s

    def log_prior(self, precision: float, hyper: tuple[float, float] | None, fineness: float) -> tuple[Floats, Floats]:
        """Return nodes logit(mu) and the log prior mass at each given (m, s), shape (1, node)."""
        if hyper is None:
            raise ValueError("the prior of hierarchical item means needs (m, s)")
        m, s = np.asarray(hyper[0]), np.asarray(hyper[1])
        window = prior_window(m, s)
        step = min(likelihood_step(self.like, precision), float(prior_step(window)))
        at, log_weight = nodes(fineness * step, float(window.low), float(window.high))
        log_prior = log_beta_shape(at, m, s) + log_weight
        return at, (log_prior - sp.special.logsumexp(log_prior))[None]


def log_beta(x: Floats, shapes: tuple[float, float]) -> Floats:
    """Return the log density of a Beta distribution."""
    a, b = shapes
    return (a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - sp.special.betaln(a, b)


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


def _rule(side: Side, n: int, *, even: bool) -> tuple[Floats, Floats]:
    """Return nodes and weights on one side of the box.

    Inside (0, 1) the density has died at both ends: the trapezoidal rule. The density is even in s: the midpoint rule
    from s = 0 (`even`). At the other ends of (0, 1) it is cut: Gauss-Legendre.
    """
    low, high = side
    if even and low == 0 and high < 1:
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
    """Return the factors by which the steps in m and in s are too wide.

    With few items, each with many ratings, the posterior is a funnel: as long in s as the prior lets it, and at small s
    far narrower in m than the box. Sides cut by (0, 1) keep their nodes: Gauss-Legendre is dense near the cut, where
    the curvature is not informative.
    """
    drop = density.max() - density
    times_m = 0.0 if box.m[0] == 0 or box.m[1] == 1 else _times(m, drop)
    times_s = 0.0 if box.s[1] == 1 else _times(s, drop.min(axis=0)[:, None])
    return times_m, times_s


def _times(at: Floats, drop: Floats) -> float:
    """Return the factor by which the steps are too wide for the narrowest column with mass, shape (node, column).

    On a normal density of curvature c the trapezoidal rule of step h errs by 2 exp(-2 pi^2 / (c h^2)) of its mass.
    """
    step = np.diff(at)
    slope = np.diff(drop, axis=0) / step[:, None]
    curvature = np.diff(slope, axis=0) * (step[1:] + step[:-1])[:, None] / 2
    has_mass = drop[1:-1] < NEGLIGIBLE
    return float(np.sqrt(np.max(curvature * (NEGLIGIBLE - drop[1:-1]), initial=0, where=has_mass) / (2 * np.pi**2)))


def _fitted_side(side: Side, at: Floats, drop: Floats) -> Side:
    low, high = side
    best = int(np.argmin(drop))
    if (best == 0 and low > 0) or (best == at.size - 1 and high < 1):
        # The maximum lies further out, at an unknown distance.
        room = high - low
        return _snapped(low - room, high) if best == 0 else _snapped(low, high + room)
    new_low, new_high = _edge(at, drop, low), -_edge(-at[::-1], drop[::-1], -high)
    # A side that reaches an end of (0, 1) leaves it only for a much smaller box.
    near = 0.08 * (new_high - new_low)
    return _snapped(new_low if low or new_low > near else 0.0, new_high if high < 1 or new_high < 1 - near else 1.0)


def _edge(at: Floats, drop: Floats, low: float) -> float:
    """Return the place towards the low end of one side at which the density has died."""
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


def _snapped(low: float, high: float) -> Side:
    """Let a side that almost reaches an end of (0, 1) reach it: no node may come arbitrarily close to s = 0."""
    near = 0.03 * (high - low)
    return 0.0 if low < near else low, 1.0 if high > 1 - near else high


def hyper_box(m: Side, s: Side) -> Box:
    """Return a box of these sides inside the unit square."""
    sides = [(max(low, 0.0), min(high, 1.0)) for low, high in (m, s)]
    if any(high - low < 1e-9 for low, high in sides):
        return UNIT
    return Box(*(_snapped(float(low), float(high)) for low, high in sides))


def _blend(first: Box, second: Box, share: float, room: float) -> Box:
    """Return the box `share` of the way from the first to the second, with some room at its sides."""

    def side(a: Side, b: Side) -> Side:
        low, high = ((1 - share) * u + share * v for u, v in zip(a, b))
        return _snapped(low - room * (high - low), high + room * (high - low))

    return Box(side(first.m, second.m), side(first.s, second.s))
