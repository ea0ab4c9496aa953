"""Predictive checks of the Dirichlet posteriors: every annotator draws labels from the item's plausibilities.

PrIRN has no sampling model of rankings, and so no replicates. Its reliability curve lets the annotator draw labels
without replacement, which is Plackett-Luce given the plausibilities.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.predictive import (
    Draws,
    HeldOutRecord,
    HeldOutScores,
    Observed,
    Pointwise,
    PredictiveRecord,
    Settings,
    as_probabilities,
    draws_of,
)
from bayesagree._inference.streams import Seed
from bayesagree._numerics.codes import distinct
from bayesagree._numerics.types import Floats
from bayesagree.annotations import Labels, Rankings
from bayesagree.errors import positive
from bayesagree.plausibility.dirichlet._draws import Prior, prior_shape
from bayesagree.plausibility.dirichlet.inverse_rank_normalization import PRIOR, Ties, inverse_ranks
from bayesagree.plausibility.dirichlet.posterior import dirichlet_model
from bayesagree.plausibility.plackett_luce._held_out import races_log_probability

if TYPE_CHECKING:
    import pymc as pm


GRID = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Half a decade apart, and from hardly any weight to hardly any prior."""


def _model(labels: Labels, settings: Settings) -> "pm.Model":
    return dirichlet_model(labels, prior=settings.get("prior"))


def observed_labels(labels: Labels) -> Observed:
    """Return the position of the label of each single annotation; counts stand for several annotations."""
    return Observed("label_index", "annotation", np.repeat(labels.label_index, labels.count))


def _variables(labels: Labels, posterior: xr.Dataset, settings: Settings) -> Draws:
    return {"plausibility": as_probabilities(draws_of(posterior, "plausibility")["plausibility"])}


def _item_log_likelihood(
    labels: Labels, posterior: xr.Dataset, settings: Settings, draws: int, seed: Seed
) -> Pointwise:
    """Dirichlet-multinomial probability of each item's annotations in their order, shape (1, item)."""
    shape = prior_shape(settings["prior"], labels.categories.size)
    counts = labels.counts()
    n = counts.sum(axis=1)
    log_p = (sp.special.gammaln(counts + shape) - sp.special.gammaln(shape)).sum(axis=1)
    log_p -= sp.special.gammaln(n + shape.sum()) - sp.special.gammaln(shape.sum())
    return Pointwise(labels.items[n > 0], log_p[None, n > 0])


def _labels_held_out(
    labels: Labels, levels: Floats, *, seed: np.random.SeedSequence, prior: Prior = None
) -> HeldOutScores:
    shape = prior_shape(prior, labels.categories.size)
    n_items = labels.items.size
    cell, at = distinct(labels.item_index.astype(np.int64) * shape.size + labels.label_index, n_items * shape.size)
    item, label = np.divmod(cell, shape.size)
    n = np.bincount(at, weights=labels.count)
    total = np.bincount(item, weights=n, minlength=n_items)
    scored = total > 1
    log_score, agreement = np.zeros((2, levels.size, n_items))
    for g, gamma in enumerate(positive(float(level), "reliability", zero=True) for level in levels):
        chance = (gamma * (n - 1) + shape[label]) / (gamma * (total[item] - 1) + shape.sum())
        log_score[g] = np.where(scored, np.bincount(item, weights=n * np.log(chance), minlength=n_items), 0.0)
        agreement[g] = _dirichlet_agreement(item, label, gamma * n, shape, gamma * total)
    return HeldOutScores(log_score, np.where(scored, total, 0).astype(np.int64), agreement, np.zeros(levels.size))


def _dirichlet_agreement(
    item: NDArray[Any], label: NDArray[Any], weight: Floats, shape: Floats, total: Floats
) -> Floats:
    """Return E sum_k lambda_k^2 of every item under Dirichlet(weight + shape), shape (item,)."""
    alpha = shape[label] + weight
    gain = alpha * (alpha + 1) - shape[label] * (shape[label] + 1)
    square = np.bincount(item, weights=gain, minlength=total.size) + (shape * (shape + 1)).sum()
    all_of_it = total + shape.sum()
    return square / (all_of_it * (all_of_it + 1))


def _rankings_held_out(
    rankings: Rankings,
    levels: Floats,
    *,
    seed: np.random.SeedSequence,
    prior: Prior = PRIOR,
    ties: Ties = "split",
) -> HeldOutScores:
    shape = prior_shape(prior, rankings.categories.size)
    own, ranking = inverse_ranks(rankings, ties=ties), rankings.ranking_index()
    item = rankings.item_index[ranking].astype(np.int64)
    n = np.bincount(rankings.item_index, minlength=rankings.items.size)
    cell, at = np.unique(item * shape.size + rankings.label_index, return_inverse=True)
    label_total = np.bincount(at, weights=own)
    item_total = np.bincount(item, weights=own, minlength=n.size)
    # The others' inverse ranks of the labels that each annotator names, normalised; none for an annotator alone.
    rest = item_total[item] - np.bincount(ranking, weights=own)[ranking]
    alone = n[item] < 2
    others = np.where(alone, 0.0, np.maximum(label_total[at] - own, 0.0) / np.where(alone, 1.0, rest))
    gamma = np.array([positive(float(level), "reliability", zero=True) for level in levels])[:, None]
    named = gamma * others + shape[rankings.label_index]
    unnamed = gamma + shape.sum() - np.add.reduceat(named, rankings.start[:-1], axis=1)
    value = np.empty((levels.size, rankings.n_annotations))
    races_log_probability(named, np.maximum(unnamed, 0.0), rankings.start, rankings.block, value)
    scored = np.where(n > 1, n, 0)
    log_score = np.stack([np.bincount(rankings.item_index, weights=row, minlength=n.size) for row in value])
    irn = label_total / item_total[cell // shape.size]
    agreement = [
        _dirichlet_agreement(*np.divmod(cell, shape.size), g * irn, shape, np.full(n.size, g)) for g in gamma[:, 0]
    ]
    return HeldOutScores(np.where(scored > 0, log_score, 0.0), scored, np.stack(agreement), np.zeros(levels.size))


PREDICTIVE = PredictiveRecord(_model, observed_labels, _variables, _item_log_likelihood)
LABELS_HELD_OUT = HeldOutRecord(_labels_held_out, GRID)
RANKINGS_HELD_OUT = HeldOutRecord(_rankings_held_out, GRID)
