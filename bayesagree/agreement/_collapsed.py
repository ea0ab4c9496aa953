"""Phi's PyMC model without item means: they are integrated out, once for each distinct pattern of ratings.

The trapezoidal rule of the exact engine (`_exact.item_means`): nodes logit(mu) = 2 sinh(z), their step set by the
narrowest likelihood and the prior. Where the nodes stand does not change the integral, so that they have no gradient.
"""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor
from pytensor.gradient import disconnected_grad

from bayesagree.agreement._binned_beta import log_probability_of_bins
from bayesagree.agreement._exact.item_means import FARTHEST, PER_WIDTH
from bayesagree.agreement._exact.patterns import RatingCounts
from bayesagree.agreement._inflated_beta import inflated_log_probability

pt: Any = pytensor.tensor  # whose own types are too wide for arithmetic
MOST_NODES = 3000
"""Nodes at most, for item likelihoods with a standard deviation of .003 in logit(mu): Phi above .99999."""


def add_collapsed_likelihood(
    counts: RatingCounts, precision: Any, hyper: tuple[Any, Any] | None, shares: list[Any]
) -> None:
    """Add the log likelihood of all ratings to the model; `hyper` are m and s, None for flat means."""
    table = counts.counts.toarray()
    seen = pm.Data("observed_patterns", table, dims=("pattern", "level"))
    weight = pm.Data("items_of_pattern", counts.weight, dims="pattern")
    logit, log_weight = _nodes(precision, hyper, float(counts.size.max()))
    mean = pt.sigmoid(logit)[:, None]
    alpha, beta = mean * precision, pt.sigmoid(-logit)[:, None] * precision
    levels, edges = np.arange(table.shape[1]), np.linspace(0, 1, table.shape[1] + 1)
    if shares:
        log_p = inflated_log_probability(levels[None], alpha, beta, (shares[0], shares[1]), edges)
    else:
        log_p = log_probability_of_bins(levels[None], alpha, beta, edges)
    log_prior = log_weight + _log_prior(logit, hyper)
    log_prior -= pt.logsumexp(log_prior)
    # A level without probability anywhere near would be 0 times minus infinity in patterns that do not have it.
    of_pattern = pt.dot(seen, pt.maximum(log_p, -1e6).T) + log_prior
    pm.Potential("log_likelihood", pt.dot(weight, pt.logsumexp(of_pattern, axis=1)))


def _nodes(precision: Any, hyper: tuple[Any, Any] | None, most: float) -> tuple[Any, Any]:
    """Return the nodes and the logarithms of their weights, of which there are as many as the parameters need."""
    low, high, step = -FARTHEST, FARTHEST, pt.minimum(0.15, 0.5 / pt.sqrt(most * (precision + 1)))
    if hyper is not None:
        m, s = hyper
        t, centre = s**-2 - 1, pt.log(m) - pt.log1p(-m)
        width = pt.minimum(s / pt.sqrt(m * (1 - m)), 2.0)
        low, high = centre - 7.5 * width - 28 / (m * t), centre + 7.5 * width + 28 / ((1 - m) * t)
        step = pt.minimum(step, width / (PER_WIDTH * pt.sqrt(4 + centre**2)))
    fixed: Any = disconnected_grad
    first, last = (fixed(pt.arcsinh(end / 2)) for end in (low, high))
    step = pt.maximum(fixed(step), (last - first) / MOST_NODES)
    z = step * pt.arange(pt.floor(first / step), pt.ceil(last / step) + 1)
    return 2 * pt.sinh(z), pt.log(2 * step * pt.cosh(z))


def _log_prior(logit: Any, hyper: tuple[Any, Any] | None) -> Any:
    """Return the log density of logit(mu) up to a constant."""
    if hyper is None:
        return -pt.softplus(logit) - pt.softplus(-logit)
    m, s = hyper
    t = s**-2 - 1
    return -t * (m * pt.softplus(-logit) + (1 - m) * pt.softplus(logit))
