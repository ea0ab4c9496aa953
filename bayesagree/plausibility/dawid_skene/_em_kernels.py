"""Passes of expectation maximisation over the annotations, in two orders of memory.

The expectation needs the annotations of an item together, the maximisation those of an annotator. With 10^5 annotators
neither table stays in a processor's cache, and fetching one number at a random place takes a hundred times as long as
computing with it. So every (annotation, candidate) pair has a message, and the messages lie in the order of the crowd:
by block of neighbouring confusion cells, and within a block by item. A pass over the crowd then touches one block of
cells after the other, and a pass over the items reads a few hundred blocks from front to end side by side.
"""

from itertools import pairwise
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree.plausibility.dawid_skene._cells import AnnotationCells

BLOCKS = 512
"""At most so many blocks of cells: a line of memory of each fits the innermost cache."""


class Messages(NamedTuple):
    """What items and crowd tell each other about each (annotation, candidate) pair.

    Attributes
    ----------
    place
        Place of the message of each pair; pairs in the order of `AnnotationCells.cell`, shape (pair,).
    cell
        Confusion cell of the message at each place, shape (pair,).
    value
        Log confusion on the way to the items, probability on the way back, shape (pair,).
    block_start
        Places ``block_start[b]:block_start[b + 1]`` belong to block b of cells.
    """

    place: NDArray[np.uint32]
    cell: NDArray[np.uint32]
    value: NDArray[np.float64]
    block_start: NDArray[np.int64]


