"""Compiled Gibbs steps of two labels whose items with equal votes are counted; see `_patterns`.

Given confusion, prevalence and alpha, items are independent, and those of a pattern alike. How many of an item's n
annotations have latent label 1 is drawn first, for all items of the pattern at once: a multinomial. Which ones they
are is drawn from the first annotation to the last, by chances that are sums over the later annotations: for all items
with equally many at once by binomials, or item by item where a pattern has few.
"""

import math

import numba
import numpy as np

from bayesagree._numerics.gamma import log_gamma_draw
from bayesagree.plausibility.dawid_skene._gibbs_kernels import NOTHING, draw_prevalence, draw_rows
from bayesagree.plausibility.dawid_skene._mixed_membership_kernels import draw_ambiguity, draw_tables_of_items
from bayesagree.plausibility.dawid_skene._population_kernels import FEW, draw_population, rename_labels


@numba.njit(cache=True, nogil=True)
def sweep_patterns(
    rng, times, cells, rows, pair, number, prevalence_shape, log_mean, log_sd, sizes_above, alpha, prevalence,
    confusion, weights, above, chance,
):  # fmt: skip
    """Draw hyperparameters, names, alpha, prevalence, confusion and latent labels in turn, so many times; return alpha.

    An alpha of 0 stays: all latent labels of an item are then equal.
    """
    names = np.empty(2, np.int64)
    for _ in range(times):
        if rows.learnt:
            draw_population(rng, cells, rows, weights)
        names[0], names[1] = 0, 1
        if rename_labels(rng, cells, rows, weights, prevalence, names):
            _swap(pair, weights, above)
        tables = above[:, 0].copy()
        if alpha > 0.0:
            alpha = draw_ambiguity(rng, alpha, prevalence, above, sizes_above, log_mean, log_sd)
            tables = draw_tables_of_items(rng, alpha, prevalence, above)
        draw_prevalence(rng, prevalence_shape, tables, prevalence)
        draw_rows(rng, cells, weights, rows, confusion)
        draw_patterns(rng, cells.item_start, pair, number, alpha, prevalence, confusion, weights, above, chance)
    return alpha


@numba.njit(cache=True, nogil=True)
def _swap(pair, weights, above):
    """Give both latent labels the counts of the other; a pair of cells belongs to many annotations."""
    moved, counts = weights.copy(), above.copy()
    for t in range(pair.shape[0]):
        weights[pair[t, 0]], weights[pair[t, 1]] = moved[pair[t, 1]], moved[pair[t, 0]]
    above[0], above[1] = counts[1], counts[0]


@numba.njit(cache=True, nogil=True, inline="always")
def _binomial(rng, n, chance):
    """Draw Binomial(n, chance); most patterns have few items."""
    if n > FEW:
        return rng.binomial(n, chance)
    found = 0
    for _ in range(n):
        found += rng.random() < chance
    return found


@numba.njit(cache=True, nogil=True)
def draw_patterns(rng, start, pair, number, alpha, prevalence, confusion, weights, above, chance):
    """Draw the latent labels of all items, and leave the chance of each number of labels 1 in `chance`."""
    most = chance.shape[1]
    later, state, ones = np.zeros((most, most)), np.zeros(most, np.int64), np.zeros(most, np.int64)
    numbers = np.zeros((2, most))  # items by how many labels 0, and 1, they have
    share, odds = np.full(confusion.size, -1.0), np.empty(confusion.size)
    for t in range(pair.shape[0]):
        if share[pair[t, 1]] < 0.0:  # a pair of cells belongs to many annotations
            zero, one = max(confusion[pair[t, 0]], NOTHING), max(confusion[pair[t, 1]], NOTHING)
            share[pair[t, 1]], odds[pair[t, 1]] = one / (zero + one), math.log(one) - math.log(zero)
    weights[:] = 0.0
    for p in range(number.size):
        n, own = start[p + 1] - start[p], pair[start[p] : start[p + 1]]
        if alpha > 0.0:
            later[n, 0] = 1.0  # probability of r labels 1 from annotation t on, up to what the labels share
            for t in range(n - 1, -1, -1):
                one = share[own[t, 1]]
                zero, now, after = 1.0 - one, later[t], later[t + 1]
                now[0] = after[0] * zero
                for r in range(1, n - t):
                    now[r] = after[r] * zero + after[r - 1] * one
                now[n - t] = after[n - t - 1] * one
            _chances(alpha, prevalence, n, later[0], chance[p])
        else:
            log_odds = math.log(prevalence[1]) - math.log(prevalence[0])
            for t in range(n):
                log_odds += odds[own[t, 1]]
            chance[p, : n + 1] = 0.0
            chance[p, n] = 1.0 / (1.0 + math.exp(-min(max(log_odds, -700.0), 700.0)))
            chance[p, 0] = 1.0 - chance[p, n] if n > 0 else 1.0
        left, rest, many = number[p], 1.0, False
        ones[:n] = 0
        for place in range(n + 1):
            m = (place + n) % (n + 1)  # n, which most items have, or 0
            c = chance[p, m]
            here = left if place == n or c >= rest else _binomial(rng, left, c / rest)
            if here > 0:
                numbers[0, n - m] += here
                numbers[1, m] += here
                if m == n:
                    ones[:n] += here
                elif m > 0 and number[p] > FEW:
                    state[m], many = here, True
                elif m > 0:
                    for _ in range(here):
                        _divide_one(rng, m, own, share, later, ones)
            left, rest = left - here, rest - c
            if left == 0:
                break
        if many:
            _divide(rng, own, share, later, state, ones)
        for t in range(n):
            weights[own[t, 1]] += ones[t]
            weights[own[t, 0]] += number[p] - ones[t]
    for r in range(most - 1):
        above[0, r], above[1, r] = numbers[0, r + 1 :].sum(), numbers[1, r + 1 :].sum()


