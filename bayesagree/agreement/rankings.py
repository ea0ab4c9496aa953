"""How far annotators rank alike: Kendall's W and mean tau-b, each with an interval."""

from typing import NamedTuple

import numpy as np

from bayesagree._types import Floats, Integers, Rng
from bayesagree.agreement._coefficients import FEWEST, REPLICATES, Row, few, interval_of, together, weight_shape
from bayesagree.agreement._formulas import pair_sum, ratio
from bayesagree.annotations import Rankings
from bayesagree.errors import InputError

# Replicates of the weights at once.
STEP = 100
NAMES = ("kendall_w", "kendall_w_ties", "tau_b")
KIND = {"ci_kind": "weighted bootstrap hdi"}


class Item(NamedTuple):
    """The distinct rankings of an item, and products of each two of them, shape (ranking, ranking)."""

    # Distinct ranking of each annotator, shape (annotator,).
    ranking: Integers
    # Inner product of centred ranks, in units of that of an untied ranking with itself.
    covariance: Floats
    tau: Floats


def ranking_rows(rankings: Rankings, ci_prob: float, rng: Rng) -> dict[str, Row]:
    """Estimate, interval and note of each coefficient: means over items with two or more rankings.

    Labels that an annotator does not name are tied in the last place.
    Intervals weigh items by gamma variables, as wide as Student's t where they are few; of one item, its annotators.
    """
    if rankings.offered is not None:
        raise InputError(
            "agreement of rankings needs the same labels on offer for all; these chose from several sets"
        )
    chosen = np.flatnonzero(np.bincount(rankings.item_index) >= 2)
    if not chosen.size:
        nothing = {"estimate": np.nan} | interval_of(np.empty(0), ci_prob, "no item has two rankings")
        return {name: nothing | KIND for name in NAMES}
    items = [_item(rankings, int(i)) for i in chosen]
    by_item = np.hstack([_coefficients(item, np.ones((1, item.ranking.size))) for item in items])
    known = ~np.isnan(by_item)
    filled = np.where(known, by_item, 0.0)

    def compute(weight: Floats) -> Floats:
        return (
            _coefficients(items[0], weight) if len(items) == 1 else ratio(filled @ weight.T, known @ weight.T)
        )

    n, over = len(items), ""
    if n == 1:
        n = items[0].ranking.size
        over = "one item: the interval is over its annotators"
    weights = (rng.standard_gamma(weight_shape(n), (STEP, n)) for _ in range(REPLICATES // STEP))
    estimates = compute(np.ones((1, n)))[:, 0]
    drawn = np.concatenate([compute(w) for w in weights], axis=1)
    rows = {}
    drawn[:2] = drawn[:2].clip(0, 1)
    for name, estimate, of_name, size in zip(NAMES, estimates, drawn, known.sum(axis=1)):
        none = "no item has two rankings with an order: one block of ties has none" * bool(np.isnan(estimate))
        if not (none or over) and size < FEWEST:
            none = few(int(size))
        note = together("corrected for ties" * (name == "kendall_w_ties"), over, none)
        interval = interval_of(of_name[:0] if none else of_name, ci_prob, note, estimate=estimate)
        rows[name] = {"estimate": estimate} | interval | KIND
    return rows


def _coefficients(item: Item, weight: Floats) -> Floats:
    """Coefficients of an item for weights of its annotators, shape (replicate, annotator) -> (coefficient, replicate).

    W is written by the mean over pairs of annotators, since weights that are unequal would raise it by themselves:
    with m annotators W = (1 + (m - 1) r) / m, where r is the mean correlation of ranks (Kendall 1948, chapter 6).
    """
    n, own = item.ranking.size, item.covariance.diagonal()
    member = (item.ranking[:, None] == np.arange(own.size)).astype(float)
    sums, squares = weight @ member, weight**2 @ member

    def mean_of_pairs(table: Floats) -> Floats:
        """Sum w_i w_j table_ij over pairs of different annotators, and divide by the weight of those that have one."""
        given = np.nan_to_num(table), (~np.isnan(table)).astype(float)
        total, pairs = (pair_sum(sums, of) - squares @ of.diagonal() for of in given)
        return ratio(
            total, np.where(pairs > 1e-9 * sums.sum(axis=1) ** 2, pairs, 0.0)
        )  # rounding errors are none

    between = mean_of_pairs(item.covariance)
    within = (sums @ own) / sums.sum(axis=1)
    # Every ranking one block of ties: there is no order to agree on.
    within = np.where(within > 0, within, np.nan)
    concordance = (within + (n - 1) * between) / n
    return np.stack([concordance, concordance / within, mean_of_pairs(item.tau)])


def _item(rankings: Rankings, item: int) -> Item:
    """Compare the distinct rankings of one item; labels that nobody named stand together."""
    rows = np.flatnonzero(rankings.item_index == item)
    entries = [slice(rankings.start[r], rankings.start[r + 1]) for r in rows]
    named = np.unique(np.concatenate([rankings.label_index[e] for e in entries]))
    n_labels = rankings.categories.size
    rest = n_labels - named.size
    block = np.full((rows.size, named.size + (rest > 0)), np.iinfo(np.int32).max)  # unnamed: after every block
    for r, e in enumerate(entries):
        block[r, np.searchsorted(named, rankings.label_index[e])] = rankings.block[e]
    # Equal rankings are compared once: a hundred annotators of three labels have thirteen at most.
    block, ranking = np.unique(block, axis=0, return_inverse=True)
    count = np.append(np.ones(named.size), [rest] if rest else [])
    other, own = block[:, None, :], block[:, :, None]
    before = (other < own) @ count
    tied = (other == own) @ count
    centred = before + (tied + 1) / 2 - (n_labels + 1) / 2
    unit = max(n_labels**3 - n_labels, 1) / 12  # one label has no order
    sign = np.sign(own - other).reshape(len(block), -1) * np.sqrt(np.outer(count, count)).ravel()
    length = np.sqrt((sign**2).sum(axis=1))
    tau = ratio(sign @ sign.T, np.outer(length, length))  # a ranking without two blocks has none
    return Item(ranking.ravel(), (centred * count) @ centred.T / unit, tau)
