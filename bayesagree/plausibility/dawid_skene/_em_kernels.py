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


@numba.njit(cache=True, nogil=True)
def item_log_joint(cells, i, log_prevalence, log_prior, log_confusion, joint):
    """Log p(truth = candidate, annotations of item i) of every candidate: a view of `joint`, shape (candidate,).

    `log_prior` of each candidate, shape (candidate,), is added to the prevalence of its label; it may be empty.
    """
    first = cells.candidate_start[i]
    candidates = cells.candidate[first : cells.candidate_start[i + 1]]
    n, m, start = cells.item_start[i + 1] - cells.item_start[i], candidates.size, cells.cell_start[i]
    for c in range(m):
        joint[c] = log_prevalence[candidates[c]]
    if log_prior.size > 0:
        for c in range(m):
            joint[c] += log_prior[first + c]
    own = cells.cell[start : start + n * m]  # a view: positions in it need no check
    for t in range(n):
        for c in range(m):
            joint[c] += log_confusion[own[t * m + c]]
    return joint[:m]


@numba.njit(cache=True, nogil=True)
def _count_item(cells, i, probability, weights, count):
    """Add the probabilities of an item's candidates to the labels and to the cells of its annotations."""
    first, last = cells.candidate_start[i], cells.candidate_start[i + 1]
    n, m, start = cells.item_start[i + 1] - cells.item_start[i], last - first, cells.cell_start[i]
    if n == 0 and m > 1:
        return  # an item without labels says nothing, unless its truth is known
    candidates, own, cell = cells.candidate[first:last], probability[first:last], cells.cell[start : start + n * m]
    for c in range(m):
        count[candidates[c]] += own[c]
    for t in range(n):
        for c in range(m):
            weights[cell[t * m + c]] += own[c]


@numba.njit(cache=True, nogil=True)
def expected_counts(cells, probability, weights, count):
    """Add up the probabilities of all candidates by confusion cell and by label."""
    weights[:] = 0.0
    count[:] = 0.0
    for i in range(cells.item_start.size - 1):
        _count_item(cells, i, probability, weights, count)


@numba.njit(cache=True, nogil=True)
def expect(cells, log_prevalence, log_prior, log_confusion, probability, weights, count):
    """E step: posterior probability of each candidate, and their sums as `expected_counts`; returns log L."""
    weights[:] = 0.0
    count[:] = 0.0
    joint = np.empty(log_prevalence.size)
    log_likelihood = 0.0
    for i in range(cells.item_start.size - 1):
        first = cells.candidate_start[i]
        own = item_log_joint(cells, i, log_prevalence, log_prior, log_confusion, joint)
        log_total = normalise_logs(own)
        for c in range(own.size):
            probability[first + c] = own[c]
        if cells.item_start[i + 1] > cells.item_start[i] or own.size == 1:
            log_likelihood += log_total
        # At once, while the item's cells are still in the cache: with many annotators they lie far apart.
        _count_item(cells, i, probability, weights, count)
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
