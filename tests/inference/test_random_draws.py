"""Priors that reach the ends can be drawn from: PyMC's prior predictive of the models, against other routes."""

import numpy as np
import pytest
from _errors_of_draws import assert_mean, assert_share
from scipy import stats

from bayesagree import Ratings
from bayesagree.agreement._pymc_likelihoods import truncated_normal_variable
from bayesagree.agreement.phi import common_agreement_model
from bayesagree.inference.random_draws import beta_binomial_variable, draw_beta
from bayesagree.predictive.checks import prior_predictive
from bayesagree.subjective.group_model import GroupCounts, group_performance_model

pytestmark = pytest.mark.nuts

LEVELS = Ratings.from_matrix([[4, 4, 5], [1, 2, 1], [3, 5, 4]], scale=(1, 5), step=1)
INSIDE = Ratings.from_matrix([[0.4, 0.5, 0.6], [0.1, 0.3, 0.2]], scale=(0, 1))
ENDS = Ratings.from_matrix([[0.4, 0.5, 0.6], [0.0, 0.5, 1.0]], scale=(0, 1))
DRAWS = 2000


def prior_draws(model):
    import pymc as pm

    with model:
        tree = pm.sample_prior_predictive(draws=DRAWS, random_seed=1)
    return tree["prior"].to_dataset().isel(chain=0), tree["prior_predictive"].to_dataset().isel(chain=0)


def test_beta_draws_follow_their_distribution_at_any_shape():
    import pymc as pm

    a = np.array([1e-300, 1e-200, 1e-5, 0.001, 0.0, 0.3, 40.0])
    b = np.array([1e-300, 1e-200, 3e-5, 0.002, 2.0, 0.4, 2.0])
    drawn = np.asarray(pm.draw(pm.CustomDist.dist(a, b, dist=draw_beta, shape=(DRAWS, 7)), random_seed=1))
    assert_share((drawn[:, :4] > 0.5).mean(axis=0), a[:4] / (a + b)[:4], DRAWS)
    assert not drawn[:, 4].any()
    for k in (5, 6):
        assert stats.kstest(drawn[:, k], stats.beta(a[k], b[k]).cdf).pvalue > 1e-4


def test_truncated_draws_follow_their_distribution():
    import pymc as pm

    truth, sd = (v.ravel() for v in np.meshgrid([0.0, 0.3, 1.0], [1e-3, 0.1, 1e4]))
    with pm.Model() as model:
        truncated_normal_variable("mean", truth, sd)
    drawn = pm.draw(model["mean"], draws=DRAWS, random_seed=1)
    expected = stats.truncnorm(-truth / sd, (1 - truth) / sd, loc=truth, scale=sd)
    for k in range(truth.size):
        assert stats.kstest(expected.cdf(drawn)[:, k], "uniform").pvalue > 1e-4


def test_beta_binomial_draws_follow_their_distribution():
    import pymc as pm

    with pm.Model() as model:
        beta_binomial_variable("agree", np.array([4, 4]), 0.3, np.array([0.2, 5.0]), observed=[0, 0])
    drawn = np.asarray(pm.draw(model["agree"], draws=DRAWS, random_seed=1))
    for k in range(5):
        assert_share((drawn == k).mean(axis=0), stats.betabinom.pmf(k, 4, 0.3, [0.2, 5.0]), DRAWS)


KINDS = {"levels": (LEVELS, 4), "continuous": (INSIDE, 1), "with ends": (ENDS, 6)}
MEANS = {"hierarchical": "hierarchical", "flat": "flat", "truth": {}}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("means", MEANS)
def test_every_agreement_model_has_a_prior_predictive(kind, means):
    (ratings, top), item_mean = KINDS[kind], MEANS[means]
    truth = {0: float(np.mean(ratings.scale))} if item_mean == {} else item_mean
    prior, predictive = prior_draws(common_agreement_model(ratings, item_mean=truth))
    (low, high), mean, rating = ratings.scale, prior["item_mean"].values, predictive["rating"].values
    first = low if ratings.step is not None else 0  # levels are in units of the scale
    assert ((mean >= low) & (mean <= high)).all()
    assert ((rating >= first) & (rating <= first + top)).all()
    # Nothing in these priors prefers one end: the known truth is in the middle.
    assert_mean(mean, (low + high) / 2)
    assert_mean(rating, first + top / 2)


@pytest.mark.parametrize("item_mean", ["hierarchical", "flat"])
def test_prior_predictive_is_that_of_the_numpy_route(item_mean):
    """Shares of the levels, and of pairs of ratings of one item that are equal."""
    ours = prior_draws(common_agreement_model(LEVELS, item_mean=item_mean))[1]["rating"].values
    tree = prior_predictive(LEVELS, plausibility="common_agreement", item_mean=item_mean, draws=DRAWS, random_seed=2)
    other = tree["prior_predictive"]["rating"].values[0]
    for k in range(1, 6):
        assert_share((ours == k).mean(axis=0), (other == k).mean(axis=0), DRAWS / 2)
    equal = [(x[:, [0, 3, 6]] == x[:, [1, 4, 7]]).mean(axis=0) for x in (ours, other)]
    assert_share(equal[0], equal[1], DRAWS / 2)


def test_group_model_has_a_prior_predictive():
    total = np.array([[4, 5, 6, 7]])
    counts = GroupCounts(np.array(["A"]), np.array(["f", "m"]), np.array([0, 0, 1, 1]), total // 2, total)
    prior, predictive = prior_draws(group_performance_model(counts))
    agree = predictive["agree"].values
    assert ((agree >= 0) & (agree <= total[0])).all()
    # Location and spreads are uniform: agreements are as likely as disagreements.
    assert_mean(agree / total[0], 0.5)
    assert stats.kstest(prior["location"].values, "uniform").pvalue > 1e-4
