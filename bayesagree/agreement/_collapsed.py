"""Phi's PyMC model without item means: they are integrated out, once for each distinct pattern of ratings.

The trapezoidal rule of the exact engine (`_exact.item_means`): nodes logit(mu) = 2 sinh(z), their step set by the
narrowest likelihood and the prior. Where the nodes stand does not change the integral, so that they have no derivative.
"""

import math
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.gradient import grad_not_implemented
from pytensor.graph.basic import Apply

from bayesagree._inference.kernel_ops import KernelOp
from bayesagree.agreement._binned_beta import bins_log_probability
from bayesagree.agreement._exact.item_means import PER_DEVIATION, PER_WIDTH, TAIL, WIDEST
from bayesagree.agreement._exact.patterns import RatingCounts

MOST_NODES = 3000
"""Nodes at most, for item likelihoods with a standard deviation of .003 in logit(mu): Phi above .99999."""
FLAT = 0.5, 3.0**-0.5
"""m and s of flat item means: Beta(1, 1)."""
EDGE = 1e-12
"""m and s stop so far from 0 and 1, to which a sampler's transformations may round."""
FARTHEST = 300.0
"""Logit of the item mean beyond which the odds of an outright end, which would overflow, change no more."""
NEVER = -1e6
"""Least log probability of a level, which would be 0 times minus infinity in patterns that do not have it."""


def add_collapsed_likelihood(
    counts: RatingCounts, precision: Any, hyper: tuple[Any, Any] | None, shares: list[Any]
) -> None:
    """Add the log likelihood of all ratings to the model; `hyper` are m and s, None for flat means."""
    seen = pm.Data("observed_patterns", counts.counts.toarray().astype(float), dims=("pattern", "level"))
    weight = pm.Data("items_of_pattern", counts.weight.astype(float), dims="pattern")
    whole: Any = CollapsedLikelihood()(seen, weight, precision, *(hyper or FLAT), *(shares or (0.0, 0.0)))
    pm.Potential("log_likelihood", whole[0])


