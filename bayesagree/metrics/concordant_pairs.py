"""Concordance of scores with a truth of any kind: the area under the curve beyond two classes.

The kernels take `order` (positions of the items, worst score first) and `tied` (whether the item at a place has the
same score as the one before it), so that a model is sorted once and then compared with any number of truths.
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

    def graded(self, truth: Floats) -> Floats:
        """Return the share of item pairs of different truth, shape (item,), that each model orders right."""
        _, level, count = np.unique(truth, return_inverse=True, return_counts=True)
        if count.size == 2:
            return self.weighted(level.astype(np.float64), 1.0 - level)
        pairs = int(truth.size**2 - (count**2).sum()) // 2
        out = np.full(len(self.order), np.nan)
        if pairs:
            graded_concordances(self.order, self.tied, level, pairs, out)
        return out

    def weighted(self, positive: NDArray[Any], negative: NDArray[Any]) -> Floats:
        """Return the share of (positive, negative) mass on two items that each model orders right.

        Of masses (item,) shape (model,); of draws of them, shape (draw, item), shape (draw, model).
        """
        positive, negative = np.broadcast_arrays(positive, negative)
        out = np.empty((*positive.shape[:-1], len(self.order)))
        weighted_concordances(
            self.order, self.tied, np.atleast_2d(positive), np.atleast_2d(negative), np.atleast_2d(out)
        )
        return out

    def by_annotator(self, item: NDArray[Any], annotator: NDArray[Any], positive: NDArray[np.bool_]) -> Floats:
        """Return the mean over annotators of the area under the curve against their own labels, shape (model,).

        A label (row,) says whose it is, of which item, and whether it is the positive one. An annotator weighs as much
        as the number of labels given. Who used one label only has no area under the curve and no part in the mean; NaN
        where that is everybody.
        """
        n, pairs = np.bincount(annotator), annotator_pairs(annotator, positive)
        share = np.where(pairs > 0, n, 0) / np.maximum(pairs, 1)
        out = np.full(len(self.order), np.nan)
        if not share.any():
            return out
        # Keys sort labels by annotator, then by the rank of the item's score.
        first, rank = (
            annotator.astype(np.int64) * (self.order.shape[1] + 1),
            np.empty(self.order.shape[1], np.int64),
        )
        start = np.cumsum(n - np.bincount(annotator[positive], minlength=n.size))
        start = np.append(0, start)[annotator[positive]]
        for m, (order, tied) in enumerate(zip(self.order, self.tied)):
            rank[order] = np.cumsum(~tied)
            key = first + rank[item]
            negatives = np.sort(key[~positive])
            below, not_above = (np.searchsorted(negatives, key[positive], side) for side in ("left", "right"))
            won = (below + not_above) / 2 - start
            out[m] = share[annotator[positive]] @ won
        return out / n[pairs > 0].sum()


def annotator_pairs(annotator: NDArray[Any], positive: NDArray[np.bool_], n: int = 0) -> NDArray[np.int64]:
    """Return the number of (positive, negative) pairs of labels of each annotator, shape (annotator,)."""
    given = np.bincount(annotator, minlength=n)
    n_positive = np.bincount(annotator[positive], minlength=given.size)
    return n_positive * (given - n_positive)


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
            raise InputError(
                f"{name} at {place} is {array[place]}, not finite; drop the item or give it a number"
            )
    matrix = np.atleast_2d(batch)
    blocks = item_blocks(len(matrix), max(1, SCORES // max(values.size, 1)))
    parts = map_blocks(lambda block: ScoreOrder.of(matrix[block]).graded(values), blocks)
    found = np.concatenate(list(parts)).reshape(batch.shape[:-1])
    return xr.DataArray(found, dims=("model",)[: found.ndim], name="concordance")


@numba.njit(cache=True, nogil=True)
def graded_concordances(order: Places, tied: NDArray[np.bool_], level: Places, pairs: int, out: Floats) -> None:
    """Fill `out` (model,) with the share of the `pairs` of items of different truth that each model orders right.

    A Fenwick tree counts the items met so far by the level of their truth.
    """
    n_levels = level.max() + 1
    for m in range(order.shape[0]):
        tree = np.zeros(n_levels + 1, np.int64)
        misordered, place = 0, 0  # twice the pairs in the wrong order, and once those that the model ties
        while place < order.shape[1]:
            stop = place + 1
            while stop < order.shape[1] and tied[m, stop]:
                stop += 1
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
def weighted_concordances(
    order: Places, tied: NDArray[np.bool_], positive: Floats, negative: Floats, out: Floats
) -> None:
    """Fill `out` (draw, model) with the share of (positive, negative) mass on two items that the scores order right.

    NaN where there is none; the probabilities have shape (draw, item).
    """
    for draw in range(positive.shape[0]):
        for m in range(order.shape[0]):
            below, step, won, own, positives = 0.0, 0.0, 0.0, 0.0, 0.0
            here = 0.0  # positive mass of the present run of equal scores, and `step` its negative mass
            for k in range(order.shape[1]):
                if not tied[m, k]:
                    won += here * (below + 0.5 * step)
                    below += step
                    here, step = 0.0, 0.0
                p, q = positive[draw, order[m, k]], negative[draw, order[m, k]]
                here += p
                step += q
                positives += p
                own += p * q
            won += here * (below + 0.5 * step)
            mass = positives * (below + step) - own
            out[draw, m] = (won - 0.5 * own) / mass if mass > 0 else np.nan
