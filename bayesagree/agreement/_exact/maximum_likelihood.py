"""Joint maximum likelihood of Phi and all item means (Checco et al. 2017, section 4.4)."""

from typing import Any

import numpy as np
import scipy as sp

from bayesagree.agreement._exact.item_means import KnownMeans, blocks, likelihood_step, nodes
from bayesagree.agreement._exact.likelihood import Likelihood
from bayesagree.agreement._exact.patterns import Floats
from bayesagree.agreement._exact.posterior import phi_of

GRID = 24
"""Precisions from 0.01 to 400 (Phi to 1 - 2^-199) that bracket the maximum: the likelihood is smooth in log p."""


def phi_maximum_likelihood(like: Likelihood, known: KnownMeans | None = None) -> float:
    """Return the maximum-likelihood estimate of Phi, every item mean at its own maximum.

    With known truths, the maximum of the joint posterior density of Phi and the item means (the paper's estimate).
    1 where unanimous items make the likelihood grow without bound, -1 where it grows towards two camps.
    """

    def loss(y: float) -> float:
        precision = float(np.exp(y))
        step = 0.5 * likelihood_step(like, precision)
        at, _ = nodes(step if known is None else min(step, 0.6 * known.sd), -30.0, 30.0)
        prior = np.zeros((1, at.size)) if known is None else _log_density_of_means(known, at)
        return -sum(
            float(block.weight @ _highest(block.table(precision, at) + prior[block.group if known else 0]))
            for block in blocks(like, at.size)
        )

    y = np.linspace(np.log(0.01), np.log(400), GRID)
    value = [loss(v) for v in y]
    best = int(np.argmin(value))
    if best == y.size - 1:
        return 1.0
    if best == 0:
        return -1.0
    bounds = (y[max(best - 1, 0)], y[best + 1])
    found: Any = sp.optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-7})
    return float(phi_of(np.exp(found.x)))


def _log_density_of_means(known: KnownMeans, at: Floats) -> Floats:
    """Return the log density of mu at nodes logit(mu), up to a constant: flat first, then each truth."""
    away = (sp.special.expit(at) - np.append(np.nan, known.truth)[:, None]) / known.sd
    return -0.5 * np.nan_to_num(away) ** 2


def _highest(table: Floats) -> Floats:
    """Return the maximum of each row: the top of the parabola through its largest value and both neighbours."""
    best = np.argmax(table, axis=1)
    top = table[np.arange(best.size), best]
    inner = (best > 0) & (best < table.shape[1] - 1)
    left, right = (table[inner, best[inner] + side] for side in (-1, 1))
    curvature = 2 * top[inner] - left - right
    top[inner] += np.where(curvature > 0, (right - left) ** 2 / (8 * np.where(curvature > 0, curvature, 1)), 0)
    return top
