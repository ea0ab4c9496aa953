"""Whether draws suffice, one rule for all posteriors: rank-normalised split R-hat, bulk ESS, and k-hat of weights.

R-hat and ESS are those of `arviz.rhat` and `arviz.ess`, for all parameters at once: thousands of items have one each.
(Of a single chain the halves are compared, where ArviZ refuses.)

Source: Vehtari, Gelman, Simpson, Carpenter and Bürkner, "Rank-normalization, folding, and localization: an improved
R-hat for assessing convergence of MCMC", Bayesian Analysis 16 (2021), https://doi.org/10.1214/20-BA1221.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree._types import Array, Floats
from bayesagree.errors import shorten, warn

# The limits of the field for a number that is printed (Vehtari et al., section 4).
R_HAT_LIMIT, ESS_LIMIT = 1.01, 400
# The same of draws that importance sampling weights (Vehtari et al. 2024).
K_HAT_LIMIT = 0.7
# Parameters are not printed: their chains are in different modes above this R-hat. Chains of one annotator with ten
# labels wander slowly, which hardly moves the items: the same of a single annotator or item of a joint model.
MODES_APART, ONE_APART = 1.1, 1.5
# Fewest draws per chain that tell of modes: below, R-hat is mostly noise.
ENOUGH_DRAWS = 100
# Parameters whose draws are sorted at once.
AT_ONCE = 64
# Variance of equal scores, which is not always 0 to the last digit; of others it is far larger.
ROUNDING = 1e-20


def diagnostics(draws: Array) -> tuple[Floats, Floats]:
    """Return R-hat and bulk ESS of each parameter: draws (chain, draw, parameter), two results of shape (parameter,).

    NaN without variation, with NaN among the draws, or with fewer than four draws a chain; R-hat is infinite where
    every half of a chain stands still, and not at one place.
    """
    chains, n_draws, n = draws.shape
    out = np.full((2, n), np.nan)
    half = n_draws // 2
    for start in range(0, n if half >= 2 else 0, AT_ONCE):
        part = np.asarray(draws[:, :, start : start + AT_ONCE], np.float64)
        halves = np.concatenate([part[:, :half], part[:, n_draws - half :]], axis=1)
        found = _of_halves(np.ascontiguousarray(halves.reshape(2 * chains * half, -1).T), 2 * chains)
        out[:, start : start + AT_ONCE] = found
    return out[0], out[1]


def of_parameters(draws: Floats) -> dict[str, dict[str, Any]]:
    """Return the groups of a result that tell of parameters which all items share: draws (chain, draw, parameter)."""
    groups = {
        "posterior_parameters": {"estimate": draws.mean(axis=(0, 1)), "sd": draws.std(axis=(0, 1))},
        "diagnostics": dict(zip(("r_hat", "ess"), diagnostics(draws))),
    }
    return {group: {name: (("parameter",), v) for name, v in of.items()} for group, of in groups.items()}


def _of_halves(values: Floats, parts: int) -> Floats:
    """Return R-hat and ESS, shape (2, parameter), of draws (parameter, part * draw)."""
    folded = abs(values - np.median(values, axis=1, keepdims=True))
    ranks = np.stack([pd.DataFrame(one.T).rank().to_numpy().T for one in (values, folded)])
    # Normal quantiles by Blom's formula; equal values share ranks.
    scores = sp.special.ndtri((ranks - 3 / 8) / (values.shape[1] + 1 / 4))
    bulk, tail = scores.reshape(2, len(values), parts, -1)
    r_hat, of_tail = _r_hat(bulk), _r_hat(tail)
    r_hat = np.where(np.isfinite(of_tail), np.maximum(r_hat, of_tail), r_hat)
    return np.stack([r_hat, np.where(np.isfinite(r_hat), _effective_size(bulk), np.nan)])


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
    means = parts.mean(axis=2, keepdims=True)
    power = np.abs(np.fft.rfft(parts - means, 2 * n, axis=2)) ** 2
    products = np.fft.irfft(power, axis=2)[:, :, :n].mean(axis=1) / n
    within = products[:, :1] * n / (n - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1.0 - (within - products) / (products[:, :1] + means.var(axis=1, ddof=1))
    rho[:, 0] = 1.0
    most = max((n - 3) // 2, 0)  # pairs that may be added
    pairs = rho[:, 0 : 2 * most + 2 : 2] + rho[:, 1 : 2 * most + 2 : 2]
    added = np.logical_and.accumulate(pairs[:, :most] > 0.0, axis=1)
    time = 2.0 * (np.minimum.accumulate(pairs, axis=1)[:, :most] * added).sum(axis=1) - 1.0
    row, stop = np.arange(len(rho)), added.sum(axis=1)
    even = rho[row, 2 * stop]
    # Of the pair that ends the sum, the first alone counts.
    time += np.where((even > 0.0) | (pairs[row, stop] >= 0.0), even, 0.0)
    size = float(parts.shape[1] * n)
    return size / np.maximum(time, 1.0 / np.log10(size))


def worst_of_items(draws: Array) -> dict[str, Floats]:
    """Return the largest R-hat and smallest ESS of each item's parameters, draws (chain, draw, item, ...)."""
    n_items = draws.shape[2]
    r_hat, ess = (values.reshape(n_items, -1) for values in diagnostics(draws.reshape(*draws.shape[:2], -1)))
    # NaN is a parameter that does not move; chains that stand still at different places have an infinite R-hat.
    return {"r_hat": np.fmax.reduce(r_hat, axis=1), "ess": np.fmin.reduce(ess, axis=1)}


