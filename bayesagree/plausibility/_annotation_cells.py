"""Sparse layout of annotator confusion: only cells (annotator, true label, given label) that annotations can touch.

An annotator x label x label array of 10^5 annotators and 1000 labels has 10^11 cells, nearly all of which no
annotation ever touches. Every item instead lists the labels that may be its truth (its candidates), and a cell exists
where an annotator of the item gave some label while a candidate may be true. Given labels of a confusion row
(annotator, true label) that no annotation touches act only through their total prior weight.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree.errors import InputError, SizeError

type Candidates = Literal["all", "observed"]


class AnnotationCells(NamedTuple):
    """Annotations sorted by item, and the confusion cells they touch (a tuple of arrays: compiled code reads it).

    Attributes
    ----------
    item_start
        Annotations of item i are ``item_start[i]:item_start[i + 1]``, shape (item + 1,).
    candidate_start, candidate
        Labels that may be the truth of item i: ``candidate[candidate_start[i]:candidate_start[i + 1]]``.
    cell_start, cell
        Annotation t of item i with its c-th of m candidates touches cell
        ``cell[cell_start[i] + (t - item_start[i]) * m + c]``.
    cell_label
        The given label of each cell. Cells of one (annotator, given label) are neighbours.
    row_start, row_cell, row_annotator, row_label
        Confusion row r = (annotator, true label) owns the cells ``row_cell[row_start[r]:row_start[r + 1]]``.
    """

    item_start: NDArray[np.int64]
    candidate_start: NDArray[np.int64]
    candidate: NDArray[np.int32]
    cell_start: NDArray[np.int64]
    cell: NDArray[Any]
    cell_label: NDArray[np.int32]
    row_start: NDArray[np.int64]
    row_cell: NDArray[np.int64]
    row_annotator: NDArray[np.int32]
    row_label: NDArray[np.int32]

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.item_start.size - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of annotations of each item."""
        return np.diff(self.item_start)

    def row_of_cell(self) -> NDArray[np.int64]:
        """Return the confusion row of each cell, shape (cell,)."""
        row = np.empty(self.cell_label.size, np.int64)
        row[self.row_cell] = np.repeat(np.arange(self.row_label.size), np.diff(self.row_start))
        return row

    def expand(self, values: NDArray[np.float64], n_labels: int, missing: float = 0.0) -> NDArray[np.float64]:
        """Turn one value per (item, candidate) into a matrix, shape (item, label)."""
        full = np.full((self.n_items, n_labels), missing)
        full[np.repeat(np.arange(self.n_items), np.diff(self.candidate_start)), self.candidate] = values
        return full


