"""Convergence of Markov chains, one definition for all posteriors: rank-normalised split R-hat and bulk ESS.

The values are those of `arviz.rhat` and `arviz.ess`, for all parameters at once: thousands of items have one each. (Of
a single chain the halves are compared, where ArviZ refuses.)

Source: Vehtari, Gelman, Simpson, Carpenter and Bürkner, "Rank-normalization, folding, and localization: an improved
R-hat for assessing convergence of MCMC", Bayesian Analysis 16 (2021), https://doi.org/10.1214/20-BA1221.
"""

import math
from typing import Any

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.errors import shorten, warn

# 1.01 is the limit for one parameter in a paper. The worst of thousands of items is compared here, and at 100
# effective draws the noise of R-hat alone takes some of them to 1.05: above 1.1 the chains do disagree.
# Chains count as converged up to this R-hat.
R_HAT_LIMIT = 1.1
# Chains of one annotator with ten labels wander slowly, which hardly moves the items; at 1.5 they have ended in
# different places.
# The same for a single annotator or item of a model that joins all of them.
R_HAT_LIMIT_OF_ONE = 1.5
# Limits of the field for a number that is printed.
SCORE_R_HAT, SCORE_ESS = 1.01, 400
# Below a hundred draws R-hat is mostly noise: its own standard error exceeds what the limit allows.
# Fewest draws per chain for which a joint model warns.
ENOUGH_DRAWS = 100
# Parameters whose draws are sorted at once.
AT_ONCE = 64
# Variance of equal scores, which is not always 0 to the last digit; of others it is far larger.
ROUNDING = 1e-20


def diagnostics(draws: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return R-hat and bulk ESS of each parameter: draws (chain, draw, parameter), two results of shape (parameter,).

    NaN without variation, with NaN among the draws, or with fewer than four draws a chain; R-hat is infinite where
    every half of a chain stands still, and not at one place.
    """
    chains, n_draws, n = draws.shape
    out = np.full((2, n), np.nan)
    half = n_draws // 2
    for start in range(0, n if half >= 2 else 0, AT_ONCE):
        part = np.asarray(draws[:, :, start : start + AT_ONCE], np.float64)
        halves = np.stack([part[:, :half], part[:, n_draws - half :]], axis=1).reshape(2 * chains * half, -1)
        moves = np.flatnonzero(halves.max(axis=0) > halves.min(axis=0))  # NaN does not
        if moves.size:
            out[:, start + moves] = _of_halves(np.ascontiguousarray(halves.T[moves]), 2 * chains)
    return out[0], out[1]


def _of_halves(values: Floats, parts: int) -> Floats:
    """Return R-hat and ESS, shape (2, parameter), of draws (parameter, part * draw) of which each moves."""
    folded = abs(values - np.median(values, axis=1, keepdims=True))
    bulk, tail = (_normal_scores(one).reshape(len(values), parts, -1) for one in (values, folded))
    r_hat, of_tail = _r_hat(bulk), _r_hat(tail)
    r_hat = np.where(np.isfinite(of_tail), np.maximum(r_hat, of_tail), r_hat)
    return np.stack([r_hat, np.where(np.isfinite(r_hat), _effective_size(bulk), np.nan)])


def _normal_scores(values: Floats) -> Floats:
    """Return the normal quantile of each value's rank within its row, by Blom's formula; equal values share ranks."""
    size = values.shape[1]
    order = values.argsort(axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    first = last = np.broadcast_to(np.arange(size), values.shape)  # places of the first and last equal one
    equal = ordered[:, 1:] == ordered[:, :-1]
    if equal.any():
        edge = np.pad(~equal, ((0, 0), (1, 1)), constant_values=True)
        first = np.maximum.accumulate(np.where(edge[:, :-1], first, 0), axis=1)
        last = np.minimum.accumulate(np.where(edge[:, 1:], last, size)[:, ::-1], axis=1)[:, ::-1]
    scores = sp.special.ndtri(
        (1 + np.arange(2 * size - 1) / 2 - 3 / 8) / (size + 1 / 4)
    )  # of the ranks 1, 1.5, 2, ...
    out = np.empty(values.shape)
    np.put_along_axis(out, order, scores[first + last], axis=1)
    return out


def _r_hat(parts: Floats) -> Floats:
    """Return the root of the pooled variance over that within parts, of scores (parameter, part, draw)."""
    n = parts.shape[2]
    within, between = parts.var(axis=2, ddof=1).mean(axis=1), parts.mean(axis=2).var(axis=1, ddof=1)
    within[within < ROUNDING] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt((within * (n - 1) / n + between) / within)


def _effective_size(parts: Floats) -> Floats:
    """Sum autocorrelations in pairs while the pairs are positive, each at most the one before (Geyer 1992)."""
    n = parts.shape[2]
    centred = parts - parts.mean(axis=2, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * n, axis=2)
    products = np.fft.irfft(spectrum * spectrum.conj(), axis=2)[:, :, :n].mean(axis=1) / n
    within = products[:, :1] * n / (n - 1)
    pooled = products[:, :1] + parts.mean(axis=2).var(axis=1, ddof=1)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1.0 - (within - products) / pooled
    rho[:, 0] = 1.0
    most = max((n - 3) // 2, 0)  # pairs that may be added
    pairs = rho[:, 0 : 2 * most + 2 : 2] + rho[:, 1 : 2 * most + 2 : 2]
    added = np.logical_and.accumulate(pairs[:, :most] > 0.0, axis=1)
    time = 2.0 * np.where(added, np.minimum.accumulate(pairs, axis=1)[:, :most], 0.0).sum(axis=1) - 1.0
    row, stop = np.arange(len(rho)), added.sum(axis=1)
    even = rho[row, 2 * stop]
    # Of the pair that ends the sum, the first alone counts.
    time += np.where((even > 0.0) | (pairs[row, stop] >= 0.0), even, 0.0)
    size = float(parts.shape[1] * n)
    return size / np.maximum(time, 1.0 / np.log10(size))


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


def warn_of_scores(draws: Floats, way_out: str) -> None:
    """Warn where numbers that are printed rest on chains that disagree or are short, draws (chain, draw, number)."""
    r_hat, ess = diagnostics(draws)
    known = np.isfinite(r_hat)
    if known.any() and (r_hat[known].max() > SCORE_R_HAT or ess[known].min() < SCORE_ESS):
        warn(
            f"a score rests on {ess[known].min():.0f} effective draws, with an R-hat of up to {r_hat[known].max():.2f} "
            f"(asked are {SCORE_ESS} and {SCORE_R_HAT}); {way_out}"
        )


def warn_not_converged(items: NDArray[Any], r_hat: Floats, way_out: str) -> None:
    """Warn with the names of the items whose chains disagree, worst first."""
    bad = np.flatnonzero(r_hat > R_HAT_LIMIT)
    if bad.size:
        bad = bad[np.argsort(-r_hat[bad], kind="stable")]
        warn(
            f"{bad.size} of {items.size} items have not converged (r_hat up to {r_hat[bad[0]]:.2f}, limit "
            f"{R_HAT_LIMIT}): {shorten(items[bad])}; {way_out}"
        )
