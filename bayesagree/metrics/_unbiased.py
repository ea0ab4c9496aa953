"""Unbiased forms: scores from the votes alone that are right on average, however few votes an item has.

A metric that is linear in the plausibilities has the same value, on average, with the shares of the votes in their
place. The squared distance of the soft Brier score is too large by the variance of the shares, which two votes tell.
"""

import warnings

import numpy as np
from numpy.typing import NDArray

from bayesagree._inference.streams import item_blocks
from bayesagree.annotations import Labels
from bayesagree.errors import InputError, shorten
from bayesagree.metrics._block_sums import GroupSums
from bayesagree.metrics._item_groups import ItemGroups, ItemWeights
from bayesagree.metrics._label_records import SMALLEST
from bayesagree.metrics._parts import Given, check_needs
from bayesagree.metrics.registry import METRICS, Metric
from bayesagree.predictions import Predictions

type Floats = NDArray[np.float64]


def vote_sums(
    metric: Metric,
    labels: Labels,
    predictions: Predictions,
    truth_is: str,
    slices: ItemGroups | None,
    weights: ItemWeights,
) -> GroupSums:
    """Sum the unbiased form of a metric over weighted items of each slice."""
    terms = unbiased_terms(metric, labels, predictions, truth_is)
    known = np.isfinite(terms).all(axis=0)
    if not known.all():
        warnings.warn(
            f"{(~known).sum()} of {known.size} items have too few votes for {metric.name} and do not count: "
            f"{shorten(labels.items[~known])}",
            UserWarning,
            stacklevel=4,
        )
    code = np.zeros(known.size, np.intp) if slices is None else slices.code
    n_samples = weights.n_samples
    sums = GroupSums(1 if slices is None else slices.names.size, (1, len(terms), n_samples))
    for items in item_blocks(known.size):
        rows = weights.rows(items)
        for group in np.unique(code[items]):
            inside = (code[items] == group) & known[items]
            sums.add(int(group), (terms[:, items][:, inside] @ rows[inside])[None], rows[inside].sum(axis=0))
    return sums


def unbiased_terms(metric: Metric, labels: Labels, predictions: Predictions, truth_is: str = "top") -> Floats:
    """Return the unbiased value of each item, shape (model, item); NaN for items with too few votes.

    Raises
    ------
    InputError
        A metric that has no unbiased form.
    """
    record = metric.record
    if not record.unbiased or (record.family == "label" and truth_is != "sampled"):
        known = ", ".join(name for name, r in METRICS.items() if r.unbiased)
        more = "against the most plausible label " if record.unbiased else ""
        raise InputError(
            f"{metric.name} {more}has no unbiased form for votes; score a posterior of the plausibilities, such as "
            f"dirichlet(labels), or use one of {known} (truth_is='sampled' where the truth is a label)"
        )
    aligned = predictions.aligned(labels.items, labels.categories)
    check_needs(aligned, [metric])
    given, votes = Given.of(aligned), labels.counts().astype(np.float64)
    size = votes.sum(axis=1)
    shares = np.divide(votes, size[:, None], out=np.full(votes.shape, np.nan), where=size[:, None] > 0)
    if record.family == "label":
        return (record.kernel(given.hard, given.scores, labels.categories.size) * shares).sum(axis=-1)
    if record.pattern == "agreement":
        hit = np.take_along_axis(shares[None], np.maximum(given.hard, 0)[:, :, None].astype(np.int64), axis=2)[:, :, 0]
        return np.where(given.hard >= 0, hit, 0.0 * hit)
    if record.pattern == "cross_entropy":
        return -(np.log(np.clip(given.scores, SMALLEST, 1.0)) * shares).sum(axis=-1)
    noise = np.divide(1 - (shares**2).sum(axis=1), size - 1, out=np.full(size.size, np.nan), where=size > 1)
    return ((given.scores - shares) ** 2).sum(axis=-1) - noise
