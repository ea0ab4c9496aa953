"""Comparisons as counts per cell, and the log likelihood of the cells with its gradient."""

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Codes, Floats
from bayesagree.annotations.comparisons import Comparisons

type Likelihood = Literal["davidson", "rao_kupper"]


class Natural(NamedTuple):
    """Parameters as the likelihood reads them, or its slopes by them."""

    strength: Floats  # (entry,): of a model, or of a model on an item
    discrimination: Floats  # (annotator,)
    tie: Floats  # (annotator,): log of nu
    order: Floats  # (annotator,)
    covariate: Floats  # (covariate,)


@dataclass(frozen=True, eq=False)
class Cells:
    """Comparisons that differ in nothing but their outcome, counted."""

    first: Codes  # entry of strength, (cell,)
    second: Codes
    annotator: Codes  # 0 where annotators are unknown
    covariates: Floats  # (cell, covariate)
    counts: Floats  # (cell, outcome): first wins, second wins, tie
    entry_model: Codes  # model of each entry of strength, (entry,)
    n_annotators: int

    def log_likelihood(self, at: Natural, likelihood: Likelihood) -> tuple[float, Natural]:
        """Return the log likelihood and its slopes; a tie parameter of minus infinity has no ties."""
        kernel = _davidson if likelihood == "davidson" else _rao_kupper
        slopes = Natural(*(np.zeros(part.size) for part in at))
        with np.errstate(over="ignore"):
            odds = np.exp(at.tie)
        value = kernel(
            self.first, self.second, self.annotator, self.covariates, self.counts, at.strength, at.discrimination,
            at.tie, odds, at.order, at.covariate, *slopes,
        )  # fmt: skip
        return float(value), slopes

    def counted(self, place: NDArray[np.int64]) -> "Cells":
        """Return these cells with the counts of some comparisons, each three times its cell plus its outcome."""
        counts = np.bincount(place, minlength=self.counts.size).reshape(self.counts.shape).astype(float)
        return replace(self, counts=counts)

    def probabilities(self, at: Natural, likelihood: Likelihood) -> Floats:
        """Return the probability of each outcome, shape (outcome, cell)."""
        k = self.annotator
        quality = at.strength[self.first] - at.strength[self.second] + self.covariates @ at.covariate
        distance = at.discrimination[k] * quality + at.order[k]
        return np.stack(outcome_probabilities(distance, np.exp(at.tie)[k], likelihood))

    def information(self, at: Natural, likelihood: Likelihood) -> tuple[Floats, Floats, Floats]:
        """Return the expected information on distance, on both, and on the log odds of a tie, each (cell,)."""
        p, odds = self.probabilities(at, likelihood), np.exp(at.tie)[self.annotator]
        if likelihood == "davidson":
            apart = (p[0] - p[1]) / 2
            by_distance = np.stack([0.5 - apart, -0.5 - apart, -apart])
            by_tie = np.stack([-p[2], -p[2], 1 - p[2]])
        else:
            up, down, share = 1 - p[0], 1 - p[1], odds / (1 + odds)
            by_distance = np.stack([up, -down, up - down])
            by_tie = np.stack([-share * up, -share * down, 1 + odds / (2 + odds) - share * (up + down)])
        n = self.counts.sum(axis=1)
        pairs = ((by_distance, by_distance), (by_distance, by_tie), (by_tie, by_tie))
        return tuple(n * (p * a * b).sum(axis=0) for a, b in pairs)  # pyright: ignore[reportReturnType]


def cells_of(comparisons: Comparisons, *, oriented: bool, by_item: bool) -> tuple[Cells, NDArray[np.int64]]:
    """Count comparisons; where the order has no effect both orders of a pair are one cell.

    Also return three times the cell plus the outcome of each comparison, shape (row,).
    """
    c = comparisons
    entry_model = np.arange(c.models.size, dtype=np.int32)
    first, second = c.first, c.second
    if by_item:
        key = c.item_index.astype(np.int64) * c.models.size
        used, entry = np.unique(np.concatenate([key + first, key + second]), return_inverse=True)
        entry_model = (used % c.models.size).astype(np.int32)
        first, second = np.split(entry.astype(np.int32), 2)
    values, outcome = c.covariate_values, c.outcome
    if not oriented:
        turned = first > second
        first, second = np.where(turned, second, first), np.where(turned, first, second)
        values = np.where(turned[:, None], -values, values) + 0.0
        outcome = np.where(turned & (outcome < 2), 1 - outcome, outcome)
    who = np.maximum(c.annotator_index, 0)
    rows = np.lexsort((*values.T, who, second, first))
    codes = np.stack([first, second, who])[:, rows]
    new = np.ones(rows.size, bool)
    new[1:] = (codes[:, 1:] != codes[:, :-1]).any(axis=0) | (values[rows[1:]] != values[rows[:-1]]).any(axis=1)
    cell = np.cumsum(new) - 1
    place = np.empty(rows.size, np.int64)
    place[rows] = cell * 3 + outcome[rows]
    counts = np.bincount(place, minlength=3 * (int(cell[-1]) + 1)).reshape(-1, 3).astype(float)
    first, second, who = (np.ascontiguousarray(part[new]) for part in codes)
    values, n_annotators = np.ascontiguousarray(values[rows][new]), max(c.annotators.size, 1)
    return Cells(first, second, who, values, counts, entry_model, n_annotators), place


