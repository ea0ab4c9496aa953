"""Annotations laid out for the engines: who gave which label to which item, as one sparse matrix of items and pairs."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats


@dataclass(frozen=True, eq=False)
class Crowd:
    """Annotations sorted by item, annotator and label, so that their order never changes a result.

    A pair is an annotator with a label that he gave; one more pair of each annotator stands for all labels that he
    never gave, so that his confusion matrix takes no more numbers than he has annotations, times the labels.

    Attributes
    ----------
    n_items, n_annotators, n_labels
        Sizes of the axes.
    item, pair
        Of each annotation, shape (annotation,).
    annotator, label
        Of each pair, shape (pair,), sorted by annotator; the label of all that were never given is `n_labels`.
    known
        True label of each item, -1 where unknown, shape (item,).
    """

    n_items: int
    n_annotators: int
    n_labels: int
    item: NDArray[np.int64]
    pair: NDArray[np.int64]
    annotator: NDArray[np.int64]
    label: NDArray[np.int64]
    known: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        codes: tuple[NDArray[Any], ...],
        sizes: tuple[int, int, int],
        known: NDArray[np.integer[Any]] | None = None,
    ) -> "Crowd":
        """Lay out codes of item, annotator and label of each annotation."""
        _, n_annotators, n_labels = sizes
        item, annotator, label = (np.asarray(code, np.int64) for code in codes)
        order, wide = np.lexsort((label, annotator, item)), n_labels + 1
        rest = np.arange(n_annotators) * wide + n_labels
        pairs, place = np.unique(np.append(rest, (annotator * wide + label)[order]), return_inverse=True)
        truth = np.full(sizes[0], -1) if known is None else np.asarray(known, np.int64)
        return cls(*sizes, item[order], place[n_annotators:], pairs // wide, pairs % wide, truth)

    @cached_property
    def matrix(self) -> Any:
        """How often each item has each pair, (item, pair)."""
        ones, shape = np.ones(self.item.size), (self.n_items, self.label.size)
        return sp.sparse.csr_array((ones, (self.item, self.pair)), shape=shape)

    @cached_property
    def transposed(self) -> Any:
        """The matrix (pair, item)."""
        return self.matrix.T.tocsr()

    @cached_property
    def of_label(self) -> Any:
        """Which pairs have each label, (category, pair)."""
        return sp.sparse.csr_array(np.arange(self.n_labels)[:, None] == self.label, dtype=float)

    @cached_property
    def rest(self) -> NDArray[np.bool_]:
        """Pairs of labels that were never given, shape (pair,)."""
        return self.label == self.n_labels

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Whether the label of a pair is the true one, shape (category, chain=1, pair)."""
        return (np.arange(self.n_labels)[:, None] == self.label)[:, None]

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """First pair of each annotator."""
        return np.searchsorted(self.annotator, np.arange(self.n_annotators))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of annotations of each item."""
        return np.bincount(self.item, minlength=self.n_items)

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """Items that say something of the prevalence: labelled ones, and those whose truth is known, shape (item,)."""
        return (self.sizes > 0) | (self.known >= 0)

    @cached_property
    def shares(self) -> Floats:
        """Shares of the votes of each item, or its known label, from which chains start; (category, item)."""
        label = np.append(self.label[self.pair], self.known[self.known >= 0])
        item = np.append(self.item, np.flatnonzero(self.known >= 0))
        open_ = np.append(self.known[self.item] < 0, np.ones(item.size - self.item.size, bool))
        votes = np.bincount(label[open_] * self.n_items + item[open_], minlength=self.n_labels * self.n_items)
        votes = votes.reshape(self.n_labels, self.n_items)
        total = votes.sum(axis=0)
        return np.where(total > 0, votes / np.maximum(total, 1), 1 / self.n_labels)

    def by_annotator(self, values: NDArray[Any], add: Any = np.add) -> NDArray[Any]:
        """Add up values of pairs (..., pair) by annotator."""
        return add.reduceat(values, self.start, axis=-1)

    def pairs_of_items(self, values: Floats) -> Floats:
        """Add values (label, chain, item) of the items of each pair, (label, chain, pair)."""
        flat = self.transposed @ np.ascontiguousarray(values.reshape(-1, self.n_items).T)
        return np.ascontiguousarray(flat.T).reshape(*values.shape[:2], -1)

    def items_of_pairs(self, values: Floats) -> Floats:
        """Add values (label, chain, pair) of the annotations of each item, (label, chain, item)."""
        flat = self.matrix @ np.ascontiguousarray(values.reshape(-1, self.label.size).T)
        return np.ascontiguousarray(flat.T).reshape(*values.shape[:2], -1)
