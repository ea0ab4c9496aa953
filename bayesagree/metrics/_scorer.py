"""Scores of several models and metrics on the same draws, block of items by block."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree.errors import InputError, positive_int
from bayesagree.metrics._rank_kernels import BlockScores, score_block
from bayesagree.metrics.registry import METRICS, RankMetric
from bayesagree.plausibility._draws.blocks import DrawBlock, label_dtype
from bayesagree.plausibility._draws.top_labels import Truth, TruthDraws, truth_draws
from bayesagree.predictions import Predictions


class Scorer:
    """Scores of blocks of draws.

    Parameters
    ----------
    predictions
        Predictions, aligned with the items and labels of the draws.
    metrics
        What to compute.
    """

    def __init__(self, predictions: Predictions, metrics: Sequence[RankMetric]) -> None:
        n_labels = predictions.categories.size
        deepest = max(metrics, key=lambda m: m.k)
        if deepest.k > n_labels:
            raise InputError(f"{deepest.name} looks at {deepest.k} labels, but there are {n_labels}")
        self.n_metrics = len(metrics)
        self.depth = max(m.depth for m in metrics)
        self.predicted = predictions.top_labels(deepest.k)
        self._n_labels = n_labels
        self._kinds = np.array([m.record.kernel for m in metrics])
        self._ks = np.array([m.k for m in metrics])
        self._worst = np.array([m.record.largest_distance(m.k, n_labels) for m in metrics])

    def score(self, block: DrawBlock, weights: NDArray[np.float64] | None = None) -> BlockScores:
        """Sum the metrics over a block, plainly and, where there are `weights`, with those of each (item, draw)."""
        given = np.empty((0, 0)) if weights is None else weights
        predicted = self.predicted[:, block.items]
        return BlockScores(
            *score_block(block.top_label, predicted, self._kinds, self._ks, self._worst, self._n_labels, given)
        )


def prepare(
    metric: RankMetric, truth: Truth, predictions: Predictions, threshold: float | None
) -> tuple[TruthDraws, Scorer]:
    """Return the draws of a truth and the function that scores them."""
    draws = truth_draws(truth, metric.depth, threshold=threshold)
    return draws, Scorer(predictions.aligned(draws.items, draws.labels), [metric])


def over_draws(
    pattern: str,
    truth: Truth,
    predictions: Predictions,
    k: int,
    threshold: float | None,
    weight: NDArray[np.float64] | None = None,
) -> xr.DataArray:
    """Return a metric of every draw: its mean over the items, or its mean with a weight of each item.

    Where one label is the truth, the labels that tie on top of a point estimate share the item.
    """
    metric = RankMetric(METRICS[pattern], positive_int(k, "k"))
    draws, scorer = prepare(metric, truth, predictions, threshold)
    if weight is None and metric.record.one_true_label and isinstance(truth, xr.DataArray):
        return per_draw(_shared_by_ties(scorer, truth)[:, None], draws, predictions, metric.name)
    total = np.zeros((predictions.models.size, draws.chains * draws.draws))
    for block in draws.blocks:
        if weight is None:
            total += scorer.score(block).total[0]
        else:
            weights = np.repeat(weight[block.items, None], block.top_label.shape[1], axis=1)
            total += scorer.score(block, weights).weighted[0]
    whole = draws.items.size if weight is None else weight.sum()
    return per_draw(total / whole, draws, predictions, metric.name)


def _shared_by_ties(scorer: Scorer, estimate: xr.DataArray) -> NDArray[np.float64]:
    """Return the mean over items of the metric's mean over the labels that tie on top, shape (model,)."""
    values = estimate.transpose("item", "category").values
    on_top = values == values.max(axis=1, keepdims=True)
    n_items, n_labels = on_top.shape
    every = np.tile(np.arange(n_labels, dtype=label_dtype(n_labels)), (n_items, 1))[:, :, None]
    share = on_top / on_top.sum(axis=1, keepdims=True)
    return scorer.score(DrawBlock(slice(0, n_items), every), share).weighted[0].sum(axis=1) / n_items


def per_draw(value: NDArray[np.float64], draws: TruthDraws, predictions: Predictions, name: str) -> xr.DataArray:
    """Return values of shape (model, sample) with dims (chain, draw, model)."""
    shaped = value.T.reshape(draws.chains, draws.draws, -1)
    coords = {"chain": np.arange(draws.chains), "draw": np.arange(draws.draws), "model": predictions.models}
    return xr.DataArray(shaped, dims=("chain", "draw", "model"), coords=coords, name=name)


def mass_of_best(probability: NDArray[np.float64], predictions: Predictions, k: int) -> NDArray[np.float64]:
    """Return the mean over items of the probability (item, category) of a model's k best labels, shape (model,)."""
    top = predictions.top_labels(positive_int(k, "k"))
    hit = np.take_along_axis(probability[None], np.maximum(top, 0).astype(np.int64), axis=2)
    return np.where(top >= 0, hit, 0.0).sum(axis=2).mean(axis=1)
