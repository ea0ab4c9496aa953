"""Area under the curve (AUC) without ground truth, by three definitions of the truth.

======  ==============================  =====================================================================
method  the truth is                    AUC against
======  ==============================  =====================================================================
dgt     one label per item              the majority of the item's labels
sgt     each annotator's own            the labels of each annotator, averaged by number of labels
pgt     a probability per item          the smoothed share of positive labels (`concordance`)
======  ==============================  =====================================================================

Source: Urkullu, Perez, Calvo: On the evaluation and selection of classifier learning algorithms with crowdsourced
data, section 3. More than two labels: Hand and Till, A simple generalisation of the area under the ROC curve (2001).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, as_python, one_of, positive, shorten, warn
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations, as_predictions
from bayesagree.metrics.concordant_pairs import AnnotatorLabels, ScoreOrder

type AucMethod = Literal["dgt", "sgt", "pgt"]
type Multiclass = Literal["one_vs_rest", "hand_till"]
type VoteTies = Literal["random", "redrawn", "exclude"]


@dataclass(frozen=True)
class AucOptions:
    """How crowd labels become an AUC; see `auc` for the meaning of each field."""

    method: AucMethod
    weights: Mapping[Any, float] | None
    prior: float
    ties: VoteTies

    def checked(self) -> "AucOptions":
        """Return the same options, or refuse a choice that does not exist."""
        one_of(self.method, "method", ("dgt", "sgt", "pgt"))
        one_of(self.ties, "ties", ("random", "redrawn", "exclude"))
        return replace(self, prior=positive(self.prior, "prior", zero=True))


@dataclass(frozen=True)
class Areas:
    """AUC of each model, shape (model,), with the items and annotators that are uninformative."""

    values: Floats
    uninformative_items: NDArray[Any]
    uninformative_annotators: NDArray[Any]


type Compare = Callable[[Labels, Floats, AucOptions], dict[Any, Areas]]


def against_truth(
    labels: Labels, predictions: Predictions, options: AucOptions, random_seed: Seed, compare: Compare
) -> dict[Any, Areas]:
    """Check the input, let the crowd vote where the method needs it, and compare."""
    if labels.has_repeats:
        raise InputError("some annotators labelled an item twice; build the labels with duplicates='first' or 'last'")
    if not labels.annotators_known and (options.method == "sgt" or options.weights is not None):
        raise InputError("method='sgt' and weights need to know who gave each label; these labels are counts")
    scores = label_scores(predictions.on_items(labels.items).aligned(labels.items, labels.categories))
    if options.method != "dgt":
        return compare(labels, scores, options)
    rng = np.random.Generator(np.random.SFC64(seed_sequence(random_seed)))
    counted = replace(options, method="pgt", weights=None, prior=0.0)
    if options.ties != "redrawn":
        return compare(_vote(labels, options, rng), scores, counted)
    parts = [compare(_vote(labels, options, rng), scores[:, [m]], counted) for m in range(scores.shape[1])]
    joined = {key: np.concatenate([part[key].values for part in parts]) for key in parts[0]}
    return {key: replace(parts[0][key], values=values) for key, values in joined.items()}


def label_scores(predictions: Predictions) -> Floats:
    """Return the score of each label, shape (label, model, item); hard labels become 0 and 1."""
    if predictions.scores is not None:
        return np.moveaxis(predictions.scores, -1, 0).astype(np.float64)
    hard = predictions.hard_labels()
    if (hard < 0).any():
        model, item = (int(i) for i in np.argwhere(hard < 0)[0])
        raise InputError(
            f"model {as_python(predictions.models[model])!r} gave item {as_python(predictions.items[item])!r} no label "
            f"({int((hard < 0).sum())} such gaps in all); the AUC needs a score or a label for every item"
        )
    return (hard == np.arange(predictions.categories.size)[:, None, None]).astype(np.float64)


def _row_weights(labels: Labels, weights: Mapping[Any, float] | None) -> Floats:
    return labels.count.astype(np.float64) * annotator_weights(labels, weights)[labels.annotator_index]


def annotator_weights(labels: Labels, weights: Mapping[Any, float] | None) -> Floats:
    """Return the weight of each annotator, shape (annotator,); a single 1 where annotators are unknown."""
    if weights is None:
        return np.ones(max(labels.annotators.size, 1))
    missing = [as_python(name) for name in labels.annotators if as_python(name) not in weights]
    if missing:
        raise InputError(f"weights name no weight for {shorten(missing)}; every annotator needs one (0 leaves one out)")
    return np.array(
        [positive(weights[as_python(name)], f"weights[{as_python(name)!r}]", zero=True) for name in labels.annotators]
    )


def _vote(labels: Labels, options: AucOptions, rng: np.random.Generator) -> Labels:
    """Return one label per item, the one with most votes; items without any, or with an excluded tie, have none."""
    n_items, n_labels = labels.items.size, labels.categories.size
    cell = labels.item_index.astype(np.int64) * n_labels + labels.label_index
    weight = _row_weights(labels, options.weights)
    votes = np.bincount(cell, weights=weight, minlength=n_items * n_labels).reshape(n_items, n_labels)
    best = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    coin = np.floor(rng.random(n_items) * best.sum(axis=1))
    winner = (best & (np.cumsum(best, axis=1) == coin[:, None] + 1)).argmax(axis=1)
    decided = best.sum(axis=1) == 1 if options.ties == "exclude" else best.any(axis=1)
    return _one_label_each(labels, np.flatnonzero(decided), winner[decided])


def _one_label_each(labels: Labels, item: NDArray[Any], label: NDArray[Any]) -> Labels:
    unknown, once = np.broadcast_to(np.int32(-1), item.shape), np.broadcast_to(np.int64(1), item.shape)
    nobody, rows = np.empty(0, dtype="<U1"), (item.astype(np.int32), unknown, label.astype(np.int32), once)
    return Labels(labels.items, nobody, labels.categories, *rows, labels.ordered)


def areas(labels: Labels, is_positive: NDArray[np.bool_], scores: Floats, options: AucOptions) -> Areas:
    """Compare scores (model, item) with labels of which some are positive, by annotator or by their share."""
    if options.method == "sgt":
        return _by_annotator(labels, is_positive, scores, options)
    n_items, weight = labels.items.size, _row_weights(labels, options.weights)
    total = np.bincount(labels.item_index, weights=weight, minlength=n_items)
    n_positive = np.bincount(labels.item_index, weights=weight * is_positive, minlength=n_items)
    mass = total + 2 * options.prior
    used = np.flatnonzero(mass > 0)
    share = (n_positive[used] + options.prior) / mass[used]
    values = ScoreOrder.of(scores[:, used]).graded(share)
    if not 0 < n_positive.sum() < total.sum():  # the prior alone would rank items by their number of labels
        values = np.full(len(scores), np.nan)
    return Areas(values, labels.items[total == 0], labels.annotators[:0])


def _by_annotator(labels: Labels, is_positive: NDArray[np.bool_], scores: Floats, options: AucOptions) -> Areas:
    rows = AnnotatorLabels(labels.item_index, labels.annotator_index, is_positive, labels.annotators.size)
    weights = annotator_weights(labels, options.weights)
    ignored = (rows.pairs() == 0) | (weights == 0)
    unlabelled = np.bincount(labels.item_index, weights=~ignored[labels.annotator_index], minlength=labels.items.size)
    values = ScoreOrder.of(scores).by_annotator(rows, weights)
    return Areas(values, labels.items[unlabelled == 0], labels.annotators[ignored])


def auc(
    labels: Labels,
    predictions: Predictions,
    *,
    multiclass: Multiclass | None = None,
    method: AucMethod = "pgt",
    weights: Mapping[Any, float] | None = None,
    prior: float = 0.5,
    ties: VoteTies = "random",
    random_seed: Seed = None,
) -> xr.DataArray:
    """Compute the area under the curve (AUC) of each model from crowd labels; the last label is the positive one.

    The AUC is the probability that a model scores a positive item above a negative one, equal scores counting one
    half. Scores are those of the positive label; hard labels count as scores 0 and 1.

    Parameters
    ----------
    labels
        Crowd labels, at most one per item and annotator.
    predictions
        Models; items that nobody labelled have no part.
    multiclass
        For more than two labels. ``"one_vs_rest"``: the AUC of each label against all others together.
        ``"hand_till"``: Hand and Till's M, the mean over pairs of labels of the AUC of k against l by the score of k,
        and of l against k by the score of l, on the annotations of k or l; a pair that no model can be compared
        on has no part in the mean (a warning names it). "dgt" votes among all labels first.
    method
        Truth that the labels define, see the table of this module: ``"pgt"``, ``"dgt"`` or ``"sgt"``.
    weights
        Weight of each annotator's labels, by name; by default all are 1.
    prior
        For "pgt": pseudo-labels of each kind added to an item, p_i = (n_i1 + prior) / (n_i + 2 prior): 0.5 is
        Jeffreys-Perks, 1 Laplace, 0 the plain share.
    ties
        For "dgt", an item with a tied vote: a coin thrown once for all models ("random"), a coin thrown for each model,
        as published, which adds noise to every comparison ("redrawn"), or left out ("exclude").
    random_seed
        Decides the coins.

    Returns
    -------
    DataArray
        AUC with dim (model,), with "one_vs_rest" (model, category), NaN where it does not exist. attrs count the
        `uninformative_items`, which have no label, no weight or an excluded tie ("pgt" with a prior keeps them, at
        1/2), and, for "sgt", the `uninformative_annotators`, who used one label only and have no part in the mean. A
        warning names them.

    Raises
    ------
    InputError
        More than two labels without `multiclass`, repeated annotations, other items, unknown annotators for "sgt" or
        `weights`.

    Examples
    --------
    >>> labels = Labels.from_counts([[3, 0], [2, 1], [1, 2], [0, 3]], labels=["no", "yes"])
    >>> scores = {"A": [[0.9, 0.1], [0.7, 0.3], [0.8, 0.2], [0.4, 0.6]]}
    >>> auc(labels, Predictions.from_scores(scores, labels=["no", "yes"])).round(3).item()
    0.833
    >>> labels = Labels.from_counts([[3, 0, 0], [0, 3, 0], [0, 1, 2]], labels=["a", "b", "c"])
    >>> predictions = Predictions.from_labels({"A": ["a", "b", "b"]}, labels=["a", "b", "c"])
    >>> auc(labels, predictions, multiclass="one_vs_rest").values.tolist()
    [[1.0, 0.8333333333333334, 0.5]]
    >>> auc(labels, predictions, multiclass="hand_till").round(3).item()
    0.694

    References
    ----------
    Urkullu, Perez, Calvo, algorithms 1 (dgt), 2 (sgt) and 3 (pgt).
    """
    labels = as_annotations(labels, (Labels,), "labels")
    predictions = as_predictions(predictions, labels)
    if multiclass is not None:
        one_of(multiclass, "multiclass", ("one_vs_rest", "hand_till"))
    elif labels.categories.size != 2:
        raise InputError(
            f"auc without multiclass= needs two labels, got {labels.categories.size} ({shorten(labels.categories)}); "
            "pass multiclass='one_vs_rest' or 'hand_till'"
        )
    options = AucOptions(method, weights, prior, ties).checked()
    found = against_truth(labels, predictions, options, random_seed, _COMPARED[multiclass])
    attrs = {"method": method} | _uninformative(found, options)
    table = np.stack([area.values for area in found.values()], axis=1)
    coords: dict[str, Any] = {"model": predictions.models}
    if multiclass == "one_vs_rest":
        return xr.DataArray(table, coords | {"category": labels.categories}, ("model", "category"), "auc", attrs)
    exists = ~np.isnan(table)
    mean = np.where(exists, table, 0).sum(axis=1) / np.where(exists.any(axis=1), exists.sum(axis=1), np.nan)
    return xr.DataArray(mean, coords, ("model",), "auc", attrs)


def _last_label(labels: Labels, scores: Floats, options: AucOptions) -> dict[Any, Areas]:
    return {None: areas(labels, labels.label_index == labels.categories.size - 1, scores[-1], options)}


def _each_label(labels: Labels, scores: Floats, options: AucOptions) -> dict[Any, Areas]:
    return {
        as_python(name): areas(labels, labels.label_index == k, scores[k], options)
        for k, name in enumerate(labels.categories)
    }


def _each_pair(labels: Labels, scores: Floats, options: AucOptions) -> dict[Any, Areas]:
    """Compare each pair of labels on the annotations of either."""
    found = {}
    for k, m in combinations(range(labels.categories.size), 2):
        rows = np.flatnonzero((labels.label_index == k) | (labels.label_index == m))
        here, item = np.unique(labels.item_index[rows], return_inverse=True)
        pair = replace(
            labels,
            items=labels.items[here],
            item_index=item.astype(np.int32),
            annotator_index=labels.annotator_index[rows],
            label_index=labels.label_index[rows],
            count=labels.count[rows],
        )
        one, other = (areas(pair, pair.label_index == c, scores[c][:, here], options) for c in (k, m))
        names = as_python(labels.categories[k]), as_python(labels.categories[m])
        found[names] = replace(one, values=(one.values + other.values) / 2)
    return found


_COMPARED: dict[str | None, Compare] = {None: _last_label, "one_vs_rest": _each_label, "hand_till": _each_pair}


def _uninformative(found: dict[Any, Areas], options: AucOptions) -> dict[str, int]:
    """Count uninformative items and annotators, and warn of them and of areas that do not exist."""
    kept = options.method == "pgt" and options.prior > 0
    missing = [key for key, area in found.items() if np.isnan(area.values).any()]
    if missing:
        where = "" if missing == [None] else f" for the labels {shorten(missing)}"
        warn(f"no AUC{where}: nobody used both labels, or no items or annotators differ")
    counts = {}
    for name, why, fate in (
        ("items", "without informative labels", "stay at one half" if kept else "have no part in the AUC"),
        ("annotators", "used one label only or have weight 0 and", "have no part in the AUC"),
    ):
        of_key = {key: getattr(area, f"uninformative_{name}") for key, area in found.items()}
        key, uninformative = max(of_key.items(), key=lambda pair: pair[1].size)
        counts[f"uninformative_{name}"] = uninformative.size
        if uninformative.size:
            place = "" if key is None else f" (labels {key!r})"
            warn(f"{uninformative.size} {name} {why} {fate}{place}: {shorten(uninformative)}")
    return counts
