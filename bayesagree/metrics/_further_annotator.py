"""The score of a further annotator, beside those of the models: how good anybody can be against an uncertain truth.

In each draw the further annotator's label of an item is drawn from the plausibilities of that draw. A label stands for
the model that always gives it, so that every metric of models is one of annotators too: the sums of these models, each
on the draws in which the annotator gives its label.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree._inference.streams import BLOCK, Seed, block_generator, stream_apart
from bayesagree._numerics.types import Floats
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.blocks import DrawBlock
from bayesagree.errors import InputError
from bayesagree.metrics._label_kernels import pick_labels
from bayesagree.metrics._scorer import Scorer
from bayesagree.metrics._whole_parts import WHOLE_PARTS
from bayesagree.metrics.registry import Metric

FURTHER_ANNOTATOR = "a further annotator"
"""Name of the line among the models."""


class FurtherAnnotator:
    """Scores of one more annotator in every draw.

    Parameters
    ----------
    metrics
        What to compute.
    categories
        Names of the labels.
    seed
        Same seed, same labels.
    """

    def __init__(self, metrics: Sequence[Metric], categories: NDArray[Any], seed: Seed) -> None:
        for metric in metrics:
            check_one_label(metric)
        self._root = stream_apart(seed, "a further annotator")
        self.scorers = [Scorer(_always(label, categories), metrics) for label in range(categories.size)]

    def labels(self, block: DrawBlock) -> NDArray[Any]:
        """Draw the annotator's labels of a block, shape (item, sample)."""
        out = np.empty(block.top_label.shape[:2], block.top_label.dtype)
        uniform = block_generator(self._root, block.items.start // BLOCK).random(out.shape)
        pick_labels(np.asarray(block.plausibility), uniform, out)
        return out

    def sums(self, block: DrawBlock, said: NDArray[Any], weights: Floats | None = None) -> Floats:
        """Return the sums of a block, plain or with weights, shape (component, 1, sample)."""
        total = np.zeros((self.scorers[0].n_components, 1, said.shape[1]))
        for label in np.unique(said):
            own = said == label
            inside = np.flatnonzero(own.any(axis=1))
            rows = own[inside].astype(np.float64)
            if weights is not None:
                rows *= weights[inside]
            part = block.some(inside)._replace(items=slice(0, inside.size))
            total += self.scorers[int(label)].sums(part, rows)
        return total


def has_one_label(metric: Metric) -> bool:
    """Whether a single label has a value of a metric."""
    return metric.record.family not in WHOLE_PARTS and (metric.record.family != "rank" or metric.k == 1)


def check_one_label(metric: Metric) -> None:
    """Refuse metrics that a single label has no value of."""
    if not has_one_label(metric):
        raise InputError(
            f"{metric.name} of a further annotator does not exist here: an annotator gives one label, and the metric "
            "asks for a whole order of labels or items"
        )


def _always(label: int, categories: NDArray[Any]) -> Predictions:
    """Return the model that gives one label to all items of a block."""
    scores = np.zeros((1, BLOCK, categories.size))
    scores[..., label] = 1.0
    return Predictions(np.array([FURTHER_ANNOTATOR]), np.arange(BLOCK), categories, scores, None)
