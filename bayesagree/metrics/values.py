"""What an item counts in every draw: the functions of metrics that are means over items, or scores of such sums.

A function takes the draws of a block of items (`Drawn`) and one model on these items (`Given`), and for some metrics
the number in their name, and returns values of shape (item, sample).
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Array, Booleans, Codes, Floats, Pair, Places
from bayesagree.annotations._model_outputs import level_widths
from bayesagree.annotations.predictions import Predictions
from bayesagree.inference.blocks import DrawBlock
from bayesagree.metrics.concordant_pairs import ratio

# Probabilities below this count as this in logarithms, as in scikit-learn's `log_loss`.
SMALLEST = float(np.finfo(np.float64).eps)


class Given(NamedTuple):
    """Predictions as metrics read them; of one model the first dim is missing."""

    # Predicted label, -1 for none, shape (model, item), and the best labels (model, item, rank).
    hard: Codes
    best: Array
    # Score of every label, shape (model, item, label); no labels for hard predictions.
    scores: Floats
    # Predicted numbers (model, item), and the predicted distributions at `levels`; their mean over items (model,).
    points: Floats
    numbers: Floats
    centre: Floats
    # Names of the labels, and levels of the numbers; there are no levels of labels.
    categories: Array
    levels: Floats
    # Predicted labels of all runs of the same model, shape (run, item).
    runs: Sequence[Codes] = ()

    @classmethod
    def of(cls, predictions: Predictions, depth: int = 1) -> Self:
        """Read predictions and their `depth` best labels."""
        shape = (predictions.models.size, predictions.items.size)
        names = predictions.categories
        none = np.zeros((*shape, 0))
        if predictions.numbers is not None:
            points = predictions.points()
            unlabelled = np.full((*shape, 1), -1, np.int32)
            numbers = np.asarray(predictions.numbers)
            levels = np.asarray(predictions.levels)
            return cls(
                unlabelled[:, :, 0], unlabelled, none, points, numbers, points.mean(axis=1), names, levels
            )
        hard = np.ascontiguousarray(predictions.hard_labels(), np.int32)
        scores = none if predictions.scores is None else np.ascontiguousarray(predictions.scores, float)
        best = np.ascontiguousarray(predictions.top_labels(depth))
        every = [hard[row : row + 1] for row in range(shape[0])]
        if (runs := predictions.runs) is not None:
            of_model = [hard[: runs.code.size][runs.code == m] for m in range(runs.models.size)]
            every[: runs.code.size] = [of_model[m] for m in runs.code]
        return cls(hard, best, scores, np.zeros(shape), none, np.zeros(shape[0]), names, np.zeros(0), every)

    def one(self, model: int, items: Any) -> Self:
        """Return one model on some items."""
        runs = self.runs[model][:, items] if self.runs else ()
        parts = {name: getattr(self, name)[model, items] for name in self._fields[:5]}
        return self._replace(**parts, centre=self.centre[model], runs=runs)


class Drawn:
    """Draws of the truth of some items."""

    def __init__(self, block: DrawBlock, n_labels: int) -> None:
        self.block, self.n_labels = block, n_labels
        # Weights in each draw of the items that have a label, by the weights of the items: every model has the same.
        self.of_label: dict[int, Floats] = {}

    @cached_property
    def label(self) -> Array:
        """The true label of each draw, shape (item, sample)."""
        return self.block.true_label

    @cached_property
    def cells(self) -> list[Places]:
        """Where the best labels of each draw stand in a table (item, label), for each rank: shape (item, sample)."""
        row = self.n_labels * np.arange(len(self.label))[:, None]
        return [row + label for label in np.moveaxis(self.block.top_label, 2, 0)]

    @cached_property
    def shares(self) -> Floats:
        """Plausibilities, shape (item, sample, label)."""
        return np.asarray(self.block.plausibility)

    @cached_property
    def number(self) -> Floats:
        """The true number of each draw, shape (item, sample)."""
        return np.asarray(self.block.mean)


# Best labels in order. Labels that tie stand in label order.


def top(drawn: Drawn, given: Given, k: int) -> Booleans:
    """Whether the true label is among the k best."""
    best = given.best.astype(drawn.label.dtype)
    return np.logical_or.reduce([drawn.label == best[:, rank, None] for rank in range(k)])


def right(drawn: Drawn, given: Given) -> Booleans:
    """Whether the model's label is the true one."""
    return drawn.label == given.hard[:, None].astype(drawn.label.dtype)


