"""How close two scorings of the same systems are, and whether one estimator is significantly closer than another."""

from typing import Any, Literal, NamedTuple

import numpy as np
import scipy as sp
from numpy.typing import ArrayLike, NDArray

from bayesagree.errors import InputError, one_of, warn

type Measure = Literal["pearson", "spearman", "kendall", "swap_rate"]
MEASURES = ("pearson", "spearman", "kendall", "swap_rate")


class DependentCorrelationTest(NamedTuple):
    """Statistic of a test of two dependent correlations, and its two-sided p value."""

    statistic: float
    p_value: float


def correlation(scores_a: ArrayLike, scores_b: ArrayLike, *, measure: Measure = "kendall") -> float:
    """Correlation of two scorings (or rankings) of the same systems.

    Parameters
    ----------
    scores_a, scores_b
        One number per system, shape (model,). Ranks do as well as scores, as long as both sides are of one kind.
    measure
        ``"pearson"`` r; ``"spearman"`` rho, tied systems sharing the mean of their ranks; ``"kendall"`` tau-b;
        ``"swap_rate"``, an error: see `swap_rate`.

    Returns
    -------
    float
        NaN where one side is constant.

    Warns
    -----
    UserWarning
        A constant side: the correlation does not exist.

    Examples
    --------
    >>> round(correlation([1, 2, 3, 4], [1, 3, 2, 4], measure="spearman"), 6)
    0.8
    """
    one_of(measure, "measure", MEASURES)
    a, b = _pair(scores_a, scores_b)
    if measure == "swap_rate":
        return swap_rate(a, b)
    if a.size < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        warn(f"{measure} does not exist: one side gives all systems the same score")
        return float("nan")
    return float(np.corrcoef(_compared(a, measure), _compared(b, measure))[0, 1])


def swap_rate(scores_a: ArrayLike, scores_b: ArrayLike) -> float:
    """Return the share of all pairs of systems that two scorings put in strictly opposite order.

    A pair that is tied on either side is not swapped, but it stays among the K (K - 1)/2 pairs.

    References
    ----------
    .. [1] E. M. Voorhees, "Variations in relevance judgments and the measurement of retrieval effectiveness", 2000.

    Examples
    --------
    >>> swap_rate([3, 2, 1, 1], [3, 1, 2, 2])
    0.3333333333333333
    """
    a, b = _pair(scores_a, scores_b)
    if a.size < 2:
        raise InputError(f"{a.size} systems have no pair to swap")
    opposite = np.sign(a[:, None] - a) * np.sign(b[:, None] - b) < 0
    return float(opposite.sum() / (a.size * (a.size - 1)))


def williams_test(
    r_xy: float, r_xz: float, r_yz: float, n: int, *, correction: Literal["williams", "hotelling"] = "williams"
) -> DependentCorrelationTest:
    """Test whether estimator y correlates with the gold x more than estimator z does.

    With D = 1 - r_xy^2 - r_xz^2 - r_yz^2 + 2 r_xy r_xz r_yz and m = (r_xy + r_xz)/2, Williams' statistic
    (r_xy - r_xz) sqrt((n-1)(1 + r_yz) / (2 D (n-1)/(n-3) + m^2 (1 - r_yz)^3)), or Hotelling's
    (r_xy - r_xz) sqrt((n-3)(1 + r_yz) / (2 D)), has a t distribution with n-3 degrees of freedom if both
    correlate equally. Hotelling's holds for these very systems only; Steiger recommends Williams'.

    Parameters
    ----------
    r_xy, r_xz
        Correlations of the two estimators with the gold.
    r_yz
        Correlation of the estimators with each other.
    n
        Number of systems: with few of them the test has little power.
    correction
        Which statistic.

    Returns
    -------
    DependentCorrelationTest
        ``statistic`` and two-sided ``p_value``.

    Warns
    -----
    UserWarning
        A missing correlation, or two perfect ones: the statistic does not exist and is NaN.

    Raises
    ------
    InputError
        Fewer than four systems, a correlation outside [-1, 1], an unknown correction.

    References
    ----------
    .. [1] J. H. Steiger, "Tests for comparing elements of a correlation matrix", Psychological Bulletin 87 (1980).
    .. [2] H. J. Jung, M. Lease, "Evaluating classifiers without expert labels", 2012, equation 12.

    Examples
    --------
    >>> [round(v, 4) for v in williams_test(0.73, 0.61, 0.66, 120)]
    [2.3378, 0.0211]
    >>> [round(v, 3) for v in williams_test(0.73, 0.61, 0.66, 120, correction="hotelling")]
    [2.378, 0.019]
    """
    one_of(correction, "correction", ("williams", "hotelling"))
    one_of(correction, "correction", ("williams", "hotelling"))
    if n < 4:
        raise InputError(f"n={n} systems: the test has n-3 degrees of freedom and needs at least 4")
    r = np.array([r_xy, r_xz, r_yz], dtype=float)
    if (np.abs(r) > 1 + 1e-12).any():
        raise InputError(f"correlations {r.tolist()} must lie between -1 and 1")
    determinant = 1 - r @ r + 2 * r.prod()
    scale = 2 * determinant / (n - 3)
    if correction == "williams":
        scale += ((r_xy + r_xz) / 2) ** 2 * (1 - r_yz) ** 3 / (n - 1)
    if r_xy == r_xz:
        return DependentCorrelationTest(0.0, 1.0)
    if not (determinant > -1e-9 and scale > 1e-12):
        warn(f"the statistic does not exist for correlations {r.tolist()}: one is missing, or two are perfect")
        return DependentCorrelationTest(float("nan"), float("nan"))

    statistic = float((r_xy - r_xz) * np.sqrt((1 + r_yz) / scale))
    return DependentCorrelationTest(statistic, float(2 * sp.special.stdtr(n - 3, -abs(statistic))))


def _compared(scores: NDArray[Any], measure: Measure) -> NDArray[Any]:
    """Return the numbers whose correlation is the measure's (Daniels 1944); `scipy.stats` takes long to import."""
    if measure == "pearson":
        return scores
    side = np.sign(scores[:, None] - scores)  # 1 above, 0 tied, -1 below, for each pair: the mean is 0
    return side.sum(axis=1) if measure == "spearman" else side.ravel()


def _pair(scores_a: ArrayLike, scores_b: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    a, b = np.asarray(scores_a, dtype=float), np.asarray(scores_b, dtype=float)
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(f"two scorings of the same systems are needed, got shapes {a.shape} and {b.shape}")
    both = np.isfinite(a) & np.isfinite(b)
    return a[both], b[both]
