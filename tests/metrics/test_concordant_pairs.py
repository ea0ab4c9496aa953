"""Concordance against counting pairs one by one, and against other libraries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from bayesagree.errors import InputError
from bayesagree.metrics.concordant_pairs import ScoreOrder, concordance


def ordered_alike(scores):
    """1 where a stands above b, 1/2 where they are equal, shape (a, b)."""
    return (np.sign(scores[:, None] - scores[None, :]) + 1) / 2


def brute_concordance(scores, truth):
    higher = truth[:, None] > truth[None, :]
    return ordered_alike(scores)[higher].mean() if higher.any() else np.nan


def brute_weighted(scores, positive, negative):
    mass = np.outer(positive, negative)
    np.fill_diagonal(mass, 0)
    return (mass * ordered_alike(scores)).sum() / mass.sum() if mass.sum() > 0 else np.nan


@st.composite
def problems(draw):
    """Scores and a truth, both with ties."""
    n, models = draw(st.integers(2, 150)), draw(st.integers(1, 4))
    random_seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(random_seed)
    levels = [draw(st.integers(1, 2 * n)) for _ in range(2)]
    scores, truth = rng.integers(0, levels[0], (models, n)), rng.integers(0, levels[1], n)
    return scores / 7, truth / 3, rng


@settings(deadline=None, max_examples=30)
@given(problems())
def test_equals_counting_pairs(problem):
    scores, truth, _ = problem
    expected = [brute_concordance(row, truth) for row in scores]
    np.testing.assert_allclose(concordance(scores, truth), expected, rtol=0, atol=1e-12)


def test_no_items_have_no_concordance():
    assert np.isnan(concordance([], []))
    assert np.isnan(concordance(np.empty((2, 0)), [])).all()


@settings(deadline=None, max_examples=30)
@given(problems())
def test_binary_truth_equals_sklearn(problem):
    scores, truth, _ = problem
    binary = truth > np.median(truth)
    if 0 < binary.sum() < binary.size:
        expected = [roc_auc_score(binary, row) for row in scores]
        np.testing.assert_allclose(concordance(scores, binary), expected, rtol=0, atol=1e-12)


@settings(deadline=None, max_examples=30)
@given(problems())
def test_weighted_equals_counting_pairs(problem):
    scores, truth, rng = problem
    positive, negative = rng.random(truth.size) * (rng.random(truth.size) < 0.7), rng.random(truth.size)
    expected = [brute_weighted(row, positive, negative) for row in scores]
    order = ScoreOrder(scores)
    np.testing.assert_allclose(order.weighted(positive, negative), expected, rtol=1e-10)
    draws = np.stack([positive, negative], axis=1)
    twice = np.transpose([expected, [brute_weighted(row, negative, positive) for row in scores]])
    np.testing.assert_allclose(order.weighted(draws, draws[:, ::-1]), twice, rtol=1e-10)


@settings(deadline=None, max_examples=30)
@given(problems())
def test_by_annotator_equals_mean_of_sklearn(problem):
    scores, truth, rng = problem
    item, annotator = np.nonzero(rng.random((truth.size, 5)) < 0.5)
    positive = rng.random(item.size) < 0.5
    found = ScoreOrder(scores).by_annotator(item, annotator, positive)
    total, expected = 0.0, np.zeros(len(scores))
    for j in range(5):
        own = annotator == j
        if 0 < positive[own].sum() < own.sum():
            total += own.sum()
            expected += own.sum() * np.array([roc_auc_score(positive[own], row[item[own]]) for row in scores])
    np.testing.assert_allclose(found, expected / total if total else np.nan, rtol=1e-10)


@given(problems())
@settings(deadline=None, max_examples=30)
def test_reversal_and_monotone_scores(problem):
    scores, truth, rng = problem
    base = concordance(scores, truth)
    np.testing.assert_allclose(concordance(-scores, truth), 1 - base, atol=1e-12)
    np.testing.assert_array_equal(concordance(np.exp(scores / 50), truth), base)
    shuffled = rng.permutation(truth.size)
    np.testing.assert_array_equal(concordance(scores[:, shuffled], truth[shuffled]), base)


@pytest.mark.parametrize(
    ("scores", "truth", "message"),
    [([[1, 2, 3]], [1, 2], "shape"), ([1, np.nan], [0, 1], "not finite"), ([1, 2], [0, np.inf], "truth at")],
)
def test_input_errors(scores, truth, message):
    with pytest.raises(InputError, match=message):
        concordance(scores, truth)
