"""Compiled E and M steps of expectation maximisation over the annotations; `cells` is an `AnnotationCells`."""

import math

import numba
import numpy as np

from bayesagree._numerics.draws import normalise_logs


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
def item_log_joint(cell, candidate, first, m, position, n, log_prevalence, log_prior, log_confusion, joint):
    """Write log p(truth = candidate, annotations of an item) of its m candidates: first, first + 1, ...

    Its n annotations have their cells from `position` on. `log_prior` of each candidate, shape (candidate,), is added
    to the prevalence of its label; it may be empty.
    """
    for c in range(m):
        joint[c] = log_prevalence[candidate[first + c]]
        if log_prior.size > 0:
            joint[c] += log_prior[first + c]
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
def expect(cells, log_prevalence, log_prior, log_confusion, probability, weights, count):
    """E step: posterior probability of each candidate, and their sums as `expected_counts`; returns log L."""
    weights[:] = 0.0
    count[:] = 0.0
    joint, log_likelihood = np.empty(log_prevalence.size), 0.0
    item_start, candidate_start, candidate, cell_start, cell = cells[:5]
    for i in range(item_start.size - 1):
        first, n, position = candidate_start[i], item_start[i + 1] - item_start[i], cell_start[i]
        m = candidate_start[i + 1] - first
        item_log_joint(cell, candidate, first, m, position, n, log_prevalence, log_prior, log_confusion, joint)
        log_total = normalise_logs(joint[:m])
        for c in range(m):
            probability[first + c] = joint[c]
        if n > 0 or m == 1:
            log_likelihood += log_total
        # At once, while the item's cells are still in the cache: with many annotators they lie far apart.
        _count_item(cell, candidate, first, m, position, n, probability, weights, count)
    return log_likelihood


@numba.njit(cache=True, nogil=True)
def maximise_rows(cells, weights, prior, prior_total, log_confusion):
    """M step: log confusion of every cell; returns the log prior."""
    log_prior = 0.0
    for r in range(cells.row_label.size):
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
            log_confusion[cell] = math.log(value / total) if value > 0 else -math.inf
            if pseudo > 0:
                log_prior += pseudo * log_confusion[cell]
        if unseen > 1e-12:  # more than rounding leaves of pseudo-counts that were all given
            # labels the annotator never gave keep the shares of their pseudo-counts: a constant, left out
            log_prior -= unseen * math.log(total)
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
