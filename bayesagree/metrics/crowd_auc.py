"""Area under the curve (AUC) without ground truth, by three definitions of the truth.

======  ==============================  =====================================================================
method  the truth is                    AUC against
======  ==============================  =====================================================================
dgt     one label per item              the majority of the item's labels
sgt     each annotator's own            the labels of each annotator, averaged by number of labels
pgt     a probability per item          the smoothed share of positive labels (`concordance`)
======  ==============================  =====================================================================

Of more than two labels each has an area of its own, against all others together.

Source: Urkullu, Perez, Calvo: On the evaluation and selection of classifier learning algorithms with crowdsourced
data, section 3.
"""

from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import Array, Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, one_of, place_of, positive, shorten, warn
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations, as_predictions
from bayesagree.metrics.concordant_pairs import ScoreOrder

AucMethod = Literal["dgt", "sgt", "pgt"]
VoteTies = Literal["random", "exclude"]


def crowd_scores(labels: Labels, predictions: Predictions) -> tuple[Labels, Array, Floats]:
    """Read labels and models, and return them with the score of each label for the labelled items.

    Scores have shape (label, model, item); hard labels become 0 and 1.
    """
    labels = as_annotations(labels, (Labels,), "labels")
    predictions = as_predictions(predictions, labels)
    if labels.has_repeats:
        raise InputError(
            "some annotators labelled an item twice; build the labels with duplicates='first' or 'last'"
        )
    predictions = predictions.on_items(labels.items).aligned(labels.items, labels.categories)
    if predictions.scores is None:
        hard = predictions.hard_labels()
        for model, item in np.argwhere(hard < 0)[:1]:
            where = place_of(model=predictions.models[model], item=predictions.items[item])
            raise InputError(
                f"{where}: no label; the AUC needs a score or a label for every item: drop the others"
            )
        scores = hard == np.arange(labels.categories.size)[:, None, None]
    else:
        scores = np.moveaxis(predictions.scores, -1, 0)
    return labels, predictions.models, scores.astype(float)


def auc(
    labels: Labels,
    predictions: Predictions,
    *,
    method: AucMethod = "pgt",
    prior: float = 0.5,
    ties: VoteTies = "random",
    random_seed: Seed = None,
) -> xr.DataArray:
    """Compute the area under the curve (AUC) of each model from crowd labels.

    The AUC is the probability that a model scores a positive item above a negative one, equal scores counting one
    half. The last of two labels is the positive one; of more than two each is in turn, against all others together.
    Scores are those of the positive label; hard labels count as scores 0 and 1.

    Parameters
    ----------
    labels
        Crowd labels, at most one per item and annotator.
    predictions
        Models; items that nobody labelled have no part, but in "pgt" with a prior.
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
        AUC with dim (model,), of more than two labels (model, category), NaN where it does not exist.

    Raises
    ------
    InputError
        Repeated annotations, other items, unknown annotators for "sgt".

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
    >>> auc(labels, predictions).round(3).values.tolist()
    [[1.0, 0.833, 0.5]]

    References
    ----------
    Urkullu, Perez, Calvo, algorithms 1 (dgt), 2 (sgt) and 3 (pgt).
    """
    labels, models, scores = crowd_scores(labels, predictions)
    one_of(method, "method", ("dgt", "sgt", "pgt"))
    one_of(ties, "ties", ("random", "exclude"))
    prior = positive(prior, "prior", zero=True)
    if not labels.annotators_known and method == "sgt":
        raise InputError("method='sgt' needs to know who gave each label; these labels are counts")
    columns = {"item": labels.item_index, "annotator": labels.annotator_index}
    crowd = pd.DataFrame(columns | {"label": labels.label_index, "times": labels.count})
    if method == "dgt":
        crowd, prior = _majority(labels, ties, random_seed), 0.0
    _warn_of_uninformative(labels, crowd, method, kept=method == "pgt" and prior > 0)

    def against(k: int) -> Floats:
        if method == "sgt":
            who = crowd["annotator"].to_numpy()
            given = crowd["label"].to_numpy() == k
            return ScoreOrder(scores[k]).by_annotator(crowd["item"].to_numpy(), who, given)
        return _by_share(crowd, k, scores[k], prior)

    if (names := labels.categories).size == 2:
        names = names[1:]
    table = np.stack([against(k) for k in range(labels.categories.size)[-names.size :]], axis=1)
    if (missing := np.isnan(table).any(axis=0)).any():
        where = "" if names.size == 1 else f" for the labels {shorten(names[missing])}"
        warn(f"no AUC{where}: nobody used both labels, or no items or annotators differ")
    coords = {"model": models, "category": names}
    found = xr.DataArray(table, coords, ("model", "category"), "auc", {"method": method})
    return found if names.size > 1 else found.isel(category=0, drop=True)


def _majority(labels: Labels, ties: VoteTies, random_seed: Seed) -> pd.DataFrame:
    """Return one label per item, the one with most votes; items without any, or with an excluded tie, have none."""
    votes = labels.counts()
    best = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    rng = np.random.Generator(np.random.SFC64(seed_sequence(random_seed)))
    coin = np.floor(rng.random(len(votes)) * best.sum(axis=1))
    winner = (best & (np.cumsum(best, axis=1) == coin[:, None] + 1)).argmax(axis=1)
    decided = np.flatnonzero(best.sum(axis=1) == 1 if ties == "exclude" else best.any(axis=1))
    return pd.DataFrame({"item": decided, "annotator": -1, "label": winner[decided], "times": 1})


def _by_share(crowd: pd.DataFrame, label: int, scores: Floats, prior: float) -> Floats:
    """Compare scores (model, item) with the share of a label among those of an item, smoothed by the prior."""
    item = crowd["item"]
    times = crowd["times"]
    n_items = scores.shape[1]
    total = np.bincount(item, times, n_items)
    n_positive = np.bincount(item, times * (crowd["label"] == label), n_items)
    if not 0 < n_positive.sum() < total.sum():  # the prior alone would rank items by their number of labels
        return np.full(len(scores), np.nan)
    mass = total + 2 * prior
    used = np.flatnonzero(mass > 0)
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
