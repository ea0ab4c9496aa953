"""Distances between plausibilities and predictions, and the shortest way to plausibilities with a given label on top.

A region holds all plausibilities within a distance of the prediction p; it puts label k on top if the nearest
plausibilities in which no label has more than k are within that distance. Three of the four nearest points are known in
closed form, that of Wasserstein is a linear programme.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy as sp

from bayesagree._numerics.types import Floats

_ITEMS_AT_ONCE = 200
"""Items of one linear programme: large enough to share its set-up, small enough for its solver to stay linear."""


class Distance(NamedTuple):
    """A distance of plausibilities from a prediction."""

    # Distances (sample, item) of draws (sample, item, category) from predictions (item, category).
    between: Callable[[Floats, Floats], Floats]
    # Smallest distance (item, category) of plausibilities with each label on top.
    to_top: Callable[[Floats], Floats]


def _inner(draws: Floats, p: Floats) -> Floats:
    return 1 - np.einsum("sik,ik->si", draws, p)


def _inner_to_top(p: Floats) -> Floats:
    """Find the largest inner product: plausibilities equal on k and the m best other labels, for the best m."""
    others = _others_descending(p)
    sums = np.concatenate([p[:, :, None], p[:, :, None] + np.cumsum(others, axis=2)], axis=2)
    return 1 - (sums / np.arange(1, p.shape[1] + 1)).max(axis=2)


def _total_variation(draws: Floats, p: Floats) -> Floats:
    return np.abs(draws - p).sum(axis=2) / 2


def _total_variation_to_top(p: Floats) -> Floats:
    """Take from the labels above a level v what lifts k to it: v - p_k = sum of what stands above v."""
    others = _others_descending(p)
    sums = np.concatenate([p[:, :, None], p[:, :, None] + np.cumsum(others, axis=2)], axis=2)
    # With the m best other labels cut to v, (m + 1) v = p_k + their sum; v is the largest over m.
    return (sums / np.arange(1, p.shape[1] + 1)).max(axis=2) - p


def _kullback_leibler(draws: Floats, p: Floats) -> Floats:
    return sp.special.rel_entr(draws, p).sum(axis=2)


def _kullback_leibler_to_top(p: Floats) -> Floats:
    """Pool k with the labels above it into their geometric mean; what is left of the sum is exp(-distance)."""
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    others = _others_descending(p)
    with np.errstate(divide="ignore"):
        log_sums = log_p[:, :, None] + np.concatenate(
            [np.zeros((*p.shape, 1)), np.cumsum(np.log(others), axis=2)], axis=2
        )
    n_pooled = np.arange(1, p.shape[1] + 1)
    pooled = n_pooled * np.exp(log_sums / n_pooled)
    rest = np.concatenate([others[:, :, ::-1].cumsum(axis=2)[:, :, ::-1], np.zeros((*p.shape, 1))], axis=2)
    # The pool ends before the first other label that is not above its mean.
    above = np.concatenate([others > np.exp(log_sums / n_pooled)[:, :, :-1], np.zeros((*p.shape, 1), bool)], axis=2)
    end = (~above).argmax(axis=2)[:, :, None]
    left = np.take_along_axis(pooled + rest, end, axis=2)[:, :, 0]
    with np.errstate(divide="ignore"):
        return np.maximum(-np.log(left), 0.0)


def _wasserstein(draws: Floats, p: Floats) -> Floats:
    """Sum the differences of the cumulative distributions: labels stand in their order, one unit apart."""
    return np.abs(np.cumsum(draws - p, axis=2)).sum(axis=2)


def _wasserstein_to_top(p: Floats) -> Floats:
    found = np.empty(p.shape)
    for start in range(0, p.shape[0], _ITEMS_AT_ONCE):
        block = slice(start, start + _ITEMS_AT_ONCE)
        for k in range(p.shape[1]):
            found[block, k] = _transport_to_top(p[block], k)
    return found


def _transport_to_top(p: Floats, k: int) -> Floats:
    """Solve min sum_j t_j, t_j >= |cumsum(q - p)_j|, q_l <= q_k, for all items in one programme.

    The items share no variable, so that the smallest sum over items is the sum of the smallest.
    """
    n_items, n_labels = p.shape
    cumulate = sp.sparse.csr_array(np.tril(np.ones((n_labels, n_labels))))
    unit = sp.sparse.eye_array(n_labels)
    below_k = sp.sparse.csr_array(np.eye(n_labels) - np.eye(n_labels)[k])
    one = sp.sparse.block_array([[cumulate, -unit], [-cumulate, -unit], [below_k, None]])
    many = sp.sparse.kron(sp.sparse.eye_array(n_items), one, format="csr")
    level = np.cumsum(p, axis=1)
    most = np.concatenate([level, -level, np.zeros(p.shape)], axis=1)
    is_cost = np.repeat([0.0, 1.0], n_labels)
    total = sp.sparse.kron(sp.sparse.eye_array(n_items), 1 - is_cost[None], format="csr")
    solved = sp.optimize.linprog(
        np.tile(is_cost, n_items), A_ub=many, b_ub=most.ravel(), A_eq=total, b_eq=p.sum(axis=1), method="highs"
    )
    return solved.x.reshape(n_items, 2, n_labels)[:, 1].sum(axis=1)


def _others_descending(p: Floats) -> Floats:
    """Return for each label the probabilities of the others, largest first, shape (item, category, category - 1)."""
    n = p.shape[1]
    others = np.array([[other for other in range(n) if other != k] for k in range(n)], dtype=np.intp).reshape(n, n - 1)
    return -np.sort(-p[:, others], axis=2)


DISTANCES = {
    "inner": Distance(_inner, _inner_to_top),
    "tv": Distance(_total_variation, _total_variation_to_top),
    "kl": Distance(_kullback_leibler, _kullback_leibler_to_top),
    "wasserstein": Distance(_wasserstein, _wasserstein_to_top),
}
"""Every distance by name."""
