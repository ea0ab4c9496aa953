"""Metrics that see all items of a draw at once: areas under curves, rank correlation.

Each takes the true labels or numbers of all items in each draw, shape (item, sample), and returns scores (model,
sample) on some of the items.
"""

from typing import Any

import numpy as np

from bayesagree._types import Array, Floats, Places
from bayesagree.metrics.concordant_pairs import ScoreOrder
from bayesagree.metrics.item_weights import ItemWeights
from bayesagree.metrics.values import Given, correlation


def one_against_rest(
    truth: Array, given: Given, items: Places, weights: ItemWeights | None, *advance: Any
) -> Floats:
    """Mean over labels of their areas, NaN where one of them does not exist; of two labels the last one tells all."""
    labels = range(given.scores.shape[2])
    rows = True if weights is None else weights.all_rows()[items]
    own = [
        (given.scores[:, items, k], truth[items] == k) for k in (labels[-1:] if len(labels) == 2 else labels)
    ]
    return np.mean([ScoreOrder(scores).weighted(has * rows, ~has * rows) for scores, has in own], axis=0)


def spearman(truth: Array, given: Given, items: Places, weights: ItemWeights | None, *advance: Any) -> Floats:
    """Correlate the ranks of every draw; a weight counts as so many equal items."""
    points, n_samples = given.points[:, items], truth.shape[1]
    out = np.full((len(points), n_samples), np.nan)
    rows = np.ones((items.size, 1)) if weights is None else weights.all_rows()[items]
    ranked: list[Floats] = []
    for s in range(n_samples):
        weight = rows[:, s % rows.shape[1]]
        if weights is not None or not ranked:
            ranked = [midranks(one, weight) for one in points]
        share = weight / weight.sum()
        drawn = midranks(truth[items, s], weight)
        for m, own in enumerate(ranked):
            out[m, s] = correlation(np.array([drawn, own, drawn**2, own**2, drawn * own]) @ share)
    return out


def midranks(values: Floats, weight: Floats) -> Floats:
    """Return the weight below each value plus half of its own, centred."""
    _, at = np.unique(values, return_inverse=True)
    mass = np.bincount(at, weight)
    return (np.cumsum(mass) - mass / 2)[at] - weight.sum() / 2
