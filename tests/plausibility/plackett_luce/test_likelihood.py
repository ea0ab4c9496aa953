"""Plackett-Luce probabilities by three routes, gradients, published values; the maximum and when it exists."""

import json
import math
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from _paths import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from bayesagree.annotations import Rankings
from bayesagree.errors import InputError
from bayesagree.plausibility.plackett_luce import _ranking_kernels as likelihood
from bayesagree.plausibility.plackett_luce._cases import read_cases
from bayesagree.plausibility.plackett_luce.likelihood import plackett_luce_log_likelihood, plackett_luce_ml

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
    return likelihood.block_log_probability(log_worth, log_remaining, np.zeros(log_worth.size + 1))


@pytest.mark.parametrize("size", [2, 3, 5, 9])
@pytest.mark.parametrize("spread", [0.1, 1.0, 5.0, 30.0])
def test_three_routes_agree(size: int, spread: float) -> None:
    rng = np.random.default_rng([size, int(10 * spread)])
    for _ in range(3):
        log_worth, log_remaining = rng.normal(0, spread, size), float(rng.normal(0, spread))
        exact = inclusion_exclusion(log_worth, log_remaining)
        # 1e-12 relative for each of the |block| factors that a log probability may consist of.
        assert quadrature(log_worth, log_remaining) == pytest.approx(exact, abs=1e-10)
        assert recursion(log_worth, log_remaining) == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("size", [2, 10, 50, 100])
@pytest.mark.parametrize("log_ratio", [-690.0, -10.0, 0.0, 5.0, 690.0])
def test_equal_worths_have_a_closed_form_from_1e_minus_300_to_1e300(size: int, log_ratio: float) -> None:
    ratio = math.exp(log_ratio)
    exact = sum(math.log(k) + log_ratio - math.log1p(k * ratio) for k in range(1, size + 1))
    assert quadrature(np.full(size, log_ratio), 0.0) == pytest.approx(exact, rel=1e-12, abs=1e-10)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-200, 200), min_size=1, max_size=12), st.floats(-200, 200))
def test_probabilities_are_at_most_one_and_free_of_scale(log_worth: list[float], log_remaining: float) -> None:
    worth, gradient = np.array(log_worth), np.zeros(len(log_worth) + 1)
    value = likelihood.block_log_probability(worth, log_remaining, gradient)
    assert value <= 1e-10
    assert quadrature(worth + 3.0, log_remaining + 3.0) == pytest.approx(value, rel=1e-12, abs=1e-9)
    assert gradient.sum() == pytest.approx(0.0, abs=1e-10)
    assert (gradient[:-1] >= 0).all()


def test_gradient_equals_finite_differences() -> None:
    case = [[[0, 1], [2]], [[2], [1, 3, 4]], [[5], [0, 4]], [[0], [1], [2], [3], [4], [5]]]
    cases = read_cases(Rankings.from_blocks([case], labels=8))
    log_worth = np.random.default_rng(1).normal(0, 1.5, 7)
    gradient = np.zeros(7)
    likelihood.item_log_probability(log_worth, cases, 0, gradient)
    numeric = approx_fprime(log_worth, lambda x: likelihood.item_log_probability(x, cases, 0, np.zeros(7)), 1e-6)
    # Forward differences err by half a step times the curvature, which is below the number of observed blocks.
    np.testing.assert_allclose(gradient, numeric, atol=1e-5)


@pytest.mark.parametrize("case", GOLDEN["log_likelihood"]["cases"])
def test_published_log_likelihoods(case: dict) -> None:
    rankings = Rankings.from_blocks([[case["blocks"]]], labels=len(case["plausibility"]))
    plausibility = xr.DataArray([case["plausibility"]], dims=("item", "category"))
    value = plackett_luce_log_likelihood(rankings, plausibility)
    assert value.item() == pytest.approx(case["value"], abs=0.5 * 10 ** -case["digits"])


def test_probabilities_of_all_rankings_of_one_shape_sum_to_one() -> None:
    pairs = [[[a, b], [c]] for a in range(4) for b in range(a) for c in range(4) if c not in (a, b)]
    rankings = Rankings.from_blocks([pairs], labels=4)
    plausibility = xr.DataArray([[0.5, 0.3, 0.15, 0.05]], dims=("item", "category"))
    log_likelihood = plackett_luce_log_likelihood(rankings, plausibility)
    assert float(np.exp(log_likelihood).sum()) == pytest.approx(1.0, abs=1e-10)


