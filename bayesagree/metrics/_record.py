"""The class of a metric's record."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

DEFAULT_K = 3

type Family = Literal["rank", "label", "confusion", "calibration", "curve", "distribution", "soft_counts", "function"]
type Needs = Literal["labels", "scores", "probabilities"]


@dataclass(frozen=True)
class MetricRecord:
    """Facts about one metric.

    Attributes
    ----------
    pattern
        Its name, with ``{}`` for its number (k, beta, bins) and ``{label}`` for a label.
    title
        Its name for readers of a report, with the same places.
    meaning
        Its definition in words, with ``{k}`` for its number.
    kernel
        Its code among the kernels of its family, or the function that computes it.
    reference
        The paper that defines it.
    formula
        Its definition as mathematics: p the model's probabilities, y its label, t the true label, lambda the
        plausibilities.
    family
        Which sums it is made from; `_parts` has one class for each.
    needs
        Of the predictions: hard labels, scores that order the labels, or probabilities that sum to one.
    ordered
        Whether the order of the categories matters.
    unbiased
        Its form that is right on average for few votes, in words; empty where none exists.
    one_true_label
        Whether only the most plausible label of a draw counts, and not its k best. Labels that tie on top of a point
        estimate then share the item.
    largest_distance
        Of two lists of k of n labels, for metrics that are one minus a distance over its largest value.
    bounds, higher_is_better
        Range and direction.
    undefined
        When it does not exist, in words, for the warning that comes with NaN.
    default, always_numbered
        Its number where the name has none, and whether its own name then shows it.
    number
        Type of its number.
    """

    pattern: str
    title: str
    meaning: str
    kernel: Any
    reference: str
    formula: str = ""
    family: Family = "rank"
    needs: Needs = "labels"
    ordered: bool = False
    unbiased: str = ""
    one_true_label: bool = False
    largest_distance: Callable[[int, int], float] = lambda k, n_labels: 1.0
    bounds: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    undefined: str = ""
    default: float | None = None
    always_numbered: bool = True
    number: type = int

    @property
    def against_distribution(self) -> bool:
        """Whether it compares with all plausibilities of an item, and not with one true label."""
        return self.family in ("distribution", "soft_counts") or getattr(self.kernel, "takes", "") == "plausibilities"

    @property
    def of_label(self) -> bool:
        """Whether its name ends with a label in brackets."""
        return self.pattern.endswith("[{label}]")

    @property
    def digits(self) -> str:
        """The pattern of its number."""
        return r"[1-9]\d*" if self.number is int else r"\d+(?:\.\d+)?"
