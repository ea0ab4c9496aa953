"""Replicates and log likelihoods of the group models, annotator by annotator given the mean of the group.

They are drawn here and not by PyMC, whose compilation takes seconds for what are two calls of NumPy, and there is one
model of them for every system that is evaluated.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.predictive import Draws, Observed, draws_of
from bayesagree._numerics.types import Floats
from bayesagree.errors import InputError
from bayesagree.subjective.group_model import GroupCounts
from bayesagree.subjective.normal_model import annotator_values

type OfGroups = GroupCounts | xr.Dataset


@dataclass(frozen=True)
class GroupChecks:
    """Annotations of one system's annotators, their log likelihood and replicates, each (sample, annotator)."""

    observed: Observed
    log_likelihood: Floats
    replicate: Callable[[np.random.Generator], NDArray[Any]]


def group_checks(given: OfGroups, posterior: xr.Dataset, model: str | None) -> GroupChecks:
    """Return the checks of one system, the only one where none is named."""
    names = posterior["model"].values.astype(str).tolist()
    if model is None and len(names) > 1:
        raise InputError(f"name one of the models with model=: {', '.join(names)}")
    if model is not None and model not in names:
        raise InputError(f"model={model!r} is not one of {', '.join(names)}")
    which = 0 if model is None else names.index(model)
    of_one = posterior.isel(model=which)
    return _values(given, of_one, which) if isinstance(given, xr.Dataset) else _agreements(given, of_one, which)


def _values(given: xr.Dataset, posterior: xr.Dataset, which: int) -> GroupChecks:
    """Values that are normal around the mean of the group."""
    found, drawn = annotator_values(given), draws_of(posterior, "performance", "within_sd")
    value, mean, sd = found.values[which], drawn["performance"][:, found.group], drawn["within_sd"][:, None]
    return GroupChecks(
        Observed("value", "annotator", value),
        -np.log(sd) - np.log(2 * np.pi) / 2 - ((value - mean) / sd) ** 2 / 2,
        lambda rng: mean + sd * rng.standard_normal(mean.shape),
    )


def _agreements(given: GroupCounts, posterior: xr.Dataset, which: int) -> GroupChecks:
    """Numbers of agreements, beta-binomial around the mean of the group."""
    kept, drawn = given.total[which] > 0, draws_of(posterior, "performance", "within_spread")
    agree, total, mean = given.agree[which, kept], given.total[which, kept], drawn["performance"][:, given.group[kept]]
    a, b = _shapes(drawn, mean)
    return GroupChecks(
        Observed("agree", "annotator", agree),
        # The logarithm of the binomial coefficient, and the ratio of beta functions.
        -np.log(total + 1.0) - sp.special.betaln(agree + 1, total - agree + 1)
        + sp.special.betaln(agree + a, total - agree + b) - sp.special.betaln(a, b),
        lambda rng: rng.binomial(total, rng.beta(a, b)),
    )  # fmt: skip


def _shapes(drawn: Draws, mean: Floats) -> tuple[Floats, Floats]:
    """Beta shapes of the annotators' rates; floats end where a spread of 1 has its two camps."""
    phi = drawn["within_spread"][:, None] ** -2.0 - 1
    mean = np.clip(mean, 1e-12, 1 - 1e-12)
    return np.maximum(mean * phi, 1e-300), np.maximum((1 - mean) * phi, 1e-300)
