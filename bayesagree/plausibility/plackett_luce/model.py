"""The Plackett-Luce posterior as a PyMC model."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesagree._types import Named
from bayesagree.annotations import Rankings
from bayesagree.errors import InputError, positive
from bayesagree.inference.open_model import part
from bayesagree.inference.pseudo_label import UNNAMED_SHAPE, with_pseudo_label
from bayesagree.plausibility.plackett_luce._sampler import Problem, Unranked
from bayesagree.plausibility.plackett_luce.likelihood import padded

if TYPE_CHECKING:
    import pymc as pm

# What makes the worths from their shapes, items and labels.
Worth = Callable[[Any, Any, Any], Any] | None


def plackett_luce_model(
    rankings: Rankings,
    *,
    reliability: int = 1,
    shape: float | None = None,
    unranked: Unranked = "exact",
    exponent: float = 1.0,
    worth: Worth = None,
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
        that a ranking is about), ``item_of_slot``, ``category_of_slot`` and ``item_of_ranking`` are data; equal
        rankings of an item stand together. Traces feed certainties, metrics and plots; with many items and labels keep
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
    if (
        exponent != 1
        and unranked == "exact"
        and (problem.n_labels - np.diff(problem.races.slot_start) > 0).any()
    ):
        raise InputError(
            f"exponent={exponent!r}: the worths of several unnamed labels, each to a power, do not add up to one; "
            "pass unranked='lumped'"
        )
    return races_model(rankings, problem, exponent, worth)


def races_model(
    rankings: Rankings,
    problem: Problem,
    exponent: float = 1.0,
    worth: Worth = None,
) -> "pm.Model":
    """Build the model of `plackett_luce_model` from the races that the sampler takes, each as often as it was seen."""
    import pymc as pm
    import pytensor.tensor as pt

    from bayesagree.plausibility.plackett_luce.partial_ranking import PartialRanking

    labels = with_pseudo_label(rankings.categories)
    races = problem.races
    items = rankings.items
    # Items name different numbers of labels: one flat vector of worths has no padding that NUTS would sample.
    present = np.flatnonzero(problem.shape > 0)
    number = np.full(problem.shape.size, present.size)
    number[present] = np.arange(present.size)
    item_of_slot, label_of_slot = races.item[present], races.label[present]
    of_labels = np.full((items.size, labels.size), present.size)
    of_labels[item_of_slot, label_of_slot] = np.arange(present.size)
    # Absent worths have the number after the last, and the rank of what remains.
    item_of_race = np.repeat(np.arange(items.size), np.diff(races.race_start))
    slot = races.slot_start[item_of_race].repeat(np.diff(races.entry_start)) + races.entry
    numbers = padded(number[slot], races.entry_start, present.size)
    ranks = padded(races.block, races.entry_start, races.block[races.entry_start[1:] - 1, None])
    copies = np.repeat(np.arange(len(ranks)), races.times)
    coords: Named = {"item": items, "category": labels}
    coords["slot"] = [f"{items[i]}: {labels[k]}" for i, k in zip(item_of_slot, label_of_slot)]
    coords |= {"ranking": np.arange(copies.size), "position": np.arange(ranks.shape[1])}
    with pm.Model(coords=coords) as model:
        item: Any = pm.Data("item_of_slot", item_of_slot, dims="slot")
        category: Any = pm.Data("category_of_slot", label_of_slot, dims="slot")
        pm.Data("item_of_ranking", item_of_race[copies], dims="ranking")
        competitor: Any = pm.Data("competitor", numbers[copies], dims=("ranking", "position"))
        seen = pm.Data("observed_ranks", ranks[copies], dims=("ranking", "position"))

        def our_worth() -> Any:
            return pm.Gamma("worth", problem.shape[present], 1.0, dims="slot")

        drawn = part("worth", worth, our_worth, problem.shape[present], item, category, dims="slot")
        every: Any = pt.concatenate([drawn, np.zeros(1)])
        racing: Any = every if exponent == 1 else every**exponent
        PartialRanking("ranks", racing[competitor], observed=seen, dims=("ranking", "position"))
        of_label: Any = every[of_labels]
        pm.Deterministic(
            "plausibility", of_label / of_label.sum(axis=1, keepdims=True), dims=("item", "category")
        )
        pm.Data("named", problem.named, dims=("item", "category"))
        pm.Data(UNNAMED_SHAPE, problem.split)
    return model
