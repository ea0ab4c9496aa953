"""Hard labels of systems and of the crowd as codes, in an order of their own: the input of every blind method."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesagree._types import Array
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, shorten
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations, as_predictions
from bayesagree.metrics.hard_labels import positive_index
from bayesagree.plausibility.independence import warn_of_dependent
from bayesagree.plausibility.votes import winners

LabelCodes = NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class Systems:
    """Hard labels of systems, models and items sorted by name: no result depends on the order they came in.

    Attributes
    ----------
    models, items, labels
        Names on each axis.
    predicted
        Position of each label, -1 where missing, shape (model, item).
    positive
        Position of the positive label; None where scores are macro averages.
    crowd
        The label that most of the crowd gave (ties at random), -1 where it gave none, shape (item,); None without one.
    """

    models: Array
    items: Array
    labels: Array
    predicted: LabelCodes
    positive: int | None
    crowd: LabelCodes | None

    @classmethod
    def of(cls, predictions: Predictions, crowd: Labels | None, positive: Any, random_seed: Seed) -> Self:
        """Read predictions and crowd labels.

        Raises
        ------
        InputError
            Fewer than two systems or labels, a crowd that labelled none of the items, or with labels unknown here.
        """
        predictions = as_predictions(predictions)
        crowd = None if crowd is None else as_annotations(crowd, (Labels,), "crowd")
        if predictions.models.size < 2:
            raise InputError(
                "there is one system; blind evaluation compares systems with each other: pass at least 2"
            )
        if predictions.categories.size < 2:
            raise InputError(
                f"there is only the label {shorten(predictions.categories)}; name all with labels=[...]"
            )
        if predictions.categories.size > np.iinfo(np.int16).max:
            raise InputError(
                f"{predictions.categories.size} labels; blind evaluation takes {np.iinfo(np.int16).max} at most"
            )
        models = np.argsort(predictions.models)
        items = np.argsort(predictions.items)
        hard = predictions.hard_labels()[np.ix_(models, items)].astype(np.int16)
        if (hard < 0).all():
            raise InputError("no system labelled any item")
        names = predictions.items[items]
        labels = predictions.categories
        voted = None if crowd is None else crowd_majority(crowd, names, labels, random_seed)
        if crowd is not None and np.isin(labels, crowd.categories).all():
            shared = crowd.select(np.isin(crowd.items, names)[crowd.item_index])
            known = predictions.on_items(shared.items)
            warn_of_dependent(shared, known.aligned(shared.items, shared.categories))
        return cls(predictions.models[models], names, labels, hard, positive_index(positive, labels), voted)

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return self.labels.size

    def without(self, model: int) -> Self:
        """Return the same systems with the labels of one of them missing."""
        kept = self.predicted.copy()
        kept[model] = -1
        return replace(self, predicted=kept)


def crowd_majority(crowd: Labels, items: Array, labels: Array, random_seed: Seed) -> LabelCodes:
    """Return the label that most of the crowd gave to each item, ties at random, -1 where nobody did, shape (item,)."""
    code_of = pd.Index(labels).get_indexer(crowd.labels)
    row_of = pd.Index(crowd.items).get_indexer(items)
    used = np.unique(crowd.label_index)
    if (unknown := crowd.labels[used[code_of[used] < 0]]).size:
        raise InputError(
            f"the crowd uses labels that the predictions do not have: {shorten(unknown)}; "
            "name all possible labels with labels=[...] when building the predictions"
        )
    common = np.flatnonzero(row_of >= 0)
    if common.size == 0:
        raise InputError(f"the crowd labelled none of the predicted items; it labelled {shorten(crowd.items)}")
    counts = np.zeros((common.size, labels.size), int)
    counts[:, code_of[code_of >= 0]] = crowd.counts()[row_of[common]][:, code_of >= 0]
    # Ties are drawn in the order of the names: the same for any order of the input.
    vote, _ = winners(Labels.from_counts(counts), seed_sequence(random_seed), random=True)
    codes = np.full(items.size, -1, np.int16)
    codes[common] = np.where(counts.any(axis=1), vote, -1)
    return codes
