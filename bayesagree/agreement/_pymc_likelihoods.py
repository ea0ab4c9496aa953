"""Likelihoods of Phi for PyMC: interval-censored Beta, and outright answers at both ends."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numba
import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import ArrayLike, NDArray
from pytensor.gradient import grad_not_implemented
from pytensor.graph.basic import Apply
from pytensor.tensor.variable import TensorVariable

from bayesagree.errors import InputError
from bayesagree.inference.beta import SMALLEST, of_shapes, tails_with_slopes
from bayesagree.inference.kernel_ops import KernelOp
from bayesagree.inference.random_draws import draw_beta


@numba.njit(cache=True, nogil=True)
def bins_log_probability(value, alpha, beta, edges):
    """Return log Pr(edges[v] <= X < edges[v + 1]) of each value and its derivatives by alpha and beta.

    Values of one item follow each other and share their shapes: each edge is computed once for all of them.
    """
    n = value.size
    log_p, by_alpha, by_beta = np.empty(n), np.empty(n), np.empty(n)
    tails, computed = np.empty((edges.size, 4)), np.full(edges.size, -1)
    first, a, b, shared = -1, 0.0, 0.0, (0.0, 0.0, 0.0, 0.0)
    for i in range(n):
        if first < 0 or alpha[i] != alpha[first] or beta[i] != beta[first]:
            first, a, b = i, max(alpha[i], SMALLEST), max(beta[i], SMALLEST)
            shared = of_shapes(a, b)
        if value[i] < 0 or value[i] > edges.size - 2:
            log_p[i], by_alpha[i], by_beta[i] = -np.inf, 0.0, 0.0
            continue
        for e in (value[i], value[i] + 1):
            if computed[e] != first:
                found = tails_with_slopes(a, b, edges[e], shared)
                for k in range(4):
                    tails[e, k] = found[k]
                computed[e] = first
        low, high = tails[value[i]], tails[value[i] + 1]
        # From the smaller tail, so that a bin far out keeps its digits.
        p = low[1] - high[1] if low[0] > 0.5 else high[0] - low[0]
        p = max(p, SMALLEST)
        log_p[i], by_alpha[i], by_beta[i] = math.log(p), (high[2] - low[2]) / p, (high[3] - low[3]) / p
    return log_p, by_alpha, by_beta


class BinsLogProbability(KernelOp):
    """Values, alpha, beta (all 1-D) and edges to log probabilities and their derivatives by alpha and beta."""

    def make_node(self, *inputs: Any) -> Apply:
        """Build the node."""
        typed = [pt.cast(inputs[0], "int64"), *(pt.cast(v, "float64") for v in inputs[1:])]
        return Apply(self, typed, [pt.dvector(), pt.dvector(), pt.dvector()])

    def compute(self, *inputs: Any) -> Sequence[Any]:
        """Return all outputs."""
        return bins_log_probability(*inputs)

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Multiply by the derivatives; values and edges have none."""
        values, edges = (grad_not_implemented(self, k, inputs[k]) for k in (0, 3))
        return [values, cotangents[0] * outputs[1], cotangents[0] * outputs[2], edges]


class BinnedBeta:
    r"""Interval-censored Beta distribution: a rating is the bin in which a continuous judgment falls.

    .. math:: \Pr(v) = I_{e_{v+1}}(\alpha, \beta) - I_{e_v}(\alpha, \beta), \quad v = 0, ..., \text{bins} - 1

    Parameters
    ----------
    name
        Name of the variable in its model.
    alpha, beta
        Shapes of the Beta distribution, positive; mu p and (1 - mu) p for a mean mu and a precision p.
    edges
        Increasing edges of the bins, from 0 to 1, shape (bin + 1,): numbers, not random.
    low, step
        Value of the first bin and distance to the next, by default 0, 1, 2, ...

    Raises
    ------
    InputError
        Edges that do not increase from 0 to 1, or leave a single bin.

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, section 4.2, doi:10.1609/hcomp.v5i1.13306: discrete ratings
    are "a discretization of a continuous judgment intent".

    See Also
    --------
    bayesagree.common_agreement_model : the model of ratings that is made of it.

    Examples
    --------
    Ratings on five levels with one mean and one precision::

        with pm.Model():
            mu, precision = pm.Uniform("mu"), pm.Exponential("precision", 0.35)
            BinnedBeta("rating", mu * precision, (1 - mu) * precision, np.linspace(0, 1, 6), observed=[3, 4, 4])
    """

    def __new__(
        cls, name: str, alpha: Any, beta: Any, edges: ArrayLike, *, low: float = 0, step: float = 1, **kwargs: Any
    ) -> TensorVariable:
        """Add the variable to the model in whose context this runs."""
        return pm.CustomDist(name, alpha, beta, **_options(edges, Levels(low, step)), **kwargs)

    @classmethod
    def dist(
        cls, alpha: Any, beta: Any, edges: ArrayLike, *, low: float = 0, step: float = 1, **kwargs: Any
    ) -> TensorVariable:
        """Return the distribution outside of any model."""
        return pm.CustomDist.dist(alpha, beta, **_options(edges, Levels(low, step)), **kwargs)


class Levels(NamedTuple):
    """Values that bins stand for: low, low + step, ..."""

    low: float = 0
    step: float = 1

    def bin_of(self, value: Any) -> Any:
        """Return the number of the bin of each value."""
        return pt.cast(pt.round((value - self.low) / self.step), "int64")

    def value_of(self, number: Any) -> Any:
        """Return the value of each bin, an integer where bins are numbered from 0."""
        return number if self == (0, 1) else self.low + self.step * number


def checked_edges(edges: ArrayLike) -> NDArray[np.float64]:
    """Return the edges of bins, which must increase from 0 to 1."""
    at = np.asarray(edges, dtype=np.float64)
    if at.ndim != 1 or at.size < 3 or at[0] != 0 or at[-1] != 1 or not (np.diff(at) > 0).all():
        raise InputError(
            "edges must increase from 0 to 1 and leave at least two bins, such as numpy.linspace(0, 1, 6)"
        )
    return at


def log_probability_of_bins(number: Any, alpha: Any, beta: Any, edges: NDArray[np.float64]) -> Any:
    """Return the log probability of each bin, of the shape that all broadcast to."""
    number, alpha, beta = pt.broadcast_arrays(pt.as_tensor_variable(number), alpha, beta)
    flat: Any = BinsLogProbability()(number.ravel(), alpha.ravel(), beta.ravel(), pt.constant(edges))
    return flat[0].reshape(number.shape, ndim=number.ndim)


def draw_bin(alpha: Any, beta: Any, edges: NDArray[np.float64], size: Any) -> Any:
    """Return random bins."""
    x = draw_beta(alpha, beta, size)
    return pt.cast(pt.sum(pt.ge(x[..., None], pt.constant(edges[1:-1])), axis=-1), "int64")


def _options(edges: ArrayLike, levels: Levels) -> dict[str, Any]:
    """Close logp and random draws over the edges."""
    at = checked_edges(edges)

    def logp(value: Any, alpha: Any, beta: Any) -> Any:
        return log_probability_of_bins(levels.bin_of(value), alpha, beta, at)

    def binned(alpha: Any, beta: Any, size: Any) -> Any:
        return levels.value_of(draw_bin(alpha, beta, at, size))

    return {"logp": logp, "dist": binned, "class_name": "BinnedBeta"}


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
