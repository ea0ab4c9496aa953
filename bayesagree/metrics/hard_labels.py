"""Scores of hard labels against one gold label per item: accuracy, precision, recall, specificity and their kin."""

import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numba
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree._numerics.types import Floats
from bayesagree._numerics.vectors import copy_to
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, as_python, one_of, shorten
from bayesagree.metrics._confusion import Counts, averaged, divided, f_beta, precision, recall, specificity

type Metric = Literal["accuracy", "precision", "recall", "specificity", "f1", "balanced_accuracy"]
METRICS = ("accuracy", "precision", "recall", "specificity", "f1", "balanced_accuracy")

_RATIOS = {"precision": precision, "recall": recall, "specificity": specificity, "f1": f_beta}
REASONS = {
    "accuracy": "no item has both a gold label and a prediction",
    "precision": "the label is never predicted",
    "recall": "no gold item has the label",
    "specificity": "every gold item has the label",
    "f1": "the label is neither predicted nor in the gold",
    "balanced_accuracy": "the gold lacks a label",
}


@checked
def hard_label_scores(
    predictions: Predictions, gold: Gold, *, metric: Metric = "accuracy", positive: Any = None
) -> xr.DataArray:
    """Score the predicted label of each model against gold labels.

    With tp, fp, tn, fn counted for one positive label: accuracy (tp + tn)/n, precision tp/(tp + fp), recall
    tp/(tp + fn), specificity tn/(tn + fp), f1 2 tp/(2 tp + fp + fn), balanced accuracy (recall + specificity)/2.
    With more than two labels each is the macro average: the mean over labels taken as positive in turn, without those
    for which it is undefined; accuracy is the share of right answers, balanced accuracy is macro recall.

    Parameters
    ----------
    predictions
        Hard labels, or scores, of which the best counts. Items without a prediction are left out, model by model.
    gold
        Item to label; items without gold are left out.
    metric
        Which score.
    positive
        The positive label. By default the last of two labels, and the macro average of more than two.

    Returns
    -------
    DataArray
        Dim model.

    Raises
    ------
    InputError
        An unknown metric, item or label.

    Warns
    -----
    UserWarning
        A score that does not exist, such as precision where the label is never predicted: NaN, with the reason.

    References
    ----------
    .. [1] H. J. Jung, M. Lease, "Evaluating classifiers without expert labels", 2012, equations 8-11.

    Examples
    --------
    >>> models = Predictions.from_labels({"A": [1, 1, 0, 0], "B": [1, 1, 1, 0]})
    >>> hard_label_scores(models, {0: 1, 1: 0, 2: 0, 3: 0}, metric="specificity").round(2).values.tolist()
    [0.67, 0.33]
    """
    place = positive_index(positive, predictions.categories)
    truth = gold_codes(gold, predictions.items, predictions.categories)
    counts = confusion_counts(truth[None], predictions.hard_labels(), predictions.categories.size)[0]
    scores = scores_of_counts(counts, metric, place)
    warn_undefined(scores, metric, predictions.models)
    return xr.DataArray(scores, dims="model", coords={"model": predictions.models}, name=metric)


def positive_index(positive: Any, labels: Sequence[Any] | NDArray[Any]) -> int | None:
    """Return the position of the positive label: by default the last of two; None stands for the macro average."""
    if positive is None:
        return 1 if len(labels) == 2 else None
    names = [as_python(label) for label in labels]
    if as_python(positive) not in names:
        raise InputError(f"positive={as_python(positive)!r} is not one of the labels ({shorten(labels)})")
    return names.index(as_python(positive))


def confusion_counts(
    truth: NDArray[np.integer[Any]],
    predicted: NDArray[np.integer[Any]],
    n_labels: int,
    weights: NDArray[np.floating[Any]] | None = None,
) -> Floats:
    """Count (true label, predicted label) of every model, shape (..., model, label, predicted label).

    Parameters
    ----------
    truth
        Positions of labels, -1 where unknown: shape (set, item), the same gold for all models, or (set, model, item).
    predicted
        Positions of labels, -1 where missing, shape (model, item).
    n_labels
        Number of labels.
    weights
        What each item counts, shape (item,); by default 1.
    """
    gold = np.ascontiguousarray(truth[:, None] if truth.ndim == 2 else truth, dtype=np.int32)
    counts = np.zeros((gold.shape[0], predicted.shape[0], n_labels, n_labels))
    ones = np.ones(predicted.shape[1]) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    _count(gold, np.ascontiguousarray(predicted, dtype=np.int32), ones, counts)
    return counts


@numba.njit(cache=True, nogil=True)
def _count(gold, predicted, weights, counts):
    wide = counts.shape[2] + 1
    cells = np.zeros((wide, wide))  # row and column 0 take what is missing, without a branch
    for s in range(gold.shape[0]):
        for m in range(predicted.shape[0]):
            true, given = gold[s, m if gold.shape[1] > 1 else 0], predicted[m]
            cells[:] = 0
            for i in range(given.size):
                cells[true[i] + 1, given[i] + 1] += weights[i]
            for true_label in range(wide - 1):
                copy_to(counts[s, m, true_label], cells[true_label + 1, 1:])


def scores_of_counts(counts: Floats, metric: str, positive: int | None) -> Floats:
    """Return a score of each confusion matrix, NaN where it does not exist.

    Parameters
    ----------
    counts
        Shape (..., label, predicted label).
    metric
        One of `METRICS`.
    positive
        Position of the positive label, None for the macro average.
    """
    one_of(metric, "metric", METRICS)
    right = np.moveaxis(np.diagonal(counts, axis1=-2, axis2=-1), -1, 0)
    true, given = counts.sum(axis=-1), counts.sum(axis=-2)
    found = Counts(right, np.moveaxis(true, -1, 0), np.moveaxis(given, -1, 0), counts.sum(axis=(-2, -1)))
    if metric == "accuracy":
        return divided(found.right.sum(axis=0), found.total, found.total)
    names = (metric,)
    if metric == "balanced_accuracy":
        names = ("recall", "specificity") if len(found.right) == 2 else ("recall",)
    ratios = [_RATIOS[name](found) for name in names]
    of_label = np.mean([divided(ratio.part, ratio.whole, found.total) for ratio in ratios], axis=0)
    return averaged(of_label, np.ones_like(of_label), found.total) if positive is None else of_label[positive]


def warn_undefined(scores: NDArray[np.floating[Any]], metric: str, models: NDArray[Any]) -> None:
    """Warn of scores that do not exist, with the models and the reason."""
    if np.isnan(scores).any():
        reason = f"does not exist: {REASONS[metric]}"
        warnings.warn(f"{metric} of {shorten(models[np.isnan(scores)])} {reason}", UserWarning, stacklevel=3)
