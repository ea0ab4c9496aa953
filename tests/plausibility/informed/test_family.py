"""The family of items against its definition: the plain twin, all votes there could be, draws of gamma variables."""

import itertools
import json
import sys

import numpy as np
import pytest
from _paths import ROOT
from scipy.special import gammaln, softmax

from bayesagree import Labels, Predictions
from bayesagree.plausibility.informed._problem import InformedProblem
from bayesagree.plausibility.informed.covariates import Covariates, is_probability
from bayesagree.plausibility.informed.family import (
    Alike,
    Items,
    best_at,
    best_table,
    columns_of,
    draw_items,
    kinds,
    rising,
)
from bayesagree.plausibility.informed.prior import InformedPrior

sys.path.insert(0, str(ROOT / "models"))
MODEL = json.loads((ROOT / "models" / "informed_dirichlet.json").read_text())


def problem(counts, n_labels=3, random_seed=1):
    """Items of two models with scores and one with labels, and parameters of every kind of item."""
    rng, n = np.random.default_rng(random_seed), len(counts)
    dense = rng.normal(size=(n, 4, n_labels)).astype(np.float32)
    hit = rng.integers(-1, n_labels, (n, 3)).astype(np.int32)
    layout = InformedPrior().parameters(tuple("abcdefg"))
    theta = layout.mean + 0.5 * layout.sd * rng.normal(size=(2, layout.mean.size))
    theta[:, -7], theta[:, -1] = -0.5, [0.5, -1.0]
    return theta, Items.of(columns_of(Covariates(dense, hit, ()), counts), counts)


def test_scores_of_any_scale_stand_for_logs_of_probabilities():
    """Standardised, they have a softmax; a shift of an item and a factor of all change nothing."""
    rng = np.random.default_rng(1)
    scores = rng.normal(0, 3, (8, 4))
    moved = 5 * scores + rng.normal(0, 9, (8, 1))
    found, same = (Covariates.of(Predictions.from_scores({"m": one})).dense for one in (scores, moved))
    np.testing.assert_allclose(found, same, atol=1e-5)
    log = scores - scores.mean(axis=1, keepdims=True)
    log /= np.sqrt((log**2).mean())
    share = softmax(log, axis=1)
    share -= share.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found[:, 0], log, atol=1e-5)
    np.testing.assert_allclose(found[:, 1], share / np.sqrt((share**2).mean()), atol=1e-5)


def test_probabilities_have_their_logs_down_to_a_millionth():
    p = np.array([[0.7, 0.3, 0.0], [0.2, 0.2, 0.6]])
    found = Covariates.of(Predictions.from_scores({"m": p})).dense
    for column, values in enumerate((np.log(np.maximum(p, 1e-6)), p)):
        centred = values - values.mean(axis=1, keepdims=True)
        np.testing.assert_allclose(found[:, column], centred / np.sqrt((centred**2).mean()), atol=1e-5)


def test_likelihood_and_items_are_those_of_the_plain_twin():
    import informed_dirichlet as twin

    data = MODEL["data"]
    models = Predictions.from_scores({"A": data["probability"]}, probabilities=True)
    given = InformedProblem.of(Labels.from_counts(data["counts"]), models)
    theta = twin.MEAN + 0.5 * twin.SD * np.random.default_rng(2).normal(size=(2, twin.MEAN.size))
    known, mean = twin.items(theta, data)
    found = kinds(theta, given.items)
    # The table of the third kind is linear between places of its grid.
    np.testing.assert_allclose(found.log_likelihoods(theta[:, -1])[0].sum(axis=0), known, atol=0.02)
    drawn = draw_items(np.random.default_rng(1), theta, given.items, 1000, best=False)
    np.testing.assert_allclose(drawn.sum(axis=2), 1, rtol=1e-12)
    found_mean = drawn.reshape(len(mean[0]), 2, 1000, 2).mean(axis=2).swapaxes(0, 1)
    np.testing.assert_allclose(found_mean, mean, atol=5 * 0.5 / np.sqrt(1000))


@pytest.mark.parametrize(("n_labels", "votes"), [(2, 5), (3, 4), (5, 3)])
def test_all_votes_there_could_be_have_probability_one(n_labels, votes):
    every = np.array([c for c in itertools.product(range(votes + 1), repeat=n_labels) if sum(c) == votes])
    theta, items = problem(every, n_labels)
    items = Items.of(items.rows(np.zeros(len(every), int)).columns, every)
    found = kinds(theta, items)
    orders = np.exp(gammaln(votes + 1) - gammaln(every + 1).sum(axis=1))
    np.testing.assert_allclose(orders @ np.exp(found.log_likelihoods(theta[:, -1])[0]), 1, rtol=1e-4)