# Of models that answered several times. Each run of a model has the same value.


def runs_right(drawn: Drawn, given: Given) -> Array:
    """Return how many runs of the model gave the true label."""
    return np.sum([drawn.label == labels[:, None] for labels in given.runs], axis=0)


def pass_at(drawn: Drawn, given: Given, k: int) -> Floats:
    """Probability that of k runs, drawn without replacement, one is right: 1 - C(n - c, k) / C(n, k)."""
    n = len(given.runs)
    return 1 - share_of_sets(n, k)[n - runs_right(drawn, given)]


def pass_hat(drawn: Drawn, given: Given, k: int) -> Floats:
    """Probability that k runs, drawn without replacement, are all right: C(c, k) / C(n, k)."""
    return share_of_sets(len(given.runs), k)[runs_right(drawn, given)]


def share_of_sets(n: int, k: int) -> Floats:
    """Share of the sets of k of n runs that lie in the first c, for c = 0, 1, ..., n."""
    return sp.special.comb(np.arange(n + 1), k) / sp.special.comb(n, k)


def runs_given(given: Given) -> Array:
    """Count the runs of a model that gave each label, shape (item, label)."""
    return np.sum([labels[:, None] == np.arange(given.categories.size) for labels in given.runs], axis=0)


def flips(drawn: Drawn, given: Given) -> Floats:
    """Share of pairs of runs that gave different labels."""
    n, number = len(given.runs), runs_given(given)
    rate = 1 - (number * (number - 1)).sum(axis=1, keepdims=True) / (n * (n - 1))
    return np.broadcast_to(rate, drawn.label.shape)


def majority_right(drawn: Drawn, given: Given) -> Floats:
    """Whether the label that most runs gave is the true one; labels that tie share the item."""
    number = runs_given(given)
    most = (number == number.max(axis=1, keepdims=True)) & (number > 0)
    share = most / np.maximum(most.sum(axis=1, keepdims=True), 1)
    return np.take_along_axis(share, drawn.label.astype(np.intp), axis=1)


def places(drawn: Drawn, given: Given, k: int) -> NDArray[np.int16]:
    """Return the place of each label among the model's k best, k where it has none, shape (item, label)."""
    table = np.full((len(drawn.label), drawn.n_labels + 1), k, np.int16)  # the last column is for no label
    np.put_along_axis(table, given.best[:, :k].astype(np.intp), np.arange(k)[None], axis=1)
    return np.ascontiguousarray(table[:, :-1])


def looked_up(drawn: Drawn, tables: Iterable[Array]) -> list[Array]:
    """Return the value of the best label of each draw in the first table, of the second best in the next, and so on."""
    return [table.take(cell, mode="clip") for table, cell in zip(tables, drawn.cells)]


def overlap(drawn: Drawn, given: Given, k: int) -> Floats:
    """Share of the k labels that both lists have."""
    return np.sum(looked_up(drawn, [places(drawn, given, k) < k] * k), axis=0) / k


def same_set(drawn: Drawn, given: Given, k: int) -> Booleans:
    """Whether both lists have the same labels."""
    return np.logical_and.reduce(looked_up(drawn, [places(drawn, given, k) < k] * k))


def average_overlap(drawn: Drawn, given: Given, k: int) -> Floats:
    """Mean overlap of the best 1, 2, ... k labels: a label that both have at place j or before counts from there on."""
    table = places(drawn, given, k)
    gain = np.append(np.cumsum(1 / np.arange(k, 0, -1))[::-1], 0.0) / k
    return np.sum(looked_up(drawn, [gain[np.maximum(table, rank)] for rank in range(k)]), axis=0)


# Values of every label, shape (..., item, label), of hard labels and scores. Against one true label a metric takes its
# value, against plausibilities their mean.

Table = Callable[[Given], Floats]
Value = Callable[[Drawn, Given], Floats]


