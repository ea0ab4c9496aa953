"""How a draw is written: plausibilities of all labels, or the best ones in order."""

from typing import NamedTuple

import numpy as np
import pytest

from bayesagree.plausibility.dawid_skene._cells import write_items


class Cells(NamedTuple):
    """Three items: candidates 1, 3 and 4; 0 alone; 0, 2 and 4 of five labels."""

    item_start: np.ndarray = np.array([0, 2, 3, 7])
    candidate_start: np.ndarray = np.array([0, 3, 4, 7])
    candidate: np.ndarray = np.array([1, 3, 4, 0, 0, 2, 4])


SHARES = np.array([0.2, 0.5, 0.3, 1.0, 0.4, 0.2, 0.4])


def test_labels_that_cannot_be_true_have_no_plausibility():
    out = np.zeros((3, 5))
    write_items(Cells(), SHARES, True, out)
    assert out.tolist() == [[0, 0.2, 0, 0.5, 0.3], [1, 0, 0, 0, 0], [0.4, 0, 0.2, 0, 0.4]]


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_best_labels_come_first_and_impossible_ones_in_their_order(depth):
    """Of two that are equally plausible the first one."""
    out = np.full((3, depth), -1, np.int16)
    write_items(Cells(), SHARES, False, out)
    assert out.tolist() == [row[:depth] for row in ([3, 4, 1, 0, 2], [0, 1, 2, 3, 4], [0, 4, 2, 1, 3])]
