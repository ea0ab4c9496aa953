"""Predictive checks of the Plackett-Luce posterior: every annotator ranks the labels of each item again."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesagree._types import Floats
from bayesagree.annotations import Rankings
from bayesagree.errors import InputError, positive_int
from bayesagree.inference.predictive import (
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
from bayesagree.inference.streams import Seed
from bayesagree.plausibility.plackett_luce._held_out import (
    marginal_log_probability,
    plackett_luce_scores,
    refuse_choice_sets,
)
from bayesagree.plausibility.plackett_luce._sampler import Problem, Run, Unranked

if TYPE_CHECKING:
    import pymc as pm


def sampling_model(rankings: Rankings, settings: Settings) -> "pm.Model":
    """Build the PyMC model of the plausibilities of all labels and of ``label_index``, the ranked labels.

    `plackett_luce_model` has one worth for all unnamed labels of an item, and cannot say which of them is drawn.
    Replicates have blocks of the observed sizes, and inside a block labels stand in their own order.
    """
    import pymc as pm
    from pytensor.tensor.sort import argsort

    from bayesagree.inference.random_draws import dirichlet_variable
    from bayesagree.plausibility.plackett_luce.partial_ranking import PartialRanking

    _refuse_lumped(settings)
    refuse_choice_sets(rankings)
    n_labels = rankings.categories.size
    shape = np.full((rankings.items.size, n_labels), settings.get("shape") or 1 / n_labels)
    ranking = rankings.ranking_index()
    position = np.arange(ranking.size) - rankings.start[ranking]
    with pm.Model(coords={"item": rankings.items, "category": rankings.categories}) as model:
        plausibility: Any = dirichlet_variable("plausibility", shape, dims=("item", "category"))
        ranks = PartialRanking.dist(plausibility[rankings.item_index], _block_sizes(rankings))
        order: Any = argsort(ranks, axis=-1, kind="mergesort")  # stable
        pm.Deterministic("label_index", order[ranking, position])
    return model


def _block_sizes(rankings: Rankings) -> np.ndarray:
    """Return the number of labels in each block, shape (ranking, block), all labels where there is no such block."""
    table = np.zeros((rankings.n_annotations, int(rankings.block.max()) + 1), np.int64)
    np.add.at(table, (rankings.ranking_index(), rankings.block), 1)
    return np.where(table > 0, table, rankings.categories.size)


def _refuse_lumped(settings: Settings) -> None:
    if settings.get("unranked") == "lumped" or settings.get("exponent", 1) != 1:
        raise InputError("only unranked='exact' with exponent=1 is a model of how single labels are ranked")


def _observed(rankings: Rankings) -> Observed:
    return Observed("label_index", "entry", rankings.label_index)


def _variables(rankings: Rankings, posterior: xr.Dataset, settings: Settings) -> Draws:
    return {"plausibility": as_probabilities(draws_of(posterior, "plausibility")["plausibility"])}


def _item_log_likelihood(
    rankings: Rankings, posterior: xr.Dataset, settings: Settings, draws: int, random_seed: Seed
) -> Pointwise:
    """Marginal probability of each item's rankings, shape (1, item), by posterior draws of the earlier ones.

    Pr(r_1, ..., r_J) = prod_j E[Pr(r_j | worths) | r_1, ..., r_(j - 1)]; the first factor is exact.
    """
    _refuse_lumped(settings)
    return Pointwise(
        rankings.items, marginal_log_probability(rankings, settings["shape"], draws, random_seed)[None]
    )


def _held_out(
    rankings: Rankings,
    levels: Floats,
    *,
    random_seed: np.random.SeedSequence,
    shape: float | None = None,
    unranked: Unranked = "exact",
    draws: int = 250,
    tune: int = 200,
    chains: int = 4,
) -> HeldOutScores:
    run = Run(*(positive_int(v, n) for v, n in zip((chains, tune, draws, 1), Run._fields)))
    n = np.bincount(rankings.item_index, minlength=rankings.items.size)
    held_out = np.flatnonzero(n[rankings.item_index] > 1)
    log_score, agreement, error = np.zeros((levels.size, n.size)), np.zeros((levels.size, n.size)), []
    for g, level in enumerate(levels):
        if not float(level).is_integer():
            raise InputError(f"reliability {level:g}: Plackett-Luce repeats rankings, a whole number of times")
        read = partial(Problem.of, reliability=int(level), shape=shape, unranked=unranked)
        found = plackett_luce_scores(rankings, held_out, read, run, random_seed)
        log_score[g] = np.bincount(rankings.item_index[held_out], weights=found.log_probability, minlength=n.size)
        agreement[g] = found.agreement
        error.append(float(np.sqrt((found.error**2).sum())))
    return HeldOutScores(log_score, np.where(n > 1, n, 0), agreement, np.array(error))


PREDICTIVE = PredictiveRecord(sampling_model, _observed, _variables, _item_log_likelihood)
HELD_OUT = HeldOutRecord(_held_out, (1, 2, 3, 5, 10))
