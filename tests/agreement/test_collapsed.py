"""Phi's likelihood with item means integrated out: its derivatives, and parameters at the edges."""

import numpy as np
import pytest

from bayesagree.agreement._collapsed import collapsed_log_likelihood

pytestmark = pytest.mark.long  # the kernel, which models by NUTS alone use, compiles for ten seconds
STEP = 1e-6


@pytest.fixture(scope="module")
def patterns():
    rng = np.random.default_rng(1)
    counts = rng.multinomial(5, [0.3, 0.1, 0.1, 0.2, 0.3], size=20).astype(float)
    return counts, rng.integers(1, 4, 20).astype(float)


@pytest.mark.parametrize("at", [(3, 0.4, 0.3, 0.2, 0.1), (0.5, 0.8, 0.6, 0.3, 0.3), (20, 0.5, 3**-0.5, 0.5, 0.01)])
def test_derivatives_equal_differences(patterns, at):
    _, slopes = collapsed_log_likelihood(*patterns, *map(float, at))
    for k, found in enumerate(slopes):
        step = STEP * np.eye(5)[k]
        above, below = (collapsed_log_likelihood(*patterns, *(np.array(at) + side))[0] for side in (step, -step))
        # Central differences err by about the step squared and by rounding of the value over the step.
        assert found == pytest.approx((above - below) / (2 * STEP), abs=1e-4, rel=1e-6)


def test_without_outright_ends_there_is_no_slope_of_their_shares(patterns):
    _, slopes = collapsed_log_likelihood(*patterns, 3.0, 0.4, 0.3, 0.0, 0.0)
    assert slopes[3:].tolist() == [0, 0]


@pytest.mark.parametrize("at", [(3, 0, 0.5, 0, 0), (3, 1, 0.5, 0.2, 0), (3, 0.5, 0, 0, 0), (3, 0.5, 1, 0.1, 0.1)])
def test_edges_of_the_parameters_have_a_value(patterns, at):
    value, slopes = collapsed_log_likelihood(*patterns, *map(float, at))
    assert np.isfinite(value)
    assert np.isfinite(slopes).all()
