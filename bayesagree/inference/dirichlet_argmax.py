"""Which entry of a Dirichlet vector is the largest: exact probabilities by one-dimensional quadrature.

A Dirichlet vector is a vector of independent Gamma(alpha_k, 1) variables, normalised, so

    Pr(argmax = k) = int f_k(x) prod_{j != k} F_j(x) dx,

integrated in u = log x by composite Gauss-Legendre. Labels of equal shape share one factor F^m. Left of x = 1e-18 every
F_k is x^alpha_k / Gamma(alpha_k + 1) to machine precision, and the rest of the integral is closed.
"""

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree.inference.multisets import multisets

_PANELS, _ORDER = 14, 20
_LEFT_END = -41.5
_TAIL = 1e-18
_CHUNK = 2_000_000


def argmax_probabilities(concentration: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of each label to be the largest, for Dirichlet shapes of (item, category).

    Items with the same shapes in any order share one integral.

    Parameters
    ----------
    concentration
        Positive shapes, shape (item, category).

    Returns
    -------
    array, shape (item, category)
        Sums to one over label within 1e-10 for shapes from 1e-6 to 1e6, and 1e-7 up to 1e9.
    """
    n_items, n_labels = concentration.shape
    shapes = np.ascontiguousarray(concentration, dtype=np.float64)
    found = multisets(
        np.arange(n_items + 1) * n_labels, shapes.view(np.int64).ravel(), np.zeros(n_items, np.uint64)
    )
    of_pattern = _of_patterns(np.sort(shapes[found.first], axis=1))
    probability = np.empty_like(shapes)
    np.put_along_axis(probability, np.argsort(shapes, axis=1), of_pattern[found.number], axis=1)
    return probability


def _of_patterns(patterns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities for rows of ascending shapes."""
    is_new = np.ones(patterns.shape, dtype=bool)
    is_new[:, 1:] = patterns[:, 1:] != patterns[:, :-1]
    group = np.cumsum(is_new, axis=1) - 1
    n_groups = group[:, -1] + 1
    probability = np.empty(patterns.shape)
    # Rows with equally many distinct shapes go together, so that nothing is padded.
    for n in np.unique(n_groups):
        rows = np.flatnonzero(n_groups == n)
        step = max(1, _CHUNK // (int(n) * _PANELS * _ORDER))
        for chunk in np.split(rows, range(step, rows.size, step)):
            shape = patterns[chunk][is_new[chunk]].reshape(chunk.size, n)
            size = np.zeros((chunk.size, n))
            np.add.at(size, (np.arange(chunk.size)[:, None], group[chunk]), 1.0)
            probability[chunk] = np.take_along_axis(_of_groups(shape, size), group[chunk], axis=1)
    return probability


def _of_groups(shape: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of one label of each group, for groups of `size` labels of one `shape`, (row, group)."""
    left, right = _range(shape, size)
    nodes, weights = sp.special.roots_legendre(_ORDER)
    edges = left[:, None] + (right - left)[:, None] * np.linspace(0, 1, _PANELS + 1)
    half = np.diff(edges, axis=1)[:, :, None] / 2
    u = (edges[:, :-1, None] + half * (1 + nodes)).reshape(shape.shape[0], 1, -1)
    du = (half * weights).reshape(shape.shape[0], 1, -1)
    log_cdf = _log_cdf(shape[:, :, None], u)
    log_all = (size[:, :, None] * log_cdf).sum(axis=1, keepdims=True)
    inside = (np.exp(log_all - log_cdf + _log_density(shape[:, :, None], u)) * du).sum(axis=2)
    at_left = (size * _log_cdf(shape, left[:, None])).sum(axis=1, keepdims=True)
    return inside + np.exp(at_left) * shape / (size * shape).sum(axis=1, keepdims=True)


def _range(
    shape: NDArray[np.float64], size: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log x between which the largest of all variables lies, but for 1e-17."""
    with np.errstate(divide="ignore"):
        left = np.log(sp.special.gammaincinv(shape, np.exp(np.log(_TAIL) / size))).max(axis=1)
        right = np.log(sp.special.gammainccinv(shape, _TAIL / size)).max(axis=1)
    return np.maximum(left, _LEFT_END), np.maximum(right, _LEFT_END + 1)


def _log_cdf(shape: NDArray[np.float64], u: NDArray[np.float64]) -> NDArray[np.float64]:
    cdf = sp.special.gammainc(shape, np.exp(u))
    leading = shape * u - np.exp(u) - sp.special.gammaln(shape + 1)
    with np.errstate(divide="ignore"):
        return np.where(cdf > 1e-290, np.log(cdf), leading)


def _log_density(shape: NDArray[np.float64], u: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log density of log x; written around its mode, so that shapes of 1e9 lose no digits."""
    v = u - np.log(shape)
    with np.errstate(over="ignore"):
        stirling = 0.5 * np.log(shape / (2 * np.pi)) - 1 / (12 * shape) + 1 / (360 * shape**3)
    constant = np.where(shape > 100, stirling, shape * np.log(shape) - shape - sp.special.gammaln(shape))
    return constant - shape * (np.expm1(v) - v)
