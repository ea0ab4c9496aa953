"""Partial rankings with ties as a PyMC distribution: Plackett-Luce, whose gradient is known."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.shape_utils import rv_size_is_none
from pytensor.gradient import grad_not_implemented
from pytensor.graph.basic import Apply
from pytensor.tensor.sort import argsort
from pytensor.tensor.variable import TensorVariable

from bayesagree._types import Named
from bayesagree.inference.kernel_ops import KernelOp
from bayesagree.plausibility.plackett_luce.likelihood import rankings_log_probability


class RankingLogProbability(KernelOp):
    """Log worths (ranking, label) and ranks (ranking, label) to log probabilities (ranking) and their gradients."""

    def make_node(self, *inputs: Any) -> Apply:
        """Build the node."""
        log_worth, ranks = inputs
        typed = [pt.cast(log_worth, "float64"), pt.cast(ranks, "int64")]
        return Apply(self, typed, [pt.dvector(), pt.dmatrix()])

    def compute(self, *inputs: Any) -> Sequence[Any]:
        """Return both outputs; a ranking equal to the one before costs nothing."""
        log_worth, ranks = inputs
        new = np.append(True, ((log_worth[1:] != log_worth[:-1]) | (ranks[1:] != ranks[:-1])).any(axis=1))
        value, gradient = rankings_log_probability(log_worth[new], ranks[new])
        at = np.cumsum(new) - 1
        return value[at], gradient[at]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Multiply by the gradient; ranks have none."""
        return [cotangents[0][:, None] * outputs[1], grad_not_implemented(self, 1, inputs[1])]


class PartialRanking:
    r"""Plackett-Luce distribution of a partial ranking with ties.

    Label k arrives after a time :math:`\tau_k \sim \mathrm{Exp}(\lambda_k)`; the value is the rank of every label in
    order of arrival: 0 for the labels of the first block, 1 for the next, ..., and the largest rank for the labels
    that remain (unranked, or last of a complete ranking: the same thing). Equal ranks mean that the order is unknown,
    and the probability sums over it. Random draws are complete rankings.

    Parameters
    ----------
    worth
        Positive, shape (..., label); only ratios matter.

    References
    ----------
    Stutz et al., "Evaluating AI systems under uncertain ground truth", appendix B.4.3.

    Examples
    --------
    Two rankings of four labels, the second with a tie on top and two labels unranked::

        with pm.Model():
            worth = pm.Gamma("worth", 1.0, 1.0, shape=4)
            PartialRanking("ranks", worth, observed=[[0, 1, 2, 3], [0, 0, 1, 1]])
    """

    def __new__(cls, name: str, worth: Any, **kwargs: Any) -> TensorVariable:
        """Add the variable to the model in whose context this runs."""
        return pm.CustomDist(name, pt.as_tensor_variable(worth), **_OPTIONS, **kwargs)

    @classmethod
    def dist(cls, worth: Any, **kwargs: Any) -> TensorVariable:
        """Return the distribution outside of any model."""
        return pm.CustomDist.dist(pt.as_tensor_variable(worth), **_OPTIONS, **kwargs)


def _logp(value: Any, worth: Any) -> Any:
    ranks, worth = pt.broadcast_arrays(value, worth)  # pyright: ignore[reportAttributeAccessIssue]
    n_labels = worth.shape[-1]
    log_worth: Any = pt.log(worth)
    both: Any = RankingLogProbability()(log_worth.reshape((-1, n_labels)), ranks.reshape((-1, n_labels)))
    return both[0].reshape(ranks.shape[:-1], ndim=ranks.ndim - 1)


def _race(worth: Any, size: Any) -> Any:
    shape = worth.shape if rv_size_is_none(size) else (*size, worth.shape[-1])
    arrival = pm.Exponential.dist(1.0, shape=shape) / worth
    return argsort(argsort(arrival, axis=-1), axis=-1)


_OPTIONS: Named = {
    "dist": _race,
    "logp": _logp,
    "signature": "(k)->(k)",
    "class_name": "PartialRanking",
}
