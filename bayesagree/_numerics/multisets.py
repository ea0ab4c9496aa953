"""Compiled search for items with equal annotations: whatever follows is computed once for all of them.

The multiset of an item's codes is known by the sum of one random 64-bit word for each: two of a million distinct
multisets share their sum with probability below 1e-7.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

type Integers = NDArray[np.int64]
type Words = NDArray[np.uint64]


class Multisets(NamedTuple):
    """Distinct multisets, in the order in which they are first met.

    Attributes
    ----------
    number
        Which multiset each item has, shape (item,).
    first
        First item with each multiset, shape (multiset,).
    key
        The sum of words that stands for it, shape (multiset,).
    """

    number: Integers
    first: Integers
    key: Words


def run_starts(item: NDArray[Any]) -> Integers:
    """Return where each run of equal numbers starts, and the size: shape (run + 1,)."""
    return np.concatenate([np.arange(min(item.size, 1)), np.flatnonzero(item[1:] != item[:-1]) + 1, [item.size]])


@numba.njit(cache=True, nogil=True)
def _word(code: Any) -> Any:
    """Return the random word of a code (the output function of SplitMix64); 0 for -1, a missing annotation."""
    z = (np.uint64(code) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def words(codes: Integers) -> Words:
    """Return the random word of each code."""
    return _word.py_func(codes)  # as it stands, it reads arrays too


def multisets(start: Integers, code: NDArray[Any], apart: Words) -> Multisets:
    """Find the distinct multisets of codes; item i has ``code[start[i]:start[i + 1]]``.

    Items with different words in `apart`, shape (item,), do not share a multiset.
    """
    n_items = apart.size
    number, first, key = np.empty(n_items, np.int64), np.empty(n_items, np.int64), np.empty(n_items, np.uint64)
    slots = np.zeros(2 << n_items.bit_length(), np.int64)  # of these, memory holds those that are met
    found = _search(start, code.astype(np.int64, copy=False), apart, slots, number, first, key)
    return Multisets(number, first[:found].copy(), key[:found].copy())


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
