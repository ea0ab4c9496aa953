"""Items with equal annotations against a dictionary of sorted tuples."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesagree.agreement._patterns import collapse_codes


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6), st.sampled_from([np.int8, np.int32, np.int64]))
def test_equal_multisets_are_one_pattern(random_seed, dtype):
    """Items of any size, also none; items of different groups share no pattern."""
    rng = np.random.default_rng(random_seed)
    size = rng.integers(0, 5, rng.integers(1, 60))
    item, code = np.repeat(np.arange(size.size), size), rng.integers(0, 3, size.sum()).astype(dtype)
    group, edges = rng.integers(0, 3, size.size), np.cumsum([0, *size])
    held = [tuple(sorted(code[a:b].tolist())) for a, b in pairwise(edges)]
    for apart, items in ((None, held), (group, list(zip(held, group.tolist())))):
        found = collapse_codes(item, code, np.linspace(0, 1, 3), size.size, apart)
        number = found.pattern_of_item
        np.testing.assert_array_equal(number < 0, size == 0)
        known = {}
        assert all(known.setdefault(one, n) == n for one, n in zip(items, number.tolist()) if n >= 0)
        assert sorted(known.values()) == list(range(found.weight.size))
        for i in np.flatnonzero(number >= 0):
            assert found.counts[[number[i]]].toarray().ravel().tolist() == [held[i].count(k) for k in range(3)]
        np.testing.assert_array_equal(found.weight, np.bincount(number[number >= 0], minlength=found.weight.size))
