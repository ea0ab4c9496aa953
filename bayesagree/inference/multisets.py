"""Items with equal annotations, whose share of a computation is computed once, and codes that are equal.

The multiset of an item's codes is known by the sum of one random 64-bit word for each: two of a million distinct
multisets share their sum with probability below 1e-7.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Integers

Words = NDArray[np.uint64]

SPARSE = 4


class Multisets(NamedTuple):
    """Distinct multisets, in the order in which they first occur."""

    number: Integers  # which multiset each item has, shape (item,)
    first: Integers  # first item with each multiset, shape (multiset,)
    key: Words  # the sum of words that stands for it, shape (multiset,)


def run_starts(item: NDArray[Any]) -> Integers:
    """Return where each run of equal numbers starts, and the size: shape (run + 1,)."""
    return np.concatenate(
        [np.arange(min(item.size, 1)), np.flatnonzero(item[1:] != item[:-1]) + 1, [item.size]]
    )


def multisets(start: Integers, code: NDArray[Any], apart: Words) -> Multisets:
    """Find the distinct multisets of codes; item i has ``code[start[i]:start[i + 1]]``.

    Items with different words in `apart`, shape (item,), do not share a multiset.
    """
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(words(code.astype(np.int64)), dtype=np.uint64)])
    keys, first, number = np.unique(
        apart + total[start[1:]] - total[start[:-1]], return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    return Multisets(np.argsort(order)[number], first[order], keys[order])


def words(code: Any) -> Any:
    """Return the random word of each code (the output function of SplitMix64); 0 for -1, a missing one."""
    z = (np.uint64(code) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def distinct(code: NDArray[Any], n: int) -> tuple[Integers, Integers]:
    """Return the distinct codes, ascending, and the place of each code among them; codes are 0, ..., n - 1.

    A table of the codes takes the place of a sort, where it has at most `SPARSE` entries for each code.
    """
    if n > SPARSE * code.size:
        return np.unique(code, return_inverse=True)
    met = np.zeros(n, bool)
    met[code] = True
    place = np.cumsum(met)
    place -= 1
    return np.flatnonzero(met), place[code]
