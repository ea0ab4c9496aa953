"""Compiled steps of the Gibbs sampler of `group_dirichlet`, and draws of plausibilities given its states.

Votes are dense counts (group, item, category). `shapes` a_ik of the common distribution are exp(log_shape_k) base_ik,
with one row of `base` for all items, or a row of predictions for each; draws take sets of such rows (set, item,
category), of which equal shares of the states have one each. `leaning` (group, category + 1) are r_g b_gk and
1 - r_g.
"""

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.draws import normalise_logs, slice_step
from bayesagree._numerics.gamma import gamma_constants, gamma_draw, log_gamma_draw, log_rising

# Ends of all logarithms: beyond exp(9.5) votes nothing changes, below exp(-12) draws are points.
LOWEST, HIGHEST = -12.0, 9.5
TINY = 1e-300
# Products are logged before they overflow.
LARGE = 1e200
# A gamma variable of this shape underflows with probability 1e-30.
SMALL_SHAPE = 0.1


@numba.njit(cache=True, nogil=True)
def _draw_dirichlets(rng, shape, out):
    """Draw Dirichlet distributions of one shape, (draw, category); from logarithms where all gammas may underflow."""
    n_labels = shape.size
    if shape.max() < SMALL_SHAPE:
        for s in range(len(out)):
            for k in range(n_labels):
                out[s, k] = log_gamma_draw(rng, max(shape[k], TINY))
            normalise_logs(out[s])
        return
    for k in range(n_labels):
        small = shape[k] < 1.0
        d, c = gamma_constants(shape[k] + 1.0 if small else shape[k])
        power = 1.0 / max(shape[k], TINY) if small else 0.0
        for s in range(len(out)):
            out[s, k] = gamma_draw(rng, d, c)
            if small:
                out[s, k] *= math.exp(-rng.standard_exponential() * power)
    for s in range(len(out)):
        whole = 0.0
        for k in range(n_labels):
            whole += out[s, k]
        for k in range(n_labels):
            out[s, k] /= whole


