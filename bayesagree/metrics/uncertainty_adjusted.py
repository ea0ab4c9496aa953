"""Uncertainty-adjusted metrics: how good a model is, averaged over what the truth may be.

Each draw of the plausibilities lambda is one possible truth; a metric is computed against every draw, and the
*distribution over draws* of its mean over the items is the result. With Y_k(lambda) the k most plausible labels of a
draw and C_k the k best labels of a model:

=====================  ==================================================================
top_k_accuracy         1{argmax lambda in C_k}
set_accuracy           1{Y_k = C_k}
overlap                |Y_k n C_k| / k
average_overlap        mean over k = 1 .. depth of the overlap at k
kendall_tau            1 - discordant pairs of Y_k and C_k as lists / their largest number
spearman_footrule      1 - displacement between Y_k and C_k as lists / its largest value
=====================  ==================================================================

A point estimate (`irn`, `majority_vote`, any DataArray with dims item and label) in place of a posterior gives the
ordinary metric as a single draw. Ties in a model's scores stand in label order.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", section 2.4; top-k lists:
Fagin, Kumar and Sivakumar, "Comparing top k lists" (2003), with penalty 1/2 and location k + 1.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree.certainty import label_certainty, level_probability
from bayesagree.errors import InputError, positive_int
from bayesagree.metrics import _rank_numba
from bayesagree.metrics._rank_numba import BlockScores, score_block
from bayesagree.plausibility._draws.blocks import DrawBlock
from bayesagree.plausibility._draws.top_labels import Truth, TruthDraws, truth_draws
from bayesagree.predictions import Predictions

_KINDS = {
    "top_{}_accuracy": _rank_numba.TOP,
    "set_{}_accuracy": _rank_numba.SET,
    "overlap_{}": _rank_numba.OVERLAP,
    "average_overlap_{}": _rank_numba.AVERAGE_OVERLAP,
    "kendall_tau_{}": _rank_numba.KENDALL,
    "spearman_footrule_{}": _rank_numba.FOOTRULE,
}
_DEFAULT_K = 3


@dataclass(frozen=True)
class Metric:
    """One rank metric: its pattern of a name, such as ``"top_{}_accuracy"``, and its k."""

    pattern: str
    k: int

    @classmethod
    def named(cls, name: str) -> Self:
        """Read a name such as ``top_1_accuracy`` or ``average_overlap_3``; the last kind of name may leave out k = 3.

        Raises
        ------
        InputError
            A name of no metric; the message lists the patterns.
        """
        for pattern in _KINDS:
            found = re.fullmatch(pattern.replace("{}", r"([1-9]\d*)"), name)
            if found:
                return cls(pattern, int(found[1]))
            if name == pattern.replace("_{}", ""):
                return cls(pattern, _DEFAULT_K)
        known = ", ".join(pattern.format("K") for pattern in _KINDS)
        raise InputError(f"metric {name!r} is not known; use {known} with a number for K")

    @property
    def name(self) -> str:
        """The name with its k."""
        return self.pattern.format(self.k)

    @property
    def depth(self) -> int:
        """How many of the best labels of a draw it looks at."""
        return 1 if self.pattern == "top_{}_accuracy" else self.k


class Scorer:
    """Scores blocks of draws for several models and metrics at once.

    Parameters
    ----------
    predictions
        Predictions, aligned with the items and labels of the draws.
    metrics
        What to compute.
    """

    def __init__(self, predictions: Predictions, metrics: Sequence[Metric]) -> None:
        n_labels = predictions.categories.size
        deepest = max(metrics, key=lambda m: m.k)
        if deepest.k > n_labels:
            raise InputError(f"{deepest.name} looks at {deepest.k} labels, but there are {n_labels}")
        self.n_metrics = len(metrics)
        self.depth = max(m.depth for m in metrics)
        self.predicted = predictions.top_labels(deepest.k)
        self._n_labels = n_labels
        self._kinds = np.array([_KINDS[m.pattern] for m in metrics])
        self._ks = np.array([m.k for m in metrics])
        self._worst = np.array([_largest_distance(m, n_labels) for m in metrics])

    def score(self, block: DrawBlock, weights: NDArray[np.float64] | None = None) -> BlockScores:
        """Sum the metrics over a block, plainly and, where there are `weights`, with those of each (item, draw)."""
        given = np.empty((0, 0)) if weights is None else weights
        predicted = self.predicted[:, block.items]
        return BlockScores(
            *score_block(block.top_label, predicted, self._kinds, self._ks, self._worst, self._n_labels, given)
        )


def top_k_accuracy(
    truth: Truth, predictions: Predictions, *, k: int = 1, threshold: float | None = None
) -> xr.DataArray:
    """Compute the share of items whose most plausible label is among the k best labels of a model.

    Parameters
    ----------
    truth
        A posterior of plausibilities (of ratings, with `threshold`), or a point estimate. A point estimate gives each
        of T labels that tie on top 1/T.
    predictions
        Models to score, on the same items and labels.
    k
        Size of the model's prediction set.

    Returns
    -------
    DataArray
        One value per draw, between 0 and 1, dims (chain, draw, model).

    References
    ----------
    Stutz et al., section 2.4, uncertainty-adjusted top-k accuracy.

    Examples
    --------
    >>> from bayesagree import Labels, majority_vote
    >>> vote = majority_vote(Labels.from_counts([[3, 1, 0], [0, 2, 2]]))
    >>> top_k_accuracy(vote, Predictions.from_labels({"A": [0, 1]}, labels=[0, 1, 2])).values.tolist()
    [[[0.75]]]
    """
    metric = Metric("top_{}_accuracy", positive_int(k, "k"))
    if isinstance(truth, xr.DataArray):
        return _point_top_k_accuracy(truth, predictions, k)
    return _over_draws(metric, truth, predictions, threshold)


def set_accuracy(truth: Truth, predictions: Predictions, *, k: int = _DEFAULT_K) -> xr.DataArray:
    """Compute the share of items whose k most plausible labels are the model's k best, in any order.

    Parameters and result as `top_k_accuracy`; ties of a point estimate stand in label order.

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> score = set_accuracy(dirichlet(given.labels, seed=1), given.predictions, k=2)
    >>> score.mean(("chain", "draw")).values.round(2).tolist()
    [0.47, 0.45, 0.4]
    """
    return _over_draws(Metric("set_{}_accuracy", positive_int(k, "k")), truth, predictions)


def overlap(truth: Truth, predictions: Predictions, *, k: int = _DEFAULT_K) -> xr.DataArray:
    """Compute the mean share of the k most plausible labels that are among the model's k best.

    Parameters and result as `top_k_accuracy`; ties of a point estimate stand in label order.

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> score = overlap(dirichlet(given.labels, seed=1), given.predictions, k=2)
    >>> score.mean(("chain", "draw")).values.round(2).tolist()
    [0.73, 0.72, 0.69]
    """
    return _over_draws(Metric("overlap_{}", positive_int(k, "k")), truth, predictions)


def average_overlap(truth: Truth, predictions: Predictions, *, depth: int = _DEFAULT_K) -> xr.DataArray:
    """Compute the mean over k = 1 .. depth of the overlap at k, so that the first places weigh most.

    Parameters and result as `top_k_accuracy`; ties of a point estimate stand in label order.

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> score = average_overlap(dirichlet(given.labels, seed=1), given.predictions, depth=2)
    >>> score.mean(("chain", "draw")).values.round(2).tolist()
    [0.72, 0.73, 0.65]
    """
    return _over_draws(Metric("average_overlap_{}", positive_int(depth, "depth")), truth, predictions)


def kendall_tau(truth: Truth, predictions: Predictions, *, k: int = _DEFAULT_K) -> xr.DataArray:
    """Compute how far the order of the k best labels agrees: 1 - Kendall distance / its largest value.

    With k = number of labels this is the share of label pairs in the same order, (tau + 1) / 2.

    Parameters and result as `top_k_accuracy`; ties of a point estimate stand in label order.

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> score = kendall_tau(dirichlet(given.labels, seed=1), given.predictions)
    >>> score.mean(("chain", "draw")).values.round(2).tolist()
    [0.74, 0.74, 0.71]
    """
    return _over_draws(Metric("kendall_tau_{}", positive_int(k, "k")), truth, predictions)


def spearman_footrule(truth: Truth, predictions: Predictions, *, k: int = _DEFAULT_K) -> xr.DataArray:
    """Compute how near the k best labels stand to their places: 1 - Spearman's footrule / its largest value.

    Parameters and result as `top_k_accuracy`; ties of a point estimate stand in label order.

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> score = spearman_footrule(dirichlet(given.labels, seed=1), given.predictions)
    >>> score.mean(("chain", "draw")).values.round(2).tolist()
    [0.65, 0.65, 0.6]
    """
    return _over_draws(Metric("spearman_footrule_{}", positive_int(k, "k")), truth, predictions)


def per_item(metric: str, truth: Truth, predictions: Predictions, *, threshold: float | None = None) -> xr.DataArray:
    """Compute a metric item by item, averaged over the draws.

    Parameters
    ----------
    metric
        Name such as ``"top_1_accuracy"`` or ``"average_overlap_3"``.
    truth, predictions
        As in `top_k_accuracy`.

    Returns
    -------
    DataArray
        Mean over draws, dims (model, item).

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> score = per_item("top_1_accuracy", dirichlet(given.labels, seed=1), given.predictions)
    >>> score.sel(model="A").values[:6].round(1).tolist()
    [1.0, 1.0, 1.0, 1.0, 0.9, 0.9]
    """
    asked = Metric.named(metric)
    draws, scorer = _prepare(asked, truth, predictions, threshold)
    value = np.concatenate([scorer.score(b).item[0] / b.top_label.shape[1] for b in draws.blocks], axis=1)
    coords = {"model": predictions.models, "item": draws.items}
    return xr.DataArray(value, dims=("model", "item"), coords=coords, name=asked.name)


def expected_top_k_accuracy(tree: xr.DataTree, predictions: Predictions, *, k: int = 1) -> xr.DataArray:
    """Compute the mean over the posterior of the top-k accuracy without Monte-Carlo error.

    The sum over the model's k best labels of their exact certainty, averaged over items.

    Returns
    -------
    DataArray
        Expected accuracy (model).

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> score = expected_top_k_accuracy(dirichlet(given.labels, seed=1), given.predictions)
    >>> score.values.round(2).tolist()
    [0.72, 0.73, 0.62]
    """
    certainty = label_certainty(tree, exact=True)
    top = predictions.aligned(np.asarray(certainty["item"]), np.asarray(certainty["category"])).top_labels(k)
    hit = np.take_along_axis(certainty.values[None], np.maximum(top, 0).astype(np.int64), axis=2)
    value = np.where(top >= 0, hit, 0.0).sum(axis=2).mean(axis=1)
    return xr.DataArray(value, dims="model", coords={"model": predictions.models}, name=f"top_{k}_accuracy")


def accuracy_given_risk(
    tree: xr.DataTree, predictions: Predictions, risk: Mapping[Any, float], level: float, *, k: int = 1
) -> xr.DataArray:
    """Compute the top-k accuracy on the items of a risk level, each weighted by its probability of being one.

    "The high-risk items" are not known when the truth is not; the weight of an item is the probability that the risk of
    its most plausible label is `level`.

    Parameters
    ----------
    tree, predictions, k
        As in `top_k_accuracy`.
    risk, level
        Label to level, and the level asked for.

    Returns
    -------
    DataArray
        One value per draw, dims (chain, draw, model).

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> risk = {0: 0, 1: 0, 2: 1, 3: 1}
    >>> score = accuracy_given_risk(dirichlet(given.labels, seed=1), given.predictions, risk, 1)
    >>> score.mean(("chain", "draw")).values.round(2).tolist()
    [0.73, 0.73, 0.61]
    """
    probability = level_probability(tree, risk)
    if level not in probability["level"]:
        raise InputError(f"risk level {level!r} is not one of {probability['level'].values.tolist()}")
    weight = probability.sel(level=level).values
    metric = Metric("top_{}_accuracy", positive_int(k, "k"))
    draws, scorer = _prepare(metric, tree, predictions, None)
    total = np.zeros((predictions.models.size, draws.chains * draws.draws))
    for block in draws.blocks:
        weights = np.repeat(weight[block.items, None], block.top_label.shape[1], axis=1)
        total += scorer.score(block, weights).weighted[0]
    return _per_draw(total / weight.sum(), draws, predictions, metric.name)


def _prepare(
    metric: Metric, truth: Truth, predictions: Predictions, threshold: float | None
) -> tuple[TruthDraws, Scorer]:
    draws = truth_draws(truth, metric.depth, threshold=threshold)
    return draws, Scorer(predictions.aligned(draws.items, draws.labels), [metric])


def _over_draws(metric: Metric, truth: Truth, predictions: Predictions, threshold: float | None = None) -> xr.DataArray:
    draws, scorer = _prepare(metric, truth, predictions, threshold)
    total = np.zeros((predictions.models.size, draws.chains * draws.draws))
    for block in draws.blocks:
        total += scorer.score(block).total[0]
    return _per_draw(total / draws.items.size, draws, predictions, metric.name)


def _per_draw(value: NDArray[np.float64], draws: TruthDraws, predictions: Predictions, name: str) -> xr.DataArray:
    shaped = value.T.reshape(draws.chains, draws.draws, -1)
    coords = {"chain": np.arange(draws.chains), "draw": np.arange(draws.draws), "model": predictions.models}
    return xr.DataArray(shaped, dims=("chain", "draw", "model"), coords=coords, name=name)


def _point_top_k_accuracy(estimate: xr.DataArray, predictions: Predictions, k: int) -> xr.DataArray:
    draws = truth_draws(estimate, 1)
    values = estimate.transpose("item", "category").values
    on_top = values == values.max(axis=1, keepdims=True)
    share = on_top / on_top.sum(axis=1, keepdims=True)
    top = predictions.aligned(draws.items, draws.labels).top_labels(k)
    hit = np.take_along_axis(share[None], np.maximum(top, 0).astype(np.int64), axis=2)
    value = np.where(top >= 0, hit, 0.0).sum(axis=2).mean(axis=1)
    return _per_draw(value[:, None], draws, predictions, f"top_{k}_accuracy")


def _largest_distance(metric: Metric, n_labels: int) -> float:
    """Return the largest distance of two top-k lists of `n_labels` labels: they share as few as they can, reversed."""
    k, shared = metric.k, max(0, 2 * metric.k - n_labels)
    alone = k - shared
    if _KINDS[metric.pattern] == _rank_numba.KENDALL:
        pairs = alone**2 + alone * (alone - 1) / 2 + shared * (shared - 1) / 2 + 2 * shared * alone
        return max(pairs, 1.0)
    places = np.append(np.arange(1, k + 1), np.full(alone, k + 1))
    return max(float(np.abs(places - places[::-1]).sum()), 1.0)
