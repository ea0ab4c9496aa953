"""Gamma variables, exponentials and logarithms of the kernels against SciPy and the system's library."""

import numba
import numpy as np
import pytest
import scipy as sp
from scipy import stats

from bayesagree.inference.dirichlet_argmax import _log_cdf, _log_density
from bayesagree.inference.elementary import LARGEST, exp, log
from bayesagree.inference.gamma import log_gamma_draw

RNG = np.random.default_rng(1)


@pytest.mark.parametrize("shape", [1e-3, 0.5, 99.0, 101.0, 1e6])
def test_density_and_distribution_of_the_log_of_a_gamma_variable(shape):
    u = np.log(shape) + np.array([-2.0, -0.5, -0.01, 0.0, 0.02, 0.4]) / np.sqrt(max(shape, 1.0))
    shapes = np.full(u.size, shape)
    # SciPy's own terms are as large as the shape times its logarithm.
    lost = 16 * np.finfo(float).eps * max(shape * np.log(shape + 1), 1.0)
    np.testing.assert_allclose(_log_density(shapes, u), stats.loggamma.logpdf(u, shape), rtol=0, atol=1e-12 + lost)
    expected = np.log(stats.gamma.cdf(np.exp(u), shape))
    np.testing.assert_allclose(_log_cdf(shapes, u), expected, rtol=1e-10, atol=1e-12)


def test_the_distribution_has_a_logarithm_where_it_has_no_digits():
    """Far left x^a / (a Gamma(a)), here 1e-400 and less."""
    u = np.array([-150.0, -400.0])
    np.testing.assert_allclose(_log_cdf(np.full(2, 7.0), u), 7 * u - sp.special.gammaln(8), rtol=1e-12)


@numba.njit
def log_draws(rng, shape, n):
    out = np.empty(n)
    for k in range(n):
        out[k] = log_gamma_draw(rng, shape)
    return out


@pytest.mark.parametrize("shape", [0.05, 0.9, 1.0, 1.1, 50.0, 1e9])
def test_log_gamma_draws_follow_their_distribution(shape):
    """Kolmogorov-Smirnov: p below 1e-5 happens once in 10^4 runs of these."""
    log_x = log_draws(np.random.Generator(np.random.SFC64(7)), shape, 200_000)
    assert stats.kstest(stats.gamma.cdf(np.exp(log_x), shape), "uniform").pvalue > 1e-5


@numba.njit(fastmath={"contract"}, error_model="numpy")
def each(function, values):
    out = np.empty(values.size)
    for i in range(values.size):
        out[i] = function(values[i])
    return out


def test_exponentials_are_right_to_the_last_digits_finite_and_positive():
    x = np.concatenate([RNG.normal(0, 1, 10_000), RNG.uniform(-LARGEST, LARGEST, 10_000), [0.0, 1e9, -np.inf]])
    # Two units in the last place; the system's own may be one off.
    np.testing.assert_allclose(each(exp, x), np.exp(np.clip(x, -LARGEST, LARGEST)), rtol=4.5e-16)


def test_logarithms_are_right_to_the_last_digits():
    x = np.concatenate([np.exp(RNG.uniform(-700, 700, 10_000)), 1 + RNG.normal(0, 1e-6, 10_000), [1.0]])
    np.testing.assert_allclose(each(log, x), np.log(x), rtol=4.5e-16, atol=1e-22)
