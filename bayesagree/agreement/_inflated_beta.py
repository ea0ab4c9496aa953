"""Beta distribution, interval-censored or not, with outright answers at both ends, for PyMC."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import ArrayLike, NDArray
from pytensor.tensor.variable import TensorVariable

from bayesagree._inference.random_draws import draw_beta
from bayesagree._numerics.beta import SMALLEST
from bayesagree.agreement._binned_beta import Levels, checked_edges, draw_bin, log_probability_of_bins


def inflated_variable(
    name: str,
    alpha: Any,
    beta: Any,
    low: Any,
    high: Any,
    edges: ArrayLike | None,
    *,
    levels: Levels | None = None,
    **kwargs: Any,
) -> TensorVariable:
    """Add bins of Beta judgments, some of which are outright ends, to the model in whose context this runs.

    The odds of an outright low end against a judgment are low / (1 - low) beta / alpha, those of a high end
    high / (1 - high) alpha / beta. A value is that of its bin, by default its number; without edges a judgment is
    itself, on (0, 1), and an outright end is 0 or 1.
    """
    at, levels = None if edges is None else checked_edges(edges), levels or Levels()
    last = 1 if at is None else at.size - 2

    def logp(value: Any, alpha: Any, beta: Any, low: Any, high: Any) -> Any:
        value = pt.as_tensor_variable(value)
        return inflated_log_probability(value if at is None else levels.bin_of(value), alpha, beta, (low, high), at)

    def draw(alpha: Any, beta: Any, low: Any, high: Any, size: Any) -> Any:
        judged: Any = draw_beta(alpha, beta, size) if at is None else draw_bin(alpha, beta, at, size)
        log_low, log_high, _ = _log_shares(alpha, beta, low, high)
        u: Any = pm.Uniform.dist(0, 1, size=judged.shape)
        ends = pt.switch(pt.lt(1 - u, pt.exp(log_high)), last, judged)
        drawn = pt.cast(pt.switch(pt.lt(u, pt.exp(log_low)), 0, ends), judged.dtype)
        return drawn if at is None else levels.value_of(drawn)

    options = {"logp": logp, "dist": draw, "class_name": "InflatedBeta" if at is None else "InflatedBinnedBeta"}
    if at is None:
        options["dtype"] = "float64"
    return pm.CustomDist(name, alpha, beta, low, high, **options, **kwargs)


def inflated_log_probability(
    value: Any, alpha: Any, beta: Any, shares: tuple[Any, Any], edges: NDArray[np.float64] | None
) -> Any:
    """Return the log probability of each bin, or the log density of each judgment, among outright ends."""
    last = 1 if edges is None else edges.size - 2
    value, alpha, beta, low, high = pt.broadcast_arrays(pt.as_tensor_variable(value), alpha, beta, *shares)
    log_low, log_high, inside = _log_shares(alpha, beta, low, high)
    if edges is None:
        judged: Any = inside + pm.logp(pm.Beta.dist(alpha, beta), value)
    else:
        judged = inside + log_probability_of_bins(value, alpha, beta, edges)
    at_low, at_high = (
        share if edges is None else _log_sum(share, judged) for share in (log_low, log_high)
    )  # a continuous judgment is never exactly an end
    return pt.switch(pt.eq(value, 0), at_low, pt.switch(pt.eq(value, last), at_high, judged))


def _log_shares(alpha: Any, beta: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """Return log probabilities of an outright low end, an outright high end, and a judgment."""
    towards_high = _log(alpha) - _log(beta)
    log_low = _log(low) - _log(1 - low) - towards_high
    log_high = _log(high) - _log(1 - high) + towards_high
    norm = _log_sum(_log_sum(log_low, log_high), pt.zeros_like(log_low))
    return log_low - norm, log_high - norm, -norm


def _log(x: Any) -> Any:
    return pt.log(pt.maximum(x, SMALLEST))


def _log_sum(first: Any, second: Any) -> Any:
    """Return log(exp(first) + exp(second))."""
    return pm.math.logaddexp(first, second)
