"""Sparse layout of annotator confusion: only cells (annotator, true label, given label) that annotations can touch.

An annotator x label x label array of 10^5 annotators and 1000 labels has 10^11 cells, nearly all of which no
annotation ever touches. Every item instead lists the labels that may be its truth (its candidates), and a cell exists
where an annotator of the item gave some label while a candidate may be true. Given labels of a confusion row
(annotator, true label) that no annotation touches act only through their total prior weight.
"""

from typing import Any, Literal, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree.errors import InputError, SizeError
from bayesagree.inference.multisets import distinct

type Candidates = Literal["all", "observed"]

# Largest number of cells: they are numbered by four bytes.
MOST = 2**31 - 1


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

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Items that say something of the prevalence: labelled ones, and those whose truth is known, shape (item,)."""
        return (self.sizes > 0) | (np.diff(self.candidate_start) == 1)

    def candidate_item(self) -> NDArray[np.int64]:
        """Return the item of each candidate, shape (candidate,)."""
        return np.repeat(np.arange(self.n_items), np.diff(self.candidate_start))

    def candidate_of_cell(self) -> NDArray[np.int64]:
        """Return the candidate of each (annotation, candidate), in the order of `cell`."""
        width = np.repeat(np.diff(self.candidate_start), self.sizes)
        first = np.repeat(self.candidate_start[:-1], self.sizes) - np.append(0, np.cumsum(width)[:-1])
        return np.arange(self.cell.size) + np.repeat(first, width)

    def row_of_cell(self) -> NDArray[np.int64]:
        """Return the confusion row of each cell, shape (cell,)."""
        row = np.empty(self.cell_label.size, np.int64)
        row[self.row_cell] = np.repeat(np.arange(self.row_label.size), np.diff(self.row_start))
        return row

    def annotator(self) -> NDArray[np.int32]:
        """Return the annotator of each annotation, shape (annotation,)."""
        within = np.arange(self.item_start[-1]) - np.repeat(self.item_start[:-1], self.sizes)
        step = np.repeat(np.diff(self.candidate_start), self.sizes)
        cell = self.cell[np.repeat(self.cell_start[: self.n_items], self.sizes) + within * step]
        return self.row_annotator[self.row_of_cell()[cell]]

    def expand(self, values: NDArray[np.float64], n_labels: int, missing: float = 0.0) -> NDArray[np.float64]:
        """Turn one value per (item, candidate) into a matrix, shape (item, category)."""
        full = np.full((self.n_items, n_labels), missing)
        full[self.candidate_item(), self.candidate] = values
        return full


def annotation_cells(
    item: NDArray[Any],
    annotator: NDArray[Any],
    label: NDArray[Any],
    n_items: int,
    n_annotators: int,
    n_labels: int,
    *,
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
    InputError
        A code that is no position on its axis, with its row.
    SizeError
        A layout above `max_bytes`, with its size.
    """
    if not (len(item) == len(annotator) == len(label)) or len(item) == 0:
        raise InputError("item, annotator and label codes must be equally long and not empty")
    _check_codes("item", item, n_items)
    _check_codes("annotator", annotator, n_annotators)
    _check_codes("label", label, n_labels)
    known = np.full(n_items, -1) if gold is None else np.asarray(gold, dtype=np.int64)
    _check_codes("gold label", known, n_labels, lowest=-1)
    if known.size != n_items:
        raise InputError(f"gold has {known.size} labels for {n_items} items; give -1 where the truth is unknown")
    item, annotator, label = _sorted(item, annotator, label, n_annotators, n_labels)
    item_start = np.searchsorted(item, np.arange(n_items + 1))
    candidate_start, candidate = _candidates(item, label, known, n_labels, candidates, max_bytes)
    cell_start = np.concatenate([[0], np.cumsum(np.diff(item_start) * np.diff(candidate_start))])
    _check_size(int(cell_start[-1]), "pairs of annotation and possible truth", candidates, max_bytes)
    # One number for each (annotator, given label, candidate): cells of an annotator and given label are neighbours.
    given = (annotator.astype(np.int64) * n_labels + label) * n_labels
    width = np.diff(candidate_start)[item]
    first = candidate_start[:-1][item] - np.append(0, np.cumsum(width)[:-1])
    touched = np.repeat(given, width) + candidate[np.arange(width.sum()) + np.repeat(first, width)]
    code, cell = distinct(touched, n_annotators * n_labels**2)
    rest, truth = np.divmod(code, n_labels)
    annotator, label = np.divmod(rest, n_labels)
    row_code, row = distinct(annotator * n_labels + truth, n_annotators * n_labels)
    row_start = np.searchsorted(np.sort(row), np.arange(row_code.size + 1))
    row_annotator, row_label = np.divmod(row_code, n_labels)
    # Positions without a sign: compiled code need not ask whether they count from the end.
    cells = cell_start[:-1], cell.astype(np.uint32), label.astype(np.int32)
    rows = row_start, np.argsort(row, kind="stable"), row_annotator.astype(np.int32), row_label.astype(np.int32)
    return AnnotationCells(item_start, candidate_start, candidate, *cells, *rows)


