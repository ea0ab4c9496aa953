"""Scores of models, block of items by block: the reduction of a block of draws, and the sums over all blocks."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bayesagree._inference.streams import BLOCK, block_generator
from bayesagree.metrics._scorer import Scorer
from bayesagree.plausibility._draws.blocks import DrawBlock

type Floats = NDArray[np.float64]


class ScoredBlock(NamedTuple):
    """Reduction of a block of draws: sums over its items, and one number per item.

    `total` (metric, model, sample), `square` (metric, model), `certainty` and `r_hat` (item); with a bootstrap the
    weighted sums `weighted` (metric, model, sample) and the sums of the weights, `weight` (sample).
    """

    items: slice
    total: Floats
    square: Floats
    certainty: Floats
    r_hat: Floats
    weighted: Floats
    weight: Floats


def scored(scorer: Scorer, weights_seed: np.random.SeedSequence | None, block: DrawBlock) -> ScoredBlock:
    """Score a block of draws, where it was drawn."""
    n_items, n_samples, _ = block.top_label.shape
    weights = None
    if weights_seed is not None:
        stream = block_generator(weights_seed, block.items.start // BLOCK)
        weights = stream.standard_exponential((n_items, n_samples))
    scores = scorer.score(block, weights)
    certainty = np.array([np.bincount(top[:, 0]).max() / n_samples for top in block.top_label])
    r_hat = np.full(n_items, np.nan) if block.diagnostics is None else block.diagnostics[:, 0]
    if weights is None:
        return ScoredBlock(block.items, scores.total, scores.square, certainty, r_hat, np.zeros(0), np.zeros(0))
    return ScoredBlock(block.items, scores.total, scores.square, certainty, r_hat, scores.weighted, weights.sum(axis=0))


@dataclass
class ScoreSums:
    """Sums over the items done so far; the first dim of each is reliability, `done` counts blocks."""

    total: Floats
    square: Floats
    certainty: Floats
    r_hat: Floats
    weighted: Floats
    weight: Floats
    done: NDArray[np.int64]

    @classmethod
    def start(
        cls, scorer: Scorer, n_levels: int, n_samples: int, n_items: int, state: Mapping[str, NDArray[Any]] | None
    ) -> Self:
        """Return sums over nothing, or those of a `state` to go on from."""
        if state is not None:
            return cls(**state)
        shape = (n_levels, scorer.n_metrics, scorer.n_models)
        sums = np.zeros((*shape, n_samples)), np.zeros(shape)
        per_item = np.full((n_levels, n_items), np.nan), np.full((n_levels, n_items), np.nan)
        weighted = np.zeros((*shape, n_samples)), np.zeros((n_levels, n_samples))
        return cls(*sums, *per_item, *weighted, np.zeros(n_levels, np.int64))

    def add(self, level: int, block: ScoredBlock) -> None:
        """Add a block of items."""
        self.total[level] += block.total
        self.square[level] += block.square
        self.certainty[level, block.items] = block.certainty
        self.r_hat[level, block.items] = block.r_hat
        if block.weight.size:
            self.weighted[level] += block.weighted
            self.weight[level] += block.weight
        self.done[level] += 1

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def scores(self, *, bootstrap: bool) -> Floats:
        """Return the mean over items in every draw, shape (reliability, metric, model, sample)."""
        return self.weighted / self.weight[:, None, None] if bootstrap else self.total / self.certainty.shape[1]

    def variance_parts(self) -> Floats:
        """Split the variance of a Bayesian bootstrap over items by the law of total variance.

        Given a draw, flat Dirichlet weights have variance (mean of squares - square of mean) / (n + 1). Shape (part,
        reliability, metric, model).
        """
        n_items, n_samples = self.certainty.shape[1], self.total.shape[-1]
        mean, mean_square = self.total / n_items, self.square / (n_items * n_samples)
        annotation = mean.var(axis=-1)
        test_set = (mean_square - (mean**2).mean(axis=-1)) / (n_items + 1)
        return np.stack([annotation, test_set, annotation + test_set])
