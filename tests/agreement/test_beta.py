"""The incomplete beta function and its slopes against SciPy's, for shapes and points of all sizes."""

import numpy as np
import pytest
from scipy.special import betainc, betaincc, betaln, psi

from bayesagree.agreement._beta_bins import tails_with_slopes

SHAPES = [(0.3, 0.7), (1.0, 1.0), (2.5, 0.4), (7.0, 3.0), (40.0, 260.0), (900.0, 35.0)]
POINTS = [1e-8, 0.02, 0.2, 0.5, 0.77, 0.97, 1 - 1e-8]


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_tails_and_slopes(a, b):
    shared = np.array([betaln(a, b), psi(a), psi(b), psi(a + b)])
    for x in POINTS:
        both = betainc(a, b, x), betaincc(a, b, x)
        below, above, by_a, by_b = tails_with_slopes(a, b, x, shared)
        np.testing.assert_allclose((below, above), both, rtol=1e-9, atol=1e-290)
        # Five points: an error of h^4 of the fifth derivative, beside 16 digits of SciPy over h.
        for step, slope in ((np.array([1e-3 * a, 0]), by_a), (np.array([0, 1e-3 * b]), by_b)):
            at = [betainc(*(np.array([a, b]) + k * step), x) for k in (-2, -1, 1, 2)]
            expected = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * step.sum())
            assert slope == pytest.approx(expected, rel=1e-6, abs=1e-12 / step.sum())


def test_ends():
    for x in (-0.5, 0.0, 1.0, 1.5):
        expected = (0, 1) if x <= 0 else (1, 0)
        assert tails_with_slopes(2.0, 3.0, x, np.zeros(4)) == (*expected, 0, 0)
