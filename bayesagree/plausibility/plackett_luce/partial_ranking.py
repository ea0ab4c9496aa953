"""Partial rankings with ties as a PyMC distribution: Plackett-Luce, with a compiled log probability and gradient."""

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import ArrayLike
from pymc.distributions.shape_utils import rv_size_is_none
from pytensor.gradient import grad_not_implemented
from pytensor.graph.basic import Apply
from pytensor.tensor.sort import argsort
from pytensor.tensor.variable import TensorVariable

from bayesagree.inference.kernel_ops import KernelOp
from bayesagree.plausibility.plackett_luce._ranking_kernels import ranking_log_probability


@numba.njit(cache=True, nogil=True)
def rankings_log_probability(log_worth, ranks):
    """Return log probability and gradient of each ranking, from log worths and ranks of shape (ranking, label).

    Equal ranks tie; the labels of the largest rank are those that remain. A ranking equal to the one before
    costs nothing.
    """
    value, gradient = np.zeros(ranks.shape[0]), np.zeros(log_worth.shape)
    for r in range(ranks.shape[0]):
        row = ranks[r]
        if r > 0 and (row == ranks[r - 1]).all() and (log_worth[r] == log_worth[r - 1]).all():
            value[r], gradient[r] = value[r - 1], gradient[r - 1]
            continue
        order = np.argsort(row, kind="mergesort")
        start = np.zeros(order.size + 1, np.int64)
        blocks = 0
        for e in range(1, order.size):
            if row[order[e]] != row[order[e - 1]]:
                blocks += 1
                start[blocks] = e
        value[r] = ranking_log_probability(log_worth[r], (0, blocks), start, order, gradient[r])
    return value, gradient


class RankingLogProbability(KernelOp):
    """Log worths (ranking, label) and ranks (ranking, label) to log probabilities (ranking) and their gradients."""

    def make_node(self, *inputs: Any) -> Apply:
        """Build the node."""
        log_worth, ranks = inputs
        typed = [pt.cast(log_worth, "float64"), pt.cast(ranks, "int64")]
        return Apply(self, typed, [pt.dvector(), pt.dmatrix()])

    def compute(self, *inputs: Any) -> Sequence[Any]:
        """Return both outputs."""
        return rankings_log_probability(*inputs)

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Multiply by the gradient; ranks have none."""
        return [cotangents[0][:, None] * outputs[1], grad_not_implemented(self, 1, inputs[1])]


class PartialRanking:
    r"""Plackett-Luce distribution of a partial ranking with ties.

    Label k arrives after a time :math:`\tau_k \sim \mathrm{Exp}(\lambda_k)`; the value is the rank of every label in
    order of arrival: 0 for the labels of the first block, 1 for the next, ..., and the largest rank for the labels
    that remain (unranked, or last of a complete ranking: the same thing). Equal ranks mean that the order is unknown,
    and the probability sums over it.

    Parameters
    ----------
    worth
        Positive, shape (..., label); only ratios matter.
    block_sizes
        Number of labels in each ranked block, best first. Blocks are part of the question, not of the answer: they
        shape random draws and do not enter the probability. By default one label each (a complete ranking); shape
        (..., block) where rankings differ.

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

    def __new__(cls, name: str, worth: Any, block_sizes: ArrayLike | None = None, **kwargs: Any) -> TensorVariable:
        """Add the variable to the model in whose context this runs."""
        worth = pt.as_tensor_variable(worth)
        return pm.CustomDist(name, worth, _cuts(worth, block_sizes), **_OPTIONS, **kwargs)

    @classmethod
    def dist(cls, worth: Any, block_sizes: ArrayLike | None = None, **kwargs: Any) -> TensorVariable:
        """Return the distribution outside of any model."""
        worth = pt.as_tensor_variable(worth)
        return pm.CustomDist.dist(worth, _cuts(worth, block_sizes), **_OPTIONS, **kwargs)


def _cuts(worth: TensorVariable, block_sizes: ArrayLike | None) -> Any:
    """Return after how many labels each ranked block ends."""
    if block_sizes is None:
        return pt.arange(1, worth.shape[-1])
    return pt.as_tensor_variable(np.cumsum(np.asarray(block_sizes, dtype=np.int64), axis=-1))


def _logp(value: Any, worth: Any, cuts: Any) -> Any:
    ranks, worth = _same_shape(value, worth)
    n_labels = worth.shape[-1]
    log_worth: Any = pt.log(worth)
    both: Any = RankingLogProbability()(log_worth.reshape((-1, n_labels)), ranks.reshape((-1, n_labels)))
    return both[0].reshape(ranks.shape[:-1], ndim=ranks.ndim - 1)


def _same_shape(*arrays: Any) -> Any:
    return pt.broadcast_arrays(*arrays)


def _race(worth: Any, cuts: Any, size: Any) -> Any:
    shape = worth.shape if rv_size_is_none(size) else (*size, worth.shape[-1])
    arrival = pm.Exponential.dist(1.0, shape=shape) / worth
    place: Any = argsort(argsort(arrival, axis=-1), axis=-1)
    return (place[..., None] >= cuts[..., None, :]).sum(axis=-1)


_OPTIONS: dict[str, Any] = {"dist": _race, "logp": _logp, "signature": "(k),(b)->(k)", "class_name": "PartialRanking"}
