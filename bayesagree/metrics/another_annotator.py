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
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.streams import BLOCK, Seed, block_generator, stream_apart
from bayesagree._numerics.types import Floats, Places
from bayesagree.annotations.gold import ItemGroup
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.blocks import DrawBlock
from bayesagree.draws.item_weights import ItemGroups, ItemWeights
from bayesagree.draws.top_labels import Truth
from bayesagree.errors import InputError
from bayesagree.metrics._label_kernels import pick_labels
from bayesagree.metrics._scorer import BlockSums, GroupSums, Scorer, TruthIs, draws_for, sampled_block
from bayesagree.metrics._whole_parts import WHOLE_PARTS
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
    seed
        Same seed, same labels.
    """

    def __init__(self, metrics: Sequence[Metric], categories: NDArray[Any], seed: Seed) -> None:
        for metric in metrics:
            check_one_label(metric)
        self._root = stream_apart(seed, "another annotator")
        self.scorers = [Scorer(_always(label, categories), metrics) for label in range(categories.size)]

    def labels(self, block: DrawBlock) -> NDArray[Any]:
        """Draw the annotator's labels of a block, shape (item, sample)."""
        out = np.empty(block.top_label.shape[:2], block.top_label.dtype)
        uniform = block_generator(self._root, block.items.start // BLOCK).random(out.shape)
        pick_labels(np.asarray(block.plausibility), uniform, out)
        return out

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
    return metric.record.family not in (*WHOLE_PARTS, "number") and (metric.record.family != "rank" or metric.k == 1)


def check_one_label(metric: Metric) -> None:
    """Refuse metrics that a single label has no value of."""
    if not has_one_label(metric):
        raise InputError(
            f"{metric.name} of another annotator does not exist here: an annotator gives one label, and the metric "
            "needs a whole order of labels or items"
        )


def _always(label: int, categories: NDArray[Any]) -> Predictions:
    """Return the model that gives one label to all items of a block."""
    scores = np.zeros((1, BLOCK, categories.size))
    scores[..., label] = 1.0
    return Predictions(np.array([ANOTHER_ANNOTATOR]), np.arange(BLOCK), categories, scores, None)


def human_ceiling(
    truth: Truth,
    metric: str,
    *,
    truth_is: TruthIs = "top",
    cluster: ItemGroup | None = None,
    thin: int = 1,
    seed: Seed = None,
    client: Any = None,
) -> xr.DataArray:
    """Score of another annotator against every draw of the truth.

    In each draw the annotator's label of an item is drawn from the plausibilities of that draw; of a metric that needs
    probabilities the label has probability one.

    Parameters
    ----------
    truth
        A posterior of plausibilities, or a point estimate (item, category).
    metric
        Name of a metric that a single label has a value of.
    truth_is, cluster, thin, seed, client
        As in `score`.

    Returns
    -------
    DataArray
        One value per draw, dims (chain, draw, model), the model being "another annotator": beside the scores of
        models by `xarray.concat`.

    Raises
    ------
    InputError
        A metric of whole orders of labels or items, such as ``set_2_accuracy`` or ``roc_auc``.

    See Also
    --------
    score, evaluate

    References
    ----------
    .. [1] J. Baan et al., "Stop measuring calibration when humans disagree", EMNLP 2022, section 5,
       doi:10.18653/v1/2022.emnlp-main.124.

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> human_ceiling(dirichlet(given.labels, seed=1), "accuracy", seed=1).mean().round(2).item()
    0.79
    """
    requested = Metric.named(metric)
    draws = draws_for(requested, truth, truth_is=truth_is, threshold=None, thin=thin, seed=seed, plausibility=True)
    annotator = AnotherAnnotator([requested], draws.labels, seed)
    n_samples = draws.chains * draws.draws
    weights = None
    if cluster is not None:
        weights = ItemWeights(ItemGroups.of(cluster, draws.items, "cluster"), draws.items.size, n_samples, seed)
    scorer = annotator.scorers[0]
    sums = GroupSums(1, (scorer.n_components, 1, n_samples))

    def work(block: DrawBlock) -> tuple[Any, Any]:
        rows = None if weights is None else weights.rows(block.items)
        total = float(len(block.top_label)) if rows is None else rows.sum(axis=0)
        return annotator.sums(block, annotator.labels(block), rows), total

    for found, total in draws.map(work, client):
        sums.add(0, found, total)
    values = sums.scores(lambda s, t: scorer.finish(s, t)[0], sliced=False)
    shaped = values.T.reshape(draws.chains, draws.draws, 1)
    coords = {"chain": np.arange(draws.chains), "draw": np.arange(draws.draws), "model": [ANOTHER_ANNOTATOR]}
    attrs = {"higher_is_better": int(requested.record.higher_is_better)}
    return xr.DataArray(shaped, dims=("chain", "draw", "model"), coords=coords, name=requested.name, attrs=attrs)


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
        n_items = len(block.top_label)
        n_models = self.scorer.n_models + (drawn is not None)
        square = np.zeros((self.scorer.n_components, n_models))
        square[:, self.scorer.n_models :] = np.nan
        groups, total, weighted, size, weight = [], [], [], [], []
        for group, inside in self._inside(block.items):
            part = block.some(inside)
            some = None if rows is None else np.ascontiguousarray(rows[inside])
            sums = self.scorer.score(part, some)
            totals, weights = [sums.total], [sums.weighted]
            if self.annotator is not None and drawn is not None:
                totals.append(self.annotator.sums(part, drawn[inside]))
                weights.append(totals[-1] if some is None else self.annotator.sums(part, drawn[inside], some))
            groups.append(group)
            total.append(np.concatenate(totals, axis=1))
            size.append(float(inside.size))
            square[:, : self.scorer.n_models] += sums.square
            if some is not None:
                weighted.append(np.concatenate(weights, axis=1))
                weight.append(some.sum(axis=0))
        labels = block.truth if self.keep_labels else np.empty((n_items, 0), block.top_label.dtype)
        return BlockSums(
            np.array(groups),
            np.stack(total),
            np.stack(weighted) if weighted else np.empty(0),
            np.array(size),
            np.stack(weight) if weight else np.empty(0),
            square,
            labels,
        )

    def _inside(self, items: slice) -> list[tuple[int, Places]]:
        """Return the slices of a block of items, and which of its items are in each."""
        if self.slices is None:
            return [(0, np.arange(items.stop - items.start))]
        code = self.slices.code[items]
        return [(int(g), np.flatnonzero(code == g)) for g in np.unique(code)]
