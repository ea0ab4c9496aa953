"""Records of the metrics against one true label per item, and against the k best labels of a draw.

Names and conventions of the first are those of scikit-learn.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats
from bayesagree.metrics import _confusion
from bayesagree.metrics import _label_kernels as kernels
from bayesagree.metrics._confusion import Counts
from bayesagree.metrics._record import DEFAULT_K, MetricRecord

STUTZ = "D. Stutz et al., Evaluating AI systems under uncertain ground truth, arXiv:2307.02191, section 2.4."
FAGIN = "R. Fagin, R. Kumar, D. Sivakumar, Comparing top k lists, SIAM J. Discrete Math. 17, 2003, "
FAGIN += "doi:10.1137/S0895480102412856"


def _kendall_distance(k: int, n_labels: int) -> float:
    """Return the largest distance: the lists share as few labels as they can, in reversed order."""
    shared = max(0, 2 * k - n_labels)
    alone = k - shared
    return max(alone**2 + alone * (alone - 1) / 2 + shared * (shared - 1) / 2 + 2 * shared * alone, 1.0)


def _footrule_distance(k: int, n_labels: int) -> float:
    alone = min(k, n_labels - k)
    places = [*range(1, k + 1), *[k + 1] * alone]
    return max(float(sum(abs(a - b) for a, b in zip(places, reversed(places)))), 1.0)


_rank = partial(MetricRecord, default=DEFAULT_K, needs="scores")

RANK_RECORDS = (
    _rank(
        pattern="top_{}_accuracy",
        title="top-{} accuracy",
        meaning="share of items whose most plausible label is among the {k} best labels of the model",
        kernel=kernels.TOP,
        reference=STUTZ,
        formula=r"\frac1N \sum_i 1\{\arg\max_k \lambda_{ik} \in C_{iK}\}",
        one_true_label=True,
    ),
    _rank(
        pattern="set_{}_accuracy",
        title="set {} accuracy",
        meaning="share of items whose {k} most plausible labels are exactly the {k} best labels of the model",
        kernel=kernels.SET,
        reference=STUTZ,
        formula=r"\frac1N \sum_i 1\{Y_{iK} = C_{iK}\}",
    ),
    _rank(
        pattern="overlap_{}",
        title="overlap {}",
        meaning="mean share of the {k} most plausible labels that are among the {k} best labels of the model",
        kernel=kernels.OVERLAP,
        reference=STUTZ,
        formula=r"\frac1N \sum_i |Y_{iK} \cap C_{iK}| / K",
    ),
    _rank(
        pattern="average_overlap_{}",
        title="average overlap {}",
        meaning="mean overlap of the best 1, 2, ... {k} labels of the model with the most plausible ones",
        kernel=kernels.AVERAGE_OVERLAP,
        reference=STUTZ,
        formula=r"\frac1N \sum_i \frac1K \sum_{j=1}^K |Y_{ij} \cap C_{ij}| / j",
    ),
    _rank(
        pattern="kendall_tau_{}",
        title="kendall tau {}",
        meaning="how far the order of the {k} best labels agrees (Kendall), 1 for the same order",
        kernel=kernels.KENDALL,
        reference=f"{FAGIN}, section 3.1, penalty 1/2.",
        formula=r"1 - \frac1N \sum_i D_\tau(Y_{iK}, C_{iK}) / \max D_\tau",
        largest_distance=_kendall_distance,
    ),
    _rank(
        pattern="spearman_footrule_{}",
        title="spearman footrule {}",
        meaning="how near the {k} best labels are to their places (Spearman), 1 for the same places",
        kernel=kernels.FOOTRULE,
        reference=f"{FAGIN}, section 3.2, location k + 1.",
        formula=r"1 - \frac1N \sum_i F(Y_{iK}, C_{iK}) / \max F",
        largest_distance=_footrule_distance,
    ),
)


POWERS = "D. M. W. Powers, Evaluation: from precision, recall and F-measure to ROC, informedness, markedness and "
POWERS += "correlation, arXiv:2010.16061."
RIJSBERGEN = "C. J. van Rijsbergen, Information Retrieval, 1979, chapter 7; " + POWERS
GORODKIN = "J. Gorodkin, Comparing two K-category assignments by a K-category correlation coefficient, "
GORODKIN += "Comput. Biol. Chem. 28, 2004, doi:10.1016/j.compbiolchem.2004.09.006."
COHEN = "J. Cohen, A coefficient of agreement for nominal scales, Educ. Psychol. Meas. 20, 1960, "
COHEN += "doi:10.1177/001316446002000104."
BRODERSEN = "K. H. Brodersen et al., The balanced accuracy and its posterior distribution, ICPR 2010, "
BRODERSEN += "doi:10.1109/ICPR.2010.764."
JACCARD = "P. Jaccard, The distribution of the flora in the alpine zone, New Phytol. 11, 1912, "
JACCARD += "doi:10.1111/j.1469-8137.1912.tb05611.x."
GOOD = "I. J. Good, Rational decisions, J. R. Stat. Soc. B 14, 1952, doi:10.1111/j.2517-6161.1952.tb00104.x."
BRIER = "G. W. Brier, Verification of forecasts expressed in terms of probability, Mon. Weather Rev. 78, 1950, "
BRIER += "doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2."
NAEINI = "M. P. Naeini, G. F. Cooper, M. Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning, "
NAEINI += "AAAI 2015, doi:10.1609/aaai.v29i1.9602."
HANLEY = "J. A. Hanley, B. J. McNeil, The meaning and use of the area under a receiver operating characteristic "
HANLEY += "(ROC) curve, Radiology 143, 1982, doi:10.1148/radiology.143.1.7063747."
HAND_TILL = "D. J. Hand, R. J. Till, A simple generalisation of the area under the ROC curve for multiple class "
HAND_TILL += "classification problems, Mach. Learn. 45, 2001, doi:10.1023/A:1010920819831."
BUCKLEY = "C. Buckley, E. M. Voorhees, Evaluating evaluation measure stability, SIGIR 2000, doi:10.1145/345508.345543."

SMALLEST = float(np.finfo(np.float64).eps)
"""Probabilities below this count as this in logarithms, as in scikit-learn's `log_loss`."""

