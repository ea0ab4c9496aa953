"""Rivals of `corrected_rate`: Rogan-Gladen, and prediction-powered inference of items chosen with known chances."""

import numpy as np
import scipy as sp

from bayesagree._types import Floats
from bayesagree.errors import InputError, probability
from bayesagree.judges.estimators import RateEstimate


def rogan_gladen(
    raw_rate: float,
    n_items: int,
    *,
    specificity: float,
    n_negative: int,
    sensitivity: float,
    n_positive: int,
    ci_prob: float = 0.95,
) -> RateEstimate:
    """Estimate the rate of positive items from a judge's raw rate, with the adjusted interval of Lee et al.

    Parameters
    ----------
    raw_rate, n_items
        Share of positive verdicts, and the number of items that the judge alone judged.
    specificity, n_negative
        Share of negative verdicts among the labelled items that are truly negative, and their number.
    sensitivity, n_positive
        Share of positive verdicts among the labelled items that are truly positive, and their number.
    ci_prob
        Probability of the interval.

    Returns
    -------
    RateEstimate
        The interval is cut to [0, 1], the estimate too.

    Raises
    ------
    InputError
        A judge no better than chance (sensitivity + specificity <= 1): then verdicts say nothing about the rate.

    References
    ----------
    Lee, Zeng, Lee and Sohn, "How to correctly report LLM-as-a-judge evaluations" (2025), arXiv:2511.21140; Rogan and
    Gladen, "Estimating prevalence from the results of a screening test", American Journal of Epidemiology 107 (1978),
    https://doi.org/10.1093/oxfordjournals.aje.a112510.

    See Also
    --------
    bayesagree.corrected_rate, bayesagree.judges.prediction_powered_mean

    Examples
    --------
    >>> found = rogan_gladen(0.4, 1000, specificity=0.7, n_negative=200, sensitivity=0.9, n_positive=200)
    >>> f"{found.estimate:.4f} ({found.lower:.4f}, {found.upper:.4f})"
    '0.1667 (0.0564, 0.2627)'
    """
    if sensitivity + specificity <= 1:
        raise InputError(
            f"sensitivity {sensitivity:g} + specificity {specificity:g} is not above 1: this judge is no better than "
            "chance, and its verdicts say nothing about the rate"
        )
    z = _reach(ci_prob)
    size, negatives, positives = n_items + z**2, n_negative + 2, n_positive + 2
    raw = (n_items * raw_rate + z**2 / 2) / size
    q0, q1 = (n_negative * specificity + 1) / negatives, (n_positive * sensitivity + 1) / positives
    youden = q0 + q1 - 1
    estimate = float(np.clip((raw_rate + specificity - 1) / (specificity + sensitivity - 1), 0, 1))
    if youden <= 0:  # a hair above chance on a handful of labels
        return RateEstimate(estimate, 0.0, 1.0, float("inf"))
    centre = (raw + q0 - 1) / youden
    of_q0, of_q1 = q0 * (1 - q0) / negatives, q1 * (1 - q1) / positives
    shift = 2 * z**2 * (-(1 - centre) * of_q0 + centre * of_q1)
    variance = raw * (1 - raw) / size + (1 - centre) ** 2 * of_q0 + centre**2 * of_q1
    error = float(np.sqrt(variance) / youden)
    ends = np.clip([centre + shift - z * error, centre + shift + z * error], 0, 1)
    return RateEstimate(estimate, float(ends[0]), float(ends[1]), error)


def weighted_mean(
    labels: Floats,
    verdicts: Floats,
    others: Floats,
    inclusion: Floats,
    power: float | None = None,
    ci_prob: float = 0.95,
) -> RateEstimate:
    """Estimate the mean of labels by PPI++, each weighted by the inverse of its inclusion probability (Hajek's ratio).

    The error is that of the linearised ratio. Source: Zrnic and Candes, "Active statistical inference" (2024),
    arXiv:2403.03208.
    """
    if inclusion.shape != labels.shape or not ((inclusion > 0) & (inclusion <= 1)).all():
        raise InputError("inclusion= needs a probability above 0, and at most 1, for each labelled item")
    everyone = np.append(verdicts, others)
    size, weight = everyone.size, 1 / inclusion
    share = weight * size / weight.sum()
    label, verdict = (np.average(v, weights=weight) for v in (labels, verdicts))
    # The estimate is, but for a constant, the mean over all items of a - power b.
    a, b = np.zeros((2, size))
    a[: labels.size] = share * (labels - label)
    b[: labels.size] = share * (verdicts - verdict)
    b -= everyone - everyone.mean()
    best = 0.0 if b.var() == 0 else float(np.clip(np.mean(a * b) / b.var(), 0, 1))
    chosen = best if power is None else float(power)
    estimate = float(label + chosen * (everyone.mean() - verdict))
    error = float(np.sqrt((a - chosen * b).var() / size))
    reach = _reach(ci_prob) * error
    return RateEstimate(estimate, estimate - reach, estimate + reach, error)


def _reach(ci_prob: float) -> float:
    return float(sp.special.ndtri((1 + probability(ci_prob, "ci_prob")) / 2))
