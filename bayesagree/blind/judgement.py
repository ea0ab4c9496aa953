"""How well each blind method replaces the gold: correlations, triangle tests, quality of pseudo-gold, outliers."""

import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesagree.blind.paired_tests import copeland_rank
from bayesagree.blind.rank_correlation import MEASURES, Measure, correlation, williams_test
from bayesagree.blind.systems import Systems

# Methods without a pseudo-gold of their own, whose quality could be measured.
SCORE_AND_COMBINE = ("round_robin", "sampling")

# Actual places of the systems whose predicted ranks are kept.
PLACES = ("best", "second", "third", "worst")

type Correction = Literal["williams", "hotelling"]


def methods_group(
    methods: tuple[str, ...],
    estimates: list[dict[str, NDArray[np.float64]]],
    actual: dict[str, NDArray[np.float64]],
    quality: NDArray[np.float64],
    *,
    different: Callable[[NDArray[np.float64]], NDArray[np.bool_]],
    baseline: str,
    correction: Correction,
) -> dict[str, Any]:
    """Correlate each method with the gold, test the differences, rank the methods, relate quality to correlation."""
    shape = (len(methods), quality.shape[1], len(MEASURES))
    value, p_value, rank = np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what does not exist is NaN in the table; the caller says so once
        for m in range(quality.shape[1]):
            for r, measure in enumerate(MEASURES):
                of = "score" if measure == "pearson" else "rank"
                value[:, m, r] = [correlation(e[of][m], actual[of][m], measure=measure) for e in estimates]
                tests = _triangle_tests([e[of][m] for e in estimates], actual[of][m], measure, correction)
                if baseline in methods:
                    p_value[:, m, r] = tests[:, methods.index(baseline)]
                good = 1 - value[:, m, r] if measure == "swap_rate" else value[:, m, r]
                rank[:, m, r] = copeland_rank(good, different(tests)).values
        related = _quality_correlation(methods, quality, value)
    of_method = ("estimator", "metric", "measure")
    return {
        "correlation": (of_method, value),
        "p_value": (of_method, p_value),
        "method_rank": (of_method, rank),
        "quality": (("estimator", "metric"), quality),
        "quality_correlation": (("metric", "measure"), related),
    }


def _triangle_tests(
    scorings: list[NDArray[np.float64]], gold: NDArray[np.float64], measure: Measure, correction: Correction
) -> NDArray[np.float64]:
    """Return the p value of each pair of methods, whose correlations with the same gold are compared.

    All three correlations are over the systems that the gold and both methods score. A swap rate enters as one minus
    twice itself, which is a correlation of the order of pairs.
    """
    n_methods = len(scorings)
    p_value = np.full((n_methods, n_methods), np.nan)
    for a in range(n_methods):
        for b in range(a):
            all_three = np.isfinite(scorings[a]) & np.isfinite(scorings[b]) & np.isfinite(gold)
            if all_three.sum() < 4:
                continue
            x, y, z = (scores[all_three] for scores in (gold, scorings[a], scorings[b]))
            r = [correlation(*pair, measure=measure) for pair in ((x, y), (x, z), (y, z))]
            r_xy, r_xz, r_yz = [1 - 2 * v for v in r] if measure == "swap_rate" else r
            p_value[a, b] = p_value[b, a] = williams_test(r_xy, r_xz, r_yz, x.size, correction=correction)[1]
    return p_value


def _quality_correlation(
    methods: tuple[str, ...], quality: NDArray[np.float64], value: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Correlate, over the methods that combine, the quality of pseudo-gold with the correlation achieved."""
    combining = np.array([m not in (*SCORE_AND_COMBINE, "direct") for m in methods])
    related = np.full(value.shape[1:], np.nan)
    for m in range(value.shape[1]):
        for r in range(value.shape[2]):
            both = combining & np.isfinite(quality[:, m]) & np.isfinite(value[:, m, r])
            if both.sum() >= 3:
                related[m, r] = correlation(quality[both, m], value[both, m, r], measure="pearson")
    return related


def outliers(
    estimates: list[dict[str, NDArray[np.float64]]], actual: dict[str, NDArray[np.float64]], systems: Systems
) -> dict[str, Any]:
    """Return the actual best three systems and the worst of each metric, and the rank that each method gives them."""
    score = np.where(np.isnan(actual["score"]), -np.inf, actual["score"])
    order = np.argsort(-score, axis=1, kind="stable")
    worst = np.where(np.isnan(actual["score"]), np.inf, score).argmin(axis=1)
    scored = np.isfinite(actual["score"]).sum(axis=1)
    places = len(PLACES) - 1
    ends = np.column_stack([order[:, np.minimum(np.arange(places), order.shape[1] - 1)], worst])
    there = np.column_stack([np.arange(places) < scored[:, None], scored > 0])
    predicted = np.stack([np.where(there, np.take_along_axis(e["rank"], ends, axis=1), np.nan) for e in estimates])
    return {
        "predicted_rank": (("estimator", "metric", "place"), predicted),
        "actual_rank": (("metric", "place"), np.where(there, np.take_along_axis(actual["rank"], ends, axis=1), np.nan)),
        "system": (("metric", "place"), np.where(there, systems.models[ends].astype(str), "")),
    }
