"""Posterior of vector scaling: q ~ p^eta exp(b), given items whose true label is known.

Source: I. Murray, R. Adams, D. MacKay, "Elliptical slice sampling", AISTATS 2010.
"""

from collections.abc import Callable

import numpy as np
import scipy as sp
from numpy.typing import NDArray

# Mean and standard deviation of log eta.
LOG_EXPONENT_PRIOR = (-0.7, 1.0)
# Standard deviation of b.
OFFSET_SD = 0.5


def log_q(log_p: NDArray[np.float64], parameters: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log q of each item and label; parameters are log eta and b."""
    return sp.special.log_softmax(np.exp(parameters[0]) * log_p + parameters[1:], axis=1)


def prior_precision(n_labels: int) -> NDArray[np.float64]:
    """Return one over the prior variance of log eta and of each b."""
    return np.append(LOG_EXPONENT_PRIOR[1] ** -2, np.full(n_labels, OFFSET_SD**-2))


def information_of(log_p: NDArray[np.float64], parameters: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Fisher information about log eta and b of the true labels of all these items."""
    q, score = np.exp(log_q(log_p, parameters)), np.exp(parameters[0]) * log_p
    centred = score - (q * score).sum(axis=1, keepdims=True)
    information = np.empty((parameters.size, parameters.size))
    information[0, 0] = (q * centred**2).sum()
    information[0, 1:] = information[1:, 0] = (q * centred).sum(axis=0)
    information[1:, 1:] = np.diag(q.sum(axis=0)) - q.T @ q
    return information


def draw_parameters(
    log_p: NDArray[np.float64], gold: NDArray[np.int64], size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw log eta and b from their posterior, shape (draw, 1 + label).

    Elliptical slice sampling around the normal approximation at the mode: exact, and nearly independent draws where
    the posterior is nearly normal.
    """
    rows, n_labels = np.arange(gold.size), log_p.shape[1]
    prior_mean, stiffness = np.append(LOG_EXPONENT_PRIOR[0], np.zeros(n_labels)), prior_precision(n_labels)

    def log_posterior(x: NDArray[np.float64]) -> float:
        return float(log_q(log_p, x)[rows, gold].sum() - 0.5 * (stiffness * (x - prior_mean) ** 2).sum())

    def slope(x: NDArray[np.float64]) -> NDArray[np.float64]:
        error = -np.exp(log_q(log_p, x))
        error[rows, gold] += 1
        return np.append(np.exp(x[0]) * (error * log_p).sum(), error.sum(axis=0)) - stiffness * (x - prior_mean)

    mode = sp.optimize.minimize(lambda x: -log_posterior(x), prior_mean, jac=lambda x: -slope(x), method="L-BFGS-B").x
    precision = information_of(log_p, mode) + np.diag(stiffness)
    factor = np.linalg.cholesky(np.linalg.inv(precision))

    def excess(z: NDArray[np.float64]) -> float:
        return log_posterior(mode + factor @ z) + 0.5 * float(z @ z)

    drawn, z = np.empty((size, 1 + n_labels)), np.zeros(1 + n_labels)
    for s in range(size):
        z = _elliptical_step(excess, z, rng)
        drawn[s] = mode + factor @ z
    return drawn


def _elliptical_step(
    log_density: Callable[[NDArray[np.float64]], float], z: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Move z by one step that leaves standard normal density times exp(log_density) as it is."""
    other = rng.standard_normal(z.size)
    level = log_density(z) - rng.standard_exponential()
    angle = rng.uniform(0, 2 * np.pi)
    low, high = angle - 2 * np.pi, angle
    while True:
        proposal = z * np.cos(angle) + other * np.sin(angle)
        if log_density(proposal) > level:
            return proposal
        low, high = (angle, high) if angle < 0 else (low, angle)
        angle = rng.uniform(low, high)