def test_log_likelihood_keeps_other_dimensions_and_aligns_names() -> None:
    rankings = Rankings.from_blocks([[[["b"], ["a"]]], [[["c"]]]], labels=["a", "b", "c"], items=["x", "y"])
    values = np.random.default_rng(2).dirichlet(np.ones(3), (2, 5, 2))
    dims = ("chain", "draw", "item", "category")
    plausibility = xr.DataArray(values, dims=dims, coords={"item": ["y", "x"], "category": ["c", "b", "a"]})
    result = plackett_luce_log_likelihood(rankings, plausibility)
    assert result.dims == ("chain", "draw", "ranking")
    assert result["item"].values.tolist() == ["x", "y"]
    np.testing.assert_allclose(result[..., 1], np.log(plausibility.sel(item="y", category="c").values))


def test_log_likelihood_refuses_what_it_cannot_use() -> None:
    rankings = Rankings.from_blocks([[[list(range(20))]]], labels=21)
    even = xr.DataArray(np.full((1, 21), 1 / 21), dims=("item", "category"))
    with pytest.raises(InputError, match="3 labels of plausibilities for 21"):
        plackett_luce_log_likelihood(rankings, even[:, :3])
    with pytest.raises(InputError, match="miss the category 20"):
        plackett_luce_log_likelihood(rankings, even.assign_coords(category=np.arange(21) - 1))
    with pytest.raises(InputError, match="must not be negative"):
        plackett_luce_log_likelihood(rankings, -even)


def ranking_set(name: str) -> Rankings:
    from bayesagree.datasets import load

    rankings = load(f"rankings-plackettluce/{name}").annotations
    assert isinstance(rankings, Rankings)
    return rankings


@pytest.mark.usefixtures("public_data")
@pytest.mark.parametrize("name", GOLDEN["maximum_likelihood"]["sets"])
def test_maximum_on_complete_rankings_equals_another_library(name: str) -> None:
    expected = GOLDEN["maximum_likelihood"]["sets"][name]
    rankings = ranking_set(name)
    assert rankings.n_annotations == expected["rankings"]
    log_worth = np.log(plackett_luce_ml(rankings).values[0])
    log_worth -= log_worth.mean()
    np.testing.assert_allclose(log_worth, expected["log_worth"], atol=GOLDEN["maximum_likelihood"]["tolerance"])


def test_maximum_of_a_cycle_is_even() -> None:
    golden = GOLDEN["cyclic"]
    plausibility = plackett_luce_ml(Rankings.from_blocks([golden["blocks"]], labels=3))
    np.testing.assert_allclose(plausibility.values, 1 / 3, atol=1e-9)


def among_named(cases: list[list[list[list[int]]]], n_labels: int) -> Rankings:
    """Rankings that were offered the labels they name and no others."""
    named = [[[k for block in race for k in block] for race in case] for case in cases]
    return Rankings.from_blocks(cases, labels=n_labels, offered=named)


def log_worths_among_named(races: list[list[list[int]]], n_labels: int, *, pseudo: bool) -> np.ndarray:
    """Log worths of a fit; `pseudo` adds half a win and half a loss of each label against one more label."""
    if pseudo:
        races = races * 2 + [pair for k in range(n_labels) for pair in ([[k], [n_labels]], [[n_labels], [k]])]
    best = plackett_luce_ml(among_named([races], n_labels + pseudo))
    assert best["exists"].all()
    return np.log(best.values[0, :n_labels])


@pytest.mark.parametrize("name", GOLDEN["only_named_compete"]["cases"])
def test_published_fits_where_only_named_labels_compete(name: str) -> None:
    golden = GOLDEN["only_named_compete"]["cases"][name]
    expected = np.array(golden["log_worth"])
    found = log_worths_among_named(golden["rankings"], expected.size, pseudo=golden.get("pseudo", False))
    np.testing.assert_allclose(found - found[0], expected - expected[0], atol=golden["tolerance"])


def test_published_fits_of_nascar_races(public_data: Path) -> None:
    golden = GOLDEN["nascar"]
    finish = np.loadtxt(public_data / "rankings-plackettluce" / "nascar.csv", delimiter=",", skiprows=1, dtype=int)
    races = [[[driver - 1] for driver in row if driver] for row in finish]
    place = np.array([np.mean([r.index([k]) for r in races if [k] in r]) for k in range(87)])
    shown = np.argsort(place[:83], kind="stable")[[0, 1, 2, 80, 81, 82]]
    without_four = [[block for block in race if block[0] < 83] for race in races]
    for fit, n, kept in (("without_four", 83, without_four), ("all", 87, races)):
        log_worth = log_worths_among_named(kept, n, pseudo=fit == "all")
        log_worth -= log_worth[0]
        np.testing.assert_allclose(log_worth[shown], golden[fit]["by_average_place"], atol=golden[fit]["tolerance"])
    np.testing.assert_allclose(log_worth[83:], golden["all"]["four"], atol=golden["all"]["tolerance_four"])


