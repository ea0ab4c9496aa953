"""Scores of models, block of items by block: the reduction of a block of draws, and the sums over all blocks."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.inference.blocks import DrawBlock, label_dtype
from bayesagree.inference.results import check_size
from bayesagree.metrics._scorer import BlockSums, Scorer
from bayesagree.metrics.another_annotator import BlockScoring


class ScoredBlock(NamedTuple):
    """Reduction of a block of draws: sums over its items, and of each one `labels` (item, category) and `r_hat` (item).

    `labels` are the shares of draws in which each label is the best.
    """

    items: slice
    sums: BlockSums
    labels: Floats
    r_hat: Floats


def scored(scoring: BlockScoring, block: DrawBlock) -> ScoredBlock:
    """Score a block of draws, where it was drawn."""
    n_items, n_samples, depth = block.top_label.shape
    n_labels = scoring.scorer.n_labels or 2  # of predicted numbers the sides of a threshold
    labels = np.full((n_items, 1), np.nan)
    if depth > 0:  # numbers without a threshold have no labels
        cell = np.arange(n_items)[:, None] * n_labels + block.top_label[:, :, 0]
        labels = np.bincount(cell.ravel(), minlength=n_items * n_labels).reshape(n_items, -1) / n_samples
    r_hat = np.full(n_items, np.nan) if block.diagnostics is None else block.diagnostics[:, 0]
    return ScoredBlock(block.items, scoring(block), labels, r_hat)


@dataclass
class ScoreSums:
    """Sums over the items done so far; the first dim of each is reliability.

    `total`, `weighted` (.., slice, component, model, sample), `size` (.., slice), `weight` (.., slice, sample),
    `square` (.., component, model), `labels` (.., item, sample), `certainty` and `r_hat` (.., item). `label_certainty`
    (item, category) is that of the first pass, where it is kept.
    """

    total: Floats
    square: Floats
    certainty: Floats
    label_certainty: Floats
    r_hat: Floats
    weighted: Floats
    size: Floats
    weight: Floats
    labels: NDArray[Any]

    @classmethod
    def start(
        cls,
        scoring: BlockScoring,
        n_levels: int,
        n_samples: int,
        n_items: int,
        *,
        keep_certainty: bool = False,
    ) -> Self:
        """Return sums over nothing."""
        scorer, n_slices = scoring.scorer, 1 if scoring.slices is None else scoring.slices.names.size
        models = scorer.n_models + (scoring.annotator is not None)
        shape = (n_levels, n_slices, scorer.n_components, models, n_samples)
        weighted = np.zeros(shape if scoring.weights is not None else (n_levels, 0))
        certainty, r_hat = np.full((2, n_levels, n_items), np.nan)
        by_label = np.full((n_items, scorer.n_labels if keep_certainty else 0), np.nan)
        labels = np.zeros((n_levels, n_items, 0), np.float32 if scorer.numeric else label_dtype(scorer.n_labels))
        if scoring.keep_labels:
            kept = {"reliability": n_levels, "item": n_items, "sample": n_samples}
            check_size(kept, labels.itemsize, "metrics of all items at once need every draw: use fewer")
            labels = np.zeros(tuple(kept.values()), labels.dtype)
        weight, square = np.zeros((n_levels, n_slices, n_samples)), np.zeros((n_levels, *shape[2:4]))
        size = np.zeros((n_levels, n_slices))
        return cls(np.zeros(shape), square, certainty, by_label, r_hat, weighted, size, weight, labels)

    def add(self, level: int, block: ScoredBlock) -> None:
        """Add a block of items."""
        sums = block.sums
        self.total[level, sums.groups] += sums.total
        self.size[level, sums.groups] += sums.size
        self.square[level] += sums.square
        self.certainty[level, block.items] = block.labels.max(axis=1)
        if level == 0 and self.label_certainty.size:
            self.label_certainty[block.items] = block.labels
        self.r_hat[level, block.items] = block.r_hat
        if sums.weight.size:
            self.weighted[level, sums.groups] += sums.weighted
            self.weight[level, sums.groups] += sums.weight
        if self.labels.shape[-1]:
            self.labels[level, block.items] = sums.labels

    def scores(self, scorer: Scorer, level: int, inside: NDArray[np.bool_], *, bootstrap: bool) -> Floats:
        """Return the scores in every draw of the items of some slices, shape (metric, model, sample)."""
        if bootstrap:
            return scorer.finish(self.weighted[level, inside].sum(axis=0), self.weight[level, inside].sum(axis=0))
        return scorer.finish(self.total[level, inside].sum(axis=0), self.size[level, inside].sum())

    def test_set_variance(self, scorer: Scorer, level: int) -> Floats:
        """Return the expected variance that a Bayesian bootstrap adds to a mean over items, shape (metric, model).

        Given a draw, flat Dirichlet weights have variance (mean of squares - square of mean) / (n + 1). NaN for metrics
        that are no means over items.
        """
        n_items, n_samples = self.certainty.shape[1], self.total.shape[-1]
        mean = self.total[level].sum(axis=0) / n_items
        mean_square = self.square[level] / (n_items * n_samples)
        found = (mean_square - (mean**2).mean(axis=-1)) / (n_items + 1)
        out, mean = np.full((scorer.means.size, found.shape[1]), np.nan), scorer.means >= 0
        out[mean] = found[scorer.means[mean]]
        return out
