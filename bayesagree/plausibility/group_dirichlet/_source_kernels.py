"""Compiled steps of `group_dirichlet` where it is drawn what a vote counts for.

The common distribution, or the leaning of its group; a level of a feature, or nothing.
"""

import math

import numba
import numpy as np

from bayesagree._numerics.gamma import gamma_variate

TINY = 1e-300


@numba.njit(cache=True, nogil=True)
def draw_tables(rng, votes, common, leaning, log_similarity, tables, leaned):
    """Draw how many votes of each label count for the common distribution: tables of a Chinese restaurant.

    Tables of a group's leaning are counted in `leaned` (group, category + 1), whose last column are all others.
    """
    n_groups, n_items, n_labels = votes.shape
    tables[:], leaned[:] = 0, 0
    for g in range(n_groups):
        s, left = math.exp(log_similarity[g]), leaning[g, n_labels]
        for i in range(n_items):
            for k in range(n_labels):
                if votes[g, i, k] > 0:
                    mean, n = left * common[i, k] + leaning[g, k], 1
                    for r in range(1, votes[g, i, k]):
                        n += rng.random() * (s * mean + r) < s * mean
                    own = 0
                    for _ in range(n):
                        own += rng.random() * mean < leaning[g, k]
                    leaned[g, k] += own
                    leaned[g, n_labels] += n - own
                    tables[i, k] += n - own


@numba.njit(cache=True, nogil=True)
def draw_sources(
    rng, single, votes, log_similarity, common, leaning, views, pooled, log_shape, base, weight, care, habit, source
):
    """Draw the feature that each vote counts for, -1 of careless ones, and keep `votes` (and `pooled`) their counts.

    `single` are the item, label, annotator and levels of each vote, shape (3 + feature, vote), `weight` (feature,) the
    share of careful votes of each feature. Graded where `views` is empty. Nobody is careless where `care` is 1.
    """
    graded, n_features = views.size == 0, weight.size
    n_labels, chance = votes.shape[2], np.empty(n_features + 1)
    for v in range(single.shape[1]):
        i, y, j = single[0, v], single[1, v], single[2, v]
        if source[v] >= 0:
            g = single[3 + source[v], v]
            votes[g, i, y] -= 1
            if not graded and views[i, 1 + g] < 0:
                pooled[i, y] -= 1
        total = chance[n_features] = (1.0 - care[j]) * habit[j, y]
        for f in range(n_features):
            g, own, whole = single[3 + f, v], 0.0, 0.0
            if graded:
                s = math.exp(log_similarity[g])
                own = s * (leaning[g, n_labels] * common[i, y] + leaning[g, y]) + votes[g, i, y]
                whole = s + votes[g, i].sum()
            else:
                row, together = base[min(i, base.shape[0] - 1)], views[i, 1 + g] < 0
                for k in range(n_labels):
                    a = math.exp(log_shape[k]) * row[k]
                    a += pooled[i, k] if together else votes[g, i, k] + (views[i, 1 + g] == k)
                    whole += a
                    own += a if k == y else 0.0
            chance[f] = care[j] * weight[f] * own / whole
            total += chance[f]
        left, f = rng.random() * total - chance[0], 0
        while left >= 0.0 and f < n_features:
            f += 1
            left -= chance[f]
        source[v] = f if f < n_features else -1
        if source[v] >= 0:
            g = single[3 + f, v]
            votes[g, i, y] += 1
            if not graded and views[i, 1 + g] < 0:
                pooled[i, y] += 1


@numba.njit(cache=True, nogil=True)
def draw_care(rng, single, source, log_care, care, habit, counts):
    """Draw each annotator's share of careful votes, the habit of the others, and count both, (annotator, 2)."""
    n_annotators, n_labels = habit.shape
    counts[:] = 0
    habit[:] = 1.0
    for v in range(single.shape[1]):
        j = single[2, v]
        counts[j, 0 if source[v] >= 0 else 1] += 1
        if source[v] < 0:
            habit[j, single[1, v]] += 1.0
    first, second = math.exp(log_care[0]), math.exp(log_care[1])
    for j in range(n_annotators):
        yes, no = gamma_variate(rng, first + counts[j, 0]), gamma_variate(rng, second + counts[j, 1])
        care[j] = yes / max(yes + no, TINY)
        whole = 0.0
        for k in range(n_labels):
            habit[j, k] = gamma_variate(rng, habit[j, k])
            whole += habit[j, k]
        habit[j] /= whole


@numba.njit(cache=True, nogil=True)
def count_sources(single, first, source, votes):
    """Count what the votes of items from `first` on count for in each state, (state, level, item, category)."""
    votes[:] = 0
    for state in range(len(source)):
        for v in range(single.shape[1]):
            if source[state, v] >= 0:
                votes[state, single[3 + source[state, v], v], single[0, v] - first, single[1, v]] += 1
