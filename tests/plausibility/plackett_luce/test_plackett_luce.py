"""The Gibbs sampler of the Plackett-Luce posterior against brute-force integration, extremes and invariances."""

import itertools
import json
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
from _paths import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesagree.annotations import Rankings
from bayesagree.inference.convergence import diagnostics
from bayesagree.plausibility.plackett_luce import _gibbs as kernel
from bayesagree.plausibility.plackett_luce.posterior import plackett_luce

type Case = list[list[list[int]]]


class Moments(NamedTuple):
    mean: np.ndarray
    covariance: np.ndarray
    top: np.ndarray


def orders_of(ranking: list[list[int]], n_labels: int) -> set[tuple[int, ...]]:
    """All complete orders that a partial ranking allows."""
    named = {k for block in ranking for k in block}
    blocks = [*ranking, [k for k in range(n_labels) if k not in named]]
    parts = itertools.product(*(itertools.permutations(block) for block in blocks))
    return {tuple(itertools.chain(*part)) for part in parts}


def brute_force(case: Case, n_labels: int, shape: float, steps: int = 40) -> Moments:
    """Integrate over the simplex in logs of worths relative to the largest one, cut into the regions of each top label.

    Double-exponential nodes x = -exp(t - exp(-t)) on every half line: no Monte-Carlo error.
    """
    t = np.linspace(-4.0, 4.7, steps)
    half_line = -np.exp(t - np.exp(-t))
    weight = -half_line * (1 + np.exp(-t))
    others = np.stack(np.meshgrid(*[half_line] * (n_labels - 1), indexing="ij")).reshape(n_labels - 1, -1)
    weights = np.prod(np.meshgrid(*[weight] * (n_labels - 1), indexing="ij"), axis=0).ravel()
    mass, first, second = np.zeros(n_labels), np.zeros(n_labels), np.zeros((n_labels, n_labels))
    for top in range(n_labels):
        relative = np.insert(others, top, 0.0, axis=0)
        theta = np.exp(relative - np.log(np.exp(relative).sum(axis=0)))
        density = weights * np.exp(shape * np.log(theta).sum(axis=0))
        chance = {}
        for order in itertools.permutations(range(n_labels)):
            ordered = theta[list(order)]
            still = np.cumsum(ordered[::-1], axis=0)[::-1]
            chance[order] = np.prod(ordered / still, axis=0)
        for ranking in case:
            density = density * sum(chance[order] for order in orders_of(ranking, n_labels))
        mass[top] = density.sum()
        first += (theta * density).sum(axis=1)
        second += (theta * density) @ theta.T
    total = mass.sum()
    mean = first / total
    return Moments(mean, second / total - np.outer(mean, mean), mass / total)


def random_problem(rng: np.random.Generator) -> tuple[Case, int, float]:
    """Up to four labels and five annotators; ties, unranked labels and complete rankings."""
    n_labels = int(rng.integers(2, 5))
    case = []
    for _ in range(int(rng.integers(1, 6))):
        named = rng.permutation(n_labels)[: int(rng.integers(1, n_labels + 1))]
        cuts = np.flatnonzero(rng.random(named.size - 1) < 0.6) + 1
        case.append([block.tolist() for block in np.split(named, cuts)])
    return case, n_labels, float(rng.choice([0.2, 1.0, 3.0]))


def worst_deviation(draws: np.ndarray, expected: Moments, chains: int = 4) -> float:
    """Largest deviation of means, covariances and top-label chances, in Monte-Carlo standard errors."""
    n_labels = draws.shape[1]
    centred = draws - expected.mean
    pairs = list(itertools.combinations_with_replacement(range(n_labels), 2))
    statistics = [
        *draws.T, *(centred[:, i] * centred[:, j] for i, j in pairs), *(draws.argmax(1) == k for k in range(n_labels))
    ]  # fmt: skip
    truth = [*expected.mean, *(expected.covariance[i, j] for i, j in pairs), *expected.top]
    deviations = []
    for values, true in zip(statistics, truth):
        values = np.asarray(values, dtype=float)
        ess = diagnostics(values.reshape(chains, -1, 1))[1].min()
        error = values.std() / np.sqrt(ess) if ess == ess else np.sqrt(true * (1 - true) / values.size)
        deviations.append(abs(values.mean() - true) / max(error, 1e-6))
    return max(deviations)


