"""Scores of hard labels against one gold label per item: accuracy, precision, recall, specificity and their kin.

All are scores of confusion counts: for each label the items that have it, are given it, and both. These three numbers
per label are enough for every score here; the whole matrix is never needed. A score that is a ratio is known by its
numerator and denominator for each label, and averages of labels follow from these, without the labels for which it does
not exist (``zero_division=nan`` of scikit-learn).
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import xarray as xr

from bayesagree._types import Array, Floats, Pair
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, as_python, one_of, shorten, warn
from bayesagree.inference.cells import cell_sums
from bayesagree.io.doors import as_predictions
from bayesagree.metrics.concordant_pairs import ratio

# Share of the total weight below which a denominator is zero: sums of ten thousand doubles are right to 1e-12.
NOTHING = 1e-12


class Counts(NamedTuple):
    """Weights of items, shape (label, ...): `right` have the label and are given it, `true` have it, `given` get it.

    `total` (...) is the weight of all items, those that a model gave no label included.
    """

    right: Floats
    true: Floats
    given: Floats
    total: Floats

    @classmethod
    def of(cls, sums: Floats, total: Floats) -> Self:
        """Read the three one after the other, shape (3 label, ...), and the weight of all items."""
        right, true, given = sums.reshape(3, -1, *sums.shape[1:])
        return cls(right, true, given, np.broadcast_to(total, right.shape[1:]))


# Numerator and denominator of a score for each label, from counts and the weight of recall beside precision.
RATIOS: dict[str, Callable[[Counts, Any], Pair]] = {
    "precision": lambda c, beta: (c.right, c.given),
    "recall": lambda c, beta: (c.right, c.true),
    "specificity": lambda c, beta: (c.total - c.true - c.given + c.right, c.total - c.true),
    "f{}": lambda c, beta: ((1 + beta**2) * c.right, beta**2 * c.true + c.given),
}


def joined(name: str, ending: str, counts: Counts, number: Any = 1.0, label: int = 1) -> Floats:
    """Return a score of one label, by default the last of two, or joined over labels as the ending of its name says.

    Macro is the mean over the labels for which it exists, micro the ratio of the sums, weighted the mean by the share
    of the truth, and the macro one where no label of the truth has the score.
    """
    part, whole = RATIOS[name](counts, number)
    if ending == "_micro":
        return divided(part.sum(axis=0), whole.sum(axis=0), counts.total)
    of_label = divided(part, whole, counts.total)
    if ending not in ("_macro", "_weighted"):
        return of_label[label]
    macro = averaged(of_label, 1.0)
    found = macro if ending == "_macro" else averaged(of_label, counts.true)
    return np.where(np.isnan(found), macro, found)


def divided(part: Floats, whole: Floats, total: Floats) -> Floats:
    """Return a ratio, NaN where its denominator is zero."""
    return ratio(part, whole, NOTHING * total)


def matthews_corrcoef(counts: Counts, *named: Any) -> Floats:
    """Correlation of truth and prediction (Gorodkin 2004); 0 where one of them is constant, as in scikit-learn."""
    right, true, given, total = counts
    missing = total - given.sum(axis=0)
    together = right.sum(axis=0) * total - (true * given).sum(axis=0)
    of_given = total**2 - (given**2).sum(axis=0) - missing**2
    of_true = total**2 - (true**2).sum(axis=0)
    varies = np.minimum(of_given, of_true) > NOTHING * total**2
    return np.divide(together, np.sqrt(np.abs(of_given * of_true)), out=np.zeros_like(together), where=varies)


def cohen_kappa(counts: Counts, *named: Any) -> Floats:
    """Agreement of truth and prediction beyond chance."""
    by_chance = counts.total - (counts.true * counts.given).sum(axis=0) / counts.total
    return 1 - divided(counts.total - counts.right.sum(axis=0), by_chance, counts.total)


def averaged(of_label: Floats, weight: Any) -> Floats:
    """Return the mean over labels, by weight, of a score where it exists."""
    exists = ~np.isnan(of_label)
    return ratio(np.nansum(of_label * weight, axis=0), (exists * weight).sum(axis=0))


Metric = Literal["accuracy", "precision", "recall", "specificity", "f1", "balanced_accuracy"]
REASONS = {
    "accuracy": "no item has both a gold label and a prediction",
    "precision": "the label is never predicted",
    "recall": "no gold item has the label",
    "specificity": "every gold item has the label",
    "f1": "the label is neither predicted nor in the gold",
    "balanced_accuracy": "the gold lacks a label",
}


def hard_label_scores(
    predictions: Predictions, gold: Gold, *, metric: Metric = "accuracy", positive: Any = None
) -> xr.DataArray:
    """Score predicted labels against gold labels.

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
    predictions = as_predictions(predictions)
    place = positive_index(positive, predictions.categories)
    truth = gold_codes(gold, predictions.items, predictions.categories)
    counts = confusion_counts(truth[None], predictions.hard_labels(), predictions.categories.size)[0]
    scores = scores_of_counts(counts, metric, place)
    warn_undefined(scores, metric, predictions.models)
    return xr.DataArray(scores, dims="model", coords={"model": predictions.models}, name=metric)


