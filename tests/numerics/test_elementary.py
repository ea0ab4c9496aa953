"""Exponential and logarithm of plain arithmetic against the system's."""

import numba
import numpy as np

from bayesagree._numerics.elementary import LARGEST, exp, log


@numba.njit(fastmath={"contract"}, error_model="numpy")
def _each(function, values):
    out = np.empty(values.size)
    for i in range(values.size):
        out[i] = function(values[i])
    return out


RNG = np.random.default_rng(1)


def test_exponentials_are_right_to_the_last_digits():
    x = np.concatenate([RNG.normal(0, 1, 10_000), RNG.uniform(-LARGEST, LARGEST, 10_000), [0.0, LARGEST, -LARGEST]])
    # Two units in the last place; the system's own may be one off.
    np.testing.assert_allclose(_each(exp, x), np.exp(x), rtol=4.5e-16)
    assert _each(exp, np.zeros(1))[0] == 1.0


def test_exponentials_of_extremes_are_finite_and_positive():
    found = _each(exp, np.array([1e9, -1e9, np.inf, -np.inf]))
    np.testing.assert_allclose(found, np.exp([LARGEST, -LARGEST, LARGEST, -LARGEST]), rtol=4.5e-16)


def test_logarithms_are_right_to_the_last_digits():
    x = np.concatenate([np.exp(RNG.uniform(-700, 700, 10_000)), 1 + RNG.normal(0, 1e-6, 10_000), [1.0]])
    np.testing.assert_allclose(_each(log, x), np.log(x), rtol=4.5e-16, atol=1e-22)
    assert _each(log, np.ones(1))[0] == 0.0
