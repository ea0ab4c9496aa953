"""Compiled order of scores: a radix sort of their bits, four times as fast as comparing them."""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

DIGIT = 11
PASSES = 6
"""64 bits in digits of 11; a digit's 2048 counters stay in the first cache."""


@numba.njit(cache=True, nogil=True)
def _sort(scores: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Fill `order` with the positions of the scores in ascending order, stably, and return the sorted keys."""
    n = scores.size
    bits = (scores + 0.0).view(np.uint64)  # -0.0 becomes 0.0: equal numbers have equal bits
    sign = np.uint64(1) << np.uint64(63)
    mask = np.uint64((1 << DIGIT) - 1)
    key, other_key = np.empty(n, np.uint64), np.empty(n, np.uint64)
    other = np.empty(n, np.intp)
    first = np.zeros((PASSES, 1 << DIGIT), np.int64)
    for i in range(n):
        # Bits in the order of the numbers: negative ones are flipped, the others get the sign bit.
        key[i] = ~bits[i] if bits[i] & sign else bits[i] | sign
        order[i] = i
        for p in range(PASSES):
            first[p, (key[i] >> np.uint64(DIGIT * p)) & mask] += 1
    for p in range(PASSES):
        if first[p].max() == n:  # all scores share this digit
            continue
        total = 0
        for digit in range(1 << DIGIT):
            count = first[p, digit]
            first[p, digit] = total
            total += count
        for i in range(n):
            digit = (key[i] >> np.uint64(DIGIT * p)) & mask
            place = first[p, digit]
            first[p, digit] += 1
            other_key[place] = key[i]
            other[place] = order[i]
        key, other_key = other_key, key
        order[:] = other
    return key


@numba.njit(cache=True, nogil=True)
def order_scores(scores: NDArray[Any], order: NDArray[np.intp], tied: NDArray[np.bool_]) -> None:
    """Fill `order` and `tied` (model, item) as `ScoreOrder` describes them."""
    for m in range(scores.shape[0]):
        key = _sort(scores[m], order[m])
        tied[m, :1] = False
        for place in range(1, key.size):
            tied[m, place] = key[place] == key[place - 1]
