"""Truths from crowd labels that scores are compared with: the three methods of `auc`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree._numerics.types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, as_python, positive, shorten
from bayesagree.metrics.auc.concordant_pairs import AnnotatorLabels, ScoreOrder

type AucMethod = Literal["dgt", "sgt", "pgt"]
type VoteTies = Literal["random", "redrawn", "exclude"]


@dataclass(frozen=True)
class AucOptions:
    """How crowd labels become an AUC; see `auc` for the meaning of each field."""

    method: AucMethod
    weights: Mapping[Any, float] | None
    prior: float
    ties: VoteTies

    def checked(self) -> "AucOptions":
        """Return the same options, or refuse a choice that does not exist."""
        for name, value, choices in (
            ("method", self.method, ("dgt", "sgt", "pgt")),
            ("ties", self.ties, ("random", "redrawn", "exclude")),
        ):
            if value not in choices:
                raise InputError(f"{name}={value!r} is not one of {shorten(choices)}")
        return replace(self, prior=positive(self.prior, "prior", zero=True))


@dataclass(frozen=True)
class Areas:
    """AUC of each model, shape (model,), with the items and annotators that are uninformative."""

    values: Floats
    uninformative_items: NDArray[Any]
    uninformative_annotators: NDArray[Any]


type Compare = Callable[[Labels, Floats, AucOptions], dict[Any, Areas]]


def against_truth(
    labels: Labels, predictions: Predictions, options: AucOptions, seed: Seed, compare: Compare
) -> dict[Any, Areas]:
    """Check the input, let the crowd vote where the method says so, and compare."""
    if labels.has_repeats:
        raise InputError("some annotators labelled an item twice; build the labels with duplicates='first' or 'last'")
    if not labels.annotators_known and (options.method == "sgt" or options.weights is not None):
        raise InputError("method='sgt' and weights need to know who gave each label; these labels are counts")
    scores = label_scores(predictions.on_items(labels.items).aligned(labels.items, labels.categories))
    if options.method != "dgt":
        return compare(labels, scores, options)
    rng = np.random.Generator(np.random.SFC64(seed_sequence(seed)))
    counted = replace(options, method="pgt", weights=None, prior=0.0)
    if options.ties != "redrawn":
        return compare(_vote(labels, options, rng), scores, counted)
    parts = [compare(_vote(labels, options, rng), scores[:, [m]], counted) for m in range(scores.shape[1])]
    joined = {key: np.concatenate([part[key].values for part in parts]) for key in parts[0]}
    return {key: replace(parts[0][key], values=values) for key, values in joined.items()}


def label_scores(predictions: Predictions) -> Floats:
    """Return the score of each label, shape (label, model, item); hard labels become 0 and 1."""
    if predictions.scores is not None:
        return np.moveaxis(predictions.scores, -1, 0).astype(np.float64)
    hard = predictions.hard_labels()
    if (hard < 0).any():
        model, item = (int(i) for i in np.argwhere(hard < 0)[0])
        raise InputError(
            f"model {as_python(predictions.models[model])!r} gave item {as_python(predictions.items[item])!r} no label "
            f"({int((hard < 0).sum())} such gaps in all); the AUC needs a score or a label for every item"
        )
    return (hard == np.arange(predictions.categories.size)[:, None, None]).astype(np.float64)


def _row_weights(labels: Labels, weights: Mapping[Any, float] | None) -> Floats:
    return labels.count.astype(np.float64) * annotator_weights(labels, weights)[labels.annotator_index]


def annotator_weights(labels: Labels, weights: Mapping[Any, float] | None) -> Floats:
    """Return the weight of each annotator, shape (annotator,); a single 1 where annotators are unknown."""
    if weights is None:
        return np.ones(max(labels.annotators.size, 1))
    missing = [as_python(name) for name in labels.annotators if as_python(name) not in weights]
    if missing:
        raise InputError(f"weights name no weight for {shorten(missing)}; every annotator needs one (0 leaves one out)")
    return np.array(
        [positive(weights[as_python(name)], f"weights[{as_python(name)!r}]", zero=True) for name in labels.annotators]
    )


def _vote(labels: Labels, options: AucOptions, rng: np.random.Generator) -> Labels:
    """Return one label per item, the one with most votes; items without any, or with an excluded tie, have none."""
    n_items, n_labels = labels.items.size, labels.categories.size
    cell = labels.item_index.astype(np.int64) * n_labels + labels.label_index
    weight = _row_weights(labels, options.weights)
    votes = np.bincount(cell, weights=weight, minlength=n_items * n_labels).reshape(n_items, n_labels)
    best = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    coin = np.floor(rng.random(n_items) * best.sum(axis=1))
    winner = (best & (np.cumsum(best, axis=1) == coin[:, None] + 1)).argmax(axis=1)
    decided = best.sum(axis=1) == 1 if options.ties == "exclude" else best.any(axis=1)
    return _one_label_each(labels, np.flatnonzero(decided), winner[decided])


def _one_label_each(labels: Labels, item: NDArray[Any], label: NDArray[Any]) -> Labels:
    unknown, once = np.broadcast_to(np.int32(-1), item.shape), np.broadcast_to(np.int64(1), item.shape)
    nobody = np.empty(0, dtype="<U1")
    return Labels(labels.items, nobody, labels.categories, item.astype(np.int32), unknown, label.astype(np.int32), once)


def areas(labels: Labels, is_positive: NDArray[np.bool_], scores: Floats, options: AucOptions) -> Areas:
    """Compare scores (model, item) with labels of which some are positive, by annotator or by their share."""
    if options.method == "sgt":
        return _by_annotator(labels, is_positive, scores, options)
    n_items, weight = labels.items.size, _row_weights(labels, options.weights)
    total = np.bincount(labels.item_index, weights=weight, minlength=n_items)
    n_positive = np.bincount(labels.item_index, weights=weight * is_positive, minlength=n_items)
    mass = total + 2 * options.prior
    used = np.flatnonzero(mass > 0)
    share = (n_positive[used] + options.prior) / mass[used]
    values = ScoreOrder.of(scores[:, used]).graded(share)
    if not 0 < n_positive.sum() < total.sum():  # the prior alone would rank items by their number of labels
        values = np.full(len(scores), np.nan)
    return Areas(values, labels.items[total == 0], labels.annotators[:0])


def _by_annotator(labels: Labels, is_positive: NDArray[np.bool_], scores: Floats, options: AucOptions) -> Areas:
    rows = AnnotatorLabels(labels.item_index, labels.annotator_index, is_positive, labels.annotators.size)
    weights = annotator_weights(labels, options.weights)
    ignored = (rows.pairs() == 0) | (weights == 0)
    unlabelled = np.bincount(labels.item_index, weights=~ignored[labels.annotator_index], minlength=labels.items.size)
    values = ScoreOrder.of(scores).by_annotator(rows, weights)
    return Areas(values, labels.items[unlabelled == 0], labels.annotators[ignored])
