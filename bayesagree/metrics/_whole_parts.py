"""Families of metrics with all items of a draw at once (curves, functions of the user's), and of predicted numbers.

Predicted numbers are scored against drawn numbers, such as the mean rating of each item. A model that predicts a
distribution is scored at its mean, by the CRPS as a whole and by the coverage of its intervals.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesagree._inference.streams import map_blocks
from bayesagree._numerics.types import Advance, Floats, Places
from bayesagree.annotations._numbers import level_widths
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.blocks import DrawBlock
from bayesagree.draws.item_weights import ItemWeights
from bayesagree.errors import InputError
from bayesagree.metrics._label_kernels import add_precisions, pair_wins
from bayesagree.metrics._parts import NO_WEIGHTS, Family, Moments, Part
from bayesagree.metrics.records import correlation

if TYPE_CHECKING:
    from bayesagree.metrics.registry import Metric

type Codes = NDArray[np.integer[Any]]


class WholePart(Family, ABC):
    """Metrics that see all items of a draw at once.

    Attributes
    ----------
    needs_plausibility
        Whether `values` reads all plausibilities, and not the true labels alone.
    """

    needs_plausibility = False

    @abstractmethod
    def values(self, truth: NDArray[Any], items: Places, weights: ItemWeights | None, advance: Advance) -> Floats:
        """Return scores (metric, model, sample) on some items.

        Parameters
        ----------
        truth
            True label of all items in each draw, shape (item, sample), or plausibilities (item, sample, label).
        items
            Positions of the items to score.
        weights
            Bayesian bootstrap of the items; None where each counts once.
        advance
            Called with the number of (draw, model) done.
        """


class CurvePart(WholePart):
    """Areas under curves."""

    def __init__(self, predictions: Predictions, metrics: Sequence["Metric"]) -> None:
        super().__init__(predictions, metrics)
        for metric in metrics:
            if metric.record.pattern == "roc_auc" and self.n_labels != 2:
                raise InputError(
                    f"roc_auc is for two labels, but there are {self.n_labels}; use roc_auc_ovr (one against rest) or "
                    "roc_auc_ovo (Hand and Till)"
                )

    def values(self, truth: NDArray[Any], items: Places, weights: ItemWeights | None, advance: Advance) -> Floats:
        """Walk the items in the order of each model's scores for each label."""
        n_models, n_samples = self.given.hard.shape[0], truth.shape[1]
        labels = [1] if self.n_labels == 2 else list(range(self.n_labels))
        requested = {m.record.pattern for m in self.metrics}
        wins = np.zeros((n_models, self.n_labels, self.n_labels, n_samples))
        precisions = np.zeros((n_models, self.n_labels, 2, n_samples))
        truth = np.ascontiguousarray(truth[items])
        rows = NO_WEIGHTS if weights is None else np.ascontiguousarray(weights.all_rows()[items])

        def walk(job: tuple[int, int]) -> None:
            m, k = job
            scores = self.given.scores[m, items, k]
            if requested - {"average_precision"}:
                order = np.argsort(scores, kind="stable")
                room = np.empty((2, self.n_labels, n_samples))
                pair_wins(truth, order, _step_ends(scores[order]), k, rows, wins[m, k], *room)
            if "average_precision" in requested:
                order = np.argsort(-scores, kind="stable")
                add_precisions(truth, order, _step_ends(scores[order]), k, rows, precisions[m, k])

        for _ in map_blocks(walk, [(m, k) for m in range(n_models) for k in labels]):
            advance(0)
        count = _label_weights(truth, rows, self.n_labels)
        found = {"roc_auc": _one_against_rest, "roc_auc_ovr": _one_against_rest, "roc_auc_ovo": _one_against_one}
        return np.stack(
            [
                found[m.record.pattern](wins, count, labels)
                if m.record.pattern in found
                else _mean_precision(precisions[:, labels])
                for m in self.metrics
            ]
        )


