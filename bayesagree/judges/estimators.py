"""Closed-form corrections of verdicts: they need one hard label per item, and are checks of `corrected_rate`."""

from typing import Any, NamedTuple

import numpy as np
import scipy as sp
from numpy.typing import ArrayLike

from bayesagree._types import Floats
from bayesagree.errors import InputError, probability
from bayesagree.judges._panel import Panel

Variables = dict[str, tuple[tuple[str, ...], Any]]


class RateEstimate(NamedTuple):
    """Estimate of a rate with its confidence interval.

    Attributes
    ----------
    estimate, lower, upper
        Point estimate and ends of the interval.
    standard_error
        Standard error that the interval was made with.
    """

    estimate: float
    lower: float
    upper: float
    standard_error: float


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
    corrected_rate, prediction_powered_mean

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
    z = _normal_quantile(ci_prob)
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


def prediction_powered_mean(
    labels: ArrayLike,
    verdicts: ArrayLike,
    unlabelled: ArrayLike,
    *,
    power: float | None = None,
    inclusion: ArrayLike | None = None,
    ci_prob: float = 0.95,
) -> RateEstimate:
    """Estimate the mean of the labels, corrected by the verdicts on all items (PPI++).

    Unbiased for the mean of whatever the labels are: given vote shares it estimates the share of people who say
    positive, fed with majorities the share of items with a positive majority of the votes that were cast: not of
    everybody's, which its interval holds too rarely where few people label an item.

    Parameters
    ----------
    labels, verdicts
        Label and verdict of each labelled item, shape (labelled,); numbers.
    unlabelled
        Verdict of each other item, shape (unlabelled,).
    power
        Weight of the verdicts, from 0 (labels alone) to 1; by default that of smallest variance, cut to [0, 1].
    inclusion
        Probability with which each labelled item was chosen, shape (labelled,); by default all alike. Labels are then
        weighted by its inverse (Hajek's ratio), and are unbiased whatever the choice depended on.
    ci_prob
        Probability of the interval.

    Returns
    -------
    RateEstimate
        Normal interval, not cut to [0, 1].

    Raises
    ------
    InputError
        Fewer than two labelled items, labels and verdicts of different lengths, or no unlabelled item.

    References
    ----------
    Angelopoulos, Duchi and Zrnic, "PPI++: Efficient prediction-powered inference" (2023), arXiv:2311.01453. With
    `inclusion`: Zrnic and Candes, "Active statistical inference" (2024), arXiv:2403.03208.

    See Also
    --------
    corrected_rate

    Examples
    --------
    >>> labels, verdicts = [1, 1, 0, 1, 0, 1, 1, 0, 1, 1], [1, 1, 1, 1, 0, 1, 0, 0, 1, 1]
    >>> found = prediction_powered_mean(labels, verdicts, [1] * 28 + [0] * 12)
    >>> f"{found.estimate:.3f} ({found.lower:.6f}, {found.upper:.6f})"
    '0.700 (0.449061, 0.950939)'
    """
    y, f, others = (np.asarray(v, np.float64) for v in (labels, verdicts, unlabelled))
    if y.ndim != 1 or y.shape != f.shape or y.size < 2 or others.size == 0:
        raise InputError(
            f"labels {y.shape}, verdicts {f.shape} and unlabelled {others.shape}: give one verdict for each of at "
            "least two labels, and at least one unlabelled item"
        )
    if inclusion is not None:
        return _weighted_mean(y, f, others, np.asarray(inclusion, np.float64), power, ci_prob)
    weight = _best_power(y, f, others) if power is None else float(power)
    estimate = y.mean() + weight * (others.mean() - f.mean())
    error = float(np.sqrt((y - weight * f).var() / y.size + weight**2 * others.var() / others.size))
    reach = _normal_quantile(ci_prob) * error
    return RateEstimate(float(estimate), float(estimate - reach), float(estimate + reach), error)


