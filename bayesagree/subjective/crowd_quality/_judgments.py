"""CrowdTruth's judgments as vectors.

A judgment, the answer of an annotator to an item, is a vector of zeros and ones over the labels. A mark is one of its
ones.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from bayesagree._numerics.types import Floats, Integers
from bayesagree.annotations import Labels
from bayesagree.errors import InputError, shorten, warn
from bayesagree.subjective.crowd_quality._kernels import SMALLEST, Visits


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
        warn(f"{alone.size} items have fewer than two annotators, so their quality does not exist: {shorten(alone)}")
        kept = judged[item] >= 2
        of_kept = kept[judgment]
        return cls(item[kept], annotator[kept], (np.cumsum(kept) - 1)[judgment[of_kept]], label[of_kept], shape)

    @cached_property
    def places(self) -> tuple[Integers, Integers, Integers, Integers]:
        """First judgment of each item and first mark of each judgment, with their ends; annotators and labels."""
        item_start = np.searchsorted(self.item, np.arange(self.shape[0] + 1))
        mark_start = np.searchsorted(self.judgment, np.arange(self.item.size + 1))
        return item_start, mark_start, self.annotator, self.label

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