@numba.njit(cache=True, nogil=True)
def _davidson(
    first, second, annotator, covariates, counts, strength, discrimination, tie, odds, order, slope,
    by_strength, by_discrimination, by_tie, by_order, by_slope,
):  # fmt: skip
    """Add the slopes to the last five arrays; return the value."""
    value = 0.0
    for c in range(first.size):
        i, j, k = first[c], second[c], annotator[c]
        quality = strength[i] - strength[j]
        for x in range(slope.size):
            quality += covariates[c, x] * slope[x]
        half = 0.5 * (discrimination[k] * quality + order[k])
        wins, losses, ties = counts[c, 0], counts[c, 1], counts[c, 2]
        n = wins + losses + ties
        # The log weights half, -half and tie, less the larger of the first two.
        small = math.exp(-abs(half))
        total = 1.0 + small * small + odds[k] * small
        apart = (1.0 - small * small) / total
        value += (wins - losses) * half - n * (abs(half) + math.log(total))
        by_half = wins - losses - n * (apart if half > 0.0 else -apart)
        if ties > 0.0:
            value += ties * tie[k]
        by_tie[k] += ties - n * odds[k] * small / total
        by_order[k] += 0.5 * by_half
        by_discrimination[k] += 0.5 * by_half * quality
        by_quality = 0.5 * by_half * discrimination[k]
        by_strength[i] += by_quality
        by_strength[j] -= by_quality
        for x in range(slope.size):
            by_slope[x] += by_quality * covariates[c, x]
    return value


@numba.njit(cache=True, nogil=True)
def _rao_kupper(
    first, second, annotator, covariates, counts, strength, discrimination, tie, odds, order, slope,
    by_strength, by_discrimination, by_tie, by_order, by_slope,
):  # fmt: skip
    """Add the slopes to the last five arrays; return the value.

    The threshold is eta = log(1 + nu), so that two equal models tie as often as in the model of Davidson.
    """
    value = 0.0
    for c in range(first.size):
        i, j, k = first[c], second[c], annotator[c]
        quality = strength[i] - strength[j]
        for x in range(slope.size):
            quality += covariates[c, x] * slope[x]
        distance, eta = discrimination[k] * quality + order[k], math.log1p(odds[k])
        ties = counts[c, 2]
        up, down = counts[c, 0] + ties, counts[c, 1] + ties
        # Pr(first) = expit(distance - eta), Pr(second) = expit(-distance - eta), and a tie has
        # nu (2 + nu) times their product.
        log_up, fail_up = _log_expit(distance - eta)
        log_down, fail_down = _log_expit(-distance - eta)
        value += up * log_up + down * log_down
        if ties > 0.0:
            value += ties * (tie[k] + math.log(2.0 + odds[k]))
        by_distance = up * fail_up - down * fail_down
        by_tie[k] -= (up * fail_up + down * fail_down) * odds[k] / (1.0 + odds[k])
        by_tie[k] += ties * (1.0 + odds[k] / (2.0 + odds[k]))
        by_order[k] += by_distance
        by_discrimination[k] += by_distance * quality
        by_quality = by_distance * discrimination[k]
        by_strength[i] += by_quality
        by_strength[j] -= by_quality
        for x in range(slope.size):
            by_slope[x] += by_quality * covariates[c, x]
    return value


@numba.njit(cache=True, nogil=True)
def _log_expit(x):
    """Return log expit(x) and expit(-x)."""
    small = math.exp(-abs(x))
    if x > 0.0:
        return -math.log1p(small), small / (1.0 + small)
    return x - math.log1p(small), 1.0 / (1.0 + small)


def outcome_probabilities(distance: Floats, odds: Floats, likelihood: Likelihood) -> tuple[Floats, Floats, Floats]:
    """Return the probabilities that the first wins, that the second wins, and of a tie."""
    if likelihood == "davidson":
        small = np.exp(-np.abs(distance) / 2)
        total = 1 + small**2 + odds * small
        high, low = 1 / total, small**2 / total
        return np.where(distance > 0, high, low), np.where(distance > 0, low, high), odds * small / total
    eta = np.log1p(odds)
    up, down = 1 / (1 + np.exp(eta - distance)), 1 / (1 + np.exp(eta + distance))
    return up, down, odds * (2 + odds) * up * down
