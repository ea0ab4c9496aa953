"""CrowdTruth's qualities, computed together until none moves.

One pass over the judgments of each item, and one over the pairs of annotators that met, which are never stored.
"""

import math
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]

SMALLEST = 1e-8
"""Every denominator, and every AQS, is at least this."""


class Vectors(NamedTuple):
    """What every judgment marked, sorted by item, annotator and label.

    Attributes
    ----------
    item_start
        Judgments of item u are ``item_start[u]:item_start[u + 1]``.
    annotator
        Of each judgment, shape (judgment,).
    mark_start
        Marks of judgment j are ``mark_start[j]:mark_start[j + 1]``.
    label
        Of each mark, shape (mark,).
    """

    item_start: NDArray[np.int64]
    annotator: NDArray[np.int64]
    mark_start: NDArray[np.int64]
    label: NDArray[np.int64]


class Visits(NamedTuple):
    """Who marked what, from both sides.

    Attributes
    ----------
    row_label, row_annotator, row_start
        One row for each label and annotator who chose it; its items are ``row_item[row_start[r]:row_start[r + 1]]``.
    row_item
        Items of the rows, shape (mark,).
    item_start, mark
        Marks of item u are ``mark[item_start[u]:item_start[u + 1]]``, columns annotator, label, and whether it is the
        first mark of its judgment: side by side, since each is read from a far place.
    """

    row_label: NDArray[np.int64]
    row_annotator: NDArray[np.int64]
    row_start: NDArray[np.int64]
    row_item: NDArray[np.uint32]
    item_start: NDArray[np.int64]
    mark: NDArray[np.uint32]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def converge(vectors, visits, present, n_annotators, n_labels, closed, tolerance, max_iterations):
    """Return the first and the last (UQS, WQS, WWA, WSA, AQS), the number of iterations and the last change.

    `present` says how often each item counts, shape (item,).
    """
    own, everyone = np.arange(vectors.annotator.size), np.ones(n_annotators)
    last = (np.ones(present.size), everyone, everyone, everyone, np.ones(n_labels))
    first, n, moved = last, 0, math.inf
    while n < max_iterations and not moved < tolerance:
        uqs, wqs, aqs = last[0], last[1], last[4]
        new_uqs, wwa, wsa = compare_vectors(vectors, own, wqs, uqs * present, aqs)
        new_wqs, new_aqs = wwa * wsa, aqs
        if closed:
            above, below = pair_sums(visits, wqs, uqs * present, n_labels)
            new_aqs = np.maximum(above / np.maximum(below, SMALLEST), SMALLEST)
        moved = max(furthest(new_uqs, uqs), furthest(new_wqs, wqs), furthest(new_aqs, aqs))
        last, n = (new_uqs, new_wqs, wwa, wsa, new_aqs), n + 1
        if n == 1:
            first = last
    return first, last, n, moved


@numba.njit(cache=True, nogil=True)
def furthest(new, old):
    """Return the largest change; qualities that do not exist do not move."""
    moved = 0.0
    for k in range(new.size):
        moved = max(moved, abs(new[k] - old[k]) if new[k] == new[k] and old[k] == old[k] else 0.0)
    return moved


