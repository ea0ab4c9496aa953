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
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammainc, gammaln

from bayesagree._types import Floats, Rng
from bayesagree.plausibility.informed.covariates import Covariates
from bayesagree.plausibility.informed.prior import Layout

# Share of the prior mean that is spread over all labels, so that none is impossible.
FLOOR = 1e-3
# Entropy as a share of its maximum is between 0 and 1 and about .4 for items of middling ambiguity: centred there, its
# slopes hardly correlate with their levels.
ENTROPY_CENTRE, ENTROPY_SCALE = 0.4, 3.0
# Log odds of a model's top label at a slope of one, by the log of the number of labels: right in .9 of 3 and of 20.
HIT_SCALE = 2.0
# Log of A, the concentration of items whose best label alone is known, and places of the integral over the best gamma.
LOG_A = np.linspace(-3.0, 4.2, 61)
PLACES = 160
# Factors of a rising factorial; beyond them its log is by Stirling's series.
MULTIPLIED = 6
# Log concentrations beyond which nothing changes: in single precision products of factors stay finite.
MOST_LOG = 14.0
# Rounds of proposals for draws of plausibilities whose best label is given.
MOST_ROUNDS = 300


class BestTable(NamedTuple):
    """Log probability that a label is best under Dirichlet(A / K + counts), for distinct sorted counts.

    `times` (row, number) tells how many labels have each of the `numbers` of votes; `log_best` has shape (entry,
    log A): an entry is a number of votes within a row.
    """

    numbers: NDArray[np.int64]
    times: Floats
    log_best: Floats

    @classmethod
    def of_items(cls, counts: NDArray[np.int64]) -> "tuple[Self, NDArray[np.intp], NDArray[np.intp]]":
        """Return the table of counts (item, label), each item's row, and the entry of each of its labels.

        It integrates over the largest of independent gamma variables: int f_k(g) prod_(j != k) F_j(g) dg.
        """
        n_labels = counts.shape[1]
        distinct, row = np.unique(-np.sort(-counts, axis=1), axis=0, return_inverse=True)
        votes, place = np.unique(counts, return_inverse=True)
        labels_of = (distinct[:, :, None] == votes).sum(axis=1)
        row_of, place_of = np.nonzero(labels_of)
        number, first = labels_of[row_of, place_of], np.unique(row_of, return_index=True)[1]
        out = np.empty((row_of.size, LOG_A.size))
        for at, log_a in enumerate(LOG_A):
            shape = np.exp(log_a) / n_labels + votes[:, None]
            log_g = np.linspace(-12.0, np.log(shape.max() + 8 * np.sqrt(shape.max()) + 12), PLACES)
            below = np.log(np.maximum(gammainc(shape, np.exp(log_g)), 1e-300))
            alone = shape * log_g - np.exp(log_g) - gammaln(shape) - below
            best = np.exp(alone[place_of] + (labels_of.astype(float) @ below)[row_of]).sum(axis=1)
            out[:, at] = np.log(np.maximum(best / np.add.reduceat(best * number, first)[row_of], 1e-290))
        out[~distinct.any(axis=1)[row_of]] = -np.log(n_labels)
        entry = np.zeros(labels_of.shape, np.intp)
        entry[row_of, place_of] = np.arange(row_of.size)
        return (
            cls(votes, labels_of.astype(float), out),
            row.ravel(),
            entry[row.reshape(-1, 1), place.reshape(counts.shape)],
        )

    def at(self, log_a: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities at each log A and the slopes of their logs, shape (entry, log A)."""
        place = np.clip((log_a - LOG_A[0]) / (LOG_A[1] - LOG_A[0]), 0, LOG_A.size - 1)
        low = np.minimum(place.astype(int), LOG_A.size - 2)
        first, slope = self.log_best[:, low], self.log_best[:, low + 1] - self.log_best[:, low]
        inside = (log_a > LOG_A[0]) & (log_a < LOG_A[-1])
        return np.exp(first + (place - low) * slope), inside * slope / (LOG_A[1] - LOG_A[0])

    def base(self, log_a: Floats) -> tuple[Floats, Floats]:
        """Return the log probability of each row's votes under Dirichlet(A / K, ...), and its slope by log A."""
        a, times = np.exp(log_a), self.times.astype(log_a.dtype)
        n_labels = round(self.times[0].sum()) if self.times.size else 1
        one, slope = rising(np.tile(a / n_labels, (self.numbers.size, 1)), self.numbers)
        every, slope_of_all = rising(np.tile(a, (len(times), 1)), (self.times @ self.numbers).astype(np.int64))
        return times @ one - every, a * (times @ slope / n_labels - slope_of_all)


@dataclass(frozen=True, eq=False)
class Items:
    """Predictions and votes of items.

    Attributes
    ----------
    columns
        Covariates, shape (label, item, column): those of the scores, the top labels, and the log share of each label of
        all votes.
    counts
        Votes, shape (item, label).
    """

    columns: Floats
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, covariates: Covariates, counts: NDArray[np.int64]) -> Self:
        """Lay out covariates and counts, shape (item, label)."""
        n_labels = counts.shape[1]
        hits = (covariates.hit == np.arange(n_labels)[:, None, None]) * (HIT_SCALE * np.log(max(n_labels, 2)))
        total = counts.sum(axis=0) + 1.0
        share = np.broadcast_to(np.log(total / total.sum())[:, None, None], (n_labels, len(counts), 1))
        columns = np.concatenate([np.moveaxis(covariates.dense, 2, 0), hits, share], axis=2).astype(np.float64)
        return cls(columns, counts)

    def with_counts(self, counts: NDArray[np.int64]) -> "Items":
        """Return the same items with other votes."""
        return Items(self.columns, counts)

    def rows(self, items: Any) -> "Items":
        """Return some of the items."""
        table, row, entry = self.best
        rows, row = np.unique(row[items], return_inverse=True)
        entries, at = np.unique(entry[items], return_inverse=True)
        some = Items(np.ascontiguousarray(self.columns[:, items]), self.counts[items])
        table = BestTable(table.numbers, table.times[rows], table.log_best[entries])
        return some._with_best(table, row, at.reshape(some.counts.shape))

    def single(self) -> "Items":
        """Return the same items in single precision."""
        columns: Any = self.columns.astype(np.float32)
        return Items(columns, self.counts)._with_best(*self.best)

    def _with_best(self, *best: Any) -> "Items":
        self.__dict__["best"] = best
        return self

    def alike(self) -> "tuple[Items, NDArray[np.int64]]":
        """Return one of each of the annotated items that have the same votes and covariates, and how many they are."""
        voted = np.flatnonzero(self.counts.any(axis=1))
        key = np.concatenate([self.counts[voted], *self.columns[:, voted]], axis=1)
        _, first, number = np.unique(key, axis=0, return_index=True, return_counts=True)
        order = np.argsort(first)
        return self.rows(voted[first[order]]), number[order]

    @cached_property
    def best(self) -> tuple[BestTable, NDArray[np.intp], NDArray[np.intp]]:
        """Probabilities of being best, the row of each item's votes there and the entry of each label's."""
        return BestTable.of_items(self.counts)

    @cached_property
    def votes(self) -> "Votes":
        """The votes, sparse."""
        return Votes.of(self.counts)