def test_published_fits_of_bean_varieties(public_data: Path) -> None:
    golden = GOLDEN["beans"]
    beans = pd.read_csv(public_data / "rankings-plackettluce" / "beans.csv")
    position = {name: k for k, name in enumerate(golden["varieties"])}
    for node, rows in beans.groupby(np.where(beans["maxTN"] > golden["split"], "warm", "cool")):
        pairs = [
            [[position["Local"]], [position[b]]] if verdict == "Worse" else [[position[b]], [position["Local"]]]
            for b, verdict in zip(rows["variety_b"], rows["var_b"])
        ]
        log_worth = log_worths_among_named(pairs, len(position), pseudo=True)
        expected = np.array(golden[node])
        np.testing.assert_allclose(log_worth - log_worth[0], expected - expected[0], atol=golden["tolerance"])


def test_labels_that_do_not_compete_do_not_enter() -> None:
    """The same races among four labels and among their own labels alone have the same probabilities."""
    theta = np.array([0.4, 0.3, 0.2, 0.1])
    races = [[[2], [0]], [[1, 3], [0]], [[0], [1], [2], [3]]]
    among_four = plackett_luce_log_likelihood(among_named([races], 4), xr.DataArray([theta], dims=("item", "category")))
    for race, value in zip(races, among_four.values):
        own = sorted(k for block in race for k in block)
        renumbered = [[own.index(k) for k in block] for block in race]
        alone = plackett_luce_log_likelihood(
            Rankings.from_blocks([[renumbered]], labels=len(own)), xr.DataArray([theta[own]], dims=("item", "category"))
        )
        assert value == pytest.approx(alone.item(), abs=1e-10)
    cases = read_cases(among_named([races], 4))
    total = likelihood.item_log_probability(np.log(theta), cases, 0, np.zeros(4))
    assert total == pytest.approx(float(among_four.sum()), abs=1e-10)


def test_labels_that_never_met_have_no_maximum() -> None:
    rankings = among_named([[[[0], [1]], [[1], [0]], [[2], [3]], [[3], [2]]]], 4)
    with pytest.warns(UserWarning, match=r"\[0, 1\] \| \[2, 3\] comparisons go one way at most"):
        mode = plackett_luce_ml(rankings)
    assert not mode["exists"].item()
    np.testing.assert_allclose(mode.values, 0.25, atol=1e-6)


def test_maximum_with_ties_is_stationary_and_above_its_neighbours() -> None:
    case = [[[0, 1], [2]], [[2], [1, 3]], [[3], [0, 2]], [[1], [0]], [[2, 3], [1]], [[0, 3]]]
    rankings = Rankings.from_blocks([case], labels=6)
    best = plackett_luce_ml(rankings)
    assert bool(best["exists"])
    assert best.values[0, 4:].tolist() == [0.0, 0.0]
    cases = read_cases(rankings)
    log_worth, gradient = np.log(best.values[0, :4]), np.zeros(4)
    value = likelihood.item_log_probability(log_worth, cases, 0, gradient)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-5)
    rng = np.random.default_rng(3)
    for step in rng.normal(0, 0.1, (20, 4)):
        assert likelihood.item_log_probability(log_worth + step, cases, 0, np.zeros(4)) <= value + 1e-12


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_log_likelihood_is_concave_in_log_worths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cases = read_cases(Rankings.from_blocks([[[[0, 1], [2]], [[2], [1, 3]], [[3, 4, 0]]]], labels=6))
    a, b = rng.normal(0, 3, (2, 6))
    ends = [likelihood.item_log_probability(x, cases, 0, np.zeros(6)) for x in (a, b, (a + b) / 2)]
    assert ends[2] >= (ends[0] + ends[1]) / 2 - 1e-9


def test_a_label_that_always_wins_has_no_maximum_and_gets_the_mode() -> None:
    one_way = Rankings.from_blocks([[[["a"], ["b"]], [["a"], ["b"]]]], labels=["a", "b", "c", "d"], items=["q17"])
    with pytest.warns(UserWarning, match=r"1 of 1 items have no maximum, as 'q17'.*\['[ab]'\] \| \['[ab]'\]"):
        mode = plackett_luce_ml(one_way, shape=0.5)
    assert not mode["exists"].item()
    assert mode.values.sum() == pytest.approx(1.0)
    assert mode.values[0, 0] > mode.values[0, 1] > mode.values[0, 2] == mode.values[0, 3] > 0


@pytest.mark.slow
def test_maximum_on_all_dermatology_cases() -> None:
    from bayesagree.datasets import load

    rankings = load("derm-ddx").annotations
    assert isinstance(rankings, Rankings)
    with pytest.warns(UserWarning, match="have no maximum"):
        best = plackett_luce_ml(rankings)
    np.testing.assert_allclose(best.sum("category"), 1.0, atol=1e-12)
    assert int(best["exists"].sum()) == 1405
