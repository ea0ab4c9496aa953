"""Predictive checks of common agreement: the same annotators rate the same items again.

Replicates are in units of the scale. Inside the PyMC model a level is its number, 0 for the lowest, and a continuous
rating lies on (0, 1).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesagree._types import Floats, Named
from bayesagree.agreement._phi.posterior import pattern_evidence, precision_of
from bayesagree.agreement._phi.problem import checked_prior, prepare
from bayesagree.agreement.annotator_effects import HYPER
from bayesagree.agreement.model import END_SHARES, OUTRIGHT, build_model
from bayesagree.agreement.phi import common_agreement_model
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError
from bayesagree.inference.predictive import Draws, Observed, Pointwise, PredictiveRecord, Settings, draws_of

if TYPE_CHECKING:
    import pymc as pm


def _options(ratings: Ratings, settings: Settings) -> Named:
    """Return the prior of the item means, its known truths by the names of the items: settings of results are text."""
    truth = settings.get("item_mean", "hierarchical")
    if isinstance(truth, Mapping):
        names = {str(name): name for name in ratings.items.tolist()}
        truth = {names.get(str(name), name): value for name, value in truth.items()}
    effects = settings.get("annotator_effects", "none")
    return {"item_mean": truth, "truth_sd": settings.get("truth_sd"), "annotator_effects": effects}


def _model(ratings: Ratings, settings: Settings) -> "pm.Model":
    options, unit = _options(ratings, settings), ratings.unit()
    outright = settings.get("likelihood") in OUTRIGHT
    if ratings.step is not None:
        return common_agreement_model(ratings, likelihood="inflated" if outright else "binned", **options)
    if outright and not (unit.min() > 0 and unit.max() < 1):
        means = checked_prior(ratings, options["item_mean"], options["truth_sd"], "inflated")
        return build_model(ratings, means, "inflated", "none", {}, binned=False)
    # Replicates of continuous ratings are judgments, not their bins; observed ends have no density, and no part in it.
    low, high = ratings.scale
    inside = np.clip(ratings.rating, np.nextafter(low, high), np.nextafter(high, low))
    return common_agreement_model(replace(ratings, rating=inside), **options)


def _observed(ratings: Ratings) -> Observed:
    return Observed("rating", "annotation", ratings.rating.astype(_kind(ratings)))


def _kind(ratings: Ratings) -> type:
    """Return whole numbers where all levels are: figures of ArviZ count those."""
    return (
        np.int64
        if ratings.step is not None and (np.mod([ratings.step, *ratings.scale], 1) == 0).all()
        else float
    )


def _variables(ratings: Ratings, posterior: xr.Dataset, settings: Settings) -> Draws:
    drawn = draws_of(posterior, "phi", "item_mean")
    low, high = ratings.scale
    others = [*END_SHARES] * (settings.get("likelihood") in OUTRIGHT)
    others += ["annotator_shift"] * ("annotator_shift" in posterior)
    unit = {"phi": drawn["phi"], "unit_item_mean": (drawn["item_mean"] - low) / (high - low)}
    return unit | draws_of(posterior, *others)


def _to_scale(ratings: Ratings, drawn: Draws) -> Draws:
    if ratings.step is not None:
        return drawn | {"rating": drawn["rating"].astype(_kind(ratings))}
    low, high = ratings.scale
    return {name: low + (high - low) * values if name == "rating" else values for name, values in drawn.items()}


def _log_prior(ratings: Ratings, posterior: xr.Dataset, settings: Settings) -> Draws:
    """Log densities of p, logit m, t and the logarithms of standard deviations, each (sample,).

    Of Phi, m and s themselves the prior is uniform: raised to a power it is the same prior, and power-scaling
    would see nothing. These are the scales on which the parameters act.
    """
    # Averaged readings have no density of the shares: they are 0 in one of the two.
    shares = END_SHARES if settings["likelihood"] == "inflated" else ()
    log_2 = np.log(2)
    rate = log_2 / 2
    scales: dict[str, Callable[[Floats], Floats]] = {
        "phi": lambda phi: np.log(rate) - rate * np.asarray(precision_of(phi)),
        "mean_location": lambda m: np.log(m) + np.log1p(-m),
        "mean_spread": lambda s: 3 * np.log(s) - log_2,
        "annotator_shift_sd": lambda sd: np.log(2 * sd) - np.log(2 * np.pi) / 2 - sd**2 / 2,
    }
    # Density of log w / (1 - w) where the root of w is uniform.
    scales |= dict.fromkeys(shares, lambda w: np.log(w) / 2 + np.log1p(-w) - log_2)
    drawn = draws_of(posterior, *(name for name in scales if name in posterior))
    return {name: scales[name](values) for name, values in drawn.items()}


def _item_log_likelihood(ratings: Ratings, posterior: xr.Dataset, settings: Settings) -> Pointwise:
    """Integral over the mean of each item by the quadrature of the exact engine, shape (sample, item)."""
    options = _options(ratings, settings)
    del options["annotator_effects"]
    problem = prepare(ratings, likelihood=settings["likelihood"], **options)
    hierarchical = problem.means.hierarchical
    parameters = draws_of(posterior, "phi", *(HYPER if hierarchical else ()))
    if "annotator_shift" in posterior:
        raise InputError(
            "with annotators' levels the log likelihood is that of the PyMC model: "
            "integrated_log_likelihood(trace, common_agreement_model(ratings, annotator_effects=...))"
        )
    hyper = np.column_stack([parameters[name] for name in HYPER]) if hierarchical else None
    shares = None
    if settings["likelihood"] in OUTRIGHT:
        shares = np.column_stack(list(draws_of(posterior, *END_SHARES).values()))
    of_item = problem.patterns.pattern_of_item
    found = pattern_evidence(problem, np.log(precision_of(parameters["phi"])), hyper, shares)
    return Pointwise(ratings.items[of_item >= 0], found[of_item[of_item >= 0]].T)


PREDICTIVE = PredictiveRecord(_model, _observed, _variables, _item_log_likelihood, _log_prior, _to_scale)
