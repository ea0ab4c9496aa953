"""Distinct patterns of ratings: items with the same ratings share one likelihood, a million of them a few hundred."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy as sp

from bayesagree._types import Array, Floats, Integers
from bayesagree.annotations import Ratings
from bayesagree.inference.multisets import words


def pair_counts(row: Any, column: Any, shape: Any = None) -> Any:
    """Count pairs, sparse, shape (row, column)."""
    return sp.sparse.csr_array((np.ones(row.size), (row, column)), shape)


@dataclass(frozen=True)
class RatingCounts:
    """Distinct multisets of ratings, each with the number of items that have it.

    Attributes
    ----------
    values
        Distinct ratings on [0, 1], shape (value,).
    counts
        How often each value occurs in each pattern, sparse, shape (pattern, value).
    weight
        Number of items with the pattern, shape (pattern,).
    pattern_of_item
        Position of each item's pattern, shape (item,); -1 for an item without a rating.
    group
        Number of the item's known truth, 0 without one: it keeps equal ratings apart, shape (pattern,).
    """

    values: Floats
    counts: Any
    weight: Floats
    pattern_of_item: Integers
    group: Integers

    @cached_property
    def size(self) -> Floats:
        """Number of ratings in each pattern, shape (pattern,)."""
        return np.asarray(self.counts.sum(axis=1)).ravel()

    def of(self, some: Any) -> "RatingCounts":
        """Return some of the patterns, without the patterns of the items."""
        none = np.full(self.pattern_of_item.size, -1, int)
        return RatingCounts(self.values, self.counts[some], self.weight[some], none, self.group[some])

    @property
    def share_of_ends(self) -> float:
        """Share of the ratings that are an end of the scale."""
        given = self.weight @ self.counts
        return float(given[(self.values <= 0) | (self.values >= 1)].sum() / given.sum())

    @property
    def n_items(self) -> int:
        """Number of items with a rating."""
        return int(self.weight.sum())


def collapse(ratings: Ratings, group: Integers | None = None) -> RatingCounts:
    """Return the distinct patterns of ratings; items of different `group`, shape (item,), do not share one.

    A discrete scale keeps all its levels.
    """
    if (n := ratings.n_levels) is None:
        values, codes = np.unique(ratings.unit(), return_inverse=True)
    else:
        values = np.arange(n) / (n - 1)
        codes = ratings.levels().astype(int)
    return collapse_codes(ratings.item_index, codes, values, ratings.items.size, group)


def collapse_codes(
    item: Array,
    codes: Array,
    values: Floats,
    n_items: int,
    group: Integers | None = None,
) -> RatingCounts:
    """Return the distinct patterns of coded annotations, sorted by item."""
    rated, first_row = np.unique(item, return_index=True)
    group = np.zeros(rated.size, int) if group is None else group[rated]
    # Sorted by the sum of words: the order of the items must not change any result.
    key = words(-1 - group) + np.add.reduceat(words(codes.astype(int)), first_row)
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    pattern_of_item = np.full(n_items, -1, int)
    pattern_of_item[rated] = number
    shape = rated.size, values.size
    counts = sp.sparse.csr_array((np.ones(codes.size), codes, np.append(first_row, item.size)), shape=shape)[
        first
    ]
    counts.sum_duplicates()
    return RatingCounts(values, counts, np.bincount(number).astype(float), pattern_of_item, group[first])
