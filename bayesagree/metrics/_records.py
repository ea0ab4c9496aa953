"""The records of the metrics: their class, their table (`records.toml`), and functions of the user's as metrics."""

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats
from bayesagree.errors import InputError, one_of
from bayesagree.metrics import _distribution_kernels, _label_kernels, hard_labels

DEFAULT_K = 3

type LabelFamily = Literal["rank", "label", "confusion", "calibration", "curve", "distribution", "soft_counts"]
type Family = LabelFamily | Literal["function", "number", "number_rank"]
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
        one_of(self.takes, "takes", TAKES)

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


def _kendall_distance(k: int, n_labels: int) -> float:
    """Return the largest distance: the lists share as few labels as they can, in reversed order."""
    shared = max(0, 2 * k - n_labels)
    alone = k - shared
    return max(alone**2 + alone * (alone - 1) / 2 + shared * (shared - 1) / 2 + 2 * shared * alone, 1.0)


def _footrule_distance(k: int, n_labels: int) -> float:
    alone = min(k, n_labels - k)
    places = [*range(1, k + 1), *[k + 1] * alone]
    return max(float(sum(abs(a - b) for a, b in zip(places, reversed(places)))), 1.0)


# Probabilities below this count as this in logarithms, as in scikit-learn's `log_loss`.
SMALLEST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class ConfusionScore:
    """A score of confusion counts: (counts, number, label) to values."""

    # Of the counts and beta.
    ratio: Callable[..., hard_labels.Ratio]
    # Name in `hard_labels.AVERAGES`; ``"positive"`` for the last of two labels, ``"label"`` for one by name.
    average: str

    def __call__(self, counts: hard_labels.Counts, number: float | None, label: int | None) -> Floats:
        """Return the score of all counts."""
        ratio = self.ratio(counts) if number is None else self.ratio(counts, number)
        if self.average in hard_labels.AVERAGES:
            return hard_labels.AVERAGES[self.average](ratio, counts)
        return hard_labels.of_one(ratio, counts, 1 if label is None else label)


def _whole(score: Callable[[hard_labels.Counts], Floats]) -> Callable[..., Floats]:
    return lambda counts, number, label: score(counts)


def hits(hard: NDArray[np.integer], scores: Floats, n_labels: int) -> Floats:
    """1 where the model gives the label, shape (model, item, label)."""
    return (hard[:, :, None] == np.arange(n_labels)).astype(np.float64)


def log_losses(hard: NDArray[np.integer], scores: Floats, n_labels: int) -> Floats:
    """Minus the log probability of each label."""
    return -np.log(np.clip(scores, SMALLEST, 1 - SMALLEST))


def brier_losses(hard: NDArray[np.integer], scores: Floats, n_labels: int) -> Floats:
    """Squared distance of the probabilities from each label; half of it for two labels, as in scikit-learn."""
    distance = (scores**2).sum(axis=-1, keepdims=True) - 2 * scores + 1
    return distance / 2 if n_labels == 2 else distance


def correlation(moments: Floats) -> Floats:
    """Pearson correlation from the means of x, y, x^2, y^2 and xy on the first axis; NaN where one is constant."""
    x, y, xx, yy, xy = moments
    of_x, of_y = xx - x * x, yy - y * y
    # Variances come as differences of moments, right to about 1e-15 of them.
    varies = (of_x > 1e-14 * np.maximum(xx, 1e-300)) & (of_y > 1e-14 * np.maximum(yy, 1e-300))
    root = np.sqrt(np.where(varies, of_x * of_y, 1.0))
    return np.where(varies, (xy - x * y) / root, np.nan)


def entropy_rank_correlation(plausibilities: Floats, probabilities: Floats) -> float:
    """Spearman correlation over items of the entropies; NaN where one is constant.

    Entropies as scipy adds them up: two items with the same shares in another order may differ in the last digit, which
    the ranks of vote shares show from the fourth digit on.
    """
    from scipy.stats import entropy, spearmanr

    of_truth, of_model = entropy(plausibilities, axis=1), entropy(probabilities, axis=1)
    if np.ptp(of_truth) == 0 or np.ptp(of_model) == 0:
        return float("nan")
    found: Any = spearmanr(of_model, of_truth)
    return float(found.statistic)


@dataclass(frozen=True)
class NumberScore:
    """Terms whose means over items a score is made from, and the function that makes it."""

    terms: tuple[str, ...]
    finish: Callable[[Floats], Floats] = lambda means: means[0]