@numba.njit(cache=True, nogil=True)
def _divide_one(rng, m, own, share, later, ones):
    """Draw which annotations of an item have its m latent labels 1, and count them."""
    n, t = own.shape[0], 0
    while 0 < m < n - t:
        left, skipped = rng.random() * later[t, m], 1.0
        while m < n - t:  # else the rest are all 1
            one = share[own[t, 1]]
            left -= skipped * one * later[t + 1, m - 1]
            skipped *= 1.0 - one
            t += 1
            if left < 0.0:
                ones[t - 1] += 1
                m -= 1
                break
    if m > 0:
        ones[t:n] += 1


@numba.njit(cache=True, nogil=True)
def _divide(rng, own, share, later, state, ones):
    """Draw the same for `state[m]` items each, at once; empty `state`."""
    n = own.shape[0]
    for t in range(n):
        for r in range(1, n - t + 1):
            if state[r] > 0:
                moved = state[r]
                if r < n - t:
                    moved = _binomial(rng, moved, min(1.0, share[own[t, 1]] * later[t + 1, r - 1] / later[t, r]))
                ones[t] += moved
                state[r] -= moved
                state[r - 1] += moved
    state[0] = 0


@numba.njit(cache=True, nogil=True)
def _chances(alpha, prevalence, n, likelihood, chance):
    """Write the chance of m = 0..n latent labels 1: their likelihood times the Dirichlet-multinomial of one order."""
    zero, one = alpha * max(prevalence[0], NOTHING), alpha * max(prevalence[1], NOTHING)
    prior, total = 1.0, 0.0
    for r in range(n):
        prior *= (zero + r) / (alpha + r)
    for m in range(n + 1):
        chance[m] = likelihood[m] * prior
        total += chance[m]
        if m < n:
            prior *= (one + m) / (zero + (n - m - 1))
    for m in range(n + 1):
        chance[m] /= total


@numba.njit(cache=True, nogil=True)
def write_best(rng, of_item, best, out):
    """Draw the best label of each item, shape (item, rank), by the chance of label 1 in its pattern."""
    for i in range(of_item.size):
        one = rng.random() < best[of_item[i]]
        for rank in range(out.shape[1]):
            out[i, rank] = one == (rank == 0)


@numba.njit(cache=True, nogil=True)
def write_truth(rng, of_item, best, rest, out):
    """Draw the plausibilities that stand for one true label, of which the chance of label 1 keeps a small `rest`."""
    for i in range(of_item.size):
        chance = best[of_item[i]]
        out[i, 1] = rest * chance + (1.0 - rest) * (rng.random() < chance)
        out[i, 0] = 1.0 - out[i, 1]


@numba.njit(cache=True, nogil=True)
def write_shares(rng, of_item, start, zero, one, chance, out):
    """Draw each item's number m of latent labels 1, then its plausibilities ~ Dirichlet(zero + n - m, one + m)."""
    for i in range(of_item.size):
        p = of_item[i]
        n, m, left = start[p + 1] - start[p], 0, rng.random() - chance[p, 0]
        while m < n and left >= 0.0:
            m += 1
            left -= chance[p, m]
        odds = log_gamma_draw(rng, one + m) - log_gamma_draw(rng, zero + (n - m))
        out[i, 1] = 1.0 / (1.0 + math.exp(-odds)) if odds > -700.0 else 0.0
        out[i, 0] = 1.0 - out[i, 1] if odds < 30.0 else math.exp(-min(odds, 700.0))
