"""Uncertainty-adjusted metrics: the score of a model against each draw of the truth.

Each draw of the plausibilities lambda is one possible truth; a metric is computed against every draw, and the
*distribution over draws* of its mean over the items is the result. With Y_k(lambda) the k most plausible labels of a
draw and C_k the k best labels of a model:

=====================  ==================================================================
top_k_accuracy         1{argmax lambda in C_k}
set_accuracy           1{Y_k = C_k}
overlap                |Y_k n C_k| / k
average_overlap        mean over j = 1 .. k of the overlap at j
kendall_tau            1 - discordant pairs of Y_k and C_k as lists / their largest number
spearman_footrule      1 - displacement between Y_k and C_k as lists / its largest value
=====================  ==================================================================

A point estimate (`irn`, `majority_vote`, any DataArray with dims item and category) in place of a posterior gives the
plug-in metric as a single draw. Equal scores of a model are ordered by label, and so are equal plausibilities of a
point estimate.

Source: D. Stutz et al., "Evaluating AI systems under uncertain ground truth", arXiv:2307.02191, section 2.4.
"""

import numpy as np
import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._inference.docstrings import shared
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.top_labels import Truth
from bayesagree.metrics._scorer import over_draws, prepare
from bayesagree.metrics.registry import DEFAULT_K, Metric

_shared = shared(
    truth="A posterior of plausibilities (of ratings, with `threshold`), or a point estimate (item, category).",
    predictions="Models to score, on the same items and labels.",
    threshold='For ratings: the labels are then "below" and "at_or_above".',
    rank_metric="""
    Parameters
    ----------
    {truth, predictions}
    k
        Number of best labels compared, of the draw and of the model.
    {threshold}

    Returns
    -------
    DataArray
        One value per draw, between 0 and 1, dims (chain, draw, model).
    """,
)


@_shared
@checked
def top_k_accuracy(
    truth: Truth, predictions: Predictions, *, k: int = 1, threshold: float | None = None
) -> xr.DataArray:
    """Share of items whose most plausible label is among the k best labels of a model.

    A point estimate gives each of T labels that tie on top 1/T.

    Parameters
    ----------
    {truth, predictions}
    k
        Size of the model's prediction set.
    {threshold}

    Returns
    -------
    DataArray
        One value per draw, between 0 and 1, dims (chain, draw, model).

    Raises
    ------
    InputError
        Other items or labels than those of the truth, fewer labels than k, ratings without a threshold.

    See Also
    --------
    expected_top_k_accuracy, accuracy_given_risk, set_accuracy, overlap, per_item, evaluate

    References
    ----------
    .. [1] D. Stutz et al., arXiv:2307.02191, section 2.4, uncertainty-adjusted top-k accuracy.

    Examples
    --------
    >>> from bayesagree import Labels, majority_vote
    >>> vote = majority_vote(Labels.from_counts([[3, 1, 0], [0, 2, 2]]))
    >>> top_k_accuracy(vote, Predictions.from_labels({"A": [0, 1]}, labels=[0, 1, 2])).values.tolist()
    [[[0.75]]]
    """
    return over_draws("top_{}_accuracy", truth, predictions, k, threshold)


@_shared
@checked
def set_accuracy(
    truth: Truth, predictions: Predictions, *, k: int = DEFAULT_K, threshold: float | None = None
) -> xr.DataArray:
    """Share of items whose k most plausible labels are the model's k best, in any order.

    {rank_metric}

    See Also
    --------
    top_k_accuracy, overlap, average_overlap

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> score = set_accuracy(dirichlet(given.labels, seed=1), given.predictions, k=2)
    >>> score.mean(("chain", "draw")).values.round(2).tolist()
    [0.47, 0.45, 0.4]
    """
    return over_draws("set_{}_accuracy", truth, predictions, k, threshold)


@_shared
@checked
def overlap(
    truth: Truth, predictions: Predictions, *, k: int = DEFAULT_K, threshold: float | None = None
) -> xr.DataArray:
    """Mean share of the k most plausible labels that are among the model's k best.

    {rank_metric}

    See Also
    --------
    set_accuracy, average_overlap, kendall_tau

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> score = overlap(dirichlet(given.labels, seed=1), given.predictions, k=2)
    >>> score.mean(("chain", "draw")).values.round(2).tolist()
    [0.73, 0.72, 0.69]
    """
    return over_draws("overlap_{}", truth, predictions, k, threshold)


