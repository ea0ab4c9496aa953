"""Which entry of a Dirichlet vector is the largest: exact probabilities by one-dimensional quadrature.

A Dirichlet vector is a vector of independent Gamma(alpha_k, 1) variables, normalised, so

    Pr(argmax = k) = int f_k(x) prod_{j != k} F_j(x) dx,

integrated in u = log x by composite Gauss-Legendre. Labels of equal shape share one factor F^m. Left of x = 1e-18 every
F_k is x^alpha_k / Gamma(alpha_k + 1) to machine precision, and the rest of the integral is closed.
"""

import numpy as np
import scipy as sp

from bayesagree._types import Floats
from bayesagree.inference.multisets import words

_PANELS, _ORDER = 14, 20
_LEFT_END, _TAIL, _CHUNK = -41.5, 1e-18, 2_000_000


def argmax_probabilities(concentration: Floats) -> Floats:
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
    shapes = np.ascontiguousarray(concentration, dtype=np.float64)
    key = words(shapes.view(np.int64)).sum(axis=1)
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    patterns = np.sort(shapes[first], axis=1)
    step = max(1, _CHUNK // (shapes.shape[1] * _PANELS * _ORDER))
    parts = [_of_patterns(patterns[at : at + step]) for at in range(0, len(patterns), step)]
    probability = np.empty_like(shapes)
    if parts:
        np.put_along_axis(probability, np.argsort(shapes, axis=1), np.concatenate(parts)[number], axis=1)
    return probability


def _of_patterns(patterns: Floats) -> Floats:
    """Return probabilities for rows of ascending shapes; `size` labels of one `shape` share a factor."""
    new = np.diff(patterns, axis=1, prepend=-1.0) > 0
    shape, size, row = patterns[new], np.diff(np.flatnonzero(new), append=new.size), np.nonzero(new)[0]
    start = np.flatnonzero(np.diff(row, prepend=-1))
    # Between these values of log x the largest variable of each row lies, but for 1e-17.
    with np.errstate(divide="ignore"):
        left = np.log(sp.special.gammaincinv(shape, np.exp(np.log(_TAIL) / size)))
        right = np.log(sp.special.gammainccinv(shape, _TAIL / size))
    left = np.maximum(np.maximum.reduceat(left, start), _LEFT_END)
    right = np.maximum(np.maximum.reduceat(right, start), _LEFT_END + 1)
    nodes, weights = sp.special.roots_legendre(_ORDER)
    half = (right - left)[:, None] / (2 * _PANELS)
    centre = left[:, None] + half * (2 * np.arange(_PANELS).repeat(_ORDER) + 1)
    u, du = (centre + half * np.tile(nodes, _PANELS))[row], (half * np.tile(weights, _PANELS))[row]
    log_cdf, log_power = _logs(shape[:, None], u)
    log_others = np.add.reduceat(size[:, None] * log_cdf, start)[row] - log_cdf
    found = shape * (np.exp(log_others + log_power) * du).sum(axis=1)
    at_left = np.exp(np.add.reduceat(size * _logs(shape, left[row])[0], start))
    found += shape * (at_left / np.add.reduceat(size * shape, start))[row]
    return np.repeat(found, size).reshape(patterns.shape)


def _logs(shape: Floats, u: Floats) -> tuple[Floats, Floats]:
    """Return log F and log x^shape e^-x / Gamma(shape + 1) at log x; shape times the second is the density of log x.

    The second is written around the mode, so that shapes of 1e9 lose no digits (Stirling's series from 100 on).
    """
    v = u - np.log(shape)
    big = np.maximum(shape, 1)
    series = -0.5 * np.log(2 * np.pi * big) - 1 / (12 * big) + 1 / (360 * big**3)
    at_mode = shape * np.log(shape) - shape - sp.special.gammaln(shape + 1)
    power = np.where(shape > 100, series, at_mode) - shape * (np.expm1(v) - v)
    cdf = sp.special.gammainc(shape, np.exp(u))
    return np.where(cdf > 1e-290, np.log(np.maximum(cdf, 1e-290)), power), power
