"""Draws of the item-mean prior (m, s) and of the item means, given draws of the precision."""

from dataclasses import replace

import numpy as np
import scipy as sp

from bayesagree._numerics.types import Floats
from bayesagree.agreement._exact.hyper_grid import HierarchicalMeans, HyperGrid
from bayesagree.agreement._exact.item_means import ItemMeans
from bayesagree.agreement._exact.patterns import RatingCounts

# Log densities of (m, s) below their maximum are cut here, so that the spline does not swing.
LEAST_LOG = -200.0
# Draws at which (m, s) is tabulated given the shares of outright ends, four for each coefficient of the regression,
# with steps a quarter longer than at first; (m, s) keep this distance from 0 and 1.
TABLES_OF_HYPER, LEVEL_OF_TABLES, FROM_ENDS = 40, -1, 1e-9
# Cells per side of the box from which (m, s) is drawn, uniformly inside each: a tenth of a standard deviation.
FINE = 120
# Nodes of an item mean lie this share of the quadrature step apart when it is drawn, uniformly between them.
FINENESS = 0.3


def draw_hyper(
    means: ItemMeans, log_precision: Floats, shares: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats] | None:
    """Draw (m, s) of hierarchical means given each draw of log p and of the shares of outright ends.

    Two arrays of shape (sample,); None for other means.
    """
    if not isinstance(means, HierarchicalMeans):
        return None
    drawn, outright = np.empty((2, log_precision.size)), shares.any(axis=1)
    if not outright.all():
        drawn[:, ~outright] = _draw_without_ends(means, log_precision[~outright], rng)
    if outright.any():
        drawn[:, outright] = _draw_with_ends(means, log_precision[outright], shares[outright], rng)
    return drawn[0], drawn[1]