class CollapsedLikelihood(KernelOp):
    """Patterns, their items, p, m, s and the shares of outright ends to the log likelihood and its five derivatives."""

    def make_node(self, *inputs: Any) -> Apply:
        """Build the node."""
        return Apply(self, [pt.cast(v, "float64") for v in inputs], [pt.dscalar(), pt.dvector()])

    def compute(self, *inputs: Any) -> Sequence[Any]:
        """Return both outputs."""
        patterns, weight, *parameters = inputs
        value, slopes = collapsed_log_likelihood(patterns, weight, *map(float, parameters))
        return np.asarray(value), slopes

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Multiply by the derivatives; the data have none."""
        data = [grad_not_implemented(self, k, inputs[k]) for k in (0, 1)]
        return [*data, *(cotangents[0] * outputs[1][k] for k in range(5))]


@numba.njit(cache=True, nogil=True)
def collapsed_log_likelihood(patterns, weight, precision, m, s, low, high):
    """Return the log likelihood of all ratings and its derivatives by precision, m, s and both shares of outright ends.

    `patterns`, shape (pattern, level), counts the ratings on each level; `weight` the items that have the pattern.
    """
    n_patterns, n_levels = patterns.shape
    m, s = min(max(m, EDGE), 1 - EDGE), min(max(s, EDGE), 1 - EDGE)
    most = 0.0
    for i in range(n_patterns):
        most = max(most, patterns[i].sum())
    at, log_weight = _nodes(precision, m, s, most)
    log_prior, by_m, by_s = _log_prior(at, log_weight, m, s)
    log_p, slopes = _log_levels(at, precision, low, high, n_levels)
    prior = np.exp(log_prior)
    mass, by_log_p = -weight.sum() * prior, np.zeros((n_levels, at.size))
    value = 0.0
    for i in range(n_patterns):
        of_node = log_prior.copy()
        for k in range(n_levels):
            if patterns[i, k] > 0:
                _add(of_node, patterns[i, k], log_p[k])
        top = of_node.max()
        of_node = np.exp(of_node - top)
        total = of_node.sum()
        value += weight[i] * (top + math.log(total))
        _add(mass, weight[i] / total, of_node)
        for k in range(n_levels):
            if patterns[i, k] > 0:
                _add(by_log_p[k], weight[i] / total * patterns[i, k], of_node)
    found = np.empty(5)
    for number, slope in ((0, 0), (3, 1), (4, 2)):
        found[number] = (by_log_p * slopes[slope]).sum()
    found[1], found[2] = (mass * by_m).sum(), (mass * by_s).sum()
    return value, found


@numba.njit(cache=True, nogil=True)
def _nodes(precision, m, s, most):
    """Return the nodes and the logarithms of their weights, of which there are as many as the parameters need."""
    t, centre = 1 / s**2 - 1, math.log(m) - math.log1p(-m)
    width = min(s / math.sqrt(m * (1 - m)), 2.0)
    step = min(0.15, PER_DEVIATION / math.sqrt(most * (precision + 1)), width / (PER_WIDTH * math.sqrt(4 + centre**2)))
    first = math.asinh((centre - WIDEST * width - TAIL / (m * t)) / 2)
    last = math.asinh((centre + WIDEST * width + TAIL / ((1 - m) * t)) / 2)
    step = max(step, (last - first) / MOST_NODES)
    z = step * np.arange(math.floor(first / step), math.ceil(last / step) + 1)
    return 2 * np.sinh(z), np.log(2 * step * np.cosh(z))


@numba.njit(cache=True, nogil=True)
def _log_prior(at, log_weight, m, s):
    """Return the log probabilities of the nodes, and the derivatives of what is normalised by m and s."""
    t = 1 / s**2 - 1
    above = np.maximum(at, 0) + np.log1p(np.exp(-np.abs(at)))  # -log(1 - mu); -log(mu) is less by logit(mu)
    cost = m * (above - at) + (1 - m) * above
    log_prior = log_weight - t * cost
    top = log_prior.max()
    log_prior -= top + math.log(np.exp(log_prior - top).sum())
    return log_prior, t * at, 2 / s**3 * cost


@numba.njit(cache=True, nogil=True)
def _add(out, factor, values):
    for j in range(out.size):
        out[j] += factor * values[j]


@numba.njit(cache=True, nogil=True)
def _log_levels(at, precision, low, high, n_levels):
    """Return log probabilities of the levels, shape (level, node), and their derivatives by precision and both shares.

    The derivatives have shape (parameter, level, node).
    """
    slopes = np.zeros((3, n_levels, at.size))
    level, node = np.arange(n_levels * at.size) % n_levels, np.arange(n_levels * at.size) // n_levels
    mean, rest = 1 / (1 + np.exp(-at))[node], 1 / (1 + np.exp(at))[node]
    log_bin, by_alpha, by_beta = bins_log_probability(
        level, mean * precision, rest * precision, np.linspace(0, 1, n_levels + 1)
    )
    log_p = np.maximum(log_bin, NEVER).reshape((at.size, n_levels)).T.copy()
    slopes[0] = (mean * by_alpha + rest * by_beta).reshape((at.size, n_levels)).T
    if low > 0 or high > 0:
        for j in range(at.size):
            odds = math.exp(min(max(at[j], -FARTHEST), FARTHEST))
            _with_outright_ends(log_p[:, j], slopes[:, :, j], odds, low, high)
    return log_p, slopes


@numba.njit(cache=True, nogil=True)
def _with_outright_ends(log_p, slopes, odds, low, high):
    """Mix the probabilities of judgments, and their slopes, with outright ends: `_inflated_beta`."""
    by_low, by_high = 1 / (odds * max(1 - low, 1e-16) ** 2), odds / max(1 - high, 1e-16) ** 2
    of_low, of_high = low * (1 - low) * by_low, high * (1 - high) * by_high
    norm = 1 + of_low + of_high
    for level, extra, by_share, row in ((0, of_low, by_low, 1), (log_p.size - 1, of_high, by_high, 2)):
        judged = math.exp(log_p[level])
        slopes[0, level] *= judged / (judged + extra)
        slopes[row, level] = by_share / (judged + extra)
        log_p[level] = math.log(judged + extra)
    log_p -= math.log(norm)
    slopes[1] -= by_low / norm
    slopes[2] -= by_high / norm