def _sorted(
    item: NDArray[Any], annotator: NDArray[Any], label: NDArray[Any], n_annotators: int, n_labels: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Sort annotations by item, annotator, label, so that their order never changes a result."""
    key = (np.asarray(item, np.int64) * n_annotators + annotator) * n_labels + label
    if (key[1:] < key[:-1]).any():
        key = np.sort(key)
    rest, label = np.divmod(key, n_labels)
    item, annotator = np.divmod(rest, n_annotators)
    return item, annotator.astype(np.int32), label.astype(np.int32)


def _check_codes(name: str, codes: NDArray[np.integer[Any]], n: int, lowest: int = 0) -> None:
    wrong = np.flatnonzero((np.asarray(codes) < lowest) | (np.asarray(codes) >= n))
    if wrong.size:
        raise InputError(f"{name} code {codes[wrong[0]]} in row {wrong[0]} is not one of {lowest}, ..., {n - 1}")


def _check_size(n: int, what: str, candidates: Candidates, max_bytes: int) -> None:
    """Refuse a layout that would not fit, before any of it exists."""
    if 16 * n > max_bytes or n > MOST:
        way_out = "pass candidates='observed'" if candidates == "all" else "fit the items in parts"
        raise SizeError(
            f"{n:,} {what} take {16 * n / 2**30:.1f} GiB, more than max_bytes={max_bytes}, or are above 2^31; {way_out}"
        )


def _candidates(
    item: NDArray[np.int64],
    label: NDArray[np.int32],
    known: NDArray[np.int64],
    n_labels: int,
    candidates: Candidates,
    max_bytes: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """List the possible true labels of every item, ascending; items that nobody labelled have them all."""
    if candidates not in ("all", "observed"):
        raise InputError(f"candidates={candidates!r} is not one of 'all', 'observed'")
    certain, open_ = np.flatnonzero(known >= 0), known < 0
    seen = open_[item] if candidates == "observed" else np.zeros(item.size, dtype=bool)
    anything = np.flatnonzero(open_ & (np.bincount(item[seen], minlength=known.size) == 0))
    _check_size(anything.size * n_labels, "possible truths", candidates, max_bytes)
    if anything.size == known.size:
        return np.arange(known.size + 1) * n_labels, np.tile(np.arange(n_labels, dtype=np.int32), known.size)
    owner = np.concatenate([item[seen], certain, np.repeat(anything, n_labels)])
    truth = np.concatenate([label[seen], known[certain], np.tile(np.arange(n_labels), anything.size)])
    code, _ = distinct(owner * n_labels + truth, known.size * n_labels)
    start = np.searchsorted(code, np.arange(known.size + 1) * n_labels)
    return start, (code % n_labels).astype(np.int32)


@numba.njit(cache=True, nogil=True)
def write_items(cells, plausibility, whole, out):
    """Write the whole plausibilities, shape (item, category), or the best labels of each item, shape (item, rank).

    Labels that cannot be true follow in their order.
    """
    for i in range(cells.item_start.size - 1):
        first, last = cells.candidate_start[i], cells.candidate_start[i + 1]
        if whole:
            for c in range(first, last):
                out[i, cells.candidate[c]] = plausibility[c]
            continue
        depth, best = min(out.shape[1], last - first), first
        if out.shape[1] == 1:  # to sort would take as long as to draw the item
            for c in range(first + 1, last):
                if plausibility[c] > plausibility[best]:
                    best = c
            out[i, 0] = cells.candidate[best]
            continue
        order = np.argsort(-plausibility[first:last], kind="mergesort")
        for r in range(depth):
            out[i, r] = cells.candidate[first + order[r]]
        label = 0
        for r in range(depth, out.shape[1]):
            while (cells.candidate[first:last] == label).any():
                label += 1
            out[i, r] = label
            label += 1
