"""Compiled sums over a block of items for metrics against one true label per item, or its k best labels.

Only sums leave a kernel, so memory does not grow with items or metrics. Their last axis is the draw, so that the inner
loop runs along it. The true labels of the draws have shape (item, sample); `weights` of the same shape, or empty where
every item counts once. For areas under curves, items are walked in the order of a model's scores, a row of all draws at
a time; items with equal scores are one step.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.vectors import copy_to

TOP, SET, OVERLAP, AVERAGE_OVERLAP, KENDALL, FOOTRULE = range(6)

# Lists are compared once each while every one has so many draws on average: with fewer, finding the equal ones costs
# more than comparing all.
REPEATS = 4


# One function, inlined: each function more costs a tenth of a second of compilation in the first minute of every user.
@numba.njit(cache=True, nogil=True, inline="always")
def _value(kind: int, k: int, worst: float, truth: NDArray[Any], place: Any) -> float:
    """Return a metric of two lists; `place` is where each label is in the model's list, k or more where it is not."""
    shared, places, crossed, moved, mean_overlap = 0, 0, 0, 0, 0.0
    for r in range(k):
        here = place[truth[r]]
        if here >= k:
            moved += k - r
            continue
        shared += 1
        places += here
        moved += abs(here - r)
        for higher in range(r):  # in both lists, or in the truth's alone: the model has them in the other order
            crossed += place[truth[higher]] > here
        for depth in range(max(here, r), k):  # both have it among their best depth + 1
            mean_overlap += 1.0 / ((depth + 1) * k)
    if kind == SET:
        return 1.0 if shared == k else 0.0
    if kind == OVERLAP:
        return shared / k
    if kind == AVERAGE_OVERLAP:
        return mean_overlap
    alone = k - shared
    if kind == KENDALL:
        # Labels of the model's list alone that stand above one of both lists, and pairs that one list alone holds:
        # those of one label from each, and, one half each, two of the same list.
        crossed += places - shared * (shared - 1) // 2
        return 1.0 - (crossed + alone * alone + 0.5 * alone * (alone - 1)) / worst
    # Labels of the model's list alone move to place k: all its places, less those of shared labels.
    return 1.0 - (moved + k * (k + 1) // 2 - (shared * k - places)) / worst


@numba.njit(cache=True, nogil=True)
def _number_lists(lists, slots, number, first, count):
    """Find the distinct lists, shape (sample, rank), in the order in which they come; return how many there are.

    Fills which one each sample has, `number`, and of each the `first` sample that has it and the `count` of them. The
    hash table `slots` has a power of two of them, more than samples. Where lists hardly repeat, every sample has its
    own.
    """
    for at in range(slots.size):
        slots[at] = -1
    found, mask = 0, np.uint64(slots.size - 1)
    for s in range(lists.shape[0]):
        key = np.uint64(0)
        for r in range(lists.shape[1]):
            key = (key ^ np.uint64(lists[s, r])) * np.uint64(0x9E3779B97F4A7C15)
        at = (key >> np.uint64(32)) & mask
        while True:
            if slots[at] < 0:
                slots[at], first[found], count[found] = found, s, 0
                found += 1
                break
            known = lists[first[slots[at]]]
            same = True
            for r in range(lists.shape[1]):
                same &= known[r] == lists[s, r]
            if same:
                break
            at = (at + np.uint64(1)) & mask
        number[s] = slots[at]
        count[slots[at]] += 1
        if REPEATS * found > lists.shape[0]:
            for own in range(lists.shape[0]):
                number[own], first[own], count[own] = own, own, 1
            return lists.shape[0]
    return found


@numba.njit(cache=True, nogil=True)
def score_block(truth, predicted, kinds, ks, worst, n_labels, weights, out, square, item):
    """Score every draw of every item for every model, and add the sums to `out`, shape (metric, model, sample).

    Also squares to `square` (metric, model) and, over draws, to `item` (metric, model, item), unless they are empty.

    Draws of an item repeat a few lists of best labels: each of those is compared with each model once. Metrics of the
    best label alone (TOP) are left out: NumPy compares labels as fast.

    Parameters
    ----------
    truth
        Best labels of each draw, shape (item, sample, rank).
    predicted
        Best labels of each model, -1 for none, shape (model, item, rank).
    kinds, ks, worst
        Codes of the metrics, their k, and the largest distance of two lists, shape (metric,).
    n_labels
        Number of labels.
    weights
        Weight of each item in each draw, shape (item, sample); empty where each counts once.
    """
    n_items, n_samples, _ = truth.shape
    place, nowhere = np.empty(n_labels, np.int32), n_labels
    for k in range(n_labels):
        place[k] = nowhere
    size = 2
    while size < 2 * n_samples:
        size *= 2
    slots, number = np.empty(size, np.int32), np.empty(n_samples, np.int32)
    first, count = np.empty(n_samples, np.int32), np.empty(n_samples, np.int32)
    value = np.empty(n_samples)
    for i in range(n_items):
        found = _number_lists(truth[i], slots, number, first, count)
        for m in range(predicted.shape[0]):
            for r in range(predicted.shape[2]):
                if predicted[m, i, r] >= 0:
                    place[predicted[m, i, r]] = r
            for c in range(kinds.size):
                if kinds[c] == TOP:
                    continue
                for d in range(found):
                    here = _value(kinds[c], ks[c], worst[c], truth[i, first[d]], place)
                    value[d] = here
                    if item.size:
                        square[c, m] += count[d] * here * here
                        item[c, m, i] += count[d] * here
                for s in range(n_samples):
                    out[c, m, s] += value[number[s]] * weights[i, s] if weights.size else value[number[s]]
            for r in range(predicted.shape[2]):
                if predicted[m, i, r] >= 0:
                    place[predicted[m, i, r]] = nowhere


def add_confusion(truth, predicted, weights, right, true, given):
    """Add, for each label, the items that have it and are given it, have it, and are given it.

    `predicted` (model, item), -1 for none; `right`, `given` (label, model, sample), `true` (label, sample).
    """
    every = np.arange(truth.shape[1])
    for i, drawn in enumerate(truth):
        weight = weights[i] if weights.size else 1.0
        true[drawn, every] += weight
        for m, label in enumerate(predicted[:, i].tolist()):
            if label >= 0:
                given[label, m] += weight
                right[label, m] += weight * (drawn == label)


def pick_labels(plausibility, uniform, out):
    """Fill `out` (item, sample) with labels drawn from plausibilities (item, sample, label)."""
    for shares, at, labels in zip(plausibility, uniform, out):
        cut = np.cumsum(shares, axis=1)
        # Rounding may leave a little of the last label that has any.
        cut[np.arange(shares.shape[1]) >= shares.shape[1] - 1 - (shares[:, ::-1] > 0).argmax(axis=1)[:, None]] = np.inf
        labels[:] = (at[:, None] < cut).argmax(axis=1)


# Adding zeros along whole rows is that much faster than picking the draws in which the item has the label.
# One of so many draws must have the label for all draws to be added up.
MANY = 8


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