def hits(given: Given) -> Floats:
    """1 where the model gives the label."""
    return (given.hard[..., None] == np.arange(given.categories.size)).astype(float)


def log_losses(given: Given) -> Floats:
    """Minus the log probability of each label."""
    return -np.log(np.clip(given.scores, SMALLEST, 1 - SMALLEST))


def brier_losses(given: Given) -> Floats:
    """Squared distance of the probabilities from each label; half of it for two labels, as in scikit-learn."""
    distance = (given.scores**2).sum(axis=-1, keepdims=True) - 2 * given.scores + 1
    return distance / 2 if given.categories.size == 2 else distance


def distances(given: Given) -> Floats:
    """Steps from the model's label to each label; no label counts as the farthest one."""
    at = np.arange(given.categories.size)
    hard = given.hard[..., None]
    return np.where(hard < 0, np.maximum(at, at[::-1]), np.abs(hard - at)).astype(float)


def near(given: Given) -> Floats:
    """1 where the model's label is the label or next to it."""
    return (distances(given) <= 1).astype(float)


def of_true_label(table: Table) -> Value:
    """Return the value of the true label."""
    return lambda drawn, given: table(given).take(drawn.cells[0], mode="clip")


def expected(table: Table) -> Value:
    """Return the mean of the values by the plausibilities."""
    return lambda drawn, given: np.stack(
        [shares @ values for shares, values in zip(drawn.shares, table(given))]
    )


def positions(drawn: Drawn, given: Given) -> Pair:
    """Return the true and the given place on the scale from its middle; no label counts as the farthest one."""
    end = (given.categories.size - 1) / 2
    truth, hard = drawn.label - end, given.hard[:, None]
    return truth, np.where(hard < 0, np.where(truth > 0, -end, end), hard - end)


# Distributions, item by item: probabilities p (label,), plausibilities q (sample, label).


def of_shares(term: Callable[[Floats, Floats], Floats]) -> Value:
    """Compare the distributions of every item."""
    return lambda drawn, given: np.stack([term(p, q) for p, q in zip(given.scores, drawn.shares)])


def jensen_shannon(p: Floats, q: Floats) -> Floats:
    """Entropy of the middle beyond the mean of both entropies, in bits."""
    of_middle, of_p, of_q = (sp.special.entr(of).sum(axis=-1) for of in ((p + q) / 2, p, q))
    return np.maximum(of_middle - (of_p + of_q) / 2, 0.0) / np.log(2)


def total_variation(p: Floats, q: Floats) -> Floats:
    """Half of the sum of absolute differences."""
    return np.abs(p - q).sum(axis=1) / 2


def soft_brier(p: Floats, q: Floats) -> Floats:
    """Squared distance."""
    return ((p - q) ** 2).sum(axis=1)


# Numbers: drawn ones, such as the mean rating of an item, and predicted ones or their distributions.


def difference(drawn: Drawn, given: Given) -> Floats:
    """Prediction less truth."""
    return given.points[:, None] - drawn.number


def distance(drawn: Drawn, given: Given) -> Floats:
    """Distance of prediction and truth."""
    return np.abs(difference(drawn, given))


def centred(drawn: Drawn, given: Given) -> Pair:
    """Truth and prediction about the mean prediction of the model: moments about 0 would lose digits far from it."""
    return drawn.number - given.centre, given.points[:, None] - given.centre


def covered(drawn: Drawn, given: Given, percent: float) -> Booleans:
    """Whether the truth is inside the central interval of the model."""
    tail = (1 - percent / 100) / 2
    at = np.interp([tail, 1 - tail], given.levels, np.arange(given.levels.size))
    below = np.minimum(at.astype(int), given.levels.size - 2)
    ends = given.numbers[:, below] * (1 - at + below) + given.numbers[:, below + 1] * (at - below)
    return (drawn.number >= ends[:, :1]) & (drawn.number <= ends[:, 1:])


