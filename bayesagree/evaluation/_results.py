"""Sums over all items under each truth, and the groups of the result of an evaluation that are made of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bayesagree._types import Advance, Array, Floats, Named
from bayesagree.annotations.runs import Runs
from bayesagree.inference.blocks import DrawBlock
from bayesagree.inference.cells import cell_sums
from bayesagree.inference.convergence import warn_not_converged
from bayesagree.inference.posterior import Groups, Truths
from bayesagree.metrics._scorer import BlockSums, ItemSums, Scorer, by_slice
from bayesagree.metrics.item_weights import ItemGroups
from bayesagree.metrics.posterior_scores import warn_undefined

# Of the variance of a score whose items are a sample.
PARTS = np.array(["annotation", "test_set", "total", "run"])


def _scored_block(scorer: Scorer, block: DrawBlock) -> tuple[BlockSums, Floats, Floats]:
    """Score a block of draws where it was drawn.

    Return sums over its items, and of each the shares of draws in which a label is best, and R-hat.
    """
    n_items, n_samples, depth = block.top_label.shape
    labels = np.full((n_items, scorer.n_labels), np.nan)
    if depth > 0:  # numbers without a threshold have no labels
        labels = cell_sums(labels.shape, np.arange(n_items)[:, None], block.top_label[:, :, 0]) / n_samples
    r_hat = np.full(n_items, np.nan) if block.diagnostics is None else block.diagnostics[:, 0]
    return scorer(block), labels, r_hat


def scored(truths: Truths, scorer: Scorer, progress: Advance) -> tuple["Results", Named, Named]:
    """Score all blocks of items under each truth; return also what the posteriors chose, and their chains.

    The chains, and the probability of each label of an item, are those of the first truth.
    """
    items = truths.annotations.items
    request = replace(
        truths.request,
        top_labels=scorer.depth,
        plausibility=scorer.needs_plausibility,
        numbers=scorer.numeric,
        then=partial(_scored_block, scorer),
        progress=progress,
    )
    sums = []
    certainty = np.full((len(truths.posteriors), items.size), np.nan)
    by_label = []
    chosen = {}
    mixed = {}
    for level, posterior in enumerate(truths.posteriors):
        stream = posterior.blocks(truths.annotations, request)
        chosen |= stream.chosen
        mixed = mixed or dict(stream.diagnostics)
        sums.append(ItemSums(scorer, request.samples))
        r_hat = np.full(items.size, np.nan)
        for block, labels, of_items in stream.blocks:
            sums[-1].add(block)
            certainty[level, block.items], r_hat[block.items] = labels.max(axis=1), of_items
            if level == 0 and posterior.takes_predictions:
                by_label.append(labels)
            progress(len(of_items))
        warn_not_converged(items, r_hat, "raise tune=, draws= or thin=")
    return Results(sums, certainty, by_label), chosen, mixed


class Results(NamedTuple):
    """All that the groups are made from.

    `sums` of each truth, `certainty` (truth, item), and under the first truth, where predictions inform it, that of
    every label of a block of items.
    """

    sums: Sequence[ItemSums]
    certainty: Floats
    by_label: Sequence[Floats]
    models: Array = np.empty(0)
    by: ItemGroups | None = None
    # Whether slices are in two by gold; else where they are, by annotations.
    gold: bool = False
    # Of models that answered several times; every score is then the mean over the runs.
    runs: Runs | None = None

    def over_truths(self, make: Callable[[ItemSums], Floats]) -> Floats:
        """Stack what the sums of each truth give as the first dim."""
        return np.stack([make(sums) for sums in self.sums])

    def scores(self, sums: ItemSums, inside: Any = slice(None), *, weighted: bool = True) -> Floats:
        """Return the scores of the items of some slices, shape (metric, model, sample)."""
        found = sums.scores(inside, weighted=weighted)
        return found if self.runs is None else self.runs.mean(found)

    def groups(self, chains: int) -> Groups:
        """Return the variables of every group of the result."""
        first = self.sums[0]
        metrics = first.scorer.metrics
        n_slices = first.weight.shape[1]
        apart = 1 if self.by is None else self.by.names.size
        times = n_slices // apart  # twice each, without gold or annotations and with them
        second = np.arange(n_slices) % 2 == 1
        # Scores from annotations alone, under the second of the truths, are about the items that have some.
        alone = second if times == 2 and not self.gold else slice(None)
        scores = np.stack(
            [self.scores(sums, alone if t == 1 else slice(None)) for t, sums in enumerate(self.sums)]
        )

        def named(values: Floats, *dims: str) -> Named:
            """Give values (truth, metric, ..., model, sample) the dims (chain, draw, truth, ...) of every metric."""
            samples = np.moveaxis(values, -1, 0)
            split = samples.reshape(chains, -1, *samples.shape[1:])
            dims = ("chain", "draw", "truth", *dims, "model")
            return {m.name: (dims, split[:, :, :, c], m.attrs) for c, m in enumerate(metrics)}

        certainty = {"annotation_certainty": (("truth", "item"), self.certainty)}
        groups = {"posterior": named(scores), "certainty": certainty}
        for c, metric in enumerate(metrics):
            warn_undefined(scores[:, c], metric, self.models)
        if first.scorer.weights is not None:
            parts = self._variance(scores)
            groups["variance"] = {
                m.name: (("part", "truth", "model"), parts[:, :, c]) for c, m in enumerate(metrics)
            }
        if self.runs is not None:
            groups["runs"] = named(self.runs.apart(self.over_truths(ItemSums.scores)), "run")
        if (by := self.by) is not None:
            sliced = self.over_truths(lambda sums: by_slice(lambda at: self.scores(sums, at), apart, times))
            groups["slices"] = named(np.moveaxis(sliced, 3, 1), by.name, "side")
        if self.gold:
            for name, inside in (("gold_items", second), ("other_items", ~second)):
                if first.weight[0, inside].sum():
                    groups[name] = named(np.stack([self.scores(sums, inside) for sums in self.sums]))
        return groups

    def _variance(self, scores: Floats) -> Floats:
        """Split the variance by the law of total variance, shape (part, truth, metric, model).

        The part of the test set is the expected square of what new weights of the items do to the score of a draw.
        """
        rows = self.over_truths(lambda sums: self.scores(sums, weighted=False))
        annotation = rows.var(axis=-1)
        test_set = ((scores - rows) ** 2).mean(axis=-1)
        if self.runs is None:
            return np.stack([annotation, test_set, annotation + test_set])
        # What the bootstrap adds holds the noise of runs.
        run = np.minimum(
            self.runs.variance(self.over_truths(lambda sums: sums.scores(weighted=False))), test_set
        )
        return np.stack([annotation, test_set - run, annotation + test_set, run])