class FunctionPart(WholePart):
    """Functions of the user's, called for every draw and model."""

    def __init__(self, predictions: Predictions, metrics: Sequence["Metric"]) -> None:
        super().__init__(predictions, metrics)
        self.needs_plausibility = metrics[0].record.against_distribution

    def values(self, truth: NDArray[Any], items: Places, weights: ItemWeights | None, advance: Advance) -> Floats:
        """Call every function on every draw."""
        n_models, n_samples = self.given.hard.shape[0], truth.shape[1]
        out = np.full((len(self.metrics), n_models, n_samples), np.nan)
        inside = np.zeros(len(truth), bool)
        inside[items] = True
        for s in range(n_samples):
            at = items
            if weights is not None:
                drawn = weights.resampled(s)
                at = drawn[inside[drawn]]
            as_drawn = self.needs_plausibility or self.given.points.size
            true = truth[at, s] if as_drawn else self.given.categories[truth[at, s]]
            for m in range(n_models):
                for c, metric in enumerate(self.metrics):
                    out[c, m, s] = self._call(metric, true, m, at)
            advance(n_models)
        return out

    def _call(self, metric: "Metric", drawn: NDArray[Any], model: int, items: Places) -> float:
        user = metric.record.kernel
        if self.given.points.size:
            second = self.given.points[model, items]
        elif user.takes == "labels":
            hard = self.given.hard[model, items]
            if (hard < 0).any():
                raise InputError(f"{metric.name} needs a predicted label for every item; drop the others")
            second = self.given.categories[hard]
        else:
            second = self.given.scores[model, items]
        value = user.function(drawn, second)
        if np.ndim(value) != 0:
            raise InputError(f"the function {metric.name} returned an array of shape {np.shape(value)}, not one number")
        return float(value)


class NumberRankPart(WholePart):
    """Spearman's correlation of predicted and drawn numbers."""

    def values(self, truth: NDArray[Any], items: Places, weights: ItemWeights | None, advance: Advance) -> Floats:
        """Correlate the ranks of every draw; a weight counts as so many equal items."""
        points, n_samples = self.given.points[:, items], truth.shape[1]
        out = np.full((1, len(points), n_samples), np.nan)
        rows = np.ones((items.size, 1)) if weights is None else weights.all_rows()[items]
        ranked: list[Floats] = []
        for s in range(n_samples):
            weight = rows[:, s % rows.shape[1]]
            if weights is not None or not ranked:
                ranked = [_midranks(one, weight) for one in points]
            share, drawn = weight / weight.sum(), _midranks(truth[items, s], weight)
            for m, own in enumerate(ranked):
                out[0, m, s] = correlation(np.array([drawn, own, drawn**2, own**2, drawn * own]) @ share)
            advance(len(points))
        return np.repeat(out, len(self.metrics), axis=0)


def _midranks(values: Floats, weight: Floats) -> Floats:
    """Return the weight below each value plus half of its own, centred."""
    _, at = np.unique(values, return_inverse=True)
    mass = np.bincount(at, weight)
    return (np.cumsum(mass) - mass / 2)[at] - weight.sum() / 2


WHOLE_PARTS: dict[str, type[WholePart]] = {
    "curve": CurvePart,
    "function": FunctionPart,
    "number_rank": NumberRankPart,
}


def _step_ends(ordered: Floats) -> NDArray[np.bool_]:
    return np.append(ordered[1:] != ordered[:-1], True)


def _label_weights(truth: Codes, weights: Floats, n_labels: int) -> Floats:
    """Return the weight of the items with each label, shape (label, sample)."""
    each = weights if weights.size else NO_WEIGHTS
    return np.stack(
        [((truth == k) * each if each.size else truth == k).sum(axis=0, dtype=np.float64) for k in range(n_labels)]
    )


def _one_against_rest(wins: Floats, count: Floats, labels: list[int]) -> Floats:
    """Return the mean over labels of their areas, NaN where one of them does not exist, shape (model, sample)."""
    others = count.sum(axis=0) - count
    pairs = (count * others)[labels]
    won = wins.sum(axis=2)[:, labels] - np.stack([wins[:, k, k] for k in labels], axis=1)
    area = np.divide(won, pairs, out=np.full(won.shape, np.nan), where=np.broadcast_to(pairs > 0, won.shape))
    return area.mean(axis=1)


def _one_against_one(wins: Floats, count: Floats, labels: list[int]) -> Floats:
    """Return the mean over pairs of labels that occur, both ways."""
    both = count[:, None] * count[None]
    exists = (both > 0) & ~np.eye(len(count), dtype=bool)[:, :, None]
    if len(labels) == 1:  # of two labels one walk tells both ways
        exists[0] = False
    area = np.divide(wins, both, out=np.zeros(wins.shape), where=np.broadcast_to(exists, wins.shape))
    n_pairs = exists.sum(axis=(0, 1)).astype(np.float64)
    total = area.sum(axis=(1, 2))
    return np.divide(total, n_pairs, out=np.full(total.shape, np.nan), where=np.broadcast_to(n_pairs > 0, total.shape))


def _mean_precision(precisions: Floats) -> Floats:
    value, positive = precisions[:, :, 0], precisions[:, :, 1]
    return np.divide(value, positive, out=np.full(value.shape, np.nan), where=positive > 0).mean(axis=1)


