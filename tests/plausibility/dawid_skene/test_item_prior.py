"""Dawid-Skene with predictions: the prior of each item is learnt, and helps as far as models are right."""

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from scipy.optimize import approx_fprime
from scipy.special import logsumexp

from bayesagree import InputError, Labels, Predictions, dawid_skene
from bayesagree.plausibility import DawidSkenePrior
from bayesagree.plausibility.dawid_skene._cells import annotation_cells
from bayesagree.plausibility.dawid_skene._item_prior import DrawnPrior, LearntPrior, Regression
from bayesagree.plausibility.informed.covariates import Covariates
from bayesagree.predictive import with_posterior_predictive

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
    regression, values = learnt.regression, []
    for _ in range(6):
        log_prior, _ = learnt.learn(target)
        values.append(regression.value(learnt.theta, target))
    np.testing.assert_allclose(logsumexp(log_prior, axis=1), 0, atol=1e-12)
    assert (np.diff(values) > -1e-9).all()
    slope = approx_fprime(learnt.theta, lambda theta: regression.value(theta, target), 1e-6)
    assert np.abs(slope).max() < 0.01
    away = learnt.theta + 0.3
    np.testing.assert_allclose(
        regression.slope(away, target),
        approx_fprime(away, lambda theta: regression.value(theta, target), 1e-6),
        atol=0.02,
    )
    curvature = approx_fprime(away, lambda theta: regression.slope(theta, target), 1e-6)
    np.testing.assert_allclose(regression.information(away), -curvature, atol=0.02)


@pytest.mark.long
def test_drawn_slopes_have_the_moments_of_their_density():
    rng = np.random.default_rng(4)
    scores = rng.dirichlet(np.ones(2), 30)
    covariates = Covariates.of(Predictions.from_scores({"A": scores}, labels=[0, 1]))
    labels = Labels.from_matrix(rng.integers(0, 2, (30, 2)), labels=[0, 1])
    triple = (labels.item_index, labels.annotator_index, labels.label_index)
    cells = annotation_cells(*triple, n_items=30, n_annotators=2, n_labels=2)
    regression = Regression(covariates, cells.counted)
    drawn_prior = DrawnPrior(regression, cells, np.full(60, 0.5))
    truth = (scores[:, 1] > rng.random(30)).astype(int)
    new_labels = np.eye(2)[truth]
    new_labels[:5] = [2.0, 1.0]  # mixed membership: several labels of an item came from its prior
    draws = np.empty((4000, drawn_prior.theta.size))
    for one in draws:
        drawn_prior.draw(rng, new_labels.ravel())
        one[:] = drawn_prior.theta
    # Importance resampling of the prior is an oracle where the data are few.
    prior = rng.normal(0, regression.precision**-0.5, (100_000, draws.shape[1]))
    log_weight = np.array([regression.value(t, new_labels) for t in prior]) + 0.5 * prior**2 @ regression.precision
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = weight @ prior
    sd = np.sqrt(weight @ (prior - mean) ** 2)
    ess, effective = array_stats.ess(draws.T[:, None, :], chain_axis=1, draw_axis=2), 1 / (weight**2).sum()
    assert (np.abs(draws.mean(axis=0) - mean) < 4.5 * sd * np.sqrt(1 / ess + 1 / effective)).all()
    np.testing.assert_allclose(draws.std(axis=0), sd, rtol=0.1)


VARIANTS = ["full", "one_coin", "class_conditional", "hierarchical", "mixed_membership"]


@pytest.mark.long
@pytest.mark.parametrize("variant", [*VARIANTS, pytest.param("auto", marks=pytest.mark.long)])
def test_draws_with_predictions_know_the_truth_better(crowd, variant):
    truth, said, scores = crowd
    labels = Labels.from_matrix(said, labels=[0, 1, 2])
    predictions = Predictions.from_scores({"A": scores}, labels=[0, 1, 2])
    asked = {"variant": variant, "draws": 60, "chains": 2, "tune": 100, "thin": 2, "confusion": False, "seed": 1}
    with_model, alone = (dawid_skene(labels, predictions=given, **asked) for given in (predictions, None))
    assert accuracy(with_model, truth) > accuracy(alone, truth) + 0.03
    assert accuracy(with_model, truth) > (scores.argmax(axis=1) == truth).mean()
    np.testing.assert_allclose(with_model["posterior"]["prevalence"].sum("category"), 1)


def test_drawn_items_without_labels_take_the_prior(crowd):
    truth, said, scores = crowd
    found = dawid_skene(
        Labels.from_matrix(said[:200], labels=[0, 1, 2]), variant="one_coin", draws=200, chains=2, seed=1,
        predictions=Predictions.from_scores({"A": scores}, labels=[0, 1, 2]),
    )  # fmt: skip
    probability = found["derived"]["label_probability"].values
    assert probability.shape == (N_ITEMS, 3)
    assert (probability[200:].argmax(axis=1) == truth[200:]).mean() > 0.7


def test_predictions_that_are_not_taken_are_refused(crowd):
    _, said, scores = crowd
    with pytest.raises(InputError, match="'gibbs' and 'em'"):
        dawid_skene(Labels.from_matrix(said), predictions=Predictions.from_scores({"A": scores}), engine="nuts")


def test_predictive_checks_say_that_there_is_no_prior_to_draw_from(crowd):
    _, said, scores = crowd
    labels, predictions = Labels.from_matrix(said), Predictions.from_scores({"A": scores})
    tree = dawid_skene(labels, variant="full", predictions=predictions, draws=10, chains=1, tune=10, thin=1, seed=1)
    with pytest.raises(InputError, match="without predictions="):
        with_posterior_predictive(tree, labels, seed=1)
