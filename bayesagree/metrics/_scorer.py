"""Scores of several models and metrics on the same draws, block of items by block; which truth a draw stands for."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.streams import BLOCK, Seed, block_generator, stream_apart
from bayesagree._numerics.types import Floats, Places
from bayesagree.annotations.missing_predictions import Missing, scored_items
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.blocks import DrawBlock, label_dtype
from bayesagree.draws.top_labels import Truth, TruthDraws, number_draws, truth_draws
from bayesagree.errors import InputError, one_of, positive_int
from bayesagree.metrics._label_kernels import pick_labels
from bayesagree.metrics._parts import (
    BlockScores,
    CalibrationPart,
    ConfusionPart,
    DistributionPart,
    LabelPart,
    Part,
    RankPart,
)
from bayesagree.metrics._whole_parts import NumberPart
from bayesagree.metrics.registry import METRICS, Metric

type TruthIs = Literal["top", "sampled"]

# The class of every family whose scores follow from sums over items.
PARTS: dict[str, type[Part]] = {
    "rank": RankPart,
    "label": LabelPart,
    "confusion": ConfusionPart,
    "calibration": CalibrationPart,
    "distribution": DistributionPart,
    "soft_counts": ConfusionPart,
    "number": NumberPart,
}


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
    numeric
        Whether the models predict numbers.
    """

    def __init__(self, predictions: Predictions, metrics: Sequence[Metric]) -> None:
        self.metrics = tuple(metrics)
        self.n_metrics = len(metrics)
        self.n_models, self.n_labels = predictions.models.size, predictions.categories.size
        self.numeric = predictions.numbers is not None
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

    def score(self, block: DrawBlock, weights: Floats | None = None) -> BlockScores:
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

    def sums(self, block: DrawBlock, weights: Floats | None = None) -> Floats:
        """Return the sums of a block, plain or with weights, shape (component, model, sample)."""
        return np.concatenate([part.sums(block, weights) for part in self._parts])

    def finish(self, sums: Floats, total: Floats | float) -> Floats:
        """Return the scores (metric, model, sample) of the sums of all items and their total weight."""
        out = np.full((self.n_metrics, *sums.shape[1:]), np.nan)
        whole = np.asarray(total, np.float64)
        for places, part, start, stop in zip(self._places, self._parts, self._ends, self._ends[1:]):
            out[places] = part.finish(sums[start:stop], whole)
        return out

    def of_metrics(self, components: Floats) -> Floats:
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


class BlockSums(NamedTuple):
    """Sums over the items of a block in each slice that has some there.

    `groups` (slice); `total`, `weighted` (slice, component, model, sample), the latter empty without a bootstrap;
    `size` (slice) and `weight` (slice, sample), what the items count; `square` (component, model); `labels` (item,
    sample), the true labels where metrics of all items need them.
    """

    groups: Places
    total: Floats
    weighted: Floats
    size: Floats
    weight: Floats
    square: Floats
    labels: NDArray[Any]


class GroupSums:
    """Sums over the items of each slice.

    Parameters
    ----------
    n_groups
        Number of slices.
    shape
        (component, model, sample).
    """

    def __init__(self, n_groups: int, shape: tuple[int, ...]) -> None:
        self._sums, self._totals = np.zeros((n_groups, *shape)), np.zeros((n_groups, shape[-1]))

    def add(self, group: int, sums: Floats, total: Floats | float) -> None:
        """Add some items of a slice, and their weight."""
        self._sums[group] += sums
        self._totals[group] += total

    def add_block(self, block: BlockSums) -> None:
        """Add the weighted sums of a block, or the plain ones where nothing is weighted."""
        plain = not block.weight.size
        sums, totals = (block.total, block.size) if plain else (block.weighted, block.weight)
        for at, group in enumerate(block.groups):
            self.add(int(group), sums[at], totals[at])

    def scores(self, finish: Callable[[Floats, Floats], Floats], *, sliced: bool) -> Floats:
        """Return the scores of all items (model, sample), or of slices (slice, side, model, sample)."""
        all_sums, all_totals = self._sums.sum(axis=0), self._totals.sum(axis=0)
        if not sliced:
            return finish(all_sums, all_totals)
        out = []
        for sums, totals in zip(self._sums, self._totals):
            inside, rest = finish(sums, totals), finish(all_sums - sums, all_totals - totals)
            out.append(np.stack([inside, rest, inside - rest]))
        return np.stack(out)


def draws_for(
    metric: Metric, truth: Truth, *, truth_is: TruthIs, threshold: float | None, thin: int, seed: Seed,
    plausibility: bool = False, numeric: bool = False,
) -> TruthDraws:  # fmt: skip
    """Return the draws of a truth, as a metric reads them."""
    check_truth_is(truth_is, metric)
    sampled = truth_is == "sampled"
    full = (sampled and not numeric) or plausibility or metric.record.against_distribution
    if numeric:
        draws = number_draws(truth, threshold)
    else:
        draws = truth_draws(truth, metric.depth, threshold=threshold, plausibility=full)
    draws = thinned(draws, thin)
    return with_sampled_labels(draws, seed) if sampled else draws


