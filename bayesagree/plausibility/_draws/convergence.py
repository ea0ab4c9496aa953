"""Diagnostics of Markov chains that stay cheap for thousands of items: split r-hat and effective sample size."""

import math
import warnings
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree.errors import shorten

R_HAT_LIMIT = 1.1
"""Chains of an item count as mixed below this split r-hat (Gelman and Rubin 1992); a few short chains stay below it."""


@numba.njit(cache=True, nogil=True)
def worst_mixing(samples, chains):
    """Return the largest split r-hat and the smallest effective sample size over the columns of (chain * draw, column).

    Both as ArviZ defines them (``method="split"``, ``method="mean"``), on half chains; NaN without variation or with
    fewer than four draws a chain.
    """
    draws = samples.shape[0] // chains
    half = draws // 2
    worst_r_hat, worst_ess = math.nan, math.nan
    if half < 2:
        return worst_r_hat, worst_ess
    parts = np.empty((2 * chains, half))
    for column in range(samples.shape[1]):
        for c in range(chains):
            parts[2 * c] = samples[c * draws : c * draws + half, column]
            parts[2 * c + 1] = samples[(c + 1) * draws - half : (c + 1) * draws, column]
        within, spread = _centre(parts)
        if not within > 0.0:
            continue
        r_hat = math.sqrt(spread / within)
        ess = _effective_size(parts, within, spread)
        worst_r_hat = r_hat if math.isnan(worst_r_hat) else max(worst_r_hat, r_hat)
        worst_ess = ess if math.isnan(worst_ess) else min(worst_ess, ess)
    return worst_r_hat, worst_ess


@numba.njit(cache=True, nogil=True)
def _centre(parts):
    """Subtract each part's mean; return the variance within parts and the pooled estimate that adds their means'."""
    n = parts.shape[1]
    means = np.empty(parts.shape[0])
    within = 0.0
    for p in range(parts.shape[0]):
        means[p] = parts[p].mean()
        parts[p] -= means[p]
        within += (parts[p] ** 2).sum() / (n - 1)
    within /= parts.shape[0]
    return within, within * (n - 1) / n + ((means - means.mean()) ** 2).sum() / (means.size - 1)


@numba.njit(cache=True, nogil=True)
def _correlation(parts, lag, within, spread):
    n = parts.shape[1]
    product = 0.0
    for p in range(parts.shape[0]):
        for t in range(n - lag):
            product += parts[p, t] * parts[p, t + lag]
    return 1.0 - (within - product / (n * parts.shape[0])) / spread


@numba.njit(cache=True, nogil=True)
def _effective_size(parts, within, spread):
    """Sum autocorrelations in pairs while the pairs are positive, each at most the one before (Geyer 1992)."""
    n = parts.shape[1]
    even, odd = 1.0, _correlation(parts, 1, within, spread)
    pair, time, lag = even + odd, -1.0, 1
    while True:
        time += 2.0 * pair
        if lag >= n - 3:
            break
        even, odd = _correlation(parts, lag + 1, within, spread), _correlation(parts, lag + 2, within, spread)
        if even + odd <= 0.0:
            time += max(even, 0.0)
            break
        pair = min(pair, even + odd)
        lag += 2
    size = float(parts.size)
    return size / max(time, 1.0 / math.log10(size))


def warn_unmixed(items: NDArray[Any], r_hat: NDArray[np.float64], way_out: str) -> None:
    """Warn with the names of the items whose chains disagree, worst first."""
    bad = np.flatnonzero(r_hat > R_HAT_LIMIT)
    if bad.size:
        bad = bad[np.argsort(-r_hat[bad], kind="stable")]
        warnings.warn(
            f"{bad.size} of {items.size} items have not mixed (r-hat up to {r_hat[bad[0]]:.2f}, limit {R_HAT_LIMIT}): "
            f"{shorten(items[bad])}; {way_out}",
            UserWarning,
            stacklevel=3,
        )
