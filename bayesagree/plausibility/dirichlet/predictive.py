"""Predictive checks of the Dirichlet posterior: every annotator draws labels from the item's plausibilities."""

from typing import TYPE_CHECKING

import numpy as np
import scipy as sp
import xarray as xr

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.errors import positive
from bayesagree.inference.predictive import (
    Draws,
    HeldOutScores,
    Observed,
    Pointwise,
    PredictiveRecord,
    Settings,
    as_probabilities,
    draws_of,
)
from bayesagree.plausibility.dirichlet._draws import Prior, prior_shape
from bayesagree.plausibility.dirichlet.model import dirichlet_model

if TYPE_CHECKING:
    import pymc as pm


def _model(labels: Labels, settings: Settings) -> "pm.Model":
    return dirichlet_model(labels, prior=settings.get("prior"))


def observed_labels(labels: Labels) -> Observed:
    """Return the position of the label of each single annotation; counts stand for several annotations."""
    return Observed("label_index", "annotation", labels.label_index[labels.row_of_each()])


def _variables(labels: Labels, posterior: xr.Dataset, settings: Settings) -> Draws:
    return {"plausibility": as_probabilities(draws_of(posterior, "plausibility")["plausibility"])}


def _item_log_likelihood(labels: Labels, posterior: xr.Dataset, settings: Settings) -> Pointwise:
    """Dirichlet-multinomial probability of each item's annotations in their order, shape (1, item)."""
    shape = prior_shape(settings["prior"], labels.categories.size)
    counts = labels.counts()
    n = counts.sum(axis=1)
    log_p = (sp.special.gammaln(counts + shape) - sp.special.gammaln(shape)).sum(axis=1)
    log_p -= sp.special.gammaln(n + shape.sum()) - sp.special.gammaln(shape.sum())
    return Pointwise(labels.items[n > 0], log_p[None, n > 0])


def held_out_scores(labels: Labels, levels: Floats, *, prior: Prior = None) -> HeldOutScores:
    """Score each annotation by the predictive probability that the others of its item give it."""
    shape = prior_shape(prior, labels.categories.size)
    n = labels.counts().astype(float)
    total = n.sum(axis=1)
    scored = total > 1
    log_score, agreement = np.zeros((2, levels.size, len(n)))
    for g, gamma in enumerate(positive(float(level), "reliability", zero=True) for level in levels):
        chance = (gamma * (n - 1) + shape) / (gamma * (total - 1) + shape.sum())[:, None]
        log_score[g] = np.where(scored, (n * np.log(np.where(n > 0, chance, 1.0))).sum(axis=1), 0.0)
        agreement[g] = dirichlet_agreement(gamma * n + shape)
    return HeldOutScores(log_score, np.where(scored, total, 0).astype(int), agreement)


def dirichlet_agreement(shape: Floats) -> Floats:
    """Return E sum_k lambda_k^2 of every item under Dirichlet(shape), shape (item,)."""
    total = shape.sum(axis=1)
    return (shape * (shape + 1)).sum(axis=1) / (total * (total + 1))


PREDICTIVE = PredictiveRecord(_model, observed_labels, _variables, _item_log_likelihood)
