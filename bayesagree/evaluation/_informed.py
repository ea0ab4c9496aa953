"""Scores under the informed posterior: each model without its own output, beside the full fit and the labels alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesagree.annotations import Annotations, Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.evaluation._results import Pass
from bayesagree.metrics.further_annotators import has_one_label
from bayesagree.metrics.registry import Metric
from bayesagree.plausibility.informed.guards import fit_to_votes, warn_of_knowing
from bayesagree.plausibility.registry import POSTERIORS, PosteriorRecord

type Groups = dict[str, dict[str, Any]]


def informed_passes(
    record: PosteriorRecord, annotations: Labels, predictions: Predictions, options: dict[str, Any]
) -> list[Pass]:
    """Return the passes: all models as covariates, all but each one of several, labels alone."""
    if "exclude" in options:
        raise InputError(
            "evaluate leaves each model out of its own score; for other choices of exclude= score the result of "
            "informed_dirichlet with a metric"
        )
    warn_of_knowing(fit_to_votes(annotations, predictions), predictions.models, stacklevel=5)
    shared = {"predictions": predictions} | options
    names = [str(m) for m in predictions.models] if predictions.models.size > 1 else []
    without_own = [Pass(record, shared | {"exclude": name}) for name in names]
    return [Pass(record, shared), *without_own, Pass(POSTERIORS["dirichlet"], {})]


def items_to_score(record: PosteriorRecord, annotations: Annotations, predictions: Predictions, n_levels: int) -> int:
    """Return the number of items over all passes, which is what `evaluate` tells of its progress."""
    if not record.takes_predictions:
        return annotations.items.size * n_levels
    n_models = predictions.models.size
    return predictions.items.size * (2 + (n_models if n_models > 1 else 0))


def scores_another_annotator(record: PosteriorRecord, metrics: Sequence[str]) -> bool:
    """Whether the commands score another annotator in any case: beside a fit to predictions it costs little."""
    return record.takes_predictions and all(has_one_label(Metric.of(metric)) for metric in metrics)


def informed_groups(groups: Groups, n_models: int) -> Groups:
    """Return the groups of the evaluation from those over all passes, which stand in the place of reliabilities."""
    found = {
        name: {key: (v[0], _own_pass(v[0], v[1], n_models), *v[2:]) for key, v in variables.items()}
        for name, variables in groups.items()
        if name != "certainty"
    }
    for name, at in (("full_fit", 0), ("annotations_only", -1)):
        found[name] = {key: (v[0], _one_pass(v[0], v[1], at), *v[2:]) for key, v in groups["posterior"].items()}
    dims, certainty = groups["certainty"]["annotation_certainty"]
    return found | {"certainty": {"annotation_certainty": (dims, certainty[:1])}}


def _own_pass(dims: tuple[str, ...], values: Any, n_models: int) -> Any:
    """Take each model from the pass without its own output; one alone and a further annotator from the full fit."""
    places = dims.index("reliability"), dims.index("model")
    moved = np.moveaxis(values, places, (0, 1))
    own = [moved[1 + j if n_models > 1 and j < n_models else 0, j] for j in range(moved.shape[1])]
    return np.moveaxis(np.stack(own)[None], (0, 1), places)


def _one_pass(dims: tuple[str, ...], values: Any, at: int) -> Any:
    place = dims.index("reliability")
    return np.expand_dims(np.take(values, at, axis=place), place)
