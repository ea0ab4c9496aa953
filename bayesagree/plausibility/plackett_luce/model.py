"""The Plackett-Luce posterior as a PyMC model, and its NUTS draws in the form of the Gibbs sampler's."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Integers
from bayesagree.annotations import Rankings
from bayesagree.errors import InputError, positive
from bayesagree.inference.open_model import annotation_data, part
from bayesagree.inference.pseudo_label import UNNAMED_SHAPE, with_pseudo_label
from bayesagree.inference.streams import Seed, block_generators
from bayesagree.plausibility.plackett_luce._cases import Cases
from bayesagree.plausibility.plackett_luce._sampler import Problem, Unranked, WorthBlock, diagnostics_of, reduce_block

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
    rankings, reliability, shape, unranked, exponent
        As `plackett_luce`.
    worth
        Worths of one's own: a function, called inside the model, of the shape of each worth's prior, the number of its
        item and that of its label, each (slot), that returns positive worths (slot). The last label stands for all
        that nobody named.

    Returns
    -------
    pymc.Model
        Free variable ``worth`` (slot): for each item its named labels in order, then all others together;
        ``plausibility`` (item, category), whose last label stands for all that nobody named; observed ``ranks``
        (ranking, position), a `bayesagree.plausibility.PartialRanking`. ``observed_ranks``, ``competitor`` (the slots
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
    import pymc as pm
    import pytensor.tensor as pt

    from bayesagree.plausibility.plackett_luce.partial_ranking import PartialRanking

    positive(exponent, "exponent")
    problem = Problem.of(rankings, reliability, shape, unranked)
    (cases, prior), labels = problem, with_pseudo_label(rankings.categories)
    if exponent != 1 and prior.split > 0 and (cases.n_unnamed > 1).any():
        raise InputError(
            f"exponent={exponent!r}: the worths of several unnamed labels, each to a power, do not add up to one; "
            "pass unranked='lumped'"
        )
    # Items name different numbers of labels: one flat vector of worths has no padding that NUTS would sample.
    slots, items = _slots(problem), rankings.items
    numbers, ranks = _races(rankings, cases, slots)
    # Equal rankings of an item stand next to each other: their probability is computed once.
    copies = np.repeat(np.lexsort((*ranks.T, rankings.item_index)), reliability)
    coords = {"item": items, "category": labels, "slot": slots.names(items, labels)}
    coords |= {"ranking": np.arange(copies.size), "position": np.arange(ranks.shape[1])}
    if rankings.annotators_known:
        coords["annotator"] = rankings.annotators
    who = rankings.annotator_index[copies] if rankings.annotators_known else None
    with pm.Model(coords=coords) as model:
        item_of_slot, position = np.nonzero(slots.present)
        item: Any = pm.Data("item_of_slot", item_of_slot, dims="slot")
        category: Any = pm.Data("category_of_slot", slots.label[item_of_slot, position], dims="slot")
        annotation_data(rankings.item_index[copies], who, "ranking")
        competitor: Any = pm.Data("competitor", numbers[copies], dims=("ranking", "position"))
        seen = pm.Data("observed_ranks", ranks[copies], dims=("ranking", "position"))

        def our_worth() -> Any:
            return pm.Gamma("worth", slots.shape, 1.0, dims="slot")

        drawn = part("worth", worth, our_worth, slots.shape, item, category, dims="slot")
        padded: Any = pt.concatenate([drawn, np.zeros(1)])
        racing: Any = padded if exponent == 1 else padded**exponent
        PartialRanking("ranks", racing[competitor], observed=seen, dims=("ranking", "position"))
        of_label: Any = padded[slots.of_labels(cases.n_labels)]
        pm.Deterministic("plausibility", of_label / of_label.sum(axis=1, keepdims=True), dims=("item", "category"))
        pm.Data("named", cases.named(pseudo=True), dims=("item", "category"))
        pm.Data(UNNAMED_SHAPE, prior.split)
    return model


def read_worths(
    sampled: xr.DataTree, problem: Problem, random_seed: Seed, depth: int | None
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return draws of all items from the model, shape (item, sample, ...), and r_hat and ess, shape (item, 2)."""
    drawn = sampled["posterior"]["worth"].transpose("chain", "draw", "slot").values
    worth = np.pad(drawn.reshape(-1, drawn.shape[2]), ((0, 0), (0, 1)))
    (cases, prior), slot = problem, _slots(problem).number
    theta = []
    for i, n in enumerate(np.diff(cases.label_start)):
        own = worth[:, slot[i, : n + 1]]
        theta.append(own / own.sum(axis=1, keepdims=True))
    (rng,) = block_generators(random_seed, 1)
    block = WorthBlock(slice(0, cases.n_items), theta, diagnostics_of(theta, drawn.shape[0]), rng)
    return reduce_block(cases, prior, block, depth), block.diagnostics


