"""Groups of the result of an evaluation, from the sums over all items."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations.runs import Runs
from bayesagree.evaluation._sums import ScoreSums
from bayesagree.inference.item_weights import ItemGroups
from bayesagree.metrics.another_annotator import BlockScoring
from bayesagree.metrics.posterior_scores import warn_undefined

# Of the variance of a score whose items are a sample.
PARTS = np.array(["annotation", "test_set", "total", "run"])


class Results(NamedTuple):
    """All that the groups are made from."""

    sums: ScoreSums
    scoring: BlockScoring
    models: NDArray[Any]
    by: ItemGroups | None = None
    # Whether slices are in two by gold; else where they are, by annotations.
    gold: bool = False
    # Of models that answered several times; every score is then the mean over the runs.
    runs: Runs | None = None

    def values(self, level: int, inside: NDArray[np.bool_], *, bootstrap: bool) -> Floats:
        """Return the scores of the items of some slices at a reliability, shape (metric, model, sample)."""
        found = self.of_rows(level, inside, bootstrap=bootstrap)
        return found if self.runs is None else self.runs.mean(found)

    def of_rows(self, level: int, inside: NDArray[np.bool_], *, bootstrap: bool) -> Floats:
        """Return the same of every run of a model, shape (metric, row, sample)."""
        found = self.sums.scores(self.scoring.scorer, level, inside, bootstrap=bootstrap)
        slices, n_items = self.scoring.slices, self.sums.certainty.shape[1]
        items = np.arange(n_items) if slices is None else np.flatnonzero(inside[slices.code])
        weights = self.scoring.weights if bootstrap else None
        scorer = self.scoring.scorer
        for c in scorer.whole:
            found[c, : scorer.n_models] = scorer.of_all(c, self.sums.labels[level], items, weights)
        return found

    def over_levels(self, make: Callable[[int], Floats]) -> Floats:
        """Stack what each reliability gives as the first dim."""
        return np.stack([make(level) for level in range(len(self.sums.total))])

    def groups(self, chains: int) -> dict[str, dict[str, Any]]:
        """Return the variables of every group of the result."""
        bootstrap = self.scoring.weights is not None
        n_slices = self.sums.size.shape[1]
        every = np.ones(n_slices, bool)
        apart = 1 if self.by is None else self.by.names.size
        # Scores from annotations alone, the second of the passes, are about the items that have some.
        alone = np.arange(n_slices) % 2 == 1 if n_slices > apart and not self.gold else every
        scores = self.over_levels(
            lambda level: self.values(level, alone if level == 1 else every, bootstrap=bootstrap)
        )
        dims = ("chain", "draw", "truth")
        groups: dict[str, dict[str, Any]] = {
            "posterior": self._by_metric(scores, chains, (*dims, "model")),
            "certainty": {"annotation_certainty": (("truth", "item"), self.sums.certainty)},
        }
        for c, metric in enumerate(self.scoring.scorer.metrics):
            warn_undefined(scores[:, c], metric, self.models)
        if bootstrap:
            parts = self._variance(scores, every)
            of_metric = {m.name: parts[:, :, c] for c, m in enumerate(self.scoring.scorer.metrics)}
            groups["variance"] = {name: (("part", "truth", "model"), v) for name, v in of_metric.items()}
        if self.runs is not None:
            rows = self.over_levels(lambda level: self.of_rows(level, every, bootstrap=bootstrap))
            groups["runs"] = self._by_metric(self.runs.apart(rows), chains, (*dims, "run", "model"))
        if self.by is not None:
            sliced = self.over_levels(lambda level: self._slices(level, apart, bootstrap=bootstrap))
            groups["slices"] = self._by_metric(sliced, chains, (*dims, self.by.name, "side", "model"))
        if self.gold:  # each slice is once without gold and once with it
            for name, has_gold in (("gold_items", 1), ("other_items", 0)):
                inside = np.arange(n_slices) % 2 == has_gold
                if self.sums.size[0, inside].sum():
                    part = self.over_levels(partial(self.values, inside=inside, bootstrap=bootstrap))
                    groups[name] = self._by_metric(part, chains, (*dims, "model"))
        return groups

    def _slices(self, level: int, n: int, *, bootstrap: bool) -> Floats:
        """Return scores of each slice, the rest, and the difference, shape (metric, slice, side, model, sample)."""
        out = []
        for group in np.repeat(np.eye(n, dtype=bool), self.sums.size.shape[1] // n, axis=1):
            inside, rest = (self.values(level, part, bootstrap=bootstrap) for part in (group, ~group))
            out.append(np.stack([inside, rest, inside - rest]))
        return np.moveaxis(np.stack(out), 2, 0)

    def _by_metric(self, values: Floats, chains: int, dims: tuple[str, ...]) -> dict[str, Any]:
        """Give values (reliability, metric, ..., sample) the dims (chain, draw, reliability, ...) of every metric."""
        samples = np.moveaxis(values, -1, 0)
        split = samples.reshape(chains, -1, *samples.shape[1:])
        attrs = [m.attrs for m in self.scoring.scorer.metrics]
        names = [m.name for m in self.scoring.scorer.metrics]
        return {name: (dims, split[:, :, :, c], attrs[c]) for c, name in enumerate(names)}

    def _variance(self, scores: Floats, every: NDArray[np.bool_]) -> Floats:
        """Split the variance by the law of total variance, shape (part, reliability, metric, model).

        Of a mean over items the part of the test set follows from the squares of the items; of any other metric, and
        with clusters, it is what the bootstrap adds to the variance of the scores of the fixed items.
        """
        plain = self.over_levels(lambda level: self.values(level, every, bootstrap=False))
        annotation, both = plain.var(axis=-1), scores.var(axis=-1)
        test_set = np.maximum(both - annotation, 0.0)
        if (runs := self.runs) is not None:  # what the bootstrap adds holds the noise of runs
            run = self.over_levels(lambda level: runs.variance(self.of_rows(level, every, bootstrap=False)))
            run = np.minimum(run, test_set)
            return np.stack([annotation, test_set - run, annotation + test_set, run])
        exact = self.over_levels(lambda level: self.sums.test_set_variance(self.scoring.scorer, level))
        weights = self.scoring.weights
        inexact = np.isnan(exact) | (weights is not None and weights.clustered)
        test_set = np.where(inexact, test_set, exact)
        return np.stack([annotation, test_set, annotation + test_set])
