"""The next comparison: gains and choices against the posterior after each outcome, computed anew."""

import numpy as np
import pandas as pd
import pytest

from bayesagree import Comparisons, InputError, Labels, annotate_next, davidson
from bayesagree.comparisons import DavidsonPrior
from bayesagree.planning import value_of_votes

NAMES = np.array(list("ABCD"))


def games(n=60, random_seed=1):
    rng = np.random.default_rng(random_seed)
    left = rng.integers(0, 4, n)
    right = (left + rng.integers(1, 4, n)) % 4
    half = (np.array([1.0, 0.9, 0.0, -1.5])[left] - np.array([1.0, 0.9, 0.0, -1.5])[right]) / 2
    weight = np.exp(np.stack([half, -half, np.full(n, -0.3)], axis=1))
    outcome = (rng.random((n, 1)) > np.cumsum(weight / weight.sum(1, keepdims=True), axis=1)).sum(axis=1)
    table = {"left": NAMES[left], "right": NAMES[right], "winner": np.array(["left", "right", "tie"])[outcome]}
    return Comparisons.from_long(pd.DataFrame(table))


@pytest.fixture(scope="module")
def draws():
    """Strengths (draw, model) and the odds of a tie (draw,)."""
    posterior = davidson(games(), random_seed=1)["posterior"]
    return posterior["strength"].values.reshape(-1, 4), np.exp(posterior["average_tie"].values.ravel())


def weighted(draws, first, second, outcome):
    """Weights of the draws after one outcome."""
    half = (draws[0][:, first] - draws[0][:, second]) / 2
    weights = np.stack([np.exp(half), np.exp(-half), draws[1]])
    return (weights / weights.sum(axis=0))[outcome]


@pytest.mark.parametrize("goal", ["decision", "metric"])
def test_gain_is_the_drop_of_the_variance(draws, goal):
    table = annotate_next(games(), n=6, goal=goal, random_seed=1).set_index(["first", "second"])
    strength = draws[0]
    score = np.eye(4)[strength.argmax(axis=1)] if goal == "decision" else strength
    for (a, b), row in table.iterrows():
        ends = int(np.flatnonzero(a == NAMES)[0]), int(np.flatnonzero(b == NAMES)[0])
        after = 0.0
        for outcome in range(3):
            w = weighted(draws, *ends, outcome)
            mean = w @ score / w.sum()
            after += w.mean() * (w @ (score - mean) ** 2 / w.sum()).sum()
        assert row["gain"] == pytest.approx(score.var(axis=0).sum() - after, abs=1e-10)
        assert row["prob_first_better"] == pytest.approx((strength[:, ends[0]] > strength[:, ends[1]]).mean())
    assert table["gain"].is_monotonic_decreasing


def test_the_two_best_are_compared_next():
    table = annotate_next(games(400), n=6, random_seed=1)
    assert set(table.loc[0, ["first", "second"]]) == {"A", "B"}
    assert table["comparisons"].sum() == 400


def test_choice_after_twenty_comparisons_against_simulated_ones(draws):
    """20 outcomes are drawn from 2,000 draws of the truth; the draws are weighted by them."""
    table = value_of_votes(games(), random_seed=1).set_index("votes")
    a, b = (int(np.flatnonzero(name == NAMES)[0]) for name in table.attrs["models"])
    chance = np.stack([weighted(draws, a, b, outcome) for outcome in range(3)], axis=1)
    ahead = draws[0][:, a] > draws[0][:, b]
    truth = np.arange(0, 4000, 2)
    counts = np.random.default_rng(1).multinomial(20, chance[truth])
    w = np.exp(counts @ np.log(chance.T))
    right = (w @ ahead / w.sum(axis=1) > 0.5) == ahead[truth]
    # The Monte-Carlo error is .01; the formula takes the difference of the strengths as normal.
    assert np.mean(right) == pytest.approx(table.loc[20, "prob_right"], abs=0.03)
    assert table.loc[0, "prob_right"] == pytest.approx(ahead.mean(), abs=0.02)
    assert table["prob_right"].is_monotonic_increasing
    assert table.attrs["separating"] > 100
    assert table.loc[1_000_000, "prob_separated"] > 0.95


def test_bad_choices():
    with pytest.raises(InputError, match="is none of comparisons; pass a DavidsonPrior"):
        value_of_votes(games(), prior=0.5)
    with pytest.raises(InputError, match="goal='certainty' is not one of 'decision', 'metric'"):
        annotate_next(games(), n=1, goal="certainty")
    with pytest.raises(InputError, match="prior"):
        annotate_next(Labels.from_counts([[1, 2]]), n=1, prior=DavidsonPrior())


def test_the_next_pair_is_shown_in_the_order_that_it_had_less_often():
    order = ["AB"] * 5 + ["BA"] * 2 + ["CA"] * 4 + ["AC"] + ["BC"] * 3 + ["CB"] * 3
    words = np.random.default_rng(1).choice(["left", "right", "tie"], len(order))
    table = pd.DataFrame({"left": [p[0] for p in order], "right": [p[1] for p in order], "winner": words})
    options = {"n": 3, "random_seed": 1, "prior": DavidsonPrior(strength_sd=1.0)}
    found = annotate_next(Comparisons.from_long(table), **options).set_index(["first", "second"])
    assert {("B", "A"), ("A", "C")} <= set(found.index)
    assert found["comparisons"].sort_index().tolist() == [5, 7, 6]


def test_progress_counts_the_draws_of_strengths():
    table = pd.DataFrame({"left": list("AABBC") * 6, "right": list("BCCAA") * 6, "winner": list("AtBBA") * 6})
    games, done = Comparisons.from_long(table.replace("t", "tie")), []
    annotate_next(games, n=1, random_seed=1, progress=done.append)
    assert sum(done) > 0
