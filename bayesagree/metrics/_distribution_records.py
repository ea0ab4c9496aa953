"""Records of the metrics against the whole distribution of labels of an item."""

from functools import partial
from math import inf
from typing import Any

import numpy as np

from bayesagree._numerics.types import Floats
from bayesagree.metrics import _confusion
from bayesagree.metrics import _distribution_kernels as kernels
from bayesagree.metrics._label_records import GOOD, ConfusionScore
from bayesagree.metrics._record import MetricRecord, UserMetric

BAAN = "J. Baan et al., Stop measuring calibration when humans disagree, EMNLP 2022, "
BAAN += "doi:10.18653/v1/2022.emnlp-main.124."
UMA = "A. Uma et al., Learning from disagreement: a survey, JAIR 72, 2021, doi:10.1613/jair.1.12752."
KURNIAWAN = "K. Kurniawan et al., Training and evaluating with human label variation, arXiv:2502.01891."
LIN = (
    "J. Lin, Divergence measures based on the Shannon entropy, IEEE Trans. Inf. Theory 37, 1991, doi:10.1109/18.61115."
)
ENDRES = (
    "D. M. Endres, J. E. Schindelin, A new metric for probability distributions, IEEE Trans. Inf. Theory 49, 2003, "
)
ENDRES += "doi:10.1109/TIT.2003.813506."
KULLBACK = "S. Kullback, R. A. Leibler, On information and sufficiency, Ann. Math. Stat. 22, 1951, "
KULLBACK += "doi:10.1214/aoms/1177729694."
VALLENDER = "S. S. Vallender, Calculation of the Wasserstein distance between probability distributions on the line, "
VALLENDER += "Theory Probab. Appl. 18, 1974, doi:10.1137/1118101."
GNEITING = "T. Gneiting, A. E. Raftery, Strictly proper scoring rules, prediction, and estimation, JASA 102, 2007, "
GNEITING += "doi:10.1198/016214506000001437."

UNBIASED_MEAN = "the mean over votes, whatever their number"


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


_similarity = partial(MetricRecord, family="distribution", needs="probabilities")
_distance = partial(_similarity, higher_is_better=False)

