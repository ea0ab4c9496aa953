"""Joint maximum likelihood of Phi and all item means (Checco et al. 2017, section 4.4)."""

from typing import Any

import numpy as np
import scipy as sp

from bayesagree._numerics.types import Floats
from bayesagree.agreement._exact.item_means import KnownMeans, blocks, likelihood_step, nodes
from bayesagree.agreement._exact.likelihood import Likelihood
from bayesagree.agreement._exact.posterior import phi_of

GRID = 24
"""Precisions from 0.01 to 400 (Phi to 1 - 2^-199) that bracket the maximum: the likelihood is smooth in log p."""
NEWTON = 4
"""Steps to the top of a polynomial of degree four, from the node next to it."""


def phi_maximum_likelihood(like: Likelihood, known: KnownMeans | None = None) -> float:
    """Return the maximum-likelihood estimate of Phi, every item mean at its own maximum.

    The maximum over an item's mean is linear and analytic in the same statistics as its log evidence, so that the
    likelihood may be a compressed one, unless truths are known. With known truths, the maximum of the joint posterior
    density of Phi and the item means (the paper's estimate). 1 where unanimous items make the likelihood grow without
    bound, -1 where it grows towards two camps.
    """

    def loss(y: float) -> float:
        precision = float(np.exp(y))
        step = 0.3 * likelihood_step(like, precision)
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
    """Return the maximum of each row: the top of the polynomial through its largest value and two on either side."""
    best = np.clip(np.argmax(table, axis=1), 2, table.shape[1] - 3)
    near = [table[np.arange(best.size), best + k] for k in range(-2, 3)]
    odd, even = near[3] - near[1], near[3] + near[1] - 2 * near[2]
    wide_odd, wide_even = near[4] - near[0], near[4] + near[0] - 2 * near[2]
    slope, bend = (8 * odd - wide_odd) / 12, (16 * even - wide_even) / 24
    third, fourth = (wide_odd - 2 * odd) / 12, (wide_even - 4 * even) / 24
    at = np.zeros(best.size)
    for _ in range(NEWTON):
        first = slope + at * (2 * bend + at * (3 * third + at * 4 * fourth))
        second = 2 * bend + at * (6 * third + at * 12 * fourth)
        at = np.clip(at - first / np.where(second < 0, second, -np.inf), -0.5, 0.5)
    return np.maximum(near[2] + at * (slope + at * (bend + at * (third + at * fourth))), table.max(axis=1))
