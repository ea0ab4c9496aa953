"""Predictive checks of the Dawid-Skene family: the annotators label the same items again.

The PyMC model of the posterior sums the true labels out; here they are variables, so that labels can be drawn again.
"""

from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.errors import InputError, shorten
from bayesagree.inference.multisets import run_starts
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
from bayesagree.inference.streams import Seed
from bayesagree.plausibility.dawid_skene.model import coordinates_of_model, dawid_skene_model, log_chance, votes_data
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

if TYPE_CHECKING:
    import pymc as pm


# Numbers in memory at once while the truth is summed out: 32 MB.
CELLS = 4_000_000
# Beyond so many states of the latent labels of one item the exact sum takes minutes.
MOST_STATES = 100_000

# Variables of the PyMC model that items share, beside the prevalence, by variant.
HYPERPARAMETERS = {
    "full": ("confusion",),
    "one_coin": ("right",),
    "class_conditional": ("right",),
    "hierarchical": ("concentration", "crowd_confusion"),
    "mixed_membership": ("concentration", "crowd_confusion", "ambiguity"),
}


def _variant_and_prior(settings: Settings) -> tuple[str, DawidSkenePrior]:
    variant = settings.get("variant", "full")
    if variant not in HYPERPARAMETERS:
        raise InputError(
            f"variant={variant!r} has no one model that annotators' labels could be drawn from; "
            f"fit one of {shorten(HYPERPARAMETERS, 9)}"
        )
    prior = settings.get("prior") or {}
    return variant, prior if isinstance(prior, DawidSkenePrior) else DawidSkenePrior(**prior)


def sampling_model(labels: Labels, settings: Settings) -> "pm.Model":
    """Build the PyMC model with one categorical ``truth`` per item and one observed ``label_index`` per annotation."""
    import pymc as pm
    import pytensor.tensor as pt

    variant, prior = _variant_and_prior(settings)
    if variant == "mixed_membership":
        return dawid_skene_model(labels, variant=variant, prior=prior)
    n_labels, who = labels.categories.size, labels.annotator_index
    with pm.Model(coords=coordinates_of_model(labels)) as model:
        prevalence = pm.Dirichlet("prevalence", np.full(n_labels, prior.prevalence), dims="category")
        log_chance(votes_data(labels), labels, variant, prior)  # adds the variables of the annotators
        truth: Any = pm.Categorical("truth", prevalence, dims="item")
        one_hot: Any = pt.eye(n_labels)
        pm.Deterministic("plausibility", one_hot[truth], dims=("item", "category"))
        of_annotation = truth[labels.item_index]
        confusion: Any = model["confusion"]
        pm.Categorical("label_index", p=confusion[who, of_annotation], observed=labels.label_index, dims="annotation")
    return model


def _observed(labels: Labels) -> Observed:
    return Observed("label_index", "annotation", labels.label_index)


def _variables(labels: Labels, posterior: xr.Dataset, settings: Settings) -> Draws:
    variant, _ = _variant_and_prior(settings)
    drawn = draws_of(posterior, "plausibility", "confusion")
    confusion = as_probabilities(drawn["confusion"])
    if variant == "mixed_membership":
        return {"plausibility": as_probabilities(drawn["plausibility"]), "confusion": confusion}
    return {"truth": drawn["plausibility"].argmax(axis=2), "confusion": confusion}


def _log_prior(labels: Labels, posterior: xr.Dataset, settings: Settings) -> Draws:
    variant, _ = _variant_and_prior(settings)
    shared = HYPERPARAMETERS[variant]
    drawn = draws_of(posterior, "prevalence", "confusion", *(n for n in shared if n in posterior and n != "confusion"))
    for name in {"prevalence", "confusion", "crowd_confusion"} & drawn.keys():
        drawn[name] = as_probabilities(drawn[name])
    if "right" in shared:
        accuracy = np.clip(np.diagonal(drawn.pop("confusion"), axis1=2, axis2=3), 1e-7, 1 - 1e-7)
        drawn["right"] = accuracy[:, :, 0] if variant == "one_coin" else accuracy
    return prior_density(sampling_model(labels, settings), drawn, ["prevalence", *shared])


