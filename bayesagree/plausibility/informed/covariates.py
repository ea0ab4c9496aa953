"""Covariates: the facts about an item that the predictions of models give."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesagree._types import Array, Codes, Floats, Places
from bayesagree.annotations import Labels, Rankings, Ratings
from bayesagree.annotations.missing_predictions import on_annotated
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, shorten
from bayesagree.inference.cells import row_shares

Excluded = str | Sequence[str] | None


class Covariates(NamedTuple):
    """Covariates of all items.

    Attributes
    ----------
    dense
        For each model with scores two columns, standardised over items and labels and centred within an item: the log
        probability and the probability of each label; shape (item, column, category).
    hit
        Top label of each model, -1 where it gave none, shape (item, model).
    names
        Names of the columns and of the models' top labels.
    """

    dense: NDArray[np.float32]
    hit: Codes
    names: tuple[str, ...]

    @classmethod
    def of(cls, predictions: Predictions, exclude: Excluded = None) -> "Covariates":
        """Read the covariates of all models but the excluded ones."""
        kept = kept_models(predictions.models, exclude)
        models = [str(m) for m in predictions.models[kept]]
        hit = np.ascontiguousarray(predictions.hard_labels()[kept].T)
        scores: Any = () if predictions.scores is None else predictions.scores
        scored = kept[: len(scores)]
        dense = np.empty((predictions.items.size, 2 * scored.size, predictions.categories.size), np.float32)
        for j, place in enumerate(scored):
            dense[:, 2 * j], dense[:, 2 * j + 1] = _columns(scores[place])
        names = [f"{what}:{m}" for m in models[: scored.size] for what in ("log_probability", "probability")]
        return cls(dense, hit, (*names, *(f"top_label:{m}" for m in models)))

    def columns(self, items: Any = slice(None), hit: float = 1.0) -> Floats:
        """Return all columns of some items, shape (item, label, column), `hit` where a label is a model's top label."""
        dense = np.moveaxis(self.dense[items], 1, 2)
        top = self.hit[items][:, None] == np.arange(dense.shape[1])[:, None]
        return np.concatenate([dense, hit * top], axis=2, dtype=np.float64)


def is_probability(scores: NDArray[np.floating[Any]]) -> bool:
    """Return whether the scores of a model, shape (item, category), are probabilities within 1e-3."""
    return bool(scores.min() >= 0 and (np.abs(scores.sum(axis=1) - 1) <= 1e-3).all())


def _columns(scores: NDArray[np.floating[Any]]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the log probability and the probability of each label, centred and standardised."""
    if is_probability(scores):
        # Less is rounding: its log would be an outlier with leverage over the slope.
        return _standardised(np.log(np.maximum(scores, 1e-6))), _standardised(scores)
    # Scores on a scale of their own stand for logs up to that scale.
    log = _standardised(scores)
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    return log, _standardised(row_shares(weight))


def _standardised(values: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    centred = values - values.mean(axis=1, keepdims=True, dtype=np.float64)
    size = float(np.sqrt(np.square(centred).mean()))
    return (centred / (size or 1.0)).astype(np.float32)


def excluded_names(exclude: Excluded) -> list[str]:
    """List the names of the models that are left out."""
    return [] if exclude is None else [exclude] if isinstance(exclude, str) else [str(name) for name in exclude]


def kept_models(models: Array, exclude: Excluded) -> Places:
    """Return the positions of the models that are not left out."""
    left_out, known = excluded_names(exclude), models.astype(str)
    if unknown := [name for name in left_out if name not in known]:
        raise InputError(f"exclude names {shorten(unknown)}, which is none of the models {shorten(models)}")
    return np.flatnonzero(~np.isin(known, left_out))


def on_items_of[A: (Labels, Ratings)](labels: A, predictions: Predictions) -> A:
    """Return labels or ratings on all items of the predictions; those that nobody annotated have none.

    Items stand in the order of the labels where both name the same ones, else in that of the predictions.
    """
    place = pd.Index(predictions.items).get_indexer(pd.Index(labels.items))
    if (place < 0).any():
        raise InputError(
            f"items {shorten(labels.items[place < 0])} have annotations and no predictions; predict them too, or "
            "leave their annotations out"
        )
    if labels.items.size == predictions.items.size:
        return labels
    item = place.astype(np.int32)[labels.item_index]
    order = np.argsort(item, kind="stable")
    rows = {name: getattr(labels, name)[order] for name in ("annotator_index", *labels.value_fields)}
    return replace(labels, items=predictions.items, item_index=item[order], **rows)


def aligned(annotations: Any, predictions: Predictions) -> tuple[Any, Predictions]:
    """Return annotations and predictions on the same items, of rankings those that have one, and the same labels."""
    if isinstance(annotations, Rankings):
        predictions = on_annotated(annotations, predictions)
    else:
        annotations = on_items_of(annotations, predictions)
    return annotations, predictions.aligned(annotations.items, annotations.categories)
