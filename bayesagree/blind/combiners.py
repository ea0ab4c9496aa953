"""Combiners of system labels that crowd labels supervise; each gives pseudo-gold of shape (set=1, item).

No item is labelled by a combiner that saw its crowd label: items with one are cut into folds, and each fold is
labelled by a combiner trained on the others; the remaining items by one trained on all.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from bayesagree._types import Floats, Integers
from bayesagree.blind.pseudo_gold import above_threshold, two_labels, vote_counts
from bayesagree.blind.systems import LabelCodes, Systems
from bayesagree.errors import InputError
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.metrics.hard_labels import confusion_counts, scores_of_counts

FOLDS = 5

Labelling = Callable[[Floats], Integers]
# Features (item, feature) and crowd labels (item,) to a function from features to labels.
Fit = Callable[[Floats, Integers], Labelling]


def direct(systems: Systems) -> LabelCodes:
    """Take the crowd's labels themselves as gold."""
    return crowd_of(systems)[None]


def calibrated_majority(systems: Systems, *, metric: str = "accuracy", random_seed: Seed = None) -> LabelCodes:
    """Take the votes above the threshold at which they score best on the crowd's labels.

    Thresholds that give all items the same label do not compete: recall would always choose 0, specificity more than
    1. Among equally good ones the nearest to 1/2 wins.
    """
    positive = two_labels(systems)

    def fit(counts: Floats, crowd: Integers) -> Labelling:
        threshold = best_threshold(counts.astype(int), crowd, metric, positive)
        return lambda others: above_threshold(others.astype(int), threshold, positive)

    return _cross_fitted(systems, vote_counts(systems).astype(float), fit, random_seed)


def best_threshold(counts: Integers, truth: Integers, metric: str, positive: int) -> float:
    """Return the share of votes at which thresholded votes score best against `truth`, shape (item,)."""
    levels = np.unique(np.append(counts[:, positive] / np.maximum(counts.sum(axis=1), 1), 0.5))
    chosen = np.stack([above_threshold(counts, level, positive) for level in levels])
    scores = scores_of_counts(confusion_counts(truth[None], chosen, 2), metric, positive)[0]
    scores[np.ptp(chosen, axis=1) == 0] = -np.inf
    best = np.flatnonzero(scores >= np.nanmax(scores) - 1e-12)
    return float(levels[best[np.argmin(np.abs(levels[best] - 0.5))]])


def supervised(systems: Systems, *, by: str, random_seed: Seed = None) -> LabelCodes:
    """Combine by a classifier of `FITS`; of missing labels all indicators are zero."""
    return _cross_fitted(systems, one_hot(systems), FITS[by], random_seed)


def one_hot(systems: Systems) -> Floats:
    """Return one indicator per model and label, all zero where the label is missing, shape (item, model * label)."""
    given = systems.predicted.T[:, :, None] == np.arange(systems.n_labels)
    return given.reshape(systems.items.size, -1).astype(float)


def crowd_of(systems: Systems) -> LabelCodes:
    """Return the crowd's labels, or say that there are none."""
    if systems.crowd is None:
        raise InputError("this method learns from crowd labels and there are none; pass crowd=Labels...")
    return systems.crowd


def _by_sklearn(module: str, name: str, **options: Any) -> Fit:
    """Wrap a scikit-learn classifier; a fold whose crowd knows one label only gets that label."""

    def fit(features: Floats, crowd: Integers) -> Labelling:
        if np.ptp(crowd) == 0:
            return lambda others: np.full(others.shape[0], crowd[0])
        return getattr(import_module(f"sklearn.{module}"), name)(**options).fit(features, crowd).predict

    return fit


# Classifiers of the systems' labels; AdaBoost is over decision stumps.
FITS = {
    # One pseudo-count for each label of each system.
    "naive_bayes": _by_sklearn("naive_bayes", "MultinomialNB"),
    "svm": _by_sklearn("svm", "LinearSVC", dual="auto"),
    # A weak ridge keeps the coefficients finite where labels separate.
    "glm": _by_sklearn("linear_model", "LogisticRegression", C=100, max_iter=1000),
    "adaboost": _by_sklearn("ensemble", "AdaBoostClassifier", random_state=0),
}


def _cross_fitted(systems: Systems, features: Floats, fit: Fit, random_seed: Seed) -> LabelCodes:
    crowd = crowd_of(systems)
    voted = (systems.predicted >= 0).any(axis=0)
    known = np.flatnonzero((crowd >= 0) & voted)
    if known.size < 2 * FOLDS:
        raise InputError(
            f"{known.size} items have both crowd and system labels; a combiner needs at least {2 * FOLDS} to learn from"
        )
    gold = np.full(systems.items.size, -1, np.int16)
    truth = crowd.astype(int)
    folds = np.array_split(np.random.default_rng(seed_sequence(random_seed)).permutation(known), FOLDS)
    for fold in [*folds, np.flatnonzero((crowd < 0) & voted)]:
        if fold.size:
            seen = np.setdiff1d(known, fold)
            gold[fold] = fit(features[seen], truth[seen])(features[fold])
    return gold[None]
