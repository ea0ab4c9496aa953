"""Posterior of how often each of several annotators wins, ties or loses: a hierarchical multinomial, drawn directly.

n_h ~ Multinomial(p_h), p_h ~ Dirichlet(kappa m), m ~ Dirichlet(1, 1, 1), s = (1 + kappa)^(-1/2) ~ U(0, 1). With the
p_h integrated out three parameters are left: they are drawn by importance sampling around the mode.
"""

import numpy as np
import scipy as sp
from numpy.typing import NDArray

type Floats = NDArray[np.float64]

# Student's t with 5 degrees of freedom has heavier tails than the logistic and Beta tails of the posterior; forty
# proposals a draw keep the repeats among the resampled ones to a few per cent.
DEGREES = 5
PROPOSALS = 40


def win_draws(counts: NDArray[np.int64], n_draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw the probabilities of each annotator, (draw, annotator, 3), and of a new one, (draw, 3)."""
    shared = _shared_draws(counts, n_draws, rng)
    concentration = np.exp(_log_mean(shared)) * _kappa(shared)[:, None]
    of_each = _dirichlet(concentration[:, None, :] + counts, rng)
    return of_each, _dirichlet(concentration, rng)


def log_posterior(point: Floats, counts: NDArray[np.int64]) -> Floats:
    """Log density of two log ratios of m and the log odds of s, shape (point,), with the p_h integrated out."""
    log_mean, kappa = _log_mean(point), _kappa(point)
    shape = np.exp(log_mean) * kappa[:, None]
    each = sp.special.gammaln(shape[:, None, :] + counts) - sp.special.gammaln(shape)[:, None, :]
    total = counts.sum(axis=1)
    whole = sp.special.gammaln(kappa[:, None] + total) - sp.special.gammaln(kappa)[:, None]
    jacobian = log_mean.sum(axis=1) - np.logaddexp(0, point[:, 2]) - np.logaddexp(0, -point[:, 2])
    return each.sum(axis=(1, 2)) - whole.sum(axis=1) + jacobian


def _shared_draws(counts: NDArray[np.int64], n_draws: int, rng: np.random.Generator) -> Floats:
    start = np.log(counts.sum(axis=0) + 1.0)
    first = np.array([start[0] - start[2], start[1] - start[2], -1.5])
    found = sp.optimize.minimize(lambda x: -log_posterior(x[None], counts)[0], first, method="BFGS")
    root = np.linalg.cholesky(found.hess_inv)
    size = PROPOSALS * n_draws
    normal = rng.standard_normal((size, 3)) / np.sqrt(rng.chisquare(DEGREES, size) / DEGREES)[:, None]
    points = found.x + normal @ root.T
    log_weight = log_posterior(points, counts) + (DEGREES + 3) / 2 * np.log1p((normal**2).sum(axis=1) / DEGREES)
    weight = np.exp(log_weight - log_weight.max())
    return points[rng.choice(size, n_draws, p=weight / weight.sum())]


def _log_mean(points: Floats) -> Floats:
    return sp.special.log_softmax(np.column_stack([points[:, :2], np.zeros(len(points))]), axis=1)


def _kappa(points: Floats) -> Floats:
    """Return s^-2 - 1; below s = .0003 annotators are alike, and the Gamma function would lose its digits."""
    return np.minimum(np.expm1(2 * np.logaddexp(0, -points[:, 2])), 1e7)


def _dirichlet(shape: Floats, rng: np.random.Generator) -> Floats:
    gamma = np.maximum(rng.standard_gamma(shape), 1e-300)
    return gamma / gamma.sum(axis=-1, keepdims=True)
