"""Kernels of annotators' effects against the densities of SciPy."""

import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta, norm

from bayesagree.agreement._effects_kernels import log_item_prior, log_shares

LOGITS = np.array([-30.0, -2.5, -0.1, 0.0, 0.4, 3.0, 30.0])


def test_log_shares():
    np.testing.assert_allclose(np.array([log_shares(z) for z in LOGITS]).T, -np.logaddexp(0, [-LOGITS, LOGITS]))


def test_prior_of_an_item_is_a_beta_density_of_its_logit():
    z = LOGITS[:-1]  # next to 1 a share has no digits left
    found = [log_item_prior(one, 0.7, 2.6, math.nan, 0.1) for one in z]
    expected = beta.logpdf(expit(z), 0.7, 2.6) + np.log(expit(z) * expit(-z))
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-9)


@pytest.mark.parametrize("sd", [0.05, 0.3])
def test_a_known_truth_is_the_middle_of_a_normal_density(sd):
    found = [log_item_prior(z, 0.7, 2.6, 0.3, sd) for z in LOGITS[1:-1]]
    share = expit(LOGITS[1:-1])
    expected = norm.logpdf(share, 0.3, sd) + np.log(share * (1 - share))
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-9)
