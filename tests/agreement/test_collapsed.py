"""Phi's likelihood with item means integrated out: its derivatives, and parameters at the edges."""

import numpy as np
import pytest

pytestmark = pytest.mark.long  # PyTensor compiles the function and its derivatives for ten seconds
STEP = 1e-6


@pytest.fixture(scope="module")
def value_and_slopes():
    import pytensor
    import pytensor.tensor as pt

    from bayesagree.agreement._pymc_likelihoods import collapsed_log_likelihood

    rng = np.random.default_rng(1)
    counts = rng.multinomial(5, [0.3, 0.1, 0.1, 0.2, 0.3], size=20).astype(float)
    weight = rng.integers(1, 4, 20).astype(float)
    at = pt.dvector()
    whole = collapsed_log_likelihood(
        pt.constant(counts), pt.constant(weight), at[0], (at[1], at[2]), [at[3], at[4]], np.linspace(0, 1, 6)
    )
    return pytensor.function([at], [whole, pytensor.grad(whole, at)])


@pytest.mark.parametrize("at", [(3, 0.4, 0.3, 0.2, 0.1), (0.5, 0.8, 0.6, 0.3, 0.3), (20, 0.5, 3**-0.5, 0.5, 0.01)])
def test_derivatives_equal_differences(value_and_slopes, at):
    _, slopes = value_and_slopes(np.array(at, float))
    for k, found in enumerate(slopes):
        step = STEP * np.eye(5)[k]
        above, below = (value_and_slopes(np.array(at) + side)[0] for side in (step, -step))
        # Central differences err by about the step squared and by rounding of the value over the step.
        assert found == pytest.approx((above - below) / (2 * STEP), abs=1e-4, rel=1e-6)


@pytest.mark.parametrize("at", [(3, 0, 0.5, 0, 0), (3, 1, 0.5, 0.2, 0), (3, 0.5, 0, 0, 0), (3, 0.5, 1, 0.1, 0.1)])
def test_edges_of_the_parameters_have_a_value(value_and_slopes, at):
    value, slopes = value_and_slopes(np.array(at, float))
    assert np.isfinite(value)
    assert np.isfinite(slopes).all()