@pytest.mark.parametrize("counts", [[2, 1, 0], [1, 1, 1, 0, 0], [40, 38, 3], [1] + 19 * [0]])
def test_probabilities_of_being_best_are_those_of_draws(counts):
    counts, n = np.array(counts), 20_000
    for log_a in (-1.0, 1.4):
        shape = np.exp(log_a) / counts.size + counts
        drawn = np.random.default_rng(3).standard_gamma(np.tile(shape, (n, 1))).argmax(axis=1)
        log_best, entry = best_table(counts[None], Alike.of(counts[None]))
        found = best_at(log_best, np.array([log_a]))[entry[0], 0]
        np.testing.assert_allclose(found, np.bincount(drawn, minlength=counts.size) / n, atol=5 * 0.5 / np.sqrt(n))


def test_best_labels_are_those_of_the_plausibilities():
    counts = np.array([[2, 1, 0], [0, 0, 3], [1, 1, 1], [0, 0, 0], [5, 5, 0]])
    theta, items = problem(counts)
    n = 5000
    shares = draw_items(np.random.default_rng(1), theta, items, n, best=False).argmax(axis=2)
    best = draw_items(np.random.default_rng(2), theta, items, n, best=True)
    for k in range(3):
        difference = [(drawn == k).reshape(5, 2, n).mean(axis=2) for drawn in (shares, best)]
        # Two independent estimates of one probability, each with standard error at most 1 / (2 sqrt(n)).
        assert np.abs(difference[0] - difference[1]).max() < 5 / np.sqrt(2 * n)


@pytest.mark.parametrize("best", [0, 1, 2])
def test_items_whose_best_label_is_known_are_draws_in_which_it_is(best):
    """Where nearly all items are of the third kind, plain draws that have this best label are the oracle."""
    n, counts = 4000, np.array([[2, 1, 0, 0]])
    theta, items = problem(counts, 4)
    theta = theta[:1]
    theta[:, -1], theta[:, -7] = 60.0, -60.0
    columns = np.zeros_like(items.columns)
    columns[best, :, -1], theta[:, -10] = 1.0, 9.0
    theta[:, -2] = 1.0
    drawn = draw_items(np.random.default_rng(4), theta, Items.of(columns, counts), n, best=False)[0]
    drawn = drawn[drawn.argmax(axis=1) == best]
    plain = np.random.default_rng(5).dirichlet(np.exp(theta[0, -3]) / 4 + counts[0], 30 * n)
    plain = plain[plain.argmax(axis=1) == best]
    assert len(drawn) > n / 2
    for power in (1, 2):
        a, b = drawn**power, plain**power
        error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
        assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) < 4.5 * error).all()


def test_many_votes_are_as_the_same_votes_one_by_one():
    """Rising factorials of more than six votes follow Stirling's series: those of 7 are those of 6 and one."""
    for n in (5, 6, 7, 500):
        theta, items = problem(np.array([[n, 2, 0], [n + 1, 2, 0]]))
        items = Items.of(items.columns[:, [0, 0]], items.counts)
        few, more = kinds(theta, items).logs[0]
        s, m = (kinds(theta, items).concentration[0], kinds(theta, items).mean[0, 0])
        np.testing.assert_allclose(more - few, np.log((s * m + n) / (s + n + 2)), atol=1e-8)


def test_equal_items_are_computed_once_with_their_number():
    rng = np.random.default_rng(4)
    chosen, said = rng.integers(0, 4, 60), [0, 2, 1, 1]
    labels = Labels.from_counts(np.array([[2, 1, 0], [0, 3, 0], [0, 0, 0], [1, 1, 1]])[chosen])
    given = InformedProblem.of(labels, Predictions.from_labels({"A": np.array(said)[chosen]}, labels=range(3)))
    at, number = given.learnt(given.counts)
    assert number.sum() == (chosen != 2).sum()
    assert number.size == 3
    theta = given.layout.mean[None]
    each = given.of_votes(np.arange(60), given.counts)(theta)
    np.testing.assert_allclose(number @ given.of_votes(at, given.counts[at])(theta), each.sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("number", [[9, 4, 4, 1, 0], [3, 1, 2, 40, 2], [0, 5]])
def test_rising_factorials_of_any_order(number):
    number = np.array(number)
    shape = np.random.default_rng(1).uniform(0.01, 5, (number.size, 3))
    np.testing.assert_allclose(rising(shape, number), gammaln(shape + number[:, None]) - gammaln(shape), atol=1e-12)


def test_scores_are_probabilities_where_every_row_is():
    rows = np.array([[0.2, 0.8], [0.5, 0.5], [0.3, 0.7]])
    assert is_probability(rows)
    assert is_probability(rows + np.array([0.0005, 0.0]))
    for place, value in (((1, 0), 0.6), ((2, 1), 0.69), ((0, 0), -0.2)):
        changed = rows.copy()
        changed[place] = value
        assert not is_probability(changed)
    assert not is_probability(np.array([[-0.2, 1.2], [0.5, 0.5]]))