def sample(case: Case, n_labels: int, **options: Any) -> np.ndarray:
    rankings = Rankings.from_blocks([case], labels=n_labels)
    tree = plackett_luce(rankings, **options)
    return tree["posterior"]["plausibility"].values.reshape(-1, n_labels)


@pytest.mark.parametrize("number", [*range(8), *(pytest.param(n, marks=pytest.mark.slow) for n in range(8, 40))])
def test_posterior_equals_brute_force(number: int) -> None:
    case, n_labels, shape = random_problem(np.random.default_rng([7, number]))
    draws = sample(case, n_labels, shape=shape, draws=5000, random_seed=7000 + number)
    assert worst_deviation(draws, brute_force(case, n_labels, shape)) < 4


def test_reliability_repeats_every_ranking() -> None:
    case: Case = [[[0], [1, 2]], [[2], [0]]]
    draws = sample(case, 3, shape=0.5, reliability=3, draws=5000, random_seed=1)
    assert worst_deviation(draws, brute_force(case * 3, 3, 0.5)) < 4


def test_lumped_gives_unnamed_labels_one_prior_share() -> None:
    case: Case = [[[0], [1]], [[1]]]
    rankings = Rankings.from_blocks([case], labels=6)
    tree = plackett_luce(rankings, unranked="lumped", draws=5000, random_seed=1)
    values = tree["posterior"]["plausibility"].values.reshape(-1, 6)
    np.testing.assert_allclose(values[:, 2:], values[:, 2:].mean(axis=1, keepdims=True).repeat(4, axis=1), rtol=0.01)
    together = np.column_stack([values[:, :2], values[:, 2:].sum(axis=1)])
    assert worst_deviation(together, brute_force(case, 3, 1.0)) < 4


def test_best_labels_split_the_unnamed_mass_as_full_plausibilities_do() -> None:
    rankings = Rankings.from_blocks([[[[4], [1, 2]]]], labels=9)
    options: dict[str, Any] = {"shape": 0.3, "draws": 5000, "random_seed": 2}
    top = plackett_luce(rankings, top_labels=3, **options)["posterior"]["top_label"].values.reshape(-1, 3)
    full = plackett_luce(rankings, **options)["posterior"]["plausibility"].values.reshape(-1, 9)
    expected = np.argsort(-full, axis=1)[:, :3]
    for rank in range(3):
        for label in range(9):
            a, b = (top[:, rank] == label), (expected[:, rank] == label)
            # Two independent splits of the same draws: at most two independent binomial errors.
            error = np.sqrt(2 * max(b.mean() * (1 - b.mean()), 1e-4) / b.size)
            assert abs(a.mean() - b.mean()) < 4.5 * error


@pytest.mark.parametrize("size", [2, 3, 5])
def test_arrivals_of_a_tied_block_equal_rejection_from_the_race(size: int) -> None:
    rng = np.random.Generator(np.random.SFC64(size))
    worth, remaining, wanted = rng.gamma(0.7, size=size), 0.3, 3000
    arrivals = rng.exponential(size=(600_000, size)) / worth
    inside = arrivals[arrivals.max(axis=1) < rng.exponential(size=len(arrivals)) / remaining][:wanted]
    assert len(inside) > 1000
    time, scratch, ours = np.empty(size), np.empty(size), np.empty((wanted, size))
    finish = np.empty(wanted)
    for d in range(wanted):
        finish[d] = kernel.tied_block(worth, size, remaining, 1, rng, time, scratch)
        ours[d] = time
    np.testing.assert_array_equal(finish, ours.max(axis=1))
    for k in range(size):
        for power in (1, 2):
            a, b = ours[:, k] ** power, inside[:, k] ** power
            assert abs(a.mean() - b.mean()) < 4 * np.sqrt(a.var() / a.size + b.var() / b.size)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-690, 690), min_size=2, max_size=100), st.floats(-690, 690), st.integers(0, 100))