class Votes(NamedTuple):
    """The labels that got votes: item and `place` (label * items + item) of each such entry, its number of votes.

    `nth` lists the items with that many entries and the places of these, in the order of the items; `totals` are the
    numbers of votes that items have, of which an item's is `totals[which]`.
    """

    item: NDArray[np.intp]
    place: NDArray[np.intp]
    number: NDArray[np.int64]
    nth: list[tuple[NDArray[np.intp], NDArray[np.intp]]]
    totals: NDArray[np.int64]
    which: NDArray[np.intp]

    @classmethod
    def of(cls, counts: NDArray[np.int64]) -> Self:
        """List the votes of counts (item, label)."""
        item, label = np.nonzero(counts)
        voted, start, size = np.unique(item, return_index=True, return_counts=True)
        nth = [(voted[size > n], start[size > n] + n) for n in range(size.max(initial=0))]
        totals = np.unique(counts.sum(axis=1), return_inverse=True)
        return cls(item, label * len(counts) + item, counts[item, label], nth, *totals)

    def by_item(self, values: Floats, by: Any = np.add) -> Floats:
        """Sum values (entry, vector) of each item, or take the largest, at least 0."""
        out = np.zeros((self.which.size, values.shape[1]), values.dtype)
        for items, entries in self.nth:
            out[items] = by(out[items], values[entries])
        return out


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
    gradient
        Function of d f / d logs that returns d f / d parameters but the last, shape (vector, parameter).
    """

    logs: Floats
    best_odds: Floats
    clear: Floats
    best: Floats
    mean: Floats
    concentration: Floats
    clear_shape: tuple[Floats, Floats]
    gradient: Callable[[Floats], Floats]

    def log_likelihoods(self, *best_odds: Any) -> list[Floats]:
        """Log probability of the votes of each item in one order, (item, vector), at odds of the second kind."""
        top = self.logs.max(axis=0)
        opened, known, clear = np.exp(self.logs - top)
        known, opened = known - opened, opened + clear
        return [top + np.log(opened + known * expit(odds)) for odds in best_odds]

    @property
    def chance(self) -> Floats:
        """Probability of each kind of an item given its votes, shape (kind, item, vector)."""
        share = expit(self.best_odds)
        weight = (
            np.exp(self.logs - self.logs.max(axis=0))
            * np.stack([1 - share, share, np.ones_like(share)])[:, None]
        )
        return weight / weight.sum(axis=0)


def softmax(x: Floats, axis: int = -2) -> Floats:
    """Shares over the labels, the last but one axis."""
    weight = np.exp(x - x.max(axis=axis, keepdims=True))
    weight /= weight.sum(axis=axis, keepdims=True)
    return weight


def rising(shape: Floats, number: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return log (a)_n = log Gamma(a + n) - log Gamma(a) and its derivative by a, shape (entry, vector), of n (entry,).

    Beyond a few factors by Stirling's series.
    """
    product, slope = np.ones_like(shape), np.zeros_like(shape)
    few = np.minimum(number, MULTIPLIED)
    for r in range(int(few.max(initial=0))):
        at = slice(None) if (few > r).all() else np.flatnonzero(few > r)
        factor = shape[at] + r
        product[at] *= factor
        slope[at] += 1 / factor
    log = np.log(product)
    if (many := np.flatnonzero(number > MULTIPLIED)).size:
        for x, sign in ((MULTIPLIED, -1), (number[many, None], 1)):
            x = shape[many] + np.asarray(x, shape.dtype)
            ln, inverse = np.log(x), 1 / x
            square = inverse * inverse
            log[many] += sign * ((x - 0.5) * ln - x + inverse * (1 / 12 - square * (1 / 360 - square / 1260)))
            slope[many] += sign * (ln - inverse / 2 - square * (1 / 12 - square * (1 / 120 - square / 252)))
    return log, slope


