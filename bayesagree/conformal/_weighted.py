"""Weighted conformal scores: one threshold and p-value rule for every method.

Calibration item i spreads a weight of one over its labels. With W(e) the weight of all calibration scores up to e,

    p(e) = (1 + W(e)) / (n + 1),        a label is kept if p > alpha,

and the threshold is the smallest score with p > alpha. The weight below the threshold is the loss of conformal risk
control summed over items, so that the expected mass left out of the sets of new items is at most alpha, for every n.

Source: A. Angelopoulos et al., "Conformal risk control", ICLR 2024, arXiv:2208.02814, theorem 1.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

TIE = 1e-10
"""p-values within this of alpha equal it: sums of up to 1e7 weights carry rounding errors of some 1e-11."""
_BINS = 1 << 14
"""Bins of one look at the scores: their weights stay in the cache of a core."""
_FEW = 1 << 12
"""So many scores are sorted: faster than another look."""


def limit(n: int, alpha: float) -> float:
    """Return the weight that scores below the threshold may have: alpha (n + 1) - 1, negative where all are kept."""
    return (alpha + TIE) * (n + 1) - 1


def threshold(score: NDArray[np.floating], weight: NDArray[np.float64], n: int, alpha: float) -> float:
    """Return the smallest calibration score with p > alpha; -inf where n + 1 < 1 / alpha, too few for any set.

    Parameters
    ----------
    score, weight
        Of one model, shape (item, category).
    n
        Number of items, the sum of all weights.
    """
    most = limit(n, alpha)
    # Copies of one type: the kernel is compiled once.
    return -np.inf if most < 0 else float(_smallest_above(score.astype(np.float64).ravel(), weight.flatten(), most))


@numba.njit(cache=True, nogil=True)
def _smallest_above(score, weight, most):
    """Return the smallest score up to which the weight exceeds `most`, zooming in on the bin that holds it."""
    below = 0.0
    kept = np.empty(score.size, np.bool_)
    for j in range(score.size):
        if score[j] == -np.inf:
            below += weight[j]
        kept[j] = weight[j] > 0 and score[j] > -np.inf
    score, weight = score[kept], weight[kept]
    if below > most or score.size == 0:
        return -np.inf
    while score.size > _FEW:
        low, high = score.min(), score.max()
        scale = (_BINS - 1) / (high - low) if high > low else np.inf
        if not np.isfinite(scale):
            break  # all scores are equal
        in_bin = np.zeros(_BINS)
        for j in range(score.size):
            in_bin[int((score[j] - low) * scale)] += weight[j]
        bin_ = 0
        while bin_ < _BINS - 1 and below + in_bin[bin_] <= most:
            below += in_bin[bin_]
            bin_ += 1
        inside = np.empty(score.size, np.bool_)
        for j in range(score.size):
            inside[j] = int((score[j] - low) * scale) == bin_
        score, weight = score[inside], weight[inside]
    order = np.argsort(score)
    for j in order:
        below += weight[j]
        if below > most:
            return score[j]
    return score[order[-1]]


class WeightedScores(NamedTuple):
    """Calibration scores in ascending order, the weight up to each, shape (score,), and the number of items."""

    score: NDArray[np.floating]
    up_to: NDArray[np.float64]
    n: int

    @classmethod
    def of(cls, score: NDArray[np.floating], weight: NDArray[np.float64], n: int) -> "WeightedScores":
        """Sort the scores of one model (item, category) that have a weight."""
        used = weight.ravel() > 0
        score, weight = score.ravel()[used], weight.ravel()[used]
        order = np.argsort(score, kind="stable")
        return cls(score[order], np.append(0.0, np.cumsum(weight[order])), n)

    def p_values(self, score: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the p-value of each score, of any shape: (1 + weight of the scores up to it) / (n + 1)."""
        return (1 + self.up_to[np.searchsorted(self.score, score, side="right")]) / (self.n + 1)