class Slots(NamedTuple):
    """Numbers for all worths. Item i has its n named labels at positions 0 .. n - 1 and all others at n.

    Attributes
    ----------
    number
        Of the worth at each position, shape (item, position); an absent one has the number after the last.
    label
        At each position, shape (item, position); the pseudo-label for the others.
    shape
        Of each worth's prior.
    """

    number: Integers
    label: Integers
    shape: NDArray[np.float64]

    @property
    def present(self) -> NDArray[np.bool_]:
        """Whether there is a worth at each position, shape (item, position)."""
        return self.number < self.shape.size

    def of_labels(self, n_labels: int) -> Integers:
        """Return the number of the worth of each label and, last, of the others, shape (item, category)."""
        table = np.full((len(self.number), n_labels + 1), self.shape.size)
        item, position = np.nonzero(self.present)
        table[item, self.label[item, position]] = self.number[item, position]
        return table

    def names(self, items: NDArray[Any], labels: NDArray[Any]) -> list[str]:
        """Return "item: label" of each worth."""
        item, position = np.nonzero(self.present)
        return [f"{items[i]}: {labels[k]}" for i, k in zip(item, self.label[item, position])]


def _slots(problem: Problem) -> Slots:
    cases, prior = problem
    n_named = np.diff(cases.label_start)
    named = np.arange(n_named.max() + 1) < n_named[:, None]
    label = np.full(named.shape, cases.n_labels)
    label[named] = cases.label
    shape = np.where(named, prior.shape, 0.0)
    shape[np.arange(cases.n_items), n_named] = prior.unnamed
    present = shape > 0
    number = np.full(shape.shape, present.sum(), dtype=np.int64)
    number[present] = np.arange(present.sum())
    return Slots(number, label, shape[present])


def _races(rankings: Rankings, cases: Cases, slots: Slots) -> tuple[Integers, Integers]:
    """Return the worths that compete in every ranking, and their ranks, both of shape (ranking, position).

    An absent worth has the number after the last. A rank too many, of a last block of all labels, does no harm.
    """
    ranking, n_labels, width = rankings.ranking_index(), cases.n_labels, slots.number.shape[1]
    place = np.zeros((cases.n_items, n_labels), np.int64)
    n_named = np.diff(cases.label_start)
    place[np.repeat(np.arange(cases.n_items), n_named), cases.label] = np.arange(cases.label.size) - np.repeat(
        cases.label_start[:-1], n_named
    )
    item = rankings.item_index.astype(np.int64)
    ranks = np.zeros((item.size, width), np.int64)
    np.maximum.at(ranks, ranking, rankings.block[:, None].astype(np.int64) + 1)  # what it does not name comes last
    ranks[ranking, place[item[ranking], rankings.label_index]] = rankings.block
    numbers = slots.number[item]
    offers = rankings.offered
    for r in range(item.size if offers is not None else 0):
        offered = place[item[r], offers[r]]  # pyright: ignore[reportOptionalSubscript]
        numbers[r, np.setdiff1d(np.arange(width), offered)] = slots.shape.size
    return numbers, ranks