def saving_bound(rate: ArrayLike, sensitivity: ArrayLike, specificity: ArrayLike) -> Floats:
    """Largest factor by which a judge can stretch people's labels.

    With m labels and any number of verdicts no unbiased estimator is better than m times this many labels alone:
    1 / (1 - rho^2), rho the correlation of verdict and truth.

    Parameters
    ----------
    rate
        Share of items that are truly positive.
    sensitivity, specificity
        Of the judge.

    Returns
    -------
    ndarray
        At least 1; infinite for a judge that never errs.

    References
    ----------
    Dorner, Nastl and Hardt, "Limits to scalable evaluation at the frontier: LLM as judge won't beat twice the data",
    ICLR 2025, arXiv:2410.13341.

    Examples
    --------
    >>> round(float(saving_bound(0.8, 0.8, 0.8)), 3)
    1.36
    """
    b, p, q = (np.asarray(one, np.float64) for one in (rate, sensitivity, specificity))
    judged = b * p + (1 - b) * (1 - q)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = b / (1 - b) * (p - judged) ** 2 / (judged * (1 - judged))
        return 1 / (1 - np.minimum(np.nan_to_num(rho, nan=0.0), 1.0))


def classical_checks(panel: Panel, ci_prob: float) -> Variables:
    """PPI++ of the vote shares and Rogan-Gladen of the majority, with intervals; NaN where a formula has no value."""
    shape = (panel.system.levels.size, panel.judges.size, 3)
    ppi, corrected = np.full(shape, np.nan), np.full(shape, np.nan)
    share = panel.positive / np.maximum(panel.votes, 1)
    for s in range(shape[0]):
        for j in range(shape[1]):
            rows = (panel.system.code == s) & np.isfinite(panel.verdict[:, j])
            seen, verdict = panel.seen[rows], panel.verdict[rows, j]
            chance = None if panel.inclusion is None else panel.inclusion[rows][seen]
            ppi[s, j] = _ppi(share[rows][seen], verdict[seen], verdict[~seen], chance, ci_prob)
            corrected[s, j] = _rogan_gladen(share[rows][seen], verdict[seen], verdict[~seen], ci_prob)
    ends = ("", "_lower", "_upper")
    both = {"ppi": ppi, "rogan_gladen": corrected}
    return {
        name + end: (("system", "judge"), v[:, :, k]) for name, v in both.items() for k, end in enumerate(ends)
    }


def _ppi(
    share: Floats, verdict: Floats, others: Floats, chance: Floats | None, ci_prob: float
) -> tuple[float, ...]:
    if share.size < 2 or others.size == 0:
        return (np.nan,) * 3
    return prediction_powered_mean(share, verdict, others, inclusion=chance, ci_prob=ci_prob)[:3]


def _rogan_gladen(share: Floats, verdict: Floats, others: Floats, ci_prob: float) -> tuple[float, ...]:
    """Take the majority for the truth; items with a tie say nothing about the judge."""
    yes, no = verdict[share > 0.5], verdict[share < 0.5]
    if min(yes.size, no.size, others.size) == 0 or yes.mean() - no.mean() <= 0:
        return (np.nan,) * 3
    of_negative = {"specificity": 1 - no.mean(), "n_negative": no.size}
    of_positive = {"sensitivity": yes.mean(), "n_positive": yes.size}
    return rogan_gladen(others.mean(), others.size, **of_negative, **of_positive, ci_prob=ci_prob)[:3]


def _best_power(labels: Floats, verdicts: Floats, others: Floats) -> float:
    """Weight of smallest variance, with the divisors of ppi_py: n in the covariance, n + N - 1 in the variance."""
    pooled = np.append(verdicts, others)
    spread = pooled.var(ddof=1)
    if spread == 0:
        return 0.0
    covariance = np.mean((labels - labels.mean()) * (verdicts - verdicts.mean()))
    return float(np.clip(covariance / ((1 + labels.size / others.size) * spread), 0, 1))


def _weighted_mean(
    labels: Floats, verdicts: Floats, others: Floats, inclusion: Floats, power: float | None, ci_prob: float
) -> RateEstimate:
    """Weight each label by the inverse of its inclusion probability; the error is that of the linearised ratio."""
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
    reach = _normal_quantile(ci_prob) * error
    return RateEstimate(estimate, estimate - reach, estimate + reach, error)


def _normal_quantile(ci_prob: float) -> float:
    return float(sp.special.ndtri((1 + probability(ci_prob, "ci_prob")) / 2))
