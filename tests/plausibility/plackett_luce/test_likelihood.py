"""Plackett-Luce probabilities by three routes, gradients, published values."""

import json
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from _paths import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from bayesagree.plausibility.plackett_luce.likelihood import block_log_probability, rankings_log_probability

GOLDEN = json.loads((ROOT / "tests" / "golden" / "plackett_luce.json").read_text())


def inclusion_exclusion(log_worth: np.ndarray, log_remaining: float) -> float:
    """sum over subsets S of (-1)^|S| W / (W + L(S)), in exact fractions: it cancels badly in floating point."""
    worth = [Fraction(math.exp(w)) for w in log_worth]
    remaining = Fraction(math.exp(log_remaining))
    total = Fraction(0)
    for subset in range(2 ** len(worth)):
        inside = sum((w for k, w in enumerate(worth) if subset >> k & 1), Fraction(0))
        total += (-1) ** subset.bit_count() * remaining / (remaining + inside)
    return math.log(total.numerator) - math.log(total.denominator)


def recursion(log_worth: np.ndarray, log_remaining: float) -> float:
    """The paper's theorem in B.4.3: F(S) = sum_k F(S - k) worth_k / (W + L(block) - L(S - k)), F({}) = 1."""
    high = max(log_remaining, log_worth.max())
    worth, remaining = np.exp(log_worth - high), math.exp(log_remaining - high)
    value = {frozenset(): 1.0}
    for size in range(1, worth.size + 1):
        for some in map(frozenset, combinations(range(worth.size), size)):
            left = {k: [j for j in range(worth.size) if j not in some or j == k] for k in some}
            value[some] = sum(value[some - {k}] * worth[k] / (remaining + worth[left[k]].sum()) for k in some)
    return math.log(value[frozenset(range(worth.size))])


def quadrature(log_worth: np.ndarray, log_remaining: float) -> float:
    return float(block_log_probability(log_worth[None], np.array([log_remaining]))[0][0])


@pytest.mark.parametrize("size", [2, 5, 9])
@pytest.mark.parametrize("spread", [0.1, 30.0])
def test_three_routes_agree(size: int, spread: float) -> None:
    rng = np.random.default_rng([size, int(10 * spread)])
    for _ in range(3):
        log_worth, log_remaining = rng.normal(0, spread, size), float(rng.normal(0, spread))
        exact = inclusion_exclusion(log_worth, log_remaining)
        # 1e-12 relative for each of the |block| factors that a log probability may consist of.
        assert quadrature(log_worth, log_remaining) == pytest.approx(exact, abs=1e-10)
        assert recursion(log_worth, log_remaining) == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("size", [2, 100])
@pytest.mark.parametrize("log_ratio", [-690.0, -10.0, 0.0, 5.0, 690.0])
def test_equal_worths_have_a_closed_form_from_1e_minus_300_to_1e300(size: int, log_ratio: float) -> None:
    ratio = math.exp(log_ratio)
    exact = sum(math.log(k) + log_ratio - math.log1p(k * ratio) for k in range(1, size + 1))
    assert quadrature(np.full(size, log_ratio), 0.0) == pytest.approx(exact, rel=1e-12, abs=1e-10)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-200, 200), min_size=1, max_size=12), st.floats(-200, 200))
def test_probabilities_are_at_most_one_and_free_of_scale(log_worth: list[float], log_remaining: float) -> None:
    worth = np.array(log_worth)
    (value,), (gradient,) = block_log_probability(worth[None], np.array([log_remaining]))
    assert value <= 1e-10
    assert quadrature(worth + 3.0, log_remaining + 3.0) == pytest.approx(value, rel=1e-12, abs=1e-9)
    assert (gradient >= 0).all()


def test_gradient_equals_finite_differences_and_the_log_probability_is_concave() -> None:
    ranks = np.array([[0, 0, 1, 2, 2, 2], [2, 1, 0, 1, 1, 2], [1, 2, 2, 2, 1, 0], [0, 1, 2, 3, 4, 5]])
    rng = np.random.default_rng(1)

    def value(x: np.ndarray) -> float:
        return float(rankings_log_probability(np.tile(x, (4, 1)), ranks)[0].sum())

    for _ in range(10):
        a, b = rng.normal(0, 1.5, (2, 6))
        gradient = rankings_log_probability(np.tile(a, (4, 1)), ranks)[1].sum(axis=0)
        # Forward differences err by half a step times the curvature, which is below the number of observed blocks.
        np.testing.assert_allclose(gradient, approx_fprime(a, value, 1e-6), atol=1e-5)
        assert value((a + b) / 2) >= (value(a) + value(b)) / 2 - 1e-9


@pytest.mark.parametrize("case", GOLDEN["log_likelihood"]["cases"])
def test_published_log_likelihoods(case: dict) -> None:
    ranks = ranks_of(case["blocks"], len(case["plausibility"]))
    value = rankings_log_probability(np.log([case["plausibility"]]), ranks)[0]
    assert value.item() == pytest.approx(case["value"], abs=0.5 * 10 ** -case["digits"])


def ranks_of(blocks: list[list[int]], n_labels: int) -> np.ndarray:
    """The rank of each label, shape (1, label)."""
    ranks = np.full((1, n_labels), len(blocks))
    for rank, block in enumerate(blocks):
        ranks[0, block] = rank
    return ranks


def test_probabilities_of_all_rankings_of_one_shape_sum_to_one() -> None:
    pairs = [[[a, b], [c]] for a in range(4) for b in range(a) for c in range(4) if c not in (a, b)]
    ranks = np.concatenate([ranks_of(pair, 4) for pair in pairs])
    log_worth = np.tile(np.log([0.5, 0.3, 0.15, 0.05]), (len(pairs), 1))
    assert np.exp(rankings_log_probability(log_worth, ranks)[0]).sum() == pytest.approx(1.0, abs=1e-10)