def lay_out_messages(cells: AnnotationCells) -> Messages:
    """Lay out the messages; their values are still empty."""
    n_cells = cells.cell_label.size
    bits = ((n_cells - 1) // BLOCKS).bit_length()
    place, cell, block_start = _by_block(cells.cell, bits, ((n_cells - 1) >> bits) + 1)
    return Messages(place, cell, np.empty(cell.size), block_start)


def cut(borders: NDArray[np.int64], parts: int) -> list[tuple[int, int]]:
    """Cut work that ends at these borders into about equal parts, as positions of borders."""
    at = np.searchsorted(borders, np.linspace(borders[0], borders[-1], parts + 1)[1:-1])
    return list(pairwise([0, *at.tolist(), borders.size - 1]))


@numba.njit(cache=True, nogil=True)
def count_votes(cells, item, label):
    """Count how often each candidate was given to its item, shape (candidate,); annotations in any order."""
    votes = np.zeros(cells.candidate.size)
    for t in range(item.size):
        first, last = cells.candidate_start[item[t]], cells.candidate_start[item[t] + 1]
        place = first + np.searchsorted(cells.candidate[first:last], label[t])
        if place < last and cells.candidate[place] == label[t]:
            votes[place] += 1.0
    return votes


@numba.njit(cache=True, nogil=True)
def _by_block(cell, bits, n_blocks):
    start = np.zeros(n_blocks + 1, np.int64)
    for k in cell:
        start[(k >> bits) + 1] += 1
    start = np.cumsum(start)
    end = start.copy()
    # Unsigned: compiled code need not ask whether a place counts from the end.
    place, sorted_cell = np.empty(cell.size, np.uint32), np.empty(cell.size, np.uint32)
    for t in range(cell.size):
        block = cell[t] >> bits
        place[t] = end[block]
        sorted_cell[end[block]] = cell[t]
        end[block] += 1
    return place, sorted_cell, start


@numba.njit(cache=True, nogil=True)
def send_start(cells, messages, probability, count):
    """Send the probabilities of all candidates to the crowd, and sum them by label."""
    for i in range(cells.item_start.size - 1):
        _send(cells, messages, i, probability, count)


@numba.njit(cache=True, nogil=True)
def _send(cells, messages, i, probability, count):
    """Send the probabilities of an item's candidates to each of its annotations, and count them."""
    first, last = cells.candidate_start[i], cells.candidate_start[i + 1]
    candidates, own = cells.candidate[first:last], probability[first:last]
    n, m, start = cells.item_start[i + 1] - cells.item_start[i], candidates.size, cells.cell_start[i]
    if n == 0 and m > 1:
        return  # an item without labels says nothing, unless its truth is known
    place, value = messages.place[start : start + n * m], messages.value
    for c in range(m):
        count[candidates[c]] += own[c]
    for t in range(n):
        for c in range(m):
            value[place[t * m + c]] = own[c]


@numba.njit(cache=True, nogil=True)
def item_log_joint(cells, i, log_prevalence, place, log_chance, out):
    """Write log p(truth = candidate, annotations of item i) for every candidate; return the largest.

    The log chance of each of the item's (annotation, candidate) pairs stands in `log_chance` at its `place`.
    """
    candidates = cells.candidate[cells.candidate_start[i] : cells.candidate_start[i + 1]]
    n, m, start = cells.item_start[i + 1] - cells.item_start[i], candidates.size, cells.cell_start[i]
    for c in range(m):
        out[c] = log_prevalence[candidates[c]]
    own = place[start : start + n * m]  # a view: positions in it need no check either
    for t in range(n):
        for c in range(m):
            out[c] += log_chance[own[t * m + c]]
    largest = -np.inf
    for c in range(m):
        largest = max(largest, out[c])
    return largest


@numba.njit(cache=True, nogil=True)
def expect(cells, messages, log_prevalence, probability, part_count, numbered_part):
    """Answer log confusion by posterior probabilities, for part k of the items; sum them by label; return log L."""
    k, begin, end = numbered_part
    count = part_count[k]
    count[:] = 0.0
    joint = np.empty(log_prevalence.size)
    log_likelihood = 0.0
    for i in range(begin, end):
        first, m = cells.candidate_start[i], cells.candidate_start[i + 1] - cells.candidate_start[i]
        largest = item_log_joint(cells, i, log_prevalence, messages.place, messages.value, joint)
        total = 0.0
        for c in range(m):
            joint[c] = np.exp(joint[c] - largest)
            total += joint[c]
        for c in range(m):
            probability[first + c] = joint[c] / total
        if cells.item_start[i + 1] > cells.item_start[i] or m == 1:
            log_likelihood += largest + np.log(total)
        _send(cells, messages, i, probability, count)
    return log_likelihood


@numba.njit(cache=True, nogil=True)
def gather_weights(messages, weights, part):
    """Sum the messages of some blocks into their cells."""
    begin, end = part
    for t in range(messages.block_start[begin], messages.block_start[end]):
        weights[messages.cell[t]] += messages.value[t]


@numba.njit(cache=True, nogil=True)
def send_confusion(messages, log_confusion, part):
    """Write the log confusion of its cell into each message of some blocks."""
    begin, end = part
    for t in range(messages.block_start[begin], messages.block_start[end]):
        messages.value[t] = log_confusion[messages.cell[t]]


@numba.njit(cache=True, nogil=True)
def maximise_rows(cells, weights, prior, prior_total, log_confusion, part):
    """Write log confusion of some rows; return their log prior."""
    begin, end = part
    log_prior = 0.0
    for r in range(begin, end):
        k = cells.row_label[r]
        total = 0.0
        unseen = prior_total[k]
        row = cells.row_cell[cells.row_start[r] : cells.row_start[r + 1]]
        for cell in row:
            total += weights[cell]
        total += unseen
        for cell in row:
            pseudo = prior[k, cells.cell_label[cell]]
            unseen -= pseudo
            value = weights[cell] + pseudo
            log_confusion[cell] = np.log(value / total) if value > 0 else -np.inf
            if pseudo > 0:
                log_prior += pseudo * log_confusion[cell]
        if unseen > 1e-12:
            # labels the annotator never gave keep the shares of their pseudo-counts: a constant, left out
            log_prior -= unseen * np.log(total)
    return log_prior


@numba.njit(cache=True, nogil=True)
def row_hits(cells, weights):
    """Return the weight of right answers and of all answers of each confusion row, both shape (row,)."""
    right, total = np.zeros(cells.row_label.size), np.zeros(cells.row_label.size)
    for r in range(cells.row_label.size):
        for cell in cells.row_cell[cells.row_start[r] : cells.row_start[r + 1]]:
            total[r] += weights[cell]
            if cells.cell_label[cell] == cells.row_label[r]:
                right[r] += weights[cell]
    return right, total
