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
    step = max(1, _CHUNK // (int(is_new.sum(axis=1).max(initial=1)) * _PANELS * _ORDER))
    parts: list[NDArray[np.float64]] = [np.empty((0, patterns.shape[1]))]  # of no items none
    for at in range(0, len(patterns), step):
        new = is_new[at : at + step]
        size = np.diff(np.flatnonzero(new), append=new.size)
        found = _of_groups(patterns[at : at + step][new], size, np.nonzero(new)[0])
        parts.append(np.repeat(found, size).reshape(new.shape))
    return np.concatenate(parts)


def _of_groups(
    shape: NDArray[np.float64], size: NDArray[np.integer], row: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return the probability of one label of each group, shape (group,): `size` labels of one `shape` in a `row`."""
    start = np.flatnonzero(np.diff(row, prepend=-1))
    left, right = (np.maximum.reduceat(end, start) for end in _range(shape, size))
    nodes, weights = sp.special.roots_legendre(_ORDER)
    edges = left[:, None] + (right - left)[:, None] * np.linspace(0, 1, _PANELS + 1)
    half = np.diff(edges, axis=1)[:, :, None] / 2
    u, du = (v.reshape(start.size, -1)[row] for v in (edges[:, :-1, None] + half * (1 + nodes), half * weights))
    log_cdf = _log_cdf(shape[:, None], u)
    log_all = np.add.reduceat(size[:, None] * log_cdf, start)[row]
    inside = (np.exp(log_all - log_cdf + _log_density(shape[:, None], u)) * du).sum(axis=1)
    at_left = np.add.reduceat(size * _log_cdf(shape, left[row]), start)
    return inside + (np.exp(at_left) / np.add.reduceat(size * shape, start))[row] * shape


def _range(
    shape: NDArray[np.float64], size: NDArray[np.integer]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log x between which the largest variable of each group lies, but for 1e-17."""
    with np.errstate(divide="ignore"):
        left = np.log(sp.special.gammaincinv(shape, np.exp(np.log(_TAIL) / size)))
        right = np.log(sp.special.gammainccinv(shape, _TAIL / size))
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
