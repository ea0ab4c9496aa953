"""Weighted conformal scores: one threshold and p-value rule for every method.

Calibration item i spreads a weight of one over its labels. With W(e) the weight of all calibration scores up to e,

    p(e) = (1 + W(e)) / (n + 1),        a label is kept if p > alpha,

and the threshold is the smallest score with p > alpha. The weight below the threshold is the loss of conformal risk
control summed over items, so that the expected mass left out of the sets of new items is at most alpha, for every n.

Source: A. Angelopoulos et al., "Conformal risk control", ICLR 2024, arXiv:2208.02814, theorem 1.
"""

from typing import NamedTuple

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
    return -np.inf if most < 0 else _smallest_above(score.ravel(), weight.ravel(), most)


def _smallest_above(score: NDArray[np.floating], weight: NDArray[np.float64], most: float) -> float:
    """Return the smallest score up to which the weight exceeds `most`, zooming in on the bin that holds it."""
    below = float(weight[score == -np.inf].sum())
    kept = (weight > 0) & (score > -np.inf)
    score, weight = score[kept], weight[kept]
    if below > most or score.size == 0:
        return -np.inf
    while score.size > _FEW and 0 < (width := (score.max() - score.min()) / (_BINS - 1)) < np.inf:
        bin_ = ((score - score.min()) / width).astype(np.int64)
        up_to = below + np.cumsum(np.bincount(bin_, weight))
        chosen = _first_above(up_to, most)
        below = up_to[chosen - 1] if chosen else below
        score, weight = score[bin_ == chosen], weight[bin_ == chosen]
    order = np.argsort(score)
    return float(score[order[_first_above(below + np.cumsum(weight[order]), most)]])


def _first_above(up_to: NDArray[np.float64], most: float) -> int:
    """Return the first place where a running sum exceeds `most`; the last where it never does."""
    return min(int(np.searchsorted(up_to, most, side="right")), up_to.size - 1)


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
