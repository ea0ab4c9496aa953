"""A Beta variable seen through bins, as a PyMC distribution with a compiled log probability and gradient."""

import math
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import ArrayLike
from pytensor.gradient import grad_not_implemented
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import numba_funcify, numba_njit
from pytensor.tensor.variable import TensorVariable

from bayesagree._inference.random_draws import draw_beta
from bayesagree.errors import InputError

SMALLEST = 1e-300
CANCELS = 1e-4
"""A tail below this is not computed as one minus the other."""


@numba.njit(cache=True, nogil=True)
def digamma(x):
    """Return the derivative of log Gamma at x > 0."""
    value = 0.0
    while x < 10.0:
        value -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    tail = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * 691 / 32760)))))
    return value + math.log(x) - 0.5 / x - tail


@numba.njit(cache=True, nogil=True)
def _fraction(a, b, x):
    """Return the continued fraction of the incomplete beta function and its derivatives by a and b (Lentz)."""
    tiny = 1e-30
    c, c_a, c_b = 1.0, 0.0, 0.0
    first = 1 - (a + b) * x / (a + 1)
    first = first if abs(first) > tiny else tiny
    d = 1 / first
    d_a = d * d * x * (1 - b) / (a + 1) ** 2
    d_b = d * d * x / (a + 1)
    h, h_a, h_b = d, d_a, d_b
    for m in range(1, 2000):
        for even in (True, False):
            if even:
                u, v = a + 2 * m - 1, a + 2 * m
                t = m * (b - m) * x / (u * v)
                t_a, t_b = -t * (1 / u + 1 / v), m * x / (u * v)
            else:
                u, v = a + 2 * m, a + 2 * m + 1
                t = -(a + m) * (a + b + m) * x / (u * v)
                t_a = -(2 * a + b + 2 * m) * x / (u * v) - t * (1 / u + 1 / v)
                t_b = -(a + m) * x / (u * v)
            e = 1 + t * d
            e = e if abs(e) > tiny else tiny
            e_a, e_b = t_a * d + t * d_a, t_b * d + t * d_b
            d, d_a, d_b = 1 / e, -e_a / (e * e), -e_b / (e * e)
            g = 1 + t / c
            g = g if abs(g) > tiny else tiny
            g_a, g_b = t_a / c - t * c_a / (c * c), t_b / c - t * c_b / (c * c)
            c, c_a, c_b = g, g_a, g_b
            ratio = d * c
            ratio_a, ratio_b = d_a * c + d * c_a, d_b * c + d * c_b
            h_a, h_b = h_a * ratio + h * ratio_a, h_b * ratio + h * ratio_b
            h *= ratio
        if abs(ratio - 1) < 1e-15 and abs(ratio_a) + abs(ratio_b) < 1e-13:
            break
    return h, h_a, h_b


@numba.njit(cache=True, nogil=True)
def _below(a, b, x):
    """Return Pr(X <= x) and Pr(X > x) for X ~ Beta(a, b), and the derivatives of the first by a and b."""
    if x <= 0:
        return 0.0, 1.0, 0.0, 0.0
    if x >= 1:
        return 1.0, 0.0, 0.0, 0.0
    log_x, log_y = math.log(x), math.log1p(-x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * log_x + b * log_y)
    both = digamma(a + b)
    slope_a, slope_b = log_x - digamma(a) + both, log_y - digamma(b) + both
    # The fraction converges fast on one side; the other is its complement, unless that cancels.
    left = x < (a + 1) / (a + b + 2)
    p = q = p_a = p_b = 0.0
    if left:
        h, h_a, h_b = _fraction(a, b, x)
        p = front * h / a
        p_a, p_b = front / a * (h * (slope_a - 1 / a) + h_a), front / a * (h * slope_b + h_b)
        q = 1 - p
    if not left or q < CANCELS:
        h, h_b, h_a = _fraction(b, a, 1 - x)
        q = front * h / b
        p_a, p_b = -front / b * (h * slope_a + h_a), -front / b * (h * (slope_b - 1 / b) + h_b)
    if not left:
        p = 1 - q
        if p < CANCELS:
            h, h_a, h_b = _fraction(a, b, x)
            p = front * h / a
            p_a, p_b = front / a * (h * (slope_a - 1 / a) + h_a), front / a * (h * slope_b + h_b)
    return p, q, p_a, p_b


