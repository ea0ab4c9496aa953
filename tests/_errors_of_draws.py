"""Tolerances that come from Monte-Carlo error, shared by the tests of all samplers."""

import numpy as np
import xarray as xr

SIGMAS = 4.5
"""A comparison of some thousand numbers fails by chance less than once in a hundred runs."""


def assert_mean(draws, expected, sigmas=SIGMAS):
    """Compare means of independent draws along the first axis with expected values, in standard errors."""
    draws = np.asarray(draws, dtype=float)
    error = draws.std(axis=0, ddof=1) / np.sqrt(draws.shape[0])
    gap = np.abs(draws.mean(axis=0) - expected)
    assert (gap <= sigmas * error + 1e-12).all(), f"{np.max(gap / np.maximum(error, 1e-300)):.1f} standard errors"


def assert_share(share, expected, n, sigmas=SIGMAS):
    """Compare shares of n independent draws with expected probabilities, in standard errors."""
    expected = np.asarray(expected, dtype=float)
    error = np.sqrt(expected * (1 - expected) / n)
    gap = np.abs(np.asarray(share) - expected)
    # One draw more or less is the grain of a share; it matters where the probability is near 0 or 1.
    assert (gap <= sigmas * error + 3 / n).all(), (
        f"gap {gap.max():.2g} with error {error[gap.argmax() if gap.ndim else ()]}"
    )


def assert_same_mean(tree: xr.DataTree, other: xr.DataTree, name: str, sigmas=SIGMAS):
    """Compare posterior means of two results, allowing for the autocorrelation of both."""
    import arviz as az

    a, b = tree["posterior"].to_dataset()[[name]], other["posterior"].to_dataset()[[name]]
    error = np.hypot(az.mcse(a)[name].values, az.mcse(b)[name].values)
    gap = np.abs(a[name].mean(("chain", "draw")).values - b[name].mean(("chain", "draw")).values)
    assert (gap <= sigmas * error).all(), f"{np.max(gap / error):.1f} standard errors"
