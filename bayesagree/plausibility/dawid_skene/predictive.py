"""Predictive checks of the Dawid-Skene family: the annotators label the same items again.

The PyMC model of the posterior sums the true labels out; here they are variables, so that labels can be drawn again.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy as sp
import xarray as xr

from bayesagree.annotations import Labels
from bayesagree.errors import InputError, shorten
from bayesagree.inference.predictive import (
    Draws,
    Observed,
    Pointwise,
    PredictiveRecord,
    Settings,
    as_probabilities,
    draws_of,
    prior_density,
)
from bayesagree.plausibility.dawid_skene._crowd import VARIANTS
from bayesagree.plausibility.dawid_skene.model import Given, dawid_skene_model, labels_model
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

if TYPE_CHECKING:
    import pymc as pm


def _variant_and_prior(settings: Settings) -> tuple[str, DawidSkenePrior]:
    variant = settings.get("variant", "full")
    if variant not in VARIANTS:
        raise InputError(
            f"variant={variant!r} has no one model that annotators' labels could be drawn from; "
            f"fit one of {shorten(VARIANTS, 9)}"
        )
    prior = settings.get("prior") or {}
    return variant, prior if isinstance(prior, DawidSkenePrior) else DawidSkenePrior(**prior)


def sampling_model(labels: Labels, settings: Settings) -> "pm.Model":
    """Build the PyMC model with one categorical ``truth`` per item and one observed ``label_index`` per annotation."""
    variant, prior = _variant_and_prior(settings)
    if variant.startswith("mixed"):
        return dawid_skene_model(labels, variant=variant, prior=prior)

    def ending(labels: Labels, prior: DawidSkenePrior, given: Given, prevalence: Any, rows: Any) -> None:
        import pymc as pm
        import pytensor.tensor as pt

        truth: Any = pm.Categorical("truth", prevalence, dims="item")
        one_hot: Any = pt.eye(labels.categories.size)
        pm.Deterministic("plausibility", one_hot[truth], dims=("item", "category"))
        chance = rows[given.annotator, truth[given.item]]
        pm.Categorical("label_index", p=chance, observed=given.label, dims="annotation")

    return labels_model(labels, variant, prior, ending)


def _observed(labels: Labels) -> Observed:
    return Observed("label_index", "annotation", labels.label_index)


def _variables(labels: Labels, posterior: xr.Dataset, settings: Settings) -> Draws:
    variant, _ = _variant_and_prior(settings)
    drawn = draws_of(posterior, "plausibility", "confusion")
    confusion = as_probabilities(drawn["confusion"])
    if variant.startswith("mixed"):
        return {"plausibility": as_probabilities(drawn["plausibility"]), "confusion": confusion}
    return {"truth": drawn["plausibility"].argmax(axis=2), "confusion": confusion}


def _log_prior(labels: Labels, posterior: xr.Dataset, settings: Settings) -> Draws:
    """Return the log density of what items share; a population that the result has no draws of is left out."""
    variant, _ = _variant_and_prior(settings)
    shared = [n for n in ("concentration", "crowd_confusion") if n in posterior]
    drawn = draws_of(posterior, "prevalence", "confusion", *shared)
    for name in {"prevalence", "confusion", "crowd_confusion"} & drawn.keys():
        drawn[name] = as_probabilities(drawn[name])
    names = ["prevalence", *shared]
    if variant in ("one_coin", "class_conditional"):
        accuracy = np.clip(np.diagonal(drawn.pop("confusion"), axis1=2, axis2=3), 1e-7, 1 - 1e-7)
        accuracy = accuracy[:, :, 0] if variant == "one_coin" else accuracy
        drawn["right"], names = np.stack([accuracy, 1 - accuracy], axis=-1), [*names, "right"]
    elif variant == "full":
        names.append("confusion")
    return prior_density(sampling_model(labels, settings), drawn, names)


def _item_log_likelihood(labels: Labels, posterior: xr.Dataset, settings: Settings) -> Pointwise:
    """Sum over the true label, shape (sample, item)."""
    variant, _ = _variant_and_prior(settings)
    if variant.startswith("mixed"):
        raise InputError(
            f"variant={variant!r} has no log likelihood of an item in closed form: sums over the latent labels of "
            "all annotations; fit 'full' or 'hierarchical'"
        )
    item, start = np.unique(labels.item_index, return_index=True)
    out = []
    for prevalence, confusion in zip(*draws_of(posterior, "prevalence", "confusion").values()):
        chance = confusion[labels.annotator_index, :, labels.label_index].astype(np.float64)
        joint = np.add.reduceat(np.log(np.maximum(chance, 1e-300)), start) + np.log(prevalence)
        out.append(sp.special.logsumexp(joint, axis=1))
    return Pointwise(labels.items[item], np.stack(out))


PREDICTIVE = PredictiveRecord(sampling_model, _observed, _variables, _item_log_likelihood, _log_prior)
