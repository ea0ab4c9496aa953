"""Log prior densities of shared parameters, for prior sensitivity by power-scaling.

A uniform prior raised to a power is the same prior: on its own scale nothing can be seen. So densities are taken on the
scale on which the parameter acts: precision p instead of Phi, t instead of s, logit m instead of m.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree.agreement._exact.posterior import precision_of
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

type Floats = NDArray[np.float64]
type Parameters = Mapping[str, NDArray[Any]]


def common_agreement_prior(parameters: Parameters) -> dict[str, Floats]:
    """Return log densities of p ~ Exponential(log(2) / 2), logit m ~ Logistic and t ~ Lomax(1/2), each (sample,)."""
    rate = np.log(2) / 2
    found = {"phi": np.log(rate) - rate * np.asarray(precision_of(parameters["phi"]))}
    if "mean_spread" in parameters:
        m, s = parameters["mean_location"], parameters["mean_spread"]
        found |= {"mean_location": np.log(m) + np.log1p(-m), "mean_spread": 3 * np.log(s) - np.log(2)}
    return found


def dawid_skene_prior(parameters: Parameters, variant: str, prior: DawidSkenePrior) -> dict[str, Floats]:
    """Return log densities of prevalence and of the parameters of the annotators, each (sample,)."""
    prevalence, confusion = parameters["prevalence"], parameters["confusion"]
    n_labels = prevalence.shape[1]
    found = {"prevalence": _dirichlet(prevalence, np.full(n_labels, prior.prevalence))}
    base = prior.confusion(n_labels)
    accuracy = np.clip(np.diagonal(confusion, axis1=2, axis2=3).astype(np.float64), 1e-7, 1 - 1e-7)
    if variant in ("hierarchical", "mixed_membership"):
        log_concentration = np.log(parameters["concentration"])
        found["concentration"] = _normal(log_concentration, prior.concentration, prior.concentration_sd).sum(axis=1)
        found["crowd_confusion"] = _dirichlet(parameters["crowd_confusion"], base).sum(axis=1)
        if variant == "mixed_membership":
            found["ambiguity"] = _normal(np.log(parameters["ambiguity"]), prior.ambiguity, prior.ambiguity_sd)
    elif variant == "full":
        found["confusion"] = _dirichlet(confusion, base).sum(axis=(1, 2))
    elif variant == "item_difficulty":
        ability = np.log(accuracy[:, :, 0]) - np.log1p(-accuracy[:, :, 0])
        found["confusion"] = _normal(ability, np.exp(prior.ability), prior.ability_sd).sum(axis=1)
    else:
        coins = accuracy[:, :, :1] if variant == "one_coin" else accuracy
        right, wrong = prior.strength * prior.accuracy, prior.strength * (1 - prior.accuracy)
        density = _dirichlet(np.stack([coins, 1 - coins], axis=-1), np.array([right, wrong]))
        found["confusion"] = density.sum(axis=(1, 2))
    return found


def _dirichlet(value: NDArray[Any], shape: Floats) -> Floats:
    """Return the log density of each Dirichlet vector along the last axis."""
    log_value = np.log(np.maximum(value.astype(np.float64), 1e-300))
    constant = sp.special.gammaln(shape.sum(axis=-1)) - sp.special.gammaln(shape).sum(axis=-1)
    return constant + ((shape - 1) * log_value).sum(axis=-1)


def _normal(value: Floats, median: float, sd: float) -> Floats:
    """Return the log density of logarithms around that of a median."""
    return -0.5 * ((value - np.log(median)) / sd) ** 2 - np.log(sd * np.sqrt(2 * np.pi))
