"""Quantiles of the normal distribution against SciPy."""

import numpy as np
import scipy as sp

from bayesagree._numerics.normal import ndtri


def test_quantiles_are_those_of_scipy():
    p = np.concatenate([np.linspace(1e-6, 1 - 1e-6, 501), 10.0 ** -np.arange(1, 301)])  # centre, tail and far tail
    np.testing.assert_allclose([ndtri(share) for share in p], sp.special.ndtri(p), rtol=1e-14, atol=1e-15)