@numba.njit(cache=True, nogil=True)
def draw_common(rng, counts, log_shape, base, out):
    """Draw the common distributions (item, sample, category) of states with counts (state, item, category).

    As many consecutive samples belong to a state as there are more samples than states.
    """
    n_items, n_samples, n_labels = out.shape
    shared, shape, shapes = n_samples // len(counts), np.empty(n_labels), np.exp(log_shape)
    for i in range(n_items):
        for state in range(len(counts)):
            row = base[state * len(base) // len(counts), min(i, base.shape[1] - 1)]
            for k in range(n_labels):
                shape[k] = shapes[state, k] * row[k] + counts[state, i, k]
            drawn = out[i, state * shared : (state + 1) * shared]
            _draw_dirichlets(rng, shape, drawn)
            for s in range(shared):
                for k in range(n_labels):
                    drawn[s, k] = max(drawn[s, k], TINY)


@numba.njit(cache=True, nogil=True)
def _similarity_density(x, mean, number, n_cells, more_than, centre, sd):
    """Log posterior of log s: votes of each (item, label) against s m, those of each item against s.

    rising(s m, n) / (s m)^n = prod (1 + r / (s m)) has no logarithms of gamma functions, which would cancel.
    """
    if x < LOWEST or x > HIGHEST:
        return -math.inf
    s = math.exp(x)
    total, product = -0.5 * ((x - centre) / sd) ** 2, 1.0
    for e in range(n_cells):
        inverse = 1.0 / (s * mean[e])
        for r in range(1, number[e]):
            product *= 1.0 + r * inverse
            if product > LARGE:
                total += math.log(product)
                product = 1.0
    total += math.log(product)
    for r in range(1, more_than.size):
        if more_than[r] == 0:
            break
        total -= more_than[r] * math.log1p(r / s)
    return total


@numba.njit(cache=True, nogil=True)
def draw_similarity(rng, votes, common, leaning, log_similarity, centre, sd):
    """Draw log s_g of every group, the distributions of the groups integrated out."""
    n_groups, n_items, n_labels = votes.shape
    mean, number = np.empty(n_items * n_labels), np.empty(n_items * n_labels, np.int64)
    for g in range(n_groups):
        more_than, n_cells = np.zeros(votes[g].sum(axis=1).max() + 1, np.int64), 0
        for i in range(n_items):
            size = 0
            for k in range(n_labels):
                n = votes[g, i, k]
                size += n
                if n > 1:
                    mean[n_cells], number[n_cells] = leaning[g, -1] * common[i, k] + leaning[g, k], n
                    n_cells += 1
            for r in range(size):
                more_than[r] += 1
        given = (mean, number, n_cells, more_than, centre, sd)
        log_similarity[g] = slice_step(rng, _similarity_density, log_similarity[g], 1.0, given)


@numba.njit(cache=True, nogil=True)
def _typical(rng, shape, own, chance, out):
    """Draw a typical label of a view with counts `own`, weighted by `chance`, and count it in `out`."""
    total = 0.0
    for k in range(shape.size):
        total += (shape[k] + own[k]) * chance[k]
    left, label = rng.random() * total, -1
    while left >= 0.0 and label < shape.size - 1:
        label += 1
        left -= (shape[label] + own[label]) * chance[label]
    out[label] += 1
    return label


@numba.njit(cache=True, nogil=True)
def draw_divided(rng, votes, log_shape, base, share, views, pooled, rows, row_item, divisions):
    """Draw which groups see each item their own way; return the number of rows of counts, with one Dirichlet each.

    `views` (item, 1 + group) holds typical labels, that of the common view first, -1 for groups that share it;
    `pooled` (item, category) the votes of those, `divisions` (category) how many own views are apart from a common
    one of that label. A group of share 0 is always with the others.
    """
    n_groups, n_items, n_labels = votes.shape
    shape, both, chance = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
    rarer, n_rows = np.empty((n_groups, n_labels)), 0
    divisions[:] = 0
    for i in range(n_items):
        row = base[min(i, base.shape[0] - 1)]
        whole = 0.0
        pooled[i], both[:] = 0, 1.0
        for k in range(n_labels):
            shape[k] = math.exp(log_shape[k]) * row[k]
            whole += shape[k]
        for g in range(n_groups):
            size = votes[g, i].sum()
            for k in range(n_labels):
                # Chance that a typical label of the own view is not k, over that before any vote.
                other = max(whole - shape[k], TINY)
                rarer[g, k] = (other + size - votes[g, i, k]) / other * whole / (whole + size)
                if views[i, 1 + g] < 0:
                    pooled[i, k] += votes[g, i, k]
                else:
                    both[k] *= rarer[g, k]
        for g in range(n_groups):
            if share[g] == 0.0:
                continue
            log_odds, size, others, yes, no = math.log(share[g]) - math.log1p(-share[g]), 0, 0, 0.0, 0.0
            for k in range(n_labels):
                n = votes[g, i, k]
                size += n
                if views[i, 1 + g] < 0:
                    pooled[i, k] -= n
                else:
                    both[k] /= rarer[g, k]
                others += pooled[i, k]
                yes += both[k] * rarer[g, k] * (shape[k] + pooled[i, k])
                no += both[k] * (shape[k] + pooled[i, k] + n)
                if n > 0 and pooled[i, k] > 0:
                    log_odds += log_rising(shape[k], n) - log_rising(shape[k] + pooled[i, k], n)
            log_odds += log_rising(whole + others, size) - log_rising(whole, size)
            log_odds += math.log(yes / (whole + others)) - math.log(no / (whole + others + size))
            apart = rng.random() * (1.0 + math.exp(-log_odds)) < 1.0
            views[i, 1 + g] = 0 if apart else -1
            for k in range(n_labels):
                if apart:
                    both[k] *= rarer[g, k]
                else:
                    pooled[i, k] += votes[g, i, k]
        n_apart = (views[i, 1:] >= 0).sum()
        views[i, 0] = -1
        if n_apart > 0:
            views[i, 0] = common = _typical(rng, shape, pooled[i], both, pooled[i])
            divisions[common] += n_apart
            chance[:] = 1.0
            chance[common] = 0.0
            for g in range(n_groups):
                if views[i, 1 + g] >= 0:
                    rows[n_rows], row_item[n_rows] = votes[g, i], i
                    views[i, 1 + g] = _typical(rng, shape, votes[g, i], chance, rows[n_rows])
                    n_rows += 1
        rows[n_rows], row_item[n_rows] = pooled[i], i
        n_rows += 1
    return n_rows


@numba.njit(cache=True, nogil=True)
def _shape_density(x, k, log_shape, more_than, total, divisions, centre, sd):
    """Log posterior of the logarithm of one shape, or of all of them moved by x for k = -1."""
    value, whole = 0.0, 0.0
    for j in range(log_shape.size):
        now = log_shape[j] + x if k < 0 else (x if k == j else log_shape[j])
        if now < LOWEST or now > HIGHEST:
            return -math.inf
        a = math.exp(now)
        whole += a
        if k < 0 or k == j:
            value -= 0.5 * ((now - centre[j]) / sd) ** 2
            for r in range(more_than.shape[1]):
                if more_than[j, r] == 0:
                    break
                value += more_than[j, r] * math.log(a + r)
    for r in range(total.size):
        if total[r] == 0:
            break
        value -= total[r] * math.log(whole + r)
    for j in range(divisions.size if k >= 0 else 0):
        if divisions[j] > 0:
            a = math.exp(x if k == j else log_shape[j])
            value -= divisions[j] * math.log(max(1.0 - a / whole, TINY))
    return value


@numba.njit(cache=True, nogil=True)
def draw_shapes(rng, rows, n_rows, log_shape, divisions, centre, sd):
    """Draw the logarithms of the shapes of a Dirichlet distribution, given rows of counts with one draw each.

    Each of the `divisions` (category) adds a label that is another than this one.
    """
    n_labels, most = rows.shape[1], rows[:n_rows].sum(axis=1).max()
    more_than, total = np.zeros((n_labels, most + 1), np.int64), np.zeros(most + 1, np.int64)
    for i in range(n_rows):
        size = 0
        for k in range(n_labels):
            for r in range(rows[i, k]):
                more_than[k, r] += 1
            size += rows[i, k]
        for r in range(size):
            total[r] += 1
    for k in range(n_labels):
        given = (k, log_shape, more_than, total, divisions, centre, sd)
        log_shape[k] = slice_step(rng, _shape_density, log_shape[k], 0.5, given)
    log_shape += slice_step(rng, _shape_density, 0.0, 0.3, (-1, log_shape, more_than, total, divisions, centre, sd))


@numba.njit(cache=True, nogil=True)
def _worth_density(x, rows, row_item, n_rows, base, centre, sd):
    """Log posterior of log c, where the shapes of an item are c base_i."""
    if x < LOWEST or x > HIGHEST:
        return -math.inf
    c = math.exp(x)
    value = -0.5 * ((x - centre) / sd) ** 2
    for e in range(n_rows):
        size = 0
        for k in range(rows.shape[1]):
            if rows[e, k] > 0:
                size += rows[e, k]
                value += log_rising(c * base[row_item[e], k], rows[e, k])
        value -= log_rising(c, size)
    return value


@numba.njit(cache=True, nogil=True)
def draw_worth(rng, rows, row_item, n_rows, base, log_shape, centre, sd):
    """Draw how many votes the predictions are worth."""
    log_shape[:] = slice_step(rng, _worth_density, log_shape[0], 0.5, (rows, row_item, n_rows, base, centre, sd))


@numba.njit(cache=True, nogil=True)
def draw_group(rng, votes, common, leaning, log_similarity, view, log_shape, base, out):
    """Draw one group's plausibilities (item, sample, category): around the common ones, or apart from them.

    `votes` (state, item, category), of one state where they are the same in all; `leaning` (state, category + 1) and
    `log_similarity` (state,) of the graded form, whose `common` has a draw per state, `view` (state, item) the typical
    label of an own view of the divided one, the others empty.
    """
    n_items, n_samples, n_labels = out.shape
    shared, shape, shapes = n_samples // len(log_shape), np.empty(n_labels), np.exp(log_shape)
    for i in range(n_items):
        for state in range(len(log_shape)):
            row = base[state * len(base) // len(log_shape), min(i, base.shape[1] - 1)]
            first, own = state * shared, votes[min(state, len(votes) - 1), i]
            if view.size > 0 and view[state, i] < 0:
                out[i, first : first + shared] = common[i, first : first + shared]
                continue
            s = math.exp(log_similarity[state]) if view.size == 0 else 0.0
            for k in range(n_labels):
                if view.size > 0:
                    shape[k] = shapes[state, k] * row[k] + (view[state, i] == k) + own[k]
                else:
                    shape[k] = s * (leaning[state, -1] * common[i, state, k] + leaning[state, k]) + own[k]
            _draw_dirichlets(rng, shape, out[i, first : first + shared])


@numba.njit(cache=True, nogil=True)
def count_different(plausibility: NDArray[np.float64], by_item: NDArray[Any], by_sample: NDArray[Any]) -> None:
    """Count, by item and by sample, where a group's best label is not one of the best of the mean of all others.

    Plausibilities (group, item, sample, category).
    """
    n_groups, n_items, n_samples, n_labels = plausibility.shape
    whole = np.empty(n_labels)
    for i in range(n_items):
        for s in range(n_samples):
            whole[:] = 0.0
            for g in range(n_groups):
                whole += plausibility[g, i, s]
            for g in range(n_groups):
                own, most = 0, -1.0
                for k in range(n_labels):
                    most = max(most, whole[k] - plausibility[g, i, s, k])
                    if plausibility[g, i, s, k] > plausibility[g, i, s, own]:
                        own = k
                differs = whole[own] - plausibility[g, i, s, own] < most
                by_item[g, i] += differs
                by_sample[g, s] += differs
