"""Posterior of how often each of several annotators wins, ties or loses: a hierarchical multinomial, drawn directly.

n_h ~ Multinomial(p_h), p_h ~ Dirichlet(kappa m), m ~ Dirichlet(1, 1, 1), s = (1 + kappa)^(-1/2) ~ U(0, 1). With the
p_h integrated out three parameters are left: many short chains of elliptical slices draw them.
"""

from functools import partial

import numpy as np
import scipy as sp

from bayesagree._types import Advance, Floats, Integers, Pair, Rng, silent
from bayesagree.inference.cells import row_shares
from bayesagree.inference.slices import Fit, chains_of

# Log odds of s, whose density given the log ratios of all wins tells where chains begin.
SPREADS = np.arange(-14, 5, 0.1)


def win_draws(counts: Integers, n_draws: int, rng: Rng, progress: Advance = silent) -> Pair:
    """Draw the probabilities of each annotator, (draw, annotator, 3), and of a new one, (draw, 3)."""
    shared = _shared_draws(counts, n_draws, rng, progress)
    concentration = np.exp(_log_mean(shared)) * _kappa(shared)[:, None]
    return _dirichlet(concentration[:, None, :] + counts, rng), _dirichlet(concentration, rng)


def log_posterior(point: Floats, counts: Integers) -> Floats:
    """Log density of two log ratios of m and the log odds of s, shape (point,), with the p_h integrated out."""
    log_mean, kappa = _log_mean(point), _kappa(point)
    # A share of nearly 0 is nearly impossible, and neither 0 nor its logarithm is to be had.
    shape = np.maximum(np.exp(log_mean) * kappa[:, None], 1e-300)
    each = sp.special.gammaln(shape[:, None, :] + counts) - sp.special.gammaln(shape)[:, None, :]
    whole = sp.special.gammaln(kappa[:, None] + counts.sum(axis=1)) - sp.special.gammaln(kappa)[:, None]
    jacobian = log_mean.sum(axis=1) - np.logaddexp(0, point[:, 2]) - np.logaddexp(0, -point[:, 2])
    return each.sum(axis=(1, 2)) - whole.sum(axis=1) + jacobian


def _shared_draws(counts: Integers, n_draws: int, rng: Rng, progress: Advance = silent) -> Floats:
    log = np.log(counts.sum(axis=0) + 1.0)
    ratios = log[:2] - log[2]
    height = log_posterior(np.column_stack([np.tile(ratios, (SPREADS.size, 1)), SPREADS]), counts)
    share = sp.special.softmax(height)
    middle = share @ SPREADS
    sd = np.sqrt(share @ (SPREADS - middle) ** 2) + 0.5
    fit = Fit(np.append(ratios, middle), np.diag([*np.sqrt(np.exp(-log[:2]) + np.exp(-log[2])), sd]))
    # Of three parameters with one mode draws after three sweeps hardly depend.
    drawn = chains_of(partial(log_posterior, counts=counts), [fit], n_draws, 1, rng, progress, sweeps=3)[0]
    return drawn[rng.permutation(n_draws)]  # neighbours hardly depend


def _log_mean(points: Floats) -> Floats:
    return sp.special.log_softmax(np.column_stack([points[:, :2], np.zeros(len(points))]), axis=1)


def _kappa(points: Floats) -> Floats:
    """Return s^-2 - 1; below s = .0003 annotators are alike, and the Gamma function would lose its digits."""
    return np.expm1(np.minimum(2 * np.logaddexp(0, -points[:, 2]), np.log(1e7)))


def _dirichlet(shape: Floats, rng: Rng) -> Floats:
    return row_shares(np.maximum(rng.standard_gamma(shape), 1e-300))
