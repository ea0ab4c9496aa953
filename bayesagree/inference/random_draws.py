"""PyMC distributions with random draws that PyMC's own compiled ones lack.

Priors of this package include the ends: a Beta prior of item means with shapes of 1e-300, a judgment of an item whose
mean is 0 to the last digit. The compiled draws of `pymc.Beta` then divide by zero or never end, those of
`pymc.Dirichlet` are NaN (three shapes of 0.001: one draw in nine), and those of `pymc.BetaBinomial` (and
`pymc.TruncatedNormal`) are not compiled. Log probabilities are PyMC's.
"""

from collections.abc import Callable
from typing import Any

import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.shape_utils import rv_size_is_none
from pymc.distributions.transforms import logodds, simplex
from pytensor.tensor.special import softmax
from pytensor.tensor.variable import TensorVariable

# Shapes below this are drawn as if they were this: a shape of 0 is a point mass, and so is one of 1e-300 in floats.
SMALLEST = 1e-300


def beta_variable(name: str, alpha: Any, beta: Any, **kwargs: Any) -> TensorVariable:
    """Add a Beta variable to the model in whose context this runs."""
    how: Any = {"centre": lambda a, b: a / (a + b), "default_transform": logodds}
    return variable(name, pm.Beta.dist, draw_beta, alpha, beta, **how, **kwargs)


def dirichlet_variable(name: str, alpha: Any, **kwargs: Any) -> TensorVariable:
    """Add Dirichlet vectors along the last axis, of any positive shapes."""
    how: Any = {"centre": lambda a: a / a.sum(axis=-1, keepdims=True), "default_transform": simplex}
    return variable(name, pm.Dirichlet.dist, _draw_dirichlet, alpha, signature="(k)->(k)", **how, **kwargs)


def beta_binomial_variable(name: str, n: Any, alpha: Any, beta: Any, **kwargs: Any) -> TensorVariable:
    """Add a beta-binomial variable, n tries of a probability that is Beta distributed."""

    def tries(alpha: Any, beta: Any, n: Any, size: Any) -> Any:
        return pm.Binomial.dist(n, draw_beta(alpha, beta, size), size=size)

    return variable(name, pm.BetaBinomial.dist, tries, alpha, beta, n, **kwargs)


def variable(
    name: str,
    density: Callable[..., Any],
    draw: Callable[..., Any],
    *parameters: Any,
    centre: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> TensorVariable:
    """Add a variable of this density, with draws of our own, that starts at its centre."""
    if centre is not None:
        kwargs["support_point"] = lambda rv, size, *given: centre(*given) + pt.zeros(rv.shape)
    return pm.CustomDist(
        name, *parameters, dist=draw, logp=lambda value, *given: pm.logp(density(*given), value), **kwargs
    )


def draw_beta(alpha: Any, beta: Any, size: Any) -> Any:
    """Draw from Beta distributions by the log odds of two Gamma variables: G(a) = G(a + 1) U^(1/a)."""
    shapes = pt.broadcast_arrays(alpha, beta) if rv_size_is_none(size) else (alpha, beta)
    log_first, log_second = (_log_gamma(shape, size) for shape in shapes)
    return pt.sigmoid(log_first - log_second)


def _log_gamma(shape: Any, size: Any) -> Any:
    small: Any = pt.maximum(shape, SMALLEST)
    return pt.log(pm.Gamma.dist(small + 1, 1.0, size=size)) - pm.Exponential.dist(1.0, size=size) / small


def _draw_dirichlet(shape: Any, size: Any) -> Any:
    """Draw Dirichlet vectors on the log scale, where Gamma variables of small shapes do not underflow."""
    whole = shape.shape if rv_size_is_none(size) else (*size, shape.shape[-1])
    return softmax(_log_gamma(shape, whole), axis=-1)
