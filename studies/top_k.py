"""Best labels beyond `score`: top-k accuracy without Monte-Carlo error and against k labels, and orders of labels.

Source: D. Stutz et al., "Evaluating AI systems under uncertain ground truth", arXiv:2307.02191, section 2.4.
"""

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, positive_int
from bayesagree.inference.top_labels import Truth, truth_draws
from bayesagree.metrics.posterior_scores import score_array
from bayesagree.metrics.registry import Metric
from bayesagree.plausibility.certainty import label_certainty


def expected_top_k_accuracy(
    truth: xr.DataTree, predictions: Predictions, *, k: int = 1, threshold: float | None = None
) -> xr.DataArray:
    """Posterior mean of the top-k accuracy, without Monte-Carlo error.

    The sum over the model's k best labels of their exact certainty, averaged over items.

    Parameters
    ----------
    truth
        A posterior with a closed form: `dirichlet`, `prirn`, or `normal_inverse_gamma` with `threshold`.
    predictions
        Models to score, on the same items and labels.
    k
        Size of the model's prediction set.
    threshold
        For ratings: the labels are then "below" and "at_or_above".

    Returns
    -------
    DataArray
        Expected accuracy (model).

    See Also
    --------
    score, label_certainty

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(random_seed=1)
    >>> score = expected_top_k_accuracy(dirichlet(given.labels, random_seed=1), given.predictions)
    >>> score.values.round(2).tolist()
    [0.72, 0.73, 0.62]
    """
    certainty = label_certainty(truth, exact=True, threshold=threshold)
    aligned = predictions.aligned(np.asarray(certainty["item"]), np.asarray(certainty["category"]))
    top = aligned.top_labels(positive_int(k, "k"))
    mass = np.take_along_axis(certainty.values[None], np.maximum(top, 0).astype(np.int64), axis=2)
    value = np.where(top >= 0, mass, 0.0).sum(axis=2).mean(axis=1)
    return xr.DataArray(value, dims="model", coords={"model": predictions.models}, name=f"top_{k}_accuracy")


def top_k_in_top_m(
    truth: Truth,
    predictions: Predictions,
    *,
    k: int = 2,
    m: int = 3,
    whole: bool = False,
    threshold: float | None = None,
) -> xr.DataArray:
    """Mean share of the k most plausible labels that are among the model's m best.

    With k = 1 it is ``top_m_accuracy``, with k = m ``overlap_k``, and with ``whole`` and k = m ``set_k_accuracy``.

    Parameters
    ----------
    truth
        A posterior of plausibilities (of ratings, with `threshold`), or a point estimate (item, category).
    predictions
        Models to score, on the same items and labels.
    k, m
        Number of best labels of the draw, and of the model.
    whole
        Count an item only where all k labels are among the m.
    threshold
        For ratings: the labels are then "below" and "at_or_above".

    Returns
    -------
    DataArray
        One value per draw, between 0 and 1, dims (chain, draw, model).

    Raises
    ------
    InputError
        Other items or labels than those of the truth, fewer labels than k or m.

    See Also
    --------
    score

    References
    ----------
    .. [1] D. Stutz et al., arXiv:2307.02191, section 2.4, a target set against a prediction set of another size.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> from bayesagree.plausibility.votes import shared_wins
    >>> vote = shared_wins(Labels.from_counts([[3, 1, 0], [0, 2, 3]]))
    >>> models = Predictions.from_scores({"A": [[0.7, 0.1, 0.2], [0.1, 0.2, 0.7]]})
    >>> top_k_in_top_m(vote, models, k=2, m=1).values.tolist()
    [[[0.5]]]
    """
    draws = truth_draws(truth, positive_int(k, "k"), threshold=threshold)
    best = predictions.aligned(draws.items, draws.labels).top_labels(positive_int(m, "m"))
    if max(k, m) > draws.labels.size:
        raise InputError(f"k={k} and m={m}: there are {draws.labels.size} labels")
    total = np.zeros((len(best), draws.chains * draws.draws))
    for block in draws.blocks:
        wanted = block.top_label[..., :k]
        for model, sets in enumerate(best[:, block.items]):
            found = (wanted[..., None] == sets[:, None, None, :]).any(axis=-1)
            total[model] += (found.all(axis=-1) if whole else found.mean(axis=-1)).sum(axis=0)
    sizes, like = (draws.chains, draws.draws), Metric.named("accuracy")
    found = score_array(total / draws.items.size, like, predictions, sizes, None)
    return found.rename(f"top_{k}_in_top_{m}")


def kendall_tau(plausibilities: Floats, scores: Floats, k: int = 3) -> float:
    """How far the order of the k best labels agrees (Kendall, penalty 1/2): 1 for the same order, 0 at most apart.

    For `score`: ``UserMetric(kendall_tau, "plausibilities")``.

    References
    ----------
    .. [1] R. Fagin, R. Kumar, D. Sivakumar, Comparing top k lists, SIAM J. Discrete Math. 17, 2003,
       doi:10.1137/S0895480102412856, sections 3.1 and 3.2.
    """
    places = _places(plausibilities, k), _places(scores, k)
    above = [np.sign(place[:, :, None] - place[:, None]) for place in places]
    listed = [(place[:, :, None] < k) & (place[:, None] < k) for place in places]
    crossed = above[0] * above[1] < 0
    one_list_only = (listed[0] & (above[1] == 0)) | (listed[1] & (above[0] == 0))
    own = np.eye(scores.shape[1], dtype=bool)
    distance = (crossed + one_list_only / 2)[:, ~own].sum(axis=1) / 2
    shared = max(0, 2 * k - scores.shape[1])
    alone = k - shared
    largest = alone**2 + alone * (alone - 1) / 2 + shared * (shared - 1) / 2 + 2 * shared * alone
    return float(1 - distance.mean() / max(largest, 1))


def spearman_footrule(plausibilities: Floats, scores: Floats, k: int = 3) -> float:
    """How near the k best labels are to their places (Spearman): 1 for the same places; see `kendall_tau`."""
    moved = np.abs(_places(plausibilities, k) - _places(scores, k)).sum(axis=1)
    ordered = np.minimum(np.arange(scores.shape[1]), k)
    largest = np.abs(ordered - ordered[::-1]).sum()
    return float(1 - moved.mean() / max(largest, 1))


def _places(values: Floats, k: int) -> NDArray[np.intp]:
    """Return the place of each label, k where it is not among the k best, (item, label); ties in label order."""
    return np.minimum(np.argsort(np.argsort(-values, axis=1, kind="stable"), axis=1, kind="stable"), k)
