"""Scores under the informed posterior: each model without its own output, beside the full fit and the labels alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree.annotations import Labels
from bayesagree.errors import InputError
from bayesagree.evaluation._passes import Groups, Pass, by_metric, variance_by_metric
from bayesagree.evaluation._sums import ScoreSums
from bayesagree.metrics.registry import RankMetric
from bayesagree.plausibility.dirichlet.posterior import dirichlet_blocks
from bayesagree.plausibility.informed.guards import fit_to_votes, warn_of_knowing
from bayesagree.plausibility.informed.posterior import informed_blocks
from bayesagree.predictions import Predictions


def informed_passes(annotations: Labels, predictions: Predictions, options: dict[str, Any]) -> list[Pass]:
    """Return the passes: all models as covariates, all but each one of several, labels alone."""
    if "exclude" in options:
        raise InputError(
            "evaluate leaves each model out of its own score; for other choices of exclude= score the result of "
            "informed_dirichlet with a metric"
        )
    warn_of_knowing(fit_to_votes(annotations, predictions), predictions.models, stacklevel=4)
    shared = {"predictions": predictions} | options
    names = [str(m) for m in predictions.models] if predictions.models.size > 1 else []
    full = Pass(informed_blocks, shared)
    return [full, *(Pass(informed_blocks, shared | {"exclude": n}) for n in names), Pass(dirichlet_blocks, {})]


def informed_groups(sums: ScoreSums, asked: Sequence[RankMetric], chains: int, *, bootstrap: bool) -> Groups:
    """Return the groups of an evaluation from the sums of `informed_passes`."""
    scores = sums.scores(bootstrap=bootstrap)
    groups: Groups = {
        "posterior": by_metric(_own_pass(scores, axis=0), asked, chains),
        "full_fit": by_metric(scores[:1], asked, chains),
        "annotations_only": by_metric(scores[-1:], asked, chains),
        "certainty": {"annotation_certainty": (("reliability", "item"), sums.certainty[:1])},
    }
    if bootstrap:
        groups["variance"] = variance_by_metric(_own_pass(sums.variance_parts(), axis=1), asked)
    return groups


def _own_pass(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Take each model from the pass without its own output; models are two axes after the passes."""
    moved = np.moveaxis(values, (axis, axis + 2), (0, 1))
    own = np.stack([moved[1 + j, j] for j in range(moved.shape[1])]) if len(moved) > 2 else moved[0]
    return np.moveaxis(own[None], (0, 1), (axis, axis + 2))
