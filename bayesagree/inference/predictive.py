"""Predictive draws from the package's PyMC models, and the record of the functions that a model offers to checks."""

import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree.errors import InputError
from bayesagree.inference.streams import Seed, seed_sequence

if TYPE_CHECKING:
    import pymc as pm

# Draws by name of the variable; the first axis is the sample (chain x draw).
Draws = dict[str, NDArray[Any]]
Settings = Mapping[str, Any]


class Observed(NamedTuple):
    """Name, dimension and values of the annotations, one value each, in the order in which they are replicated."""

    name: str
    dim: str
    values: NDArray[Any]


class Pointwise(NamedTuple):
    """Names of the items with annotations, and their log likelihood for each draw, shape (sample or 1, item)."""

    items: NDArray[Any]
    log_likelihood: NDArray[np.float64]


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

    log_score: NDArray[np.float64]
    scored: NDArray[np.int64]
    agreement: NDArray[np.float64]


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


def replicate(model: "pm.Model", drawn: Draws, name: str, random_seed: Seed) -> NDArray[Any]:
    """Return draws of the variable `name` given draws of others, shape (sample, annotation), by PyMC."""
    import pymc as pm

    drawn = {key: values for key, values in drawn.items() if key in model.named_vars}
    points = [dict(zip(drawn, map(np.asarray, row))) for row in zip(*drawn.values())]
    with _quiet():
        found: Any = pm.sample_posterior_predictive(
            points,
            model,
            var_names=[name],
            freeze_vars=list(drawn),
            random_seed=_word(random_seed),
            progressbar=False,
            return_inferencedata=False,
        )
    return found[name].reshape(len(points), -1)


def prior_draws(model: "pm.Model", name: str, draws: int, random_seed: Seed) -> Draws:
    """Return draws of all variables of a model and of the annotations `name` from the prior, by PyMC."""
    import pymc as pm

    names = {v.name for v in (*model.free_RVs, *model.deterministics)} | {name}
    with _quiet():
        found: Any = pm.sample_prior_predictive(
            draws, model, var_names=sorted(names), random_seed=_word(random_seed), return_inferencedata=False
        )
    return found


def prior_density(model: "pm.Model", drawn: Draws, names: list[str]) -> Draws:
    """Return the log prior density of each named variable, summed over its elements, shape (sample,), by PyMC."""
    from pymc.stats import compute_log_prior

    n = len(next(iter(drawn.values())))
    # PyMC asks for draws of all variables, also of those whose density is not wanted.
    others = {v.name: v for v in model.free_RVs if v.name not in drawn}
    values = drawn | {
        k: np.broadcast_to(np.zeros((), v.dtype), (n, *v.shape.eval())) for k, v in others.items()
    }
    data = {
        k: (("chain", "draw", *(f"{k}_{i}" for i in range(v.ndim - 1))), v[None]) for k, v in values.items()
    }
    tree: Any = xr.DataTree.from_dict({"/posterior": xr.Dataset(data)})
    found: Any = compute_log_prior(
        tree, var_names=names, model=model, extend_inferencedata=False, progressbar=False
    )
    return {name: found[name].values.reshape(n, -1).sum(axis=1) for name in names}


def as_probabilities(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return positive vectors that add up to one along the last axis: draws are kept in single precision."""
    positive = np.maximum(values.astype(np.float64), np.finfo(np.float64).tiny)
    return positive / positive.sum(axis=-1, keepdims=True)


def _word(random_seed: Seed) -> int:
    return int(seed_sequence(random_seed).generate_state(1)[0])


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence PyMC's list of sampled variables, for which its predictive functions have no argument."""
    logger = logging.getLogger("pymc")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
