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
from bayesagree.agreement._exact.item_means import ItemMeans
from bayesagree.agreement._exact.outright_box import (
    DROP,
    EDGE,
    LEVEL,
    MOST_ROOT,
    MOST_STEPS,
    Box,
    LogDensity,
    posterior_box,
)
from bayesagree.agreement._exact.patterns import Floats
from bayesagree.agreement._exact.posterior import PhiPosterior
from bayesagree.errors import ConvergenceError

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
LEAST_PROFILE, FITS = 6.0, 4
"""A side of the box where the profile has fallen by less than this is widened, so often at most."""
CELLS, FINE = 24, 12
"""Cells of the box in each share, and points in a step along y, on which the interpolated density is summed."""
CENTRES = (2 * np.arange(CELLS) + 1) / CELLS - 1
"""Centres of the cells of a side, the box being [-1, 1]."""


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
    box = posterior_box(density)
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
