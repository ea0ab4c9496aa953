"""Compiled search of `multisets` among many items: a hash table in the place of a sort."""

import numba
import numpy as np

from bayesagree._numerics.codes import Words, words
from bayesagree._numerics.types import Integers

_word = numba.njit(cache=True, nogil=True)(words)


def search(start: Integers, code: Integers, apart: Words) -> tuple[Integers, Integers, Words]:
    """Return the number of each item's multiset, and the first item and the key of each multiset."""
    n_items = apart.size
    number, first, key = np.empty(n_items, np.int64), np.empty(n_items, np.int64), np.empty(n_items, np.uint64)
    slots = np.zeros(2 << n_items.bit_length(), np.int64)  # of these, memory holds those that are met
    found = _search(start, code, apart, slots, number, first, key)
    return number, first[:found].copy(), key[:found].copy()


@numba.njit(cache=True, nogil=True)
def _search(start, code, apart, slots, number, first, keys):
    """Fill the number of each item's multiset, and the first item and the key of each; return how many there are.

    `slots`, a power of two of them, more than items, are a hash table: 0, or one more than a multiset's number.
    """
    found, mask = 0, np.uint64(slots.size - 1)
    for i in range(number.size):
        key = apart[i]
        for t in range(start[i], start[i + 1]):
            key += _word(code[t])
        at = key & mask
        while slots[at] > 0 and keys[slots[at] - 1] != key:
            at = (at + np.uint64(1)) & mask
        if slots[at] == 0:
            first[found], keys[found] = i, key
            found += 1
            slots[at] = found
        number[i] = slots[at] - 1
    return found