def _draw_without_ends(
    means: HierarchicalMeans, log_precision: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw (m, s) given each draw of log p, two arrays of shape (sample,).

    The posterior of Phi has tabulated that of (m, s) at precisions less than a standard deviation apart. A draw takes
    its place inside the box from one of the two neighbouring tables, chosen by distance, and the box itself from
    between them.
    """
    at = np.array(sorted(means.grids))
    grids = [means.grids[y] for y in at]
    place = np.interp(log_precision, at, np.arange(at.size))
    # At random between both neighbours, so that the draws change smoothly from one table to the next.
    table = np.minimum(np.floor(place + rng.random(place.size)), at.size - 1).astype(int)
    relative = np.empty((2, place.size))
    for k in np.unique(table):
        relative[:, table == k] = _draw_inside(grids[k], int((table == k).sum()), rng)
    sides = []
    for axis in (0, 1):
        edges = np.array([grid.box[axis] for grid in grids])
        low, high = (np.interp(place, np.arange(at.size), edges[:, end]) for end in (0, 1))
        sides.append(low + (high - low) * relative[axis])
    return sides[0], sides[1]


def _draw_with_ends(
    means: HierarchicalMeans, log_precision: Floats, shares: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw (m, s) given each draw of log p and of the shares of outright ends, two arrays of shape (sample,).

    The posterior of (m, s) is tabulated at a few draws. Every draw takes its standardised place from the nearest table,
    and mean and standard deviation from their regression on (log p, shares).
    """
    at = np.column_stack([log_precision, shares])
    z = (at - at.mean(axis=0)) / np.maximum(at.std(axis=0), 1e-12)
    chosen = rng.choice(len(z), min(TABLES_OF_HYPER, len(z)), replace=False)
    grids = [means.with_ends((at[k, 1], at[k, 2])).grid(float(np.exp(at[k, 0])), LEVEL_OF_TABLES) for k in chosen]
    moments = np.array([_moments(grid) for grid in grids])
    design = _quadratic(z)
    fit = design @ np.linalg.lstsq(design[chosen], moments, rcond=None)[0]
    nearest = np.argmin(((z[:, None] - z[chosen]) ** 2).sum(axis=2), axis=1)
    drawn = np.empty((2, len(z)))
    for k, grid in enumerate(grids):
        some = nearest == k
        inside = _draw_inside(grid, int(some.sum()), rng)
        for axis, (low, high) in enumerate(grid.box):
            mean, log_sd = moments[k, 2 * axis : 2 * axis + 2]
            place = (low + (high - low) * inside[axis] - mean) / np.exp(log_sd)
            drawn[axis, some] = fit[some, 2 * axis] + np.exp(fit[some, 2 * axis + 1]) * place
    # The density is even in s; m stays inside (0, 1).
    return np.clip(drawn[0], FROM_ENDS, 1 - FROM_ENDS), np.clip(np.abs(drawn[1]), FROM_ENDS, 1 - FROM_ENDS)


def _moments(grid: HyperGrid) -> Floats:
    """Return mean and log standard deviation of m and of s."""
    mass = np.exp(grid.log_density - grid.log_density.max()) * grid.weight
    mass /= mass.sum()
    found = []
    for values, share in ((grid.m, mass.sum(axis=1)), (grid.s, mass.sum(axis=0))):
        mean = share @ values
        found += [mean, np.log(max(share @ (values - mean) ** 2, 1e-300)) / 2]
    return np.array(found)


def _quadratic(z: Floats) -> Floats:
    """Return 1, z, and all products of two columns of z."""
    pairs = [z[:, i] * z[:, j] for i in range(z.shape[1]) for j in range(i + 1)]
    return np.column_stack([np.ones(len(z)), z, *pairs])


def _draw_inside(grid: HyperGrid, n: int, rng: np.random.Generator) -> Floats:
    """Draw places inside the box, on (0, 1)^2, from a spline through the log density."""
    u = (np.arange(FINE) + 0.5) / FINE
    (low_m, high_m), (low_s, high_s) = grid.box
    log_density = np.maximum(grid.log_density - grid.log_density.max(), LEAST_LOG)
    surface = sp.interpolate.RectBivariateSpline(grid.m, grid.s, log_density)
    fine = surface(low_m + (high_m - low_m) * u, low_s + (high_s - low_s) * u)
    mass = np.exp(fine - fine.max()).ravel()
    cell = np.searchsorted(np.cumsum(mass), rng.random(n) * mass.sum())
    return (np.array(np.divmod(np.minimum(cell, FINE * FINE - 1), FINE)) + rng.random((2, n))) / FINE


def draw_item_means(
    means: ItemMeans,
    counts: RatingCounts,
    log_precision: Floats,
    hyper: tuple[Floats, Floats] | None,
    shares: Floats,
    rng: np.random.Generator,
) -> Floats:
    """Draw mu of every rated item given each draw of log p (of m, s, of shares of ends), shape (sample, item)."""
    rated = counts.pattern_of_item[counts.pattern_of_item >= 0]
    draws = np.empty((log_precision.size, rated.size))
    for k, y in enumerate(log_precision):
        precision = float(np.exp(y))
        at, log_prior = means.log_prior(precision, hyper and (hyper[0][k], hyper[1][k]), FINENESS)
        like = replace(means.like, ends=(float(shares[k, 0]), float(shares[k, 1])))
        log_mass = like.table(precision, at) + log_prior[like.group]
        mass = np.exp(log_mass - log_mass.max(axis=1, keepdims=True))
        cumulative = np.cumsum(mass, axis=1)
        cumulative /= cumulative[:, -1:]
        # One sorted list of all rows: row r lies in (r, r + 1].
        flat = (cumulative + np.arange(len(cumulative))[:, None]).ravel()
        node = np.searchsorted(flat, rated + rng.random(rated.size)) - rated * at.size
        z = np.arcsinh(at / 2)
        z_drawn = z[np.clip(node, 0, at.size - 1)] + (z[1] - z[0]) * (rng.random(rated.size) - 0.5)
        draws[k] = sp.special.expit(2 * np.sinh(z_drawn))
    return draws
