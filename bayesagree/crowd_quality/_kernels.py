"""The quality of labels, annotator by annotator: the pairs of annotators are visited and never stored."""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]


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
    row_item: NDArray[np.int32]
    item_start: NDArray[np.int64]
    mark: NDArray[np.int32]


@numba.njit(cache=True, nogil=True)
def pair_sums(visits: Visits, w: Floats, q: Floats, n_labels: int) -> tuple[Floats, Floats]:
    """Sum w_i w_j Pr(j marks a | i marks a), and w_i w_j, over ordered pairs i, j that met where i marked a.

    For each label a; the probability is a mean over these items, weighted by q. Items of weight 0 do not count.
    """
    above, below = np.zeros(n_labels), np.zeros(n_labels)
    seen, both = np.zeros(w.size), np.zeros(w.size)
    met = np.empty(w.size, np.int64)
    for row in range(visits.row_label.size):
        a, i, n_met = visits.row_label[row], visits.row_annotator[row], 0
        for place in range(visits.row_start[row], visits.row_start[row + 1]):
            item = visits.row_item[place]
            weight = q[item]
            if weight <= 0:
                continue
            for k in range(visits.item_start[item], visits.item_start[item + 1]):
                j = visits.mark[k, 0]
                if j == i:
                    continue
                if visits.mark[k, 2]:
                    if seen[j] == 0:
                        met[n_met] = j
                        n_met += 1
                    seen[j] += weight
                if visits.mark[k, 1] == a:
                    both[j] += weight
        for j in met[:n_met]:
            above[a] += w[i] * w[j] * both[j] / seen[j]
            below[a] += w[i] * w[j]
            seen[j] = both[j] = 0.0
    return above, below
