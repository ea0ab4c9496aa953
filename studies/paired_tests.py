"""Which of several models that answered the same items is significantly better, and how they rank then."""

from typing import Any, Literal, NamedTuple

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayesagree.errors import InputError

type Multiplicity = Literal["none", "bonferroni", "holm", "benjamini_hochberg"]


def paired_terms(
    truth: NDArray[np.integer[Any]], predicted: NDArray[np.integer[Any]], metric: str, positive: int | None
) -> NDArray[np.float64] | None:
    """Contribution of each item to a score that is a mean over items; None for scores that are not.

    Parameters
    ----------
    truth
        Positions of gold labels, -1 where unknown: shape (item,), or (model, item) where every model has its own.
    predicted
        Positions of labels, -1 where missing, shape (model, item).
    metric, positive
        Score, and position of the positive label. Accuracy is a mean over items, recall over those of the positive
        label, specificity over the others; precision is not, because every model has its own denominator.

    Returns
    -------
    array, shape (model, item)
        1 for a right answer, 0 for a wrong one, NaN where the item does not count.
    """
    if metric != "accuracy" and (metric not in ("recall", "specificity") or positive is None):
        return None
    counts = (truth >= 0) & (predicted >= 0)
    if metric == "recall":
        counts = counts & (truth == positive)
    if metric == "specificity":
        counts = counts & (truth != positive)
        return np.where(counts, predicted != positive, np.nan)
    return np.where(counts, predicted == truth, np.nan)


class PairedTest(NamedTuple):
    """Mean differences of all pairs of models and their p values, both of shape (model, model)."""

    difference: NDArray[np.float64]
    p_value: NDArray[np.float64]


def paired_t_test(terms: NDArray[np.floating[Any]]) -> PairedTest:
    """Paired t test, two-sided, of the mean difference of the terms of each pair of models.

    Parameters
    ----------
    terms
        Shape (model, item), NaN where an item does not count; a pair is compared on the items that both have.

    Returns
    -------
    PairedTest
        ``difference`` (first minus second) and ``p_value``, shape (model, model); NaN with fewer than two common items.

    Examples
    --------
    >>> difference, p = paired_t_test(np.array([[1.0, 1, 1, 0, 1, 1], [0, 1, 0, 0, 1, 0]]))
    >>> float(difference[0, 1]), round(float(p[0, 1]), 4)
    (0.5, 0.0756)
    """
    n_models = terms.shape[0]
    difference, p_value = np.full((n_models, n_models), np.nan), np.full((n_models, n_models), np.nan)
    for a in range(n_models):
        gaps = terms[a] - terms
        for b in range(n_models):
            gap = gaps[b][np.isfinite(gaps[b])]
            if gap.size < 2:
                continue
            difference[a, b] = gap.mean()
            # Equal gaps have no variance, and the test no statistic: the models are the same, or surely not.
            same = gap.min() == gap.max()
            p_value[a, b] = float(gap[0] == 0) if same else _t_test(gap)
    return PairedTest(difference, p_value)


def _t_test(gap: NDArray[np.floating[Any]]) -> float:
    """Return the two-sided p value of a mean of zero; `scipy.stats` takes half a second to import."""
    t = gap.mean() / (gap.std(ddof=1) / np.sqrt(gap.size))
    return float(2 * sp.special.stdtr(gap.size - 1, -abs(t)))