def check_truth_is(truth_is: str, metric: Metric) -> None:
    """Refuse a truth that a metric does not have."""
    one_of(truth_is, "truth_is", ("top", "sampled"))
    if truth_is == "sampled" and metric.depth > 1:
        raise InputError(f"{metric.name} compares {metric.depth} labels of a draw; a sampled truth is one label")


def with_sampled_labels(draws: TruthDraws, seed: Seed) -> TruthDraws:
    """Return draws whose only best label is sampled from the plausibilities: the label of one more annotator."""
    root = stream_apart(seed, "sampled truth")
    read = draws.read

    def sampled(items: slice) -> DrawBlock:
        return sampled_block(read(items), root)

    return replace(draws, read=sampled)


def sampled_block(block: DrawBlock, root: np.random.SeedSequence) -> DrawBlock:
    """Replace the truths of a block by one label sampled from all plausibilities, or by one rating around its mean."""
    if block.number is not None:
        noise = block_generator(root, block.items.start // BLOCK).standard_normal(block.number.shape)
        return block._replace(number=block.number + np.sqrt(np.asarray(block.variance)) * noise)
    label = np.empty(block.top_label.shape[:2], block.top_label.dtype)
    uniform = block_generator(root, block.items.start // BLOCK).random(label.shape)
    pick_labels(np.asarray(block.plausibility), uniform, label)
    return block._replace(top_label=label[:, :, None])


def thinned(draws: TruthDraws, thin: int) -> TruthDraws:
    """Return every `thin`-th draw of each chain."""
    if positive_int(thin, "thin") == 1:
        return draws
    kept = np.arange(draws.chains * draws.draws).reshape(draws.chains, -1)[:, ::thin]
    read = draws.read

    def some(items: slice) -> DrawBlock:
        block, at = read(items), kept.ravel()
        if block.number is not None:
            block = block._replace(number=block.number[:, at], variance=np.asarray(block.variance)[:, at])
        full = None if block.plausibility is None else np.ascontiguousarray(block.plausibility[:, at])
        return block._replace(top_label=np.ascontiguousarray(block.top_label[:, at]), plausibility=full)

    return replace(draws, draws=kept.shape[1], read=some)


def prepare(
    metric: Metric, truth: Truth, predictions: Predictions, threshold: float | None
) -> tuple[TruthDraws, Scorer]:
    """Return the draws of a truth and the function that scores them."""
    full = metric.record.against_distribution
    draws = truth_draws(truth, metric.depth, threshold=threshold, plausibility=full)
    return draws, Scorer(predictions.aligned(draws.items, draws.labels), [metric])


def over_draws(
    pattern: str,
    truth: Truth,
    predictions: Predictions,
    k: int,
    threshold: float | None,
    weight: Floats | None = None,
    missing: Missing = "error",
) -> xr.DataArray:
    """Return a metric of every draw: its mean over the items, or its mean with a weight of each item.

    Where one label is the truth, the labels that tie on top of a point estimate share the item.
    """
    metric = Metric(METRICS[pattern], positive_int(k, "k"))
    scored_items(predictions, missing, may_skip=False)
    draws, scorer = prepare(metric, truth, predictions, threshold)
    if weight is None and metric.record.one_true_label and isinstance(truth, xr.DataArray):
        return per_draw(_shared_by_ties(scorer, truth)[:, None], draws, predictions, metric.name)
    total = np.zeros((predictions.models.size, draws.chains * draws.draws))
    for block in draws.blocks:
        weights = None if weight is None else np.repeat(weight[block.items, None], block.top_label.shape[1], axis=1)
        total += scorer.sums(block, weights)[0]
    whole = draws.items.size if weight is None else weight.sum()
    return per_draw(total / whole, draws, predictions, metric.name)


def _shared_by_ties(scorer: Scorer, estimate: xr.DataArray) -> Floats:
    """Return the mean over items of the metric's mean over the labels that tie on top, shape (model,)."""
    values = estimate.transpose("item", "category").values
    on_top = values == values.max(axis=1, keepdims=True)
    n_items, n_labels = on_top.shape
    every = np.tile(np.arange(n_labels, dtype=label_dtype(n_labels)), (n_items, 1))[:, :, None]
    share = on_top / on_top.sum(axis=1, keepdims=True)
    return scorer.score(DrawBlock(slice(0, n_items), every), share).weighted[0].sum(axis=1) / n_items


def per_draw(value: Floats, draws: TruthDraws, predictions: Predictions, name: str) -> xr.DataArray:
    """Return values of shape (model, sample) with dims (chain, draw, model)."""
    shaped = value.T.reshape(draws.chains, draws.draws, -1)
    coords = {"chain": np.arange(draws.chains), "draw": np.arange(draws.draws), "model": predictions.models}
    return xr.DataArray(shaped, dims=("chain", "draw", "model"), coords=coords, name=name)


def mass_of_best(probability: Floats, predictions: Predictions, k: int) -> Floats:
    """Return the mean over items of the probability (item, category) of a model's k best labels, shape (model,)."""
    top = predictions.top_labels(positive_int(k, "k"))
    hit = np.take_along_axis(probability[None], np.maximum(top, 0).astype(np.int64), axis=2)
    return np.where(top >= 0, hit, 0.0).sum(axis=2).mean(axis=1)
