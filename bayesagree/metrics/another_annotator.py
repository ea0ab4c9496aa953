"""The score of another annotator, beside those of the models: how good anybody can be against an uncertain truth.

In each draw the other annotator's label of an item is drawn from the plausibilities of that draw. A label stands for
the model that always gives it, so that every metric of models is one of annotators too: the sums of these models, each
on the draws in which the annotator gives its label. `BlockScoring` sums a block of draws of the truth with this line
beside the models, slice by slice, plain and weighted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats, Places
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.inference.blocks import DrawBlock
from bayesagree.inference.item_weights import ItemGroups, ItemWeights
from bayesagree.inference.streams import BLOCK, Seed, stream_apart
from bayesagree.metrics._scorer import BlockSums, Scorer, picked_labels, sampled_block
from bayesagree.metrics.records import Whole
from bayesagree.metrics.registry import Metric

# Name of the line among the models.
ANOTHER_ANNOTATOR = "another annotator"


class AnotherAnnotator:
    """Scores of one more annotator in every draw.

    Parameters
    ----------
    metrics
        What to compute.
    categories
        Names of the labels.
    random_seed
        Same seed, same labels.
    """

    def __init__(self, metrics: Sequence[Metric], categories: NDArray[Any], random_seed: Seed) -> None:
        for metric in metrics:
            if not has_one_label(metric):
                raise InputError(
                    f"{metric.name} does not exist for another annotator, who gives one label: the metric "
                    "needs a whole order of labels or items"
                )
        self._root = stream_apart(random_seed, "another annotator")
        self.scorers = [Scorer(always(label, categories, BLOCK), metrics) for label in range(categories.size)]

    def labels(self, block: DrawBlock) -> NDArray[Any]:
        """Draw the annotator's labels of a block, shape (item, sample)."""
        return picked_labels(block, self._root)

    def sums(self, block: DrawBlock, labels: NDArray[Any], weights: Floats | None = None) -> Floats:
        """Return the sums of a block, plain or with weights, shape (component, 1, sample)."""
        total = np.zeros((self.scorers[0].n_components, 1, labels.shape[1]))
        for label in np.unique(labels):
            own = labels == label
            inside = np.flatnonzero(own.any(axis=1))
            rows = own[inside].astype(np.float64)
            if weights is not None:
                rows *= weights[inside]
            part = block.some(inside)._replace(items=slice(0, inside.size))
            total += self.scorers[int(label)].sums(part, rows)
        return total


def has_one_label(metric: Metric) -> bool:
    """Whether a single label has a value of a metric."""
    return metric.k == 1 and metric.record.needs != "numbers" and not isinstance(metric.record.kind, Whole)


def always(label: int, categories: NDArray[Any], n_items: int) -> Predictions:
    """Return the model that gives one label to all items."""
    scores = np.zeros((1, n_items, categories.size))
    scores[..., label] = 1.0
    return Predictions(np.array([ANOTHER_ANNOTATOR]), np.arange(n_items), categories, scores, None)


@dataclass(frozen=True, eq=False)
class BlockScoring:
    """How a block of draws is scored."""

    # Models and metrics.
    scorer: Scorer
    # Groups of items that are summed apart.
    slices: ItemGroups | None = None
    # Bootstrap of the items.
    weights: ItemWeights | None = None
    # Stream of the sampled truths, where the truth is one.
    sampled: np.random.SeedSequence | None = None
    # The line "another annotator", the last model of the sums.
    annotator: AnotherAnnotator | None = None
    # Whether the true labels leave the block.
    keep_labels: bool = False

    def __call__(self, block: DrawBlock) -> BlockSums:
        """Sum a block."""
        if self.sampled is not None:
            block = sampled_block(block, self.sampled)
        rows = None if self.weights is None else self.weights.rows(block.items)
        drawn = None if self.annotator is None else self.annotator.labels(block)
        groups, sums, sizes, weights = [], [], [], []
        squares: Any = 0.0
        for group, inside in self._inside(block.items):
            part = block.some(inside)
            some = [None] if rows is None else [None, np.ascontiguousarray(rows[inside])]
            found, square = self.scorer.score(part, some)
            if self.annotator is not None and drawn is not None:
                line = np.stack([self.annotator.sums(part, drawn[inside], weight) for weight in some])
                found = np.concatenate([found, line], axis=2)
                square = np.pad(square, ((0, 0), (0, 1)), constant_values=np.nan)
            groups.append(group)
            sums.append(found)
            sizes.append(float(inside.size))
            weights.append(np.empty(0) if some[-1] is None else some[-1].sum(axis=0))
            squares = squares + square
        total, *weighted = np.stack(sums, axis=1)
        labels = block.truth if self.keep_labels else np.empty((len(block.top_label), 0), block.top_label.dtype)
        bootstrap = weighted[0] if weighted else np.empty(0)
        return BlockSums(np.array(groups), total, bootstrap, np.array(sizes), np.stack(weights), squares, labels)

    def _inside(self, items: slice) -> list[tuple[int, Places]]:
        """Return the slices of a block of items, and which of its items are in each."""
        if self.slices is None:
            return [(0, np.arange(items.stop - items.start))]
        code = self.slices.code[items]
        return [(int(g), np.flatnonzero(code == g)) for g in np.unique(code)]
