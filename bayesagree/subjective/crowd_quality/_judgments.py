"""CrowdTruth's judgments as vectors.

A judgment, the answer of an annotator to an item, is a vector of zeros and ones over the labels. A mark is one of its
ones; a cell is a label of an item that anybody marked.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats, Integers
from bayesagree.annotations import Labels
from bayesagree.errors import InputError, shorten
from bayesagree.subjective.crowd_quality._kernels import Visits

SMALLEST = 1e-8
"""Every denominator, and every AQS, is at least this."""


class Marks(NamedTuple):
    """Vectors that the judgments give, one entry for each mark, in the order of the judgments.

    Attributes
    ----------
    source
        Whose vector each judgment gives, shape (judgment,).
    judgment, cell
        Which judgment marks which cell, one beyond the last where nobody marked it; shape (mark,).
    own
        Whether the judgment marked that label itself, shape (mark,).
    """

    source: Integers
    judgment: Integers
    cell: Integers
    own: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Judgments:
    """The vectors of all judgments, sparse, in ascending order of item, annotator and label.

    Attributes
    ----------
    item, annotator
        Of each judgment, shape (judgment,).
    judgment, label
        Of each mark, shape (mark,).
    shape
        Numbers of items, annotators and labels.
    """

    item: Integers
    annotator: Integers
    judgment: Integers
    label: Integers
    shape: tuple[int, int, int]

    @classmethod
    def of(cls, labels: Labels) -> Self:
        """Read labels, leaving out items that fewer than two annotators judged."""
        if not labels.annotators_known:
            raise InputError(
                "CrowdTruth scores annotators, but these labels do not say whose they are; use Labels.from_long"
            )
        shape = (labels.items.size, labels.annotators.size, labels.categories.size)
        pair = labels.item_index.astype(np.int64) * shape[1] + labels.annotator_index
        # `np.unique` takes ten times as long on a million.
        marks = np.sort(pair * shape[2] + labels.label_index)
        marks = marks[np.diff(marks, prepend=-1) > 0]
        of_mark, label = np.divmod(marks, shape[2])
        new = np.diff(of_mark, prepend=-1) > 0
        item, annotator = np.divmod(of_mark[new], shape[1])
        judged = np.bincount(item, minlength=shape[0])
        if (judged < 2).all():
            raise InputError("no item was judged by two annotators: there is no agreement to measure")
        judgment = np.cumsum(new) - 1
        if not (judged < 2).any():
            return cls(item, annotator, judgment, label, shape)
        alone = labels.items[judged < 2]
        warnings.warn(
            f"{alone.size} items have fewer than two annotators, so their quality does not exist: {shorten(alone)}",
            stacklevel=3,
        )
        kept = judged[item] >= 2
        of_kept = kept[judgment]
        return cls(item[kept], annotator[kept], (np.cumsum(kept) - 1)[judgment[of_kept]], label[of_kept], shape)

    @cached_property
    def cells(self) -> Integers:
        """Item x number of labels + label of every cell, ascending."""
        cells = np.sort(self._cell(self.judgment, self.label))
        return cells[np.diff(cells, prepend=-1) > 0]

    @cached_property
    def cell_item(self) -> Integers:
        """Item of every cell."""
        return self.cells // self.shape[2]

    @cached_property
    def cell_label(self) -> Integers:
        """Label of every cell."""
        return self.cells % self.shape[2]

    @cached_property
    def own(self) -> Marks:
        """What every judgment marked."""
        cell = _place(self._cell(self.judgment, self.label), self.cells)
        return Marks(np.arange(self.item.size), self.judgment, cell, np.ones(cell.size, bool))

    def dealt(self, source: Integers) -> Marks:
        """Return the marks when judgment j gives the vector of judgment ``source[j]``."""
        n_marks = np.bincount(self.judgment)[source]
        judgment = np.repeat(np.arange(source.size), n_marks)
        first = np.searchsorted(self.judgment, source) - np.cumsum(n_marks) + n_marks
        label = self.label[first[judgment] + np.arange(judgment.size)]
        marked = self.judgment * self.shape[2] + self.label
        own = _place(judgment * self.shape[2] + label, marked) < marked.size
        return Marks(source, judgment, _place(self._cell(judgment, label), self.cells), own)

    def _cell(self, judgment: Integers, label: Integers) -> Integers:
        return self.item[judgment] * self.shape[2] + label

    @cached_property
    def visits(self) -> Visits:
        """Who marked what, as the sums over pairs of annotators read it."""
        who, at = self.annotator[self.judgment], self.item[self.judgment]
        # Sorting numbers that hold row and item is three times as fast as finding their order.
        rows, items = np.divmod(np.sort((self.label * self.shape[1] + who) * self.shape[0] + at), self.shape[0])
        start = np.flatnonzero(np.diff(rows, prepend=-1))
        label, annotator = np.divmod(rows[start], self.shape[1])
        mark = np.column_stack([who, self.label]).astype(np.uint32)
        item_start = np.searchsorted(at, np.arange(self.shape[0] + 1))
        return Visits(label, annotator, np.append(start, rows.size), items.astype(np.uint32), item_start, mark)

    def label_share(self, quality: Floats) -> Floats:
        """Return UAS, the share of the annotators' weight that marked each label, shape (item, category)."""
        n_items, _, n_labels = self.shape
        weight = np.nan_to_num(quality)[self.annotator]
        cell = self.item[self.judgment] * n_labels + self.label
        marked = np.bincount(cell, weight[self.judgment], n_items * n_labels).reshape(n_items, n_labels)
        total = np.maximum(np.bincount(self.item, weight, n_items), SMALLEST)
        judged = np.bincount(self.item, minlength=n_items) > 0
        return np.where(judged[:, None], marked / total[:, None], np.nan)


def _place(wanted: Integers, known: Integers) -> Integers:
    """Return the place of each number among ascending ones; their number where it is not among them."""
    place = np.searchsorted(known, wanted)
    return np.where(known[np.minimum(place, known.size - 1)] == wanted, place, known.size)
