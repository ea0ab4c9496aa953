"""Scores of confusion counts: for each label the items that have it, are given it, and both.

These three numbers per label are enough for every score here; the whole matrix is never needed. A score that is a ratio
is known by its numerator and denominator for each label, and averages of labels follow from these: macro without the
labels for which it does not exist (``zero_division=nan`` of scikit-learn), micro as the ratio of the sums, weighted
by the share of each true label.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bayesagree._numerics.types import Floats

# Weighted counts that should cancel leave this much of their total: sums of ten thousand doubles are right to 1e-12.
NOTHING = 1e-12
"""Share of the total weight below which a denominator is zero."""


class Counts(NamedTuple):
    """Weights of items, shape (label, ...): `right` have the label and are given it, `true` have it, `given` get it.

    `total` (...) is the weight of all items, those that a model gave no label included.
    """

    right: Floats
    true: Floats
    given: Floats
    total: Floats


class Ratio(NamedTuple):
    """Numerator and denominator of a score for each label."""

    part: Floats
    whole: Floats


def precision(counts: Counts) -> Ratio:
    """Right among given."""
    return Ratio(counts.right, counts.given)


def recall(counts: Counts) -> Ratio:
    """Right among true."""
    return Ratio(counts.right, counts.true)


def specificity(counts: Counts) -> Ratio:
    """Of the items without the label, those that are not given it."""
    others = counts.total - counts.true
    return Ratio(others - counts.given + counts.right, others)


def jaccard(counts: Counts) -> Ratio:
    """Right among true or given."""
    return Ratio(counts.right, counts.true + counts.given - counts.right)


def f_beta(counts: Counts, beta: float = 1.0) -> Ratio:
    """Weighted harmonic mean of precision and recall, recall weighing beta times as much."""
    return Ratio((1 + beta**2) * counts.right, beta**2 * counts.true + counts.given)


def divided(part: Floats, whole: Floats, total: Floats) -> Floats:
    """Return a ratio, NaN where its denominator is zero."""
    exists = whole > NOTHING * total
    return np.divide(part, whole, out=np.full(np.broadcast_shapes(part.shape, whole.shape), np.nan), where=exists)


def of_one(ratio: Ratio, counts: Counts, label: int) -> Floats:
    """Score of one label taken as positive."""
    return divided(ratio.part[label], ratio.whole[label], counts.total)


def macro(ratio: Ratio, counts: Counts) -> Floats:
    """Mean over the labels for which the score exists."""
    return averaged(divided(ratio.part, ratio.whole, counts.total), np.ones_like(counts.true), counts.total)


def micro(ratio: Ratio, counts: Counts) -> Floats:
    """Ratio of the sums over labels."""
    return divided(ratio.part.sum(axis=0), ratio.whole.sum(axis=0), counts.total)


def weighted(ratio: Ratio, counts: Counts) -> Floats:
    """Mean over labels by their share of the truth; the plain mean where no label of the truth has the score."""
    of_label = divided(ratio.part, ratio.whole, counts.total)
    found = averaged(of_label, counts.true, counts.total)
    return np.where(np.isnan(found), macro(ratio, counts), found)


AVERAGES: dict[str, Callable[[Ratio, Counts], Floats]] = {"macro": macro, "micro": micro, "weighted": weighted}


def balanced_accuracy(counts: Counts) -> Floats:
    """Mean recall of the labels that occur."""
    return macro(recall(counts), counts)


def matthews_corrcoef(counts: Counts) -> Floats:
    """Correlation of truth and prediction (Gorodkin 2004); 0 where one of them is constant, as in scikit-learn."""
    missing = counts.total - counts.given.sum(axis=0)
    together = counts.right.sum(axis=0) * counts.total - (counts.true * counts.given).sum(axis=0)
    of_given = counts.total**2 - (counts.given**2).sum(axis=0) - missing**2
    of_true = counts.total**2 - (counts.true**2).sum(axis=0)
    varies = np.minimum(of_given, of_true) > NOTHING * counts.total**2
    return np.divide(together, np.sqrt(np.abs(of_given * of_true)), out=np.zeros_like(together), where=varies)


def cohen_kappa(counts: Counts) -> Floats:
    """Agreement of truth and prediction beyond chance."""
    wrong = counts.total - counts.right.sum(axis=0)
    by_chance = counts.total - (counts.true * counts.given).sum(axis=0) / counts.total
    return 1 - divided(wrong, by_chance, counts.total)


def averaged(of_label: Floats, weight: Floats, total: Floats) -> Floats:
    exists = np.isfinite(of_label)
    weight = np.where(exists, weight, 0.0)
    return divided((np.where(exists, of_label, 0.0) * weight).sum(axis=0), weight.sum(axis=0), total * 0 + NOTHING)