UNBIASED_LABEL = "for a sampled truth: the mean over votes, whatever their number"


@dataclass(frozen=True)
class ConfusionScore:
    """A score of confusion counts: (counts, number, label) to values."""

    # Of the counts and beta.
    ratio: Callable[..., _confusion.Ratio]
    # Name in `_confusion.AVERAGES`; ``"positive"`` for the last of two labels, ``"label"`` for one by name.
    average: str

    def __call__(self, counts: Counts, number: float | None, label: int | None) -> Floats:
        """Return the score of all counts."""
        ratio = self.ratio(counts) if number is None else self.ratio(counts, number)
        if self.average in _confusion.AVERAGES:
            return _confusion.AVERAGES[self.average](ratio, counts)
        return _confusion.of_one(ratio, counts, 1 if label is None else label)


def _whole(score: Callable[[Counts], Floats]) -> Callable[[Counts, float | None, int | None], Floats]:
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


_BASES = (
    ("precision", _confusion.precision, "share of the items that are given {of} that have it", r"TP/(TP+FP)", POWERS),
    (
        "recall",
        _confusion.recall,
        "share of the items with {of} that are given it (sensitivity)",
        r"TP/(TP+FN)",
        POWERS,
    ),
    ("specificity", _confusion.specificity, "share of the items without {of} not given it", r"TN/(TN+FP)", POWERS),
    ("jaccard", _confusion.jaccard, "items right among all with {of}, true or given", r"TP/(TP+FP+FN)", JACCARD),
    (
        "f{}",
        _confusion.f_beta,
        "harmonic mean of precision and recall of {of}, recall weighing {k} times as much",
        r"(1+\beta^2)TP/((1+\beta^2)TP+\beta^2FN+FP)",
        RIJSBERGEN,
    ),
)
_AVERAGED = (
    ("", "positive", "the last of two labels", ""),
    ("_macro", "macro", "a label, mean over the labels for which it exists", "mean over labels of "),
    ("_micro", "micro", "a label, summed over labels", "sums over labels of "),
    ("_weighted", "weighted", "a label, mean by the share of each true label", "weighted mean over labels of "),
    ("[{label}]", "label", "the label {label}", ""),
)


def _ratios() -> Iterator[MetricRecord]:
    for base, ratio, meaning, formula, reference in _BASES:
        for suffix, average, of, how in _AVERAGED:
            yield MetricRecord(
                pattern=base + suffix,
                title=base.upper() + suffix.replace("_", " ") if base == "f{}" else base + suffix.replace("_", " "),
                meaning=meaning.replace("{of}", of),
                kernel=ConfusionScore(ratio, average),
                reference=reference,
                formula=(rf"\text{{{how}}} " if how else "") + formula,
                family="confusion",
                undefined="no item has or is given the label that it divides by",
                number=float if base == "f{}" else int,
            )


