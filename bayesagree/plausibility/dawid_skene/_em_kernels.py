"""Compiled E and M steps of expectation maximisation over the annotations; `cells` is an `AnnotationCells`."""

import math

import numba
import numpy as np

from bayesagree._numerics.draws import normalise_logs

# Items whose cells are read before anything is done with them: a loop that does nothing else waits for many at once,
# wherever they lie in memory.
AHEAD = 64


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


# Inlined, with plain arrays: taking one out of a tuple for every item counts references, and that costs as much as the
# item's sums.
@numba.njit(cache=True, nogil=True, inline="always")
def item_log_joint(cell, candidate, first, m, position, n, log_prevalence, log_confusion, joint):
    """Write log p(truth = candidate, annotations of an item) of its m candidates: first, first + 1, ...

    Its n annotations have their cells from `position` on.
    """
    for c in range(m):
        joint[c] = log_prevalence[candidate[first + c]]
    for _ in range(n):
        for c in range(m):
            joint[c] += log_confusion[cell[position]]
            position += 1


@numba.njit(cache=True, nogil=True, inline="always")
def _count_item(cell, candidate, first, m, position, n, probability, weights, count):
    """Add the probabilities of an item's candidates to the labels and to the cells of its annotations."""
    if n > 0 or m == 1:  # an item without labels says nothing, unless its truth is known
        for c in range(first, first + m):
            count[candidate[c]] += probability[c]
        for _ in range(n):
            for c in range(first, first + m):
                weights[cell[position]] += probability[c]
                position += 1


@numba.njit(cache=True, nogil=True)
def expected_counts(cells, probability, weights, count):
    """Add up the probabilities of all candidates by confusion cell and by label."""
    weights[:] = 0.0
    count[:] = 0.0
    item_start, candidate_start, candidate, cell_start, cell = cells[:5]
    for i in range(item_start.size - 1):
        first, n, position = candidate_start[i], item_start[i + 1] - item_start[i], cell_start[i]
        m = candidate_start[i + 1] - first
        _count_item(cell, candidate, first, m, position, n, probability, weights, count)


@numba.njit(cache=True, nogil=True)
def expect(cells, log_prevalence, log_confusion, probability, weights, count):
    """E step: posterior probability of each candidate, and their sums as `expected_counts`; returns log L."""
    weights[:] = 0.0
    count[:] = 0.0
    joint, log_likelihood, read = np.empty(log_prevalence.size), 0.0, np.empty(1)
    item_start, candidate_start, candidate, cell_start, cell = cells[:5]
    n_items = item_start.size - 1
    for begin in range(0, n_items, AHEAD):
        end = min(begin + AHEAD, n_items)
        read[0] = _sum_of(log_confusion, cell, cell_start[begin], cell_start[end] if end < n_items else cell.size)
        for i in range(begin, end):
            first, n, position = candidate_start[i], item_start[i + 1] - item_start[i], cell_start[i]
            m = candidate_start[i + 1] - first
            item_log_joint(cell, candidate, first, m, position, n, log_prevalence, log_confusion, joint)
            log_total = normalise_logs(joint[:m])
            for c in range(m):
                probability[first + c] = joint[c]
            if n > 0 or m == 1:
                log_likelihood += log_total
            _count_item(cell, candidate, first, m, position, n, probability, weights, count)
    return log_likelihood


@numba.njit(cache=True, nogil=True)
def _sum_of(values, cell, first, last):
    """Return the sum of the values of some cells."""
    total = 0.0
    for position in range(first, last):
        total += values[cell[position]]
    return total


@numba.njit(cache=True, nogil=True)
def maximise_rows(cells, row, weights, prior, prior_total, log_confusion):
    """M step: log confusion of every cell, each of its `row`, shape (cell,); returns the log prior."""
    total, unseen, log_prior, most = np.empty(cells.row_label.size), np.empty(cells.row_label.size), 0.0, 0.0
    for r in range(total.size):
        total[r] = unseen[r] = prior_total[cells.row_label[r]]
        most = max(most, total[r])
    for cell in range(row.size):
        total[row[cell]] += weights[cell]
    for cell in range(row.size):
        r = row[cell]
        pseudo = prior[cells.row_label[r], cells.cell_label[cell]] if most > 0 else 0.0
        value = weights[cell] + pseudo
        log_confusion[cell] = math.log(value / total[r]) if value > 0 else -math.inf
        if pseudo > 0:
            log_prior += pseudo * log_confusion[cell]
            unseen[r] -= pseudo
    for r in range(total.size):
        if unseen[r] > 1e-12:  # more than rounding leaves of pseudo-counts that were all given
            # labels the annotator never gave keep the shares of their pseudo-counts: a constant, left out
            log_prior -= unseen[r] * math.log(total[r])
    return log_prior