@numba.njit(cache=True, nogil=True)
def bins_log_probability(value, alpha, beta, edges):
    """Return log Pr(edges[v] <= X < edges[v + 1]) of each value and its derivatives by alpha and beta."""
    n = value.size
    log_p, by_alpha, by_beta = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        a, b = max(alpha[i], SMALLEST), max(beta[i], SMALLEST)
        if value[i] < 0 or value[i] > edges.size - 2:
            log_p[i], by_alpha[i], by_beta[i] = -np.inf, 0.0, 0.0
            continue
        low, high = _below(a, b, edges[value[i]]), _below(a, b, edges[value[i] + 1])
        # From the smaller tail, so that a bin far out keeps its digits.
        p = low[1] - high[1] if low[0] > 0.5 else high[0] - low[0]
        p = max(p, SMALLEST)
        log_p[i], by_alpha[i], by_beta[i] = math.log(p), (high[2] - low[2]) / p, (high[3] - low[3]) / p
    return log_p, by_alpha, by_beta


class BinsLogProbability(Op):
    """Values, alpha, beta (all 1-D) and edges to log probabilities and their derivatives by alpha and beta."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        """Build the node."""
        typed = [pt.cast(inputs[0], "int64"), *(pt.cast(v, "float64") for v in inputs[1:])]
        return Apply(self, typed, [pt.dvector(), pt.dvector(), pt.dvector()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        """Compute all outputs."""
        for storage, result in zip(output_storage, bins_log_probability(*inputs)):
            storage[0] = result

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Multiply by the derivatives; values and edges have none."""
        return [
            grad_not_implemented(self, 0, inputs[0]), cotangents[0] * outputs[1], cotangents[0] * outputs[2],
            grad_not_implemented(self, 3, inputs[3]),
        ]  # fmt: skip


@numba_funcify.register(BinsLogProbability)
def _compile(op: BinsLogProbability, node: Any = None, **kwargs: Any) -> Any:
    @numba_njit
    def all_three(value, alpha, beta, edges):
        return bins_log_probability(value, alpha, beta, edges)

    return all_three


class BinnedBeta:
    r"""Beta distribution of which only the bin is seen: a rating is the discretisation of a continuous judgment.

    .. math:: \Pr(v) = I_{e_{v+1}}(\alpha, \beta) - I_{e_v}(\alpha, \beta), \quad v = 0, ..., \text{bins} - 1

    Parameters
    ----------
    alpha, beta
        Shapes of the Beta distribution, positive; mu p and (1 - mu) p for a mean mu and a precision p.
    edges
        Increasing edges of the bins, from 0 to 1, shape (bin + 1,): numbers, not random.

    References
    ----------
    Checco et al., "Let's agree to disagree", section 4.2: discrete ratings are "a discretization of a continuous
    judgment intent".

    Examples
    --------
    Ratings on five levels with one mean and one precision::

        with pm.Model():
            mu, precision = pm.Uniform("mu"), pm.Exponential("precision", 0.35)
            BinnedBeta("rating", mu * precision, (1 - mu) * precision, np.linspace(0, 1, 6), observed=[3, 4, 4])
    """

    def __new__(cls, name: str, alpha: Any, beta: Any, edges: ArrayLike, **kwargs: Any) -> TensorVariable:
        """Add the variable to the model in whose context this runs."""
        return pm.CustomDist(name, alpha, beta, **_options(edges), **kwargs)

    @classmethod
    def dist(cls, alpha: Any, beta: Any, edges: ArrayLike, **kwargs: Any) -> TensorVariable:
        """Return the distribution outside of any model."""
        return pm.CustomDist.dist(alpha, beta, **_options(edges), **kwargs)


def _options(edges: ArrayLike) -> dict[str, Any]:
    """Close logp and random draws over the edges."""
    at = np.asarray(edges, dtype=np.float64)
    if at.ndim != 1 or at.size < 3 or at[0] != 0 or at[-1] != 1 or not (np.diff(at) > 0).all():
        raise InputError("edges must increase from 0 to 1 and leave at least two bins, such as numpy.linspace(0, 1, 6)")

    def logp(value: Any, alpha: Any, beta: Any) -> Any:
        value, alpha, beta = pt.broadcast_arrays(pt.as_tensor_variable(value), alpha, beta)
        flat: Any = BinsLogProbability()(value.ravel(), alpha.ravel(), beta.ravel(), pt.constant(at))
        return flat[0].reshape(value.shape, ndim=value.ndim)

    def binned(alpha: Any, beta: Any, size: Any) -> Any:
        x = draw_beta(alpha, beta, size)
        return pt.cast(pt.sum(pt.ge(x[..., None], pt.constant(at[1:-1])), axis=-1), "int64")

    return {"logp": logp, "dist": binned, "class_name": "BinnedBeta"}
