"""Labels: one label of a closed list per annotation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from bayesagree._types import Array, Codes, Integers
from bayesagree.annotations._columns import (
    Duplicates,
    Entries,
    cell_place,
    coded_labels,
    column,
    float_values,
    matrix_axes,
)
from bayesagree.annotations._container import Categorical, Level, Values, are_numbers, rows_of, wide_frame
from bayesagree.annotations.spans import NO_LABEL, Match, span_rows
from bayesagree.errors import InputError, SizeError, one_of, refuse

# Annotations that may get a row each: a few gigabytes of positions and codes.
MOST_SINGLE = 100_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Labels(Categorical, Values):
    """One label of a closed list per annotation.

    Attributes
    ----------
    items, annotators, categories
        Names on each axis. `annotators` is empty where the annotators are unknown (`from_counts`).
    item_index, annotator_index, label_index
        Positions in those names, one row per annotation, shape (row,); an unknown annotator is -1.
    count
        How many annotations the row stands for, shape (row,): 1 unless the labels came as counts.
    ordered
        Whether `categories` stand in a meaningful order, lowest or highest first. None: not stated; numbers then
        count as ordered in coefficients of agreement, and names do not (`has_order`).
    """

    kind: ClassVar[Literal["labels"]] = "labels"
    value_fields = ("label_index", "count")

    categories: Array
    label_index: Codes
    count: Integers
    ordered: bool | None = None

    @classmethod
    def from_long(
        cls,
        frame: Any,
        *,
        item: str = "item",
        annotator: str | None = "annotator",
        label: str = "label",
        labels: Sequence[Any] | None = None,
        duplicates: Duplicates = "error",
        ordered: bool | None = None,
    ) -> Self:
        """Read a table with one row per annotation.

        Parameters
        ----------
        frame
            pandas, polars or pyarrow table.
        item, annotator, label
            Names of its columns; unless they are passed, also the only column of a name such as ``task``, ``worker`` or
            ``answer``. A row without a label is a missing annotation: its item stays. ``annotator=None``: nobody knows
            who gave which label.
        labels
            All possible labels in their order. By default the declared categories of a categorical column, else
            the distinct values found, sorted.
        duplicates
            What to do when an annotator labelled an item twice: raise, keep every label, or keep the first or
            the last.
        ordered
            Whether the labels have an order: that of `labels`, of a categorical column, or of numbers. By default an
            ordered categorical of pandas has one, and numbers count as ordered in coefficients of agreement;
            ``False`` for numbers that are codes of classes.

        Raises
        ------
        InputError
            Empty table, missing column, unknown label, missing item or annotator, repeated annotation; an order of
            names that is stated nowhere.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"photo": [1, 1, 2], "worker": list("aba"), "label": ["cat", "dog", "cat"]})
        >>> Labels.from_long(table, item="photo", annotator="worker").counts().tolist()
        [[1, 1], [1, 0]]
        """
        entries, table, label = Entries.of_table(frame, item, annotator, label=label)
        return cls._of(entries, *coded_labels(column(table, label, "label"), labels, ordered), duplicates)

    @classmethod
    def from_matrix(
        cls,
        array: ArrayLike,
        *,
        items: Sequence[Any] | None = None,
        annotators: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
        ordered: bool | None = None,
    ) -> Self:
        """Read an (item, annotator) matrix of labels, or a wide data frame; NaN and None are missing.

        A data frame names the annotators by its columns, a pandas frame also the items by its index. `labels` and
        `ordered` are as in `from_long`.

        Raises
        ------
        InputError
            No cell, no label, a label that `labels` does not list, as many names as there are no rows for, or an order
            of names that is stated nowhere.

        Examples
        --------
        >>> Labels.from_matrix([["a", "b"], ["a", None]], labels=["a", "b"]).counts().tolist()
        [[1, 1], [1, 0]]
        """
        entries, cells = Entries.of_matrix(array, items, annotators)
        return cls._of(entries, *coded_labels(array, labels, ordered, cells, entries.place))

    @classmethod
    def from_counts(
        cls,
        array: ArrayLike,
        *,
        items: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
        ordered: bool | None = None,
    ) -> Self:
        """Read an (item, category) matrix of counts, or a wide data frame; the annotators behind them are unknown.

        ``ordered=True``: the columns stand in the order of the labels. Columns without names have none by default.
        `items` and `labels` name an array, and put in order what a data frame names itself.

        Raises
        ------
        InputError
            A count that is negative or not a whole number, with its place; no annotation at all.

        Examples
        --------
        >>> Labels.from_counts([[3, 0], [1, 2]], labels=["no", "yes"]).n_annotations
        6
        """
        cells, items_, labels_ = matrix_axes(array, items, labels, "label")
        place = cell_place(item=items_, label=labels_)
        counts = float_values(cells.ravel(), place, "count")
        refuse(
            ~(np.isfinite(counts) & (counts >= 0) & (counts == np.floor(counts))),
            lambda at: f"{place(at)}: count {counts[at]:g} is not a whole number of annotations (0, 1, 2, ...)",
        )
        if not counts.any():
            raise InputError("there is no annotation: every count is 0")
        if ordered is None and labels is None and not hasattr(array, "columns"):
            ordered = False
        cell = np.flatnonzero(counts)
        return cls._of_cells(items_, labels_, cell, counts[cell], ordered)

    @classmethod
    def from_spans(cls, frame: Any, *, match: Match = "overlap", no_label: str = NO_LABEL) -> Self:
        """Read a table with one row per marked span of text; items are candidate spans.

        Parameters
        ----------
        frame
            Columns document, annotator, start, end (not included) and label. An annotator who read a document and
            marked nothing has a row with an empty start, end and label; who has no row has not read it.
        match
            An item is what at least one annotator marked: spans that overlap are one item, or those with equal ends
            alone.
        no_label
            The label of what an annotator did not mark. Of several spans in one item the longest part decides.

        Returns
        -------
        Labels
            Items are named ``"<document>:<start>-<end>"``. Those of one document are not independent: pass
            ``cluster={item: item.rpartition(":")[0] for item in labels.items}`` to `evaluate`.

        Raises
        ------
        InputError
            A span without label, or that ends before it starts.

        Examples
        --------
        >>> import pandas as pd
        >>> rows = [("mail", "ann", 0, 6, "NAME"), ("mail", "bob", 3, 8, "NAME")]
        >>> spans = pd.DataFrame(rows, columns=["document", "annotator", "start", "end", "label"])
        >>> Labels.from_spans(spans).to_long().values.tolist()
        [['mail:0-8', 'ann', 'NAME'], ['mail:0-8', 'bob', 'NAME']]
        >>> Labels.from_spans(spans, match="exact").counts().tolist()
        [[1, 1], [1, 1]]
        """
        one_of(match, "match", ("overlap", "exact"))
        rows = span_rows(frame, match, no_label)
        if rows.empty:
            raise InputError("there is no span: every document is empty")
        return cls.from_long(rows)

    @classmethod
    def _of_cells(cls, items: Array, labels: Array, cell: Array, number: Array, ordered: bool | None) -> Self:
        """Labels of unknown annotators, by the cells of (item, category) that are not empty."""
        item, label = (codes.astype(np.int32) for codes in np.divmod(cell, labels.size))
        unknown = np.broadcast_to(np.int32(-1), cell.shape)
        return cls(items, np.empty(0, "<U1"), item, unknown, labels, label, number.astype(np.int64), ordered)

    @classmethod
    def _of(
        cls,
        entries: Entries,
        label: Array,
        known: Array,
        ordered: bool | None,
        duplicates: Duplicates = "error",
    ) -> Self:
        """Labels that were read, sorted; of unknown annotators they are counted."""
        rows = entries.kept(label >= 0, duplicates, "label")
        shape = (entries.items.size, entries.annotators.size, known.size)
        codes = entries.item[rows], entries.annotator[rows], label[rows]
        if not entries.annotators.size:
            used, number = np.unique(np.ravel_multi_index(codes[::2], shape[::2]), return_counts=True)
            return cls._of_cells(entries.items, known, used, number, ordered)
        key = np.sort(np.ravel_multi_index(codes, shape))  # rows with one key are equal
        item, annotator, label = (code.astype(np.int32) for code in np.unravel_index(key, shape))
        one = np.broadcast_to(np.int64(1), key.shape)
        return cls(entries.items, entries.annotators, item, annotator, known, label, one, ordered)

    @property
    def has_order(self) -> bool:
        """Whether the categories have an order: a stated one, else that of numbers which rise or fall throughout."""
        return self.numeric if self.ordered is None else self.ordered

    @property
    def numeric(self) -> bool:
        """Whether the categories are numbers that rise or fall throughout: others stand for something else."""
        return are_numbers(self.categories)

    @property
    def level(self) -> Level:
        """Level of measurement: ordinal where the order is stated; numbers alone may be codes of classes."""
        return "ordinal" if self.ordered else "nominal"

    @property
    def n_annotations(self) -> int:
        """Number of annotations."""
        return int(self.count.sum())

    def row_of_each(self) -> Integers:
        """Return the row of each single annotation, shape (annotation,), where counts stand for several."""
        if self.n_annotations > MOST_SINGLE:
            raise SizeError(
                f"{self.n_annotations:,} annotations stand in {self.count.size:,} counts, and a row for each does "
                f"not fit: {MOST_SINGLE:,} at most; take a random part of the annotations"
            )
        return np.repeat(np.arange(self.count.size), self.count)

    def text(self) -> NDArray[np.str_]:
        """Label of each row as text, shape (row,)."""
        return self.categories.astype(str)[self.label_index]

    def to_long(self) -> pd.DataFrame:
        """Table of one row per annotation: item, annotator, label; of counts: item, label, count.

        The label is a categorical of all categories, ordered if they are; an item without annotations has no row.

        Examples
        --------
        >>> votes = Labels.from_matrix([["a", "b"], ["a", None]])
        >>> Labels.from_long(votes.to_long()).counts().tolist() == votes.counts().tolist()
        True
        """
        label = pd.Categorical.from_codes(
            self.label_index, pd.Index(self.categories), ordered=bool(self.ordered)
        )
        more = {} if self.annotators_known else {"count": self.count}
        return pd.DataFrame(rows_of(self) | {"label": label} | more)

    def to_matrix(self) -> pd.DataFrame:
        """Table of one row per item and one column per annotator; a missing label is None.

        Raises
        ------
        InputError
            Unknown annotators, or an annotator who labelled an item twice.

        Examples
        --------
        >>> Labels.from_matrix([["a", "b"], ["a", None]]).to_matrix().values.tolist()
        [['a', 'b'], ['a', None]]
        """
        return wide_frame(self, self.categories.astype(object)[self.label_index], None)

    def counts(self) -> Integers:
        """Count the annotators of each item with each label, shape (item, category)."""
        shape = (self.items.size, self.categories.size)
        cell = np.ravel_multi_index((self.item_index, self.label_index), shape)
        return np.bincount(cell, self.count, np.prod(shape)).astype(np.int64).reshape(shape)
