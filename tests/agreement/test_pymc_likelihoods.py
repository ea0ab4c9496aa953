"""Bins of Beta judgments: probability, gradient and random draws."""

import numpy as np
import pymc as pm
import pytest
from scipy.stats import beta

from bayesagree.agreement._pymc_likelihoods import bins_log_probability, rating_variable

EDGES = np.linspace(0, 1, 6)


def shapes(random_seed, n=300, low=-3.0, high=5.0):
    rng = np.random.default_rng(random_seed)
    return np.exp(rng.uniform(low, high, n)), np.exp(rng.uniform(low, high, n)), rng.integers(0, 5, n)


def test_probability_is_a_difference_of_beta_cdfs():
    a, b, value = shapes(1)
    log_p, _, _ = bins_log_probability(value, a, b, EDGES)
    expected = np.where(
        beta.cdf(EDGES[value], a, b) > 0.5,
        beta.sf(EDGES[value], a, b) - beta.sf(EDGES[value + 1], a, b),
        beta.cdf(EDGES[value + 1], a, b) - beta.cdf(EDGES[value], a, b),
    )
    seen = expected > 1e-250
    np.testing.assert_allclose(log_p[seen], np.log(expected[seen]), atol=1e-8)


def test_gradient_is_the_slope_of_the_probability():
    a, b, value = shapes(2, high=3.0)
    h = 1e-4

    def log_p(a, b):
        return bins_log_probability(value, a, b, EDGES)[0]

    def slope(f):
        return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)

    _, by_a, by_b = bins_log_probability(value, a, b, EDGES)
    # Differences of values good to 1e-13 over 1e-4 are good to 1e-8 of the value's slope in log a.
    np.testing.assert_allclose(by_a * a, slope(lambda e: log_p(a * (1 + e), b)), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(by_b * b, slope(lambda e: log_p(a, b * (1 + e))), rtol=1e-5, atol=1e-6)


def test_one_bin_has_the_mass_of_shapes_without_bound():
    a, b = np.array([np.inf, np.inf, 1e300]), np.array([np.inf, 1.0, 1e300])
    found = bins_log_probability(np.array([2, 4, 1]), a, b, EDGES)
    np.testing.assert_allclose(found[:, :2], 0, atol=1e-12)
    assert found[0, 2] < -600 and np.isfinite(found).all()


@pytest.mark.nuts
def test_random_draws_follow_the_probabilities():
    with pm.Model():
        draws = pm.draw(rating_variable("x", 2.0, 3.0, EDGES), draws=4000, random_seed=1).astype(int)
    expected = np.diff(beta.cdf(EDGES, 2, 3))
    share = np.bincount(draws, minlength=5) / 4000
    assert (np.abs(share - expected) < 4.5 * np.sqrt(expected / 4000)).all()


@pytest.mark.nuts
def test_log_probability_in_a_model():
    with pm.Model() as model:
        mu = pm.Uniform("mu")
        rating_variable("rating", 4 * mu, 4 * (1 - mu), EDGES, observed=[3, 4, 4])
    point = {"mu_interval__": np.array(0.0)}
    expected = np.log(np.diff(beta.cdf(EDGES, 2, 2))[[3, 4, 4]]).sum()
    (value,) = model.compile_logp(vars=model.observed_RVs, sum=False)(point)
    assert value.sum() == pytest.approx(expected, abs=1e-10)
    assert np.isfinite(model.compile_dlogp()(point)).all()
