"""How probable rankings are under Plackett-Luce: of tied blocks by quadrature, with gradients, and of whole rankings.

    Pr(block first | block and the rest remain) = int_0^inf W e^(-W t) prod_k (1 - e^(-worth_k t)) dt,

W the worth of everything ranked later or not at all. The paper's recursion (its theorem in B.4.3) takes 2^|block|
terms; the tests compare with it.
"""

from typing import Any

import numpy as np

from bayesagree._types import Array, Floats, Integers, Pair

# Numbers that one quadrature holds at once; log of terms that are lost in the rounding of the sum.
AT_ONCE, NEGLIGIBLE = 2_000_000, 34.0


def block_log_probability(log_worth: Floats, log_rest: Floats) -> Pair:
    """Return log Pr(block first) of blocks of one size, and d/d log worth; d/d log W is minus their sum.

    The trapezoidal rule in y = log(W t): the integrand is analytic, so that a step below the width of its peak and of
    its left edge leaves 11 digits.

    Parameters
    ----------
    log_worth, log_rest
        Of the members, shape (block, member), and of W, shape (block,); of W = 0 the probability is 1.
    """
    n, size = log_worth.shape
    if size == 1:
        log_chance = -np.logaddexp(0.0, log_rest - log_worth[:, 0])
        return log_chance, -np.expm1(log_chance)[:, None]
    step = min(0.25, 0.6 / np.sqrt(1 + size), 0.75 / np.log1p(size))
    y = np.arange(-NEGLIGIBLE, np.log1p(size) + 2.7, step)
    value, slopes = np.zeros(n), np.zeros((n, size))
    some = np.flatnonzero(log_rest > -np.inf)
    for part in np.array_split(some, max(1, some.size * size * y.size // AT_ONCE)):
        log_z = (log_worth[part] - log_rest[part, None])[:, :, None] + y
        z = np.exp(np.minimum(log_z, 700.0))
        chance = -np.expm1(-z)
        height = y - np.exp(y) + np.where(z < 1e-10, log_z, np.log(np.maximum(chance, 1e-300))).sum(axis=1)
        top = height.max(axis=1)
        weight = np.exp(height - top[:, None])
        total = weight.sum(axis=1)
        value[part] = top + np.log(total * step)
        slope = np.where(z < 1e-10, 1.0, z * np.exp(-z) / np.maximum(chance, 1e-300))
        slopes[part] = (slope * weight[:, None]).sum(axis=2) / total[:, None]
    return value, slopes


def rankings_log_probability(log_worth: Floats, ranks: Array) -> Pair:
    """Return log probability and gradient of each ranking, from log worths and ranks of shape (ranking, label).

    Equal ranks tie; the labels of the largest rank are those that remain. A log worth of -inf keeps a label out.
    """
    value, gradient = np.zeros(len(ranks)), np.zeros(log_worth.shape)
    last = ranks.max(axis=1, keepdims=True, initial=0)
    for level in np.unique(ranks)[:-1]:
        member = (ranks == level) & (ranks < last)
        later = np.where(ranks > level, log_worth, -np.inf)
        top = np.maximum(later.max(axis=1, keepdims=True), np.finfo(float).min)
        with np.errstate(divide="ignore"):
            log_rest = top[:, 0] + np.log(np.exp(later - top).sum(axis=1))
        size = member.sum(axis=1)
        for n in np.unique(size[size > 0]):
            rows = np.flatnonzero((size == n) & (log_rest > -np.inf))
            column = np.nonzero(member[rows])[1].reshape(-1, n)
            found, slopes = block_log_probability(log_worth[rows[:, None], column], log_rest[rows])
            value[rows] += found
            gradient[rows[:, None], column] += slopes
            share = np.exp(later[rows] - log_rest[rows, None])
            gradient[rows] -= slopes.sum(axis=1, keepdims=True) * share
    return value, gradient


def padded(values: Array, start: Integers, fill: Any) -> Array:
    """Return ragged rows, row r in ``values[..., start[r]:start[r + 1]]``, as a matrix (..., row, place)."""
    size = np.diff(start)
    here = np.arange(size.max(initial=0)) < size[:, None]
    table = np.empty((*values.shape[:-1], *here.shape), values.dtype)
    table[:] = fill
    table[..., here] = values
    return table
