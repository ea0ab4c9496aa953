"""Gaussian process through values of a smooth log density, for densities that cost milliseconds a point.

Its mean is the concave quadratic that fits the values best, in coordinates in which the density is about as wide in all
directions; what is left is interpolated. Rasmussen, Williams, "Gaussian Processes for Machine Learning", chapter 2.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy as sp

from bayesagree._numerics.types import Floats

# Drops from the largest value are compressed beyond the first, where it is all the same how far; in the quadratic a
# value with the second has a weight of exp(-1).
COMPRESSED_DROP, QUADRATIC_DROP = 25.0, 8.0
# Length scales tried, in widths of the density; the most likely one is taken.
LENGTHS = (1.0, 1.5, 2.2, 3.3, 5.0)
# Relative variance of the noise (quadrature errs by 1e-3), and the drop from which values count for less.
NOISE, NOISY_DROP = 1e-6, 6.0
# Smallest curvature of the quadratic in units of the density's: it must fall in all directions.
LEAST_CURVATURE = 0.02


@dataclass(frozen=True)
class Surrogate:
    """A log density between the places where it is known.

    Attributes
    ----------
    centre, axes
        Place and axes of the coordinates z = (x - centre) @ axes, shapes (3,) and (3, 3).
    places
        Known places in these coordinates, shape (place, 3).
    quadratic, linear
        Mean of the process: constant and slopes, shape (4,), and the matrix of the squares, shape (3, 3).
    length, variance
        Scales of the covariance.
    root, weights
        Cholesky factor of the covariance of the places, and its solution for their values.
    """

    centre: Floats
    axes: Floats
    places: Floats
    quadratic: Floats
    linear: Floats
    length: float
    variance: float
    root: Floats
    weights: Floats

    @classmethod
    def fit(cls, at: Floats, values: Floats, centre: Floats, covariance: Floats) -> Self:
        """Return the process through values at places, shape (place, 3), of a density of this covariance."""
        size, directions = np.linalg.eigh(covariance)
        axes = directions / np.sqrt(np.maximum(size, 1e-10))
        z, drop = (at - centre) @ axes, values.max() - values
        # Far below the mode only the order counts: a few huge drops would otherwise set the length scale.
        far = np.maximum(drop - COMPRESSED_DROP, 0)
        drop += COMPRESSED_DROP / 5 * np.log1p(far * 5 / COMPRESSED_DROP) - far
        values = values.max() - drop
        quadratic, linear = _concave(z, values, np.exp(-drop / QUADRATIC_DROP))
        left = values - _trend(z, quadratic, linear)
        apart = _squared_distances(z, z)
        best: Any = None
        # A handful of lengths, since each costs a factorisation.
        for length in LENGTHS:
            covariance = np.exp(-apart / (2 * length**2)) + np.diag(NOISE * (1 + (drop / NOISY_DROP) ** 4))
            root = np.linalg.cholesky(covariance)
            weights = sp.linalg.cho_solve((root, True), left)
            variance = max(float(left @ weights) / left.size, 1e-12)
            score = -left.size * np.log(variance) / 2 - np.log(np.diag(root)).sum()
            if best is None or score > best[0]:
                best = score, length, variance, root, weights
        return cls(centre, axes, z, quadratic, linear, *best[1:])

    def __call__(self, at: Floats) -> Floats:
        """Return the log density at places, shape (place, 3)."""
        z = (at - self.centre) @ self.axes
        return _trend(z, self.quadratic, self.linear) + self._covariance(z) @ self.weights

    def least_known(self, at: Floats, n: int) -> Floats:
        """Return n of the places given, each the least known after those before it are."""
        z = (at - self.centre) @ self.axes
        known = sp.linalg.solve_triangular(self.root, self._covariance(z).T, lower=True)
        open_ = np.exp(-_squared_distances(z, z) / (2 * self.length**2)) - known.T @ known
        chosen = []
        for _ in range(n):
            k = int(np.argmax(np.diag(open_)))
            chosen.append(k)
            open_ = open_ - np.outer(open_[:, k], open_[k]) / (open_[k, k] + NOISE)
        return at[np.unique(chosen)]

    def _covariance(self, z: Floats) -> Floats:
        apart = _squared_distances(z, self.places)
        apart /= -2 * self.length**2
        return np.exp(apart, out=apart)


def _squared_distances(first: Floats, second: Floats) -> Floats:
    return sp.spatial.distance.cdist(first, second, "sqeuclidean")


def _trend(z: Floats, quadratic: Floats, linear: Floats) -> Floats:
    return linear[0] + z @ linear[1:] + np.einsum("ni,ij,nj->n", z, quadratic, z)


def _concave(z: Floats, values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return matrix of the squares and (constant, slopes) of a concave quadratic by weighted least squares."""
    n = z.shape[1]
    pairs = [(i, j) for i in range(n) for j in range(i + 1)]
    flat = np.column_stack([np.ones(len(z)), z])
    full = np.column_stack([flat, *[z[:, i] * z[:, j] for i, j in pairs]])
    matrix = np.zeros((n, n))
    for (i, j), slope in zip(pairs, _least_squares(full, values, weight, ridge=1e-3)[n + 1 :]):
        matrix[i, j] += slope / 2
        matrix[j, i] += slope / 2
    size, directions = np.linalg.eigh(matrix)
    matrix = (directions * np.minimum(size, -LEAST_CURVATURE)) @ directions.T
    left = values - np.einsum("ni,ij,nj->n", z, matrix, z)
    return matrix, _least_squares(flat, left, weight, ridge=1e-9)


def _least_squares(design: Floats, values: Floats, weight: Floats, ridge: float) -> Floats:
    """Return weighted least-squares coefficients; the ridge keeps squares that the places do not tell apart finite."""
    weighted = design * (weight**2)[:, None]
    penalty = np.full(design.shape[1], ridge)
    penalty[:4] = 1e-9
    return np.linalg.solve(weighted.T @ design + np.diag(penalty), weighted.T @ values)
