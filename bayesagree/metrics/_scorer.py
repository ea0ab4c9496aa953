"""Scores of models, block of draws by block: the reduction of a block, and the sums over all items done so far.

In each draw the label of another annotator is drawn from the plausibilities of that draw. A label stands for the model
that always gives it, so that every metric of models is one of annotators too: the sums of these models, each on the
draws in which the annotator gives its label.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesagree._types import Advance, Array, Booleans, Floats, Root, silent
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.inference.blocks import DrawBlock, label_dtype
from bayesagree.inference.kernel_draws import categories
from bayesagree.inference.results import check_size
from bayesagree.inference.streams import BLOCK, block_generator
from bayesagree.metrics._checks import check_predictions, has_one_label
from bayesagree.metrics.item_weights import ItemGroups, ItemWeights
from bayesagree.metrics.records import Weightings, Whole
from bayesagree.metrics.registry import Metric
from bayesagree.metrics.values import Drawn, Given

TruthIs = Literal["top", "sampled"]
# Name of the line among the models.
ANOTHER_ANNOTATOR = "another annotator"


class BlockSums(NamedTuple):
    """Sums over the items of a block in each slice that has some there.

    `groups` (slice); `sums` (weighting, slice, component, model, sample), plain and of the bootstrap where there is
    one; `weight` (weighting, slice, sample), what the items count; `truth` (item, sample), where metrics of all items
    need it.
    """

    items: slice
    groups: list[int]
    sums: Floats
    weight: Floats
    truth: Array | None


@dataclass(frozen=True, eq=False)
class Scorer:
    """How blocks of draws are scored: models and metrics, and what is summed apart.

    Parameters
    ----------
    predictions
        Aligned with the items and labels of the draws.
    metrics
        What to compute.
    slices
        Groups of items that are summed apart.
    weights
        Bootstrap of the items.
    sampled
        Stream of sampled truths, where the truth is one.
    another
        Stream of the labels of another annotator, who is the last model of the sums.
    """

    predictions: Predictions
    metrics: Sequence[Metric]
    slices: ItemGroups | None = None
    weights: ItemWeights | None = None
    sampled: Root | None = None
    another: Root | None = None

    def __post_init__(self) -> None:
        check_predictions(self.predictions, self.metrics)
        for metric in self.metrics if self.another else ():
            if not has_one_label(metric):
                raise InputError(
                    f"{metric.name} does not exist for another annotator, who gives one label: the metric "
                    "needs a whole order of labels or items, or runs"
                )

    @cached_property
    def given(self) -> Given:
        """The predictions as metrics read them."""
        return Given.of(self.predictions, max(m.k for m in self.metrics))

    @cached_property
    def always(self) -> Given:
        """For each label the model that gives it to all items of a block."""
        names = self.predictions.categories
        scores = np.repeat(np.eye(names.size)[:, None], BLOCK, axis=1)
        return Given.of(Predictions(names, np.arange(BLOCK), names, scores, None))

    @property
    def n_models(self) -> int:
        """Number of lines: models, or runs of them, and another annotator."""
        return self.predictions.models.size + (self.another is not None)

    @property
    def n_labels(self) -> int:
        """Number of labels; of predicted numbers that of the sides of a threshold."""
        return self.predictions.categories.size or 2

    @property
    def numeric(self) -> bool:
        """Whether the models predict numbers."""
        return self.predictions.numbers is not None

    @property
    def depth(self) -> int:
        """How many best labels of each draw count."""
        return max(m.depth for m in self.metrics)

    @property
    def needs_plausibility(self) -> bool:
        """Whether all plausibilities of a draw count."""
        drawn = self.sampled is not None and not self.numeric
        return drawn or self.another is not None or any(m.record.against_distribution for m in self.metrics)

    @property
    def whole(self) -> list[Metric]:
        """Metrics that need all items at once."""
        return [m for m in self.metrics if isinstance(m.record.kind, Whole)]

    @property
    def whole_shares(self) -> bool:
        """Whether one of these compares with all plausibilities."""
        return any(m.record.against_distribution for m in self.whole)

    @property
    def n_components(self) -> int:
        """Numbers that are summed over items: one for a mean, several for a score of sums."""
        return max(at.stop for at in self.parts)

    @cached_property
    def parts(self) -> list[slice]:
        """Where the components of each metric stand among all sums; metrics of the same sums share them."""
        known = {}
        end, found = 0, []
        for metric in self.metrics:
            kind = metric.record.kind
            key, size = (None, 0) if isinstance(kind, Whole) else kind.summed(self.n_labels, metric.number)
            end = max(end, known.setdefault(key, slice(end, end + size)).stop)
            found.append(known[key])
        return found

    def __call__(self, block: DrawBlock) -> BlockSums:
        """Sum a block."""
        if self.sampled is not None:
            block = sampled_block(block, self.sampled)
        labels = None if self.another is None else picked_labels(block, self.another)
        code = np.zeros(len(block.top_label), int) if self.slices is None else self.slices.code[block.items]
        rows = None if self.weights is None else self.weights.rows(block.items)
        groups, found, weight = np.unique(code).tolist(), [], []
        for group in groups:
            inside = np.flatnonzero(code == group)
            weightings = [None] if rows is None else [None, np.ascontiguousarray(rows[inside])]
            found.append(self.sums(block.some(inside), weightings, None if labels is None else labels[inside]))
            plain = np.full(block.top_label.shape[1], float(inside.size))
            weight.append([plain if of is None else of.sum(axis=0) for of in weightings])
        truth = None if not self.whole else block.plausibility if self.whole_shares else block.truth
        return BlockSums(block.items, groups, np.stack(found, axis=1), np.stack(weight, axis=1), truth)

    def sums(self, block: DrawBlock, weightings: Weightings, labels: Array | None = None) -> Floats:
        """Sum a block, plainly (None) or with weights (item, sample): (weighting, component, model, sample).

        With the labels of another annotator (item, sample), the last model is that one.
        """
        drawn = Drawn(block, self.n_labels)
        at = range(self.predictions.models.size)
        found = [self._model(drawn, self.given.one(m, block.items), weightings) for m in at]
        if labels is not None:
            line: Any = 0.0
            for label in np.unique(labels):
                own = labels == label
                inside = np.flatnonzero(own.any(axis=1))
                given = self.always.one(int(label), slice(inside.size))
                rows = [own[inside] * (1.0 if of is None else of[inside]) for of in weightings]
                line = line + self._model(Drawn(block.some(inside), self.n_labels), given, rows)
            found.append(line)
        return np.stack(found, axis=2)

    def _model(self, drawn: Drawn, given: Given, weightings: Weightings) -> Floats:
        """Return the sums of a model, shape (weighting, component, sample)."""
        out = np.zeros((len(weightings), self.n_components, drawn.block.top_label.shape[1]))
        once = {(at.start, at.stop): metric for metric, at in zip(self.metrics, self.parts)}
        for (start, stop), metric in once.items():
            if not isinstance(kind := metric.record.kind, Whole):
                out[:, start:stop] = kind.add(drawn, given, weightings, stop - start, *metric.numbered)
        return out

    def finish(self, sums: Floats, total: Floats | float, *of_all: Any) -> Floats:
        """Return the scores (metric, model, sample) of the sums of all items and their total weight.

        `of_all` is what a metric needs that sees all items at once: the true label or number of all items in each draw,
        shape (item, sample), or their plausibilities (item, sample, label); the items that count, and their weights,
        None where each counts once; a function called after every call of a function of the user's.
        """
        out = np.empty((len(self.metrics), *sums.shape[1:]))
        names = [str(name) for name in self.predictions.categories.tolist()]
        for c, (metric, at) in enumerate(zip(self.metrics, self.parts)):
            kind = metric.record.kind
            if isinstance(kind, Whole):
                truth, *rest = of_all
                out[c] = kind.function(truth, self.given, *rest)
            else:
                label = 1 if metric.label is None else names.index(metric.label)
                out[c] = kind.score(sums[at], np.asarray(total, float), metric.number, label)
        return out


class ItemSums:
    """Sums over the items done so far, and the scores that they make.

    Parameters
    ----------
    scorer
        What is summed.
    n_samples
        Number of draws.
    advance
        Called after every function of the user's.

    Attributes
    ----------
    sums, weight
        As in `BlockSums`, of all slices.
    """

    def __init__(self, scorer: Scorer, n_samples: int, advance: Advance = silent) -> None:
        self.scorer, self._advance = scorer, advance
        n_slices = 1 if scorer.slices is None else scorer.slices.names.size
        n_items = scorer.predictions.items.size
        n_labels = scorer.n_labels
        of_each = 1 if scorer.weights is None else 2, n_slices
        self.sums = np.zeros((*of_each, scorer.n_components, scorer.n_models, n_samples))
        self.weight = np.zeros((*of_each, n_samples))
        self._truth = np.zeros((0, 0))
        if scorer.whole:
            full = scorer.whole_shares
            kept = {"item": n_items, "sample": n_samples} | ({"category": n_labels} if full else {})
            dtype = np.float64 if full or scorer.numeric else label_dtype(n_labels)
            check_size(
                kept, np.dtype(dtype).itemsize, "metrics of all items at once need every draw: use fewer"
            )
            self._truth = np.zeros(tuple(kept.values()), dtype)

    def add(self, block: BlockSums) -> None:
        """Add a block of items."""
        self.sums[:, block.groups] += block.sums
        self.weight[:, block.groups] += block.weight
        if block.truth is not None:
            self._truth[block.items] = block.truth

    def scores(self, inside: Booleans | slice = slice(None), *, weighted: bool = True) -> Floats:
        """Return the scores in every draw of the items of some slices, shape (metric, model, sample).

        Weighted by the bootstrap where there is one, or plain.
        """
        weighting = -1 if weighted else 0
        items = np.arange(self.scorer.predictions.items.size)
        if (slices := self.scorer.slices) is not None:
            items = np.flatnonzero(np.isin(slices.code, np.arange(slices.names.size)[inside]))
        sums, total = (of[weighting, inside].sum(axis=0) for of in (self.sums, self.weight))
        weights = self.scorer.weights if weighted else None
        return self.scorer.finish(sums, total, self._truth, items, weights, self._advance)


def by_slice(scores: Callable[[Booleans], Floats], n: int, times: int = 1) -> Floats:
    """Return scores (..., model, sample) of each of n slices, the rest, and the difference: (slice, side, ...).

    Each slice is `times` neighbours of those that are summed apart.
    """
    out = []
    for group in np.repeat(np.eye(n, dtype=bool), times, axis=1):
        inside, rest = scores(group), scores(~group)
        out.append(np.stack([inside, rest, inside - rest]))
    return np.stack(out)


def sampled_block(block: DrawBlock, root: Root) -> DrawBlock:
    """Replace the truths of a block by one label sampled from all plausibilities, or by one rating around its mean."""
    if block.mean is not None:
        noise = block_generator(root, block.items.start // BLOCK).standard_normal(block.mean.shape)
        return block._replace(mean=block.mean + np.sqrt(np.asarray(block.variance)) * noise)
    return block._replace(top_label=picked_labels(block, root)[:, :, None])


def picked_labels(block: DrawBlock, root: Root) -> Array:
    """Draw a label from the plausibilities of each draw, shape (item, sample)."""
    rng = block_generator(root, block.items.start // BLOCK)
    return np.stack([categories(rng, shares) for shares in np.asarray(block.plausibility)])
