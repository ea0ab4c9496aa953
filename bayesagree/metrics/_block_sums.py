"""Sums of the scores of a block of draws, where it was drawn: slice by slice, plain and weighted."""

from dataclasses import dataclass

import numpy as np

from bayesagree._numerics.types import Places
from bayesagree.draws.blocks import DrawBlock
from bayesagree.metrics._item_groups import ItemGroups, ItemWeights
from bayesagree.metrics._scorer import BlockSums, Scorer, sampled_block
from bayesagree.metrics.another_annotator import AnotherAnnotator


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
            square += np.pad(sums.square, ((0, 0), (0, n_models - self.scorer.n_models)), constant_values=np.nan)
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
