"""Distinct codes by a table and by a sort."""

import numpy as np
import pytest

from bayesagree._numerics.codes import SPARSE, distinct


@pytest.mark.parametrize("n", [7, 30, SPARSE * 50, SPARSE * 50 + 1, 10**9])
def test_distinct_codes_are_those_of_numpy(n):
    code = np.random.default_rng(0).integers(0, min(n, 10**6), 50)
    for ours, theirs in zip(distinct(code, n), np.unique(code, return_inverse=True)):
        np.testing.assert_array_equal(ours, theirs)


def test_no_codes():
    found, place = distinct(np.empty(0, np.int64), 3)
    assert found.size == place.size == 0
