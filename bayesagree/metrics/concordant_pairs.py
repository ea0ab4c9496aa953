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

from bayesagree._inference.streams import item_blocks, map_blocks
from bayesagree._numerics.types import Floats, Places
from bayesagree.errors import InputError

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
    """A truth on an ordered scale, sorted once for all models."""

    # Place of each item in ascending order, shape (item,).
    position: NDArray[np.int64]
    # First place of a higher truth, shape (item,).
    upper: NDArray[np.int64]
    # Number of item pairs of different truth.
    pairs: int

    @classmethod
    def of(cls, truth: Floats) -> Self:
        """Sort a truth, shape (item,)."""
        (order,), (tied,) = ScoreOrder.of(truth[None])
        return cls(*truth_places(order, tied))


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
        position, upper, pairs = truth if isinstance(truth, GradedTruth) else GradedTruth.of(truth)
        out = np.full(len(self.order), np.nan)
        if pairs:
            graded_concordances(self.order, self.tied, position, upper, pairs, out)
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
    """Share of item pairs that scores order as the truth does, in O(n log n) per model.

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

BITS = 6
# Children of a node of the counting tree, and bits of a word: 2 ** BITS.
LANES = 64

ONE = np.uint64(1)


@numba.njit(cache=True, nogil=True)
def _run_end(tied: Tied, place: int) -> Any:
    """Return the place after the run of equal scores that starts at a place."""
    place += 1
    while place < tied.size and tied[place]:
        place += 1
    return place


@numba.njit(cache=True, nogil=True)
def _count_bits(word: Any) -> Any:
    word = word - ((word >> ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@numba.njit(cache=True, nogil=True)
def _count_below(words: NDArray[np.uint64], tree: NDArray[np.int32], position: Any) -> Any:
    word = position >> BITS
    count = _count_bits(words[word] & ((ONE << np.uint64(position & (LANES - 1))) - ONE))
    for level in range(tree.shape[0]):
        count += tree[level, word >> (BITS * level)]
    return count


@numba.njit(cache=True, nogil=True)
def _insert(words: NDArray[np.uint64], tree: NDArray[np.int32], position: Any) -> None:
    word = position >> BITS
    words[word] |= ONE << np.uint64(position & (LANES - 1))
    for level in range(tree.shape[0]):
        node = word >> (BITS * level)
        first = (node >> BITS) << BITS
        lanes = tree[level, first : first + LANES]
        for lane in range(LANES):  # all, not only those after the node: a fixed length is vector code
            lanes[lane] += first + lane > node


@numba.njit(cache=True, nogil=True)
def _twice_misordered(tied, position, upper, words, tree):
    """Count the pairs that a model orders against the truth, twice, and those it ties, once.

    `position` and `upper` are those of the items in ascending order of score.
    """
    words[:] = 0
    tree[:] = 0
    twice, place = 0, 0
    while place < tied.size:
        stop = _run_end(tied, place)
        above = 0
        for k in range(place, stop):
            above += place - _count_below(words, tree, upper[k])
        twice += above
        for k in range(place, stop):
            _insert(words, tree, position[k])
        if stop - place > 1:  # an item alone has as many above it after its insertion as before
            above = 0
            for k in range(place, stop):
                above += stop - _count_below(words, tree, upper[k])
        twice += above
        place = stop
    return twice


@numba.njit(cache=True, nogil=True)
def truth_places(order: Order, tied: Tied) -> tuple[Places, Places, int]:
    """Return the place of each item in ascending order of truth, the first place of a higher truth, and the pairs."""
    n = order.size
    position, upper = np.empty(n, np.int64), np.empty(n, np.int64)
    place, pairs = 0, 0
    while place < n:
        stop = _run_end(tied, place)
        for k in range(place, stop):
            position[order[k]], upper[order[k]] = k, stop
        pairs += (stop - place) * (n - stop)
        place = stop
    return position, upper, pairs


@numba.njit(cache=True, nogil=True)
def graded_concordances(order: Order, tied: Tied, position: Places, upper: Places, pairs: int, out: Floats) -> None:
    """Fill `out` (model,) with the share of the `pairs` of items of different truth that each model orders right.

    `position` is the place of each item in ascending order of truth, `upper` the first place of a higher truth. A
    tree holds the items met so far, all with lower scores: one bit per position, and above the words of 64 bits, at
    each level, the number of items in the lanes before. An insertion or a count touches one node per level.
    """
    n_words = (position.size >> BITS) + 1
    levels = 1
    while (n_words - 1) >> (BITS * levels):
        levels += 1
    words = np.empty(n_words, np.uint64)
    tree = np.empty((levels, ((n_words >> BITS) + 1) << BITS), np.int32)
    for m in range(order.shape[0]):
        # Both in the order of the scores first: reading them one by one between counts would wait for memory.
        twice = _twice_misordered(tied[m], position[order[m]], upper[order[m]], words, tree)
        out[m] = (2 * pairs - twice) / (2 * pairs)


@numba.njit(cache=True, nogil=True)
def weighted_concordance(order: Order, tied: Tied, positive: Floats, negative: Floats) -> Any:
    """Return the share of (positive, negative) mass on two items that the scores order right; NaN without any."""
    below, twice, own, positives, place = 0.0, 0.0, 0.0, 0.0, 0
    n = order.size
    while place < n:
        stop, before = _run_end(tied, place), below
        for k in range(place, stop):
            below += negative[order[k]]
        for k in range(place, stop):
            item = order[k]
            twice += positive[item] * (before + below)
            own += positive[item] * negative[item]
            positives += positive[item]
        place = stop
    mass = positives * below - own
    return (twice - own) / (2 * mass) if mass > 0 else np.nan


@numba.njit(cache=True, nogil=True)
def weighted_concordances(order: Order, tied: Tied, positive: Floats, negative: Floats, out: Floats) -> None:
    """Fill `out` (draw, model) with `weighted_concordance` for each draw of the probabilities, shape (draw, item)."""
    for draw in range(positive.shape[0]):
        for m in range(order.shape[0]):
            out[draw, m] = weighted_concordance(order[m], tied[m], positive[draw], negative[draw])


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
