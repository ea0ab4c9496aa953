"""The class of a metric's record, and functions of the user's as metrics."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from bayesagree.errors import InputError

DEFAULT_K = 3

type Family = Literal[
    "rank",
    "label",
    "confusion",
    "calibration",
    "curve",
    "distribution",
    "soft_counts",
    "function",
    "number",
    "number_rank",
]
type Needs = Literal["labels", "scores", "probabilities", "numbers"]


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
        Of the predictions: hard labels, scores that order the labels, probabilities that sum to one, or numbers.
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
    best
        The best value, where it is neither end of the range.
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
    best: float | None = None
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


TAKES = ("labels", "scores", "plausibilities")


@dataclass(frozen=True)
class UserMetric:
    """A function as a metric: its arguments, direction and range.

    Attributes
    ----------
    function
        ``takes="labels"``: (true labels, predicted labels), names of shape (item,), as most functions of
        `sklearn.metrics`. ``"scores"``: (true labels, scores (item, category)). ``"plausibilities"``: (plausibilities
        (item, category), scores (item, category)). It returns one number.
    takes
        Which of these.
    name
        Of the result; by default that of the function.
    higher_is_better, bounds
        Direction and range. By default lower is better for names that end in ``_loss`` or ``_error``, as in
        scikit-learn.

    Examples
    --------
    >>> from sklearn.metrics import mean_absolute_error
    >>> loss = UserMetric(mean_absolute_error, bounds=(0, float("inf")))
    >>> loss.record().pattern, loss.record().higher_is_better
    ('mean_absolute_error', False)
    """

    function: Callable[..., float]
    takes: Literal["labels", "scores", "plausibilities"] = "labels"
    name: str | None = None
    higher_is_better: bool | None = None
    bounds: tuple[float, float] = (float("-inf"), float("inf"))

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"metric {self.function!r} is neither a name nor a function")
        if self.takes not in TAKES:
            raise InputError(f"takes={self.takes!r} is not one of {TAKES}")

    def record(self) -> MetricRecord:
        """Return the facts about the function."""
        name = self.name or getattr(self.function, "__name__", type(self.function).__name__)
        falls = name.endswith(("_loss", "_error"))
        return MetricRecord(
            pattern=name,
            title=name.replace("_", " "),
            meaning=f"the value of the function {name}",
            kernel=self,
            reference="",
            family="function",
            needs="labels" if self.takes == "labels" else "scores",
            bounds=self.bounds,
            higher_is_better=not falls if self.higher_is_better is None else self.higher_is_better,
            undefined="the function returned NaN",
        )


def imported_function(name: str) -> Callable[..., float] | UserMetric:
    """Import ``module:function``.

    Raises
    ------
    InputError
        A module or function that does not exist.
    """
    module, _, function = name.partition(":")
    try:
        return getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"metric {name!r}: {error}; write module:function of a module that can be imported") from None
