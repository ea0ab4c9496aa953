"""Compiled order of scores: a radix sort of their bits, several times as fast as comparing them."""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.vectors import copy_to

type Keys = NDArray[np.uint64]
type Items = NDArray[np.int32]

DIGIT = 11
DIGITS = 6
"""64 bits in digits of 11; a digit's 2048 counters stay in the first cache."""
COARSE = 2
"""Lowest digit of the first attempt: sign, exponent and 30 bits of the fraction order all but near neighbours."""
MOVES = 4
"""Moves per score that putting near neighbours in order may take before all digits are sorted instead."""


@numba.njit(cache=True, nogil=True)
def _radix_sort(bits: Keys, lowest: int) -> tuple[Keys, Items]:
    """Sort by all digits from `lowest` up, stably; return the keys in that order and whose each is."""
    n, sign, mask = bits.size, np.uint64(1) << np.uint64(63), np.uint64((1 << DIGIT) - 1)
    key, other_key = np.empty(n, np.uint64), np.empty(n, np.uint64)
    item, other_item = np.empty(n, np.int32), np.empty(n, np.int32)
    first = np.zeros((DIGITS, 1 << DIGIT), np.int64)
    for i in range(n):
        # Bits in the order of the numbers: negative ones are flipped, the others get the sign bit.
        key[i] = ~bits[i] if bits[i] & sign else bits[i] | sign
        item[i] = i
        for p in range(lowest, DIGITS):
            first[p, (key[i] >> np.uint64(DIGIT * p)) & mask] += 1
    for p in range(lowest, DIGITS):
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
            other_item[place] = item[i]
        key, other_key = other_key, key
        item, other_item = other_item, item
    return key, item


@numba.njit(cache=True, nogil=True)
def _insertion_sort(key: Keys, item: Items) -> bool:
    """Put keys that are nearly in order in order, stably; False, part of the way, where that takes too many moves."""
    moves = MOVES * key.size
    for i in range(1, key.size):
        moved, whose, place = key[i], item[i], i
        while place > 0 and key[place - 1] > moved:
            key[place], item[place] = key[place - 1], item[place - 1]
            place -= 1
        key[place], item[place] = moved, whose
        moves -= i - place
        if moves < 0:
            return False
    return True


@numba.njit(cache=True, nogil=True)
def order_scores(scores: NDArray[Any], order: NDArray[np.intp], tied: NDArray[np.bool_]) -> None:
    """Fill `order` and `tied` (model, item) as `ScoreOrder` describes them."""
    for m in range(scores.shape[0]):
        bits = (scores[m] + 0.0).view(np.uint64)  # -0.0 becomes 0.0: equal numbers have equal bits
        key, item = _radix_sort(bits, COARSE)
        if not _insertion_sort(key, item):
            key, item = _radix_sort(bits, 0)
        copy_to(order[m], item)
        tied[m, :1] = False
        for place in range(1, key.size):
            tied[m, place] = key[place] == key[place - 1]
