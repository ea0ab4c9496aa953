"""Settings of a report, with defaults that fit the annotations, and the data that all of its parts read."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self, cast

import xarray as xr

from bayesagree._types import SAMPLE, Named
from bayesagree.annotations import Annotations, Ratings
from bayesagree.annotations.missing_predictions import Missing, on_annotated, without_missing
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.metrics.registry import Metric, default_metrics
from bayesagree.plausibility.informed.covariates import aligned
from bayesagree.plausibility.registry import (
    Plausibility,
    PosteriorRecord,
    default_posterior,
    is_auto,
    record_for,
    record_of,
)


@dataclass(frozen=True)
class ReportSource:
    """Where the annotations are from, and what was left out or chosen when they were read, in words."""

    name: str
    title: str = ""
    licence: str = ""
    citation: str = ""
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReportSettings:
    """Settings of the computation; empty ones are filled in by `fitting`.

    Attributes
    ----------
    plausibility, draws, chains, random_seed, items, missing, risk, allow_unmixed
        As in `evaluate`. A trace has its own draws and chains.
    reliability
        Weights of an annotation; the first is the reference, which the first screen is about.
    metrics
        As in `evaluate`; the first screen is about the first.
    threshold
        For ratings: is the mean below this value or not? By default the middle of the scale.
    least_certain
        How many items to list.
    choice
        Why the plausibility was chosen, where it was.
    """

    plausibility: Plausibility = "auto"
    reliability: tuple[float, ...] = ()
    metrics: tuple[str, ...] = ()
    draws: int = 1000
    chains: int = 4
    random_seed: int = 1
    items: Literal["fixed", "bootstrap"] = "fixed"
    threshold: float | None = None
    least_certain: int = 50
    allow_unmixed: bool = False
    choice: str = ""
    missing: Missing = "error"
    risk: Mapping[Any, Any] | None = None

    @property
    def record(self) -> PosteriorRecord:
        """What is known about the model of the truth."""
        return record_of(self.plausibility)

    def options(self, *names: str) -> Named:
        """Return arguments of `evaluate` by their names."""
        return {name: getattr(self, name) for name in names}

    def fitting(self, annotations: Annotations, predictions: Predictions | None) -> Self:
        """Fill in empty settings: the first plausibility for such annotations, its reliabilities, top-1 accuracy.

        Rankings of more than three labels with scores: top-3 accuracy and average overlap. Numbers: MAE, bias and
        concordance.

        Raises
        ------
        InputError
            A plausibility for other annotations, or for predictions where there are none; a trace of other items or
            labels; an unknown metric.

        Examples
        --------
        >>> from bayesagree import Labels
        >>> ReportSettings().fitting(Labels.from_counts([[2, 1]]), None).reliability
        (1.0, 0.3, 3.0)
        """
        chosen, reason = self.plausibility, self.choice
        if is_auto(chosen):
            weighted = {"reliability": self.reliability} if self.reliability else {}
            chosen, reason = default_posterior(annotations, predictions, weighted)
        record, own = record_for(annotations, chosen), {}
        if record.specification.takes_predictions and predictions is None:
            raise InputError(f"plausibility={record.name!r} learns from predictions; give them")
        threshold = self.threshold
        if record.specification.asks_threshold and threshold is None:
            threshold = sum(cast(Ratings, annotations).scale) / 2
        metrics = default_metrics(predictions)
        if metrics == ("mae",):
            metrics = ("mae", "bias", "concordance")
        elif annotations.kind == "rankings" and predictions is not None and predictions.scores is not None:
            metrics = ("top_3_accuracy", "average_overlap_3") if predictions.categories.size > 3 else metrics
        if isinstance(chosen, xr.DataTree):
            own = {f"{dim}s": chosen["posterior"].sizes[dim] for dim in SAMPLE}
        return replace(
            self,
            plausibility=chosen if isinstance(chosen, str) else record.specification,
            choice=reason,
            threshold=threshold,
            reliability=self.reliability or record.reliabilities,
            metrics=tuple(dict.fromkeys(Metric.named(metric).name for metric in self.metrics or metrics)),
            **own,
        )


class Case(NamedTuple):
    """Annotations and models of the same items and labels, and the settings of what is computed from them."""

    annotations: Annotations
    models: Predictions | None
    settings: ReportSettings

    @classmethod
    def of(cls, annotations: Annotations, predictions: Predictions | None, settings: ReportSettings) -> Self:
        """Align the predictions with the annotations; where they inform the truth, all of their items count."""
        if predictions is None:
            return cls(annotations, None, settings.fitting(annotations, None))
        annotations, predictions = without_missing(annotations, predictions.pooled(), settings.missing)
        chosen = settings.fitting(annotations, predictions)
        if chosen.record.specification.takes_predictions:
            annotations, predictions = aligned(annotations, predictions)
        else:
            predictions = on_annotated(annotations, predictions)
        named = replace(
            predictions, models=predictions.models.astype(str)
        )  # "another annotator" stands beside them
        return cls(annotations, named.aligned(annotations.items, annotations.categories), chosen)
