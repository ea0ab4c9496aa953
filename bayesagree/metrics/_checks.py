"""What metrics ask of predictions, of labels and of the truth, and who has none of it."""

from collections.abc import Sequence

import numpy as np

from bayesagree.annotations._model_outputs import require_probabilities
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, one_of, shorten
from bayesagree.metrics.records import Whole
from bayesagree.metrics.registry import Metric


def check_order(metrics: Sequence[Metric], has_order: bool, n_labels: int) -> None:
    """Refuse metrics that use the order of labels which have none; two labels are in order either way."""
    wrong = [metric.name for metric in metrics if metric.record.ordered]
    if wrong and not has_order and n_labels > 2:
        raise InputError(
            f"{wrong[0]} uses the order of the labels, and these have none; read them with ordered=True and "
            "labels=[...], lowest first, or leave the metric out"
        )


def check_predictions(predictions: Predictions, metrics: Sequence[Metric]) -> None:
    """Refuse metrics of scores, probabilities, numbers or labels that the predictions lack."""
    n_labels = predictions.categories.size
    names = [str(name) for name in predictions.categories.tolist()]
    fewest = 1 if predictions.runs is None else int(np.bincount(predictions.runs.code).min())
    for metric in metrics:
        record, name = metric.record, metric.name
        if record.runs and fewest < (needed := int(metric.number or 2)):
            raise InputError(
                f"{name} needs {needed} runs of every model, and one has {fewest}; a column run= of "
                "Predictions.from_long tells answers of one model to one item apart"
            )
        if (record.needs == "numbers") != (predictions.numbers is not None) and not record.by_user:
            if predictions.numbers is None:
                raise InputError(
                    f"{name} needs numbers (Predictions.from_numbers), but these predictions are labels"
                )
            raise InputError(
                f'{name} needs labels; numbers have "mae" and its kin, but these predictions are numbers'
            )
        if record.needs == "numbers":
            tail = (1 - (metric.number or 0) / 100) / 2
            levels = np.asarray(predictions.levels)
            if metric.number is not None and not max(levels[0], 1 - levels[-1]) - 1e-9 <= tail < 0.5:
                raise InputError(
                    f"{name} needs quantiles at {tail:g} and {1 - tail:g} or samples beyond them; the predictions go "
                    f"from {levels[0]:g} to {levels[-1]:g}"
                )
            continue
        of_one_label = record.against == "order" and metric.depth == metric.k == 1
        if record.needs != "labels" and not of_one_label:
            if predictions.scores is None:
                raise InputError(
                    f"{name} needs {record.needs}, but these predictions are one hard label per item; "
                    "use Predictions.from_scores"
                )
            if record.needs == "probabilities":
                whose = np.asarray(predictions.scores), predictions.models, predictions.items
                require_probabilities(*whose, f"{name} needs probabilities")
        if metric.k > n_labels > 0:
            raise InputError(f"{name} looks at {metric.k} labels, but there are {n_labels}")
        if record.two_labels and n_labels != 2:
            others = f"{name}_macro, _micro, _weighted, or {name}[label] for one of them"
            others = "roc_auc_ovr" if name == "roc_auc" else others
            raise InputError(
                f"{name} takes the last of two labels as positive, but there are {n_labels}; use {others}"
            )
        if metric.label is not None and metric.label not in names:
            raise InputError(f"{name}: the labels are {shorten(predictions.categories)}")


def check_truth_is(truth_is: str, metric: Metric) -> None:
    """Refuse a truth that a metric does not have."""
    one_of(truth_is, "truth_is", ("top", "sampled"))
    if truth_is == "sampled" and metric.depth > 1:
        raise InputError(
            f"{metric.name} compares {metric.depth} labels of a draw; a sampled truth is one label"
        )


def has_one_label(metric: Metric) -> bool:
    """Whether a single label has a value of a metric."""
    record = metric.record
    return not (metric.k > 1 or record.needs == "numbers" or record.runs or isinstance(record.kind, Whole))
