"""Scores of several models and metrics on the same draws, block of items by block; which truth a draw stands for."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Advance, Floats, Places
from bayesagree.annotations._model_outputs import require_probabilities
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, one_of, shorten
from bayesagree.inference.blocks import DrawBlock
from bayesagree.inference.item_weights import ItemWeights
from bayesagree.inference.streams import BLOCK, Seed, block_generator, stream_apart
from bayesagree.inference.top_labels import Truth, TruthDraws, number_draws, truth_draws
from bayesagree.metrics.records import Mean, Sums, Whole
from bayesagree.metrics.registry import Metric
from bayesagree.metrics.values import Drawn, Given, weighted_sum

TruthIs = Literal["top", "sampled"]


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
    means
        The component of each metric that is a mean over items, -1 for the others.
    whole
        Which metrics need all items at once.
    n_models, n_labels
        Number of models, and of labels.
    numeric
        Whether the models predict numbers.
    """

    def __init__(self, predictions: Predictions, metrics: Sequence[Metric]) -> None:
        check_predictions(predictions, metrics)
        self.metrics = tuple(metrics)
        self.given = Given.of(predictions, max(m.k for m in metrics))
        self.n_models, self.n_labels = predictions.models.size, predictions.categories.size
        self.numeric = predictions.numbers is not None
        self.depth = max(m.depth for m in metrics)
        self.needs_plausibility = any(m.record.against_distribution for m in metrics)
        self.whole = [c for c, m in enumerate(metrics) if isinstance(m.record.kind, Whole)]
        names = [str(name) for name in predictions.categories.tolist()]
        self._label = [None if m.label is None else names.index(m.label) for m in metrics]
        # What is summed, and where: metrics of the same sums share them.
        self._sums: dict[tuple[Callable[..., Any], Any, bool], slice] = {}
        self._at: list[slice] = []
        self.n_components = 0
        for metric in metrics:
            self._at.append(self._place(metric))
        mean = [isinstance(m.record.kind, Mean) for m in metrics]
        self.means = np.array([at.start if known else -1 for at, known in zip(self._at, mean)])

    def _place(self, metric: Metric) -> slice:
        kind = metric.record.kind
        if isinstance(kind, Whole):
            return slice(0, 0)
        size = 1 if isinstance(kind, Mean) else kind.size(self.n_labels, metric.number)
        key = (kind.value, metric.number, True) if isinstance(kind, Mean) else (kind.add, size, False)
        if key not in self._sums:
            self._sums[key] = slice(self.n_components, self.n_components + size)
            self.n_components += size
        return self._sums[key]

    def sums(self, block: DrawBlock, weights: Floats | None = None) -> Floats:
        """Return the sums of a block, plain or with weights (item, sample), shape (component, model, sample)."""
        return self.score(block, (weights,))[0][0]

    def score(self, block: DrawBlock, weightings: Sequence[Floats | None]) -> tuple[Floats, Floats]:
        """Sum a block, plainly (None) or with weights: (weighting, component, model, sample).

        Of two weightings also return the squares of means over items and draws, shape (component, model).
        """
        drawn = Drawn(block, self.n_labels or 2)
        out = np.zeros((len(weightings), self.n_components, self.n_models, block.top_label.shape[1]))
        square = np.full((self.n_components, self.n_models), np.nan)
        for m in range(self.n_models):
            given = self.given.one(m, block.items)
            for (function, number, mean), at in self._sums.items():
                if not mean:
                    for w, weights in enumerate(weightings):
                        out[w, at, m] = function(drawn, given, weights, number)
                    continue
                value = function(drawn, given) if number is None else function(drawn, given, number)
                if len(weightings) > 1:
                    square[at, m] = np.einsum("is,is->", value, value, dtype=np.float64)
                for w, weights in enumerate(weightings):
                    out[w, at, m] = weighted_sum(value, weights)
        return out, square

    def of_items(self, block: DrawBlock) -> Floats:
        """Return the mean over draws of the first metric, a mean over items: shape (model, item)."""
        metric, drawn = self.metrics[0], Drawn(block, self.n_labels or 2)
        if not isinstance(metric.record.kind, Mean):
            raise InputError(f"{metric.name} is not a mean over items, so single items have no value")
        numbered = () if metric.number is None else (metric.number,)
        given = (self.given.one(m, block.items) for m in range(self.n_models))
        return np.stack([metric.record.kind.value(drawn, one, *numbered).mean(axis=1) for one in given])

    def finish(self, sums: Floats, total: Floats | float) -> Floats:
        """Return the scores (metric, model, sample) of the sums of all items and their total weight."""
        out = np.full((len(self.metrics), *sums.shape[1:]), np.nan)
        for c, (metric, at) in enumerate(zip(self.metrics, self._at)):
            kind = metric.record.kind
            if isinstance(kind, Mean):
                out[c] = sums[at.start] / total
            elif isinstance(kind, Sums):
                out[c] = kind.score(sums[at], np.asarray(total, np.float64), metric.number, self._label[c])
        return out

    def of_all(
        self,
        c: int,
        truth: NDArray[Any],
        items: Places,
        weights: ItemWeights | None,
        advance: Advance | None = None,
    ) -> Floats:
        """Return a metric (model, sample) of some items that needs all of them at once.

        `truth` has the true label or number of all items in each draw, shape (item, sample), or their plausibilities
        (item, sample, label); without `weights` each item counts once.
        """
        record: Any = self.metrics[c].record
        progress = (advance or (lambda done: None),) if record.by_user else ()
        return record.kind.function(truth, self.given, items, weights, *progress)


