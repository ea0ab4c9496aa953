"""Intervals of draws against a brute-force search, and the estimate beside them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesagree import Labels, Predictions, compare, evaluate, pairwise
from bayesagree.inference.intervals import column_hdi, hdi


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30), st.floats(0.05, 0.99))
def test_the_narrowest_interval_that_holds_enough_draws_and_their_mean(draws: list[int], prob: float) -> None:
    ordered, inside = sorted(draws), int(prob * len(draws))
    width, low = min((ordered[at + inside] - ordered[at], ordered[at]) for at in range(len(draws) - inside))
    mean = np.mean(draws)
    assert hdi(np.array(draws), prob) == pytest.approx((min(low, mean), max(low + width, mean)))


def test_a_missing_draw_leaves_the_other_columns_as_they_are() -> None:
    draws = np.random.default_rng(1).normal(size=(200, 2))
    alone = column_hdi(draws[:, :1])
    draws[0, 1] = np.nan
    np.testing.assert_array_equal([ends[0] for ends in column_hdi(draws)], np.ravel(alone))


def test_scores_and_differences_lie_in_their_intervals() -> None:
    """Of two unanimous items nearly all draws are equal: the score .955 stood beside [1, 1]."""
    votes = Labels.from_matrix([[0, 0, 0], [1, 1, 1]], labels=3)
    models = Predictions.from_labels({"A": [0, 1], "B": [2, 0]}, labels=3)
    tree = evaluate(votes, models, plausibility="dirichlet", draws=100, chains=2, random_seed=1)
    table = compare(tree)
    assert (table["lower"] < table["score"]).all() and (table["score"] < table["upper"]).any()
    pair = pairwise(tree, "accuracy").sel(model="A", other_model="B")
    assert pair["lower"] <= pair["difference"] <= pair["upper"]
