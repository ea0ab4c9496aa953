"""CrowdTruth's sums over the pairs of annotators that met, which are never stored."""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats


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


def pair_sums(visits: Visits, w: Floats, q: Floats, n_labels: int) -> tuple[Floats, Floats]:
    """Sum w_i w_j Pr(j marks a | i marks a), and w_i w_j, over ordered pairs i, j that met where i marked a.

    For each label a; the probability is a mean over these items, weighted by q. Items of weight 0 do not count.
    """
    above, below = np.zeros(n_labels), np.zeros(n_labels)
    _add_pairs(visits, w, q, np.zeros((w.size, 2)), above, below)
    return above, below


# Zeros come from outside: numba takes a sixth of a second to compile each `np.zeros`.
@numba.njit(cache=True, nogil=True, error_model="numpy")
def _add_pairs(visits, w, q, seen, above, below):
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
