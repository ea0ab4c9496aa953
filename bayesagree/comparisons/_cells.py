"""Comparisons as counts per cell, and the log likelihood of the cells with its slopes and its information."""

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Codes, Floats
from bayesagree.annotations.comparisons import Comparisons
from bayesagree.errors import InputError
from bayesagree.inference.elementary import exp, log

type Likelihood = Literal["davidson", "rao_kupper"]

# Cells computed together: their intermediate numbers stay in the processor's first cache.
CHUNK = 256
# Strengths of models on items: the time of a start grows with the cube, and is minutes beyond.
MOST_ENTRIES = 3000


class Natural(NamedTuple):
    """Parameters as the likelihood reads them, or its slopes by them."""

    strength: Floats  # (entry,): of a model, or of a model on an item
    discrimination: Floats  # (annotator,)
    tie: Floats  # (annotator,): log of nu
    order: Floats  # (annotator,)
    covariate: Floats  # (covariate,)


@dataclass(frozen=True, eq=False)
class Cells:
    """Comparisons that differ in nothing but their outcome, counted; those of an annotator stand together."""

    first: Codes  # entry of strength, (cell,)
    second: Codes
    annotator: Codes  # 0 where annotators are unknown or alike
    start: NDArray[np.int64]  # first cell of each annotator, and the end, (annotator + 1,)
    covariates: Floats  # (covariate, cell)
    counts: Floats  # (outcome, cell): first wins, second wins, tie
    entry_model: Codes  # model of each entry of strength, (entry,)

    @property
    def n_annotators(self) -> int:
        """Number of annotators that are told apart."""
        return self.start.size - 1

    def log_likelihood(self, at: Natural, likelihood: Likelihood) -> tuple[float, Natural]:
        """Return the log likelihood and its slopes; a tie parameter of minus infinity has no ties."""
        slopes = Natural(*(np.zeros(part.size) for part in at))
        with np.errstate(over="ignore"):
            odds = np.exp(at.tie)
        value = _log_likelihood(
            likelihood == "davidson", self.first, self.second, self.start, self.covariates, self.counts,
            *at, odds, *slopes,
        )  # fmt: skip
        return float(value), slopes

    def counted(self, place: NDArray[np.int64]) -> "Cells":
        """Return these cells with the counts of some comparisons, by their places in the table of counts."""
        counts = np.bincount(place, minlength=self.counts.size).reshape(self.counts.shape).astype(float)
        return replace(self, counts=counts)

    def probabilities(self, at: Natural, likelihood: Likelihood) -> Floats:
        """Return the probability of each outcome, shape (outcome, cell)."""
        distance = at.discrimination[self.annotator] * self._quality(at) + at.order[self.annotator]
        return np.stack(outcome_probabilities(distance, np.exp(at.tie)[self.annotator], likelihood))

    def information(self, at: Natural, likelihood: Likelihood) -> Floats:
        """Return the expected information on the natural parameters in a row, of discriminations on their logarithms.

        Shape (parameter, parameter).
        """
        p, odds = self.probabilities(at, likelihood), np.exp(at.tie)[self.annotator]
        by_distance = slopes_by_distance(p, likelihood)
        if likelihood == "davidson":
            by_tie = np.stack([-p[2], -p[2], 1 - p[2]])
        else:
            up, down, share = 1 - p[0], 1 - p[1], odds / (1 + odds)
            by_tie = np.stack([-share * up, -share * down, 1 + odds / (2 + odds) - share * (up + down)])
        n = self.counts.sum(axis=0)
        pairs = ((by_distance, by_distance), (by_distance, by_tie), (by_tie, by_tie))
        weights = np.stack([n * (p * a * b).sum(axis=0) for a, b in pairs])
        slope = at.discrimination[self.annotator]
        found = np.zeros((sum(part.size for part in at),) * 2)
        _add_information(
            self.first, self.second, self.annotator, self.covariates, slope, slope * self._quality(at), weights,
            at.strength.size, self.n_annotators, found,
        )  # fmt: skip
        return found + np.tril(found, -1).T

    def _quality(self, at: Natural) -> Floats:
        return at.strength[self.first] - at.strength[self.second] + at.covariate @ self.covariates


