"""Compiled areas under curves against every draw of the true labels.

Items are walked in the order of a model's scores, a row of all draws at a time. Items with equal scores are one step.
"""

import numba
import numpy as np

from bayesagree._numerics.vectors import copy_to

# Adding zeros along whole rows is that much faster than picking the draws in which the item has the label.
MANY = 8
"""One of so many draws must have the label for all draws to be added up."""


@numba.njit(cache=True, nogil=True)
def pair_wins(truth, order, step_ends, label, weights, wins, seen, step):
    """Add to `wins` (label, sample), for every other label, the pairs of which the item with `label` scores higher.

    Pairs of equal scores count one half.

    Parameters
    ----------
    truth
        True labels, shape (item, sample).
    order
        Items by ascending score for `label`.
    step_ends
        Whether the next item scores higher, shape (item,).
    weights
        Weight of each item in each draw, shape (item, sample); empty where each counts once.
    seen, step
        Room for the counts of labels so far and in the present step, shape (label, sample).
    """
    n_labels, n_samples = seen.shape
    seen[:] = 0.0
    step[:] = 0.0
    weight, hit = np.ones(n_samples), np.empty(n_samples)
    alone = True
    for at in range(order.size):
        row = truth[order[at]]
        if weights.size:
            copy_to(weight, weights[order[at]])
        if not (alone and step_ends[at]):
            for s in range(n_samples):
                step[row[s], s] += weight[s]
            if step_ends[at]:
                for k in range(n_labels):
                    for s in range(n_samples):
                        wins[k, s] += step[label, s] * (seen[k, s] + 0.5 * step[k, s])
                seen += step
                step[:] = 0.0
        else:
            n_hits = 0
            for s in range(n_samples):
                here = row[s] == label
                n_hits += here
                hit[s] = weight[s] if here else 0.0
            if n_hits * MANY > n_samples:
                for k in range(n_labels):
                    for s in range(n_samples):
                        wins[k, s] += hit[s] * seen[k, s]
            elif n_hits:
                for s in range(n_samples):
                    if hit[s] > 0.0:
                        for k in range(n_labels):
                            wins[k, s] += hit[s] * seen[k, s]
            for s in range(n_samples):
                seen[row[s], s] += weight[s]
        alone = step_ends[at]


@numba.njit(cache=True, nogil=True)
def add_precisions(truth, order, step_ends, label, weights, out):
    """Add the precision at every place of an item with `label` to `out` (2, sample), and the weight of these items.

    `order` is by descending score, `step_ends` says whether the next item scores lower.
    """
    n_samples = truth.shape[1]
    right, all_seen, new = np.zeros(n_samples), np.zeros(n_samples), np.zeros(n_samples)
    for at in range(order.size):
        row = truth[order[at]]
        for s in range(n_samples):
            w = weights[order[at], s] if weights.size else 1.0
            all_seen[s] += w
            new[s] += w if row[s] == label else 0.0
        if step_ends[at]:
            for s in range(n_samples):
                right[s] += new[s]
                out[1, s] += new[s]
                out[0, s] += new[s] * right[s] / all_seen[s]
                new[s] = 0.0
