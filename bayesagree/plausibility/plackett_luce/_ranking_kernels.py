"""Probability of a tied block under Plackett-Luce by quadrature, with its gradient, and of whole rankings.

    Pr(block first | block and the rest remain) = int_0^inf W e^(-W t) prod_k (1 - e^(-worth_k t)) dt,

W the worth of everything ranked later or not at all. The paper's recursion (its theorem in B.4.3) takes 2^|block|
terms; the tests compare with it.
"""

import math

import numba
import numpy as np

from bayesagree.inference.vectors import copy_to
from bayesagree.plausibility.plackett_luce._tied_blocks import log_height, near_mode

# Terms below e^-40 of the largest are lost in the rounding of the sum.
NEGLIGIBLE = -40.0


@numba.njit(cache=True, nogil=True)
def log_add(a, b):
    """Return log(e^a + e^b)."""
    high = max(a, b)
    if high == -math.inf:
        return high
    return high + math.log(math.exp(a - high) + math.exp(b - high))


@numba.njit(cache=True, nogil=True)
def block_log_probability(log_worth, log_remaining, gradient):
    """Return log Pr(block first); adds d/d log worth_k to `gradient[k]` and d/d log W to `gradient[size]`.

    The trapezoidal rule in y = log(W t), from the mode outwards until the terms vanish: the integrand is analytic, so
    that a step below the width of its peak (1 / sqrt(curvature)) and of its left edge (1 / log |block|) leaves
    11 digits.
    """
    size = log_worth.size
    if log_remaining == -math.inf:
        return 0.0
    if size == 1:
        log_total = log_add(log_worth[0], log_remaining)
        chance = math.exp(log_worth[0] - log_total)
        gradient[0] += 1.0 - chance
        gradient[1] -= 1.0 - chance
        return log_worth[0] - log_total
    log_ratio = log_worth - log_remaining
    mode, curvature = near_mode(log_ratio)
    top = log_height(log_ratio, mode)
    step = min(0.25, 0.6 / math.sqrt(-curvature), 0.75 / math.log1p(size))
    total, slopes = 0.0, np.zeros(size)
    for direction in (-1, 1):
        i = 0 if direction == 1 else 1
        while True:
            y = mode + direction * i * step
            i += 1
            height = log_height(log_ratio, y) - top
            if height < NEGLIGIBLE:
                break
            weight = math.exp(height)
            total += weight
            for k in range(size):
                z = math.exp(min(log_ratio[k] + y, 700.0))
                slopes[k] += weight * (1.0 if z < 1e-10 else z / math.expm1(z))
    for k in range(size):
        gradient[k] += slopes[k] / total
        gradient[size] -= slopes[k] / total
    return top + math.log(total * step)


@numba.njit(cache=True, nogil=True)
def ranking_log_probability(log_worth, blocks, entry_start, entry, gradient):
    """Return the log probability of one ranking; adds its gradient with respect to `log_worth`.

    Labels that the ranking does not name form its last, unordered block; a log worth of -inf keeps a label out.
    """
    n = log_worth.size
    first, last = blocks
    named = np.zeros(n, np.bool_)
    for e in range(entry_start[first], entry_start[last]):
        named[entry[e]] = True
    log_remaining = np.empty(last - first)
    rest = -math.inf
    for k in range(n):
        if not named[k]:
            rest = log_add(rest, log_worth[k])
    for b in range(last - 1, first - 1, -1):
        log_remaining[b - first] = rest
        for e in range(entry_start[b], entry_start[b + 1]):
            rest = log_add(rest, log_worth[entry[e]])
    value = 0.0
    # Log of how much one unit of worth, still unplaced, has cost so far: sum over blocks of -(d value / d log W) / W.
    log_cost = -math.inf
    for b in range(first, last):
        members = entry[entry_start[b] : entry_start[b + 1]]
        local = np.zeros(members.size + 1)
        value += block_log_probability(log_worth[members], log_remaining[b - first], local)
        for j in range(members.size):
            k = members[j]
            gradient[k] += local[j] - math.exp(log_cost + log_worth[k])
        if local[members.size] < 0.0:
            log_cost = log_add(log_cost, math.log(-local[members.size]) - log_remaining[b - first])
    for k in range(n):
        if not named[k]:
            gradient[k] -= math.exp(log_cost + log_worth[k])
    return value


@numba.njit(cache=True, nogil=True)
def races_log_probability(named, rest, start, block, out):
    """Fill `out`, shape (sample, ranking), with log probabilities of rankings.

    Ranking r is about the worths ``named[:, start[r]:start[r + 1]]``, in the blocks of the same entries, and ``rest``,
    shape (sample, ranking), the worth of all labels that it does not name.
    """
    for r in range(start.size - 1):
        first, size = start[r], start[r + 1] - start[r]
        blocks = block[first : first + size]
        edges = np.append(np.searchsorted(blocks, np.arange(blocks[-1] + 1)), size)
        entry, gradient, log_worth = np.arange(size), np.empty(size + 1), np.empty(size + 1)
        for s in range(named.shape[0]):
            copy_to(log_worth[:size], np.log(named[s, first : first + size]))
            log_worth[size] = np.log(rest[s, r])
            out[s, r] = ranking_log_probability(log_worth, (0, edges.size - 1), edges, entry, gradient)