DISTRIBUTION_RECORDS = (
    MetricRecord(
        pattern="agreement",
        title="agreement with an annotator",
        meaning="probability that an annotator chosen at random gives the model's label",
        kernel=(kernels.AGREEMENT,),
        reference=BAAN,
        formula=r"\frac1N \sum_i \lambda_{i y_i}",
        family="distribution",
        unbiased=UNBIASED_MEAN,
    ),
    _distance(
        pattern="cross_entropy",
        title="cross-entropy",
        meaning="minus the mean log probability of an annotator's label, in nats",
        kernel=(kernels.CROSS_ENTROPY,),
        reference=GOOD,
        formula=r"-\frac1N \sum_i \sum_k \lambda_{ik} \ln p_{ik}",
        bounds=(0.0, inf),
        unbiased=UNBIASED_MEAN,
    ),
    _distance(
        pattern="kl",
        title="Kullback-Leibler divergence",
        meaning="cross-entropy less the entropy of the plausibilities, in nats",
        kernel=(kernels.KL,),
        reference=KULLBACK,
        formula=r"\frac1N \sum_i \sum_k \lambda_{ik} \ln (\lambda_{ik} / p_{ik})",
        bounds=(0.0, inf),
    ),
    _distance(
        pattern="jensen_shannon",
        title="Jensen-Shannon divergence",
        meaning="mean Jensen-Shannon divergence of probabilities and plausibilities, in bits",
        kernel=(kernels.JENSEN_SHANNON,),
        reference=LIN,
        formula=r"\frac1N \sum_i \left[H_2(\tfrac{p_i+\lambda_i}2) - \tfrac{H_2(p_i)+H_2(\lambda_i)}2\right]",
    ),
    _distance(
        pattern="jensen_shannon_distance",
        title="Jensen-Shannon distance",
        meaning="mean square root of the Jensen-Shannon divergence",
        kernel=(kernels.JENSEN_SHANNON_DISTANCE,),
        reference=ENDRES,
        formula=r"\frac1N \sum_i \sqrt{\mathrm{JSD}(p_i, \lambda_i)}",
    ),
    _similarity(
        pattern="po_jensen_shannon",
        title="positive-only Jensen-Shannon similarity",
        meaning="one minus the mean over labels of the divergence of this label or not",
        kernel=(kernels.PO_JENSEN_SHANNON,),
        reference=KURNIAWAN,
        formula=r"\frac1{NK} \sum_i \sum_k 1 - \mathrm{JSD}((p_{ik}, 1-p_{ik}), (\lambda_{ik}, 1-\lambda_{ik}))",
    ),
    _distance(
        pattern="total_variation",
        title="total variation (DistCE)",
        meaning="mean of half the sum of absolute differences of probabilities and plausibilities",
        kernel=(kernels.TOTAL_VARIATION,),
        reference=BAAN,
        formula=r"\frac1{2N} \sum_i \sum_k |p_{ik} - \lambda_{ik}|",
    ),
    _distance(
        pattern="wasserstein",
        title="Wasserstein distance",
        meaning="mean number of steps on the ordered labels that mass has to move",
        kernel=(kernels.WASSERSTEIN,),
        reference=VALLENDER,
        formula=r"\frac1N \sum_i \sum_k |\sum_{j \le k} p_{ij} - \lambda_{ij}|",
        bounds=(0.0, inf),
        ordered=True,
    ),
    _distance(
        pattern="entropy_calibration_error",
        title="entropy calibration error (EntCE)",
        meaning="mean absolute difference of the entropies of probabilities and plausibilities, in nats",
        kernel=(kernels.ENTROPY_GAP,),
        reference=BAAN,
        formula=r"\frac1N \sum_i |H(p_i) - H(\lambda_i)|",
        bounds=(0.0, inf),
    ),
    _distance(
        pattern="entropy_difference",
        title="entropy difference (signed EntCE)",
        meaning="mean entropy of the probabilities less that of the plausibilities, in nats; below 0: overconfident",
        kernel=(kernels.ENTROPY_DIFFERENCE,),
        reference=BAAN,
        formula=r"\frac1N \sum_i H(p_i) - H(\lambda_i)",
        bounds=(-inf, inf),
        higher_is_better=True,
    ),
    MetricRecord(
        pattern="rank_correlation",
        title="ranking calibration (RankCS)",
        meaning="share of items whose labels have the same order by probability and by plausibility",
        kernel=(kernels.RANK_MATCH,),
        reference=BAAN,
        formula=r"\frac1N \sum_i 1\{\mathrm{order}(p_i) = \mathrm{order}(\lambda_i)\}",
        family="distribution",
        needs="scores",
    ),
    _similarity(
        pattern="entropy_correlation",
        title="entropy correlation",
        meaning="Pearson correlation over items of the entropies of probabilities and plausibilities",
        kernel=(
            kernels.MODEL_ENTROPY,
            kernels.TRUTH_ENTROPY,
            kernels.MODEL_ENTROPY_SQUARED,
            kernels.TRUTH_ENTROPY_SQUARED,
            kernels.ENTROPY_PRODUCT,
        ),
        reference=UMA,
        formula=r"\mathrm{cor}_i(H(p_i), H(\lambda_i))",
        bounds=(-1.0, 1.0),
        undefined="the entropies of the model or of the truth are all the same",
    ),
    MetricRecord(
        pattern="entropy_rank_correlation",
        title="entropy rank correlation",
        meaning="Spearman correlation over items of the entropies of probabilities and plausibilities",
        kernel=UserMetric(entropy_rank_correlation, takes="plausibilities"),
        reference=UMA,
        formula=r"\rho_i(H(p_i), H(\lambda_i))",
        family="function",
        needs="probabilities",
        bounds=(-1.0, 1.0),
        undefined="the entropies of the model or of the truth are all the same",
    ),
    _similarity(
        pattern="soft_accuracy",
        title="soft accuracy",
        meaning="mean mass that probabilities and plausibilities share",
        kernel=(kernels.SOFT_ACCURACY,),
        reference=KURNIAWAN,
        formula=r"\frac1N \sum_i \sum_k \min(p_{ik}, \lambda_{ik})",
    ),
    *(
        MetricRecord(
            pattern=f"soft_{base}{suffix}",
            title=f"soft {base}{suffix.replace('_', ' ')}".replace("f1", "F1"),
            meaning=f"{base} of shared mass {of}",
            kernel=ConfusionScore(ratio, average),
            reference=KURNIAWAN,
            formula=formula,
            family="soft_counts",
            needs="probabilities",
            undefined="a label has no mass",
        )
        for base, ratio, formula in (
            ("precision", _confusion.precision, r"\sum_i \min(p_{ik}, \lambda_{ik}) / \sum_i p_{ik}"),
            ("recall", _confusion.recall, r"\sum_i \min(p_{ik}, \lambda_{ik}) / \sum_i \lambda_{ik}"),
            (
                "f1",
                lambda counts: _confusion.f_beta(counts, 1.0),
                r"2 \sum_i \min(p_{ik}, \lambda_{ik}) / \sum_i (p_{ik} + \lambda_{ik})",
            ),
            ("jaccard", _confusion.jaccard, r"\sum_i \min(p_{ik}, \lambda_{ik}) / \sum_i \max(p_{ik}, \lambda_{ik})"),
        )
        for suffix, average, of in (
            ("", "macro", "mean over labels"),
            ("[{label}]", "label", "of the label {label}"),
        )
    ),
    _distance(
        pattern="soft_brier",
        title="soft Brier score",
        meaning="mean squared distance of probabilities and plausibilities",
        kernel=(kernels.SOFT_BRIER,),
        reference=GNEITING,
        formula=r"\frac1N \sum_i \sum_k (p_{ik} - \lambda_{ik})^2",
        bounds=(0.0, 2.0),
        unbiased="less the variance of the vote shares, (1 - sum_k v_ik^2)/(n_i - 1), from two votes on",
    ),
)
