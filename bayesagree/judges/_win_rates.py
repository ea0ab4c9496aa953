"""Posterior of how often each of several annotators wins, ties or loses: a hierarchical multinomial, drawn directly.

n_h ~ Multinomial(p_h), p_h ~ Dirichlet(kappa m), m ~ Dirichlet(1, 1, 1), s = (1 + kappa)^(-1/2) ~ U(0, 1). With the
p_h integrated out three parameters are left: they are drawn by importance sampling, s from cells, m around its mode.
"""

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats

# Student's t with 5 degrees of freedom has heavier tails than the logistic and Beta tails of the posterior; ten
# proposals a draw, of which seven are as good as drawn from it, keep the repeats among the resampled ones few.
DEGREES = 5
PROPOSALS = 10
# Of the differences; log ratios of a hundred thousand items are known to about that.
STEP = 0.01
WIDTH = 0.2
# Middles of cells of the log odds of s: from annotators who are alike to such who have nothing in common.
SPREADS = np.arange(-14, 5, WIDTH)


def win_draws(counts: NDArray[np.int64], n_draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw the probabilities of each annotator, (draw, annotator, 3), and of a new one, (draw, 3)."""
    shared = _shared_draws(counts, n_draws, rng)
    concentration = np.exp(_log_mean(shared)) * _kappa(shared)[:, None]
    of_each = _dirichlet(concentration[:, None, :] + counts, rng)
    return of_each, _dirichlet(concentration, rng)


def log_posterior(point: Floats, counts: NDArray[np.int64]) -> Floats:
    """Log density of two log ratios of m and the log odds of s, shape (point,), with the p_h integrated out."""
    log_mean, kappa = _log_mean(point), _kappa(point)
    # A share of nearly 0 is nearly impossible, and neither 0 nor its logarithm is to be had.
    shape = np.maximum(np.exp(log_mean) * kappa[:, None], 1e-300)
    each = sp.special.gammaln(shape[:, None, :] + counts) - sp.special.gammaln(shape)[:, None, :]
    total = counts.sum(axis=1)
    whole = sp.special.gammaln(kappa[:, None] + total) - sp.special.gammaln(kappa)[:, None]
    jacobian = log_mean.sum(axis=1) - np.logaddexp(0, point[:, 2]) - np.logaddexp(0, -point[:, 2])
    return each.sum(axis=(1, 2)) - whole.sum(axis=1) + jacobian


def _shared_draws(counts: NDArray[np.int64], n_draws: int, rng: np.random.Generator) -> Floats:
    mode, root, height = _means_given_spread(counts)
    size = PROPOSALS * n_draws
    log_mass = height + np.log(np.abs(np.linalg.det(root)))  # Laplace's method
    mass = np.exp(log_mass - log_mass.max())
    cell = rng.choice(SPREADS.size, size, p=mass / mass.sum())
    spread = SPREADS[cell] + WIDTH * (rng.random(size) - 0.5)
    normal = rng.standard_normal((size, 2)) / np.sqrt(rng.chisquare(DEGREES, size) / DEGREES)[:, None]
    points = np.column_stack([mode[cell] + np.einsum("pij,pj->pi", root[cell], normal), spread])
    log_proposal = height[cell] - (DEGREES + 2) / 2 * np.log1p((normal**2).sum(axis=1) / DEGREES)
    log_weight = log_posterior(points, counts) - log_proposal
    weight = np.exp(log_weight - log_weight.max())
    return points[rng.choice(size, n_draws, p=weight / weight.sum())]


def _means_given_spread(counts: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
    """Mode of the log ratios at each of `SPREADS`, a root of their covariance, and the log density at the mode.

    Shapes (cell, 2), (cell, 2, 2) and (cell,). The larger the spread of annotators, the wider their mean is: a normal
    approximation of all three parameters would have no tails where it matters.
    """
    start = np.log(counts.sum(axis=0) + 1.0)
    mode = np.tile(start[:2] - start[2], (SPREADS.size, 1))
    value, slope, curvature = _differences(mode, counts)
    for _ in range(50):
        step = np.clip(np.linalg.solve(curvature, slope[:, :, None])[:, :, 0], -1, 1)
        mode = mode + step
        value, slope, curvature = _differences(mode, counts)
        if np.abs(step).max() < 1e-4:
            break
    root = np.linalg.inv(np.linalg.cholesky(curvature)).transpose(0, 2, 1)
    return mode, root, value


def _differences(mode: Floats, counts: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
    """Return log density, slope and minus curvature by the log ratios at each of `SPREADS`, by central differences."""

    def at(first: float, second: float) -> Floats:
        return log_posterior(np.column_stack([mode + STEP * np.array([first, second]), SPREADS]), counts)

    here, right, left, up, down = at(0, 0), at(1, 0), at(-1, 0), at(0, 1), at(0, -1)
    mixed = (at(1, 1) + at(-1, -1) - at(1, -1) - at(-1, 1)) / 4
    curvature = -np.array([[right + left - 2 * here, mixed], [mixed, up + down - 2 * here]]) / STEP**2
    return here, np.column_stack([right - left, up - down]) / (2 * STEP), curvature.transpose(2, 0, 1)


def _log_mean(points: Floats) -> Floats:
    return sp.special.log_softmax(np.column_stack([points[:, :2], np.zeros(len(points))]), axis=1)


def _kappa(points: Floats) -> Floats:
    """Return s^-2 - 1; below s = .0003 annotators are alike, and the Gamma function would lose its digits."""
    return np.expm1(np.minimum(2 * np.logaddexp(0, -points[:, 2]), np.log(1e7)))


def _dirichlet(shape: Floats, rng: np.random.Generator) -> Floats:
    gamma = np.maximum(rng.standard_gamma(shape), 1e-300)
    return gamma / gamma.sum(axis=-1, keepdims=True)
