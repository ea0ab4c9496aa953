"""The posterior of Phi with outright answers at the ends of the scale: the shares of both ends integrated out.

An answer at an end is an interval of a judgment, as on any level, or an outright end: given the item mean mu, the odds
of an outright low end against a judgment inside the scale are w_low / (1 - w_low) (1 - mu) / mu, of a high end the
mirror image. Their roots u = sqrt(w) are uniform on (0, 1). At given shares the engine is that of any likelihood. The
log density of (y, u), even in u, is smooth and nearly quadratic: it is tabulated on a box of Chebyshev nodes in the
roots, at each of them along y = log p from near the conditional mode, and interpolated between.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy as sp

from bayesagree._numerics.beta import SMALLEST
from bayesagree.agreement._exact.hyper_grid import Box as HyperBox
from bayesagree.agreement._exact.hyper_grid import HierarchicalMeans, hyper_box
from bayesagree.agreement._exact.item_means import ItemMeans
from bayesagree.agreement._exact.likelihood import Ends
from bayesagree.agreement._exact.patterns import Floats
from bayesagree.agreement._exact.posterior import SEARCH, PhiPosterior, log_posterior
from bayesagree.errors import ConvergenceError

LEVEL = -2
"""Steps of the inner quadrature are 1.6 times as long as at first: the log density then errs below 1e-3."""
NODES, PIECES = (5, 7), (13, 25)
"""Chebyshev nodes of a root: of a polynomial, at first and where the one without its highest power gives another
interval; and of cubic pieces, a spline and Akima's, for ridges from no outright end to nothing but, which no polynomial
follows."""
ENOUGH, BARELY = 2e-2, 0.2
"""Largest move of an end of the 95 % interval, in standard deviations of Phi, at which nodes suffice: of polynomials,
and of pieces (with 13 of them the spline errs by .01 where Akima's errs by .06)."""
OVERSHOOT, FLOOR = 1.0, 40.0
"""A polynomial that rises by more than this above the highest node is none of the density; pieces end this far below
it."""
FEWEST, RECENT = 8, 100
"""Points from which the box of (m, s) is predicted by regression: twice its coefficients, and the latest so many."""
STEP = 1.5
"""Steps along y in conditional standard deviations."""
DROP, EDGE, LEAST_EDGE, MOST_EDGE = 13.0, 10.0, 8.0, 13.0
"""The table ends along y, and the box in the shares, where the density has fallen by exp(-13) and about exp(-10)."""
LEAST_PROFILE, FITS = 6.0, 4
"""A side of the box where the profile has fallen by less than this is widened, so often at most."""
STEPS, MOST_STEPS, FARTHEST = 14, 40, 40.0
"""Steps along y at the mode of the roots at most, those to a side elsewhere, and their reach: a posterior as wide as
its prior spans 17."""
CELLS, FINE = 24, 12
"""Cells of the box in each share, and points in a step along y, on which the interpolated density is summed."""
CENTRES = (2 * np.arange(CELLS) + 1) / CELLS - 1
"""Centres of the cells of a side, the box being [-1, 1]."""
MOST_SHARE, MOST_ROOT = 1 - 1e-6, 1 - 5e-7
"""Shares closer to 1 make no difference to any data that fit in memory."""


class Box(NamedTuple):
    """Mode of (y, u), conditional centres of y, and sides of the region that holds the roots of the shares.

    Attributes
    ----------
    mode
        Mode of (y, u_low, u_high), shape (3,).
    slope
        Moves of the conditional mode of y with each root, shape (2,).
    step
        Step along y.
    sides
        Lower and upper end of each root, shape (2, 2).
    """

    mode: Floats
    slope: Floats
    step: float
    sides: Floats

    def centre(self, roots: Floats) -> Floats:
        """Return where y is tabulated from at given roots, shape (...)."""
        return self.mode[0] + (roots - self.mode[1:]) @ self.slope


@dataclass(frozen=True)
class Cells:
    """Fine cells of the roots of the shares with the density of y in each.

    Attributes
    ----------
    roots
        Centres of the cells, shape (cell, 2).
    half
        Half the sides of a cell, shape (2,).
    centre
        Places y from which each cell is tabulated, shape (cell,).
    place
        Equidistant places y - centre, shape (place,).
    density
        Density of (y, u) up to a constant, shape (cell, place).
    """

    roots: Floats
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
        return mass @ self.cells.roots**2 / mass.sum()

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw log p, shape (n,), and the shares, shape (n, 2)."""
        cells = self.cells
        cumulative = np.cumsum(cells.density.ravel())
        at = np.searchsorted(cumulative, rng.random(n) * cumulative[-1])
        cell, place = np.divmod(np.minimum(at, cumulative.size - 1), cells.place.size)
        offset = (rng.random((n, 2)) * 2 - 1) * cells.half
        width = cells.place[1] - cells.place[0]
        y = cells.centre[cell] + cells.place[place] + width * (rng.random(n) - 0.5)
        return y, (cells.roots[cell] + offset) ** 2


def inflated_posterior(means: ItemMeans) -> InflatedPosterior:
    """Return the posterior of Phi and of the shares of outright ends.

    Raises
    ------
    ConvergenceError
        More nodes still move an end of the 95 % interval by two hundredths of a standard deviation.
    """
    density = LogDensity(means)
    box = _box(density)
    box, table = _fitted_table(density, box, NODES[0])
    for n in NODES:
        if n > NODES[0]:
            table = _table(density, box, n)
        fine, coarse = (_by_polynomial(table, n, degree) for degree in (n - 1, n - 2))
        if fine.max() > table.values.max() + OVERSHOOT:
            continue
        found = _integrated(box, table, fine, coarse)
        if found.phi.interval_error < ENOUGH * found.phi.summary().sd:
            return found
    moved = np.inf
    for n in PIECES:
        table = _table(density, box, n)
        found = _integrated(box, table, *(_by_pieces(table, n, smooth=smooth) for smooth in (True, False)))
        if (moved := found.phi.interval_error) < BARELY * found.phi.summary().sd:
            return found
    raise ConvergenceError(
        f"with {PIECES[-1]} nodes in each share of outright ends the 95 % interval of Phi still moves by {moved:.1e}; "
        "use engine='nuts'"
    )


class LogDensity:
    """Log density of (y, u_low, u_high) and the ratings, Phi and both roots being uniform."""

    def __init__(self, means: ItemMeans) -> None:
        self.means = means
        self.at: list[Floats] = []
        self.boxes: list[Floats] = []

    def __call__(self, at: Floats) -> float:
        """Return the log density at one point, shape (3,)."""
        ends = float(min(at[1] ** 2, MOST_SHARE)), float(min(at[2] ** 2, MOST_SHARE))
        y = float(np.clip(at[0], *SEARCH))
        return self._inside(at, y, ends) - abs(float(at[0]) - y)  # beyond, the prior goes on to fall at least so fast

    def _inside(self, at: Floats, y: float, ends: Ends) -> float:
        if not isinstance(self.means, HierarchicalMeans):
            return log_posterior(self.means.with_ends(ends), y, LEVEL)
        found = {} if (guess := self._guess(at)) is None else {y: guess}
        try:
            value = log_posterior(self.means.with_ends(ends, found=found), y, LEVEL)
        except ConvergenceError:  # between two boxes that nearly fit: from all of (m, s), with finer steps
            found.clear()
            value = log_posterior(self.means.with_ends(ends, found=found), y, 0)
        self.at.append(np.array(at))
        self.boxes.append(np.ravel(list(found.values())[-1]))
        return value

    def _guess(self, at: Floats) -> HyperBox | None:
        """Return the box of (m, s) that its regression on the latest points predicts, at first that of the nearest."""
        if not self.at:
            return None
        x = np.array(self.at[-RECENT:]) - at
        boxes = np.array(self.boxes[-RECENT:])
        spread = np.maximum(np.abs(x).mean(axis=0), 1e-9)
        distance = np.sum((x / spread) ** 2, axis=1)
        if len(x) < FEWEST:
            m_low, m_high, s_low, s_high = boxes[np.argmin(distance)]
        else:
            weight = 1 / (0.1 + distance)[:, None]
            design = np.column_stack([np.ones(len(x)), x / spread])
            m_low, m_high, s_low, s_high = np.linalg.lstsq(weight * design, weight * boxes, rcond=None)[0][0]
        return hyper_box((m_low, m_high), (s_low, s_high))


def _box(density: LogDensity) -> Box:
    """Return the mode and the region around it that holds the posterior of the shares."""
    mode, top = _mode(density)
    steps = np.array([_informative_step(density, mode, top, i) for i in range(3)])
    hessian = _hessian(density, mode, steps)
    slope = -hessian[0, 1:] / hessian[0, 0]
    sides = np.array([[_edge(density, mode, top, hessian, i, side) for side in (-1, 1)] for i in (1, 2)])
    step = STEP / float(np.sqrt(hessian[0, 0]))
    reach = sum(_reach(density, mode, top, side * step) for side in (-1, 1))
    return Box(mode, slope, max(step, reach / STEPS), sides)


def _reach(density: LogDensity, mode: Floats, top: float, step: float) -> float:
    """Return how far from the mode y is when the density has died, in strides that double."""
    away = 2 * step
    while top - density(mode + np.array([away, 0, 0])) < DROP and abs(away) < FARTHEST:
        away *= 1.5
    return abs(away)


def _mode(density: LogDensity) -> tuple[Floats, float]:
    """Return the mode of (y, u) and its log density."""
    start = np.array([1.0, 0.35, 0.35])
    simplex = start + np.vstack([np.zeros(3), np.diag([0.5, -0.2, -0.2])])
    options = {"initial_simplex": simplex, "xatol": 0.03, "fatol": 0.1, "maxfev": 120}
    found: Any = sp.optimize.minimize(lambda x: -density(x), start, method="Nelder-Mead", options=options)
    return np.append(found.x[0], np.minimum(np.abs(found.x[1:]), MOST_ROOT)), -float(found.fun)


def _informative_step(density: LogDensity, mode: Floats, top: float, axis: int) -> float:
    """Return a step at which the density has fallen by about a standard deviation's half."""
    step = 0.2 if axis == 0 else min(max(0.2 * mode[axis], 0.02), 0.5 * (1 - mode[axis]))
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
    """Return minus the second differences of the log density, which is even in the roots."""

    def at(*moves: tuple[int, float]) -> float:
        x = mode.copy()
        for axis, times in moves:
            x[axis] += times * steps[axis]
        return density(x)

    middle = at()
    result, ahead = np.empty((3, 3)), np.empty(3)
    for i in range(3):
        ahead[i], behind = at((i, 1)), at((i, -1))
        result[i, i] = max((2 * middle - ahead[i] - behind) / steps[i] ** 2, 1e-3 / steps[i] ** 2)
    for i in range(3):
        for j in range(i):
            both = at((i, 1), (j, 1))
            result[i, j] = result[j, i] = (ahead[i] + ahead[j] - both - middle) / (steps[i] * steps[j])
    scale = np.sqrt(np.diag(result))
    correlated = result / np.outer(scale, scale)
    # Differences need not be positive definite: as much of the correlations as leaves them so.
    while np.linalg.eigvalsh(correlated)[0] < 0.01:
        correlated = 0.9 * correlated + 0.1 * np.eye(3)
    return correlated * np.outer(scale, scale)


def _edge(density: LogDensity, mode: Floats, top: float, hessian: Floats, axis: int, side: int) -> float:
    """Return where the profile of the density along one root has fallen by about `EDGE`, inside [0, 1]."""
    others = [i for i in range(3) if i != axis]
    shift = -np.linalg.solve(hessian[np.ix_(others, others)], hessian[others, axis])
    curvature = hessian[axis, axis] + hessian[axis, others] @ shift
    limit = mode[axis] if side < 0 else MOST_ROOT - mode[axis]
    away = min(np.sqrt(2 * EDGE / max(curvature, 1e-12)), limit)
    for _ in range(6):
        moved = mode.copy()
        moved[axis] += side * away
        moved[others] += side * away * shift
        moved[1:] = np.clip(moved[1:], 0, MOST_ROOT)
        drop = top - density(moved)
        if drop > MOST_EDGE or (drop < LEAST_EDGE and away < limit):
            away = min(away * float(np.clip(np.sqrt(EDGE / max(drop, 1e-2)), 0.4, 2.5)), limit)
        else:
            break
    return float(np.clip(mode[axis] + side * away, 0, MOST_ROOT))


def _nodes(n: int) -> Floats:
    """Return Chebyshev points of the second kind on [-1, 1], ascending."""
    return -np.cos(np.pi * np.arange(n) / (n - 1))


class Table(NamedTuple):
    """Log density at the nodes of both roots and at steps along y, the first of them given: (node, node, step)."""

    values: Floats
    first: int


def _fitted_table(density: LogDensity, box: Box, n: int) -> tuple[Box, Table]:
    """Return the box, widened where the density has not died at one of its sides, and the table on it."""
    table = _table(density, box, n)
    for _ in range(FITS):
        drop = table.values.max() - table.values
        sides = box.sides.copy()
        for axis in (0, 1):
            profile = drop.min(axis=(1 - axis, 2))
            for side, limit in ((0, 0.0), (1, MOST_ROOT)):
                at_side = profile[-side]
                if at_side < LEAST_PROFILE and sides[axis, side] != limit:
                    further = min(np.sqrt(EDGE / max(at_side, 1.0)), 2.5)
                    moved = box.mode[1 + axis] + further * (sides[axis, side] - box.mode[1 + axis])
                    sides[axis, side] = np.clip(moved, 0, MOST_ROOT)
        if np.array_equal(sides, box.sides):
            break
        box = box._replace(sides=sides)
        table = _table(density, box, n)
    return box, table


def _table(density: LogDensity, box: Box, n: int) -> Table:
    """Return the log density at n x n nodes of the roots and as many steps along y as the slowest to die needs."""
    low, high = box.sides.T
    at = (low + high) / 2 + (high - low) / 2 * _nodes(n)[:, None]
    roots = np.stack(np.meshgrid(at[:, 0], at[:, 1], indexing="ij"), axis=-1)
    centre = box.centre(roots)
    columns: dict[int, Floats] = {}

    def column(k: int) -> Floats:
        values = [density(np.append(centre[i, j] + k * box.step, roots[i, j])) for i in range(n) for j in range(n)]
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


def _by_polynomial(table: Table, n: int, degree: int) -> Floats:
    """Return the log density in the cells from its Chebyshev series in the roots, shape (cell, cell, step)."""
    between = _polynomial(n, degree, CENTRES)
    return np.einsum("ai,bj,ijk->abk", between, between, table.values)


def _by_pieces(table: Table, n: int, *, smooth: bool) -> Floats:
    """Return the log density in the cells from cubic pieces, a smooth spline or Akima's: shape (cell, cell, step)."""
    values, nodes = np.maximum(table.values, table.values.max() - FLOOR), _nodes(n)
    for axis in (0, 1):
        if smooth:
            pieces: Any = sp.interpolate.make_interp_spline(nodes, values, k=3, axis=axis)
        else:
            pieces = sp.interpolate.Akima1DInterpolator(nodes, values, axis=axis, method="makima")
        values = pieces(CENTRES)
    return values


def _integrated(box: Box, table: Table, log_density: Floats, coarse: Floats) -> InflatedPosterior:
    """Return the posterior from the interpolated log density, and how far a coarser interpolation moves it."""
    found, other = (_summed(box, table.first, values) for values in (log_density, coarse))
    moved = max(abs(a - b) for a, b in zip(found.phi.hdi(), other.phi.hdi()))
    evidence_moved = abs(found.phi.log_evidence - other.phi.log_evidence)
    return replace(found, phi=replace(found.phi, log_evidence_error=evidence_moved, interval_error=moved))


def _summed(box: Box, first: int, log_density: Floats) -> InflatedPosterior:
    """Return the posterior by midpoint sums over cells of (u_low, u_high, y)."""
    log_density = log_density.reshape(CELLS * CELLS, -1)
    steps = log_density.shape[1]
    at = CENTRES
    knots = first + np.arange(steps)
    spline = sp.interpolate.make_interp_spline(knots, log_density, k=5 if steps > 8 else 3, axis=1)
    place = np.linspace(knots[0], knots[-1], FINE * (steps - 1) + 1)
    log_fine = spline(place)
    top = log_fine.max()
    half = (box.sides[:, 1] - box.sides[:, 0]) / 2
    roots = box.sides.mean(axis=1) + half * np.stack(np.meshgrid(at, at, indexing="ij"), axis=-1).reshape(-1, 2)
    cells = Cells(roots, half / CELLS, box.centre(roots), place * box.step, np.exp(log_fine - top))
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
