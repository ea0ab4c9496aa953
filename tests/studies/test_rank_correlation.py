import json
from itertools import combinations

import numpy as np
import pytest
from _paths import ROOT
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from studies.rank_correlation import correlation, swap_rate, williams_test

GOLDEN = json.loads((ROOT / "tests" / "golden" / "blind.json").read_text())
SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


@pytest.mark.parametrize("measure", SCIPY)
@pytest.mark.parametrize("ties", [False, True])
def test_equals_scipy(measure, ties):
    rng = np.random.default_rng(1)
    for _ in range(20):
        a, b = rng.integers(0, 4, (2, 9)) if ties else rng.normal(size=(2, 9))
        assert correlation(a, b, measure=measure) == pytest.approx(SCIPY[measure](a, b).statistic, abs=1e-12)


@pytest.mark.parametrize("correction", ["hotelling", "williams"])
def test_triangle_test_gives_the_published_values(correction):
    case = GOLDEN["triangle_test"]
    statistic, p = williams_test(case["r_xy"], case["r_xz"], case["r_yz"], case["n"], correction=correction)
    digits = 3 if correction == "hotelling" else 4
    assert round(statistic, digits) == case[correction]["statistic"]
    assert round(p, digits) == case[correction]["p_value"]


def test_williams_test_keeps_its_level():
    """Two noisy copies of the gold, equally good: 5 % of the tests reject, within Monte-Carlo error."""
    rng = np.random.default_rng(2)
    n_tests, n = 2000, 10
    rejected = 0
    for _ in range(n_tests):
        x = rng.normal(size=n)
        y, z = x + rng.normal(size=(2, n))
        r = np.corrcoef([x, y, z])
        rejected += williams_test(r[0, 1], r[0, 2], r[1, 2], n)[1] < 0.05
    assert abs(rejected / n_tests - 0.05) < 4.5 * np.sqrt(0.05 * 0.95 / n_tests)


@given(st.floats(-0.9, 0.9), st.floats(-0.9, 0.9), st.integers(4, 200))
def test_triangle_test_is_antisymmetric(r_xy, r_xz, n):
    r_yz = r_xy * r_xz
    t, p = williams_test(r_xy, r_xz, r_yz, n)
    u, q = williams_test(r_xz, r_xy, r_yz, n)
    assert t == pytest.approx(-u)
    assert p == pytest.approx(q)
    assert 0 <= p <= 1


def test_swaps_are_counted_among_all_pairs():
    case = GOLDEN["swap_rate"]
    actual = np.arange(10.0)
    for swapped, percent in zip(case["swapped"], case["percent"]):
        estimated = actual.copy()
        estimated[0] = swapped + 0.5  # passes the next `swapped` systems
        assert swap_rate(actual, estimated) == swapped / case["pairs"]
        assert round(100 * swap_rate(actual, estimated), 1) == percent


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=8))
def test_swap_rate_equals_brute_force(rows):
    pairs = list(combinations(rows, 2))
    swapped = sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in pairs)
    assert swap_rate(*zip(*rows)) == pytest.approx(swapped / len(pairs))
