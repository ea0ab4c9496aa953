"""Gamma draws of the compiled kernels against the distribution itself."""

import numba
import numpy as np
import pytest
from scipy import stats

from bayesagree._numerics.gamma import log_gamma_draw


@numba.njit
def log_draws(rng, shape, n):
    out = np.empty(n)
    for k in range(n):
        out[k] = log_gamma_draw(rng, shape)
    return out


@pytest.mark.parametrize("shape", [0.05, 0.3, 0.9, 1.0, 1.1, 2.5, 50.0, 1e4, 1e9])
def test_log_gamma_draws_follow_their_distribution(shape):
    """Kolmogorov-Smirnov on 10^6 draws: p below 1e-5 happens once in 10^4 runs of these."""
    log_x = log_draws(np.random.Generator(np.random.SFC64(7)), shape, 1_000_000)
    assert stats.kstest(stats.gamma.cdf(np.exp(log_x), shape), "uniform").pvalue > 1e-5


def test_tiny_shapes_stay_finite():
    log_x = log_draws(np.random.Generator(np.random.SFC64(8)), 1e-8, 10_000)
    assert np.isfinite(log_x).all()
    # -shape * log G is Exp(1) to the order of the shape.
    assert stats.kstest(-1e-8 * log_x, "expon").pvalue > 1e-5
