"""Compiled comparison of each draw's best labels with each model's best labels, for a block of items.

All metrics see the same draws. Only sums leave the kernel, so memory does not grow with items or metrics. A metric is
a function of two lists of labels, a code, and a branch of `_value`; all else about it is its record in `registry`.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

TOP, SET, OVERLAP, AVERAGE_OVERLAP, KENDALL, FOOTRULE = range(6)

# Lists are compared once each while every one has so many draws on average: with fewer, finding the equal ones costs
# more than comparing all.
REPEATS = 4


class BlockScores(NamedTuple):
    """Sums of metric values over a block of items.

    Attributes
    ----------
    total, weighted
        Over items, plain and with the weight of each (item, draw), shape (metric, model, sample).
    square
        Squares over items and draws, shape (metric, model).
    item
        Over draws, shape (metric, model, item).
    """

    total: NDArray[np.float64]
    weighted: NDArray[np.float64]
    square: NDArray[np.float64]
    item: NDArray[np.float64]


@numba.njit(cache=True, nogil=True)
def _overlap(truth: NDArray[Any], place: NDArray[np.int32], k: int) -> int:
    shared = 0
    for r in range(k):
        if place[truth[r]] < k:
            shared += 1
    return shared


@numba.njit(cache=True, nogil=True)
def _average_overlap(truth: NDArray[Any], place: NDArray[np.int32], k: int) -> float:
    total = 0.0
    for depth in range(1, k + 1):
        total += _overlap(truth, place, depth) / depth
    return total / k


@numba.njit(cache=True, nogil=True)
def _kendall(truth: NDArray[Any], predicted: NDArray[Any], place: NDArray[np.int32], k: int) -> Any:
    """Return the discordant pairs of two top-k lists; pairs that one list alone holds count one half."""
    shared = _overlap(truth, place, k)
    alone = k - shared
    distance = alone * alone + alone * (alone - 1) * 0.5
    for a in range(k):
        place_a = place[truth[a]]
        for b in range(a + 1, k):
            place_b = place[truth[b]]
            # Both in the model's list: opposite order. Only the lower one in it: the model puts it above the other.
            if (place_b < k) and (place_a > place_b):
                distance += 1.0
    for a in range(k):
        in_truth_a = False
        for r in range(k):
            in_truth_a |= truth[r] == predicted[a]
        if in_truth_a:
            continue
        for b in range(a + 1, k):
            for r in range(k):
                if truth[r] == predicted[b]:
                    distance += 1.0
    return distance


@numba.njit(cache=True, nogil=True)
def _footrule(truth: NDArray[Any], place: NDArray[np.int32], k: int) -> Any:
    """Return the displacement between two top-k lists; a label that a list lacks stands at place k + 1."""
    distance, in_both_or_truth = 0.0, 0.0
    for r in range(k):
        there = min(place[truth[r]], k)
        distance += abs(there - r)
        if there < k:
            in_both_or_truth += k - there
    # Labels of the model's list that the truth lacks: all its places, less those of shared labels.
    return distance + k * (k + 1) / 2 - in_both_or_truth


@numba.njit(cache=True, nogil=True)
def _value(kind: int, k: int, worst: float, truth: NDArray[Any], predicted: NDArray[Any], place: Any) -> float:
    """Return a metric of two lists; `place` is where each label is in the model's list."""
    if kind == TOP:
        return 1.0 if place[truth[0]] < k else 0.0
    if kind == SET:
        return 1.0 if _overlap(truth, place, k) == k else 0.0
    if kind == OVERLAP:
        return _overlap(truth, place, k) / k
    if kind == AVERAGE_OVERLAP:
        return _average_overlap(truth, place, k)
    if kind == KENDALL:
        return 1.0 - _kendall(truth, predicted, place, k) / worst
    return 1.0 - _footrule(truth, place, k) / worst


@numba.njit(cache=True, nogil=True)
def _number_lists(
    lists: NDArray[Any],
    slots: NDArray[np.int32],
    number: NDArray[np.int32],
    first: NDArray[np.int32],
    count: NDArray[np.int32],
) -> int:
    """Find the distinct lists, shape (sample, rank), in the order in which they come; return how many there are.

    Fills which one each sample has, `number`, and of each the `first` sample that has it and the `count` of them. The
    hash table `slots` has a power of two of them, more than samples. Where lists hardly repeat, every sample has its
    own.
    """
    slots[:] = -1
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
def score_block(
    truth: NDArray[Any],
    predicted: NDArray[Any],
    kinds: NDArray[np.int64],
    ks: NDArray[np.int64],
    worst: NDArray[np.float64],
    n_labels: int,
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Score every draw of every item for every model.

    Draws of an item repeat a few lists of best labels: each of those is compared with each model once.

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
        Weight of each item in each draw, shape (item, sample); empty where only plain sums are wanted.
    """
    n_items, n_samples, _ = truth.shape
    n_models, n_metrics = predicted.shape[0], kinds.size
    total = np.zeros((n_metrics, n_models, n_samples))
    weighted = np.zeros((n_metrics, n_models, n_samples))
    square = np.zeros((n_metrics, n_models))
    item = np.zeros((n_metrics, n_models, n_items))
    nowhere = np.int32(n_labels)
    place = np.full(n_labels, nowhere, dtype=np.int32)
    size = 2
    while size < 2 * n_samples:
        size *= 2
    slots, number = np.empty(size, np.int32), np.empty(n_samples, np.int32)
    first, count = np.empty(n_samples, np.int32), np.empty(n_samples, np.int32)
    value = np.empty(n_samples)
    for i in range(n_items):
        found = _number_lists(truth[i], slots, number, first, count)
        for m in range(n_models):
            for r in range(predicted.shape[2]):
                if predicted[m, i, r] >= 0:
                    place[predicted[m, i, r]] = r
            for c in range(n_metrics):
                for d in range(found):
                    here = _value(kinds[c], ks[c], worst[c], truth[i, first[d]], predicted[m, i], place)
                    value[d] = here
                    square[c, m] += count[d] * here * here
                    item[c, m, i] += count[d] * here
                for s in range(n_samples):
                    total[c, m, s] += value[number[s]]
                if weights.size:
                    for s in range(n_samples):
                        weighted[c, m, s] += value[number[s]] * weights[i, s]
            for r in range(predicted.shape[2]):
                if predicted[m, i, r] >= 0:
                    place[predicted[m, i, r]] = nowhere
    return total, weighted, square, item