def positive_index(positive: Any, labels: Sequence[Any] | Array) -> int | None:
    """Return the position of the positive label: by default the last of two; None stands for the macro average."""
    if positive is None:
        return 1 if len(labels) == 2 else None
    names = [as_python(label) for label in labels]
    wanted = as_python(positive)
    if not isinstance(wanted, Hashable) or wanted not in names:
        raise InputError(f"positive={wanted!r} is not one of the labels ({shorten(labels)})")
    return names.index(wanted)


def confusion_counts(
    truth: Array,
    predicted: Array,
    n_labels: int,
    weights: Floats | None = None,
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
        What each item counts, shape (item,) or (set, item); by default 1.
    """
    gold = np.broadcast_to(truth[:, None] if truth.ndim == 2 else truth, (len(truth), *predicted.shape))
    each = np.ones((1, predicted.shape[1])) if weights is None else np.atleast_2d(weights)
    counts = np.zeros((len(gold), len(predicted), n_labels, n_labels))
    for s, m in np.ndindex(*counts.shape[:2]):
        known = (gold[s, m] >= 0) & (predicted[m] >= 0)
        weight = each[s if len(each) > 1 else 0][known]
        counts[s, m] = cell_sums(counts.shape[2:], gold[s, m][known], predicted[m][known], weight=weight)
    return counts


def scores_of_counts(counts: Floats, metric: str, positive: int | None) -> Floats:
    """Return a score of each confusion matrix, NaN where it does not exist.

    Parameters
    ----------
    counts
        Shape (..., label, predicted label).
    metric
        One of `REASONS`.
    positive
        Position of the positive label, None for the macro average.
    """
    one_of(metric, "metric", tuple(REASONS))
    of_labels = np.diagonal(counts, axis1=-2, axis2=-1), counts.sum(axis=-1), counts.sum(axis=-2)
    right, true, given = (np.moveaxis(of, -1, 0) for of in of_labels)
    found = Counts(right, true, given, counts.sum(axis=(-2, -1)))
    if metric == "accuracy":
        return divided(found.right.sum(axis=0), found.total, found.total)
    names = ("f{}" if metric == "f1" else metric,)
    if metric == "balanced_accuracy":
        names = ("recall", "specificity") if len(found.right) == 2 else ("recall",)
    ending = "_macro" if positive is None else ""
    return np.mean([joined(name, ending, found, label=positive or 0) for name in names], axis=0)


def warn_undefined(scores: Floats, metric: str, models: Array) -> None:
    """Warn of scores that do not exist, with the models and the reason."""
    if np.isnan(scores).any():
        warn(f"{metric} of {shorten(models[np.isnan(scores)])} does not exist: {REASONS[metric]}")
