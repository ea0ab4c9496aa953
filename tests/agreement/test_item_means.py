"""Item means integrated out: against adaptive quadrature, and where the engine gives up."""

import numpy as np
import pytest
from _phi import brute_force, levels, posterior_of

from bayesagree.agreement._exact.item_means import log_beta_shape
from bayesagree.agreement._exact.prior_masses import _log_shape
from bayesagree.agreement._exact.problem import prepare
from bayesagree.annotations import Ratings
from bayesagree.errors import ConvergenceError


@pytest.mark.parametrize("precision", [0.1, 0.6, 2.0, 4.0, 12.0, 22.0])
def test_evidence_of_an_item_is_its_integral(precision):
    for row in ([0, 0, 1, 2, 4], [2, 2, 2], [4], [0, 4, 4, 0]):
        means = prepare(levels([row], 5), item_mean="flat").means
        assert means.log_evidence(precision, 0) == pytest.approx(np.log(brute_force(row, 5, precision)), abs=1e-7)


def test_too_narrow_a_likelihood_raises():
    x = 0.5 + np.array([[0.0, 1e-9, -1e-9]] * 3)
    with pytest.raises(ConvergenceError):
        posterior_of(Ratings.from_matrix(np.repeat(x, 4000, axis=1), scale=(0, 1)), item_mean="flat")


def test_the_log_density_of_an_item_mean_far_from_its_prior_is_that_of_its_tail():
    """Draws of a prior at an end of the scale, m and s near 1, have nodes that are 1e19 logits away."""
    m, s = np.array(0.3), np.array(0.5)
    far = np.array([500.0, 650.0, 800.0, 1e10, 1.4623938811714966e19])
    centre, times = np.log(0.3 / 0.7), 3.0
    expected = times * ((0.3 - 1) * (far - centre) - np.log(0.3))
    np.testing.assert_allclose(log_beta_shape(far, m, s), expected, rtol=1e-12)
    compiled = np.empty(far.size)
    _log_shape(0.3, far, compiled)
    np.testing.assert_allclose(times * compiled, expected, rtol=1e-12)
