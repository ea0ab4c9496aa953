"""The list of all metrics: what each is called, what it needs, and the function that computes it.

A metric is one of three kinds: a mean over items, a score of sums over items (counts, moments), or a function of all
items at once. The documentation has the formula and the paper of each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from bayesagree._types import Advance, Array, Floats, Pair, Places
from bayesagree.errors import InputError, one_of
from bayesagree.metrics import curves, hard_labels, values
from bayesagree.metrics.hard_labels import Counts
from bayesagree.metrics.item_weights import ItemWeights
from bayesagree.metrics.values import Drawn, Given

Needs = Literal["labels", "scores", "probabilities", "numbers"]
Against = Literal["order", "label", "plausibilities", "number"]
Weightings = Sequence[Floats | None]


# A function of drawn and given values, of sums, or of all items.
Function = Callable[..., Floats]


@dataclass(frozen=True)
class Mean:
    """A mean over items of ``value(drawn, given)``, shape (item, sample), or ``value(drawn, given, number)``."""

    value: Callable[..., Array]

    def summed(self, n_labels: int, number: Any) -> tuple[Any, int]:
        """Return what is summed, equal for metrics of the same sums, and how many components it has."""
        return (self.value, number), 1

    def add(self, drawn: Drawn, given: Given, weightings: Weightings, size: int, *number: Any) -> Floats:
        """Sum a block, plainly (None) and with weights (item, sample): shape (weighting, component, sample)."""
        value = self.value(drawn, given, *number)
        return np.stack([values.weighted_sum(value, rows)[None] for rows in weightings])

    def score(self, sums: Floats, total: Floats, number: Any, label: int) -> Floats:
        """Return the score of sums (component, model, sample) of items of this total weight."""
        return sums[0] / total


@dataclass(frozen=True)
class Sums:
    """A score of sums over items.

    ``sums(drawn, given, weights, size)`` sums a block, shape (size, sample); `size` takes the number of labels and the
    number of the metric. ``score(sums, total, number, label)`` makes the score from sums (size, model, sample).
    """

    sums: Function
    size: Callable[[int, Any], int]
    score: Function

    def summed(self, n_labels: int, number: Any) -> tuple[Any, int]:
        """Return what is summed, as of `Mean`."""
        size = self.size(n_labels, number)
        return (self.sums, size), size

    def add(self, drawn: Drawn, given: Given, weightings: Weightings, size: int, *number: Any) -> Floats:
        """Sum a block, as `Mean`."""
        return np.stack([self.sums(drawn, given, rows, size) for rows in weightings])


@dataclass(frozen=True)
class Whole:
    """A function of all items: ``function(truth, given, items, weights, advance)``, see `Scorer.finish`."""

    function: Function


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
    kind
        How it is computed.
    against
        What it is compared with: one true label, the order of the best labels, all plausibilities, or a number.
    needs
        Of the predictions: hard labels, scores that order the labels, probabilities that sum to one, or numbers.
    ordered
        Whether the order of the categories matters.
    two_labels
        Whether it takes the last of two labels as positive.
    higher_is_better
        Direction.
    best
        The best value, where it is in the middle of the range.
    undefined
        Condition under which the metric is undefined (used in the NaN warning).
    default
        Its number where the name has none.
    number
        Type of its number.
    by_user
        Whether it is a function of the user's.
    runs
        Whether it is about the runs of a model.
    """

    pattern: str
    title: str
    meaning: str
    kind: Mean | Sums | Whole
    against: Against = "label"
    needs: Needs = "labels"
    ordered: bool = False
    two_labels: bool = False
    higher_is_better: bool = True
    best: float | None = None
    undefined: str = ""
    default: float | None = None
    number: type = int
    by_user: bool = False
    runs: bool = False

    @property
    def against_distribution(self) -> bool:
        """Whether it compares with all plausibilities of an item, and not with one true label."""
        return self.against == "plausibilities"

    @property
    def biased_of_estimate(self) -> bool:
        """Whether its value at vote shares is biased where votes are few: it is not linear in the plausibilities."""
        return (
            self.against_distribution
            and not self.by_user
            and self.pattern not in ("agreement", "cross_entropy")
        )

    @property
    def one_true_label(self) -> bool:
        """Whether only the most plausible label of a draw counts, and not its k best.

        Labels that tie on top of a point estimate then share the item.
        """
        return self.pattern.partition("_given_risk")[0] in ("accuracy", "top_{}_accuracy")

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
    """A function as a metric: its arguments and direction.

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
    higher_is_better
        By default lower is better for names that end in ``_loss`` or ``_error``, as in scikit-learn.

    Examples
    --------
    >>> from sklearn.metrics import mean_absolute_error
    >>> loss = UserMetric(mean_absolute_error)
    >>> loss.record().pattern, loss.record().higher_is_better
    ('mean_absolute_error', False)
    """

    function: Callable[..., float]
    takes: Literal["labels", "scores", "plausibilities"] = "labels"
    name: str | None = None
    higher_is_better: bool | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"metric {self.function!r} is neither a name nor a function")
        one_of(self.takes, "takes", TAKES)

    def values(
        self, truth: Array, given: Given, items: Places, weights: ItemWeights | None, advance: Advance
    ) -> Floats:
        """Call the function on every draw and model: (model, sample). Weighted items are drawn with replacement."""
        out = np.full((len(given.hard), truth.shape[1]), np.nan)
        inside = np.zeros(len(truth), bool)
        inside[items] = True
        for s in range(truth.shape[1]):
            at = items
            if weights is not None:
                drawn = weights.resampled(s)
                at = drawn[inside[drawn]]
            as_drawn = self.takes == "plausibilities" or given.levels.size
            true = truth[at, s] if as_drawn else given.categories[truth[at, s]]
            out[:, s] = [self._call(true, given.one(m, at)) for m in range(len(out))]
            advance(len(out))
        return out

    def _call(self, true: Array, given: Given) -> float:
        second = given.points if given.levels.size else given.scores
        if self.takes == "labels" and not given.levels.size:
            if (given.hard < 0).any():
                raise InputError(f"{self.known_as} needs a predicted label for every item; drop the others")
            second = given.categories[given.hard]
        value = self.function(true, second)
        if np.ndim(value) != 0:
            raise InputError(
                f"the function {self.known_as} returned an array of shape {np.shape(value)}, not one number"
            )
        return float(value)

    @property
    def known_as(self) -> str:
        """Name of the metric."""
        return self.name or getattr(self.function, "__name__", type(self.function).__name__)

    def record(self) -> MetricRecord:
        """Return the facts about the function."""
        name = self.known_as
        falls = name.endswith(("_loss", "_error"))
        return MetricRecord(
            pattern=name,
            title=name.replace("_", " "),
            meaning=f"the value of the function {name}",
            kind=Whole(self.values),
            against="plausibilities" if self.takes == "plausibilities" else "label",
            needs="labels" if self.takes == "labels" else "scores",
            higher_is_better=not falls if self.higher_is_better is None else self.higher_is_better,
            undefined="the function returned NaN",
            by_user=True,
        )


