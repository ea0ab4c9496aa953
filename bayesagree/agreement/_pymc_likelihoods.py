"""Densities of Phi for PyMC: interval-censored Beta, outright answers at both ends, and item means near a truth."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import scipy as sp
from numpy.typing import ArrayLike
from pymc.distributions.shape_utils import rv_size_is_none
from pymc.distributions.transforms import logodds
from pytensor.gradient import grad_not_implemented
from pytensor.graph.basic import Apply
from pytensor.tensor.variable import TensorVariable

from bayesagree._types import Floats, Integers
from bayesagree.agreement._phi.likelihood import LEGENDRE, SMALLEST, SMOOTH
from bayesagree.inference.kernel_ops import KernelOp
from bayesagree.inference.random_draws import draw_beta, variable

# Step of differences of the incomplete beta function, in the shape over the root of itself plus one.
STEP = 1e-4
# Shapes that a sampler may try beyond this give one bin all the mass.
LARGEST = 1e15


def bins_log_probability(value: Integers, alpha: Floats, beta: Floats, edges: Floats) -> Floats:
    """Return log Pr(edges[v] <= X < edges[v + 1]) of each value, its derivatives by alpha and beta: shape (3, value).

    Bins inside the scale are Gauss-Legendre sums, whose derivatives are exact; others, and those in which the density
    may be narrow, are differences of the incomplete beta function, which SciPy has without derivatives.
    """
    out = np.zeros((3, value.size))
    known = (value >= 0) & (value < edges.size - 1)
    a, b = (np.clip(shape[known], SMALLEST, LARGEST) for shape in (alpha, beta))
    low, high = edges[value[known]], edges[value[known] + 1]
    smooth = (a + b) * (high - low) ** 2 < SMOOTH * np.minimum(low, 1 - high)
    found = np.empty((3, a.size))
    for some, compute in ((smooth, _sums), (~smooth, _differences)):
        found[:, some] = compute(a[some], b[some], low[some], high[some])
    p = np.maximum(found[0], SMALLEST)
    out[:, known], out[0, ~known] = [np.log(p), found[1] / p, found[2] / p], -np.inf
    return out


def _sums(a: Floats, b: Floats, low: Floats, high: Floats) -> list[Floats]:
    """Return the probability of each bin and its derivatives, by Gauss-Legendre sums."""
    place, weight = (v[:, None] for v in LEGENDRE)
    x = low + (high - low) * (1 + place) / 2
    logs = np.log(x), np.log1p(-x)
    mass = weight / 2 * (high - low) * np.exp((a - 1) * logs[0] + (b - 1) * logs[1] - sp.special.betaln(a, b))
    p, whole = mass.sum(axis=0), sp.special.psi(a + b)
    return [p, *((mass * log).sum(axis=0) - p * (sp.special.psi(s) - whole) for log, s in zip(logs, (a, b)))]


def _differences(a: Floats, b: Floats, low: Floats, high: Floats) -> list[Floats]:
    """Return the probability of each bin and its derivatives, by the tail that is smaller, so that digits are kept."""
    right = low > a / (a + b)
    (a, b), (low, high) = np.where(right, (b, a), (a, b)), np.where(right, (1 - high, 1 - low), (low, high))
    h, k = (STEP * s / np.sqrt(1 + s) for s in (a, b))
    shapes = np.stack([a, a + h, a - h, a, a]), np.stack([b, b, b, b + k, b - k])
    p, up, down, ahead, behind = sp.special.betainc(*shapes, high) - sp.special.betainc(*shapes, low)
    slopes = np.stack([(up - down) / (2 * h), (ahead - behind) / (2 * k)])
    return [p, *np.where(right, slopes[::-1], slopes)]


class BinsLogProbability(KernelOp):
    """Values, alpha, beta (all 1-D) and edges to log probabilities and their derivatives by alpha and beta."""

    def make_node(self, *inputs: Any) -> Apply:
        """Build the node."""
        typed = [pt.cast(inputs[0], "int64"), *(pt.cast(v, "float64") for v in inputs[1:])]
        return Apply(self, typed, [pt.dvector(), pt.dvector(), pt.dvector()])

    def compute(self, *inputs: Any) -> Sequence[Any]:
        """Return all outputs."""
        return list(bins_log_probability(*inputs))

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Multiply by the derivatives; values and edges have none."""
        values, edges = (grad_not_implemented(self, k, inputs[k]) for k in (0, 3))
        return [values, cotangents[0] * outputs[1], cotangents[0] * outputs[2], edges]