def check_order(metrics: Sequence[Metric], has_order: bool, n_labels: int) -> None:
    """Refuse metrics that use the order of labels which have none; two labels are in order either way."""
    wrong = [metric.name for metric in metrics if metric.record.ordered]
    if wrong and not has_order and n_labels > 2:
        raise InputError(
            f"{wrong[0]} uses the order of the labels, and these have none; read them with ordered=True and "
            "labels=[...], lowest first, or leave the metric out"
        )


def check_predictions(predictions: Predictions, metrics: Sequence[Metric]) -> None:
    """Refuse metrics of scores, probabilities, numbers or labels that the predictions lack."""
    n_labels, names = predictions.categories.size, [str(name) for name in predictions.categories.tolist()]
    fewest = 1 if predictions.runs is None else int(np.bincount(predictions.runs.code).min())
    for metric in metrics:
        record, name = metric.record, metric.name
        if record.runs and fewest < (needed := int(metric.number or 2)):
            raise InputError(
                f"{name} needs {needed} runs of every model, and one has {fewest}; a column run= of "
                "Predictions.from_long tells answers of one model to one item apart"
            )
        if (record.needs == "numbers") != (predictions.numbers is not None) and not record.by_user:
            has = "labels" if predictions.numbers is None else "numbers"
            wants = (
                "numbers (Predictions.from_numbers)"
                if has == "labels"
                else 'labels; numbers have "mae" and its kin'
            )
            raise InputError(f"{name} needs {wants}, but these predictions are {has}")
        if record.needs == "numbers":
            tail, levels = (1 - (metric.number or 0) / 100) / 2, np.asarray(predictions.levels)
            if metric.number is not None and not max(levels[0], 1 - levels[-1]) - 1e-9 <= tail < 0.5:
                raise InputError(
                    f"{name} needs quantiles at {tail:g} and {1 - tail:g} or samples beyond them; the predictions go "
                    f"from {levels[0]:g} to {levels[-1]:g}"
                )
            continue
        of_one_label = record.against == "order" and metric.depth == metric.k == 1
        if record.needs != "labels" and not of_one_label:
            if predictions.scores is None:
                raise InputError(
                    f"{name} needs {record.needs}, but these predictions are one hard label per item; "
                    "use Predictions.from_scores"
                )
            if record.needs == "probabilities":
                whose = np.asarray(predictions.scores), predictions.models, predictions.items
                require_probabilities(*whose, f"{name} needs probabilities", "apply a softmax")
        if metric.k > n_labels > 0:
            raise InputError(f"{name} looks at {metric.k} labels, but there are {n_labels}")
        if record.two_labels and n_labels != 2:
            others = f"{name}_macro, _micro, _weighted, or {name}[label] for one of them"
            others = "roc_auc_ovr or roc_auc_ovo" if name == "roc_auc" else others
            raise InputError(
                f"{name} takes the last of two labels as positive, but there are {n_labels}; use {others}"
            )
        if metric.label is not None and metric.label not in names:
            raise InputError(f"{name}: the labels are {shorten(predictions.categories)}")


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
    metric: Metric, truth: Truth, *, truth_is: TruthIs, threshold: float | None, random_seed: Seed,
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
    return with_sampled_labels(draws, random_seed) if sampled else draws


def check_truth_is(truth_is: str, metric: Metric) -> None:
    """Refuse a truth that a metric does not have."""
    one_of(truth_is, "truth_is", ("top", "sampled"))
    if truth_is == "sampled" and metric.depth > 1:
        raise InputError(f"{metric.name} compares {metric.depth} labels of a draw; a sampled truth is one label")


def with_sampled_labels(draws: TruthDraws, random_seed: Seed) -> TruthDraws:
    """Return draws whose only best label is sampled from the plausibilities: the label of one more annotator."""
    root = stream_apart(random_seed, "sampled truth")
    read = draws.read

    def sampled(items: slice) -> DrawBlock:
        return sampled_block(read(items), root)

    return replace(draws, read=sampled)


def sampled_block(block: DrawBlock, root: np.random.SeedSequence) -> DrawBlock:
    """Replace the truths of a block by one label sampled from all plausibilities, or by one rating around its mean."""
    if block.number is not None:
        noise = block_generator(root, block.items.start // BLOCK).standard_normal(block.number.shape)
        return block._replace(number=block.number + np.sqrt(np.asarray(block.variance)) * noise)
    return block._replace(top_label=picked_labels(block, root)[:, :, None])


def picked_labels(block: DrawBlock, root: np.random.SeedSequence) -> NDArray[Any]:
    """Draw a label from the plausibilities of each draw, shape (item, sample)."""
    out = np.empty(block.top_label.shape[:2], block.top_label.dtype)
    uniform = block_generator(root, block.items.start // BLOCK).random(out.shape)
    for shares, at, labels in zip(np.asarray(block.plausibility), uniform, out):
        cut = np.cumsum(shares, axis=1)
        # Rounding may leave a little of the last label that has any.
        cut[np.arange(shares.shape[1]) >= shares.shape[1] - 1 - (shares[:, ::-1] > 0).argmax(axis=1)[:, None]] = (
            np.inf
        )
        labels[:] = (at[:, None] < cut).argmax(axis=1)
    return out
