"""Compiled comparison of the best labels of draws, in order, with those of a model."""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Codes, Floats

SET, OVERLAP, AVERAGE_OVERLAP, KENDALL, FOOTRULE = range(5)

# Lists are compared once each while every one has so many draws on average: with fewer, finding the equal ones costs
# more than comparing all.
REPEATS = 4


class Lists(NamedTuple):
    """Best labels of each draw, shape (item, sample, rank): an item's draws repeat a few of them."""

    labels: NDArray[Any]
    # Which list a draw has, the `first` draw that has a list, and how many there are; the last shape (item,).
    number: Codes
    first: Codes
    found: Codes


def different(labels: NDArray[Any]) -> Lists:
    """Number the different lists of every item."""
    # One memory layout: the kernels are compiled once for all.
    labels = np.ascontiguousarray(labels)
    number, first = np.empty((2, *labels.shape[:2]), np.int32)
    found = np.empty(len(labels), np.int32)
    slots = np.empty(2 ** int(2 * labels.shape[1]).bit_length(), np.int32)
    for i, lists in enumerate(labels):
        found[i] = _number_lists(lists, slots, number[i], first[i])
    return Lists(labels, number, first, found)


def compared(lists: Lists, best: NDArray[Any], n_labels: int, kind: int, k: int, worst: float) -> Floats:
    """Compare the first k labels of every draw with those of a model (item, rank), -1 for none: (item, sample)."""
    out = np.empty(lists.number.shape)
    _compare(*lists, np.ascontiguousarray(best), n_labels, kind, k, worst, out)
    return out


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
def _number_lists(lists, slots, number, first):
    """Find the distinct lists, shape (sample, rank), in the order in which they come; return how many there are.

    Fills which one each sample has, `number`, and of each the `first` sample that has it. The hash table `slots` has a
    power of two of them, more than samples. Where lists hardly repeat, every sample has its own.
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
                slots[at], first[found] = found, s
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
        if REPEATS * found > lists.shape[0]:
            for own in range(lists.shape[0]):
                number[own], first[own] = own, own
            return lists.shape[0]
    return found


@numba.njit(cache=True, nogil=True)
def _compare(labels, number, first, found, best, n_labels, kind, k, worst, out):
    """Fill `out` (item, sample): each different list is compared once."""
    place = np.full(n_labels, n_labels, np.int32)
    value = np.empty(labels.shape[1])
    for i in range(len(labels)):
        for r in range(best.shape[1]):
            if best[i, r] >= 0:
                place[best[i, r]] = r
        for d in range(found[i]):
            value[d] = _value(kind, k, worst, labels[i, first[i, d]], place)
        for s in range(labels.shape[1]):
            out[i, s] = value[number[i, s]]
        place[:] = n_labels
