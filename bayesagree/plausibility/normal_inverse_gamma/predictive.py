"""Predictive checks of the normal-inverse-gamma posterior: every rating is normal around the mean of its item."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import scipy as sp
import xarray as xr

from bayesagree.annotations import Ratings
from bayesagree.inference.predictive import Draws, Observed, Pointwise, PredictiveRecord, Settings, draws_of
from bayesagree.inference.streams import Seed
from bayesagree.plausibility.normal_inverse_gamma.model import normal_inverse_gamma_model
from bayesagree.plausibility.normal_inverse_gamma.posterior import NormalInverseGamma
from bayesagree.plausibility.normal_inverse_gamma.prior import NormalInverseGammaPrior

if TYPE_CHECKING:
    import pymc as pm


def _prior(settings: Settings) -> NormalInverseGammaPrior | None:
    given = settings.get("prior")
    return NormalInverseGammaPrior(**given) if isinstance(given, dict) else given


def _model(ratings: Ratings, settings: Settings) -> "pm.Model":
    return normal_inverse_gamma_model(ratings, prior=_prior(settings))


def observed_ratings(ratings: Ratings) -> Observed:
    """Return the ratings in units of the scale."""
    return Observed("rating", "annotation", ratings.rating)


def _variables(ratings: Ratings, posterior: xr.Dataset, settings: Settings) -> Draws:
    return draws_of(posterior, "mean", "variance")


def _item_log_likelihood(
    ratings: Ratings, posterior: xr.Dataset, settings: Settings, draws: int, random_seed: Seed
) -> Pointwise:
    """Marginal density of each item's ratings, shape (1, item): the ratio of the constants of posterior and prior."""
    model = NormalInverseGamma(prior=_prior(settings))
    prior, after = model.prior_of(ratings), cast(dict[str, Any], model.problem(ratings))
    n = np.bincount(ratings.item_index, minlength=ratings.items.size)
    log_p = sp.special.gammaln(after["shape"]) - sp.special.gammaln(prior.shape)
    log_p += prior.shape * np.log(prior.scale) - after["shape"] * np.log(after["scale"])
    log_p += (np.log(prior.strength) - np.log(after["strength"]) - n * np.log(2 * np.pi)) / 2
    return Pointwise(ratings.items[n > 0], log_p[None, n > 0])


PREDICTIVE = PredictiveRecord(_model, observed_ratings, _variables, _item_log_likelihood)