def _item_log_likelihood(
    labels: Labels, posterior: xr.Dataset, settings: Settings, draws: int, random_seed: Seed
) -> Pointwise:
    """Sum over the true label, or over plausibilities, shape (sample, item)."""
    variant, _ = _variant_and_prior(settings)
    parameters = draws_of(posterior, "prevalence", "confusion")
    if variant == "mixed_membership":
        return _mixed_membership_items(labels, parameters | draws_of(posterior, "ambiguity"))
    start = run_starts(labels.item_index)[:-1]
    samples = len(parameters["prevalence"])
    out = np.empty((samples, start.size))
    size = max(1, CELLS // (labels.item_index.size * labels.categories.size))
    for cut in range(0, samples, size):
        some = slice(cut, cut + size)
        log_prevalence = _log(parameters["prevalence"][some])
        confusion = parameters["confusion"][some]
        chance = _log(confusion[:, labels.annotator_index, :, labels.label_index])
        joint = np.add.reduceat(np.moveaxis(chance, 0, 1), start, axis=1) + log_prevalence[:, None]
        out[some] = np.asarray(sp.special.logsumexp(joint, axis=2))
    return Pointwise(labels.items[labels.item_index[start]], out)


def _mixed_membership_items(labels: Labels, parameters: Draws) -> Pointwise:
    start = run_starts(labels.item_index)
    most, n_labels = int(np.diff(start).max()), labels.categories.size
    if (most + 1) ** (n_labels - 1) > MOST_STATES:
        raise InputError(
            f"an item has {most} annotations of {n_labels} labels: too many latent labels to sum over; "
            "the log likelihood of variant='mixed_membership' is for small sets"
        )
    out = np.empty((len(parameters["prevalence"]), start.size - 1))
    names = ("prevalence", "ambiguity", "confusion")
    prevalence, ambiguity, confusion = (parameters[name].astype(np.float64) for name in names)
    given = start, labels.annotator_index, labels.label_index
    latent_labels_log_probability(prevalence, ambiguity, confusion, *given, out)
    return Pointwise(labels.items[labels.item_index[start[:-1]]], out)


@numba.njit(cache=True, nogil=True)
def latent_labels_log_probability(prevalence, ambiguity, confusion, start, annotator, label, out):
    """Sum over the latent label of each annotation: those of an item come from a Polya urn, ambiguity x prevalence.

    The state after t annotations is the number of latent labels of each kind (all but the last, in base n + 1).
    """
    n_labels = prevalence.shape[1]
    for i in range(start.size - 1):
        base = start[i + 1] - start[i] + 1
        places = np.empty(n_labels, np.int64)
        for k in range(n_labels):
            places[k] = base**k
        places[n_labels - 1] = 0
        n_states = base ** (n_labels - 1)
        for s in range(out.shape[0]):
            mass = np.zeros(n_states)
            mass[0] = 1.0
            for t in range(base - 1):
                new = np.zeros(n_states)
                chance = confusion[s, annotator[start[i] + t], :, label[start[i] + t]]
                for state in range(n_states):
                    if mass[state] == 0.0:
                        continue
                    rest, last = state, t
                    for k in range(n_labels):
                        count = rest % base if k < n_labels - 1 else last
                        rest, last = rest // base, last - count
                        weight = ambiguity[s] * prevalence[s, k] + count
                        new[state + places[k]] += mass[state] * weight / (ambiguity[s] + t) * chance[k]
                mass = new
            out[s, i] = np.log(mass.sum())


def _log(probability: NDArray[Any]) -> Floats:
    return np.log(np.maximum(probability.astype(np.float64), 1e-300))


PREDICTIVE = PredictiveRecord(sampling_model, _observed, _variables, _item_log_likelihood, _log_prior)