def bootstrap_p_values(draws: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return for each pair of models the two-sided p value of paired draws of their scores, shape (model, model).

    Twice the smaller share of draws in which the difference is not positive, or not negative; one draw is added to
    each side, so that no p value is below 2/(draws + 1).

    Parameters
    ----------
    draws
        Scores on the same resampled items, shape (draw, model); draws with a NaN of the pair are left out.
    """
    gap = draws[:, :, None] - draws[:, None, :]
    n = np.isfinite(gap).sum(axis=0)
    low, high = ((gap <= 0).sum(axis=0) + 1) / (n + 1), ((gap >= 0).sum(axis=0) + 1) / (n + 1)
    return np.minimum(2 * np.minimum(low, high), 1.0)


def adjusted(p_values: NDArray[np.floating[Any]], multiplicity: Multiplicity) -> NDArray[np.float64]:
    """Adjust the p values of all pairs of models for their number.

    Parameters
    ----------
    p_values
        Symmetric, shape (model, model); the pairs above the diagonal are the family, NaN counts as no test.
    multiplicity
        ``"none"``; ``"bonferroni"`` and ``"holm"`` bound the chance of any false difference,
        ``"benjamini_hochberg"`` the expected share of false ones among the differences found.

    Examples
    --------
    >>> p = np.array([[1, 0.01, 0.04], [0.01, 1, 0.03], [0.04, 0.03, 1]])
    >>> adjusted(p, "holm").round(2)[0].tolist()
    [1.0, 0.03, 0.06]
    """
    if multiplicity not in ("none", "bonferroni", "holm", "benjamini_hochberg"):
        raise InputError(
            f"multiplicity={multiplicity!r} is not one of 'none', 'bonferroni', 'holm', 'benjamini_hochberg'"
        )
    if multiplicity == "none":
        return np.array(p_values, dtype=float)
    upper = np.triu_indices_from(p_values, 1)
    tested = np.isfinite(p_values[upper])
    pairs = tuple(axis[tested] for axis in upper)
    p, order = p_values[pairs], np.argsort(p_values[pairs])
    n, rank = p.size, np.arange(p.size)
    if multiplicity == "bonferroni":
        ordered = p[order] * n
    elif multiplicity == "holm":
        ordered = np.maximum.accumulate(p[order] * (n - rank))
    else:
        ordered = np.minimum.accumulate((p[order] * n / (rank + 1))[::-1])[::-1]
    result = np.array(p_values, dtype=float)
    for place, value in zip(order, np.minimum(ordered, 1)):
        a, b = pairs[0][place], pairs[1][place]
        result[a, b] = result[b, a] = value
    return result


def copeland_rank(scores: ArrayLike | xr.DataArray, different: ArrayLike | None = None) -> xr.DataArray:
    """Rank of each model by the number of others that it beats minus the number that beat it.

    Parameters
    ----------
    scores
        Higher is better, shape (model,); a DataArray gives the models their names. A model without a score, NaN, has
        no place.
    different
        Whether two models differ significantly, shape (model, model); others are tied. None: any difference counts.

    Returns
    -------
    DataArray
        Ranks (model), 1 is best; models with equal counts share the best of their places (1, 1, 3). NaN without a
        score.

    References
    ----------
    .. [1] H. J. Jung, M. Lease, "Evaluating classifiers without expert labels", 2012, section 4.3.

    Examples
    --------
    >>> different = [[False, False, True], [False, False, False], [True, False, False]]
    >>> copeland_rank([0.8, 0.7, 0.6], different).values.tolist()
    [1.0, 2.0, 3.0]
    >>> copeland_rank([0.8, float("nan"), 0.8, 0.6]).values.tolist()
    [1.0, nan, 1.0, 3.0]
    """
    score = np.asarray(scores, dtype=float)
    if score.ndim != 1:
        raise InputError(f"scores of shape {score.shape}; a ranking needs one score per system")
    beats = score[:, None] > score
    if different is not None:
        beats = beats & np.asarray(different, dtype=bool)
    points = np.where(np.isnan(score), np.nan, beats.sum(axis=1) - beats.sum(axis=0))
    place = np.where(np.isnan(score), np.nan, 1 + (points > points[:, None]).sum(axis=1))
    coords = (
        {"model": scores["model"].values}
        if isinstance(scores, xr.DataArray) and "model" in scores.coords
        else None
    )
    return xr.DataArray(place, coords, dims="model", name="rank")
