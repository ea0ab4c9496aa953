"""The sort for equal items, and the compiled search, against a dictionary of sorted tuples."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesagree._numerics.multiset_kernels import search
from bayesagree._numerics.multisets import MANY, Multisets, multisets, run_starts, words


def numbered(items):
    """Number items by what they hold, in the order in which it is first met; return that and the first of each."""
    known: dict = {}
    number = [known.setdefault(item, len(known)) for item in items]
    return number, [number.index(k) for k in range(len(known))]


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10**6), st.sampled_from([np.int8, np.int16, np.int32, np.int64]))
def test_equal_multisets_have_one_number(seed, dtype):
    """Items of any size, also none, with missing codes (-1), which do not count."""
    rng = np.random.default_rng(seed)
    start = np.concatenate([[0], np.cumsum(rng.integers(0, 5, rng.integers(1, 60)))])
    code = rng.integers(-1, 3, start[-1]).astype(dtype)
    group = rng.integers(0, 3, start.size - 1)
    held = [tuple(sorted(code[a:b][code[a:b] >= 0])) for a, b in pairwise(start)]
    for apart, items in ((np.zeros(group.size, np.int64), held), (group, list(zip(held, group)))):
        number, first = numbered(items)
        found, compiled = multisets(start, code, words(-1 - apart)), search(start, code.astype(int), words(-1 - apart))
        for one in (found, Multisets(*compiled)):
            assert (one.number.tolist(), one.first.tolist()) == (number, first)
            assert np.unique(one.key).size == one.key.size == len(first)
        assert found.key.tolist() == compiled[2].tolist()


def test_the_table_grows_with_what_it_holds():
    code = np.random.default_rng(1).integers(0, 20_000, MANY + 30_000)
    found = multisets(np.arange(code.size + 1), code, np.zeros(code.size, np.uint64))
    number, first = numbered(code.tolist())
    assert (found.number.tolist(), found.first.tolist()) == (number, first)


@pytest.mark.parametrize("runs", [[], [1], [3], [1, 1], [2, 1, 4]])
def test_runs_of_equal_numbers(runs):
    item = np.repeat(np.arange(len(runs)) * 3, runs).astype(np.int32)
    assert run_starts(item).tolist() == [0, *np.cumsum(runs).tolist()]
