"""Closed formulas of verdicts and labels: prediction-powered inference, and the bound on what a judge can save."""

from typing import NamedTuple

import numpy as np
import scipy as sp
from numpy.typing import ArrayLike

from bayesagree._types import Floats
from bayesagree.errors import InputError, probability


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


def prediction_powered_mean(
    labels: ArrayLike,
    verdicts: ArrayLike,
    unlabelled: ArrayLike,
    *,
    power: float | None = None,
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
    ci_prob
        Probability of the interval.

    Returns
    -------
    RateEstimate
        Normal interval, not cut to [0, 1].

    Raises
    ------
    InputError
        Fewer than two labelled items, labels and verdicts of different lengths, or fewer than two unlabelled items.

    References
    ----------
    Angelopoulos, Duchi and Zrnic, "PPI++: Efficient prediction-powered inference" (2023), arXiv:2311.01453.

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
    y, f, others = (np.asarray(v, float) for v in (labels, verdicts, unlabelled))
    if y.ndim != 1 or y.shape != f.shape or y.size < 2 or others.size < 2:
        raise InputError(
            f"labels {y.shape}, verdicts {f.shape} and unlabelled {others.shape}: give one verdict for each of at "
            "least two labels, and at least two unlabelled items"
        )
    weight, spread = power, np.append(f, others).var(ddof=1)
    if weight is None:
        # Of smallest variance, with the divisors of ppi_py: n in the covariance, n + N - 1 in the variance.
        covariance = np.mean((y - y.mean()) * (f - f.mean()))
        weight = np.clip(covariance / ((1 + y.size / others.size) * spread), 0, 1) if spread else 0.0
    estimate = y.mean() + weight * (others.mean() - f.mean())
    error = float(np.sqrt((y - weight * f).var() / y.size + weight**2 * others.var() / others.size))
    reach = float(sp.special.ndtri((1 + probability(ci_prob, "ci_prob")) / 2)) * error
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
    b, p, q = (np.asarray(one, float) for one in (rate, sensitivity, specificity))
    judged = b * p + (1 - b) * (1 - q)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = b / (1 - b) * (p - judged) ** 2 / (judged * (1 - judged))
        return 1 / (1 - np.minimum(np.nan_to_num(rho, nan=0.0), 1.0))
