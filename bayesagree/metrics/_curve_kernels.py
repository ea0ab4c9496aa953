"""Compiled areas under curves against every draw of the true labels.

Items are walked in the order of a model's scores, a row of all draws at a time. Items with equal scores are one step.
"""

import numba
import numpy as np


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
    n_samples = truth.shape[1]
    seen[:] = 0.0
    step[:] = 0.0
    alone = True
    for at in range(order.size):
        i = order[at]
        alone_now = alone and step_ends[at]
        for s in range(n_samples):
            t, w = truth[i, s], weights[i, s] if weights.size else 1.0
            if not alone_now:
                step[t, s] += w
            elif t == label:
                for k in range(seen.shape[0]):
                    wins[k, s] += w * seen[k, s]
                seen[t, s] += w
            else:
                seen[t, s] += w
        if step_ends[at] and not alone_now:
            for k in range(seen.shape[0]):
                for s in range(n_samples):
                    wins[k, s] += step[label, s] * (seen[k, s] + 0.5 * step[k, s])
            for k in range(seen.shape[0]):
                for s in range(n_samples):
                    seen[k, s] += step[k, s]
                    step[k, s] = 0.0
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
                out[0, s] += new[s] * right[s] / all_seen[s]
                new[s] = 0.0
    out[1] += right
