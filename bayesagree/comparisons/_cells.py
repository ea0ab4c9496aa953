"""Comparisons as counts per cell, and the log likelihood of the cells with its slopes and its information."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy as sp

from bayesagree._types import Codes, Floats, Integers
from bayesagree.annotations.comparisons import Comparisons
from bayesagree.errors import InputError

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
    """Comparisons that differ in nothing but their outcome, counted."""

    first: Integers  # entry of strength, (cell,)
    second: Integers
    annotator: Integers  # 0 where annotators are unknown or alike
    n_annotators: int  # number of annotators that are told apart
    covariates: Floats  # (covariate, cell)
    counts: Floats  # (outcome, cell): first wins, second wins, tie
    entry_model: Codes  # model of each entry of strength, (entry,)

    def log_likelihood(self, at: Natural) -> tuple[float, Natural]:
        """Return the log likelihood and its slopes; a tie parameter of minus infinity has no ties.

        Of a distance d the log weights of the outcomes are d/2, -d/2 and log nu.
        """
        k, (wins, losses, ties) = self.annotator, self.counts
        quality, slope, odds = self._quality(at), at.discrimination[k], np.exp(at.tie)[k]
        half, ahead, n = (slope * quality + at.order[k]) / 2, wins - losses, wins + losses + ties
        far = np.abs(half)
        small = np.exp(-far)
        total = 1 + small * (small + odds)
        tied = np.bincount(k, ties, self.n_annotators)
        value = ahead @ half - n @ (far + np.log(total)) + tied[tied > 0] @ at.tie[tied > 0]
        share = n / total
        by_distance = (ahead - np.sign(half) * share * (1 - small**2)) / 2
        along = slope * by_distance
        ends = (np.bincount(end, along, at.strength.size) for end in (self.first, self.second))
        of_annotators = (by_distance * quality, ties - share * odds * small, by_distance)
        by_slope, by_tie, by_order = (np.bincount(k, part, self.n_annotators) for part in of_annotators)
        return float(value), Natural(next(ends) - next(ends), by_slope, by_tie, by_order, self.covariates @ along)

    def probabilities(self, at: Natural) -> Floats:
        """Return the probability of each outcome, shape (outcome, cell)."""
        distance = at.discrimination[self.annotator] * self._quality(at) + at.order[self.annotator]
        return np.stack(outcome_probabilities(distance, np.exp(at.tie)[self.annotator]))

    def information(self, at: Natural) -> Floats:
        """Return the expected information on the natural parameters in a row, of discriminations on their logarithms.

        Shape (parameter, parameter).
        """
        p, n_entries, n = self.probabilities(at), at.strength.size, self.n_annotators
        by_distance, by_tie = slopes_by_distance(p), np.stack([-p[2], -p[2], 1 - p[2]])
        cell, slope = np.arange(self.first.size), at.discrimination[self.annotator]
        # Slopes of the distance of each cell by the parameters, and of its tie parameter.
        columns = [self.first, self.second, n_entries + self.annotator, n_entries + 2 * n + self.annotator]
        values = [slope, -slope, slope * self._quality(at), np.ones(cell.size)]
        columns += [np.full(cell.size, n_entries + 3 * n + x) for x in range(len(self.covariates))]
        values += [slope * covariate for covariate in self.covariates]
        shape = (cell.size, n_entries + 3 * n + len(self.covariates))
        place = np.tile(cell, len(columns)), np.concatenate(columns)
        of_distance = sp.sparse.csr_array((np.concatenate(values), place), shape=shape)
        of_tie = sp.sparse.csr_array((np.ones(cell.size), (cell, n_entries + n + self.annotator)), shape=shape)
        found, often = np.zeros((shape[1],) * 2), self.counts.sum(axis=0) * p
        of_each = ((of_distance, by_distance), (of_tie, by_tie))
        for left, a in of_each:
            for right, b in of_each:
                found += (left.T @ (right * (often * a * b).sum(axis=0)[:, None])).toarray()
        return found

    def _quality(self, at: Natural) -> Floats:
        return at.strength[self.first] - at.strength[self.second] + at.covariate @ self.covariates


def cells_of(comparisons: Comparisons, *, oriented: bool, by_item: bool, by_annotator: bool = True) -> Cells:
    """Count comparisons; where the order has no effect both orders of a pair are one cell."""
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
    codes, values = np.stack([first, second, who]).astype(np.int64)[:, rows], values[rows]
    new = np.append(True, (codes[:, 1:] != codes[:, :-1]).any(axis=0) | (values[1:] != values[:-1]).any(axis=1))
    cell, size = np.cumsum(new) - 1, int(new.sum())
    counts = np.bincount(outcome[rows] * size + cell, minlength=3 * size).reshape(3, size).astype(float)
    n_annotators = max(c.annotators.size, 1) if by_annotator else 1
    first, second, who = codes[:, new]
    return Cells(first, second, who, n_annotators, values[new].T, counts, entry_model)


def outcome_probabilities(distance: Floats, odds: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the probabilities that the first wins, that the second wins, and of a tie."""
    small = np.exp(-np.abs(distance) / 2)
    total = 1 + small**2 + odds * small
    high, low = 1 / total, small**2 / total
    return np.where(distance > 0, high, low), np.where(distance > 0, low, high), odds * small / total


def slopes_by_distance(p: Floats) -> Floats:
    """Return the slope of the log probability of each outcome by the distance, shape of p, (outcome, ...)."""
    return np.reshape([0.5, -0.5, 0.0], (3,) + (1,) * (p.ndim - 1)) - (p[0] - p[1]) / 2
