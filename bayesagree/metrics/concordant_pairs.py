"""Pairs of items that scores put in the right order: every area under a curve, and its form for a graded truth.

A model is sorted once and then compared with any number of truths, each given as the positive and the negative mass of
every item: one walk along the scores counts the pairs.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from bayesagree._types import Array, Booleans, Floats, Places
from bayesagree.errors import InputError
from bayesagree.inference.streams import map_blocks


@dataclass(frozen=True, eq=False)
class ScoreOrder:
    """Scores of several models, shape (model, item), sorted once and compared with as many truths as needed."""

    scores: Floats

    @cached_property
    def falling(self) -> tuple[Places, Booleans]:
        """Items by falling score, and whether the next item has another score, both of shape (model, item)."""
        order = np.argsort(-self.scores, axis=1)
        falls = np.diff(np.take_along_axis(self.scores, order, axis=1)) != 0
        return order, np.pad(falls, ((0, 0), (0, 1)), constant_values=True)

    def walked(self, positive: Array, negative: Array) -> Floats:
        """Return the mass of pairs of a positive item above a negative one, equal scores counting one half.

        Masses have shape (item, sample), the result (model, sample).
        """
        from bayesagree.metrics._walk import walk_down

        def walk(model: tuple[Places, Booleans]) -> Floats:
            out = np.zeros(positive.shape[1])
            walk_down(*model, positive, negative, out)
            return out

        return np.stack([*map_blocks(walk, [*zip(*self.falling)])])

    def weighted(self, positive: Array, negative: Array) -> Floats:
        """Return the share of (positive, negative) mass on two items that each model orders right, NaN of none.

        Of masses (item,) shape (model,); of draws of them, (item, sample), shape (model, sample).
        """
        masses = np.broadcast_arrays(positive, negative)
        plus, minus = (np.ascontiguousarray(mass).reshape(len(mass), mass[:1].size or 1) for mass in masses)
        own = (plus * minus).sum(axis=0)
        pairs = plus.sum(axis=0) * minus.sum(axis=0) - own
        return ratio(self.walked(plus, minus) - own / 2, pairs).reshape(-1, *masses[0].shape[1:])

    def graded(self, truth: Array) -> Floats:
        """Return the share of item pairs of different truth, shape (item,), that each model orders right.

        From Kendall's tau b, which divides pairs in order less those in reverse by the pairs of different truth and by
        those of different scores, a root of each.
        """
        from scipy.stats import kendalltau

        differ = n_differing(truth)
        highest = truth == truth.max(initial=-np.inf)
        if highest.sum() * (~highest).sum() == differ:  # two values or one
            return self.weighted(highest, ~highest)
        of_scores = [n_differing(row) for row in self.scores]
        taus = [kendalltau(row, truth, method="asymptotic")[0] for row in self.scores]
        return 0.5 + np.nan_to_num(taus) * np.sqrt(np.array(of_scores) / differ) / 2

    def by_annotator(self, item: Array, annotator: Array, positive: Booleans) -> Floats:
        """Return the mean over annotators of the area under the curve against their own labels, shape (model,).

        A label (row,) says whose it is, of which item, and whether it is the positive one. An annotator weighs as much
        as the number of labels given. Who used one label only has no area under the curve and no part in the mean; NaN
        where that is everybody.
        """
        n_positive = np.bincount(annotator[positive])
        n = np.bincount(annotator)[: n_positive.size]  # those after them have no pair
        pairs = n_positive * (n - n_positive)
        ranks = pd.DataFrame(self.scores[:, item].T).groupby(annotator).rank().to_numpy()
        # The ranks of an annotator's positive labels count the labels below each, other positive ones among them.
        share = np.where(pairs > 0, n, 0) / np.maximum(pairs, 1)
        among = share @ (n_positive * (n_positive + 1) / 2)
        return ratio(share[annotator[positive]] @ ranks[positive] - among, n[pairs > 0].sum())


def ratio(part: Any, whole: Any, nothing: Any = 0.0) -> Floats:
    """Return a ratio, NaN where there is nothing to divide by."""
    undefined = np.full(np.broadcast_shapes(np.shape(part), np.shape(whole)), np.nan)
    return np.divide(part, whole, out=undefined, where=whole > nothing)


def n_differing(values: Array) -> int:
    """Return the number of pairs of different values."""
    count = np.unique(values, return_counts=True)[1]
    return int(values.size**2 - (count**2).sum()) // 2


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
    >>> concordance([0.1, 0.4, 0.35, 0.8], [0.2, 0.3, 0.6, 0.6]).round(2).item()
    0.8

    References
    ----------
    Urkullu, Perez, Calvo: On the evaluation and selection of classifier learning algorithms with crowdsourced
    data, section 3.3.1; Wilcoxon / Mann-Whitney statistic for two values.
    """
    batch = np.asarray(scores, dtype=float)
    values = np.asarray(truth, dtype=float)
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
    rows = np.atleast_2d(batch)
    parts = map_blocks(lambda m: ScoreOrder(rows[m : m + 1]).graded(values), [*range(len(rows))])
    found = np.concatenate([*parts]).reshape(batch.shape[:-1])
    return xr.DataArray(found, dims=("model",)[: found.ndim], name="concordance")