@_shared
@checked
def average_overlap(
    truth: Truth, predictions: Predictions, *, k: int = DEFAULT_K, threshold: float | None = None
) -> xr.DataArray:
    """Mean over j = 1 .. k of the overlap at j, so that the first places weigh most.

    {rank_metric}

    See Also
    --------
    overlap, partial_average_overlap, kendall_tau

    References
    ----------
    .. [1] W. Webber, A. Moffat, J. Zobel, "A similarity measure for indefinite rankings", ACM TOIS 28(4), 2010,
       doi:10.1145/1852102.1852106.

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> score = average_overlap(dirichlet(given.labels, seed=1), given.predictions, k=2)
    >>> score.mean(("chain", "draw")).values.round(2).tolist()
    [0.72, 0.73, 0.65]
    """
    return over_draws("average_overlap_{}", truth, predictions, k, threshold)


@_shared
@checked
def kendall_tau(
    truth: Truth, predictions: Predictions, *, k: int = DEFAULT_K, threshold: float | None = None
) -> xr.DataArray:
    """Agreement in the order of the k best labels: 1 - Kendall distance / its largest value.

    A pair of labels in one of the lists alone counts one half. With k = number of labels this is the share of label
    pairs in the same order, (tau + 1) / 2.

    {rank_metric}

    See Also
    --------
    spearman_footrule, average_overlap

    References
    ----------
    .. [1] R. Fagin, R. Kumar, D. Sivakumar, "Comparing top k lists", SIAM J. Discrete Math. 17, 2003, section 3.1,
       doi:10.1137/S0895480102412856.

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> score = kendall_tau(dirichlet(given.labels, seed=1), given.predictions)
    >>> score.mean(("chain", "draw")).values.round(2).tolist()
    [0.74, 0.74, 0.71]
    """
    return over_draws("kendall_tau_{}", truth, predictions, k, threshold)


@_shared
@checked
def spearman_footrule(
    truth: Truth, predictions: Predictions, *, k: int = DEFAULT_K, threshold: float | None = None
) -> xr.DataArray:
    """Nearness of the k best labels to their places: 1 - Spearman's footrule / its largest value.

    A label that a list lacks has place k + 1.

    {rank_metric}

    See Also
    --------
    kendall_tau, average_overlap

    References
    ----------
    .. [1] R. Fagin, R. Kumar, D. Sivakumar, "Comparing top k lists", SIAM J. Discrete Math. 17, 2003, section 3.2,
       doi:10.1137/S0895480102412856.

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> score = spearman_footrule(dirichlet(given.labels, seed=1), given.predictions)
    >>> score.mean(("chain", "draw")).values.round(2).tolist()
    [0.65, 0.65, 0.6]
    """
    return over_draws("spearman_footrule_{}", truth, predictions, k, threshold)


@_shared
@checked
def per_item(
    truth: Truth, predictions: Predictions, *, metric: str = "top_1_accuracy", threshold: float | None = None
) -> xr.DataArray:
    """Score of each model on each item, averaged over the draws.

    Parameters
    ----------
    {truth, predictions}
    metric
        Name such as ``"top_1_accuracy"`` or ``"average_overlap_3"``.
    {threshold}

    Returns
    -------
    DataArray
        Mean over draws, dims (model, item).

    See Also
    --------
    top_k_accuracy, annotation_certainty

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> score = per_item(dirichlet(given.labels, seed=1), given.predictions, metric="top_1_accuracy")
    >>> score.sel(model="A").values[:6].round(1).tolist()
    [1.0, 1.0, 1.0, 1.0, 0.9, 0.9]
    """
    requested = Metric.named(metric)
    draws, scorer = prepare(requested, truth, predictions, threshold)
    value = np.concatenate([scorer.score(b).item[0] / b.top_label.shape[1] for b in draws.blocks], axis=1)
    coords = {"model": predictions.models, "item": draws.items}
    return xr.DataArray(value, dims=("model", "item"), coords=coords, name=requested.name)