def distances(hard: NDArray[np.integer], scores: Floats, n_labels: int) -> Floats:
    """Steps from the model's label to each label; no label counts as the farthest one."""
    at = np.arange(n_labels)
    away = np.where(hard[:, :, None] < 0, np.maximum(at, n_labels - 1 - at), np.abs(hard[:, :, None] - at))
    return away.astype(np.float64)


def near(hard: NDArray[np.integer], scores: Floats, n_labels: int) -> Floats:
    """1 where the model's label is the label or next to it."""
    return (distances(hard, scores, n_labels) <= 1).astype(np.float64)


def concordance(moments: Floats) -> Floats:
    """Lin's coefficient from the means of truth, prediction, their squares and their product; NaN if both constant."""
    x, y, xx, yy, xy = moments
    spread = (xx - x * x) + (yy - y * y) + (x - y) ** 2
    exists = spread > 1e-14 * (xx + yy)
    return np.where(exists, 2 * (xy - x * y) / np.where(exists, spread, 1.0), np.nan)


class QuadraticKappa:
    """Kappa with squared distances as weights, which is the concordance of the positions on the scale."""

    finish = staticmethod(concordance)

    def __call__(self, hard: NDArray[np.integer], scores: Floats, n_labels: int) -> Floats:
        """Return true and given position, their squares and their product, shape (moment, model, item, label)."""
        end = (n_labels - 1) / 2
        truth, hard = np.arange(n_labels) - end, hard[:, :, None]
        given = np.where(hard < 0, np.where(truth > 0, -end, end), hard - end)  # no label counts as the farthest one
        truth = np.broadcast_to(truth, given.shape)
        return np.stack([truth, given, truth**2, given**2, truth * given]).astype(np.float64)


# Functions of metrics that have no code among the kernels of their family.
KERNELS: dict[str, Any] = {
    "ordinal_mae": distances,
    "within_one_accuracy": near,
    "quadratic_kappa": QuadraticKappa(),
    "accuracy": hits,
    "log_loss": log_losses,
    "brier": brier_losses,
    "balanced_accuracy": _whole(hard_labels.balanced_accuracy),
    "matthews_corrcoef": _whole(hard_labels.matthews_corrcoef),
    "cohen_kappa": _whole(hard_labels.cohen_kappa),
    "entropy_rank_correlation": UserMetric(entropy_rank_correlation, takes="plausibilities"),
}
LARGEST_DISTANCES = {"kendall_tau_{}": _kendall_distance, "spearman_footrule_{}": _footrule_distance}
# What a metric of numbers makes of the means of its terms, if it is not the first of them.
FINISHES = {"rmse": lambda means: np.sqrt(means[0]), "pearson": correlation, "concordance": concordance}


def _records() -> Iterator[MetricRecord]:
    """Yield the records of the table, those with an average once for each."""
    table = tomllib.loads(files("bayesagree.metrics").joinpath("records.toml").read_text(encoding="utf-8"))
    for pattern, row in table["metrics"].items():
        key = row["reference"]
        row |= {"reference": table["references"].get(key, key), "number": float if "number" in row else int}
        if "{average}" not in pattern:
            yield _record(pattern, **row)
            continue
        for suffix, way in table["averages"][row["family"]].items():
            texts = {
                "title": row["title"] + suffix.replace("_", " "),
                "meaning": row["meaning"].replace("{of}", way["of"]),
                "formula": (rf"\text{{{way['how']}}} " if way["how"] else "") + row["formula"],
                "kernel": ConfusionScore(getattr(hard_labels, row["kernel"]), way["average"]),
            }
            yield _record(pattern.replace("{average}", suffix), **row | texts)


def _record(pattern: str, *, kernel: Any = None, family: Family = "rank", **row: Any) -> MetricRecord:
    """Return the record of a row of the table, with the code that its kernel names."""
    if family == "rank":
        kernel = getattr(_label_kernels, kernel)
    elif family == "distribution":
        kernel = tuple(getattr(_distribution_kernels, name) for name in kernel)
    elif family == "number":
        kernel = NumberScore(tuple(kernel), FINISHES.get(pattern, NumberScore.finish))
    if "bounds" in row:
        row["bounds"] = tuple(row["bounds"])
    if pattern in LARGEST_DISTANCES:
        row["largest_distance"] = LARGEST_DISTANCES[pattern]
    return MetricRecord(pattern, kernel=KERNELS.get(pattern, kernel), family=family, **row)


METRICS = {record.pattern: record for record in _records()}
