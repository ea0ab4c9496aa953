"""Regions of plausibilities (credal sets) around a prediction, and the labels that they put on top.

The region of an item holds all plausibilities within a calibrated distance of the predicted probabilities, and the true
plausibilities with probability 1 - alpha. Noise of the calibration plausibilities is part of the posterior: all its
draws calibrate, each with its share of the item's weight.

Sources: D. Stutz et al., arXiv:2307.09302v1 (plausibility regions: the expected conformity); A. Javanmardi, D. Stutz,
E. Huellermeier, "Conformalized credal set predictors", NeurIPS 2024, arXiv:2402.10723 (distances).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy as sp
import xarray as xr

from bayesagree._numerics.types import Floats
from bayesagree.annotations.predictions import Predictions
from bayesagree.conformal._truth import PlausibilityDraws, Truth, plausibility_of, scores_of
from bayesagree.conformal._weighted import threshold
from bayesagree.conformal.scores import require_probabilities
from bayesagree.conformal.sets import check_coverage
from bayesagree.errors import InputError

type DistanceName = Literal["tv", "kl", "wasserstein", "inner"]

# Draws of each item that calibrate. One is enough for the guarantee; the Monte-Carlo error of the radius with two
# hundred is far below that of which items calibrate.
_DRAWS = 200
# Distances this far beyond the radius are within: linear programmes and sums of probabilities are not exact.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class PlausibilityRegions:
    """Calibrated regions of plausibilities.

    Attributes
    ----------
    radius
        Largest distance from the prediction inside the region (model).
    categories
        Names of the labels.
    distance
        Name of the distance.
    coverage
        Probability that a region holds the plausibilities of its item.
    """

    radius: xr.DataArray
    categories: Any
    distance: DistanceName
    coverage: float

    def contains(self, predictions: Predictions, plausibility: xr.DataArray) -> xr.DataArray:
        """Return whether plausibilities (item, category) are in the region of their item, bool (model, item)."""
        given = plausibility.transpose("item", "category")
        if not np.array_equal(given["category"].values, self.categories):
            raise InputError("the plausibilities have other categories than the calibration; reindex them")
        items, p = given["item"].values, self._probabilities(predictions, given["item"].values)
        values = given.values[None]
        apart = np.stack([DISTANCES[self.distance].between(values, one)[0] for one in p])
        inside = apart <= self._radius_of(predictions)[:, None] + _ROUNDING
        coords = {"model": predictions.models, "item": items}
        return xr.DataArray(inside, coords, ("model", "item"), "in_region")

    def labels(self, predictions: Predictions) -> xr.DataArray:
        """Return the labels that some plausibilities of the region put on top, bool (model, item, category).

        Among the two or more best labels of some plausibilities is every label, once a region holds plausibilities
        other than certainty: they are therefore not offered.
        """
        p = self._probabilities(predictions, predictions.items)
        apart = np.stack([DISTANCES[self.distance].to_top(one) for one in p])
        inside = apart <= self._radius_of(predictions)[:, None, None] + _ROUNDING
        coords = {"model": predictions.models, "item": predictions.items, "category": self.categories}
        return xr.DataArray(inside, coords, ("model", "item", "category"), "prediction_set")

    def _probabilities(self, predictions: Predictions, items: Any) -> Floats:
        return _probabilities(predictions, items, self.categories, self.distance)

    def _radius_of(self, predictions: Predictions) -> Floats:
        unknown = [m for m in predictions.models.tolist() if m not in self.radius["model"].values.tolist()]
        if unknown:
            raise InputError(f"model {unknown[0]!r} was not calibrated")
        return self.radius.sel(model=predictions.models).values


def plausibility_regions(
    truth: Truth, predictions: Predictions, *, coverage: float = 0.9, distance: DistanceName = "tv"
) -> PlausibilityRegions:
    """Regions of plausibilities around the predicted probabilities that hold those of new items.

    Parameters
    ----------
    truth
        Plausibilities of the calibration items: a posterior, vote shares or another point estimate (item, category), or
        labels, whose vote shares count.
    predictions
        Probabilities of the models on these items, and perhaps on others, which do not calibrate.
    coverage
        Probability that a region holds the plausibilities of its item, strictly between 0 and 1.
    distance
        Of plausibilities lambda from predictions p: ``"tv"`` total variation; ``"kl"`` the Kullback-Leibler divergence
        of lambda from p; ``"wasserstein"`` between labels one unit apart in their order; ``"inner"`` 1 - sum of lambda
        p, one minus the expected conformity.

    Returns
    -------
    PlausibilityRegions

    Raises
    ------
    InputError
        A coverage of 0 or 1, an unknown distance, scores that are not probabilities, items without predictions.

    See Also
    --------
    conformalize, conformalize_mass

    References
    ----------
    .. [1] D. Stutz et al., arXiv:2307.09302v1, plausibility regions.
    .. [2] A. Javanmardi, D. Stutz, E. Huellermeier, "Conformalized credal set predictors", NeurIPS 2024,
       arXiv:2402.10723, section 3.

    Examples
    --------
    >>> names = {"item": range(20), "category": [0, 1]}
    >>> shares = xr.DataArray([[0.7, 0.3], [1.0, 0.0]] * 10, names, ("item", "category"))
    >>> models = Predictions.from_scores({"A": [[0.6, 0.4], [0.9, 0.1]] * 10})
    >>> regions = plausibility_regions(shares, models)
    >>> round(regions.radius.item(), 3)
    0.1
    >>> regions.labels(models).values[0, :2].tolist()
    [[True, True], [True, False]]
    """
    alpha = 1 - check_coverage(coverage)
    draws = plausibility_of(truth)
    p = _probabilities(predictions, draws.items, draws.categories, distance)
    apart = _distances(draws, p, distance)
    weight = np.full(apart.shape[1:], 1 / apart.shape[1])
    radius = [-threshold(-one, weight, draws.items.size, alpha) for one in apart]
    found = xr.DataArray(radius, {"model": predictions.models}, ("model",), "radius")
    return PlausibilityRegions(found, draws.categories, distance, coverage)


def _distances(draws: PlausibilityDraws, p: Floats, distance: str) -> Floats:
    """Return the distances (model, sample, item) of some draws of each item."""
    parts = []
    for block in draws.blocks:
        values = draws.read(block)
        values = values[:: max(1, -(-values.shape[0] // _DRAWS))]
        parts.append(np.stack([DISTANCES[distance].between(values, one[block]) for one in p]))
    return np.concatenate(parts, axis=2)


def _probabilities(predictions: Predictions, items: Any, categories: Any, distance: str) -> Floats:
    scores = scores_of(predictions, items, categories).astype(np.float64)
    require_probabilities(scores, predictions.models, items, f"distance={distance!r}")
    return scores / scores.sum(axis=2, keepdims=True)


# Items of one linear programme: large enough to share its set-up, small enough for its solver to stay linear.
_ITEMS_AT_ONCE = 200


class Distance(NamedTuple):
    """A distance of plausibilities from a prediction."""

    # Distances (sample, item) of draws (sample, item, category) from predictions (item, category).
    between: Callable[[Floats, Floats], Floats]
    # Smallest distance (item, category) of plausibilities with each label on top.
    to_top: Callable[[Floats], Floats]


def _inner(draws: Floats, p: Floats) -> Floats:
    return 1 - np.einsum("sik,ik->si", draws, p)


def _inner_to_top(p: Floats) -> Floats:
    """Find the largest inner product: plausibilities equal on k and the m best other labels, for the best m."""
    others = _others_descending(p)
    sums = np.concatenate([p[:, :, None], p[:, :, None] + np.cumsum(others, axis=2)], axis=2)
    return 1 - (sums / np.arange(1, p.shape[1] + 1)).max(axis=2)


def _total_variation(draws: Floats, p: Floats) -> Floats:
    return np.abs(draws - p).sum(axis=2) / 2


def _total_variation_to_top(p: Floats) -> Floats:
    """Take from the labels above a level v what lifts k to it: v - p_k = sum of what stands above v."""
    others = _others_descending(p)
    sums = np.concatenate([p[:, :, None], p[:, :, None] + np.cumsum(others, axis=2)], axis=2)
    # With the m best other labels cut to v, (m + 1) v = p_k + their sum; v is the largest over m.
    return (sums / np.arange(1, p.shape[1] + 1)).max(axis=2) - p


def _kullback_leibler(draws: Floats, p: Floats) -> Floats:
    return sp.special.rel_entr(draws, p).sum(axis=2)


def _kullback_leibler_to_top(p: Floats) -> Floats:
    """Pool k with the labels above it into their geometric mean; what is left of the sum is exp(-distance)."""
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    others = _others_descending(p)
    with np.errstate(divide="ignore"):
        log_sums = log_p[:, :, None] + np.concatenate(
            [np.zeros((*p.shape, 1)), np.cumsum(np.log(others), axis=2)], axis=2
        )
    n_pooled = np.arange(1, p.shape[1] + 1)
    pooled = n_pooled * np.exp(log_sums / n_pooled)
    rest = np.concatenate([others[:, :, ::-1].cumsum(axis=2)[:, :, ::-1], np.zeros((*p.shape, 1))], axis=2)
    # The pool ends before the first other label that is not above its mean.
    above = np.concatenate([others > np.exp(log_sums / n_pooled)[:, :, :-1], np.zeros((*p.shape, 1), bool)], axis=2)
    end = (~above).argmax(axis=2)[:, :, None]
    left = np.take_along_axis(pooled + rest, end, axis=2)[:, :, 0]
    with np.errstate(divide="ignore"):
        return np.maximum(-np.log(left), 0.0)


def _wasserstein(draws: Floats, p: Floats) -> Floats:
    """Sum the differences of the cumulative distributions: labels stand in their order, one unit apart."""
    return np.abs(np.cumsum(draws - p, axis=2)).sum(axis=2)


def _wasserstein_to_top(p: Floats) -> Floats:
    found = np.empty(p.shape)
    for start in range(0, p.shape[0], _ITEMS_AT_ONCE):
        block = slice(start, start + _ITEMS_AT_ONCE)
        for k in range(p.shape[1]):
            found[block, k] = _transport_to_top(p[block], k)
    return found


def _transport_to_top(p: Floats, k: int) -> Floats:
    """Solve min sum_j t_j, t_j >= |cumsum(q - p)_j|, q_l <= q_k, for all items in one programme.

    The items share no variable, so that the smallest sum over items is the sum of the smallest.
    """
    n_items, n_labels = p.shape
    cumulate = sp.sparse.csr_array(np.tril(np.ones((n_labels, n_labels))))
    unit = sp.sparse.eye_array(n_labels)
    below_k = sp.sparse.csr_array(np.eye(n_labels) - np.eye(n_labels)[k])
    one = sp.sparse.block_array([[cumulate, -unit], [-cumulate, -unit], [below_k, None]])
    many = sp.sparse.kron(sp.sparse.eye_array(n_items), one, format="csr")
    level = np.cumsum(p, axis=1)
    most = np.concatenate([level, -level, np.zeros(p.shape)], axis=1)
    is_cost = np.repeat([0.0, 1.0], n_labels)
    total = sp.sparse.kron(sp.sparse.eye_array(n_items), 1 - is_cost[None], format="csr")
    solved = sp.optimize.linprog(
        np.tile(is_cost, n_items), A_ub=many, b_ub=most.ravel(), A_eq=total, b_eq=p.sum(axis=1), method="highs"
    )
    return solved.x.reshape(n_items, 2, n_labels)[:, 1].sum(axis=1)


def _others_descending(p: Floats) -> Floats:
    """Return for each label the probabilities of the others, largest first, shape (item, category, category - 1)."""
    n = p.shape[1]
    others = np.array([[other for other in range(n) if other != k] for k in range(n)], dtype=np.intp).reshape(n, n - 1)
    return -np.sort(-p[:, others], axis=2)


# Every distance by name.
DISTANCES = {
    "inner": Distance(_inner, _inner_to_top),
    "tv": Distance(_total_variation, _total_variation_to_top),
    "kl": Distance(_kullback_leibler, _kullback_leibler_to_top),
    "wasserstein": Distance(_wasserstein, _wasserstein_to_top),
}
