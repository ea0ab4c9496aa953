"""Scores of several models and metrics on the same draws, block of items by block."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.blocks import DrawBlock, label_dtype
from bayesagree.draws.top_labels import Truth, TruthDraws, truth_draws
from bayesagree.errors import positive_int
from bayesagree.metrics._parts import PARTS, Part
from bayesagree.metrics._rank_kernels import BlockScores
from bayesagree.metrics.registry import METRICS, Metric


class Scorer:
    """Scores of blocks of draws.

    Parameters
    ----------
    predictions
        Predictions, aligned with the items and labels of the draws.
    metrics
        What to compute.

    Attributes
    ----------
    depth, needs_plausibility
        How many best labels of each draw count, and whether all plausibilities do.
    n_components
        Numbers that are summed over items: one for a mean, several for a score of sums.
    n_models, n_labels
        Number of models, and of labels.
    """

    def __init__(self, predictions: Predictions, metrics: Sequence[Metric]) -> None:
        self.metrics = tuple(metrics)
        self.n_metrics = len(metrics)
        self.n_models, self.n_labels = predictions.models.size, predictions.categories.size
        self.depth = max(m.depth for m in metrics)
        self.needs_plausibility = any(m.record.against_distribution for m in metrics)
        self._places: list[list[int]] = []
        self._parts: list[Part] = []
        for family, kind in PARTS.items():
            if chosen := [c for c, m in enumerate(metrics) if m.record.family == family]:
                self._places.append(chosen)
                self._parts.append(kind(predictions, [metrics[c] for c in chosen]))
        self._ends = np.cumsum([0, *(part.n_components for part in self._parts)])
        self.n_components = int(self._ends[-1])

    def score(self, block: DrawBlock, weights: NDArray[np.float64] | None = None) -> BlockScores:
        """Sum the components over a block, plainly and, where there are `weights`, with those of each (item, draw)."""
        parts = [part.score(block, weights) for part in self._parts]
        if len(parts) == 1:
            return parts[0]
        if not parts:  # every metric needs all items at once
            n_items, n_samples, _ = block.top_label.shape
            return BlockScores(
                *(np.zeros((0, self.n_models, *end)) for end in ((n_samples,), (n_samples,), (), (n_items,)))
            )
        return BlockScores(*(np.concatenate(arrays) for arrays in zip(*parts)))

    def sums(self, block: DrawBlock, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the sums of a block, plain or with weights, shape (component, model, sample)."""
        return np.concatenate([part.sums(block, weights) for part in self._parts])

    def finish(self, sums: NDArray[np.float64], total: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Return the scores (metric, model, sample) of the sums of all items and their total weight."""
        out = np.full((self.n_metrics, *sums.shape[1:]), np.nan)
        whole = np.asarray(total, np.float64)
        for places, part, start, stop in zip(self._places, self._parts, self._ends, self._ends[1:]):
            out[places] = part.finish(sums[start:stop], whole)
        return out

    def of_metrics(self, components: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the entries of each metric in an array (component, ...); NaN for metrics that are no means."""
        out = np.full((self.n_metrics, *components.shape[1:]), np.nan)
        for c in range(self.n_metrics):
            if (at := self._component(c)) is not None:
                out[c] = components[at]
        return out

    def _component(self, metric: int) -> int | None:
        for places, part, start in zip(self._places, self._parts, self._ends):
            if metric in places:
                at = part.component_of(places.index(metric))
                return None if at is None else int(start) + at
        return None


def prepare(
    metric: Metric, truth: Truth, predictions: Predictions, threshold: float | None
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
    metric = Metric(METRICS[pattern], positive_int(k, "k"))
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
