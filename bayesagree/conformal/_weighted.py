"""Weighted conformal scores: one threshold and p-value rule for every method.

Calibration item i spreads a weight of one over its labels. With W(e) the weight of all calibration scores up to e,

    p(e) = (1 + W(e)) / (n + 1),        a label is kept if p > alpha,

and the threshold is the smallest score with p > alpha. The weight below the threshold is the loss of conformal risk
control summed over items, so that the expected mass left out of the sets of new items is at most alpha, for every n.

Source: A. Angelopoulos et al., "Conformal risk control", ICLR 2024, arXiv:2208.02814, theorem 1.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree.annotations.gold import ItemGroup, group_of_each
from bayesagree.errors import InputError

# p-values within this of alpha equal it: sums of up to 1e7 weights carry rounding errors of some 1e-11.
TIE = 1e-10
# Bins of one look at the scores: their weights stay in the cache of a core.
_BINS = 1 << 14
# So many scores are sorted: faster than another look.
_FEW = 1 << 12


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


def groups_of(by: ItemGroup, items: NDArray[Any]) -> NDArray[Any]:
    """Return the group of each item, shape (item,).

    Raises
    ------
    InputError
        Items without a group, or groups that are fractional numbers.
    """
    found = group_of_each(by, items, "by").infer_objects().to_numpy()
    if found.dtype.kind == "f" and not (found == np.floor(found)).all():
        raise InputError("by= holds fractional numbers; cut them into groups first, as certainty_groups does")
    return found if found.dtype.kind in "iufb" else found.astype(str)


def certainty_groups(certainty: xr.DataArray, *, edges: tuple[float, ...] = (0.5, 0.8, 0.95)) -> xr.DataArray:
    """Group of each item by a number such as its annotation certainty or the confidence of a model.

    Parameters
    ----------
    certainty
        One number for each item (item).
    edges
        Limits between the groups, ascending; a group holds its lower limit.

    Returns
    -------
    DataArray
        Name of the group (item), such as ``"[0.5, 0.8)"``.

    See Also
    --------
    bayesagree.annotation_certainty, set_coverage

    Examples
    --------
    >>> certainty_groups(xr.DataArray([0.4, 0.8], {"item": ["a", "b"]}, ("item",))).values.tolist()
    ['below 0.5', '[0.8, 0.95)']
    """
    if not edges or list(edges) != sorted(set(edges)):
        raise InputError(f"edges={edges!r} must be one or more ascending numbers")
    if certainty.dims != ("item",) or np.isnan(certainty.values).any():
        raise InputError("certainty must be one number for each item, dims ('item',), without NaN")
    inner = [f"[{low:g}, {high:g})" for low, high in pairwise(edges)]
    names = np.array([f"below {edges[0]:g}", *inner, f"from {edges[-1]:g}"])
    return certainty.copy(data=names[np.searchsorted(edges, certainty.values, side="right")]).rename("group")