def crps(numbers: Floats, levels: Floats, truth: Floats) -> Floats:
    """CRPS of quantiles (item, level) against drawn numbers (item, sample): twice the mean pinball loss.

    Of samples, whose levels are (j - 1/2) / n, it is the CRPS of their empirical distribution exactly.

    Examples
    --------
    >>> crps(np.array([[0.0, 1.0]]), np.array([0.25, 0.75]), np.array([[0.5, 2.0]])).tolist()
    [[0.25, 1.25]]
    """
    # The pinball loss is level (x - q), and q - x above the truth x.
    width, out = level_widths(levels), np.empty(truth.shape)
    for i, (quantiles, x) in enumerate(zip(numbers, truth)):
        k = np.searchsorted(quantiles, x)
        above, above_q = (np.append(np.cumsum(of[::-1])[::-1], 0.0)[k] for of in (width, width * quantiles))
        out[i] = (width * levels).sum() * x - width * levels @ quantiles + above_q - above * x
    return 2 * out


# Scores of sums over items: a function adds up a block, plainly (`weights` None) or with weights (item, sample).


def weighted_sum(values: Array, weights: Floats | None) -> Floats:
    """Sum values (item, sample) over the items."""
    if weights is not None:
        return np.einsum("is,is->s", values, weights)
    return values.sum(axis=0, dtype=np.int32 if values.dtype == bool else None)


def by_group(group: Array, rows: Array, n: int) -> Floats:
    """Sum rows (item, sample) over the items of each of n groups, -1 for none."""
    out = np.zeros((n, rows.shape[1]))
    for g, row in zip(group.tolist(), rows):
        if g >= 0:
            out[g] += row
    return out


def squared(drawn: Drawn, given: Given, weights: Floats | None, n: int) -> Floats:
    """Sum squared distances of numbers."""
    return weighted_sum(difference(drawn, given) ** 2, weights)[None]


@cache
def moments(pair: Callable[[Drawn, Given], Pair]) -> Callable[..., Floats]:
    """Sum two values of every item, their squares and their product: one function of a pair, which metrics share."""

    def add(drawn: Drawn, given: Given, weights: Floats | None, n: int) -> Floats:
        x, y = np.broadcast_arrays(*pair(drawn, given))
        return np.stack([weighted_sum(values, weights) for values in (x, y, x * x, y * y, x * y)])

    return add


def confusion(drawn: Drawn, given: Given, weights: Floats | None, n: int) -> Floats:
    """Count, for each label, the items that have it and are given it, have it, and are given it."""
    each = np.ones(drawn.label.shape) if weights is None else weights
    if (true := drawn.of_label.get(id(weights))) is None:
        true = drawn.of_label[id(weights)] = np.zeros((drawn.n_labels, each.shape[1]))
        for place, weight in zip(drawn.label, each):
            true[place, np.arange(weight.size)] += weight
    hit, had = (by_group(given.hard, of, drawn.n_labels) for of in (right(drawn, given) * each, each))
    return np.concatenate([hit, true, had])


def calibration_gaps(drawn: Drawn, given: Given, weights: Floats | None, n: int) -> Floats:
    """Sum right less confidence in n bins of confidence of equal width, closed on the right."""
    confidence = given.scores.max(axis=-1)
    gap = right(drawn, given) - confidence[:, None]
    bins = np.clip(np.ceil(confidence * n).astype(np.int32) - 1, 0, n - 1)
    return by_group(bins, gap if weights is None else gap * weights, n)


def correlation(means: Floats) -> Floats:
    """Pearson correlation from the means of x, y, x^2, y^2 and xy on the first axis; NaN where one is constant."""
    x, y, xx, yy, xy = means
    of_x, of_y = xx - x * x, yy - y * y
    # Variances come as differences of moments, right to about 1e-15 of them.
    varies = (of_x > 1e-14 * np.maximum(xx, 1e-300)) & (of_y > 1e-14 * np.maximum(yy, 1e-300))
    return np.where(varies, (xy - x * y) / np.sqrt(np.where(varies, of_x * of_y, 1.0)), np.nan)


def concordance(means: Floats) -> Floats:
    """Lin's coefficient from the same means, NaN if both are constant.

    Of places on a scale it is kappa with squared distances as weights.
    """
    x, y, xx, yy, xy = means
    spread = (xx - x * x) + (yy - y * y) + (x - y) ** 2
    return ratio(2 * (xy - x * y), spread, 1e-14 * (xx + yy))
