"""Settings of a report, with defaults that fit the annotations."""

from dataclasses import dataclass, replace
from typing import Literal, Self

from bayesagree.annotations import Annotations
from bayesagree.errors import InputError
from bayesagree.metrics.registry import Metric
from bayesagree.plausibility.registry import fitting_posteriors, posterior_for
from bayesagree.predictions import Predictions
from bayesagree.report.kinds import kind_of, require_threshold


@dataclass(frozen=True)
class ReportSettings:
    """Settings of the computation; empty ones are filled in by `fitting`.

    Attributes
    ----------
    plausibility
        Name of the model of the truth, as in `evaluate`.
    reliability
        Weights of an annotation; the first is the reference, which the headlines are about.
    metrics
        As in `evaluate`; the headlines are about the first.
    draws, chains, seed, items
        As in `evaluate`.
    threshold
        For ratings: is the mean below this value or not?
    least_certain
        How many items to list.
    allow_unmixed
        Whether to report where the chains of a sampler that joins all items disagree.
    """

    plausibility: str = ""
    reliability: tuple[float, ...] = ()
    metrics: tuple[str, ...] = ()
    draws: int = 500
    chains: int = 4
    seed: int = 1
    items: Literal["fixed", "bootstrap"] = "fixed"
    threshold: float | None = None
    least_certain: int = 50
    allow_unmixed: bool = False

    @property
    def reference(self) -> float:
        """The reliability that the headlines are about."""
        return self.reliability[0]

    def fitting(self, annotations: Annotations, predictions: Predictions | None) -> Self:
        """Fill in empty settings: the first plausibility for such annotations, its reliabilities, top-1 accuracy.

        Rankings of more than three labels with scores: top-3 accuracy and average overlap.

        Raises
        ------
        InputError
            A plausibility for other annotations, or for predictions where there are none; ratings without a
            threshold; an unknown metric.

        Examples
        --------
        >>> from bayesagree import Labels
        >>> ReportSettings().fitting(Labels.from_counts([[2, 1]]), None).reliability
        (1.0, 0.3, 3.0)
        """
        record = posterior_for(annotations, self.plausibility or fitting_posteriors(annotations)[0].name)
        if record.takes_predictions and predictions is None:
            raise InputError(f"plausibility={record.name!r} learns from predictions; give them (--predictions FILE)")
        if record.asks_threshold:
            require_threshold(self.threshold)
        scored = predictions is not None and predictions.scores is not None and predictions.categories.size > 3
        several = kind_of(annotations).ordered and scored
        metrics = self.metrics or (("top_3_accuracy", "average_overlap_3") if several else ("top_1_accuracy",))
        return replace(
            self,
            plausibility=record.name,
            reliability=self.reliability or record.reliabilities,
            metrics=tuple(dict.fromkeys(Metric.named(metric).name for metric in metrics)),
        )


Settings = ReportSettings
"""The former name, for one release."""
