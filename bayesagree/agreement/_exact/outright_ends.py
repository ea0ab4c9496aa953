"""The posterior of Phi with outright answers at the ends of the scale: the shares of both ends integrated out.

An answer at an end is an interval of a judgment, as on any level, or an outright end: given the item mean mu, the odds
of an outright low end against a judgment inside the scale are w_low / (1 - w_low) (1 - mu) / mu, of a high end the
mirror image. At given shares (w_low, w_high) the engine is that of any likelihood. The log density of (y, w) is smooth
and nearly quadratic: it is tabulated on a box of Chebyshev nodes in the shares, at each of them along y = log p from
near the conditional mode, and interpolated between.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy as sp

from bayesagree._numerics.beta import SMALLEST
from bayesagree.agreement._exact.item_means import ItemMeans
from bayesagree.agreement._exact.patterns import Floats
from bayesagree.agreement._exact.posterior import SEARCH, PhiPosterior, log_posterior
from bayesagree.errors import ConvergenceError

LEVEL = -2
"""Steps of the inner quadrature are 1.6 times as long as at first: the log density then errs below 1e-3."""
NODES = (5, 7, 9)
"""Chebyshev nodes of a share, at first and where the polynomial without its highest power gives another interval."""
ENOUGH = 2e-2
"""Largest move of an end of the 95 % interval, in standard deviations of Phi, at which the nodes suffice."""
STEP = 1.5
"""Steps along y in conditional standard deviations."""
DROP, EDGE, LEAST_EDGE, MOST_EDGE = 13.0, 10.0, 8.0, 13.0
"""The table ends along y, and the box in the shares, where the density has fallen by exp(-13) and about exp(-10)."""
MOST_STEPS = 60
"""Steps along y to a side: a posterior as wide as its prior takes about twenty."""
CELLS, FINE = 24, 12
"""Cells of the box in each share, and points in a step along y, on which the interpolated density is summed."""
MOST_SHARE = 1 - 1e-6
"""Shares closer to 1 make no difference to any data that fit in memory."""


class Box(NamedTuple):
    """Mode of (y, w), conditional centres of y, and sides of the region that holds the shares.

    Attributes
    ----------
    mode
        Mode of (y, w_low, w_high), shape (3,).
    slope
        Moves of the conditional mode of y with each share, shape (2,).
    step
        Step along y.
    sides
        Lower and upper end of each share, shape (2, 2).
    """

    mode: Floats
    slope: Floats
    step: float
    sides: Floats

    def centre(self, shares: Floats) -> Floats:
        """Return where y is tabulated from at given shares, shape (...)."""
        return self.mode[0] + (shares - self.mode[1:]) @ self.slope


@dataclass(frozen=True)
class Cells:
    """Fine cells of the shares with the density of y in each.

    Attributes
    ----------
    shares
        Centres of the cells, shape (cell, 2).
    half
        Half the sides of a cell, shape (2,).
    centre
        Places y from which each cell is tabulated, shape (cell,).
    place
        Equidistant places y - centre, shape (place,).
    density
        Density of (y, w) up to a constant, shape (cell, place).
    """

    shares: Floats
    half: Floats
    centre: Floats
    place: Floats
    density: Floats


@dataclass(frozen=True)
class InflatedPosterior:
    """Posterior of Phi and of the shares of outright ends.

    Attributes
    ----------
    phi
        Marginal posterior of Phi.
    cells
        Joint posterior of log p and the shares.
    """

    phi: PhiPosterior
    cells: Cells

    def share_means(self) -> Floats:
        """Return the posterior means of both shares, shape (2,)."""
        mass = self.cells.density.sum(axis=1)
        return mass @ self.cells.shares / mass.sum()

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw log p, shape (n,), and the shares, shape (n, 2)."""
        cells = self.cells
        cumulative = np.cumsum(cells.density.ravel())
        at = np.searchsorted(cumulative, rng.random(n) * cumulative[-1])
        cell, place = np.divmod(np.minimum(at, cumulative.size - 1), cells.place.size)
        offset = (rng.random((n, 2)) * 2 - 1) * cells.half
        width = cells.place[1] - cells.place[0]
        y = cells.centre[cell] + cells.place[place] + width * (rng.random(n) - 0.5)
        return y, cells.shares[cell] + offset


def inflated_posterior(means: ItemMeans) -> InflatedPosterior:
    """Return the posterior of Phi and of the shares of outright ends.

    Raises
    ------
    ConvergenceError
        More nodes still move an end of the 95 % interval by two hundredths of a standard deviation.
    """
    density = LogDensity(means)
    box = _box(density)
    moved = np.inf
    for n in NODES:
        table = _table(density, box, n)
        found, coarse = (_integrated(box, table, degree) for degree in (n - 1, n - 2))
        moved = max(abs(a - b) for a, b in zip(found.phi.hdi(), coarse.phi.hdi()))
        evidence_moved = abs(found.phi.log_evidence - coarse.phi.log_evidence)
        marginal = replace(found.phi, log_evidence_error=evidence_moved, interval_error=moved)
        if moved < ENOUGH * marginal.summary().sd:
            break
    return InflatedPosterior(marginal, found.cells)
    raise ConvergenceError(
        f"with {NODES[-1]} nodes in each share of outright ends the 95 % interval of Phi still moves by {moved:.1e}; "
        "use engine='nuts'"
    )


