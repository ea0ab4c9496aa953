"""Items with equal annotations: whatever follows is computed once for all of them.

The multiset of an item's codes is known by the sum of one random 64-bit word for each: two of a million distinct
multisets share their sum with probability below 1e-7.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.codes import Words, words
from bayesagree._numerics.types import Integers

# Annotations from which on compiled code pays: those of one call, of which a file takes many, each of more.
MANY = 20_000


class Multisets(NamedTuple):
    """Distinct multisets, in the order in which they first occur."""

    number: Integers  # which multiset each item has, shape (item,)
    first: Integers  # first item with each multiset, shape (multiset,)
    key: Words  # the sum of words that stands for it, shape (multiset,)


def run_starts(item: NDArray[Any]) -> Integers:
    """Return where each run of equal numbers starts, and the size: shape (run + 1,)."""
    return np.concatenate([np.arange(min(item.size, 1)), np.flatnonzero(item[1:] != item[:-1]) + 1, [item.size]])


def multisets(start: Integers, code: NDArray[Any], apart: Words) -> Multisets:
    """Find the distinct multisets of codes; item i has ``code[start[i]:start[i + 1]]``.

    Items with different words in `apart`, shape (item,), do not share a multiset.
    """
    code = code.astype(np.int64, copy=False)
    if code.size > MANY:
        from bayesagree._numerics.multiset_kernels import search

        return Multisets(*search(start, code, apart))
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(words(code), dtype=np.uint64)])
    keys, first, number = np.unique(
        apart + total[start[1:]] - total[start[:-1]], return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    return Multisets(np.argsort(order)[number], first[order], keys[order])
