"""Metrics of predicted numbers against drawn numbers, such as the mean rating of each item.

A model that predicts a distribution is scored at its mean, by the CRPS as a whole and by the coverage of its intervals.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesagree._numerics.types import Floats
from bayesagree.annotations._numbers import level_widths
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.blocks import DrawBlock
from bayesagree.errors import InputError
from bayesagree.metrics._parts import Moments, Part

if TYPE_CHECKING:
    from bayesagree.metrics.registry import Metric


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
