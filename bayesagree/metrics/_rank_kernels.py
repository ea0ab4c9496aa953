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
def score_block(
    truth: NDArray[Any],
    predicted: NDArray[Any],
    kinds: NDArray[np.int64],
    ks: NDArray[np.int64],
    worst: NDArray[np.float64],
    n_labels: int,
    weights: NDArray[np.float64],
    out: NDArray[np.float64],
    square: NDArray[np.float64],
    item: NDArray[np.float64],
) -> None:
    """Score every draw of every item for every model, and add the sums to `out`, shape (metric, model, sample).

    Without weights also squares to `square` (metric, model) and, over draws, to `item` (metric, model, item).

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
                    if not weights.size:
                        square[c, m] += count[d] * here * here
                        item[c, m, i] += count[d] * here
                for s in range(n_samples):
                    out[c, m, s] += value[number[s]] * weights[i, s] if weights.size else value[number[s]]
            for r in range(predicted.shape[2]):
                if predicted[m, i, r] >= 0:
                    place[predicted[m, i, r]] = nowhere
