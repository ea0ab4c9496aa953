"""Dawid-Skene with predictions: the prior of each item is learnt, and helps as far as models are right."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import logsumexp

from bayesagree import DawidSkenePrior, InputError, Labels, Predictions, dawid_skene
from bayesagree.plausibility.dawid_skene._item_prior import LearntPrior
from bayesagree.plausibility.informed.covariates import Covariates

N_ITEMS, N_ANNOTATORS = 400, 6


@pytest.fixture(scope="module")
def crowd():
    """Three poor annotators an item, one much better than the others, and a model that is right four times of five."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, N_ITEMS)
    skill = np.array([0.85, 0.5, 0.5, 0.45, 0.45, 0.5])
    right = rng.random((N_ITEMS, N_ANNOTATORS)) < skill
    said = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, 3, right.shape)) % 3).astype(float)
    said[rng.random(said.shape).argsort(axis=1) >= 3] = np.nan
    logs = 2.0 * np.eye(3)[truth] + rng.normal(size=(N_ITEMS, 3))
    scores = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    return truth, said, scores


def fit(said, scores=None, **options):
    predictions = None if scores is None else Predictions.from_scores({"A": scores}, labels=[0, 1, 2])
    labels = Labels.from_matrix(said, labels=[0, 1, 2])
    return dawid_skene(labels, engine="em", prior=DawidSkenePrior(), predictions=predictions, **options)


def accuracy(tree, truth):
    return (tree["derived"]["label_probability"].values.argmax(axis=1) == truth).mean()


@pytest.mark.parametrize("variant", ["full", "one_coin", "class_conditional"])
def test_predictions_help_and_never_lower_the_likelihood(crowd, variant):
    truth, said, scores = crowd
    with_model = fit(said, scores, variant=variant)
    climbed = with_model["diagnostics"]["log_likelihood"].values
    assert (np.diff(climbed) > -1e-6 * abs(climbed[-1])).all()
    assert accuracy(with_model, truth) > accuracy(fit(said, variant=variant), truth) + 0.03
    assert accuracy(with_model, truth) > (scores.argmax(axis=1) == truth).mean()


def test_permuted_predictions_are_as_good_as_none(crowd):
    _, said, scores = crowd
    shuffled = scores[np.random.default_rng(2).permutation(N_ITEMS)]
    one, other = (fit(said, s, variant="one_coin")["derived"]["label_probability"] for s in (shuffled, None))
    # Slopes of noise are not zero: a probability in the middle moves by a few hundredths.
    assert float(np.abs(one - other).mean()) < 0.03


def test_items_without_labels_take_the_prior(crowd):
    truth, said, scores = crowd
    half = said.copy()
    half[200:] = np.nan
    found = dawid_skene(
        Labels.from_matrix(half[:200], labels=[0, 1, 2]), variant="one_coin", engine="em",
        predictions=Predictions.from_scores({"A": scores}, labels=[0, 1, 2]),
    )  # fmt: skip
    probability = found["derived"]["label_probability"].values
    assert probability.shape == (N_ITEMS, 3)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    assert (probability[200:].argmax(axis=1) == truth[200:]).mean() > 0.7


def test_regression_is_at_its_maximum(crowd):
    _, _, scores = crowd
    covariates = Covariates.of(Predictions.from_scores({"A": scores}, labels=[0, 1, 2]))
    target = np.random.default_rng(3).dirichlet(np.ones(3), N_ITEMS)
    learnt = LearntPrior(covariates, np.ones(N_ITEMS, bool))
    values = []
    for _ in range(6):
        log_prior, _ = learnt.learn(target)
        values.append(learnt.value(learnt.theta, learnt.columns, target))
    np.testing.assert_allclose(logsumexp(log_prior, axis=1), 0, atol=1e-12)
    assert (np.diff(values) > -1e-9).all()
    slope = approx_fprime(learnt.theta, lambda theta: learnt.value(theta, learnt.columns, target), 1e-6)
    assert np.abs(slope).max() < 0.01


def test_draws_with_predictions_are_refused(crowd):
    _, said, scores = crowd
    with pytest.raises(InputError, match="engine='em'"):
        dawid_skene(Labels.from_matrix(said), predictions=Predictions.from_scores({"A": scores}))