def annotation_cells(
    item: NDArray[Any],
    annotator: NDArray[Any],
    label: NDArray[Any],
    *,
    n_items: int,
    n_annotators: int,
    n_labels: int,
    candidates: Candidates = "all",
    gold: NDArray[np.integer[Any]] | None = None,
    max_bytes: int = 2**32,
) -> AnnotationCells:
    """Lay out annotations for the Dawid-Skene engines.

    Parameters
    ----------
    item, annotator, label
        Codes of each annotation, shape (row,), in any order.
    n_items, n_annotators, n_labels
        Sizes of the three axes.
    candidates
        Which labels may be an item's truth: all of them, or those that somebody gave it (for thousands of labels).
    gold
        Known label of each item or -1, shape (item,): a known truth is the item's only candidate.
    max_bytes
        Largest layout to allocate.

    Raises
    ------
    SizeError
        A layout above `max_bytes`, with its size.
    """
    if not (len(item) == len(annotator) == len(label)) or len(item) == 0:
        raise InputError("item, annotator and label codes must be equally long and not empty")
    item, annotator, label = _sorted(item, annotator, label, n_annotators, n_labels)
    item_start = np.searchsorted(item, np.arange(n_items + 1))
    candidate_start, candidate = _candidates(item, label, n_items, n_labels, candidates, gold)
    width = np.diff(candidate_start)
    cell_start = np.concatenate([[0], np.cumsum(np.diff(item_start) * width)])
    if 16 * int(cell_start[-1]) > max_bytes:
        raise SizeError(
            f"{len(item)} annotations with {cell_start[-1] / len(item):.0f} possible truths each take "
            f"{16 * cell_start[-1] / 2**30:.1f} GiB, more than max_bytes={max_bytes}; pass candidates='observed'"
        )
    if candidates == "all" and gold is None:
        truth = np.tile(np.arange(n_labels, dtype=np.int32), item.size)
    else:
        truth = candidate[_runs(candidate_start[item], width[item])]
    pairs, pair = np.unique(annotator * n_labels + label, return_inverse=True)
    cell = np.repeat(pair * n_labels, width[item]) + truth
    if pairs.size * n_labels > 4 * cell.size:  # many labels: number only the cells that occur
        touched, cell = np.unique(cell, return_inverse=True)
    else:
        touched = np.arange(pairs.size * n_labels)
    cell = cell.astype(np.int32 if touched.size < 2**31 else np.int64)
    cell_annotator, cell_label = np.divmod(pairs[touched // n_labels], n_labels)
    rows = _rows(cell_annotator, touched % n_labels, n_labels)
    return AnnotationCells(
        item_start, candidate_start, candidate, cell_start[:-1], cell, cell_label.astype(np.int32), *rows
    )


def _sorted(
    item: NDArray[Any], annotator: NDArray[Any], label: NDArray[Any], n_annotators: int, n_labels: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Sort annotations by item, annotator, label, so that their order never changes a result."""
    key = (np.asarray(item, np.int64) * n_annotators + annotator) * n_labels + label
    if (key[1:] < key[:-1]).any():
        key = np.sort(key)
    rest, label = np.divmod(key, n_labels)
    item, annotator = np.divmod(rest, n_annotators)
    return item, annotator, label


def _candidates(
    item: NDArray[np.int64],
    label: NDArray[np.int64],
    n_items: int,
    n_labels: int,
    candidates: Candidates,
    gold: NDArray[np.integer[Any]] | None,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """List the possible true labels of every item, ascending; items that nobody labelled have them all."""
    if candidates not in ("all", "observed"):
        raise InputError(f"candidates={candidates!r} is not one of 'all', 'observed'")
    if candidates == "all" and gold is None:
        return np.arange(n_items + 1) * n_labels, np.tile(np.arange(n_labels, dtype=np.int32), n_items)
    known = np.full(n_items, -1) if gold is None else np.asarray(gold, dtype=np.int64)
    pairs = np.flatnonzero(known >= 0) * n_labels + known[known >= 0]
    free = known < 0
    if candidates == "observed":
        seen = np.unique(item * n_labels + label)
        pairs = np.concatenate([pairs, seen[free[seen // n_labels]]])
        free = free & (np.bincount(item, minlength=n_items) == 0)
    pairs = np.concatenate([pairs, (np.flatnonzero(free)[:, None] * n_labels + np.arange(n_labels)).ravel()])
    pairs.sort()
    start = np.searchsorted(pairs, np.arange(n_items + 1) * n_labels)
    return start, (pairs % n_labels).astype(np.int32)


def _rows(
    annotator: NDArray[np.int64], truth: NDArray[np.int64], n_labels: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Group cells into confusion rows (annotator, true label); within a row they stay in order of given label."""
    row = annotator * n_labels + truth
    row_cell = np.argsort(row, kind="stable")
    rows, first = np.unique(row[row_cell], return_index=True)
    start = np.append(first, row.size).astype(np.int64)
    return start, row_cell, (rows // n_labels).astype(np.int32), (rows % n_labels).astype(np.int32)


def _runs(start: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return start[0], start[0] + 1, ... for each run of the given length, one run after the other."""
    ends = np.cumsum(length)
    return np.arange(ends[-1] if ends.size else 0) - np.repeat(ends - length - start, length)