def rating_variable(
    name: str,
    alpha: Any,
    beta: Any,
    edges: ArrayLike | None,
    shares: Sequence[Any] = (),
    *,
    low: float = 0.0,
    step: float = 1.0,
    **kwargs: Any,
) -> TensorVariable:
    r"""Add ratings that are bins of Beta judgments to the model in whose context this runs.

    The probability of bin v is :math:`I_{e_{v+1}}(\alpha, \beta) - I_{e_v}(\alpha, \beta)`, its value low + step v.
    With the `shares` of both ends some ratings are outright ends: the odds of a low one against a judgment are
    low / (1 - low) beta / alpha, those of a high one high / (1 - high) alpha / beta. Without edges a judgment is
    itself, on (0, 1), and an outright end is 0 or 1: such ratings are drawn only.

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, section 4.2, doi:10.1609/hcomp.v5i1.13306: discrete ratings
    are "a discretization of a continuous judgment intent".
    """
    at = None if edges is None else np.asarray(edges, dtype=float)
    last = 1 if at is None else at.size - 2

    def logp(value: Any, alpha: Any, beta: Any, *shares: Any) -> Any:
        number = pt.cast(pt.round((pt.as_tensor_variable(value) - low) / step), "int64")
        return log_probability(number, alpha, beta, shares, np.asarray(at))

    def draw(alpha: Any, beta: Any, *rest: Any) -> Any:
        *shares, size = rest
        drawn = draw_beta(alpha, beta, size)
        if at is not None:
            drawn = pt.cast(pt.sum(pt.ge(drawn[..., None], pt.constant(at[1:-1])), axis=-1), "int64")
        if shares:
            log_low, log_high, _ = _log_shares(alpha, beta, *shares)
            u = pm.Uniform.dist(0, 1, size=drawn.shape)
            ends = pt.switch(pt.lt(1 - u, pt.exp(log_high)), last, drawn)
            drawn = pt.cast(pt.switch(pt.lt(u, pt.exp(log_low)), 0, ends), drawn.dtype)
        return drawn if at is None else low + step * drawn

    options = {"logp": logp, "dist": draw, "class_name": "InflatedBeta" if shares else "BinnedBeta"}
    return pm.CustomDist(name, alpha, beta, *shares, **options, dtype="float64", **kwargs)


def log_probability(number: Any, alpha: Any, beta: Any, shares: Sequence[Any], edges: Floats) -> Any:
    """Return the log probability of each bin, of the shape that all broadcast to, `shares` of outright ends or none."""
    number, alpha, beta, *shares = pt.broadcast_arrays(number, alpha, beta, *shares)
    flat: Any = BinsLogProbability()(number.ravel(), alpha.ravel(), beta.ravel(), pt.constant(edges))
    judged = flat[0].reshape(number.shape, ndim=number.ndim)
    if not shares:
        return judged
    log_low, log_high, inside = _log_shares(alpha, beta, *shares)
    judged = inside + judged
    at_low, at_high = (pm.math.logaddexp(share, judged) for share in (log_low, log_high))
    return pt.switch(pt.eq(number, 0), at_low, pt.switch(pt.eq(number, edges.size - 2), at_high, judged))


def _log_shares(alpha: Any, beta: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """Return log probabilities of an outright low end, an outright high end, and a judgment."""
    towards_high = _log(alpha) - _log(beta)
    log_low = _log(low) - _log(1 - low) - towards_high
    log_high = _log(high) - _log(1 - high) + towards_high
    norm: Any = pm.math.logaddexp(pm.math.logaddexp(log_low, log_high), pt.zeros_like(log_low))
    return log_low - norm, log_high - norm, -norm


def _log(x: Any) -> Any:
    return pt.log(pt.maximum(x, SMALLEST))


def truncated_normal_variable(name: str, mean: Any, sd: Any, **kwargs: Any) -> TensorVariable:
    """Add a normal variable truncated to (0, 1), its mean inside."""

    def density(mean: Any, sd: Any) -> Any:
        return pm.TruncatedNormal.dist(mean, sd, lower=0, upper=1)

    # It starts inside also where the mean sits on an end.
    how = {"centre": lambda mean, sd: 0.5 + 0.98 * (mean - 0.5), "default_transform": logodds}
    return variable(name, density, _inside, mean, sd, **how, **kwargs)


def _inside(mean: Any, sd: Any, size: Any) -> Any:
    """Draw by the inverse of the distribution function."""
    unit = sd * np.sqrt(2)
    low: Any = pt.erf(-mean / unit)
    high: Any = pt.erf((1 - mean) / unit)
    shape = pt.broadcast_arrays(mean, sd)[0].shape if rv_size_is_none(size) else size
    return pt.clip(mean + unit * pt.erfinv(low + (high - low) * pm.Uniform.dist(size=shape)), 0, 1)
