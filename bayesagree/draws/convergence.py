"""Convergence of Markov chains, one definition for all posteriors: rank-normalised split R-hat and bulk ESS.

The values are those of `arviz.rhat` and `arviz.ess`, at a tenth of their cost: thousands of items have one each. (Of a
single chain the halves are compared, where ArviZ refuses.)

Source: Vehtari, Gelman, Simpson, Carpenter and Bürkner, "Rank-normalization, folding, and localization: an improved
R-hat for assessing convergence of MCMC", Bayesian Analysis 16 (2021), https://doi.org/10.1214/20-BA1221.
"""

import math
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.normal import ndtri
from bayesagree._numerics.types import Floats
from bayesagree.errors import shorten, warn

# 1.01 is the limit for one parameter in a paper. The worst of thousands of items is compared here, and at 100
# effective draws the noise of R-hat alone takes some of them to 1.05: above 1.1 the chains do disagree.
# Chains count as converged up to this R-hat.
R_HAT_LIMIT = 1.1
# Chains of one annotator with ten labels wander slowly, which hardly moves the items; at 1.5 they have ended in
# different places.
# The same for a single annotator or item of a model that joins all of them.
R_HAT_LIMIT_OF_ONE = 1.5
# Below a hundred draws R-hat is mostly noise: its own standard error exceeds what the limit allows.
# Fewest draws per chain for which a joint model warns.
ENOUGH_DRAWS = 100
# Parameters whose draws are sorted at once.
AT_ONCE = 64