def kinds(theta: Floats, layout: Layout, items: Items) -> Kinds:
    """Compare the kinds of each item at parameters, shape (vector, parameter)."""
    columns, votes = items.columns, items.votes
    (n_labels, n_items, n_columns), number = columns.shape, columns.dtype
    columns = columns.reshape(-1, n_columns)
    slope, shape = layout.parts(np.ascontiguousarray(theta.T, number))
    log_s, s_slope, odds, odds_slope, log_clear, blur, log_a, sharpness, best_odds = shape
    said: Any = (columns @ slope).reshape(n_labels, n_items, -1)
    said -= said.max(axis=0)
    share, sharp = softmax(said, 0), np.exp(sharpness)
    mean = (1 - FLOOR) * share + FLOOR / n_labels
    log_mean, scale = np.log(mean), ENTROPY_SCALE / math.log(max(n_labels, 2))
    h = -scale * (mean * log_mean).sum(axis=0) - ENTROPY_SCALE * ENTROPY_CENTRE
    s, odds = np.exp(np.clip(log_s + s_slope * h, -MOST_LOG, MOST_LOG)), odds + odds_slope * h
    large, blur = np.exp(np.clip(log_clear, -MOST_LOG, MOST_LOG)), expit(blur)

    of_entry = mean.reshape(-1, mean.shape[2])[votes.place]
    alpha, other, own = s[votes.item] * of_entry, (large * blur) * of_entry, (large * (1 - blur))
    own = own + other
    (log_alpha, d_alpha), (log_other, d_other), (log_own, d_own) = (
        rising(one, votes.number) for one in (alpha, other, own)
    )
    whole, d_whole = rising(s, votes.totals[votes.which])
    opened = votes.by_item(log_alpha) - whole
    log_own -= log_other
    top = votes.by_item(log_own, np.maximum)
    factor = np.repeat(np.exp(-top)[None], n_labels, axis=0)
    factor.reshape(-1, mean.shape[2])[votes.place] = np.exp(log_own - top[votes.item])
    total = (mean * factor).sum(axis=0)
    factor /= total
    clear = mean * factor
    all_clear, d_clear = rising(np.broadcast_to(large, (votes.totals.size, large.size)).copy(), votes.totals)
    cleared = odds + votes.by_item(log_other) - all_clear[votes.which] + top + np.log(total)

    sharper = softmax(sharp * said, 0)
    pointed = (1 - FLOOR) * sharper + FLOOR / n_labels
    table, row, entry = items.best
    of_best, d_best = (one.astype(number)[entry.T] for one in table.at(log_a))
    best = pointed * of_best
    total = best.sum(axis=0)
    best /= total
    base, d_base = (one.astype(number)[row] for one in table.base(log_a))
    known = base + np.log(n_labels * total)

    clearly = expit(odds)
    away = np.log(expit(-odds))
    logs = np.stack([opened + away, known + away, cleared + away])

    def gradient(by: Floats) -> Floats:
        by_open, by_known, by_clear = by
        by_odds = by_clear - by.sum(axis=0) * clearly
        by_s = by_open * (votes.by_item(d_alpha * alpha) - d_whole * s)
        by_h = by_odds * odds_slope + by_s * s_slope
        by_mean = by_clear * factor - (scale * by_h) * (log_mean + 1)
        mine = clear.reshape(-1, clear.shape[2])[votes.place]
        by_other, by_own = (1 - mine) * d_other, mine * d_own
        by_mean.reshape(-1, mean.shape[2])[votes.place] += (by_open * s)[votes.item] * d_alpha + (
            large * blur * by_clear
        )[votes.item] * (by_other + by_own)
        by_large = by_clear * (votes.by_item(by_other * other + by_own * own) - (large * d_clear)[votes.which])
        by_blur = by_clear * votes.by_item(of_entry * by_other + (of_entry - 1) * by_own)
        by_a = by_known * (d_base + (best * d_best).sum(axis=0))
        by_pointed = by_known * best / pointed
        by_sharp = sharper * (by_pointed - (sharper * by_pointed).sum(axis=0))
        by_said = share * (by_mean - (share * by_mean).sum(axis=0)) + sharp * by_sharp
        by_said *= 1 - FLOOR
        of_shape = (by_s, by_s * h, by_odds, by_odds * h, by_large, by_blur, by_a)
        of_shape = [one.sum(axis=0) for one in of_shape]
        of_shape[5] *= large * blur * (1 - blur)
        of_shape.append((1 - FLOOR) * sharp * (by_sharp * said).sum(axis=(0, 1)))
        return np.concatenate([columns.T @ by_said.reshape(-1, by_said.shape[2]), of_shape]).T

    return Kinds(logs, best_odds, clear, best, mean, s, (large * blur, large * (1 - blur)), gradient)


