"""Compiled comparison of each draw's best labels with each model's best labels, for a block of items.

All metrics see the same draws. Only sums leave the kernel, so memory does not grow with items or metrics.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

TOP, SET, OVERLAP, AVERAGE_OVERLAP, KENDALL, FOOTRULE = range(6)


class BlockScores(NamedTuple):
    """Sums of metric values over a block of items.

    Attributes
    ----------
    total, weighted
        Over items, plain and with the weight of each (item, draw), shape (metric, model, sample).
    square
        Squares over items and draws, shape (metric, model).
    item
        Over draws, shape (metric, model, item).
    """

    total: NDArray[np.float64]
    weighted: NDArray[np.float64]
    square: NDArray[np.float64]
    item: NDArray[np.float64]


@numba.njit(cache=True, nogil=True)
def _overlap(truth: NDArray[Any], place: NDArray[np.int32], k: int) -> int:
    shared = 0
    for r in range(k):
        if place[truth[r]] < k:
            shared += 1
    return shared


@numba.njit(cache=True, nogil=True)
def _average_overlap(truth: NDArray[Any], place: NDArray[np.int32], depth: int) -> float:
    total = 0.0
    for k in range(1, depth + 1):
        total += _overlap(truth, place, k) / k
    return total / depth


@numba.njit(cache=True, nogil=True)
def _kendall(truth: NDArray[Any], predicted: NDArray[Any], place: NDArray[np.int32], k: int) -> Any:
    """Return the discordant pairs of two top-k lists; pairs that one list alone holds count one half (Fagin et al.)."""
    shared = _overlap(truth, place, k)
    alone = k - shared
    distance = alone * alone + alone * (alone - 1) * 0.5
    for a in range(k):
        place_a = place[truth[a]]
        for b in range(a + 1, k):
            place_b = place[truth[b]]
            # Both in the model's list: opposite order. Only the lower one in it: the model puts it above the other.
            if (place_b < k) and (place_a > place_b):
                distance += 1.0
    for a in range(k):
        in_truth_a = False
        for r in range(k):
            in_truth_a |= truth[r] == predicted[a]
        if in_truth_a:
            continue
        for b in range(a + 1, k):
            for r in range(k):
                if truth[r] == predicted[b]:
                    distance += 1.0
    return distance


@numba.njit(cache=True, nogil=True)
def _footrule(truth: NDArray[Any], place: NDArray[np.int32], k: int) -> Any:
    """Return the displacement between two top-k lists; a label that a list lacks stands at place k + 1."""
    distance, in_both_or_truth = 0.0, 0.0
    for r in range(k):
        there = min(place[truth[r]], k)
        distance += abs(there - r)
        if there < k:
            in_both_or_truth += k - there
    # Labels of the model's list that the truth lacks: all its places, less those of shared labels.
    return distance + k * (k + 1) / 2 - in_both_or_truth


@numba.njit(cache=True, nogil=True)
def score_block(
    truth: NDArray[Any],
    predicted: NDArray[Any],
    kinds: NDArray[np.int64],
    ks: NDArray[np.int64],
    worst: NDArray[np.float64],
    n_labels: int,
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Score every draw of every item for every model.

    Parameters
    ----------
    truth
        Best labels of each draw, shape (item, sample, rank).
    predicted
        Best labels of each model, -1 for none, shape (model, item, rank).
    kinds, ks, worst
        Metric codes, their k, and the largest distance of `KENDALL` and `FOOTRULE`, shape (metric,).
    n_labels
        Number of labels.
    weights
        Weight of each item in each draw, shape (item, sample).
    """
    n_items, n_samples, _ = truth.shape
    n_models, n_metrics = predicted.shape[0], kinds.size
    total = np.zeros((n_metrics, n_models, n_samples))
    weighted = np.zeros((n_metrics, n_models, n_samples))
    square = np.zeros((n_metrics, n_models))
    item = np.zeros((n_metrics, n_models, n_items))
    nowhere = np.int32(n_labels)
    place = np.full(n_labels, nowhere, dtype=np.int32)
    for i in range(n_items):
        for m in range(n_models):
            for r in range(predicted.shape[2]):
                if predicted[m, i, r] >= 0:
                    place[predicted[m, i, r]] = r
            for c in range(n_metrics):
                kind, k = kinds[c], ks[c]
                for s in range(n_samples):
                    if kind == TOP:
                        value = 1.0 if place[truth[i, s, 0]] < k else 0.0
                    elif kind == SET:
                        value = 1.0 if _overlap(truth[i, s], place, k) == k else 0.0
                    elif kind == OVERLAP:
                        value = _overlap(truth[i, s], place, k) / k
                    elif kind == AVERAGE_OVERLAP:
                        value = _average_overlap(truth[i, s], place, k)
                    elif kind == KENDALL:
                        value = 1.0 - _kendall(truth[i, s], predicted[m, i], place, k) / worst[c]
                    else:
                        value = 1.0 - _footrule(truth[i, s], place, k) / worst[c]
                    total[c, m, s] += value
                    weighted[c, m, s] += value * weights[i, s]
                    square[c, m] += value * value
                    item[c, m, i] += value
            for r in range(predicted.shape[2]):
                if predicted[m, i, r] >= 0:
                    place[predicted[m, i, r]] = nowhere
    return total, weighted, square, item