def _curve(pattern: str, title: str, meaning: str, reference: str, formula: str, undefined: str) -> MetricRecord:
    return MetricRecord(pattern, title, meaning, None, reference, formula, "curve", "scores", undefined=undefined)


_confusion_record = partial(MetricRecord, family="confusion")

LABEL_RECORDS = (
    MetricRecord(
        pattern="accuracy",
        title="accuracy",
        meaning="share of items whose true label is the model's label",
        kernel=hits,
        reference=POWERS,
        formula=r"\frac1N \sum_i 1\{t_i = y_i\}",
        family="label",
        unbiased=UNBIASED_LABEL,
    ),
    _confusion_record(
        pattern="balanced_accuracy",
        title="balanced accuracy",
        meaning="mean recall of the labels that occur",
        kernel=_whole(_confusion.balanced_accuracy),
        reference=BRODERSEN,
        formula=r"\frac1K \sum_k TP_k/(TP_k+FN_k)",
    ),
    *_ratios(),
    _confusion_record(
        pattern="matthews_corrcoef",
        title="Matthews correlation",
        meaning="correlation of true and given labels; 0 where one of them is constant",
        kernel=_whole(_confusion.matthews_corrcoef),
        reference=GORODKIN,
        formula=r"\frac{N \sum_k TP_k - \sum_k t_k y_k}{\sqrt{(N^2-\sum_k y_k^2)(N^2-\sum_k t_k^2)}}",
        bounds=(-1.0, 1.0),
    ),
    _confusion_record(
        pattern="cohen_kappa",
        title="Cohen's kappa",
        meaning="agreement of true and given labels beyond chance",
        kernel=_whole(_confusion.cohen_kappa),
        reference=COHEN,
        formula=r"(p_o - p_e)/(1 - p_e), \quad p_e = \sum_k t_k y_k / N^2",
        bounds=(-1.0, 1.0),
        undefined="all items have and are given one and the same label",
    ),
    MetricRecord(
        pattern="log_loss",
        title="log loss",
        meaning="minus the mean log probability of the true label, in nats",
        kernel=log_losses,
        reference=GOOD,
        formula=r"-\frac1N \sum_i \ln p_{i t_i}",
        family="label",
        needs="probabilities",
        unbiased=UNBIASED_LABEL,
        bounds=(0.0, -float(np.log(SMALLEST))),
        higher_is_better=False,
    ),
    MetricRecord(
        pattern="brier",
        title="Brier score",
        meaning="squared distance of the probabilities from the true label; half of it for two labels",
        kernel=brier_losses,
        reference=BRIER,
        formula=r"\frac1N \sum_i \sum_k (p_{ik} - 1\{t_i = k\})^2",
        family="label",
        needs="probabilities",
        unbiased=UNBIASED_LABEL,
        bounds=(0.0, 2.0),
        higher_is_better=False,
    ),
    MetricRecord(
        pattern="expected_calibration_error_{}",
        title="expected calibration error",
        meaning="mean distance of confidence and accuracy in {k} bins of confidence",
        kernel=None,
        reference=NAEINI,
        formula=r"\sum_b \frac{n_b}{N} |\mathrm{acc}_b - \mathrm{conf}_b|",
        family="calibration",
        needs="probabilities",
        higher_is_better=False,
        default=10,
        always_numbered=False,
    ),
    _curve(
        "roc_auc",
        "ROC AUC",
        "probability that an item with the last of two labels has the higher score for it",
        HANLEY,
        r"\Pr(p_i > p_j) + \frac12 \Pr(p_i = p_j), \quad t_i = 1, t_j = 0",
        "all items have the same label",
    ),
    _curve(
        "roc_auc_ovr",
        "ROC AUC, one against rest",
        "mean over labels of the ROC AUC of the label against all others",
        HANLEY,
        r"\frac1K \sum_k \mathrm{AUC}(k)",
        "no item, or every item, has one of the labels",
    ),
    _curve(
        "roc_auc_ovo",
        "ROC AUC, one against one",
        "mean over pairs of labels that occur of their ROC AUC (Hand and Till)",
        HAND_TILL,
        r"\frac{2}{K(K-1)} \sum_{j<k} \frac{A(j|k)+A(k|j)}{2}",
        "all items have the same label",
    ),
    _curve(
        "average_precision",
        "average precision",
        "mean precision at the places of the positive items; mean over labels where there are more than two",
        BUCKLEY,
        r"\sum_n (R_n - R_{n-1}) P_n",
        "no item has one of the labels",
    ),
)