class LogDensity:
    """Log density of (y, w_low, w_high) and the ratings, Phi and both shares being uniform."""

    def __init__(self, means: ItemMeans) -> None:
        self.means = means
        self.calls = 0

    def __call__(self, at: Floats) -> float:
        """Return the log density at one point, shape (3,)."""
        self.calls += 1
        ends = float(np.clip(at[1], 0, MOST_SHARE)), float(np.clip(at[2], 0, MOST_SHARE))
        y = float(np.clip(at[0], *SEARCH))
        return log_posterior(self.means.with_ends(ends), y, LEVEL)


def _box(density: LogDensity) -> Box:
    """Return the mode and the region around it that holds the posterior of the shares."""
    mode, top = _mode(density)
    steps = np.array([_informative_step(density, mode, top, i) for i in range(3)])
    hessian = _hessian(density, mode, steps)
    slope = -hessian[0, 1:] / hessian[0, 0]
    sides = np.array([[_edge(density, mode, top, hessian, i, side) for side in (-1, 1)] for i in (1, 2)])
    return Box(mode, slope, STEP / float(np.sqrt(hessian[0, 0])), sides)


def _mode(density: LogDensity) -> tuple[Floats, float]:
    """Return the mode of (y, w), searched over (y, root of w), and its log density."""

    def loss(x: Floats) -> float:
        return -density(_from_roots(x))

    start = np.array([1.0, 0.35, 0.35])
    simplex = start + np.vstack([np.zeros(3), np.diag([0.5, -0.2, -0.2])])
    options = {"initial_simplex": simplex, "xatol": 0.03, "fatol": 0.1, "maxfev": 120}
    found: Any = sp.optimize.minimize(loss, start, method="Nelder-Mead", options=options)
    return _from_roots(found.x), -float(found.fun)


def _from_roots(x: Floats) -> Floats:
    """Return (y, w) of (y, root of w); the root may be negative, the density is even in it."""
    return np.append(x[0], np.minimum(x[1:] ** 2, MOST_SHARE))


def _informative_step(density: LogDensity, mode: Floats, top: float, axis: int) -> float:
    """Return a step at which the density has fallen by about a standard deviation's half."""
    step = 0.2 if axis == 0 else min(max(0.3 * mode[axis], 1e-3), 0.5 * (1 - mode[axis]))
    for _ in range(8):
        moved = mode.copy()
        moved[axis] += step
        drop = top - density(moved)
        if 0.2 < drop < 3 or (axis and moved[axis] > 0.9 and drop < 3):
            return step
        step *= float(np.clip(np.sqrt(0.7 / max(drop, 1e-3)), 0.15, 5))
        if axis:
            step = min(step, 0.95 * (1 - mode[axis]))
    return step


def _hessian(density: LogDensity, mode: Floats, steps: Floats) -> Floats:
    """Return minus the second differences of the log density, one-sided where a share would fall below 0."""
    def at(*moves: tuple[int, float]) -> float:
        x = mode.copy()
        for axis, times in moves:
            x[axis] += times * steps[axis]
        return density(x)

    centre = np.array([0.0 if i == 0 or mode[i] > steps[i] else 1.0 for i in range(3)])
    middle = at(*((i, centre[i]) for i in range(3)))
    result, ahead = np.empty((3, 3)), np.empty(3)
    for i in range(3):
        base = [(j, centre[j]) for j in range(3) if j != i]
        ahead[i] = at((i, centre[i] + 1), *base)
        behind = at((i, centre[i] - 1), *base)
        result[i, i] = max((2 * middle - ahead[i] - behind) / steps[i] ** 2, 1e-3 / steps[i] ** 2)
    for i in range(3):
        for j in range(i):
            both = at(*((k, centre[k] + (k in (i, j))) for k in range(3)))
            bound = 0.95 * np.sqrt(result[i, i] * result[j, j])  # the differences need not be positive definite
            mixed = (ahead[i] + ahead[j] - both - middle) / (steps[i] * steps[j])
            result[i, j] = result[j, i] = np.clip(mixed, -bound, bound)
    if np.linalg.eigvalsh(result / np.sqrt(np.outer(np.diag(result), np.diag(result))))[0] < 0.02:
        result[1, 2] = result[2, 1] = 0.0
    return result