def test_tied_blocks_are_stable_from_1e_minus_300_to_1e300(
    log_worth: list[float], log_remaining: float, random_seed: int
) -> None:
    rng = np.random.Generator(np.random.SFC64(random_seed))
    worth, time = np.exp(np.array(log_worth)), np.empty(len(log_worth))
    remaining, scratch = np.exp(log_remaining), np.empty(worth.size)
    finish = kernel.tied_block(worth, worth.size, remaining, 1, rng, time, scratch)
    assert np.isfinite(time).all() and (time > 0).all()
    assert finish == time.max()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-300, 300), min_size=3, max_size=30), st.floats(-20, 4))
def test_derivatives_of_the_wait_of_a_block_and_its_concavity(log_ratio: list[float], y: float) -> None:
    """Tangents are above the density only if it is concave and their slopes are right."""
    ratio, step = np.array(log_ratio), 1e-4
    height, slope, curvature = kernel.log_density(ratio, ratio.size, y)
    above, below = (kernel.log_density(ratio, ratio.size, y + d) for d in (step, -step))
    scale = 1 + abs(height) * 1e-9
    assert slope == pytest.approx((above[0] - below[0]) / (2 * step), rel=1e-4, abs=1e-4 * scale)
    assert curvature == pytest.approx((above[1] - below[1]) / (2 * step), rel=1e-3, abs=1e-3)
    assert curvature < 0


@pytest.mark.parametrize("case", [
    [[list(range(100))]],
    [[[0], [1, 2]]] * 500 + [[[3, 4], [0]]] * 500,
    [[[0]]],
    [[[0], [1]]],
])  # fmt: skip
@pytest.mark.parametrize("shape", [1e-3, 1e3])
def test_rows_sum_to_one_for_any_size(case: Case, shape: float) -> None:
    n_labels = 1 + max(k for ranking in case for block in ranking for k in block)
    for labels in (n_labels, n_labels + 50):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # mixing is not the question here
            draws = sample(case, labels, shape=shape, draws=20, tune=20, random_seed=1)
        np.testing.assert_allclose(draws.sum(axis=1), 1.0, atol=1e-12)


def test_order_of_annotators_changes_nothing_and_items_are_independent() -> None:
    case: Case = [[[0], [1, 2]], [[2], [0]], [[2], [0]]]
    first = sample(case, 4, random_seed=2, draws=200)
    np.testing.assert_array_equal(first, sample(case[::-1], 4, random_seed=2, draws=200))
    twice = plackett_luce(Rankings.from_blocks([case, case], labels=4), random_seed=1)["posterior"]["plausibility"]
    assert abs(np.corrcoef(twice[:, :, 0, 0].values.ravel(), twice[:, :, 1, 0].values.ravel())[0, 1]) < 0.1
    other = plackett_luce(Rankings.from_blocks([case[:1], case, case], labels=4), random_seed=1)
    np.testing.assert_array_equal(twice[:, :, 1], other["posterior"]["plausibility"][:, :, 1])


def test_posterior_equals_the_reference_model() -> None:
    reference = json.loads((ROOT / "models" / "plackett_luce.json").read_text())
    data, exact = reference["data"], reference["posterior"]
    draws = sample(data["rankings"], data["labels"], shape=data["shape"], draws=10_000, random_seed=4)
    expected = Moments(*(np.array(exact[name]) for name in ("mean", "covariance", "probability_top")))
    assert worst_deviation(draws, expected) < 4


def test_labels_that_everybody_ranks_low_mix_over_many_orders_of_magnitude() -> None:
    case: Case = [[[0], [1], [2]]] * 9
    shape = 0.05
    tree = plackett_luce(Rankings.from_blocks([case], labels=3), shape=shape, draws=4000, random_seed=6)
    draws = tree["posterior"]["plausibility"].values.reshape(-1, 3)
    assert worst_deviation(draws, brute_force(case, 3, shape, steps=70)) < 4
    # Without the common rescaling of labels 1 and 2 this was 7, and with the last block augmented even less.
    assert np.nanmin(diagnostics(np.log(np.maximum(draws, 1e-300)).reshape(4, -1, draws.shape[1]))[1]) > 1000


def test_progress_ends_at_the_number_of_items():
    done, rankings = [], Rankings.from_blocks([[[["a"], ["b", "c"]]]] * 70, labels=list("abc"))
    plackett_luce(rankings, draws=2, chains=1, tune=1, random_seed=1, progress=done.append)
    assert len(done) > 1
    assert sum(done) == 70