def warn_of_numbers(numbers: Mapping[str, Array], way_out: str) -> None:
    """Warn of numbers that are printed whose chains are short or disagree, draws (chain, draw, ...) by name.

    Examples
    --------
    >>> warn_of_numbers({"accuracy": np.random.default_rng(1).normal(size=(4, 1000, 3))}, "raise draws=")
    """
    worst = []
    for name, draws in numbers.items():
        r_hat, ess = diagnostics(draws.reshape(*draws.shape[:2], -1))
        if (r_hat > R_HAT_LIMIT).any() or (ess < ESS_LIMIT).any():
            worst.append((name, np.fmax.reduce(r_hat), np.fmin.reduce(ess)))
    if worst:
        names, r_hats, sizes = zip(*worst)
        r_hat = np.fmax.reduce(r_hats)
        digits = 3 if round(r_hat, 2) == R_HAT_LIMIT else 2  # else it would look like the limit
        warn(
            f"{', '.join(names)}: {np.fmin.reduce(sizes):.0f} effective draws, R-hat up to {r_hat:.{digits}f} (wanted: "
            f"{ESS_LIMIT}, {R_HAT_LIMIT}); {way_out}"
        )


def warn_of_weights(k_hat: float, way_out: str) -> None:
    """Warn of weights of importance sampling whose mean a few draws decide."""
    if k_hat > K_HAT_LIMIT:
        warn(f"Pareto k-hat of the importance sampling is {k_hat:.2f}, above {K_HAT_LIMIT}: {way_out}")


def pareto_k(log_weight: Floats) -> float:
    """Return k-hat of weights of importance sampling, that of `arviz.psis`; 0 of equal ones."""
    from arviz_stats.base.array import array_stats  # whose import takes a third of a second

    apart = log_weight + 1e-14 * np.arange(log_weight.size)  # it has none of a tail with equal ratios
    with np.errstate(over="ignore"):  # in the smoothed weights, of k-hat far above one
        k_hat = array_stats.psislw(-apart)[1] if np.ptp(log_weight) > 1e-12 else 0.0
    return float(np.nan_to_num(k_hat, nan=np.inf))  # a few weights are all, and leave no tail


def r_hat_limit(n: int) -> float:
    """Return the R-hat that one of n numbers with 400 effective draws, in four chains, has with probability .05.

    Its square exceeds 1 by a multiple of the variance of the means of eight halves of a chain; for one number it is the
    limit of the field.

    Examples
    --------
    >>> [round(r_hat_limit(n), 3) for n in (1, 100, 10000)]
    [1.01, 1.027, 1.042]
    """
    halves = 8
    spread = float(sp.special.chdtri(halves - 1, 0.05 / n)) / (halves - 1)
    return (1 + (spread - 1) * halves / ESS_LIMIT) ** 0.5


def warn_not_converged(items: Array, r_hat: Floats, way_out: str) -> None:
    """Warn with the names of the items whose chains disagree, worst first."""
    limit = r_hat_limit(max(items.size, 1))
    bad = np.flatnonzero(r_hat > limit)
    if bad.size:
        bad = bad[np.argsort(-r_hat[bad], kind="stable")]
        warn(
            f"{bad.size} of {items.size} items have not converged (r_hat up to {r_hat[bad[0]]:.2f}, limit "
            f"{limit:.2f}): {shorten(items[bad])}; {way_out}"
        )
