"""Intervals of draws, written out because loading ArviZ takes longer than most evaluations."""

import numpy as np

from bayesagree._types import Array, Floats
from bayesagree.errors import probability


def hdi(draws: Array, prob: float = 0.95) -> tuple[float, float]:
    """Return the highest density interval: the narrowest that holds `prob` of the draws, of any shape.

    Examples
    --------
    >>> hdi(np.arange(100.0), 0.5)
    (0.0, 50.0)
    """
    lower, upper = column_hdi(np.ravel(draws)[:, None], prob)
    return float(lower[0]), float(upper[0])


def eti(draws: Array, prob: float = 0.95) -> tuple[float, float]:
    """Return the interval that holds `prob` of the draws, with as many below it as above."""
    probability(prob, "ci_prob")
    lower, upper = np.quantile(draws, ((1 - prob) / 2, (1 + prob) / 2))
    return float(lower), float(upper)


def column_hdi(draws: Array, prob: float = 0.95) -> tuple[Floats, Floats]:
    """Return the highest density interval of each column of draws, shape (draw, ...), as two arrays (...).

    It holds their mean, which is shown beside it: of draws that are nearly all equal the mean lies outside. Of a column
    with a NaN both ends are NaN, as the mean is.
    """
    probability(prob, "ci_prob")
    ordered = np.sort(draws, axis=0)
    inside = int(np.floor(prob * len(ordered)))
    width = ordered[inside:] - ordered[: len(ordered) - inside]
    best = width.argmin(axis=0)[None]
    lower, upper = (np.take_along_axis(ordered, place, axis=0)[0] for place in (best, best + inside))
    mean = ordered.mean(axis=0)
    return np.minimum(lower, mean), np.maximum(upper, mean)
