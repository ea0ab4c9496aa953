"""The records of the metrics: their class, the list of all, and functions of the user's as metrics.

Their formulas and the papers that define them are in docs/metrics.json, from which their pages are made.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats
from bayesagree.errors import InputError, one_of
from bayesagree.metrics import _label_kernels, distributions, hard_labels
from bayesagree.metrics.distributions import SMALLEST

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


def _averaged(pattern: str, title: str, meaning: str, ratio: Any, family: Family, **more: Any) -> list[MetricRecord]:
    """Return a score of counts once for each way to join labels, and once for one label by name."""
    return [
        MetricRecord(
            pattern + suffix,
            title + suffix.replace("_", " "),
            meaning.replace("{of}", of),
            ConfusionScore(ratio, average),
            family,
            **more,
        )
        for suffix, (average, of) in _AVERAGES[family].items()
    ]


# What stands for {of} in the meaning of a score of counts, by the ending of its name.
_AVERAGES: dict[str, dict[str, tuple[str, str]]] = {
    "confusion": {
        "": ("positive", "the last of two labels"),
        "_macro": ("macro", "a label, mean over the labels for which it exists"),
        "_micro": ("micro", "a label, summed over labels"),
        "_weighted": ("weighted", "a label, mean by the share of each true label"),
        "[{label}]": ("label", "the label {label}"),
    },
    "soft_counts": {"": ("macro", "mean over labels"), "[{label}]": ("label", "of the label {label}")},
}
INFINITY = float("inf")
POSITIVE, CORRELATION, ANY = (0.0, INFINITY), (-1.0, 1.0), (-INFINITY, INFINITY)
OF_VOTES = "for a sampled truth: the mean over votes, whatever their number"
NO_ITEM = "no item has or is given the label that it divides by"
CONSTANT = "all predictions, or all true numbers, are equal"
RECORDS = [
    MetricRecord(
        "top_{}_accuracy", "top-{} accuracy",
        "share of items whose most plausible label is among the {k} best labels of the model",
        _label_kernels.TOP, needs="scores", one_true_label=True, default=3
    ),
    MetricRecord(
        "set_{}_accuracy", "set {} accuracy",
        "share of items whose {k} most plausible labels are exactly the {k} best labels of the model",
        _label_kernels.SET, needs="scores", default=3
    ),
    MetricRecord(
        "overlap_{}", "overlap {}",
        "mean share of the {k} most plausible labels that are among the {k} best labels of the model",
        _label_kernels.OVERLAP, needs="scores", default=3
    ),
    MetricRecord(
        "average_overlap_{}", "average overlap {}",
        "mean overlap of the best 1, 2, ... {k} labels of the model with the most plausible ones",
        _label_kernels.AVERAGE_OVERLAP, needs="scores", default=3
    ),
    MetricRecord(
        "kendall_tau_{}", "kendall tau {}",
        "how far the order of the {k} best labels agrees (Kendall), 1 for the same order",
        _label_kernels.KENDALL, needs="scores", default=3, largest_distance=_kendall_distance
    ),
    MetricRecord(
        "spearman_footrule_{}", "spearman footrule {}",
        "how near the {k} best labels are to their places (Spearman), 1 for the same places",
        _label_kernels.FOOTRULE, needs="scores", default=3, largest_distance=_footrule_distance
    ),
    MetricRecord(
        "accuracy", "accuracy", "share of items whose true label is the model's label",
        hits, "label", unbiased=OF_VOTES
    ),
    MetricRecord(
        "balanced_accuracy", "balanced accuracy", "mean recall of the labels that occur",
        _whole(hard_labels.balanced_accuracy), "confusion"
    ),
    *_averaged(
        "precision", "precision", "share of the items that are given {of} that have it",
        hard_labels.precision, "confusion", undefined=NO_ITEM
    ),
    *_averaged(
        "recall", "recall", "share of the items with {of} that are given it (sensitivity)",
        hard_labels.recall, "confusion", undefined=NO_ITEM
    ),
    *_averaged(
        "specificity", "specificity", "share of the items without {of} not given it",
        hard_labels.specificity, "confusion", undefined=NO_ITEM
    ),
    *_averaged(
        "jaccard", "jaccard", "items right among all with {of}, true or given",
        hard_labels.jaccard, "confusion", undefined=NO_ITEM
    ),
    *_averaged(
        "f{}", "F{}", "harmonic mean of precision and recall of {of}, recall weighing {k} times as much",
        hard_labels.f_beta, "confusion", undefined=NO_ITEM, number=float
    ),
    MetricRecord(
        "matthews_corrcoef", "Matthews correlation",
        "correlation of true and given labels; 0 where one of them is constant",
        _whole(hard_labels.matthews_corrcoef), "confusion", bounds=CORRELATION
    ),
    MetricRecord(
        "cohen_kappa", "Cohen's kappa", "agreement of true and given labels beyond chance",
        _whole(hard_labels.cohen_kappa), "confusion", bounds=CORRELATION,
        undefined="all items have and are given one and the same label"
    ),
    MetricRecord(
        "log_loss", "log loss", "minus the mean log probability of the true label, in nats",
        log_losses, "label", "probabilities", unbiased=OF_VOTES, bounds=(0.0, 36.04365338911715),
        higher_is_better=False
    ),
    MetricRecord(
        "brier", "Brier score",
        "squared distance of the probabilities from the true label; half of it for two labels",
        brier_losses, "label", "probabilities", unbiased=OF_VOTES, bounds=(0.0, 2.0), higher_is_better=False
    ),
    MetricRecord(
        "expected_calibration_error_{}", "expected calibration error",
        "mean distance of confidence and accuracy in {k} bins of confidence",
        None, "calibration", "probabilities", higher_is_better=False, default=10, always_numbered=False
    ),
    MetricRecord(
        "roc_auc", "ROC AUC", "probability that an item with the last of two labels has the higher score for it",
        None, "curve", "scores", undefined="all items have the same label"
    ),
    MetricRecord(
        "roc_auc_ovr", "ROC AUC, one against rest", "mean over labels of the ROC AUC of the label against all others",
        None, "curve", "scores", undefined="no item, or every item, has one of the labels"
    ),
    MetricRecord(
        "roc_auc_ovo", "ROC AUC, one against one",
        "mean over pairs of labels that occur of their ROC AUC (Hand and Till)",
        None, "curve", "scores", undefined="all items have the same label"
    ),
    MetricRecord(
        "average_precision", "average precision",
        "mean precision at the places of the positive items; mean over labels where there are more than two",
        None, "curve", "scores", undefined="no item has one of the labels"
    ),
    MetricRecord(
        "ordinal_mae", "mean absolute error of ordered labels",
        "mean number of steps from the model's label to the true one",
        distances, "label", ordered=True, unbiased=OF_VOTES, bounds=POSITIVE, higher_is_better=False
    ),
    MetricRecord(
        "within_one_accuracy", "accuracy within one",
        "share of items whose true label is the model's label or next to it",
        near, "label", ordered=True, unbiased=OF_VOTES
    ),
    MetricRecord(
        "quadratic_kappa", "quadratic weighted kappa",
        "agreement of true and given labels beyond chance, a disagreement weighing its squared number of steps",
        QuadraticKappa(), "label", ordered=True, bounds=CORRELATION,
        undefined="all items have and are given one and the same label"
    ),
    MetricRecord(
        "agreement", "agreement with an annotator",
        "probability that an annotator chosen at random gives the model's label",
        (distributions.agreement,), "distribution", unbiased="the mean over votes, whatever their number"
    ),
    MetricRecord(
        "cross_entropy", "cross-entropy", "minus the mean log probability of an annotator's label, in nats",
        (distributions.cross_entropy,), "distribution", "probabilities",
        unbiased="the mean over votes, whatever their number", bounds=POSITIVE, higher_is_better=False
    ),
    MetricRecord(
        "kl", "Kullback-Leibler divergence", "cross-entropy less the entropy of the plausibilities, in nats",
        (distributions.kullback_leibler,), "distribution", "probabilities", bounds=POSITIVE, higher_is_better=False
    ),
    MetricRecord(
        "jensen_shannon", "Jensen-Shannon divergence",
        "mean Jensen-Shannon divergence of probabilities and plausibilities, in bits",
        (distributions.jensen_shannon,), "distribution", "probabilities", higher_is_better=False
    ),
    MetricRecord(
        "jensen_shannon_distance", "Jensen-Shannon distance", "mean square root of the Jensen-Shannon divergence",
        (distributions.jensen_shannon_distance,), "distribution", "probabilities", higher_is_better=False
    ),
    MetricRecord(
        "po_jensen_shannon", "positive-only Jensen-Shannon similarity",
        "one minus the mean over labels of the divergence of this label or not",
        (distributions.positive_only_jensen_shannon,), "distribution", "probabilities"
    ),
    MetricRecord(
        "total_variation", "total variation (DistCE)",
        "mean of half the sum of absolute differences of probabilities and plausibilities",
        (distributions.total_variation,), "distribution", "probabilities", higher_is_better=False
    ),
    MetricRecord(
        "wasserstein", "Wasserstein distance", "mean number of steps on the ordered labels that mass has to move",
        (distributions.wasserstein,), "distribution", "probabilities", ordered=True, bounds=POSITIVE,
        higher_is_better=False
    ),
    MetricRecord(
        "entropy_calibration_error", "entropy calibration error (EntCE)",
        "mean absolute difference of the entropies of probabilities and plausibilities, in nats",
        (distributions.entropy_gap,), "distribution", "probabilities", bounds=POSITIVE,
        higher_is_better=False
    ),
    MetricRecord(
        "entropy_difference", "entropy difference (signed EntCE)",
        "mean entropy of the probabilities less that of the plausibilities, in nats; below 0: overconfident",
        (distributions.entropy_difference,), "distribution", "probabilities", bounds=ANY
    ),
    MetricRecord(
        "rank_correlation", "ranking calibration (RankCS)",
        "share of items whose labels have the same order by probability and by plausibility",
        (distributions.same_order,), "distribution", "scores"
    ),
    MetricRecord(
        "entropy_correlation", "entropy correlation",
        "Pearson correlation over items of the entropies of probabilities and plausibilities",

        distributions.ENTROPY_MOMENTS,
        "distribution", "probabilities", bounds=CORRELATION,
        undefined="the entropies of the model or of the truth are all the same"
    ),
    MetricRecord(
        "entropy_rank_correlation", "entropy rank correlation",
        "Spearman correlation over items of the entropies of probabilities and plausibilities",
        UserMetric(entropy_rank_correlation, takes="plausibilities"), "function", "probabilities",
        bounds=CORRELATION, undefined="the entropies of the model or of the truth are all the same"
    ),
    MetricRecord(
        "soft_accuracy", "soft accuracy", "mean mass that probabilities and plausibilities share",
        (distributions.soft_accuracy,), "distribution", "probabilities"
    ),
    *_averaged(
        "soft_precision", "soft precision", "precision of shared mass {of}",
        hard_labels.precision, "soft_counts", needs="probabilities", undefined="a label has no mass"
    ),
    *_averaged(
        "soft_recall", "soft recall", "recall of shared mass {of}",
        hard_labels.recall, "soft_counts", needs="probabilities", undefined="a label has no mass"
    ),
    *_averaged(
        "soft_f1", "soft F1", "f1 of shared mass {of}",
        hard_labels.f_beta, "soft_counts", needs="probabilities", undefined="a label has no mass"
    ),
    *_averaged(
        "soft_jaccard", "soft jaccard", "jaccard of shared mass {of}",
        hard_labels.jaccard, "soft_counts", needs="probabilities", undefined="a label has no mass"
    ),
    MetricRecord(
        "soft_brier", "soft Brier score", "mean squared distance of probabilities and plausibilities",
        (distributions.soft_brier,), "distribution", "probabilities",
        unbiased="less the variance of the vote shares, (1 - sum_k v_ik^2)/(n_i - 1), from two votes on",
        bounds=(0.0, 2.0), higher_is_better=False
    ),
    MetricRecord(
        "mae", "mean absolute error", "mean distance of the prediction from the true number, in units of the scale",
        NumberScore(("distance",)), "number", "numbers", bounds=POSITIVE, higher_is_better=False
    ),
    MetricRecord(
        "rmse", "root mean square error", "root of the mean squared distance of the prediction from the true number",
        NumberScore(("distance^2",), lambda means: np.sqrt(means[0])), "number", "numbers", bounds=POSITIVE,
        higher_is_better=False
    ),
    MetricRecord(
        "bias", "bias", "mean of the prediction minus the true number; nearest to 0 is best",
        NumberScore(("difference",)), "number", "numbers", bounds=ANY, higher_is_better=False, best=0.0
    ),
    MetricRecord(
        "pearson", "Pearson correlation", "linear correlation of predictions and true numbers over items",
        NumberScore(("truth", "point", "truth^2", "point^2", "truth*point"), correlation), "number", "numbers",
        bounds=CORRELATION, undefined=CONSTANT
    ),
    MetricRecord(
        "spearman", "Spearman correlation", "correlation of the ranks of predictions and true numbers over items",
        None, "number_rank", "numbers", bounds=CORRELATION, undefined=CONSTANT
    ),
    MetricRecord(
        "concordance", "concordance",
        "Lin's concordance correlation: 1 where every prediction equals its true number",
        NumberScore(("truth", "point", "truth^2", "point^2", "truth*point"), concordance), "number", "numbers",
        bounds=CORRELATION, undefined=CONSTANT
    ),
    MetricRecord(
        "crps", "CRPS",
        "continuous ranked probability score of the predicted distribution; of one number its distance",
        NumberScore(("crps",)), "number", "numbers", bounds=POSITIVE, higher_is_better=False
    ),
    MetricRecord(
        "interval_coverage_{}", "coverage of {} % intervals",
        "share of items whose true number is inside the central {k} % interval of the model; {k} % is best",
        NumberScore(("inside",)), "number", "numbers", higher_is_better=False, best=0.9, default=90
    ),
]  # fmt: skip
METRICS = {record.pattern: record for record in RECORDS}