def _edge(density: LogDensity, mode: Floats, top: float, hessian: Floats, axis: int, side: int) -> float:
    """Return where the profile of the density along one share has fallen by about `EDGE`, inside [0, 1]."""
    others = [i for i in range(3) if i != axis]
    shift = -np.linalg.solve(hessian[np.ix_(others, others)], hessian[others, axis])
    curvature = hessian[axis, axis] + hessian[axis, others] @ shift
    limit = mode[axis] if side < 0 else MOST_SHARE - mode[axis]
    away = min(np.sqrt(2 * EDGE / max(curvature, 1e-12)), limit)
    for _ in range(6):
        moved = mode.copy()
        moved[axis] += side * away
        moved[others] += side * away * shift
        moved[1:] = np.clip(moved[1:], 0, MOST_SHARE)
        drop = top - density(moved)
        if drop > MOST_EDGE or (drop < LEAST_EDGE and away < limit):
            away = min(away * float(np.clip(np.sqrt(EDGE / max(drop, 1e-2)), 0.4, 2.5)), limit)
        else:
            break
    return float(np.clip(mode[axis] + side * away, 0, MOST_SHARE))


def _nodes(n: int) -> Floats:
    """Return Chebyshev points of the second kind on [-1, 1], ascending."""
    return -np.cos(np.pi * np.arange(n) / (n - 1))


class Table(NamedTuple):
    """Log density at the nodes of both shares and at steps along y, the first of them given: (node, node, step)."""

    values: Floats
    first: int

def _table(density: LogDensity, box: Box, n: int) -> Table:
    """Return the log density at n x n nodes of the shares and as many steps along y as the slowest to die needs."""
    low, high = box.sides.T
    at = (low + high) / 2 + (high - low) / 2 * _nodes(n)[:, None]
    shares = np.stack(np.meshgrid(at[:, 0], at[:, 1], indexing="ij"), axis=-1)
    centre = box.centre(shares)
    columns: dict[int, Floats] = {}

    def column(k: int) -> Floats:
        values = [
            density(np.append(centre[i, j] + k * box.step, shares[i, j])) for i in range(n) for j in range(n)
        ]
        return np.reshape(values, (n, n))

    columns[0] = column(0)
    top = columns[0].max()
    for side in (-1, 1):
        k = 0
        while columns[k].max() > top - DROP:
            k += side
            columns[k] = column(k)
            top = max(top, columns[k].max())
            if abs(k) > MOST_STEPS:
                raise ConvergenceError("the posterior of Phi does not end; use engine='nuts'")
    return Table(np.stack([columns[k] for k in sorted(columns)], axis=-1), min(columns))


def _integrated(box: Box, table: Table, degree: int) -> InflatedPosterior:
    """Return the posterior from the interpolated log density: midpoint sums over cells of (w_low, w_high, y)."""
    n, steps = table.values.shape[1:]
    at = (2 * np.arange(CELLS) + 1) / CELLS - 1
    between = _polynomial(n, degree, at)
    log_density = np.einsum("ai,bj,ijk->abk", between, between, table.values).reshape(CELLS * CELLS, steps)
    knots = table.first + np.arange(steps)
    spline = sp.interpolate.make_interp_spline(knots, log_density, k=5 if steps > 8 else 3, axis=1)
    place = np.linspace(knots[0], knots[-1], FINE * (steps - 1) + 1)
    log_fine = spline(place)
    top = log_fine.max()
    half = (box.sides[:, 1] - box.sides[:, 0]) / 2
    shares = box.sides.mean(axis=1) + half * np.stack(np.meshgrid(at, at, indexing="ij"), axis=-1).reshape(-1, 2)
    cells = Cells(shares, half / CELLS, box.centre(shares), place * box.step, np.exp(log_fine - top))
    return InflatedPosterior(_marginal(cells, top), cells)


def _marginal(cells: Cells, top: float) -> PhiPosterior:
    """Return the marginal posterior of y, the density of each cell being split between the two nearest of a grid."""
    width = cells.place[1] - cells.place[0]
    at = (cells.centre[:, None] + cells.place) / width
    first = np.floor(at.min())
    below = np.floor(at - first).astype(np.int64)
    share = at - first - below
    mass = np.bincount(below.ravel(), (cells.density * (1 - share)).ravel(), minlength=below.max() + 2)
    mass[1:] += np.bincount(below.ravel(), (cells.density * share).ravel(), minlength=below.max() + 2)[:-1]
    log_evidence = float(np.log(mass.sum() * width * np.prod(2 * cells.half)) + top)
    density = np.maximum(mass / (mass.sum() * width), SMALLEST)
    cdf = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    y = (first + np.arange(mass.size)) * width
    return PhiPosterior(y, cdf / cdf[-1], np.log(density), log_evidence, np.nan, np.nan, LEVEL)


def _polynomial(n: int, degree: int, to: Floats) -> Floats:
    """Return the matrix that takes values at `_nodes(n)` to those of their Chebyshev series at places in [-1, 1]."""
    series = np.linalg.inv(np.polynomial.chebyshev.chebvander(_nodes(n), n - 1))
    return np.polynomial.chebyshev.chebvander(to, degree) @ series[: degree + 1]
