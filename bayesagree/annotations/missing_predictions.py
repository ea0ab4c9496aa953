"""Items that a model predicts nothing for: refused, skipped for all models, or counted as wrong."""

from typing import Literal

import numpy as np

from bayesagree.annotations.predictions import Predictions
from bayesagree.annotations.rankings import Annotations, Rankings
from bayesagree.errors import InputError, one_of, place_of, say, shorten, warn

# What becomes of items that a model predicts nothing for.
Missing = Literal["error", "wrong", "skip"]


def without_missing(
    annotations: Annotations, predictions: Predictions, missing: Missing
) -> tuple[Annotations, Predictions]:
    """Return the annotations and predictions of the items to score.

    ``"skip"`` keeps the items that every model predicts (not of rankings), ``"wrong"`` all of them; ``"error"`` refuses
    missing predictions.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> votes = Labels.from_counts([[2, 1], [0, 3]], items=["p", "q"], labels=["no", "yes"])
    >>> models = Predictions.from_labels({"A": ["no", None]}, items=["p", "q"], labels=["no", "yes"])
    >>> without_missing(votes, models, "skip")[0].items.tolist()
    ['p']
    """
    kept = scored_items(predictions, missing, may_skip=not isinstance(annotations, Rankings))
    scored = np.isin(annotations.items, kept.items)
    if isinstance(annotations, Rankings) or missing != "skip" or scored.all():
        return annotations, kept
    return annotations.select(scored[annotations.item_index]), kept


def on_annotated(annotations: Annotations, predictions: Predictions) -> Predictions:
    """Return the predictions of items that have annotations, where some do; a warning counts the others."""
    ahead = ~np.isin(predictions.items, annotations.items)
    if 0 < ahead.sum() < ahead.size:
        warn(f"{ahead.sum()} of {ahead.size} items have predictions and no annotations: they are left out")
        return predictions.on_items(annotations.items)
    return predictions


def scored_items(predictions: Predictions, missing: Missing, *, may_skip: bool = True) -> Predictions:
    """Return the predictions of the items to score, as `without_missing`."""
    one_of(missing, "missing", ("error", "wrong", "skip"))
    lacks = predictions.lacking()
    if not lacks.any() or (missing == "wrong" and predictions.label_index is not None):
        return predictions
    if missing != "skip" or not may_skip:
        model = int(np.argmax(lacks.any(axis=1)))
        raise InputError(
            f"{place_of(model=predictions.models[model])} has no prediction for {lacks[model].sum()} of "
            f"{predictions.items.size} items: {shorten(predictions.items[lacks[model]])}; "
            f"{say('missing', 'skip')} scores the items that every model predicts, {say('missing', 'wrong')} counts a "
            "missing label, but no missing score, as wrong"
        )
    kept = np.flatnonzero(~lacks.any(axis=0))
    if kept.size == 0:
        raise InputError("missing='skip' leaves no item: none has a prediction of every model")
    return predictions.take(kept, predictions.items[kept])
