"""Families of metrics: what each sums over the items of a block, and how its scores follow from the sums.

A part is made for the models and the metrics of one family. `add` turns a block of draws into sums over its items,
which add up over blocks, groups of items and workers; `finish` turns the sums of all items into one score per metric,
model and draw.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.blocks import DrawBlock
from bayesagree.errors import InputError, as_python, shorten
from bayesagree.metrics._label_kernels import TOP, add_confusion, score_block
from bayesagree.metrics.distributions import Shares
from bayesagree.metrics.hard_labels import Counts
from bayesagree.metrics.records import correlation

if TYPE_CHECKING:
    from bayesagree.metrics.registry import Metric


class BlockScores(NamedTuple):
    """Sums of metric values over a block of items."""

    # total, weighted: over items, plain and with the weight of each (item, draw), shape (metric, model, sample).
    total: Floats
    weighted: Floats
    # Squares over items and draws, shape (metric, model).
    square: Floats
    # Over draws, shape (metric, model, item).
    item: Floats


class Moments(NamedTuple):
    """Squares over items and draws (component, model), and sums over draws (component, model, item)."""

    square: Floats
    item: Floats


NO_WEIGHTS, NO_MOMENTS = np.empty((0, 0)), Moments(np.empty((0, 0)), np.empty((0, 0, 0)))


class Given(NamedTuple):
    """Predictions as the kernels read them."""

    # Predicted label, -1 for none, shape (model, item).
    hard: NDArray[np.int32]
    # Score of every label, shape (model, item, label); no labels for hard predictions.
    scores: Floats
    # Names of the labels.
    categories: NDArray[Any]
    # Predicted numbers, shape (model, item); no items for labels.
    points: Floats

    @classmethod
    def of(cls, predictions: Predictions) -> "Given":
        """Read predictions."""
        if predictions.numbers is not None:
            points = predictions.points()
            nothing = np.full(points.shape, -1, np.int32)
            return cls(nothing, np.zeros((*points.shape, 0)), predictions.categories, points)
        hard = np.ascontiguousarray(predictions.hard_labels(), np.int32)
        scores = np.zeros((*hard.shape, 0)) if predictions.scores is None else predictions.scores
        return cls(hard, np.ascontiguousarray(scores, np.float64), predictions.categories, np.zeros((len(hard), 0)))


class Family:
    """One family of metrics for some models."""

    def __init__(self, predictions: Predictions, metrics: Sequence["Metric"]) -> None:
        check_needs(predictions, metrics)
        self.metrics = metrics
        self.given = Given.of(predictions)
        self.n_labels = predictions.categories.size


class Part(Family, ABC):
    """Metrics that follow from sums over blocks of items."""

    n_components: int

    @abstractmethod
    def add(self, block: DrawBlock, weights: Floats, total: Floats, moments: Moments) -> None:
        """Add a block to `total` (component, model, sample), plainly or with the weight of each (item, sample).

        `weights` and `moments` may be empty: each item then counts once, and no moments are added. Moments are always
        plain, and exist for components that are means over items.
        """

    def finish(self, sums: Floats, total: Floats) -> Floats:
        """Return the scores (metric, model, sample) of sums (component, model, sample) and the weight of all items.

        As it stands a metric is the mean of its component over items.
        """
        return sums / total

    def component_of(self, metric: int) -> int | None:
        """Return which component a metric is the mean of; None where it is no mean over items."""
        return metric

    def sums(self, block: DrawBlock, weights: Floats | None = None, moments: Moments = NO_MOMENTS) -> Floats:
        """Return the sums of a block, plain or with weights, shape (component, model, sample)."""
        total = np.zeros((self.n_components, self.given.hard.shape[0], block.top_label.shape[1]))
        self.add(block, NO_WEIGHTS if weights is None else weights, total, moments)
        return total

    def score(self, block: DrawBlock, weights: Floats | None) -> BlockScores:
        """Sum a block, plainly and with weights where there are some."""
        shape = (self.n_components, self.given.hard.shape[0])
        moments = Moments(np.zeros(shape), np.zeros((*shape, len(block.top_label))))
        plain = self.sums(block, None, moments)
        return BlockScores(plain, np.zeros_like(plain) if weights is None else self.sums(block, weights), *moments)


class RankPart(Part):
    """Lists of best labels."""

    def __init__(self, predictions: Predictions, metrics: Sequence["Metric"]) -> None:
        super().__init__(predictions, metrics)
        deepest = max(metrics, key=lambda m: m.k)
        if deepest.k > self.n_labels:
            raise InputError(f"{deepest.name} looks at {deepest.k} labels, but there are {self.n_labels}")
        self.n_components = len(metrics)
        self.predicted = predictions.top_labels(deepest.k)
        self._kinds = np.array([m.record.kernel for m in metrics])
        self._ks = np.array([m.k for m in metrics])
        self._hits = sorted((m.k, c) for c, m in enumerate(metrics) if m.record.kernel == TOP)
        self._worst = np.array([m.record.largest_distance(m.k, self.n_labels) for m in metrics])

    def add(self, block: DrawBlock, weights: Floats, total: Floats, moments: Moments) -> None:
        """Compare the lists."""
        predicted = self.predicted[:, block.items]
        if self._hits:
            self._add_hits(block.true_label, predicted, weights, total, moments)
        if len(self._hits) < self.n_components:
            # One memory layout: the kernel is compiled once for all, not for each of six pairs of layouts.
            drawn, predicted = map(np.ascontiguousarray, (block.top_label, predicted))
            kernel = (self._kinds, self._ks, self._worst, self.n_labels)
            score_block(drawn, predicted, *kernel, weights, total, *moments)

    def _add_hits(
        self, true: NDArray[Any], predicted: NDArray[Any], weights: Floats, total: Floats, moments: Moments
    ) -> None:
        """Add whether the true label, shape (item, sample), is among the k best of each model."""
        for m, labels in enumerate(predicted):
            found, hit = 0, np.zeros((), bool)
            for k, c in self._hits:
                for rank in range(found, k):
                    hit = hit | (true == labels[:, rank, None].astype(true.dtype))
                found = k
                total[c, m] += np.einsum("is,is->s", hit, weights) if weights.size else hit.sum(axis=0, dtype=np.int32)
                if moments.item.size:
                    of_item = hit.sum(axis=1)
                    moments.item[c, m] += of_item
                    moments.square[c, m] += of_item.sum()


class LabelPart(Part):
    """Means over items of a value that each true label has, or a score of several such means."""

    def __init__(self, predictions: Predictions, metrics: Sequence["Metric"]) -> None:
        super().__init__(predictions, metrics)
        values = [m.record.kernel(self.given.hard, self.given.scores, self.n_labels) for m in metrics]
        values = [value.reshape(-1, *value.shape[-3:]) for value in values]
        self.values, self._ends = np.concatenate(values), np.cumsum([0, *map(len, values)])
        self.n_components = len(self.values)

    def add(self, block: DrawBlock, weights: Floats, total: Floats, moments: Moments) -> None:
        """Add the values of the true labels."""
        values = self.values[:, :, block.items]
        for i, drawn in enumerate(block.true_label):
            value = values[:, :, i][..., drawn]
            total += value * weights[i] if weights.size else value
            if moments.item.size:
                moments.item[:, :, i] += value.sum(axis=-1)
                moments.square[:] += (value**2).sum(axis=-1)

    def component_of(self, metric: int) -> int | None:
        """Return its only value, None for a score of several."""
        start, stop = self._ends[metric : metric + 2]
        return int(start) if stop == start + 1 else None

    def finish(self, sums: Floats, total: Floats) -> Floats:
        """Means over items, and scores of them."""
        means = [sums[start:stop] / total for start, stop in zip(self._ends, self._ends[1:])]
        return np.stack(
            [mean[0] if len(mean) == 1 else m.record.kernel.finish(mean) for m, mean in zip(self.metrics, means)]
        )


class ConfusionPart(Part):
    """Scores of confusion counts, all from one pass; of soft labels, the mass that they share."""

    def __init__(self, predictions: Predictions, metrics: Sequence["Metric"]) -> None:
        super().__init__(predictions, metrics)
        self.n_components = 3 * self.n_labels
        self._soft = metrics[0].record.family == "soft_counts"
        self._labels = [self._position(m) for m in metrics]

    def _position(self, metric: "Metric") -> int | None:
        """Return which label a metric takes as positive."""
        if metric.label is not None:
            names = [str(name) for name in self.given.categories.tolist()]
            if metric.label not in names:
                raise InputError(f"{metric.name}: the labels are {shorten(self.given.categories)}")
            return names.index(metric.label)
        if getattr(metric.record.kernel, "average", "") == "positive" and self.n_labels != 2:
            raise InputError(
                f"{metric.name} takes the last of two labels as positive, but there are {self.n_labels}; use "
                f"{metric.name}_macro, _micro, _weighted, or {metric.name}[label] for one of them"
            )
        return None

    def add(self, block: DrawBlock, weights: Floats, total: Floats, moments: Moments) -> None:
        """Add what each label has, is given, and both."""
        right, true, given = total.reshape(3, self.n_labels, *total.shape[1:])
        of_label = np.zeros((self.n_labels, true.shape[-1]))
        if self._soft:
            for i, truth in enumerate(np.asarray(block.plausibility)):
                weight = weights[i] if weights.size else np.ones(len(truth))
                of_label += (truth * weight[:, None]).T
                for m, p in enumerate(self.given.scores[:, block.items][:, i]):
                    right[:, m] += (np.minimum(p, truth) * weight[:, None]).T
                    given[:, m] += p[:, None] * weight
        else:
            hard = np.ascontiguousarray(self.given.hard[:, block.items])
            add_confusion(block.true_label, hard, weights, right, of_label, given)
        true += of_label[:, None]

    def component_of(self, metric: int) -> int | None:
        """None: scores of counts are no means over items."""
        return None

    def finish(self, sums: Floats, total: Floats) -> Floats:
        """Return every score of the counts."""
        right, true, given = sums.reshape(3, self.n_labels, *sums.shape[1:])
        counts = Counts(right, true, given, np.broadcast_to(total, right.shape[1:]))
        return np.stack([m.record.kernel(counts, m.number, label) for m, label in zip(self.metrics, self._labels)])


class CalibrationPart(Part):
    """Gaps between confidence and accuracy in bins of confidence."""

    def __init__(self, predictions: Predictions, metrics: Sequence["Metric"]) -> None:
        super().__init__(predictions, metrics)
        sizes = [int(m.number or 1) for m in metrics]
        self._ends = np.cumsum([0, *sizes])
        self.n_components = int(self._ends[-1])
        self._confidence = self.given.scores.max(axis=-1)
        self._bins = [confidence_bins(self._confidence, n) for n in sizes]

    def add(self, block: DrawBlock, weights: Floats, total: Floats, moments: Moments) -> None:
        """Add right minus confidence to the bins."""
        for m, (hard, confidence) in enumerate(zip(self.given.hard[:, block.items], self._confidence[:, block.items])):
            gap = (block.true_label == hard[:, None]) - confidence[:, None]
            gap = gap * weights if weights.size else gap
            for start, bins in zip(self._ends, self._bins):
                np.add.at(total[:, m], start + bins[m, block.items], gap)

    def component_of(self, metric: int) -> int | None:
        """None: the error is no mean over items."""
        return None

    def finish(self, sums: Floats, total: Floats) -> Floats:
        """Sum the absolute gaps."""
        gaps = np.abs(sums) / total
        return np.stack([gaps[start:stop].sum(axis=0) for start, stop in zip(self._ends, self._ends[1:])])


class DistributionPart(Part):
    """Means over items of a comparison of two distributions, and correlations over items."""

    def __init__(self, predictions: Predictions, metrics: Sequence["Metric"]) -> None:
        super().__init__(predictions, metrics)
        self._ends = np.cumsum([0, *(len(m.record.kernel) for m in metrics)])
        self.n_components = int(self._ends[-1])
        self._terms = [term for m in metrics for term in m.record.kernel]
        scores = self.given.scores
        # Of hard labels there is one, and the only metric is the agreement with them.
        self._order = np.argsort(-scores, axis=-1, kind="stable") if scores.shape[-1] else self.given.hard[:, :, None]

    def add(self, block: DrawBlock, weights: Floats, total: Floats, moments: Moments) -> None:
        """Add the terms of every metric."""
        scores, order = self.given.scores[:, block.items], self._order[:, block.items]
        for i, truth in enumerate(np.asarray(block.plausibility)):
            entropy = sp.special.entr(truth).sum(axis=1)
            for m in range(len(order)):
                item = Shares(scores[m, i], order[m, i], truth, entropy)
                for c, term in enumerate(self._terms):
                    value = term(item)
                    total[c, m] += value * weights[i] if weights.size else value
                    if moments.item.size:
                        moments.item[c, m, i] += value.sum()
                        moments.square[c, m] += value @ value

    def component_of(self, metric: int) -> int | None:
        """Return its only term, None for a correlation."""
        return int(self._ends[metric]) if len(self.metrics[metric].record.kernel) == 1 else None

    def finish(self, sums: Floats, total: Floats) -> Floats:
        """Means over items, or the correlation of them."""
        means = [sums[start:stop] / total for start, stop in zip(self._ends, self._ends[1:])]
        return np.stack([mean[0] if len(mean) == 1 else correlation(mean) for mean in means])


def confidence_bins(confidence: Floats, n: int) -> NDArray[np.int32]:
    """Return the bin of each confidence: n of equal width, closed on the right."""
    return np.clip(np.ceil(confidence * n).astype(np.int32) - 1, 0, n - 1)


def check_order(metrics: Sequence["Metric"], has_order: bool, n_labels: int) -> None:
    """Refuse metrics that use the order of labels which have none; two labels are in order either way."""
    wrong = [metric.name for metric in metrics if metric.record.ordered]
    if wrong and not has_order and n_labels > 2:
        raise InputError(
            f"{wrong[0]} uses the order of the labels, and these have none; read them with ordered=True and "
            "labels=[...], lowest first, or leave the metric out"
        )


def check_needs(predictions: Predictions, metrics: Sequence["Metric"]) -> None:
    """Refuse metrics of scores or probabilities that the predictions lack."""
    for metric in metrics:
        needs = metric.record.needs
        if (needs == "numbers") != (predictions.numbers is not None) and metric.record.family != "function":
            has = "labels" if predictions.numbers is None else "numbers"
            wants = (
                "numbers (Predictions.from_numbers)" if has == "labels" else 'labels; numbers have "mae" and its kin'
            )
            raise InputError(f"{metric.name} needs {wants}, but these predictions are {has}")
        if needs == "numbers":
            continue
        if needs == "labels" or (metric.depth == metric.k == 1 and metric.record.family == "rank"):
            continue
        if predictions.scores is None:
            raise InputError(
                f"{metric.name} needs {needs}, but these predictions are one hard label per item; "
                "use Predictions.from_scores"
            )
        if needs == "probabilities":
            _check_probabilities(predictions, metric)


def _check_probabilities(predictions: Predictions, metric: "Metric") -> None:
    scores = np.asarray(predictions.scores)
    off = np.argwhere((np.abs(scores.sum(axis=-1) - 1) > 1e-3) | (scores.min(axis=-1) < 0))
    if off.size:
        m, i = off[0]
        raise InputError(
            f"{metric.name} needs probabilities, but the scores of model {as_python(predictions.models[m])!r} for item "
            f"{as_python(predictions.items[i])!r} sum to {scores[m, i].sum():g} or are negative "
            f"({len(off)} such rows in all); normalise them, for example by scipy.special.softmax"
        )
