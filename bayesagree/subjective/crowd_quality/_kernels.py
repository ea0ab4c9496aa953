"""CrowdTruth's sums: over the vectors of an item, and over the pairs of annotators that met, which are never stored."""

import math
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

# Every denominator, and every AQS, is at least this.
SMALLEST = 1e-8


class Visits(NamedTuple):
    """Who marked what, from both sides.

    Attributes
    ----------
    row_label, row_annotator, row_start
        One row for each label and annotator who chose it; its items are ``row_item[row_start[r]:row_start[r + 1]]``.
    row_item
        Items of the rows, shape (mark,).
    item_start, mark
        Marks of item u are ``mark[item_start[u]:item_start[u + 1]]``, columns annotator and label: side by side, since
        each is read from a far place.
    """

    row_label: NDArray[np.int64]
    row_annotator: NDArray[np.int64]
    row_start: NDArray[np.int64]
    row_item: NDArray[np.uint32]
    item_start: NDArray[np.int64]
    mark: NDArray[np.uint32]


# Zeros come from outside: numba takes a sixth of a second to compile each `np.zeros`.
@numba.njit(cache=True, nogil=True, error_model="numpy")
def _add_pairs(visits, w, q, seen, above, below):
    """Sum w_i w_j Pr(j marks a | i marks a), and w_i w_j, over ordered pairs i, j that met where i marked a.

    For each label a; the probability is a mean over these items, weighted by q. Items of weight 0 do not count.
    """
    mark, item_start = visits.mark, visits.item_start
    for row in range(visits.row_label.size):
        a, i = visits.row_label[row], visits.row_annotator[row]
        items = visits.row_item[visits.row_start[row] : visits.row_start[row + 1]]
        for item in items:
            weight, before = q[item], w.size
            for k in range(item_start[item], item_start[item + 1]):
                j = mark[k, 0]
                # Marks of a judgment are neighbours: the first one says that j was there.
                seen[j, 0] += weight * (j != before)
                seen[j, 1] += weight * (mark[k, 1] == a)
                before = j
        seen[i, 0] = 0.0
        for item in items:
            for k in range(item_start[item], item_start[item + 1]):
                j = mark[k, 0]
                if seen[j, 0] > 0:
                    above[a] += w[i] * w[j] * seen[j, 1] / seen[j, 0]
                    below[a] += w[i] * w[j]
                    seen[j, 0] = seen[j, 1] = 0.0
        seen[i, 1] = 0.0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def iterate(places, visits, own, present, closed, tolerance, most, first, last, new, room):
    """Replace the qualities `last` until none moves by the tolerance; return the number of iterations and the move.

    `first` takes the qualities of the first iteration; `places` are the first arguments of `add_cosines`.
    """
    at, sums, of_label, seen, pairs = room
    item_start, mark_start, annotator, label = places
    moved = math.inf
    for n in range(1, most + 1):
        at[:] = last.uqs * present
        sums[:] = 0.0
        given = item_start, mark_start, annotator, label, own, last.wqs
        add_cosines(*given, at, last.aqs, of_label, new.uqs, sums)
        for i in range(sums.shape[0]):
            new.wwa[i] = sums[i, 0] / max(sums[i, 1], SMALLEST)
            new.wsa[i] = sums[i, 2] / max(sums[i, 3], SMALLEST)
            new.wqs[i] = new.wwa[i] * new.wsa[i]
        new.aqs[:] = 1.0
        if closed:
            pairs[:] = 0.0
            _add_pairs(visits, last.wqs, at, seen, pairs[0], pairs[1])
            for a in range(new.aqs.size):
                new.aqs[a] = max(pairs[0, a] / max(pairs[1, a], SMALLEST), SMALLEST)
        moved = 0.0
        for now, before in ((new.uqs, last.uqs), (new.wqs, last.wqs), (new.aqs, last.aqs)):
            for k in range(now.size):
                # Qualities that do not exist, NaN, do not move.
                moved = max(moved, abs(now[k] - before[k])) if now[k] == now[k] else moved
        for now, before, start in zip(new, last, first):
            before[:] = now
            if n == 1:
                start[:] = now
        if moved < tolerance:
            return n, moved
    return 0, moved


@numba.njit(cache=True, nogil=True, error_model="numpy")
def add_cosines(item_start, mark_start, annotator, label, source, w, q, size, of_label, uqs, sums):
    """Fill UQS (item,), and add the sums of annotators: similarity, its weight, cosine with the rest, its weight.

    `size` are the weights of the labels. A sum over the other judgments of an item is that over all of them, kept in
    `of_label`, less the judgment's own part.
    """
    weight, pulled, mine = of_label[0], of_label[1], of_label[2]
    for item in range(uqs.size):
        first, last = item_start[item], item_start[item + 1]
        crowd = 0.0
        for j in range(first, last):
            who = w[annotator[j]]
            crowd += who
            length = _length(size, label, mark_start, j)
            for m in range(mark_start[j], mark_start[j + 1]):
                weight[label[m]] += who
                pulled[label[m]] += who / length
        marks = label[mark_start[first] : mark_start[last]]
        whole2 = 0.0
        for a in marks:
            if mine[a] == 0.0:
                mine[a] = 1.0
                whole2 += size[a] * weight[a] ** 2
        for a in marks:
            mine[a] = 0.0
        above = below = 0.0
        for j in range(first, last):
            i = annotator[j]
            own = label[mark_start[j] : mark_start[j + 1]]
            length = _length(size, label, mark_start, j)
            # The squared length of the sum of the others' vectors: of labels that the judgment did not mark, and did.
            rest2, without = whole2, 0.0
            for a in own:
                mine[a] = 1.0
                rest2 -= size[a] * weight[a] ** 2
                without += size[a] * (weight[a] - w[i]) ** 2
            given_length = _length(size, label, mark_start, source[j])
            similarity = product = 0.0
            for a in label[mark_start[source[j]] : mark_start[source[j] + 1]]:
                similarity += size[a] * (pulled[a] - mine[a] * w[i] / length)
                product += size[a] * (weight[a] - mine[a] * w[i])
            for a in own:
                mine[a] = 0.0
            similarity /= given_length
            # An annotator of weight 0 has no direction; the published scores give such a cosine the smallest value.
            lengths = w[i] * given_length * math.sqrt(max(rest2, 0.0) + without)
            cosine = SMALLEST if lengths < SMALLEST else w[i] * product / lengths
            above += w[i] * similarity
            below += w[i] * (crowd - w[i])
            sums[i, 0] += q[item] * similarity
            sums[i, 1] += q[item] * (crowd - w[i])
            sums[i, 2] += q[item] * cosine
            sums[i, 3] += q[item]
        uqs[item] = above / max(below, SMALLEST) if last > first else math.nan
        for a in marks:
            weight[a] = pulled[a] = 0.0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _length(size, label, mark_start, j):
    total = 0.0
    for m in range(mark_start[j], mark_start[j + 1]):
        total += size[label[m]]
    return math.sqrt(total)
