"""Passes over the items: each scores all models on draws of one posterior."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree.evaluation._sums import ScoreSums
from bayesagree.metrics.registry import RankMetric

PARTS = np.array(["annotation", "test_set", "total"])
DIMS = ("chain", "draw", "reliability", "model")

type Groups = dict[str, dict[str, Any]]


class Pass(NamedTuple):
    """Draws that stream, and the arguments that make them those of this pass."""

    blocks: Callable[..., Iterator[Any]]
    options: dict[str, Any]


def score_groups(sums: ScoreSums, asked: Sequence[RankMetric], chains: int, *, bootstrap: bool) -> Groups:
    """Return the groups of an evaluation with one pass per reliability."""
    groups: Groups = {
        "posterior": by_metric(sums.scores(bootstrap=bootstrap), asked, chains),
        "certainty": {"annotation_certainty": (("reliability", "item"), sums.certainty)},
    }
    if bootstrap:
        groups["variance"] = variance_by_metric(sums.variance_parts(), asked)
    return groups


def by_metric(scores: NDArray[np.float64], asked: Sequence[RankMetric], chains: int) -> dict[str, Any]:
    """Return scores (reliability, metric, model, sample) as one variable per metric."""
    moved = np.moveaxis(scores, -1, 0)
    shape = (chains, -1, moved.shape[1], moved.shape[3])
    return {m.name: (DIMS, moved[:, :, c].reshape(shape)) for c, m in enumerate(asked)}


def variance_by_metric(parts: NDArray[np.float64], asked: Sequence[RankMetric]) -> dict[str, Any]:
    """Return parts of the variance (part, reliability, metric, model) as one variable per metric."""
    return {m.name: (("part", "reliability", "model"), parts[:, :, c]) for c, m in enumerate(asked)}
