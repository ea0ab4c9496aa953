"""Votes alone: scores that are right on average, however few the votes.

A metric that is linear in the plausibilities has the same value, on average, with the shares of the
votes in their place. The squared distance of the soft Brier score is too large by the variance of the shares, which two
votes tell.

With a proxy, a guess of the plausibilities of all items, items without votes count too (prediction-powered inference):

    mean over voted items of (term - w proxy term) + w mean over the others of the proxy term,

right on average for any proxy and any weight w. The weight is the one of least variance, cov(term, proxy term) /
((1 + n / N) var(proxy term)) with n items voted and N not: a useless proxy gets weight zero.

Source: A. N. Angelopoulos, J. C. Duchi, T. Zrnic, "PPI++: Efficient Prediction-Powered Inference" (2023),
https://arxiv.org/abs/2311.01453, sections 2 and 6.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, shorten, warn
from bayesagree.inference.item_weights import ItemGroups, ItemWeights
from bayesagree.inference.streams import item_blocks
from bayesagree.metrics._scorer import GroupSums, check_predictions
from bayesagree.metrics.registry import METRICS, Metric
from bayesagree.metrics.values import Given


def vote_scores(
    metric: Metric,
    labels: Labels,
    predictions: Predictions,
    truth_is: str,
    slices: ItemGroups | None,
    weights: ItemWeights,
    proxy: Floats | None,
) -> Floats:
    """Score by the unbiased form: shape (model, sample), or (slice, side, model, sample).

    Items without votes count where there is a proxy, plausibilities of all items, shape (item, category).
    """
    terms = unbiased_terms(metric, labels, predictions, truth_is)
    known = np.isfinite(terms).all(axis=0)
    _warn_of_few_votes(metric, labels, known, with_proxy=proxy is not None)
    powered = np.zeros(terms.shape)
    if proxy is not None:
        powered = terms_against(metric, _given(metric, labels, predictions), proxy)
        powered *= _weight(terms[:, known], powered[:, known], powered[:, ~known])[:, None]
    code = np.zeros(known.size, np.intp) if slices is None else slices.code
    # Of a slice: sums of terms and of weighted proxy terms on voted items, of proxy terms on others; both weights.
    sums = GroupSums(1 if slices is None else slices.names.size, (5, len(terms), weights.n_samples))
    for items in item_blocks(known.size):
        rows = weights.rows(items)
        for group in np.unique(code[items]):
            voted, other = (np.where((code[items] == group) & these[items], 1.0, 0.0) for these in (known, ~known))
            term, guess = np.where(known[items], terms[:, items], 0.0), powered[:, items]
            *summed, some, rest = np.vstack([term * voted, guess * voted, guess * other, voted, other]) @ rows
            totals = [np.broadcast_to(total, (len(terms), weights.n_samples)) for total in (some, rest)]
            sums.add(int(group), np.stack([*np.split(np.array(summed), 3), *totals]), 0.0)
    return sums.scores(lambda s, _: _finish(*s), sliced=slices is not None)


def _finish(term: Floats, near: Floats, far: Floats, voted: Floats, other: Floats) -> Floats:
    """Return the mean of the terms, moved by the proxy on the items without votes, if there are any."""
    score = np.divide(term, voted, out=np.full(term.shape, np.nan), where=voted > 0)
    moved = np.divide(far, other, out=np.zeros(far.shape), where=other > 0) - near / np.where(voted > 0, voted, 1.0)
    return score + np.where(other > 0, moved, 0.0)


def _weight(terms: Floats, near: Floats, far: Floats) -> Floats:
    """Return the weight of the proxy with the least variance of the score, shape (model,)."""
    n, others = terms.shape[1], far.shape[1]
    if n < 2 or others == 0:
        return np.zeros(len(terms))
    pooled = np.concatenate([near, far], axis=1).var(axis=1, ddof=1)
    centred = (terms - terms.mean(axis=1, keepdims=True)) * (near - near.mean(axis=1, keepdims=True))
    covariance = centred.sum(axis=1) / (n - 1)
    return np.divide(covariance, (1 + n / others) * pooled, out=np.zeros(len(terms)), where=pooled > 0)


def _warn_of_few_votes(metric: Metric, labels: Labels, known: NDArray[np.bool_], *, with_proxy: bool) -> None:
    """Name the items whose votes do not suffice; with a proxy those without any are expected to have none."""
    few = ~known & (np.bincount(labels.item_index, minlength=known.size) > 0) if with_proxy else ~known
    if few.any():
        consequence = "count as if they had none" if with_proxy else "do not count"
        warn(
            f"{few.sum()} of {known.size} items have too few votes for {metric.name} and {consequence}: "
            f"{shorten(labels.items[few])}"
        )


def unbiased_terms(metric: Metric, labels: Labels, predictions: Predictions, truth_is: str = "top") -> Floats:
    """Return the unbiased value of each item, shape (model, item); NaN for items with too few votes.

    Raises
    ------
    InputError
        A metric that has no unbiased form.
    """
    record = metric.record
    if record.unbiased and record.against == "label" and truth_is != "sampled":
        raise InputError(
            f"{metric.name} against the most plausible label has no unbiased form for votes: pass truth_is='sampled', "
            "which is a random annotator's label, or score a posterior such as dirichlet(labels)"
        )
    if not record.unbiased:
        known = ", ".join(name for name, r in METRICS.items() if r.unbiased and r.against == "plausibilities")
        raise InputError(
            f"{metric.name} has no unbiased form for votes; score a posterior such as dirichlet(labels), or use one of "
            f"{known}"
        )
    given, votes = _given(metric, labels, predictions), labels.counts().astype(np.float64)
    size = votes.sum(axis=1)
    shares = np.divide(votes, size[:, None], out=np.full(votes.shape, np.nan), where=size[:, None] > 0)
    terms = terms_against(metric, given, shares)
    if not _is_squared(metric):
        return terms
    return terms - np.divide(1 - (shares**2).sum(axis=1), size - 1, out=np.full(size.size, np.nan), where=size > 1)


def terms_against(metric: Metric, given: Given, shares: Floats) -> Floats:
    """Return the value of each item against shares of the labels (item, category), shape (model, item).

    Linear in the shares, but for the soft Brier score.
    """
    if _is_squared(metric):
        return ((given.scores - shares) ** 2).sum(axis=-1)
    kind: Any = metric.record.kind
    return (kind.table(given) * shares).sum(axis=-1)


def _is_squared(metric: Metric) -> bool:
    return metric.record.pattern == "soft_brier"


def _given(metric: Metric, labels: Labels, predictions: Predictions) -> Given:
    """Align the predictions with the labels."""
    aligned = predictions.aligned(labels.items, labels.categories)
    check_predictions(aligned, [metric])
    return Given.of(aligned)
