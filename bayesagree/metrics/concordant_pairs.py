"""Concordance of scores with a truth of any kind: the area under the curve beyond two classes.

The kernels take one model at a time, its items in ascending order of score. Each takes `order` (positions of the items,
worst score first) and `tied` (whether the item at a place has the same score as the one before it), so that a model is
sorted once and then compared with any number of truths. Twice the number of concordant pairs is counted, which keeps
ties (one half) whole numbers.
"""

from typing import Any, NamedTuple, Self

import numba
import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayesagree._types import Floats, Places
from bayesagree.errors import InputError
from bayesagree.inference.streams import item_blocks, map_blocks

# Scores that one thread orders at a time: enough to hide the start of a thread, few enough for its cache.
SCORES = 50_000


class AnnotatorLabels(NamedTuple):
    """Labels of two kinds with their annotators."""

    # item, annotator, positive: which item, whose label and whether it is the positive one, shape (row,); sorted by
    # item.
    item: NDArray[np.int32]
    annotator: NDArray[np.int32]
    positive: NDArray[np.bool_]
    # Number of annotators.
    n_annotators: int

    def pairs(self) -> NDArray[np.int64]:
        """Return the number of (positive, negative) pairs of labels of each annotator, shape (annotator,)."""
        n = np.bincount(self.annotator, minlength=self.n_annotators)
        n_positive = np.bincount(self.annotator[self.positive], minlength=self.n_annotators)
        return n_positive * (n - n_positive)