class NumberPart(Part):
    """Scores that are made from means over items."""

    def __init__(self, predictions: Predictions, metrics: Sequence["Metric"]) -> None:
        super().__init__(predictions, metrics)
        # Each coverage has ends of its own.
        self._terms = [[(term, m.number) for term in m.record.kernel.terms] for m in metrics]
        self._order = list(dict.fromkeys(term for terms in self._terms for term in terms))
        self.n_components = len(self._order)
        self._numbers, self._levels = np.asarray(predictions.numbers), np.asarray(predictions.levels)
        # Moments about the mean prediction of each model: those about 0 would lose digits far from it.
        self._centre = self.given.points.mean(axis=1)
        self._ends = {number: self._interval(number) for term, number in self._order if term == "inside"}

    def _interval(self, percent: float | None) -> Floats:
        tail = (1 - (percent or 0) / 100) / 2
        if not 0 < tail < 0.5 or self._levels[0] > tail + 1e-9 or self._levels[-1] < 1 - tail - 1e-9:
            raise InputError(
                f"interval_coverage_{percent:g} needs quantiles at {tail:g} and {1 - tail:g} or samples beyond them; "
                f"the predictions go from {self._levels[0]:g} to {self._levels[-1]:g}"
            )
        at = np.interp([tail, 1 - tail], self._levels, np.arange(self._levels.size))
        below, part = np.minimum(at.astype(int), self._levels.size - 2), at - at.astype(int)
        part += at.astype(int) - below
        return self._numbers[:, :, below] * (1 - part) + self._numbers[:, :, below + 1] * part

    def add(self, block: DrawBlock, weights: Floats, total: Floats, moments: Moments) -> None:
        """Add every term of every model."""
        truth = np.asarray(block.number)
        for m, points in enumerate(self.given.points[:, block.items]):
            for c, (term, number) in enumerate(self._order):
                value = self._term(term, number, truth, points[:, None], m, block)
                total[c, m] += np.einsum("is,is->s", value, weights) if weights.size else value.sum(axis=0)
                if moments.item.size:
                    moments.item[c, m] += value.sum(axis=1)
                    moments.square[c, m] += np.square(value).sum()

    def _term(
        self, term: str, number: float | None, truth: Floats, points: Floats, model: int, block: DrawBlock
    ) -> Floats:
        if term == "crps":
            return crps(self._numbers[model, block.items], self._levels, truth)
        if term == "inside":
            ends = self._ends[number][model, block.items]
            return ((truth >= ends[:, :1]) & (truth <= ends[:, 1:])).astype(np.float64)
        if term.startswith("d"):
            away = points - truth
            return away if term == "difference" else np.abs(away) if term == "distance" else away**2
        of = {"truth": truth - self._centre[model], "point": points - self._centre[model]}
        one, _, two = term.removesuffix("^2").partition("*")
        value = of[one] ** 2 if term.endswith("^2") else of[one] * of[two] if two else of[one]
        return np.broadcast_to(value, truth.shape)

    def component_of(self, metric: int) -> int | None:
        """Return its only term, None for a root or a correlation."""
        mean = len(self._terms[metric]) == 1 and self.metrics[metric].record.pattern != "rmse"
        return self._order.index(self._terms[metric][0]) if mean else None

    def finish(self, sums: Floats, total: Floats) -> Floats:
        """Make every score from the means of its terms."""
        rows = [[self._order.index(term) for term in terms] for terms in self._terms]
        return np.stack([m.record.kernel.finish(sums[at] / total) for m, at in zip(self.metrics, rows)])


def crps(numbers: Floats, levels: Floats, truth: Floats) -> Floats:
    """CRPS of quantiles (item, level) against drawn numbers (item, sample): twice the mean pinball loss.

    Of samples, whose levels are (j - 1/2) / n, it is the CRPS of their empirical distribution exactly.

    Examples
    --------
    >>> crps(np.array([[0.0, 1.0]]), np.array([0.25, 0.75]), np.array([[0.5, 2.0]])).tolist()
    [[0.25, 1.25]]
    """
    width, out = level_widths(levels), np.empty(truth.shape)
    under, over = width * levels, width * (1 - levels)
    for i, (quantiles, drawn) in enumerate(zip(numbers, truth)):
        k = np.searchsorted(quantiles, drawn)
        below, above = (np.append(0, np.cumsum(part)) for part in (under, over))
        below_q, above_q = (np.append(0, np.cumsum(part * quantiles)) for part in (under, over))
        out[i] = below[k] * drawn - below_q[k] + (above_q[-1] - above_q[k]) - (above[-1] - above[k]) * drawn
    return 2 * out