@numba.njit(cache=True, nogil=True, error_model="numpy")
def compare_vectors(vectors, given, w, q, aqs):
    """Return UQS (item,), WWA and WSA (annotator,); NaN for an item or annotator without judgments.

    Judgment j gives the vector of judgment ``given[j]``, its own or one of the same annotator that was dealt to it; the
    vectors of the others stay theirs.
    """
    item_start, annotator, mark_start, label = vectors.item_start, vectors.annotator, vectors.mark_start, vectors.label
    weight, pulled, mine = np.zeros(aqs.size), np.zeros(aqs.size), np.zeros(aqs.size)
    uqs, sums = np.full(item_start.size - 1, np.nan), np.zeros((4, w.size))
    for u in range(uqs.size):
        if item_start[u] == item_start[u + 1]:
            continue
        judgments, crowd, whole2 = range(item_start[u], item_start[u + 1]), 0.0, 0.0
        for j in judgments:
            who, length2 = w[annotator[j]], squared_length(label, aqs, mark_start[j], mark_start[j + 1])
            crowd += who
            for m in range(mark_start[j], mark_start[j + 1]):
                weight[label[m]] += who
                pulled[label[m]] += who * math.sqrt(aqs[label[m]] / length2)
        for j in judgments:
            for m in range(mark_start[j], mark_start[j + 1]):
                whole2 += w[annotator[j]] * aqs[label[m]] * weight[label[m]]
        above, below = 0.0, 0.0
        for j in judgments:
            i = annotator[j]
            who, begin, end = w[i], mark_start[given[j]], mark_start[given[j] + 1]
            length2 = squared_length(label, aqs, mark_start[j], mark_start[j + 1])
            rest2, own2 = whole2, 0.0  # squared length of the sum of the others' vectors
            for m in range(mark_start[j], mark_start[j + 1]):
                k = label[m]
                mine[k] = 1.0
                rest2 -= aqs[k] * weight[k] ** 2
                own2 += aqs[k] * (weight[k] - who) ** 2
            rest2 = max(rest2, 0.0) + own2
            given2, similarity, product = squared_length(label, aqs, begin, end), 0.0, 0.0
            for m in range(begin, end):
                k = label[m]
                others = pulled[k] - mine[k] * who * math.sqrt(aqs[k] / length2)
                similarity += math.sqrt(aqs[k] / given2) * others
                product += aqs[k] * (weight[k] - mine[k] * who)
            for m in range(mark_start[j], mark_start[j + 1]):
                mine[label[m]] = 0.0
            lengths = math.sqrt(who**2 * given2 * rest2)
            # An annotator of weight 0 has no direction; the published scores give such a cosine the smallest value.
            cosine = SMALLEST if lengths < SMALLEST else who * product / lengths
            above += who * similarity
            below += who * (crowd - who)
            sums[0, i] += q[u] * similarity
            sums[1, i] += q[u] * (crowd - who)
            sums[2, i] += q[u] * cosine
            sums[3, i] += q[u]
        for m in range(mark_start[item_start[u]], mark_start[item_start[u + 1]]):
            weight[label[m]] = pulled[label[m]] = 0.0
        uqs[u] = above / max(below, SMALLEST)
    wwa, wsa = sums[0] / np.maximum(sums[1], SMALLEST), sums[2] / np.maximum(sums[3], SMALLEST)
    return uqs, wwa, wsa


@numba.njit(cache=True, nogil=True)
def squared_length(label, aqs, begin, end):
    """Return the squared length of one vector."""
    total = 0.0
    for m in range(begin, end):
        total += aqs[label[m]]
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def pair_sums(visits, w, q, n_labels):
    """Sum w_i w_j Pr(j marks a | i marks a), and w_i w_j, over ordered pairs i, j that met where i marked a.

    For each label a; the probability is a mean over these items, weighted by q. Items of weight 0 do not count.
    """
    above, below = np.zeros(n_labels), np.zeros(n_labels)
    seen, met = np.zeros((w.size, 2)), np.empty(w.size, np.uint32)
    mark, item_start, row_item = visits.mark, visits.item_start, visits.row_item
    for row in range(visits.row_label.size):
        a, i, n_met = visits.row_label[row], visits.row_annotator[row], 0
        for place in range(visits.row_start[row], visits.row_start[row + 1]):
            item = row_item[place]
            weight = q[item]
            if not weight > 0:
                continue
            for k in range(item_start[item], item_start[item + 1]):
                j = mark[k, 0]
                if mark[k, 2]:
                    if seen[j, 0] == 0.0:
                        met[n_met] = j
                        n_met += 1
                    seen[j, 0] += weight
                if mark[k, 1] == a:
                    seen[j, 1] += weight
        for place in range(n_met):
            j = met[place]
            if j != i:
                above[a] += w[i] * w[j] * seen[j, 1] / seen[j, 0]
                below[a] += w[i] * w[j]
            seen[j, 0] = seen[j, 1] = 0.0
    return above, below
