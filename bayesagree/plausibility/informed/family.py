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

from dataclasses import dataclass
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
# Factors of a rising factorial; of more votes it is a difference of log gamma functions.
MULTIPLIED = 16
# Rounds of proposals for draws of plausibilities whose best label is given.
MOST_ROUNDS = 300


class BestTable(NamedTuple):
    """Log probability that a label is best under Dirichlet(A / K + counts), for distinct sorted counts.

    `counts` has shape (row, label), `log_best` shape (entry, log A): an entry is a number of votes within a row.
    """

    counts: NDArray[np.int64]
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
        return cls(distinct, out), row.ravel(), entry[row.reshape(-1, 1), place.reshape(counts.shape)]

    def at(self, log_a: Floats) -> Floats:
        """Return the probabilities at each log A, shape (entry, log A)."""
        place = np.clip((log_a - LOG_A[0]) / (LOG_A[1] - LOG_A[0]), 0, LOG_A.size - 1)
        return np.exp(self.log_best @ np.maximum(1 - np.abs(place - np.arange(LOG_A.size)[:, None]), 0))


@dataclass(frozen=True, eq=False)
class Items:
    """Predictions and votes of items.

    Attributes
    ----------
    columns
        Covariates, shape (item, label, column): those of the scores, the top labels, and the log share of each label of
        all votes.
    counts
        Votes, shape (item, label).
    table, row, entry
        The probabilities of being best, the row of each item's votes there and the entry of each label's.
    """

    columns: Floats
    counts: NDArray[np.int64]
    table: BestTable
    row: NDArray[np.intp]
    entry: NDArray[np.intp]

    @classmethod
    def of(cls, covariates: Covariates, counts: NDArray[np.int64]) -> Self:
        """Lay out covariates and counts, shape (item, label)."""
        n_labels = counts.shape[1]
        hits = (covariates.hit[:, None, :] == np.arange(n_labels)[:, None]) * (HIT_SCALE * np.log(max(n_labels, 2)))
        total = counts.sum(axis=0) + 1.0
        share = np.broadcast_to(np.log(total / total.sum())[:, None], (len(counts), n_labels, 1))
        columns = np.concatenate([np.moveaxis(covariates.dense, 1, 2), hits, share], axis=2).astype(np.float64)
        return cls(columns, counts, *BestTable.of_items(counts))

    def with_counts(self, counts: NDArray[np.int64]) -> "Items":
        """Return the same items with other votes."""
        return Items(self.columns, counts, *BestTable.of_items(counts))

    def rows(self, items: Any) -> "Items":
        """Return some of the items."""
        rows, row = np.unique(self.row[items], return_inverse=True)
        entries, entry = np.unique(self.entry[items], return_inverse=True)
        table = BestTable(self.table.counts[rows], self.table.log_best[entries])
        counts = self.counts[items]
        return Items(self.columns[items], counts, table, row, entry.reshape(counts.shape))

    def alike(self) -> "tuple[Items, NDArray[np.int64]]":
        """Return one of each of the annotated items that have the same votes and covariates, and how many they are."""
        voted = np.flatnonzero(self.counts.any(axis=1))
        key = np.concatenate([self.counts[voted], self.columns[voted].reshape(voted.size, -1)], axis=1)
        _, first, number = np.unique(key, axis=0, return_index=True, return_counts=True)
        order = np.argsort(first)
        return self.rows(voted[first[order]]), number[order]


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
        Probability of each label of a clear item, of each best label of the second kind: (item, label, vector).
    mean, concentration
        Of an open item before its votes: m_i (item, label, vector), s_i (item, vector).
    clear_shape
        S blur m, and S (1 - blur), which its own label has beside: (item, label, vector), (vector,).
    """

    logs: Floats
    best_odds: Floats
    clear: Floats
    best: Floats
    mean: Floats
    concentration: Floats
    clear_shape: tuple[Floats, Floats]

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
            np.exp(self.logs - self.logs.max(axis=0)) * np.stack([1 - share, share, np.ones_like(share)])[:, None]
        )
        return weight / weight.sum(axis=0)


def softmax(x: Floats) -> Floats:
    """Shares over the labels, the last but one axis."""
    weight = np.exp(x - x.max(axis=-2, keepdims=True))
    weight /= weight.sum(axis=-2, keepdims=True)
    return weight


def log_rising(shape: Floats, number: NDArray[np.int64]) -> Floats:
    """Return log (a)_n = log Gamma(a + n) - log Gamma(a), shape (entry, vector), of `number` (entry,)."""
    product = np.ones(shape.shape)
    few = number <= MULTIPLIED
    for r in range(int(number[few].max(initial=0))):
        at = np.flatnonzero(few & (number > r))
        product[at] *= shape[at] + r
    out = np.log(product)
    if not few.all():
        many = shape[~few]
        out[~few] = gammaln(many + number[~few, None]) - gammaln(many)
    return out


def kinds(theta: Floats, layout: Layout, items: Items) -> Kinds:
    """Compare the kinds of each item at parameters, shape (vector, parameter)."""
    slope, shape = layout.parts(theta.T)
    log_s, s_slope, odds, odds_slope, log_clear, blur, log_a, sharpness, best_odds = shape
    n_items, n_labels = items.counts.shape
    said: Any = np.tensordot(items.columns, slope, 1)
    mean = (1 - FLOOR) * softmax(said) + FLOOR / n_labels
    h = ENTROPY_SCALE * (-(mean * np.log(mean)).sum(axis=1) / np.log(max(n_labels, 2)) - ENTROPY_CENTRE)
    s, odds = np.exp(log_s + s_slope * h), odds + odds_slope * h
    large, blur = np.exp(log_clear), expit(blur)
    item, label = np.nonzero(items.counts)
    number, votes = items.counts[item, label], items.counts.sum(axis=1)
    voted, start = np.unique(item, return_index=True)

    def each(values: Floats, by: Any = np.add) -> Floats:
        """Sum the entries of each item, or take the largest."""
        out = np.zeros((n_items, values.shape[1]))
        if voted.size:
            out[voted] = by.reduceat(values, start, axis=0)
        return out

    of_entry = mean[item, label]
    opened = each(log_rising(s[item] * of_entry, number)) - log_rising(s, votes)
    other = log_rising(large * blur * of_entry, number)
    own = log_rising(large * (1 - blur + blur * of_entry), number) - other
    top = each(own, np.maximum)
    factor = np.repeat(np.exp(-top)[:, None], n_labels, axis=1)
    factor[item, label] = np.exp(own - top[item])
    clear = mean * factor
    total = clear.sum(axis=1)
    clear /= total[:, None]
    cleared = odds + each(other) - log_rising(np.broadcast_to(large, s.shape), votes) + top + np.log(total)

    best = (1 - FLOOR) * softmax(np.exp(sharpness) * said) + FLOOR / n_labels
    best *= items.table.at(log_a)[items.entry]
    known = best.sum(axis=1)
    best /= known[:, None]
    rows, n_rows = items.table.counts, len(items.table.counts)
    base = log_rising(np.broadcast_to(np.exp(log_a) / n_labels, (rows.size, log_a.size)), rows.ravel())
    base = base.reshape(n_rows, n_labels, -1).sum(axis=1)
    base -= log_rising(np.broadcast_to(np.exp(log_a), (n_rows, log_a.size)), rows.sum(axis=1))
    known = base[items.row] + np.log(n_labels * known)

    whole = np.logaddexp(0, odds)
    logs = np.stack([opened - whole, known - whole, cleared - whole])
    return Kinds(logs, best_odds, clear, best, mean, s, (large * blur * mean, large * (1 - blur)))


def prior_means(theta: Floats, layout: Layout, items: Items) -> Floats:
    """Return the mean plausibilities of each item before its own votes, (item, label), at one parameter vector."""
    n_labels = items.counts.shape[1]
    found = kinds(theta[None], layout, items.with_counts(np.zeros_like(items.counts)))
    opened, known, clear = found.chance
    (blurred, own), a = found.clear_shape, float(np.exp(layout.parts(theta)[1][6]))
    # The best label's share, and that of each other: means of the largest and the other shares of a Dirichlet.
    most = np.sort(np.random.default_rng(0).dirichlet(np.full(n_labels, a / n_labels), 4000), axis=1)[:, -1].mean()
    of_best = found.best * most + (1 - found.best) * (1 - most) / max(n_labels - 1, 1)
    means = opened[:, None] * found.mean + known[:, None] * of_best
    means += clear[:, None] * (blurred + own * found.clear) / (own + blurred.sum(axis=1, keepdims=True))
    return means[..., 0]


def draw_items(rng: Rng, theta: Floats, layout: Layout, items: Items, each: int, *, best: bool) -> NDArray[Any]:
    """Draw items given their votes, `each` times at every parameter vector.

    Returns plausibilities (item, sample, label), or best labels (item, sample), samples of one vector side by side.
    """
    found, n_labels = kinds(theta, layout, items), items.counts.shape[1]
    kind, label, best_label = (
        pick(rng, chance[:, :-1], each) for chance in (np.moveaxis(found.chance, 0, 1), found.clear, found.best)
    )
    votes, (blurred, own) = items.counts[:, None], found.clear_shape
    opened, clear = ((a.swapaxes(1, 2) + votes) for a in (found.concentration[:, None] * found.mean, blurred))
    known = np.exp(layout.parts(theta.T)[1][6])[:, None] / n_labels + votes
    # Where the best label alone is asked for, four bytes hold a gamma variable.
    number = np.float32 if best else np.float64
    opened, clear, known = (np.ascontiguousarray(a, number) for a in (opened, clear, known))
    n_items, n_vectors = kind.shape[:2]
    out = np.empty((n_items, n_vectors, each, *(() if best else (n_labels,))), np.intp if best else np.float64)
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
            at = of[..., 0] == 1
            out[at, r] = _with_best(rng, shape[at], best_label[at, r], out[at, r])
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
