"""Metrics that see all items of a draw at once: areas under curves, rank correlation, functions of the user's.

Each takes the true labels or numbers of all items in each draw, shape (item, sample), or plausibilities (item, sample,
label), and returns scores (model, sample) on some of the items.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats, Places
from bayesagree.inference.item_weights import ItemWeights
from bayesagree.inference.streams import map_blocks
from bayesagree.metrics.values import Given, correlation

NO_WEIGHTS = np.empty((0, 0))


def walked(
    truth: NDArray[Any], given: Given, rows: Floats, kernel: Callable[..., None], *, falling: bool
) -> Floats:
    """Walk the items of every model in the order of its scores for each label that counts.

    The kernel adds to an array (room, sample) for each model and label: (model, label, room, sample).
    """
    n_models, _, n_labels = given.scores.shape
    labels = [1] if n_labels == 2 else list(range(n_labels))
    out = np.zeros((n_models, n_labels, n_labels if kernel is pair_wins else 2, truth.shape[1]))

    def walk(job: tuple[int, int]) -> None:
        scores = given.scores[job[0], :, job[1]]
        order = np.argsort(-scores if falling else scores, kind="stable")
        step_ends = np.append(np.diff(scores[order]) != 0, True)
        kernel(truth, order, step_ends, job[1], rows, out[job])

    for _ in map_blocks(walk, [(m, k) for m in range(n_models) for k in labels]):
        pass
    return out[:, labels]


def _on(
    truth: NDArray[Any], given: Given, items: Places, weights: ItemWeights | None
) -> tuple[Any, Given, Floats]:
    """Return truth, models and weights of some items."""
    rows = NO_WEIGHTS if weights is None else np.ascontiguousarray(weights.all_rows()[items])
    return np.ascontiguousarray(truth[items]), given._replace(scores=given.scores[:, items]), rows


def _label_weights(truth: NDArray[Any], rows: Floats, n_labels: int) -> Floats:
    """Return the weight of the items with each label, shape (label, sample)."""
    each = rows if rows.size else 1.0
    return np.stack([((truth == k) * each).sum(axis=0, dtype=np.float64) for k in range(n_labels)])


def _ratio(part: Floats, whole: NDArray[Any]) -> Floats:
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=np.broadcast_to(whole > 0, part.shape))


def one_against_rest(truth: NDArray[Any], given: Given, items: Places, weights: ItemWeights | None) -> Floats:
    """Mean over labels of their areas, NaN where one of them does not exist."""
    truth, given, rows = _on(truth, given, items, weights)
    wins = walked(truth, given, rows, pair_wins, falling=False)
    count = _label_weights(truth, rows, wins.shape[2])
    labels = range(wins.shape[2]) if wins.shape[1] > 1 else [1]
    won = wins.sum(axis=2) - np.stack([wins[:, at, k] for at, k in enumerate(labels)], axis=1)
    return _ratio(won, (count * (count.sum(axis=0) - count))[labels]).mean(axis=1)


def one_against_one(truth: NDArray[Any], given: Given, items: Places, weights: ItemWeights | None) -> Floats:
    """Mean over pairs of labels that occur, both ways; of two labels one walk tells both ways."""
    truth, given, rows = _on(truth, given, items, weights)
    wins = walked(truth, given, rows, pair_wins, falling=False)
    count, n_labels = _label_weights(truth, rows, wins.shape[2]), wins.shape[2]
    pairs = (count[:, None] * count * ~np.eye(n_labels, dtype=bool)[:, :, None])[-wins.shape[1] :]
    area = np.nan_to_num(_ratio(wins, pairs)).sum(axis=(1, 2))
    return _ratio(area, (pairs > 0).sum(axis=(0, 1)))


def average_precision(truth: NDArray[Any], given: Given, items: Places, weights: ItemWeights | None) -> Floats:
    """Mean precision at the places of the positive items."""
    precisions = walked(*_on(truth, given, items, weights), add_precisions, falling=True)
    return _ratio(precisions[:, :, 0], precisions[:, :, 1]).mean(axis=1)


def spearman(truth: NDArray[Any], given: Given, items: Places, weights: ItemWeights | None) -> Floats:
    """Correlate the ranks of every draw; a weight counts as so many equal items."""
    points, n_samples = given.points[:, items], truth.shape[1]
    out = np.full((len(points), n_samples), np.nan)
    rows = np.ones((items.size, 1)) if weights is None else weights.all_rows()[items]
    ranked: list[Floats] = []
    for s in range(n_samples):
        weight = rows[:, s % rows.shape[1]]
        if weights is not None or not ranked:
            ranked = [midranks(one, weight) for one in points]
        share, drawn = weight / weight.sum(), midranks(truth[items, s], weight)
        for m, own in enumerate(ranked):
            out[m, s] = correlation(np.array([drawn, own, drawn**2, own**2, drawn * own]) @ share)
    return out


def midranks(values: Floats, weight: Floats) -> Floats:
    """Return the weight below each value plus half of its own, centred."""
    _, at = np.unique(values, return_inverse=True)
    mass = np.bincount(at, weight)
    return (np.cumsum(mass) - mass / 2)[at] - weight.sum() / 2


def entropy_rank_correlation(plausibilities: Floats, probabilities: Floats) -> float:
    """Spearman correlation over items of the entropies; NaN where one is constant.

    Entropies as scipy adds them up: two items with the same shares in another order may differ in the last digit, which
    the ranks of vote shares show from the fourth digit on.
    """
    from scipy.stats import entropy, spearmanr

    of_truth, of_model = entropy(plausibilities, axis=1), entropy(probabilities, axis=1)
    if np.ptp(of_truth) == 0 or np.ptp(of_model) == 0:
        return float("nan")
    found: Any = spearmanr(of_model, of_truth)
    return float(found.statistic)


# Adding zeros along whole rows is that much faster than picking the draws in which the item has the label.
# One of so many draws must have the label for all draws to be added up.
MANY = 8


@numba.njit(cache=True, nogil=True)
def pair_wins(truth, order, step_ends, label, weights, wins):
    """Add to `wins` (label, sample), for every other label, the pairs of which the item with `label` scores higher.

    Pairs of equal scores count one half.

    Parameters
    ----------
    truth
        True labels, shape (item, sample).
    order
        Items by ascending score for `label`.
    step_ends
        Whether the next item scores higher, shape (item,).
    weights
        Weight of each item in each draw, shape (item, sample); empty where each counts once.
    """
    n_labels, n_samples = wins.shape
    # Counts of labels so far, and in the present step.
    seen, step = np.zeros((n_labels, n_samples)), np.zeros((n_labels, n_samples))
    weight, hit = np.ones(n_samples), np.empty(n_samples)
    alone = True
    for at in range(order.size):
        row = truth[order[at]]
        if weights.size:
            for s in range(n_samples):
                weight[s] = weights[order[at], s]
        if not (alone and step_ends[at]):
            for s in range(n_samples):
                step[row[s], s] += weight[s]
            if step_ends[at]:
                for k in range(n_labels):
                    for s in range(n_samples):
                        wins[k, s] += step[label, s] * (seen[k, s] + 0.5 * step[k, s])
                seen += step
                step[:] = 0.0
        else:
            n_hits = 0
            for s in range(n_samples):
                here = row[s] == label
                n_hits += here
                hit[s] = weight[s] if here else 0.0
            if n_hits * MANY > n_samples:
                for k in range(n_labels):
                    for s in range(n_samples):
                        wins[k, s] += hit[s] * seen[k, s]
            elif n_hits:
                for s in range(n_samples):
                    if hit[s] > 0.0:
                        for k in range(n_labels):
                            wins[k, s] += hit[s] * seen[k, s]
            for s in range(n_samples):
                seen[row[s], s] += weight[s]
        alone = step_ends[at]


@numba.njit(cache=True, nogil=True)
def add_precisions(truth, order, step_ends, label, weights, out):
    """Add the precision at every place of an item with `label` to `out` (2, sample), and the weight of these items.

    `order` is by descending score, `step_ends` says whether the next item scores lower.
    """
    n_samples = truth.shape[1]
    right, all_seen, new = np.zeros(n_samples), np.zeros(n_samples), np.zeros(n_samples)
    for at in range(order.size):
        row = truth[order[at]]
        for s in range(n_samples):
            w = weights[order[at], s] if weights.size else 1.0
            all_seen[s] += w
            new[s] += w if row[s] == label else 0.0
        if step_ends[at]:
            for s in range(n_samples):
                right[s] += new[s]
                out[1, s] += new[s]
                out[0, s] += new[s] * right[s] / all_seen[s]
                new[s] = 0.0