class GradedTruth(NamedTuple):
    """A truth on an ordered scale, read once for all models."""

    # Rank of each item's truth among the distinct ones, shape (item,).
    level: NDArray[np.int64]
    # Number of item pairs of different truth.
    pairs: int

    @classmethod
    def of(cls, truth: Floats) -> Self:
        """Rank a truth, shape (item,)."""
        _, level, count = np.unique(truth, return_inverse=True, return_counts=True)
        return cls(level.astype(np.int64), int(truth.size**2 - (count**2).sum()) // 2)


class ScoreOrder(NamedTuple):
    """Scores of several models, sorted once and compared with as many truths as needed."""

    # Positions of the items in ascending order of score, shape (model, item).
    order: Places
    # Whether the item at a place has the score of the one before it, shape (model, item).
    tied: NDArray[np.bool_]

    @classmethod
    def of(cls, scores: Floats) -> Self:
        """Sort the scores, shape (model, item), of every model."""
        order = np.argsort(scores, axis=1)
        ordered = np.take_along_axis(scores, order, axis=1)
        tied = np.zeros(scores.shape, np.bool_)
        tied[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
        return cls(order, tied)

    def graded(self, truth: Floats | GradedTruth) -> Floats:
        """Return the share of item pairs of different truth, shape (item,), that each model orders right."""
        level, pairs = truth if isinstance(truth, GradedTruth) else GradedTruth.of(truth)
        out = np.full(len(self.order), np.nan)
        if pairs:
            graded_concordances(self.order, self.tied, level, pairs, out)
        return out

    def binary(self, positive: Floats) -> Floats:
        """Return the area under the curve of each model; `positive`, shape (item,), is 0, 1 or a share."""
        return self.weighted(positive, 1.0 - positive)

    def weighted(self, positive: Floats, negative: Floats) -> Floats:
        """Return the share of (positive, negative) mass on two items that each model orders right."""
        return self.weighted_draws(positive[None], negative[None])[0]

    def weighted_draws(self, positive: Floats, negative: Floats) -> Floats:
        """Do the same for draws of the probabilities, shape (draw, item); returns shape (draw, model)."""
        out = np.empty((len(positive), len(self.order)))
        weighted_concordances(self.order, self.tied, positive, negative, out)
        return out

    def by_annotator(self, labels: AnnotatorLabels, weights: Floats | None = None) -> Floats:
        """Return the mean over annotators of the area under the curve against their own labels.

        An annotator weighs as much as the number of labels given, times `weights`, shape (annotator,). Who used
        one label only has no area under the curve and no part in the mean; NaN where that is everybody.
        """
        item, annotator, positive, n_annotators = labels
        n, pairs = np.bincount(annotator, minlength=n_annotators), labels.pairs()
        share = np.where(pairs > 0, n * (1.0 if weights is None else weights), 0.0)
        if not share.sum() > 0:
            return np.full(len(self.order), np.nan)
        pair_weight = share / np.maximum(pairs, 1) / (2 * share.sum())
        out = np.zeros(len(self.order))
        start = np.searchsorted(item, np.arange(self.order.shape[1] + 1))
        concordances_by_annotator(self.order, self.tied, annotator, positive, start, pair_weight, out)
        return out


def concordance(scores: ArrayLike, truth: ArrayLike) -> xr.DataArray:
    """Compute the share of item pairs that scores order as the truth does, in O(n log n) per model.

    Over the pairs of items with different truth, one minus the normalised Kendall tau distance; a pair with equal
    scores counts one half. With a truth of two values it is the area under the receiver operating curve (AUC).

    Parameters
    ----------
    scores
        Scores of one or several models, higher means more positive, shape (item,) or (model, item).
    truth
        True value of each item on any ordered scale, shape (item,).

    Returns
    -------
    DataArray
        Concordance in [0, 1], dims () or (model,); NaN where all items have the same truth.

    Raises
    ------
    InputError
        Shapes that do not fit, or a value that is not finite.

    Examples
    --------
    >>> concordance([[0.1, 0.4, 0.35, 0.8], [1, 2, 3, 4]], [0, 0, 1, 1]).values.tolist()
    [0.75, 1.0]
    >>> concordance([0.1, 0.4, 0.35, 0.8], [0.2, 0.3, 0.6, 0.6]).item()
    0.8

    References
    ----------
    Urkullu, Perez, Calvo: On the evaluation and selection of classifier learning algorithms with crowdsourced
    data, section 3.3.1; Wilcoxon / Mann-Whitney statistic for two values.
    """
    batch, values = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if values.ndim != 1 or batch.ndim not in (1, 2) or batch.shape[-1] != values.size or 0 in batch.shape[:-1]:
        raise InputError(
            f"scores have shape {batch.shape} and truth {values.shape}; they must be (model, item) or (item,), and "
            "(item,)"
        )
    for name, array in (("score", batch), ("truth", values)):
        if not np.isfinite(array).all():
            place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
            raise InputError(f"{name} at {place} is {array[place]}, not finite; drop the item or give it a number")
    matrix = np.atleast_2d(batch)
    blocks = item_blocks(len(matrix), max(1, SCORES // max(values.size, 1)))
    highest = values == values.max(initial=-np.inf)
    if (values[~highest] == values.min(initial=np.inf)).all():
        positive = highest.astype(np.float64)
        parts = map_blocks(lambda block: ScoreOrder.of(matrix[block]).binary(positive), blocks)
    else:
        graded = GradedTruth.of(values)
        parts = map_blocks(lambda block: ScoreOrder.of(matrix[block]).graded(graded), blocks)
    found = np.concatenate(list(parts)).reshape(batch.shape[:-1])
    return xr.DataArray(found, dims=("model",)[: found.ndim], name="concordance")


type Order = NDArray[np.intp]
type Tied = NDArray[np.bool_]


@numba.njit(cache=True, nogil=True)
def _run_end(tied: Tied, place: int) -> Any:
    """Return the place after the run of equal scores that starts at a place."""
    place += 1
    while place < tied.size and tied[place]:
        place += 1
    return place


@numba.njit(cache=True, nogil=True)
def graded_concordances(order: Order, tied: Tied, level: Places, pairs: int, out: Floats) -> None:
    """Fill `out` (model,) with the share of the `pairs` of items of different truth that each model orders right.

    A Fenwick tree counts the items met so far by the level of their truth.
    """
    n_levels = level.max() + 1
    for m in range(order.shape[0]):
        tree = np.zeros(n_levels + 1, np.int64)
        misordered, place = 0, 0  # twice the pairs in the wrong order, and once those that the model ties
        while place < order.shape[1]:
            stop = _run_end(tied[m], place)
            for seen in (place, stop):  # items of lower scores, then those of equal scores too
                for k in range(place, stop):
                    misordered += seen
                    node = level[order[m, k]] + 1
                    while node > 0:
                        misordered -= tree[node]
                        node &= node - 1
                for k in range(place, stop if seen == place else place):
                    node = level[order[m, k]] + 1
                    while node <= n_levels:
                        tree[node] += 1
                        node += node & -node
            place = stop
        out[m] = 1 - misordered / (2 * pairs)


@numba.njit(cache=True, nogil=True)
def weighted_concordances(order: Order, tied: Tied, positive: Floats, negative: Floats, out: Floats) -> None:
    """Fill `out` (draw, model) with the share of (positive, negative) mass on two items that the scores order right.

    NaN where there is none; the probabilities have shape (draw, item).
    """
    n = order.shape[1]
    for draw in range(positive.shape[0]):
        for m in range(order.shape[0]):
            below, twice, own, positives, place = 0.0, 0.0, 0.0, 0.0, 0
            while place < n:
                stop, before = _run_end(tied[m], place), below
                for k in range(place, stop):
                    below += negative[draw, order[m, k]]
                for k in range(place, stop):
                    item = order[m, k]
                    twice += positive[draw, item] * (before + below)
                    own += positive[draw, item] * negative[draw, item]
                    positives += positive[draw, item]
                place = stop
            mass = positives * below - own
            out[draw, m] = (twice - own) / (2 * mass) if mass > 0 else np.nan


@numba.njit(cache=True, nogil=True)
def concordances_by_annotator(order, tied, annotator, positive, start, pair_weight, out):
    """Add to `out` (model,) twice the concordant pairs of each annotator, times `pair_weight`; linear in the labels.

    Labels are sorted by item, i owning ``start[i]:start[i + 1]``. One walk through the items in ascending score
    serves all annotators; `below` holds the negative labels of each that were met so far.
    """
    below = np.empty(pair_weight.size, np.int64)
    for m in range(order.shape[0]):
        below[:] = 0
        place, n = 0, order.shape[1]
        while place < n:
            stop = _run_end(tied[m], place)
            # A positive label beats those below its run of equal scores and half of the run: before + after.
            for step in range(3):
                for k in range(place, stop):
                    for row in range(start[order[m, k]], start[order[m, k] + 1]):
                        j = annotator[row]
                        if step == 1:
                            below[j] += not positive[row]
                        elif positive[row]:
                            out[m] += pair_weight[j] * below[j]
            place = stop
