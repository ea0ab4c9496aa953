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
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, as_python, one_of, positive, shorten, warn
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations, as_predictions
from bayesagree.metrics.concordant_pairs import ScoreOrder

AucMethod = Literal["dgt", "sgt", "pgt"]
Multiclass = Literal["one_vs_rest", "hand_till"]
VoteTies = Literal["random", "exclude"]


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
        AUC with dim (model,), with "one_vs_rest" (model, category), NaN where it does not exist.

    Raises
    ------
    InputError
        More than two labels without `multiclass`, repeated annotations, other items, unknown annotators for "sgt".

    Warns
    -----
    UserWarning
        Items without a label or with an excluded tie ("pgt" with a prior keeps them, at 1/2); for "sgt" annotators who
        used one label only, and who have no part in the mean.

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

    _warn_of_uninformative(labels, crowd, method, kept=method == "pgt" and prior > 0)

    def against(k: int, some: pd.DataFrame = crowd) -> Floats:
        if method == "sgt":
            who, given = some["annotator"].to_numpy(), some["label"].to_numpy() == k
            return ScoreOrder(scores[k]).by_annotator(some["item"].to_numpy(), who, given)
        return _by_share(some, k, scores[k], prior, every=some is crowd)

    names = [as_python(name) for name in labels.categories]
    if multiclass == "hand_till":
        pairs = {pair: crowd.loc[crowd["label"].isin(pair)] for pair in combinations(range(n_labels), 2)}
        areas = {
            tuple(names[k] for k in pair): np.mean([against(k, some) for k in pair], axis=0)
            for pair, some in pairs.items()
        }
    elif multiclass == "one_vs_rest":
        areas = {name: against(k) for k, name in enumerate(names)}
    else:
        areas = {None: against(n_labels - 1)}
    if missing := [key for key, values in areas.items() if np.isnan(values).any()]:
        where = "" if missing == [None] else f" for the labels {shorten(missing)}"
        warn(f"no AUC{where}: nobody used both labels, or no items or annotators differ")
    table, coords = np.stack([*areas.values()], axis=1), {"model": predictions.models}
    if multiclass == "one_vs_rest":
        coords |= {"category": labels.categories}
        return xr.DataArray(table, coords, ("model", "category"), "auc", {"method": method})
    return xr.DataArray(pd.DataFrame(table).mean(axis=1), coords, ("model",), "auc", {"method": method})


def _majority(labels: Labels, ties: VoteTies, random_seed: Seed) -> pd.DataFrame:
    """Return one label per item, the one with most votes; items without any, or with an excluded tie, have none."""
    votes = labels.counts()
    best = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    rng = np.random.Generator(np.random.SFC64(seed_sequence(random_seed)))
    coin = np.floor(rng.random(len(votes)) * best.sum(axis=1))
    winner = (best & (np.cumsum(best, axis=1) == coin[:, None] + 1)).argmax(axis=1)
    decided = np.flatnonzero(best.sum(axis=1) == 1 if ties == "exclude" else best.any(axis=1))
    return pd.DataFrame({"item": decided, "annotator": -1, "label": winner[decided], "times": 1})


def _by_share(crowd: pd.DataFrame, label: int, scores: Floats, prior: float, *, every: bool) -> Floats:
    """Compare scores (model, item) with the share of a label among those of an item, smoothed by the prior.

    Items without labels have the share of the prior where `every` item counts.
    """
    item, times, n_items = crowd["item"], crowd["times"], scores.shape[1]
    total = np.bincount(item, times, n_items)
    n_positive = np.bincount(item, times * (crowd["label"] == label), n_items)
    if not 0 < n_positive.sum() < total.sum():  # the prior alone would rank items by their number of labels
        return np.full(len(scores), np.nan)
    mass = total + 2 * prior
    used = np.flatnonzero((mass if every else total) > 0)
    return ScoreOrder(scores[:, used]).graded((n_positive[used] + prior) / mass[used])


def _warn_of_uninformative(labels: Labels, crowd: pd.DataFrame, method: str, *, kept: bool) -> None:
    """Warn of items and annotators that say nothing, or stay at one half."""
    if method == "sgt":
        kinds: Any = crowd.groupby("annotator")["label"].nunique()
        crowd = crowd.loc[crowd["annotator"].isin(kinds.index[kinds > 1])]
        if (idle := np.setdiff1d(np.arange(labels.annotators.size), crowd["annotator"])).size:
            names = shorten(labels.annotators[idle])
            warn(f"{idle.size} annotators used one label only and have no part in the AUC: {names}")
    if (idle := np.setdiff1d(np.arange(labels.items.size), crowd["item"])).size:
        fate = "stay at one half" if kept else "have no part in the AUC"
        warn(f"{idle.size} items without informative labels {fate}: {shorten(labels.items[idle])}")
