"""Votes alone: scores that are right on average, however few the votes.

A metric that is linear in the plausibilities has the same value, on average, with the shares of the votes in their
place. The squared distance of the soft Brier score is too large by the variance of the shares, which two votes tell.
"""

from typing import Any

import numpy as np

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, shorten, warn
from bayesagree.inference.item_weights import ItemGroups, ItemWeights
from bayesagree.inference.streams import item_blocks
from bayesagree.metrics._checks import check_predictions
from bayesagree.metrics._scorer import by_slice
from bayesagree.metrics.concordant_pairs import ratio
from bayesagree.metrics.registry import METRICS, Metric
from bayesagree.metrics.values import Given


def vote_scores(
    metric: Metric,
    labels: Labels,
    predictions: Predictions,
    truth_is: str,
    slices: ItemGroups | None,
    weights: ItemWeights,
) -> Floats:
    """Score by the unbiased form: shape (model, sample), or (slice, side, model, sample)."""
    terms = unbiased_terms(metric, labels, predictions, truth_is)
    known = np.isfinite(terms).all(axis=0)
    if not known.all():
        warn(
            f"{(~known).sum()} of {known.size} items have too few votes for {metric.name} and do not count: "
            f"{shorten(labels.items[~known])}"
        )
    terms = np.where(known, terms, 0.0)
    code, n = (np.zeros(known.size, np.intp), 1) if slices is None else (slices.code, slices.names.size)
    total, weight = np.zeros((n, len(terms), weights.n_samples)), np.zeros((n, weights.n_samples))
    for items in item_blocks(known.size):
        rows = weights.rows(items) * known[items, None]
        for group in np.unique(code[items]):
            inside = code[items] == group
            total[group] += terms[:, items][:, inside] @ rows[inside]
            weight[group] += rows[inside].sum(axis=0)

    def mean(some: Any) -> Floats:
        return ratio(total[some].sum(axis=0), weight[some].sum(axis=0))

    return mean(slice(None)) if slices is None else by_slice(mean, n)


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
            "which is a random annotator's label, or evaluate(), which draws the truth"
        )
    if not record.unbiased:
        known = ", ".join(name for name, r in METRICS.items() if r.unbiased and r.against == "plausibilities")
        raise InputError(
            f"{metric.name} has no unbiased form for votes; call evaluate(), which draws the truth, or use one of "
            f"{known}"
        )
    aligned = predictions.aligned(labels.items, labels.categories)
    check_predictions(aligned, [metric])
    given, votes = Given.of(aligned), labels.counts().astype(np.float64)
    size = votes.sum(axis=1)
    shares = np.divide(votes, size[:, None], out=np.full(votes.shape, np.nan), where=size[:, None] > 0)
    if record.pattern != "soft_brier":
        kind: Any = record.kind
        return (kind.table(given) * shares).sum(axis=-1)
    spare = np.divide(1 - (shares**2).sum(axis=1), size - 1, out=np.full(size.size, np.nan), where=size > 1)
    return ((given.scores - shares) ** 2).sum(axis=-1) - spare
