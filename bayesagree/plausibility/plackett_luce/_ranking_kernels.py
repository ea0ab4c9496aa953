"""Probability of a tied block under Plackett-Luce, by quadrature (any block, with gradient) and by recursion.

    Pr(block first | block and the rest remain) = int_0^inf W e^(-W t) prod_k (1 - e^(-worth_k t)) dt
                                                = F(block), F({}) = 1,
                                                  F(S) = sum_k F(S - k) worth_k / (W + L(block) - L(S - k)),

W the worth of everything ranked later or not at all, L(.) the worth of a set of labels.
"""

import math

import numba
import numpy as np

from bayesagree._numerics.vectors import copy_to
from bayesagree.plausibility.plackett_luce._tied_blocks import log_height, near_mode

NEGLIGIBLE = -40.0
"""Terms below e^-40 of the largest are lost in the rounding of the sum."""


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
        high = max(log_worth[0], log_remaining)
        log_total = high + math.log(math.exp(log_worth[0] - high) + math.exp(log_remaining - high))
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
def block_log_probability_recursive(log_worth, log_remaining):
    """Return log Pr(block first) by the paper's recursion over subsets (its theorem in B.4.3): 2^|block| terms."""
    size = log_worth.size
    if log_remaining == -math.inf:
        return 0.0
    high = max(log_remaining, log_worth.max())
    worth, remaining = np.exp(log_worth - high), math.exp(log_remaining - high)
    set_worth, value = np.zeros(2**size), np.zeros(2**size)
    value[0] = 1.0
    everything = 2**size - 1
    for subset in range(1, 2**size):
        for k in range(size):
            if subset >> k & 1:
                set_worth[subset] = set_worth[subset ^ (1 << k)] + worth[k]
    for subset in range(1, 2**size):
        for k in range(size):
            if subset >> k & 1:
                before = subset ^ (1 << k)
                value[subset] += value[before] * worth[k] / (remaining + set_worth[everything ^ before])
    return math.log(value[everything])


@numba.njit(cache=True, nogil=True)
def log_add(a, b):
    """Return log(e^a + e^b)."""
    high = max(a, b)
    if high == -math.inf:
        return high
    return high + math.log(math.exp(a - high) + math.exp(b - high))


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
def item_log_probability(log_worth, cases, item, gradient):
    """Return the log probability of all rankings of an item; adds its gradient with respect to `log_worth`."""
    value = 0.0
    local = np.empty(log_worth.size)
    competing = log_worth.copy()
    entry_start, entry = cases.entry_start, cases.entry
    for r in range(cases.ranking_start[item], cases.ranking_start[item + 1]):
        local[:] = 0.0
        blocks = (cases.block_start[r], cases.block_start[r + 1])
        if cases.offered.size > 0:
            competing[:] = -math.inf
            for k in cases.offered[cases.offered_start[r] : cases.offered_start[r + 1]]:
                competing[k] = log_worth[k]
        value += cases.multiplicity[r] * ranking_log_probability(competing, blocks, entry_start, entry, local)
        gradient += cases.multiplicity[r] * local
    return value


@numba.njit(cache=True, nogil=True)
def rankings_given_plausibility(plausibility, item, start, label, block, offered_start, offered, recursive, out):
    """Fill `out`, shape (sample, ranking), with log probabilities; `plausibility` has shape (sample, item, label).

    The last label of a ranking's own race stands for all that were on offer and that it does not name; an empty
    `offered` means that all labels were.
    """
    gradient = np.zeros(plausibility.shape[2] + 1)
    for r in range(item.size):
        members, blocks = label[start[r] : start[r + 1]], block[start[r] : start[r + 1]]
        entry_start = np.append(np.searchsorted(blocks, np.arange(blocks[-1] + 1)), members.size)
        entry = np.arange(members.size)
        worth = np.empty(members.size + 1)
        for s in range(plausibility.shape[0]):
            rest = plausibility[s, item[r]].copy()
            copy_to(worth[:-1], rest[members])
            rest[members] = 0.0
            if offered.size > 0:
                worth[-1] = rest[offered[offered_start[r] : offered_start[r + 1]]].sum()
            else:
                worth[-1] = rest.sum()
            log_worth = np.log(worth)
            if recursive:
                value, later = 0.0, log_worth[-1]
                for b in range(entry_start.size - 2, -1, -1):
                    members_worth = log_worth[entry_start[b] : entry_start[b + 1]]
                    value += block_log_probability_recursive(members_worth, later)
                    for log_one in members_worth:
                        later = log_add(later, log_one)
                out[s, r] = value
            else:
                blocks_of = (0, entry_start.size - 1)
                out[s, r] = ranking_log_probability(log_worth, blocks_of, entry_start, entry, gradient)
