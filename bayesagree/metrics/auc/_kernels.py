"""Compiled kernels of the area under the curve: one model at a time, its items in ascending order of score.

Every kernel takes `order` (positions of the items, worst score first) and `tied` (whether the item at a place has
the same score as the one before it), so that a model is sorted once and then compared with any number of truths.
Twice the number of concordant pairs is counted, which keeps ties (one half) whole numbers.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats

type Order = NDArray[np.intp]
type Tied = NDArray[np.bool_]
type Places = NDArray[np.int64]

BITS = 6
LANES = 64
"""Children of a node of the counting tree, and bits of a word: 2 ** BITS."""

ONE = np.uint64(1)


@numba.njit(cache=True, nogil=True)
def _run_end(tied: Tied, place: int) -> Any:
    """Return the place after the run of equal scores that starts at a place."""
    place += 1
    while place < tied.size and tied[place]:
        place += 1
    return place


@numba.njit(cache=True, nogil=True)
def _count_bits(word: Any) -> Any:
    word = word - ((word >> ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@numba.njit(cache=True, nogil=True)
def _count_below(words: NDArray[np.uint64], tree: NDArray[np.int32], position: Any) -> Any:
    word = position >> BITS
    count = _count_bits(words[word] & ((ONE << np.uint64(position & (LANES - 1))) - ONE))
    for level in range(tree.shape[0]):
        count += tree[level, word >> (BITS * level)]
    return count


@numba.njit(cache=True, nogil=True)
def _insert(words: NDArray[np.uint64], tree: NDArray[np.int32], position: Any) -> None:
    word = position >> BITS
    words[word] |= ONE << np.uint64(position & (LANES - 1))
    for level in range(tree.shape[0]):
        node = word >> (BITS * level)
        first = (node >> BITS) << BITS
        lanes = tree[level, first : first + LANES]
        for lane in range(LANES):  # all, not only those after the node: a fixed length is vector code
            lanes[lane] += first + lane > node


@numba.njit(cache=True, nogil=True)
def _twice_misordered(tied, position, upper, words, tree):
    """Count the pairs that a model orders against the truth, twice, and those it ties, once.

    `position` and `upper` are those of the items in ascending order of score.
    """
    words[:] = 0
    tree[:] = 0
    twice, place = 0, 0
    while place < tied.size:
        stop = _run_end(tied, place)
        above = 0
        for k in range(place, stop):
            above += place - _count_below(words, tree, upper[k])
        twice += above
        for k in range(place, stop):
            _insert(words, tree, position[k])
        if stop - place > 1:  # an item alone has as many above it after its insertion as before
            above = 0
            for k in range(place, stop):
                above += stop - _count_below(words, tree, upper[k])
        twice += above
        place = stop
    return twice


@numba.njit(cache=True, nogil=True)
def truth_places(order: Order, tied: Tied) -> tuple[Places, Places, int]:
    """Return the place of each item in ascending order of truth, the first place of a higher truth, and the pairs."""
    n = order.size
    position, upper = np.empty(n, np.int64), np.empty(n, np.int64)
    place, pairs = 0, 0
    while place < n:
        stop = _run_end(tied, place)
        for k in range(place, stop):
            position[order[k]], upper[order[k]] = k, stop
        pairs += (stop - place) * (n - stop)
        place = stop
    return position, upper, pairs


@numba.njit(cache=True, nogil=True)
def graded_concordances(order: Order, tied: Tied, position: Places, upper: Places, pairs: int, out: Floats) -> None:
    """Fill `out` (model,) with the share of the `pairs` of items of different truth that each model orders right.

    `position` is the place of each item in ascending order of truth, `upper` the first place of a higher truth. A
    tree holds the items met so far, all with lower scores: one bit per position, and above the words of 64 bits, at
    each level, the number of items in the lanes before. An insertion or a count touches one node per level.
    """
    n_words = (position.size >> BITS) + 1
    levels = 1
    while (n_words - 1) >> (BITS * levels):
        levels += 1
    words = np.empty(n_words, np.uint64)
    tree = np.empty((levels, ((n_words >> BITS) + 1) << BITS), np.int32)
    for m in range(order.shape[0]):
        # Both in the order of the scores first: reading them one by one between counts would wait for memory.
        twice = _twice_misordered(tied[m], position[order[m]], upper[order[m]], words, tree)
        out[m] = (2 * pairs - twice) / (2 * pairs)


@numba.njit(cache=True, nogil=True)
def weighted_concordance(order: Order, tied: Tied, positive: Floats, negative: Floats) -> Any:
    """Return the share of (positive, negative) mass on two items that the scores order right; NaN without any."""
    below, twice, own, positives, place = 0.0, 0.0, 0.0, 0.0, 0
    n = order.size
    while place < n:
        stop, before = _run_end(tied, place), below
        for k in range(place, stop):
            below += negative[order[k]]
        for k in range(place, stop):
            item = order[k]
            twice += positive[item] * (before + below)
            own += positive[item] * negative[item]
            positives += positive[item]
        place = stop
    mass = positives * below - own
    return (twice - own) / (2 * mass) if mass > 0 else np.nan


@numba.njit(cache=True, nogil=True)
def weighted_concordances(order: Order, tied: Tied, positive: Floats, negative: Floats, out: Floats) -> None:
    """Fill `out` (draw, model) with `weighted_concordance` for each draw of the probabilities, shape (draw, item)."""
    for draw in range(positive.shape[0]):
        for m in range(order.shape[0]):
            out[draw, m] = weighted_concordance(order[m], tied[m], positive[draw], negative[draw])


@numba.njit(cache=True, nogil=True)
def concordances_by_annotator(order, tied, annotator, positive, start, pair_weight, out):
    """Add to `out` (model,) twice the concordant pairs of each annotator, times `pair_weight`; linear in the labels.

    Labels are sorted by item, i owning ``start[i]:start[i + 1]``. One walk through the items in ascending score
    serves all annotators; `below` holds the negative labels of each that were met so far.
    """
    below = np.empty(pair_weight.size, np.int64)
    for m in range(order.shape[0]):
        below[:] = 0
        place, n = 0, order.shape[1]
        while place < n:
            stop = _run_end(tied[m], place)
            # A positive label beats those below its run of equal scores and half of the run: before + after.
            for step in range(3):
                for k in range(place, stop):
                    for row in range(start[order[m, k]], start[order[m, k] + 1]):
                        j = annotator[row]
                        if step == 1:
                            below[j] += not positive[row]
                        elif positive[row]:
                            out[m] += pair_weight[j] * below[j]
            place = stop
