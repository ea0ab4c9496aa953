"""Uncertainty-adjusted metrics: of single items, and of the items of a risk level (`score` has all others).

Each draw of the plausibilities lambda is one possible truth; a metric is computed against every draw, and the
*distribution over draws* of its mean over the items is the result. With Y_k(lambda) the k most plausible labels of a
draw and C_k the k best labels of a model, top-k accuracy is the share of items with argmax lambda in C_k. The other
metrics of best labels are names for `score`: ``set_3_accuracy``, ``overlap_3``, and
``average_overlap_3``.

A point estimate (`irn`, `vote_shares`, any DataArray with dims item and category) in place of a posterior gives the
plug-in metric as a single draw. Equal scores of a model are ordered by label, and so are equal plausibilities of a
point estimate, but for the top-k accuracies of `score`, where the labels that tie on top share the item.

Source: D. Stutz et al., "Evaluating AI systems under uncertain ground truth", arXiv:2307.02191, section 2.4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import Floats
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, positive_int, shorten
from bayesagree.inference.top_labels import Truth, truth_draws
from bayesagree.io.doors import as_predictions, as_truth
from bayesagree.metrics._scorer import Scorer
from bayesagree.metrics.concordant_pairs import ratio
from bayesagree.metrics.posterior_scores import score
from bayesagree.metrics.records import Mean, Sums
from bayesagree.metrics.registry import Metric
from bayesagree.metrics.values import Drawn, Given, weighted_sum


def per_item(
    truth: Truth, predictions: Predictions, *, metric: str = "accuracy", threshold: float | None = None
) -> xr.DataArray:
    """Score each model on each item, averaged over the draws.

    Parameters
    ----------
    truth
        A posterior of plausibilities (of ratings, with `threshold`), or a point estimate (item, category).
    predictions
        Models to score, on the same items and labels.
    metric
        Name such as ``"accuracy"`` or ``"average_overlap_3"``.
    threshold
        For ratings: the labels are then "below" and "at_or_above".

    Returns
    -------
    DataArray
        Mean over draws, dims (model, item).

    See Also
    --------
    score, annotation_certainty

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(random_seed=1)
    >>> score = per_item(dirichlet(given.labels, random_seed=1), given.predictions, metric="accuracy")
    >>> score.sel(model="A").values[:6].round(1).tolist()
    [1.0, 1.0, 1.0, 1.0, 0.9, 0.9]
    """
    truth = as_truth(truth)
    predictions = as_predictions(predictions, truth)
    requested = Metric.named(metric)
    kind = requested.record.kind
    full = requested.record.against_distribution
    if not isinstance(kind, Mean):
        raise InputError(f"{requested.name} is not a mean over items, so single items have no value")
    draws = truth_draws(truth, requested.depth, threshold=threshold, plausibility=full)
    given = Scorer(predictions.aligned(draws.items, draws.labels), [requested]).given
    value = np.empty((predictions.models.size, draws.items.size))
    for block in draws.blocks:
        drawn = Drawn(block, draws.labels.size)
        for m, row in enumerate(value):
            row[block.items] = kind.value(drawn, given.one(m, block.items), *requested.numbered).mean(axis=1)
    coords = {"model": predictions.models, "item": draws.items}
    return xr.DataArray(value, dims=("model", "item"), coords=coords, name=requested.name)


def accuracy_given_risk(
    truth: xr.DataTree,
    predictions: Predictions,
    risk: Mapping[Any, Any],
    level: Any,
    *,
    k: int = 1,
    threshold: float | None = None,
) -> xr.DataArray:
    """Compute top-k accuracy on the items of a risk level.

    An item has the risk of its most plausible label. The truth is uncertain, and so is which items have this level: in
    each draw those count that are of the level in this draw.

    Parameters
    ----------
    truth
        A posterior of plausibilities (of ratings, with `threshold`), or a point estimate (item, category).
    predictions
        Models to score, on the same items and labels.
    risk, level
        Label to level, numbers or words, and the requested level.
    k
        Size of the model's prediction set.
    threshold
        For ratings: the labels are then "below" and "at_or_above".

    Returns
    -------
    DataArray
        One value per draw, dims (chain, draw, model), as `compare` takes it; NaN where a draw has no such item.

    Raises
    ------
    InputError
        A level that no label has, a label without a level.

    Warns
    -----
    UserWarning
        Draws without an item of the level.

    See Also
    --------
    score, risk_certainty

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(random_seed=1)
    >>> risk = {0: 0, 1: 0, 2: 1, 3: 1}
    >>> score = accuracy_given_risk(dirichlet(given.labels, random_seed=1), given.predictions, risk, 1)
    >>> score.mean(("chain", "draw")).values.round(2).tolist()
    [0.73, 0.73, 0.61]
    """
    predictions = as_predictions(predictions, as_truth(truth))
    top = Metric.named(f"top_{positive_int(k, 'k')}_accuracy")
    at_level = given_risk(top, risk, truth_draws(truth, top.depth, threshold=threshold).labels.tolist())
    if level not in at_level:
        raise InputError(f"risk level {level!r} is not one of {shorten([*at_level])}")
    return score(truth, predictions, at_level[level], threshold=threshold)


def given_risk(metric: Metric, risk: Mapping[Any, Any], labels: Sequence[Any]) -> dict[Any, Metric]:
    """Return for each risk level the mean over the items of this level in the draw, of a metric that is such a mean."""
    kind, found = metric.record.kind, {}
    if not isinstance(kind, Mean) or metric.record.needs == "numbers":
        raise InputError(f"risk= is of labels and means over items, which {metric.name} is not; leave one out")
    if missing := [label for label in labels if np.any(pd.isna(risk.get(label)))]:
        raise InputError(f"no risk level for label {shorten(missing)}; every label needs one")
    for level in dict.fromkeys(risk[label] for label in labels):
        sums = partial(
            _sums_at, kind.value, metric.numbered, [label for label in labels if risk[label] == level]
        )
        record = replace(
            metric.record,
            pattern=f"{metric.record.pattern}_given_risk[{level}]",
            title=f"{metric.record.title} given risk {level}",
            kind=Sums(sums, lambda *at: 2, lambda sums, total, *named: ratio(sums[0], sums[1])),
            undefined=f"no item has risk level {level!r}",
        )
        found[level] = replace(metric, record=record)
    return found


def _sums_at(
    value: Any, numbered: tuple[float, ...], labels: Any, drawn: Drawn, given: Given, weights: Any, n: int
) -> Floats:
    """Sum the values of the items with one of some labels, and count these items."""
    inside = np.isin(given.categories, labels)[drawn.label].astype(float)
    return np.stack([weighted_sum(one, weights) for one in (value(drawn, given, *numbered) * inside, inside)])
