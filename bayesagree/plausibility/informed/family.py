"""The family of items: open ones, clear ones, and those of which the predictions know the best label only.

Item i has votes n_i and predictions x_i that give each label a log weight, e_ik = sum_f slope_f x_ikf; the last of x is
the log share of label k of all votes. With m_i = (1 - FLOOR) softmax(e_i) + FLOOR / K:

    open        lambda_i ~ Dirichlet(s_i m_i)                                       weight 1 - b
    best known  lambda_i ~ Dirichlet(A / K, ...) w(argmax lambda_i) K               weight b
    clear of k  lambda_i ~ Dirichlet(S ((1 - blur) e_k + blur m_i))                 weight exp(odds_i) m_ik
    w_i = (1 - FLOOR) softmax(sharpness e_i) + FLOOR / K,     n_i ~ Multinomial(lambda_i).

The entropy of m_i moves s_i and odds_i. Votes have a Dirichlet-multinomial probability under the first and the third,
and DM(n; A / K) K sum_k w_k Pr(k is best | A / K + n) under the second, where Pr(k is best | ...) depends on the sorted
counts alone: a table of few rows, linear in log A between the points of a grid.

Parameters come many vectors at a time, which are the last axis of every array here, the axis along which loops run.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit, gammainc, gammaln

from bayesagree._types import Array, Floats, Integers, Places, Rng
from bayesagree.inference.kernel_draws import categories, log_dirichlets
from bayesagree.plausibility.informed.covariates import Covariates
from bayesagree.plausibility.informed.prior import SHAPE_NAMES

# Share of the prior mean that is spread over all labels, so that none is impossible.
FLOOR = 1e-3
# Entropy as a share of its maximum is between 0 and 1 and about .4 for items of middling ambiguity: centred there, its
# slopes hardly correlate with their levels.
ENTROPY_CENTRE, ENTROPY_SCALE = 0.4, 3.0
# Log of A, the concentration of items whose best label alone is known.
LOG_A = np.linspace(-3.0, 4.2, 61)
# Factors of a rising factorial that are multiplied; log Gamma is several times slower.
MULTIPLIED = 6
# Log concentrations, and log odds, beyond which nothing changes: in single precision products of factors stay finite.
MOST_LOG, MOST_ODDS = 14.0, 80.0


class Alike(NamedTuple):
    """Items of the same sorted counts: `row` of each item, distinct `number` of votes, labels with it (row, number)."""

    row: Places
    number: Integers
    labels: Integers

    @classmethod
    def of(cls, counts: Integers) -> Self:
        """Compare the counts of items (item, label)."""
        rows, row = np.unique(-np.sort(-counts, axis=1), axis=0, return_inverse=True)
        number = np.unique(counts)
        return cls(row.ravel(), number, (rows[:, :, None] == number).sum(axis=1))

    def log_votes(self, concentration: Floats, n_labels: int) -> Floats:
        """Log probability of votes in one order under equal shapes of so much in all, shape (item, vector)."""
        each = self.labels.astype(concentration.dtype) @ rising_alike(concentration / n_labels, self.number)
        return (each - rising_alike(concentration, self.labels @ self.number))[self.row]


def best_table(counts: Integers, alike: Alike) -> tuple[Floats, Places]:
    """Return log probabilities that a label is best under Dirichlet(A / K + counts), and where those of labels stand.

    Of shapes (entry, log A) and (item, label): an entry is a number of votes within distinct sorted counts. They
    integrate over the largest of independent gamma variables: int f_k(g) prod_(j != k) F_j(g) dg.
    """
    (row, votes, labels_of), entry = alike, np.zeros(alike.labels.shape, np.intp)
    entry[np.nonzero(labels_of)] = np.arange((labels_of > 0).sum())
    log_best = _log_best(counts.shape[1], votes.astype(float).tobytes(), labels_of.astype(float).tobytes())
    return log_best, entry[row[:, None], np.searchsorted(votes, counts)]


@lru_cache(maxsize=16)
def _log_best(n_labels: int, of_votes: bytes, of_labels: bytes) -> Floats:
    """Compute the table from `Alike.number` and `Alike.labels`; who weighs annotators asks for the same many times."""
    votes = np.frombuffer(of_votes)
    labels_of = np.frombuffer(of_labels).reshape(-1, votes.size)
    row_of, place_of = np.nonzero(labels_of)
    number = labels_of[row_of, place_of]
    first = np.unique(row_of, return_index=True)[1]
    out = np.empty((row_of.size, LOG_A.size))
    for at, log_a in enumerate(LOG_A):
        shape = np.exp(log_a) / n_labels + votes[:, None]
        log_g = np.linspace(-12.0, np.log(shape.max() + 8 * np.sqrt(shape.max()) + 12), 160)
        below = np.log(np.maximum(gammainc(shape, np.exp(log_g)), 1e-300))
        alone = shape * log_g - np.exp(log_g) - gammaln(shape) - below
        best = np.exp(alone[place_of] + (labels_of @ below)[row_of]).sum(axis=1)
        out[:, at] = np.log(np.maximum(best / np.add.reduceat(best * number, first)[row_of], 1e-290))
    out[~(labels_of @ votes > 0)[row_of]] = -np.log(n_labels)
    return out


def best_at(log_best: Floats, log_a: Floats) -> Floats:
    """Return the probabilities of a table at each log A, shape (entry, log A)."""
    place = np.clip((log_a - LOG_A[0]) / (LOG_A[1] - LOG_A[0]), 0, LOG_A.size - 1)
    low = np.minimum(place.astype(int), LOG_A.size - 2)
    return np.exp(log_best[:, low] + (place - low) * (log_best[:, low + 1] - log_best[:, low]))


class Votes(NamedTuple):
    """The labels that got votes, the most votes first: item and `place` (label * items + item) of each such entry.

    `number` of its votes; `nth` lists the items with that many entries, and these; `total` (item,).
    """

    item: Places
    place: Places
    number: Integers
    nth: list[tuple[Places, Places]]
    total: Integers

    @classmethod
    def of(cls, counts: Integers) -> Self:
        """List the votes of counts (item, label)."""
        item, label = np.nonzero(counts)
        order = np.argsort(-counts[item, label], kind="stable")
        item, label = item[order], label[order]
        of_item = np.argsort(item, kind="stable")
        voted, start, size = np.unique(item[of_item], return_index=True, return_counts=True)
        nth = [(voted[size > n], of_item[start[size > n] + n]) for n in range(size.max(initial=0))]
        return cls(item, label * len(counts) + item, counts[item, label], nth, counts.sum(axis=1))

    def by_item(self, values: Floats, by: Any = np.add) -> Floats:
        """Sum values (entry, vector) of each item, or take the largest, at least 0."""
        out = np.zeros((self.total.size, values.shape[1]), values.dtype)
        for items, entries in self.nth:
            out[items] = by(out[items], values[entries])
        return out


class Items(NamedTuple):
    """Predictions and votes of items.

    Attributes
    ----------
    columns
        Covariates, shape (label, item, column): those of the scores, the top labels, and the log share of each label of
        all votes.
    counts, votes, alike
        Votes, shape (item, label), the same sparse, and the items whose votes differ by names of labels alone.
    best
        Log probabilities of being best, and the entry of each label there.
    """

    columns: Floats
    counts: Integers
    votes: Votes
    alike: Alike
    best: tuple[Floats, Places]

    @classmethod
    def of(cls, columns: Floats, counts: Integers) -> Self:
        """Lay out covariates and votes."""
        alike = Alike.of(counts)
        return cls(columns, counts, Votes.of(counts), alike, best_table(counts, alike))

    def rows(self, items: Any) -> "Items":
        """Return some of the items, in single precision: climbs alone take derivatives."""
        entries, at = np.unique(self.best[1][items], return_inverse=True)
        counts = self.counts[items]
        best = self.best[0][entries], at.reshape(counts.shape)
        columns: Any = np.ascontiguousarray(self.columns[:, items], np.float32)
        return Items(columns, counts, Votes.of(counts), Alike.of(counts), best)


def columns_of(covariates: Covariates, counts: Integers) -> Floats:
    """Lay out covariates, and the log share of each label of votes (item, label): shape (label, item, column)."""
    total, n_labels = counts.sum(axis=0) + 1.0, counts.shape[1]
    # Log odds of a model's top label at a slope of one: right in .9 of 3 and of 20 labels.
    columns = covariates.columns(hit=2 * np.log(max(n_labels, 2))).swapaxes(0, 1)
    share = np.broadcast_to(np.log(total / total.sum())[:, None, None], (n_labels, len(counts), 1))
    return np.concatenate([columns, share], axis=2)


class Kinds(NamedTuple):
    """What the kinds of items make of the votes, parameter vectors last.

    Attributes
    ----------
    logs
        Log probability of the votes in one order, of items that are open, of known best label, or clear, times that of
        being clear or not: shape (kind, item, vector).
    best_odds
        Log odds that an item that is not clear is of known best label, shape (vector,).
    clear, best
        Probability of each label of a clear item, of each best label of the second kind: (label, item, vector).
    mean, concentration
        Of an open item before its votes: m_i (label, item, vector), s_i (item, vector).
    clear_shape
        S blur, and S (1 - blur), which its own label has beside: (vector,) each.
    """

    logs: Floats
    best_odds: Floats
    clear: Floats
    best: Floats
    mean: Floats
    concentration: Floats
    clear_shape: tuple[Floats, Floats]

    def log_likelihoods(self, *best_odds: Floats) -> list[Floats]:
        """Log probability of the votes of each item in one order, (item, vector), at odds of the second kind."""
        top = self.logs.max(axis=0)
        opened, known, clear = np.exp(self.logs - top)
        known, opened = known - opened, opened + clear
        return [top + np.log(opened + known * expit(odds).astype(top.dtype)) for odds in best_odds]

    @property
    def chance(self) -> Floats:
        """Probability of each kind of an item given its votes, shape (kind, item, vector)."""
        weight, share = np.exp(self.logs - self.logs.max(axis=0)), expit(self.best_odds)
        weight[0] *= 1 - share
        weight[1] *= share
        return weight / weight.sum(axis=0)


def rising(shape: Floats, number: Integers) -> Floats:
    """Return log (a)_n = log Gamma(a + n) - log Gamma(a), shape (entry, vector), of n (entry,)."""
    if (number[1:] > number[:-1]).any():
        order = np.argsort(-number, kind="stable")
        return rising(shape[order], number[order])[np.argsort(order)]
    product = np.ones_like(shape)
    for r, end in enumerate(np.searchsorted(-number, -np.arange(min(number.max(initial=0), MULTIPLIED)))):
        product[:end] *= shape[:end] + r
    log, many = np.log(product, out=product), np.searchsorted(-number, -MULTIPLIED)
    exact = shape[:many].astype(np.float64)
    log[:many] += gammaln(exact + number[:many, None]) - gammaln(exact + MULTIPLIED)
    return log


def rising_alike(shape: Floats, number: Integers) -> Floats:
    """Return log (a)_n of the same shapes (vector,) for every n."""
    (distinct, at), exact = np.unique(number, return_inverse=True), shape.astype(np.float64)
    return (gammaln(exact + distinct[:, None]) - gammaln(exact)).astype(shape.dtype)[at]


def kinds(theta: Floats, items: Items) -> Kinds:
    """Compare the kinds of each item at parameters, shape (vector, parameter)."""
    columns, votes = items.columns, items.votes
    (n_labels, n_items, n_columns), number = columns.shape, columns.dtype
    each: Any = np.ascontiguousarray(theta.T, number)
    slope, shape = each[: -len(SHAPE_NAMES)], each[-len(SHAPE_NAMES) :]
    log_s, s_slope, odds, odds_slope, log_clear, blur, log_a, sharpness, best_odds = shape
    said: Any = (columns.reshape(-1, n_columns) @ slope).reshape(n_labels, n_items, -1)
    said -= said.max(axis=0)
    mean = shares_of(np.exp(said))
    h = -ENTROPY_SCALE * ((mean * np.log(mean)).sum(axis=0) / math.log(max(n_labels, 2)) + ENTROPY_CENTRE)
    s = np.exp(np.clip(log_s + s_slope * h, -MOST_LOG, MOST_LOG))
    odds = np.minimum(odds + odds_slope * h, MOST_ODDS)
    large, blur = np.exp(np.clip(log_clear, -MOST_LOG, MOST_LOG)), expit(blur)

    of_entry = mean.reshape(-1, mean.shape[2])[votes.place]
    opened = votes.by_item(rising(s[votes.item] * of_entry, votes.number)) - rising(s, votes.total)
    other = (large * blur) * of_entry
    log_other = rising(other, votes.number)
    other += large * (1 - blur)
    log_own = rising(other, votes.number) - log_other
    top = votes.by_item(log_own, np.maximum)
    clear = mean * np.exp(-top)
    clear.reshape(-1, mean.shape[2])[votes.place] = of_entry * np.exp(log_own - top[votes.item])
    total = clear.sum(axis=0)
    clear /= total
    cleared = odds + votes.by_item(log_other) - rising_alike(large, votes.total) + top + np.log(total)

    log_best, entry = items.best
    best = shares_of(np.exp(np.exp(sharpness) * said)) * best_at(log_best, log_a).astype(number)[entry.T]
    total = best.sum(axis=0)
    best /= total
    known = items.alike.log_votes(np.exp(log_a), n_labels) + np.log(n_labels * total)
    logs = np.stack([opened, known, cleared]) - np.log(1 + np.exp(odds))
    return Kinds(logs, best_odds, clear, best, mean, s, (large * blur, large * (1 - blur)))


def shares_of(weight: Floats) -> Floats:
    """Return the shares of weights over the first axis, of which none is zero; in their place."""
    weight *= (1 - FLOOR) / weight.sum(axis=0)
    weight += FLOOR / len(weight)
    return weight


def draw_items(rng: Rng, theta: Floats, items: Items, each: int, *, best: bool) -> Array:
    """Draw items given their votes, `each` times at every parameter vector.

    Returns plausibilities (item, sample, label), or best labels (item, sample), samples of one vector side by side.
    """
    (found, counts), vector = (kinds(theta, items), items.counts), np.repeat(np.arange(len(theta)), each)
    kind = categories(rng, np.moveaxis(found.chance, 0, 2), each)
    shape = (np.moveaxis(found.concentration * found.mean, 0, 2) + counts[:, None])[:, vector]
    known, clear = np.nonzero(kind == 1), np.nonzero(kind == 2)
    of_known, of_clear = vector[known[1]], vector[clear[1]]
    best_label = categories(rng, found.best[:, known[0], of_known].T)
    label = categories(rng, found.clear[:, clear[0], of_clear].T)
    shape[known] = np.exp(theta[of_known, -3, None]) / counts.shape[1] + counts[known[0]]
    blurred, own = (one[of_clear] for one in found.clear_shape)
    shape[clear] = (blurred * found.mean[:, clear[0], of_clear]).T + counts[clear[0]]
    shape[(*clear, label)] += own
    if best:
        top = rng.standard_gamma(shape).argmax(axis=2)
        top[known] = best_label
        return top
    out = np.exp(log_dirichlets(rng, shape))
    out[known] = _with_best(rng, shape[known], best_label, out[known])
    return out


def _with_best(rng: Rng, shape: Floats, label: Places, out: Floats) -> Floats:
    """Draw shares (draw, label) whose largest is that of `label`, from draws `out` without that condition.

    Shares of labels of the same shape change places: it is enough that one of these is the largest.
    """
    row = many = np.arange(len(out))
    new, left = out.copy(), np.ones(len(out), bool)
    # What is rarer than one of five hundred is left to the change of places.
    for tries in (*2 ** np.arange(9), 0):
        good = shape[many, new.argmax(axis=1)] == shape[many, label[many]]
        out[many[good]], left[many[good]] = new[good], False
        many = np.repeat(row[left], tries)
        new = np.exp(log_dirichlets(rng, shape[many]))
    most = out.argmax(axis=1)
    out[row, most], out[row, label] = out[row, label], out[row, most]
    return out
