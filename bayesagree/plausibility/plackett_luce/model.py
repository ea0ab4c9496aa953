"""The Plackett-Luce posterior as a PyMC model, and its NUTS draws in the form of the Gibbs sampler's."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesagree._types import Floats, Integers
from bayesagree.annotations import Rankings
from bayesagree.errors import InputError, positive
from bayesagree.inference.open_model import annotation_data, part
from bayesagree.inference.pseudo_label import UNNAMED_SHAPE, with_pseudo_label
from bayesagree.plausibility.plackett_luce._sampler import Problem, Unranked

if TYPE_CHECKING:
    import pymc as pm


def plackett_luce_model(
    rankings: Rankings,
    *,
    reliability: int = 1,
    shape: float | None = None,
    unranked: Unranked = "exact",
    exponent: float = 1.0,
    worth: Callable[[Any, Any, Any], Any] | None = None,
) -> "pm.Model":
    """Build the same posterior as a PyMC model.

    Parameters
    ----------
    rankings, reliability, shape, unranked
        As `plackett_luce`.
    exponent
        Worths enter the race to this power: the paper's continuous reliability.
    worth
        Worths of one's own: a function, called inside the model, of the shape of each worth's prior, the number of its
        item and that of its label, each (slot), that returns positive worths (slot). The last label stands for all
        that nobody named.

    Returns
    -------
    pymc.Model
        Free variable ``worth`` (slot): for each item its named labels in order, then all others together;
        ``plausibility`` (item, category), whose last label stands for all that nobody named; observed ``ranks``
        (ranking, position), of module `partial_ranking`. ``observed_ranks``, ``competitor`` (the slots
        that a ranking is about), ``item_of_slot``, ``category_of_slot``, ``item_of_ranking`` and, where they are known,
        ``annotator_of_ranking`` are data. Traces feed certainties, metrics and plots; with many items and labels keep
        the worths only (``pymc.sample(var_names=["worth"])``) or call `plackett_luce`.

    Raises
    ------
    InputError
        An exponent other than 1 where several labels are unnamed and not lumped.

    Examples
    --------
    >>> rankings = Rankings.from_blocks([[[[0, 2], [1]], [[2]]]], labels=3)
    >>> [v.name for v in plackett_luce_model(rankings).free_RVs]
    ['worth']
    """
    positive(exponent, "exponent")
    problem = Problem.of(rankings, reliability, shape, unranked)
    if exponent != 1 and unranked == "exact" and (problem.n_labels - np.diff(problem.races.slot_start) > 0).any():
        raise InputError(
            f"exponent={exponent!r}: the worths of several unnamed labels, each to a power, do not add up to one; "
            "pass unranked='lumped'"
        )
    return races_model(rankings, problem, reliability, exponent, worth)


def races_model(
    rankings: Rankings,
    problem: Problem,
    reliability: int = 1,
    exponent: float = 1.0,
    worth: Callable[[Any, Any, Any], Any] | None = None,
) -> "pm.Model":
    """Build the model of `plackett_luce_model` from rankings that are read."""
    import pymc as pm
    import pytensor.tensor as pt

    from bayesagree.plausibility.plackett_luce.partial_ranking import PartialRanking

    labels, races, items = with_pseudo_label(rankings.categories), problem.races, rankings.items
    n_labels = rankings.categories.size
    # Items name different numbers of labels: one flat vector of worths has no padding that NUTS would sample.
    present = np.flatnonzero(problem.shape > 0)
    item_of_slot, label_of_slot = races.item[present], races.label[present]
    numbers, ranks = _compete(rankings, problem, present)
    # Equal rankings of an item stand next to each other: their probability is computed once.
    copies = np.repeat(np.lexsort((*ranks.T, rankings.item_index)), reliability)
    of_labels = np.full((items.size, n_labels + 1), present.size)
    of_labels[item_of_slot, label_of_slot] = np.arange(present.size)
    coords: dict[str, Any] = {"item": items, "category": labels}
    coords["slot"] = [f"{items[i]}: {labels[k]}" for i, k in zip(item_of_slot, label_of_slot)]
    coords |= {"ranking": np.arange(copies.size), "position": np.arange(ranks.shape[1])}
    if rankings.annotators_known:
        coords["annotator"] = rankings.annotators
    who = rankings.annotator_index[copies] if rankings.annotators_known else None
    with pm.Model(coords=coords) as model:
        item: Any = pm.Data("item_of_slot", item_of_slot, dims="slot")
        category: Any = pm.Data("category_of_slot", label_of_slot, dims="slot")
        annotation_data(rankings.item_index[copies], who, "ranking")
        competitor: Any = pm.Data("competitor", numbers[copies], dims=("ranking", "position"))
        seen = pm.Data("observed_ranks", ranks[copies], dims=("ranking", "position"))

        def our_worth() -> Any:
            return pm.Gamma("worth", problem.shape[present], 1.0, dims="slot")

        drawn = part("worth", worth, our_worth, problem.shape[present], item, category, dims="slot")
        padded: Any = pt.concatenate([drawn, np.zeros(1)])
        racing: Any = padded if exponent == 1 else padded**exponent
        PartialRanking("ranks", racing[competitor], observed=seen, dims=("ranking", "position"))
        of_label: Any = padded[of_labels]
        pm.Deterministic(
            "plausibility", of_label / of_label.sum(axis=1, keepdims=True), dims=("item", "category")
        )
        pm.Data("named", problem.named, dims=("item", "category"))
        pm.Data(UNNAMED_SHAPE, problem.split)
    return model


def read_shares(sampled: xr.DataTree, problem: Problem) -> Floats:
    """Return shares of the slots from draws of the model, shape (chain, draw, slot)."""
    drawn = sampled["posterior"]["worth"].transpose("chain", "draw", "slot").values
    worth = np.zeros((*drawn.shape[:2], problem.shape.size))
    worth[:, :, problem.shape > 0] = drawn
    total = np.add.reduceat(worth, problem.races.slot_start[:-1], axis=2)
    return worth / total[:, :, problem.races.item]


def _compete(rankings: Rankings, problem: Problem, present: Integers) -> tuple[Integers, Integers]:
    """Return the worths that compete in every ranking, and their ranks, both of shape (ranking, position).

    An absent worth has the number after the last. A rank too many, of a last block of all labels, does no harm.
    """
    races, n = problem.races, present.size
    number = np.full(problem.shape.size, n)
    number[present] = np.arange(n)
    numbers = np.full((rankings.n_annotations, int(np.diff(races.slot_start).max())), n)
    ranks = np.zeros(numbers.shape, np.int64)
    for r, i in enumerate(rankings.item_index):
        slots, at = slice(*races.slot_start[i : i + 2]), slice(*rankings.start[r : r + 2])
        size, here = slots.stop - slots.start, races.label[slots]
        ranks[r] = rankings.block[at].max() + 1  # what it does not name comes last
        ranks[r, np.searchsorted(here, rankings.label_index[at])] = rankings.block[at]
        numbers[r, :size] = number[slots]
        if rankings.offered is not None:
            numbers[r, np.flatnonzero(~np.isin(here, rankings.offered[r]))] = n
    return numbers, ranks
