"""Likelihood of patterns: bins, series and densities against adaptive quadrature and against each other."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betainc, betaincc, betaln, expit

from bayesagree.agreement._exact.likelihood import end_bins
from bayesagree.agreement._exact.problem import prepare
from bayesagree.agreement.phi import common_agreement
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError


def test_continuous_ratings_on_the_ends_are_intervals():
    x = np.array([[0.0, 0.1, 0.2], [1.0, 0.9, 1.0], [0.5, 0.6, 0.4]])
    tree = common_agreement(Ratings.from_matrix(x, scale=(0, 1)), seed=1)
    assert float(tree["agreement"]["bin_width"]) == pytest.approx(0.1)
    with pytest.raises(InputError, match="item 0, annotator 0: rating 0 sits on an end of"):
        common_agreement(Ratings.from_matrix(x, scale=(0, 1)), likelihood="density")


@pytest.mark.parametrize(
    "shapes", [(1e-200, 1.2), (1e-9, 3.0), (1e-4, 0.2), (0.3, 0.7), (2.0, 1.5), (0.5, 30.0), (40.0, 1e-3)]
)
@pytest.mark.parametrize("bounds", [(0.0, 5e-7), (5e-7, 1.5e-6), (2.85e-5, 2.95e-5), (0.0, 0.1), (0.01, 0.015)])
def test_bins_next_to_an_end_have_their_integral(shapes, bounds):
    """Pr(low <= x < high) by adaptive quadrature in log x; below 1e-9 of the upper edge the density is a power."""
    (a, b), (low, high) = shapes, bounds
    start = low or 1e-9 * high

    def density(log_x):
        return np.exp(a * log_x + (b - 1) * np.log1p(-np.exp(log_x)) - betaln(a, b))

    mass = quad(density, np.log(start), np.log(high), epsabs=0, epsrel=1e-12, limit=500)[0]
    mass += 0 if low else np.exp(a * np.log(start) - betaln(a, b)) / a
    shape = np.array([a]), np.array([b])
    log_beta = betaln(*shape)
    expected = pytest.approx(np.log(mass), rel=1e-9, abs=1e-9)
    assert np.log(end_bins(np.array([low]), np.array([high]), *shape, log_beta)[0, 0]) == expected
    mirrored = np.log(end_bins(np.array([1 - high]), np.array([1 - low]), *shape[::-1], log_beta)[0, 0])
    # 1 - x keeps sixteen digits of 1, not of x.
    assert mirrored == pytest.approx(np.log(mass), abs=1e-15 * (1 + a) / (high - low) + 1e-9)


def fine_ratings():
    """Sharp ratings on a grid of 1/6000, some within 3000 widths of an end, one on it."""
    rng = np.random.default_rng(0)
    mean = rng.uniform(0.02, 0.2, (40, 1))
    x = np.clip(np.round(rng.beta(300 * mean, 300 * (1 - mean), (40, 5)) * 6000), 40, None) / 6000
    x[0, :2] = 0.0, 1 / 6000
    return Ratings.from_matrix(x, scale=(0, 1))


def test_narrow_intervals_have_their_probability():
    """Density, width and second derivative of an interval against a difference of scipy's incomplete beta function."""
    ratings = fine_ratings()
    like = prepare(ratings, item_mean="flat").like
    assert like.bin_width == pytest.approx(1 / 6000)
    assert like.densities == 6
    at, precision = np.array([-3.0, -2.3, -1.7]), 80.0
    a, b = precision * expit(at), precision * expit(-at)
    low, high = (np.clip(ratings.unit() + side / 12000, 0, 1)[:, None] for side in (-1, 1))
    right = betainc(a, b, low) > 0.5  # from the smaller tail, which keeps its digits
    mass = np.where(right, betaincc(a, b, low) - betaincc(a, b, high), betainc(a, b, high) - betainc(a, b, low))
    expected = np.log(mass).sum(axis=0)
    found = like.weight @ like.table(precision, at) + like.log_width
    # Without the second derivative these sums are off by 7e-4 to 8e-3.
    np.testing.assert_allclose(found, expected, atol=1e-5)
