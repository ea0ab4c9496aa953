"""The log of a Gamma variable against SciPy."""

import numpy as np
import pytest
import scipy as sp
from scipy import stats

from bayesagree.inference.dirichlet_argmax import _logs


@pytest.mark.parametrize("shape", [1e-3, 0.5, 99.0, 101.0, 1e6])
def test_density_and_distribution_of_the_log_of_a_gamma_variable(shape):
    u = np.log(shape) + np.array([-2.0, -0.5, -0.01, 0.0, 0.02, 0.4]) / np.sqrt(max(shape, 1.0))
    shapes = np.full(u.size, shape)
    # SciPy's own terms are as large as the shape times its logarithm.
    lost = 16 * np.finfo(float).eps * max(shape * np.log(shape + 1), 1.0)
    log_cdf, power = _logs(shapes, u)
    np.testing.assert_allclose(power + np.log(shape), stats.loggamma.logpdf(u, shape), rtol=0, atol=1e-12 + lost)
    expected = np.log(stats.gamma.cdf(np.exp(u), shape))
    np.testing.assert_allclose(log_cdf, expected, rtol=1e-10, atol=1e-12)


def test_the_distribution_has_a_logarithm_where_it_has_no_digits():
    """Far left x^a / (a Gamma(a)), here 1e-400 and less."""
    u = np.array([-150.0, -400.0])
    np.testing.assert_allclose(_logs(np.full(2, 7.0), u)[0], 7 * u - sp.special.gammaln(8), rtol=1e-12)
