"""Functions of the user's as metrics."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from bayesagree.errors import InputError
from bayesagree.metrics._record import MetricRecord

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
