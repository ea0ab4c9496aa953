"""Counts by several codes against adding up one row after the other."""

import numpy as np
import pytest

from bayesagree.inference.cells import cell_sums


@pytest.mark.parametrize("shape", [(4,), (3, 5), (2, 3, 4)])
def test_cells_hold_the_rows_of_their_codes(shape):
    rng = np.random.default_rng(1)
    codes, weight = [rng.integers(0, size, 50) for size in shape], rng.random(50)
    expected = np.zeros((2, *shape))
    for row in range(50):
        at = tuple(code[row] for code in codes)
        expected[0][at] += 1
        expected[1][at] += weight[row]
    np.testing.assert_array_equal(cell_sums(shape, *codes), expected[0])
    np.testing.assert_allclose(cell_sums(shape, *codes, weight=weight), expected[1], rtol=1e-12)


def test_codes_stretch_along_axes():
    label = np.array([[0, 1, 1], [2, 2, 2]])
    assert cell_sums((2, 3), np.arange(2)[:, None], label).tolist() == [[1, 2, 0], [0, 0, 3]]


def test_codes_of_few_bits_do_not_wrap_round():
    row, column = np.array([200], np.int16), np.array([299], np.int16)
    assert np.argwhere(cell_sums((201, 300), row, column)).tolist() == [[200, 299]]
