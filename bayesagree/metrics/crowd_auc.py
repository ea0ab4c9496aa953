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

from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, as_python, one_of, positive, shorten, warn
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations, as_predictions
from bayesagree.metrics.concordant_pairs import ScoreOrder, annotator_pairs

AucMethod = Literal["dgt", "sgt", "pgt"]
Multiclass = Literal["one_vs_rest", "hand_till"]
VoteTies = Literal["random", "exclude"]


class Areas(NamedTuple):
    """AUC of each model, shape (model,), and which items and annotators are uninformative."""

    values: Floats
    items: NDArray[np.bool_]
    annotators: NDArray[np.bool_]


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


def auc(
    labels: Labels,
    predictions: Predictions,
    *,
    multiclass: Multiclass | None = None,
    method: AucMethod = "pgt",
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
    prior
        For "pgt": pseudo-labels of each kind added to an item, p_i = (n_i1 + prior) / (n_i + 2 prior): 0.5 is
        Jeffreys-Perks, 1 Laplace, 0 the plain share.
    ties
        For "dgt", an item with a tied vote: a coin thrown once for all models ("random"), or left out ("exclude").
    random_seed
        Decides the coins.

    Returns
    -------
    DataArray
        AUC with dim (model,), with "one_vs_rest" (model, category), NaN where it does not exist. attrs count the
        `uninformative_items`, which have no label or an excluded tie ("pgt" with a prior keeps them, at
        1/2), and, for "sgt", the `uninformative_annotators`, who used one label only and have no part in the mean. A
        warning names them.

    Raises
    ------
    InputError
        More than two labels without `multiclass`, repeated annotations, other items, unknown annotators for "sgt".

    Examples
    --------
    >>> labels = Labels.from_counts([[3, 0], [2, 1], [1, 2], [0, 3]], labels=["no", "yes"])
    >>> scores = {"A": [[0.9, 0.1], [0.7, 0.3], [0.8, 0.2], [0.4, 0.6]]}
    >>> auc(labels, Predictions.from_scores(scores, labels=["no", "yes"])).round(3).item()
    0.833
    >>> labels = Labels.from_counts([[3, 0, 0], [0, 3, 0], [0, 1, 2]], labels=["a", "b", "c"])
    >>> predictions = Predictions.from_labels({"A": ["a", "b", "b"]}, labels=["a", "b", "c"])
    >>> auc(labels, predictions, multiclass="one_vs_rest").round(3).values.tolist()
    [[1.0, 0.833, 0.5]]
    >>> auc(labels, predictions, multiclass="hand_till").round(3).item()
    0.694

    References
    ----------
    Urkullu, Perez, Calvo, algorithms 1 (dgt), 2 (sgt) and 3 (pgt).
    """
    labels = as_annotations(labels, (Labels,), "labels")
    predictions = as_predictions(predictions, labels)
    one_of(method, "method", ("dgt", "sgt", "pgt"))
    one_of(ties, "ties", ("random", "exclude"))
    prior, n_labels = positive(prior, "prior", zero=True), labels.categories.size
    if multiclass is not None:
        one_of(multiclass, "multiclass", ("one_vs_rest", "hand_till"))
    elif n_labels != 2:
        raise InputError(
            f"auc without multiclass= needs two labels, got {n_labels} ({shorten(labels.categories)}); "
            "pass multiclass='one_vs_rest' or 'hand_till'"
        )
    if labels.has_repeats:
        raise InputError(
            "some annotators labelled an item twice; build the labels with duplicates='first' or 'last'"
        )
    if not labels.annotators_known and method == "sgt":
        raise InputError("method='sgt' needs to know who gave each label; these labels are counts")
    columns = {"item": labels.item_index, "annotator": labels.annotator_index}
    crowd = pd.DataFrame(columns | {"label": labels.label_index, "times": labels.count})
    if method == "dgt":
        crowd, prior = _majority(labels, ties, random_seed), 0.0
    scores = label_scores(predictions.on_items(labels.items).aligned(labels.items, labels.categories))

    def against(k: int, some: pd.DataFrame = crowd) -> Areas:
        if method == "sgt":
            return _by_annotator(some, k, scores[k], labels.annotators.size, every=some is crowd)
        return _by_share(some, k, scores[k], prior, every=some is crowd)

    names = [as_python(name) for name in labels.categories]
    if multiclass == "hand_till":
        pairs = {pair: crowd.loc[crowd["label"].isin(pair)] for pair in combinations(range(n_labels), 2)}
        found = {tuple(names[k] for k in pair): [against(k, some) for k in pair] for pair, some in pairs.items()}
    elif multiclass == "one_vs_rest":
        found = {name: [against(k)] for k, name in enumerate(names)}
    else:
        found = {None: [against(n_labels - 1)]}
    table = np.stack([np.mean([area.values for area in areas], axis=0) for areas in found.values()], axis=1)
    _warn_of_no_area([key for key, values in zip(found, table.T) if np.isnan(values).any()])
    lost = max((areas[0] for areas in found.values()), key=lambda area: area.items.sum() + area.annotators.sum())
    attrs = {"method": method} | _uninformative(labels, lost, kept=method == "pgt" and prior > 0)
    coords: dict[str, Any] = {"model": predictions.models}
    if multiclass == "one_vs_rest":
        return xr.DataArray(table, coords | {"category": labels.categories}, ("model", "category"), "auc", attrs)
    exists = ~np.isnan(table)
    mean = np.where(exists, table, 0).sum(axis=1) / np.where(exists.any(axis=1), exists.sum(axis=1), np.nan)
    return xr.DataArray(mean, coords, ("model",), "auc", attrs)


def _majority(labels: Labels, ties: VoteTies, random_seed: Seed) -> pd.DataFrame:
    """Return one label per item, the one with most votes; items without any, or with an excluded tie, have none."""
    votes = labels.counts()
    best = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    rng = np.random.Generator(np.random.SFC64(seed_sequence(random_seed)))
    coin = np.floor(rng.random(len(votes)) * best.sum(axis=1))
    winner = (best & (np.cumsum(best, axis=1) == coin[:, None] + 1)).argmax(axis=1)
    decided = np.flatnonzero(best.sum(axis=1) == 1 if ties == "exclude" else best.any(axis=1))
    return pd.DataFrame({"item": decided, "annotator": -1, "label": winner[decided], "times": 1})


def _by_share(crowd: pd.DataFrame, label: int, scores: Floats, prior: float, *, every: bool) -> Areas:
    """Compare scores (model, item) with the share of a label among those of an item, smoothed by the prior.

    Items without labels have the share of the prior where `every` item counts.
    """
    n_items = scores.shape[1]
    item, times = crowd["item"], crowd["times"]
    total = np.bincount(item, times, n_items)
    n_positive = np.bincount(item, times * (crowd["label"] == label), n_items)
    mass = total + 2 * prior
    used = np.flatnonzero((mass if every else total) > 0)
    values = ScoreOrder.of(scores[:, used]).graded((n_positive[used] + prior) / mass[used])
    if not 0 < n_positive.sum() < total.sum():  # the prior alone would rank items by their number of labels
        values = np.full(len(scores), np.nan)
    return Areas(values, (total == 0) & every, np.zeros(0, bool))


def _by_annotator(crowd: pd.DataFrame, label: int, scores: Floats, n_annotators: int, *, every: bool) -> Areas:
    """Compare scores (model, item) with each annotator's own labels."""
    item, annotator, is_positive = *crowd[["item", "annotator"]].to_numpy().T, crowd["label"].to_numpy() == label
    ignored = annotator_pairs(annotator, is_positive, n_annotators) == 0
    n_labels = np.bincount(item, minlength=scores.shape[1])
    informative = np.bincount(item, ~ignored[annotator], scores.shape[1])
    values = ScoreOrder.of(scores).by_annotator(item, annotator, is_positive)
    return Areas(values, (informative == 0) & (every | (n_labels > 0)), ignored)


def _warn_of_no_area(missing: list[Any]) -> None:
    if missing:
        where = "" if missing == [None] else f" for the labels {shorten(missing)}"
        warn(f"no AUC{where}: nobody used both labels, or no items or annotators differ")


def _uninformative(labels: Labels, lost: Areas, *, kept: bool) -> dict[str, int]:
    """Count uninformative items and annotators, and warn of them."""
    if (n_items := int(lost.items.sum())) > 0:
        fate = "stay at one half" if kept else "have no part in the AUC"
        warn(f"{n_items} items without informative labels {fate}: {shorten(labels.items[lost.items])}")
    if (n_annotators := int(lost.annotators.sum())) > 0:
        names = shorten(labels.annotators[lost.annotators])
        warn(f"{n_annotators} annotators used one label only and have no part in the AUC: {names}")
    return {"uninformative_items": n_items, "uninformative_annotators": n_annotators}
