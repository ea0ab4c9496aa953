"""Predictive draws from the package's PyMC models, and the record of the functions that a model offers to checks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from bayesagree._types import Array, Floats, Integers
from bayesagree.errors import InputError
from bayesagree.inference.cells import row_shares
from bayesagree.inference.streams import Seed, seed_sequence

if TYPE_CHECKING:
    import pymc as pm

# Draws by name of the variable; the first axis is the sample (chain x draw).
Draws = dict[str, Array]
Settings = Mapping[str, Any]


class Observed(NamedTuple):
    """Name, dimension and values of the annotations, one value each, in the order in which they are replicated."""

    name: str
    dim: str
    values: Array


class Pointwise(NamedTuple):
    """Names of the items with annotations, and their log likelihood for each draw, shape (sample or 1, item)."""

    items: Array
    log_likelihood: Floats


@dataclass(frozen=True)
class PredictiveRecord:
    """Functions by which predictive checks know a model of annotations.

    Attributes
    ----------
    model
        (annotations, settings) -> PyMC model of prior and annotations, at reliability 1.
    observed
        annotations -> `Observed`; its name is that of the variable of `model`.
    variables
        (annotations, posterior, settings) -> draws of those variables of `model` on which annotations depend.
    item_log_likelihood
        (annotations, posterior, settings) -> `Pointwise`, the item's own parameters integrated out.
    log_prior
        (annotations, posterior, settings) -> log prior densities of the parameters that items share, each (sample,).
    to_scale
        (annotations, draws of `model`) -> the same draws in the units of the annotations.
    """

    model: Callable[[Any, Settings], "pm.Model"]
    observed: Callable[[Any], Observed]
    variables: Callable[[Any, xr.Dataset, Settings], Draws]
    item_log_likelihood: Callable[[Any, xr.Dataset, Settings], Pointwise]
    log_prior: Callable[[Any, xr.Dataset, Settings], Draws] = lambda annotations, posterior, settings: {}
    to_scale: Callable[[Any, Draws], Draws] = lambda annotations, drawn: drawn


class HeldOutScores(NamedTuple):
    """Contributions of the items to a reliability curve.

    Attributes
    ----------
    log_score
        Sum over the item's annotators of the log probability of their annotation given those of the others, shape
        (reliability, item).
    scored
        Number of those annotators, shape (item,): 0 for an item with one annotator.
    agreement
        Probability that two other annotators agree, shape (reliability, item).
    """

    log_score: Floats
    scored: Integers
    agreement: Floats


# (annotations, reliabilities, **options) -> scores.
HeldOut = Callable[..., HeldOutScores]


def draws_of(posterior: xr.Dataset, *names: str) -> Draws:
    """Return draws of the named variables, chains after each other."""
    missing = [name for name in names if name not in posterior]
    if missing:
        raise InputError(
            f"the result has no draws of {missing[0]!r}; {_WAY_OUT.get(missing[0], 'draw them again')}"
        )
    return {name: posterior[name].values.reshape(-1, *posterior[name].shape[2:]) for name in names}


_WAY_OUT = {
    "plausibility": "keep full plausibilities (no top_labels)",
    "confusion": "pass confusion=True to dawid_skene",
    "item_mean": "pass keep_item_means=True to common_agreement",
}


def replicate(model: "pm.Model", drawn: Draws, name: str, random_seed: Seed) -> Array:
    """Return draws of the variable `name` given draws of others, shape (sample, annotation), by PyMC."""
    return _given(model, drawn, [model[name]], random_seed)[0]


def prior_draws(model: "pm.Model", name: str, draws: int, random_seed: Seed) -> Draws:
    """Return draws of all variables of a model and of the annotations `name` from the prior, by PyMC."""
    import pymc as pm

    names = sorted({v.name for v in (*model.free_RVs, *model.deterministics)} | {name})
    # Of one draw PyMC leaves out the axis.
    found = pm.draw([model[n] for n in names], max(draws, 2), random_seed=_word(random_seed))
    return {n: values[:draws] for n, values in zip(names, found)}


def prior_density(model: "pm.Model", drawn: Draws, names: list[str]) -> Draws:
    """Return the log prior density of each named variable, summed over its elements, shape (sample,), by PyMC."""
    import pymc as pm

    each: list[Any] = [pm.logp(model[name], model[name], warn_rvs=False) for name in names]
    return dict(zip(names, _given(model, drawn, [one.sum() for one in each])))


def _given(model: "pm.Model", drawn: Draws, wanted: list[Any], random_seed: Seed = None) -> list[Array]:
    """Return what a model makes of draws of some of its variables, (sample, ...) of each of those wanted."""
    import pymc as pm

    drawn = {
        name: values.astype(model[name].dtype) for name, values in drawn.items() if name in model.named_vars
    }
    known = [model[name] for name in drawn]
    function: Any = pm.compile(known, wanted, random_seed=_word(random_seed), on_unused_input="ignore")
    return [np.stack(part) for part in zip(*(function(*row) for row in zip(*drawn.values())))]


def as_probabilities(values: Array) -> Floats:
    """Return positive vectors that add up to one along the last axis: draws are kept in single precision."""
    positive = np.maximum(values.astype(np.float64), np.finfo(np.float64).tiny)
    return row_shares(positive)


def _word(random_seed: Seed) -> int:
    return int(seed_sequence(random_seed).generate_state(1)[0])