def prior_means(theta: Floats, layout: Layout, items: Items) -> Floats:
    """Return the mean plausibilities of each item before its own votes, (item, label), at one parameter vector."""
    n_labels = items.counts.shape[1]
    found = kinds(theta[None], layout, items.with_counts(np.zeros_like(items.counts)))
    opened, known, clear = found.chance
    (blurred, own), a = found.clear_shape, float(np.exp(layout.parts(theta)[1][6]))
    # The best label's share, and that of each other: means of the largest and the other shares of a Dirichlet.
    most = np.sort(np.random.default_rng(0).dirichlet(np.full(n_labels, a / n_labels), 4000), axis=1)[
        :, -1
    ].mean()
    of_best = found.best * most + (1 - found.best) * (1 - most) / max(n_labels - 1, 1)
    means = opened * found.mean + known * of_best
    means += clear * (blurred * found.mean + own * found.clear) / (own + blurred)
    return means[..., 0].T


def draw_items(rng: Rng, theta: Floats, layout: Layout, items: Items, each: int, *, best: bool) -> NDArray[Any]:
    """Draw items given their votes, `each` times at every parameter vector.

    Returns plausibilities (item, sample, label), or best labels (item, sample), samples of one vector side by side.
    """
    found, n_labels = kinds(theta, layout, items), items.counts.shape[1]
    kind, label, best_label = (
        pick(rng, np.moveaxis(chance[:-1], 0, 1), each) for chance in (found.chance, found.clear, found.best)
    )
    votes, (blurred, own) = items.counts[:, None], found.clear_shape
    opened, clear = ((np.moveaxis(a * found.mean, 0, 2) + votes) for a in (found.concentration, blurred))
    known = np.exp(layout.parts(theta.T)[1][6])[:, None] / n_labels + votes
    # Where the best label alone is asked for, four bytes hold a gamma variable.
    number = np.float32 if best else np.float64
    shapes: Any = [np.ascontiguousarray(a, number) for a in (opened, clear, known)]
    opened, clear, known = shapes
    n_items, n_vectors = kind.shape[:2]
    out: Any = np.empty(
        (n_items, n_vectors, each, *(() if best else (n_labels,))), np.intp if best else np.float64
    )
    for r in range(each):
        of = kind[:, :, r, None]
        shape = np.where(of == 2, clear, np.where(of == 1, known, opened))
        at = np.nonzero(of[..., 0] == 2)
        shape[(*at, label[(*at, r)])] += own[at[1]]
        if best:
            out[:, :, r] = rng.standard_gamma(shape, dtype=np.float32).argmax(axis=2)
            np.copyto(out[:, :, r], best_label[:, :, r], where=of[..., 0] == 1)
        else:
            out[:, :, r] = shares(rng, shape)
    if not best:
        at = np.nonzero(kind == 1)
        out[at] = _with_best(rng, known[at[:2]], best_label[at], out[at])
    return out.reshape(n_items, n_vectors * each, *out.shape[3:])


