"""Items with equal annotations against a dictionary of sorted tuples, distinct codes against NumPy's sort."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesagree.inference.multisets import SPARSE, distinct, multisets, words


def numbered(items):
    """Number items by what they hold, in the order in which it is first met; return that and the first of each."""
    known: dict = {}
    number = [known.setdefault(item, len(known)) for item in items]
    return number, [number.index(k) for k in range(len(known))]


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6), st.sampled_from([np.int8, np.int32, np.int64]))
def test_equal_multisets_have_one_number(random_seed, dtype):
    """Items of any size, also none, with missing codes (-1), which do not count."""
    rng = np.random.default_rng(random_seed)
    start = np.concatenate([[0], np.cumsum(rng.integers(0, 5, rng.integers(1, 60)))])
    code = rng.integers(-1, 3, start[-1]).astype(dtype)
    group = rng.integers(0, 3, start.size - 1)
    held = [tuple(sorted(code[a:b][code[a:b] >= 0])) for a, b in pairwise(start)]
    for apart, items in ((np.zeros(group.size, np.int64), held), (group, list(zip(held, group)))):
        found = multisets(start, code, words(-1 - apart))
        number, first = numbered(items)
        assert (found.number.tolist(), found.first.tolist()) == (number, first)
        assert np.unique(found.key).size == found.key.size == len(first)


@pytest.mark.parametrize("size", [0, 50])
@pytest.mark.parametrize("n", [7, SPARSE * 50, SPARSE * 50 + 1, 10**9])
def test_distinct_codes_are_those_of_numpy(n, size):
    code = np.random.default_rng(0).integers(0, min(n, 10**6), size)
    for ours, theirs in zip(distinct(code, n), np.unique(code, return_inverse=True)):
        np.testing.assert_array_equal(ours, theirs)
