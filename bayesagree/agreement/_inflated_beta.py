"""Interval-censored Beta distribution with outright answers at both ends, for PyMC."""

from typing import Any

import pymc as pm
import pytensor.tensor as pt
from numpy.typing import ArrayLike
from pytensor.tensor.variable import TensorVariable

from bayesagree._inference.random_draws import draw_beta
from bayesagree._numerics.beta import SMALLEST
from bayesagree.agreement._binned_beta import BinsLogProbability, checked_edges


def inflated_variable(
    name: str, alpha: Any, beta: Any, low: Any, high: Any, edges: ArrayLike, **kwargs: Any
) -> TensorVariable:
    """Add bins of Beta judgments, some of which are outright ends, to the model in whose context this runs.

    The odds of an outright low end against a judgment are low / (1 - low) beta / alpha, those of a high end
    high / (1 - high) alpha / beta. A value is the number of its bin, 0 for the low end.
    """
    at = checked_edges(edges)
    last = at.size - 2

    def logp(value: Any, alpha: Any, beta: Any, low: Any, high: Any) -> Any:
        value, alpha, beta, low, high = pt.broadcast_arrays(pt.as_tensor_variable(value), alpha, beta, low, high)
        flat: Any = BinsLogProbability()(value.ravel(), alpha.ravel(), beta.ravel(), pt.constant(at))
        log_low, log_high, inside = _log_shares(alpha, beta, low, high)
        judged = inside + flat[0].reshape(value.shape, ndim=value.ndim)
        at_low, at_high = (_log_sum(share, judged) for share in (log_low, log_high))
        return pt.switch(pt.eq(value, 0), at_low, pt.switch(pt.eq(value, last), at_high, judged))

    def draw(alpha: Any, beta: Any, low: Any, high: Any, size: Any) -> Any:
        x = draw_beta(alpha, beta, size)
        judged = pt.cast(pt.sum(pt.ge(x[..., None], pt.constant(at[1:-1])), axis=-1), "int64")
        log_low, log_high, _ = _log_shares(alpha, beta, low, high)
        u: Any = pm.Uniform.dist(0, 1, size=judged.shape)
        ends = pt.switch(pt.lt(1 - u, pt.exp(log_high)), last, judged)
        return pt.cast(pt.switch(pt.lt(u, pt.exp(log_low)), 0, ends), "int64")

    options = {"logp": logp, "dist": draw, "class_name": "InflatedBinnedBeta"}
    return pm.CustomDist(name, alpha, beta, low, high, **options, **kwargs)


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