def pick(rng: Rng, chance: Floats, each: int) -> NDArray[np.intp]:
    """Draw by chances (item, choice, vector) of all choices but the last; shape (item, vector, each)."""
    rising = chance.cumsum(axis=1)
    u = rng.random((len(chance), chance.shape[2], each))
    out = np.zeros(u.shape, np.intp)
    for choice in range(chance.shape[1]):
        out += u > rising[:, choice, :, None]
    return out


def shares(rng: Rng, shape: Floats) -> Floats:
    """Draw Dirichlet shares in logs, as small shapes need."""
    log = np.log(rng.standard_gamma(shape + 1)) - rng.standard_exponential(shape.shape) / shape
    log -= log.max(axis=-1, keepdims=True)
    weight = np.exp(log)
    return weight / weight.sum(axis=-1, keepdims=True)


def _with_best(rng: Rng, shape: Floats, label: NDArray[np.intp], out: Floats) -> Floats:
    """Draw shares (draw, label) whose largest is that of `label`, from draws `out` without that condition."""
    left = np.arange(len(out))
    for _ in range(MOST_ROUNDS):
        left = left[out[left].argmax(axis=1) != label[left]]
        if not left.size:
            return out
        out[left] = shares(rng, shape[left])
    # What is as rare as that is nearly tied: the largest share and that of the label change places.
    most = out[left].argmax(axis=1)
    out[left, most], out[left, label[left]] = out[left, label[left]], out[left, most]
    return out
