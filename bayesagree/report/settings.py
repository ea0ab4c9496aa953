"""Settings of a report, with defaults that fit the annotations, and the data that all of its parts read."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import xarray as xr

from bayesagree.annotations import Annotations, Rankings
from bayesagree.annotations.missing_predictions import Missing, without_missing
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.metrics.registry import Metric
from bayesagree.plausibility.informed.covariates import on_items_of
from bayesagree.plausibility.registry import (
    Choice,
    Plausibility,
    PosteriorRecord,
    default_posterior,
    record_for,
    record_of,
)
from bayesagree.report.kinds import AnnotationKind, kind_of


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
    plausibility
        Model of the truth, as in `evaluate`: its name, an object, or a trace of one's own model of the same items.
    reliability
        Weights of an annotation; the first is the reference, which the panel is about.
    metrics
        As in `evaluate`; the panel is about the first.
    draws, chains, random_seed, items
        As in `evaluate`. A trace has its own draws and chains.
    threshold
        For ratings: is the mean below this value or not?
    least_certain
        How many items to list.
    allow_unmixed
        Whether to report where the chains of a sampler that joins all items disagree.
    choice
        Why the plausibility was chosen, where it was.
    missing
        Items that a model predicts nothing for, as in `evaluate`.
    """

    plausibility: Plausibility = ""
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

    @property
    def record(self) -> PosteriorRecord:
        """What is known about the model of the truth."""
        return record_of(self.plausibility)

    @property
    def reference(self) -> float:
        """The reliability that the panel is about."""
        return self.reliability[0]

    def options(self) -> dict[str, Any]:
        """Return the arguments of `evaluate` that all evaluations of the report share."""
        shared = ("plausibility", "reliability", "chains", "random_seed", "items", "missing")
        options = {name: getattr(self, name) for name in shared}
        if self.threshold is not None:
            options["threshold"] = self.threshold
        return options | ({"allow_unmixed": self.allow_unmixed} if self.record.checks_chains else {})

    def fitting(self, annotations: Annotations, predictions: Predictions | None) -> Self:
        """Fill in empty settings: the first plausibility for such annotations, its reliabilities, top-1 accuracy.

        Rankings of more than three labels with scores: top-3 accuracy and average overlap. Numbers: MAE, bias and
        concordance.

        Raises
        ------
        InputError
            A plausibility for other annotations, or for predictions where there are none; a trace of other items or
            labels; ratings without a threshold; an unknown metric.

        Examples
        --------
        >>> from bayesagree import Labels
        >>> ReportSettings().fitting(Labels.from_counts([[2, 1]]), None).reliability
        (1.0, 0.3, 3.0)
        """
        chosen, reason = self.plausibility, self.choice
        if isinstance(chosen, str):
            weighted = {"reliability": self.reliability} if self.reliability else {}
            choice = Choice(chosen, "") if chosen else default_posterior(annotations, predictions, weighted)
            chosen, reason = choice
        record = record_for(annotations, chosen)
        if record.takes_predictions and predictions is None:
            raise InputError(f"plausibility={record.name!r} learns from predictions; give them")
        if record.asks_threshold and self.threshold is None:
            raise InputError(
                "ratings have no labels; pass threshold=c to ask whether the mean is below c or not"
            )
        scored = predictions is not None and predictions.scores is not None and predictions.categories.size > 3
        several = annotations.kind == "rankings" and scored
        default = ("top_3_accuracy", "average_overlap_3") if several else ("accuracy",)
        if predictions is not None and predictions.numbers is not None:
            default = ("mae", "bias", "concordance")
        metrics = self.metrics or default
        own: dict[str, Any] = {}
        if isinstance(chosen, xr.DataTree):
            own = {f"{dim}s": chosen["posterior"].sizes[dim] for dim in ("chain", "draw")}
        return replace(
            self,
            plausibility=chosen if isinstance(chosen, str) else record.specification,
            choice=reason,
            **own,
            reliability=self.reliability or record.reliabilities,
            metrics=tuple(dict.fromkeys(Metric.named(metric).name for metric in metrics)),
        )


@dataclass(frozen=True, eq=False)
class Case:
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
        if chosen.record.takes_predictions:
            annotations = on_items_of(annotations, predictions)  # type: ignore[arg-type]
        return cls(annotations, predictions.aligned(annotations.items, annotations.categories), chosen)

    @property
    def kind(self) -> AnnotationKind:
        """What depends on the kind of annotations."""
        return kind_of(self.annotations)

    @cached_property
    def voted(self) -> Any:
        """The annotations of items that have some: a posterior of new votes knows nothing of the others."""
        if isinstance(self.annotations, Rankings):  # all of their items have some
            return self.annotations
        return self.annotations.select(np.ones(self.annotations.item_index.size, bool))

    @property
    def learns_from_models(self) -> bool:
        """Whether predictions inform the truth of labels: the evaluation of the models then draws it."""
        record = self.settings.record
        return self.models is not None and record.takes_predictions and not record.asks_threshold
