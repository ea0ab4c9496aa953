"""Sample sizes with a formula: scores that are linear in the votes, reliability of means, intraclass correlation."""

from typing import NamedTuple

import numpy as np
import scipy as sp
from numpy.typing import ArrayLike, NDArray

from bayesagree.errors import InputError, positive, positive_int


class TwoStage(NamedTuple):
    """Variance of a mean of votes: between items, and between the votes on an item."""

    between_items: float
    within_items: float

    def variance(self, items: ArrayLike, annotators: ArrayLike) -> NDArray[np.float64]:
        """Variance of the mean over `items` items with `annotators` votes each."""
        n_items, n_votes = np.asarray(items, float), np.asarray(annotators, float)
        return np.asarray(self.between_items / n_items + self.within_items / (n_items * n_votes))


def two_stage_variance(sums: ArrayLike, votes: ArrayLike) -> TwoStage:
    """Variance components of votes of 0 and 1 (or any score a vote has), without bias, from a pilot.

    Parameters
    ----------
    sums
        Sum of the scores of 0 and 1 of each item, shape (item,).
    votes
        Number of votes of each item, shape (item,); some items need two.

    Returns
    -------
    TwoStage
        ``between_items`` and ``within_items``, the components of the analysis of variance; the first is 0 where the
        estimate is negative.

    Raises
    ------
    InputError
        No item with two votes, or a single item.

    References
    ----------
    W. G. Cochran, "Sampling Techniques", 3rd edition, 1977, sections 10.2 to 10.4.

    Examples
    --------
    >>> two_stage_variance([3, 0, 2, 1], [3, 3, 3, 3]).within_items.__round__(4)
    0.1667
    """
    total, n = np.asarray(sums, dtype=np.float64), np.asarray(votes, dtype=np.float64)
    rated = n > 0
    total, n = total[rated], n[rated]
    if n.size < 2 or not (n > 1).any():
        raise InputError("variance inside items needs two items, one of them with two votes; annotate some items twice")
    mean = total / n
    within = float((n * mean * (1 - mean)).sum() / (n - 1).sum())
    # The expected weight of an item in the mean square between items (unequal numbers of votes).
    weight = (n.sum() - (n**2).sum() / n.sum()) / (n.size - 1)
    between = float((n * (mean - total.sum() / n.sum()) ** 2).sum() / (n.size - 1))
    return TwoStage(max((between - within) / weight, 0.0), within)


def best_annotators_per_item(variances: TwoStage, *, item_cost: float, label_cost: float) -> float:
    """Number of votes per item, at least 1, with the least variance of a linear score for the money.

    Parameters
    ----------
    variances
        As `two_stage_variance` gives them.
    item_cost, label_cost
        Cost of an item without votes and of a vote, in any unit.

    Returns
    -------
    float
        n* = sqrt(item_cost / label_cost * within / between), at least 1: where items are free, one vote on each of more
        items is best (Dorner and Hardt). It holds for scores that are linear in the votes only; metrics of whole
        distributions need more than ten.

    References
    ----------
    W. G. Cochran, "Sampling Techniques", 1977, equation (10.19).
    F. E. Dorner, M. Hardt, "Don't label twice", 2024, arXiv:2402.02249.

    Examples
    --------
    >>> best_annotators_per_item(TwoStage(0.04, 0.16), item_cost=9, label_cost=1)
    6.0
    """
    item, label = positive(item_cost, "item_cost", zero=True), positive(label_cost, "label_cost")
    if variances.between_items == 0:
        raise InputError("items do not differ: every vote is worth the same, on one item or on many")
    return max(1.0, float(np.sqrt(item / label * variances.within_items / variances.between_items)))


def raters_for_reliability(reliability: float, target: float) -> float:
    """Number of raters whose mean has the reliability `target`, where one rating has `reliability`.

    Parameters
    ----------
    reliability, target
        Between 0 and 1, both excluded.

    Returns
    -------
    float
        k with k r / (1 + (k - 1) r) = target (Spearman and Brown); round it up.

    Raises
    ------
    InputError
        A value outside (0, 1).

    References
    ----------
    C. Spearman, "Correlation calculated from faulty data", 1910; W. Brown, 1910.
    https://doi.org/10.1111/j.2044-8295.1910.tb00206.x

    Examples
    --------
    >>> round(raters_for_reliability(0.5, 0.9), 6)
    9.0
    """
    for name, value in (("reliability", reliability), ("target", target)):
        if not 0 < value < 1:
            raise InputError(f"{name}={value!r} must be between 0 and 1")
    return target * (1 - reliability) / (reliability * (1 - target))


def items_for_icc(icc: float, annotators: int, width: float, *, ci_prob: float = 0.95) -> int:
    """Number of items for an interval of the intraclass correlation with a full width of `width`.

    Parameters
    ----------
    icc
        Expected correlation.
    annotators
        Ratings per item, at least 2.
    width
        Full width of the interval.
    ci_prob
        Probability of the interval.

    Returns
    -------
    int
        n = 8 z^2 (1 - icc)^2 (1 + (k - 1) icc)^2 / (k (k - 1) width^2) + 1, rounded up.

    Raises
    ------
    InputError
        A correlation outside [0, 1), one rating an item, or a width outside (0, 2).

    References
    ----------
    D. G. Bonett, "Sample size requirements for estimating intraclass correlations with desired precision", 2002.
    https://doi.org/10.1002/sim.1108

    Examples
    --------
    >>> items_for_icc(0.8, 3, 0.2)
    36
    """
    k = positive_int(annotators, "annotators")
    if not 0 <= icc < 1 or k < 2 or not 0 < width < 2:
        raise InputError(f"icc={icc!r}, annotators={k}, width={width!r}: need 0 <= icc < 1, two ratings, 0 < width < 2")
    z = float(sp.special.ndtri((1 + ci_prob) / 2))
    n = 8 * z**2 * (1 - icc) ** 2 * (1 + (k - 1) * icc) ** 2 / (k * (k - 1) * width**2) + 1
    return int(np.ceil(n))