def diagnostics(draws: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return R-hat and bulk ESS of each parameter: draws (chain, draw, parameter), two results of shape (parameter,).

    NaN without variation, with NaN among the draws, or with fewer than four draws a chain.
    """
    chains, n_draws, n = draws.shape
    out = np.full((2, n), np.nan)
    half = n_draws // 2
    for start in range(0, n if half >= 2 else 0, AT_ONCE):
        part = draws[:, :, start : start + AT_ONCE]
        halves = np.concatenate([part[:, :half], part[:, n_draws - half :]], axis=1).reshape(2 * chains * half, -1)
        values = np.ascontiguousarray(halves.T, np.float64)
        # numpy's sort takes a third of the time of numba's.
        _diagnose(values, values.argsort(axis=1), _normal_scores(len(halves)), out[:, start : start + AT_ONCE], chains)
    return out[0], out[1]


def worst_diagnostics(samples: Floats, chains: int) -> tuple[float, float]:
    """Return the largest R-hat and the smallest ESS over the columns of samples (chain * draw, column).

    Examples
    --------
    >>> r_hat, ess = worst_diagnostics(np.random.default_rng(1).normal(size=(400, 3)), chains=4)
    >>> r_hat < 1.05, ess > 200
    (True, True)
    """
    r_hat, ess = diagnostics(samples.reshape(chains, -1, samples.shape[1]))
    known = np.isfinite(r_hat)
    return (float(r_hat[known].max()), float(ess[known].min())) if known.any() else (math.nan, math.nan)


def worst_of_items(draws: NDArray[Any]) -> dict[str, Floats]:
    """Return the largest R-hat and smallest ESS of each item's parameters, draws (chain, draw, item, ...)."""
    n_items = draws.shape[2]
    r_hat, ess = (values.reshape(n_items, -1) for values in diagnostics(draws.reshape(*draws.shape[:2], -1)))
    # NaN is a parameter that does not move; chains that stand still at different places have an infinite R-hat.
    return {"r_hat": np.fmax.reduce(r_hat, axis=1), "ess": np.fmin.reduce(ess, axis=1)}


def warn_not_converged(items: NDArray[Any], r_hat: Floats, way_out: str) -> None:
    """Warn with the names of the items whose chains disagree, worst first."""
    bad = np.flatnonzero(r_hat > R_HAT_LIMIT)
    if bad.size:
        bad = bad[np.argsort(-r_hat[bad], kind="stable")]
        warn(
            f"{bad.size} of {items.size} items have not converged (r_hat up to {r_hat[bad[0]]:.2f}, limit "
            f"{R_HAT_LIMIT}): {shorten(items[bad])}; {way_out}"
        )


@lru_cache(maxsize=8)
@numba.njit(cache=True, nogil=True)
def _normal_scores(size):
    """Return the normal quantiles of the ranks 1, 1.5, ..., `size`, by Blom's formula; scipy.special loads slowly."""
    out = np.empty(2 * size - 1)
    for r in range(out.size):
        out[r] = ndtri((1 + r / 2 - 3 / 8) / (size + 1 / 4))
    return out


@numba.njit(cache=True, nogil=True)
def _diagnose(parameters, orders, scores, out, chains):
    """Write R-hat and ESS of each parameter: values (parameter, draw), and what sorts them."""
    half = parameters.shape[1] // (2 * chains)
    bulk, tail = np.empty((2 * chains, half)), np.empty((2 * chains, half))
    for column in range(len(parameters)):
        values, order = parameters[column], orders[column]
        if not values.max() > values.min():  # NaN too
            continue
        _write_scores(values, order, scores, bulk.reshape(-1))
        _fold(values, order)
        _write_scores(values, order, scores, tail.reshape(-1))
        within, pooled = _centre(bulk)
        if not within > 0.0:  # every half of a chain stands still, and not at one place
            out[0, column] = math.inf
            continue
        within_tail, pooled_tail = _centre(tail)
        r_hat = math.sqrt(pooled / within)
        out[0, column] = max(r_hat, math.sqrt(pooled_tail / within_tail)) if within_tail > 0.0 else r_hat
        out[1, column] = _effective_size(bulk, within, pooled)


@numba.njit(cache=True, nogil=True)
def _write_scores(values, order, scores, out):
    """Write the normal score of each value's rank; equal values share the mean of their ranks."""
    start = 0
    while start < order.size:
        stop = start + 1
        while stop < order.size and values[order[stop]] == values[order[start]]:
            stop += 1
        for k in range(start, stop):
            out[order[k]] = scores[start + stop - 1]
        start = stop


@numba.njit(cache=True, nogil=True)
def _fold(values, order):
    """Turn sorted values into distances from their median and sort these, from the middle outwards."""
    middle = order.size // 2
    median = (values[order[middle - 1]] + values[order[middle]]) / 2.0
    ranked = order.copy()
    for k in range(values.size):
        values[k] = abs(values[k] - median)
    low, high = middle - 1, middle
    for k in range(order.size):
        if high == order.size or (low >= 0 and values[ranked[low]] <= values[ranked[high]]):
            order[k] = ranked[low]
            low -= 1
        else:
            order[k] = ranked[high]
            high += 1


@numba.njit(cache=True, nogil=True)
def _centre(parts):
    """Subtract each part's mean; return the variance within parts and the pooled estimate that adds their means'."""
    n = parts.shape[1]
    means = np.empty(parts.shape[0])
    within = 0.0
    for p in range(parts.shape[0]):
        means[p] = parts[p].mean()
        for t in range(n):
            parts[p, t] -= means[p]
            within += parts[p, t] * parts[p, t]
    within /= parts.shape[0] * (n - 1)
    return within, within * (n - 1) / n + ((means - means.mean()) ** 2).sum() / (means.size - 1)


@numba.njit(cache=True, nogil=True)
def _correlation(parts, lag, within, pooled):
    n = parts.shape[1]
    product = 0.0
    for p in range(parts.shape[0]):
        for t in range(n - lag):
            product += parts[p, t] * parts[p, t + lag]
    return 1.0 - (within - product / (n * parts.shape[0])) / pooled


@numba.njit(cache=True, nogil=True)
def _effective_size(parts, within, pooled):
    """Sum autocorrelations in pairs while the pairs are positive, each at most the one before (Geyer 1992)."""
    n = parts.shape[1]
    even, odd = 1.0, _correlation(parts, 1, within, pooled)
    pair, time, lag = even + odd, -1.0, 1
    while lag < n - 3 and even + odd > 0.0:
        time += 2.0 * pair
        even, odd = _correlation(parts, lag + 1, within, pooled), _correlation(parts, lag + 2, within, pooled)
        pair = min(pair, even + odd)
        lag += 2
    if even > 0.0 or even + odd >= 0.0:  # of the pair that ends the sum, the first alone counts
        time += even
    size = float(parts.size)
    return size / max(time, 1.0 / math.log10(size))