def cells_of(
    comparisons: Comparisons, *, oriented: bool, by_item: bool, by_annotator: bool = True
) -> tuple[Cells, NDArray[np.int64]]:
    """Count comparisons; where the order has no effect both orders of a pair are one cell.

    Also return the place of each comparison in the table of counts, shape (row,).
    """
    c = comparisons
    entry_model = np.arange(c.models.size, dtype=np.int32)
    first, second = c.first, c.second
    if by_item:
        key = c.item_index.astype(np.int64) * c.models.size
        used, entry = np.unique(np.concatenate([key + first, key + second]), return_inverse=True)
        if used.size > MOST_ENTRIES:
            raise InputError(
                f"item_effects=True: {used.size} strengths of a model on an item, more than {MOST_ENTRIES}, whose "
                "joint curvature is a full matrix; leave item_effects out, or take a part of the items"
            )
        entry_model = (used % c.models.size).astype(np.int32)
        first, second = np.split(entry.astype(np.int32), 2)
    values, outcome = c.covariate_values, c.outcome
    if not oriented:
        turned = first > second
        first, second = np.where(turned, second, first), np.where(turned, first, second)
        values = np.where(turned[:, None], -values, values) + 0.0
        outcome = np.where(turned & (outcome < 2), 1 - outcome, outcome)
    who = np.maximum(c.annotator_index, 0) if by_annotator else np.zeros_like(first)
    rows = np.lexsort((*values.T, second, first, who))
    codes = np.stack([first, second, who])[:, rows]
    new = np.ones(rows.size, bool)
    new[1:] = (codes[:, 1:] != codes[:, :-1]).any(axis=0) | (values[rows[1:]] != values[rows[:-1]]).any(axis=1)
    cell, n_cells = np.cumsum(new) - 1, int(new.sum())
    place = np.empty(rows.size, np.int64)
    place[rows] = outcome[rows] * np.int64(n_cells) + cell
    first, second, who = (np.ascontiguousarray(part[new]) for part in codes)
    start = np.searchsorted(who, np.arange((max(c.annotators.size, 1) if by_annotator else 1) + 1))
    covariates = np.ascontiguousarray(values[rows][new].T)
    cells = Cells(first, second, who, start, covariates, np.zeros((3, n_cells)), entry_model)
    return cells.counted(place), place


@numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def _log_likelihood(
    davidson, first, second, start, covariates, counts, strength, discrimination, tie, order, slope, odds,
    by_strength, by_discrimination, by_tie, by_order, by_slope,
):  # fmt: skip
    """Add the slopes to the last five arrays; return the value.

    Davidson: log weights d/2, -d/2 and log nu of a distance d. Rao and Kupper: Pr(first) = expit(d - eta),
    Pr(second) = expit(-d - eta); a tie has nu (2 + nu) times their product, with eta = log(1 + nu), so that two equal
    models tie as often as in the model of Davidson. Sums are kept for each place in a chunk, for the processor to
    compute several cells in one instruction.
    """
    room = np.empty((5, CHUNK))
    quality, by_quality, value, of_tie, n_ties = room[0], room[1], room[2], room[3], room[4]
    whole = 0.0
    for k in range(start.size - 1):
        a, g, nu = discrimination[k], order[k], odds[k]
        room[2:] = 0.0
        for begin in range(start[k], start[k + 1], CHUNK):
            size = min(CHUNK, start[k + 1] - begin)
            i, j = first[begin : begin + size], second[begin : begin + size]
            wins, losses, ties = counts[0, begin : begin + size], counts[1, begin : begin + size], counts[2, begin:]
            for c in range(size):
                quality[c] = strength[i[c]] - strength[j[c]]
            for x in range(slope.size):
                for c in range(size):
                    quality[c] += slope[x] * covariates[x, begin + c]
            if davidson:
                for c in range(size):
                    half = 0.5 * (a * quality[c] + g)
                    far = abs(half)
                    small = exp(-far)
                    total = 1.0 + small * (small + nu)
                    share = (wins[c] + losses[c] + ties[c]) / total
                    apart = share * (1.0 - small * small)
                    value[c] += (wins[c] - losses[c]) * half - (wins[c] + losses[c] + ties[c]) * (far + log(total))
                    of_tie[c] -= share * small
                    n_ties[c] += ties[c]
                    by_quality[c] = 0.5 * (wins[c] - losses[c] - (apart if half > 0.0 else -apart))
            else:
                for c in range(size):
                    distance = a * quality[c] + g
                    ahead = distance > 0.0
                    small = exp(-abs(distance))
                    high, low = 1.0 + (1.0 + nu) * small, 1.0 + nu + small
                    n_high = ties[c] + (wins[c] if ahead else losses[c])
                    n_low = ties[c] + (losses[c] if ahead else wins[c])
                    fail_high, fail_low = n_high * (1.0 + nu) * small / high, n_low * (1.0 + nu) / low
                    value[c] -= n_high * log(high) + n_low * (abs(distance) + log(low))
                    of_tie[c] -= (fail_high + fail_low) / (1.0 + nu)
                    n_ties[c] += ties[c]
                    by_quality[c] = fail_high - fail_low if ahead else fail_low - fail_high
            for c in range(size):
                by_order[k] += by_quality[c]
                by_discrimination[k] += by_quality[c] * quality[c]
                by_strength[i[c]] += a * by_quality[c]
                by_strength[j[c]] -= a * by_quality[c]
            for x in range(slope.size):
                for c in range(size):
                    by_slope[x] += a * by_quality[c] * covariates[x, begin + c]
        tied = n_ties.sum()
        whole += value.sum()
        by_tie[k] += nu * of_tie.sum() + (tied if davidson else tied * (1.0 + nu / (2.0 + nu)))
        if tied > 0.0:
            whole += tied * (tie[k] if davidson else tie[k] + np.log(2.0 + nu))
    return whole


@numba.njit(cache=True, nogil=True)
def _add_information(
    first, second, annotator, covariates, slope, turned, weights, n_entries, n_annotators, found
):  # fmt: skip
    """Add the information of each cell to the lower triangle of a matrix."""
    n_covariates = covariates.shape[0]
    place, by = np.empty(4 + n_covariates, np.int64), np.empty(4 + n_covariates)
    for c in range(first.size):
        k = annotator[c]
        place[0], place[1] = first[c], second[c]
        by[0], by[1] = slope[c], -slope[c]
        place[2], by[2] = n_entries + k, turned[c]
        place[3], by[3] = n_entries + 2 * n_annotators + k, 1.0
        for x in range(n_covariates):
            place[4 + x], by[4 + x] = n_entries + 3 * n_annotators + x, slope[c] * covariates[x, c]
        tie = n_entries + n_annotators + k
        found[tie, tie] += weights[2, c]
        for p in range(place.size):
            row, share = place[p], by[p]
            found[max(row, tie), min(row, tie)] += weights[1, c] * share
            for q in range(place.size):
                if place[q] <= row:
                    found[row, place[q]] += weights[0, c] * share * by[q]


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


def slopes_by_distance(p: Floats, likelihood: Likelihood) -> Floats:
    """Return the slope of the log probability of each outcome by the distance, shape of p, (outcome, ...)."""
    if likelihood == "davidson":
        return np.reshape([0.5, -0.5, 0.0], (3,) + (1,) * (p.ndim - 1)) - (p[0] - p[1]) / 2
    return np.stack([1 - p[0], p[1] - 1, p[1] - p[0]])
