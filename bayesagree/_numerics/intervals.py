"""Highest density intervals of draws, written out because loading ArviZ takes longer than most evaluations."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree.errors import InputError

type Floats = NDArray[np.float64]


def hdi(draws: NDArray[Any], prob: float = 0.95) -> tuple[float, float]:
    """Return the highest density interval: the narrowest that holds `prob` of the draws, of any shape.

    Examples
    --------
    >>> hdi(np.arange(100.0), 0.5)
    (0.0, 50.0)
    """
    lower, upper = column_hdi(np.ravel(draws)[:, None], prob)
    return float(lower[0]), float(upper[0])


def column_hdi(draws: NDArray[Any], prob: float = 0.95) -> tuple[Floats, Floats]:
    """Return the highest density interval of each column of draws, shape (draw, column), as two arrays (column,)."""
    if not 0 < prob < 1:
        raise InputError(f"ci_prob={prob!r} must lie between 0 and 1")
    ordered = np.sort(draws, axis=0)
    inside = int(np.floor(prob * len(ordered)))
    width = ordered[inside:] - ordered[: len(ordered) - inside]
    best = width.argmin(axis=0), np.arange(ordered.shape[1])
    return ordered[: len(ordered) - inside][best], ordered[inside:][best]