def _moments(pair: Callable[..., Pair], score: Callable[[Floats], Floats]) -> Sums:
    return Sums(values.moments(pair), lambda *at: 5, lambda sums, total, *named: score(sums / total))


def _counts(score: Function) -> Sums:
    """Score counts of each label, and for some scores the number and the label in their names."""
    return Sums(
        values.confusion,
        lambda n_labels, number: 3 * n_labels,
        lambda sums, total, *named: score(Counts.of(sums, total), *named),
    )


def _averaged(pattern: str, title: str, meaning: str, **more: Any) -> list[MetricRecord]:
    """Return a score of counts once for each way to join labels, and once for one label by name."""
    return [
        MetricRecord(pattern + ending, title + ending.replace("_", " "), meaning.replace("{of}", of),
            _counts(partial(hard_labels.joined, pattern, ending)), two_labels=not ending, undefined=NO_ITEM, **more)
        for ending, of in _AVERAGES.items()
    ]  # fmt: skip


# How labels are joined, by the ending of the name, and what then stands for {of} in the meaning.
_AVERAGES = {
    "": "the last of two labels",
    "_macro": "a label, mean over the labels for which it exists",
    "_micro": "a label, summed over labels",
    "_weighted": "a label, mean by the share of each true label",
    "[{label}]": "the label {label}",
}
NO_ITEM = "no item has or is given the label that it divides by"
CONSTANT = "all predictions, or all true numbers, are equal"
ROOT = Sums(values.squared, lambda *at: 1, lambda sums, total, *named: np.sqrt(sums[0] / total))
CALIBRATION = Sums(
    values.calibration_gaps,
    lambda n_labels, number: int(number),
    lambda sums, total, *named: np.abs(sums / total).sum(axis=0),
)
# Records of best labels in order, of whole distributions, and of numbers.
Order = partial(MetricRecord, against="order", needs="scores", default=3)
Loss = partial(MetricRecord, higher_is_better=False)
Distribution = partial(Loss, against="plausibilities", needs="probabilities")
Number = partial(MetricRecord, against="number", needs="numbers")
Error = partial(Number, higher_is_better=False)
RECORDS = [
    Order("top_{}_accuracy", "top-{} accuracy",
        "share of items whose most plausible label is among the {k} best labels of the model", Mean(values.top)),
    Order("set_{}_accuracy", "set {} accuracy",
        "share of items whose {k} most plausible labels are exactly the {k} best labels of the model",
        Mean(values.same_set)),
    Order("overlap_{}", "overlap {}",
        "mean share of the {k} most plausible labels that are among the {k} best labels of the model",
        Mean(values.overlap)),
    Order("average_overlap_{}", "average overlap {}",
        "mean overlap of the best 1, 2, ... {k} labels of the model with the most plausible ones",
        Mean(values.average_overlap)),
    MetricRecord("accuracy", "accuracy", "share of items whose true label is the model's label",
        Mean(values.right)),
    MetricRecord("pass_at_{}", "pass@{}", "probability that at least one of {k} runs of the model is right",
        Mean(values.pass_at), runs=True, default=1),
    MetricRecord("pass_hat_{}", "pass^{}", "probability that {k} runs of the model are all right",
        Mean(values.pass_hat), runs=True, default=1),
    Loss("flip_rate", "flip rate", "share of pairs of runs of the model that give an item different labels",
        Mean(values.flips), runs=True),
    MetricRecord("majority_accuracy", "accuracy of the majority", "share of items whose true label most runs gave",
        Mean(values.majority_right), runs=True),
    MetricRecord("balanced_accuracy", "balanced accuracy", "mean recall of the labels that occur",
        _counts(partial(hard_labels.joined, "recall", "_macro"))),
    *_averaged("precision", "precision", "share of the items that are given {of} that have it"),
    *_averaged("recall", "recall", "share of the items with {of} that are given it (sensitivity)"),
    *_averaged("specificity", "specificity", "share of the items without {of} not given it"),
    *_averaged("f{}", "F{}", "harmonic mean of precision and recall of {of}, recall weighing {k} times as much",
        number=float),
    MetricRecord("matthews_corrcoef", "Matthews correlation",
        "correlation of true and given labels; 0 where one of them is constant",
        _counts(hard_labels.matthews_corrcoef)),
    MetricRecord("cohen_kappa", "Cohen's kappa", "agreement of true and given labels beyond chance",
        _counts(hard_labels.cohen_kappa), undefined="all items have and are given one and the same label"),
    Loss("log_loss", "log loss", "minus the mean log probability of the true label, in nats",
        Mean(values.of_true_label(values.log_losses)), needs="probabilities"),
    Loss("brier", "Brier score",
        "squared distance of the probabilities from the true label; half of it for two labels",
        Mean(values.of_true_label(values.brier_losses)), needs="probabilities"),
    Loss("expected_calibration_error_{}", "expected calibration error",
        "mean distance of confidence and accuracy in {k} bins of confidence", CALIBRATION, needs="probabilities",
        default=10),
    MetricRecord("roc_auc", "ROC AUC",
        "probability that an item with the last of two labels has the higher score for it",
        Whole(curves.one_against_rest), needs="scores", two_labels=True,
        undefined="all items have the same label"),
    MetricRecord("roc_auc_ovr", "ROC AUC, one against rest",
        "mean over labels of the ROC AUC of the label against all others", Whole(curves.one_against_rest),
        needs="scores", undefined="no item, or every item, has one of the labels"),
    Loss("ordinal_mae", "mean absolute error of ordered labels",
        "mean number of steps from the model's label to the true one",
        Mean(values.of_true_label(values.distances)), ordered=True),
    MetricRecord("within_one_accuracy", "accuracy within one",
        "share of items whose true label is the model's label or next to it",
        Mean(values.of_true_label(values.near)), ordered=True),
    MetricRecord("quadratic_kappa", "quadratic weighted kappa",
        "agreement of true and given labels beyond chance, a disagreement weighing its squared number of steps",
        _moments(values.positions, values.concordance), ordered=True,
        undefined="all items have and are given one and the same label"),
    MetricRecord("agreement", "agreement with an annotator",
        "probability that an annotator chosen at random gives the model's label",
        Mean(values.expected(values.hits)), "plausibilities"),
    Distribution("cross_entropy", "cross-entropy",
        "minus the mean log probability of an annotator's label, in nats",
        Mean(values.expected(values.log_losses))),
    Distribution("jensen_shannon", "Jensen-Shannon divergence",
        "mean Jensen-Shannon divergence of probabilities and plausibilities, in bits",
        Mean(values.of_shares(values.jensen_shannon))),
    Distribution("total_variation", "total variation (DistCE)",
        "mean of half the sum of absolute differences of probabilities and plausibilities",
        Mean(values.of_shares(values.total_variation))),
    Distribution("soft_brier", "soft Brier score", "mean squared distance of probabilities and plausibilities",
        Mean(values.of_shares(values.soft_brier))),
    Error("mae", "mean absolute error",
        "mean distance of the prediction from the true number, in units of the scale", Mean(values.distance)),
    Error("rmse", "root mean square error",
        "root of the mean squared distance of the prediction from the true number", ROOT),
    Error("bias", "bias", "mean of the prediction minus the true number; nearest to 0 is best",
        Mean(values.difference), best=0.0),
    Number("pearson", "Pearson correlation", "linear correlation of predictions and true numbers over items",
        _moments(values.centred, values.correlation), undefined=CONSTANT),
    Number("spearman", "Spearman correlation",
        "correlation of the ranks of predictions and true numbers over items", Whole(curves.spearman),
        undefined=CONSTANT),
    Number("concordance", "concordance",
        "Lin's concordance correlation: 1 where every prediction equals its true number",
        _moments(values.centred, values.concordance), undefined=CONSTANT),
    Error("crps", "CRPS",
        "continuous ranked probability score of the predicted distribution; of one number its distance",
        Mean(lambda drawn, given: values.crps(given.numbers, given.levels, drawn.number))),
    Error("interval_coverage_{}", "coverage of {} % intervals",
        "share of items whose true number is inside the central {k} % interval of the model; {k} % is best",
        Mean(values.covered), best=0.9, default=90),
]  # fmt: skip
METRICS = {record.pattern: record for record in RECORDS}
