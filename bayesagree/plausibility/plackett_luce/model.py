"""The Plackett-Luce posterior as a PyMC model, and its NUTS draws in the form of the Gibbs sampler's."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.streams import Seed, block_generators
from bayesagree.errors import InputError
from bayesagree.plausibility._draws.pseudo_label import UNNAMED_SHAPE
from bayesagree.plausibility.plackett_luce._cases import Cases
from bayesagree.plausibility.plackett_luce._sampler import WorthBlock, WorthPrior, diagnostics_of, reduce_block

if TYPE_CHECKING:
    import pymc as pm

type Integers = NDArray[np.int64]


def worth_model(
    cases: Cases, prior: WorthPrior, *, rate: float, exponent: float, items: NDArray[Any], labels: NDArray[Any]
) -> "pm.Model":
    """Build the model: one worth per named label and one for all others of an item, every ranking observed.

    `labels` ends with the pseudo-label, which has the plausibility of all others.
    """
    import pymc as pm
    import pytensor.tensor as pt

    from bayesagree.plausibility.plackett_luce.partial_ranking import PartialRanking

    if exponent != 1 and prior.split > 0 and (cases.n_unnamed > 1).any():
        raise InputError(
            f"exponent={exponent!r}: the worths of several unnamed labels, each to a power, do not add up to one; "
            "pass unranked='lumped'"
        )
    slots = _slots(cases, prior)
    competitor, ranks = _races(cases, slots)
    coords = {
        "item": items, "category": labels, "slot": slots.names(items, labels),
        "ranking": np.arange(len(ranks)), "position": np.arange(ranks.shape[1]),
    }  # fmt: skip
    with pm.Model(coords=coords) as model:
        worth: Any = pm.Gamma("worth", slots.shape, rate, dims="slot")
        racing: Any = worth if exponent == 1 else worth**exponent
        padded: Any = pt.concatenate([worth, np.zeros(1)])
        padded_racing: Any = pt.concatenate([racing, np.zeros(1)])
        PartialRanking("ranks", padded_racing[competitor], observed=ranks, dims=("ranking", "position"))
        of_label: Any = padded[slots.of_labels(cases.n_labels)]
        pm.Deterministic("plausibility", of_label / of_label.sum(axis=1, keepdims=True), dims=("item", "category"))
        pm.Data("named", cases.named(pseudo=True), dims=("item", "category"))
        pm.Data(UNNAMED_SHAPE, prior.split)
    return model


def read_worths(
    sampled: xr.DataTree, cases: Cases, prior: WorthPrior, seed: Seed, depth: int | None
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return draws of all items from `worth_model`, shape (item, sample, ...), and r_hat and ess, shape (item, 2)."""
    drawn = sampled["posterior"]["worth"].transpose("chain", "draw", "slot").values
    worth = np.pad(drawn.reshape(-1, drawn.shape[2]), ((0, 0), (0, 1)))
    slot = _slots(cases, prior).number
    theta = []
    for i, n in enumerate(np.diff(cases.label_start)):
        own = worth[:, slot[i, : n + 1]]
        theta.append(own / own.sum(axis=1, keepdims=True))
    (rng,) = block_generators(seed, 1)
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


def _slots(cases: Cases, prior: WorthPrior) -> Slots:
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


def _races(cases: Cases, slots: Slots) -> tuple[Integers, Integers]:
    """Return the worths that compete in every ranking, and their ranks, both of shape (ranking, position)."""
    n_rankings, width = cases.multiplicity.size, slots.number.shape[1]
    item = np.repeat(np.arange(cases.n_items), np.diff(cases.ranking_start))
    ranks = np.repeat(np.diff(cases.block_start)[:, None], width, axis=1)
    number = slots.number[item]
    for r in range(n_rankings):
        for rank, b in enumerate(range(cases.block_start[r], cases.block_start[r + 1])):
            ranks[r, cases.entry[cases.entry_start[b] : cases.entry_start[b + 1]]] = rank
        if cases.limited:
            offered = cases.offered[cases.offered_start[r] : cases.offered_start[r + 1]]
            number[r, np.setdiff1d(np.arange(width), offered)] = slots.shape.size
    return np.repeat(number, cases.multiplicity, axis=0), np.repeat(ranks, cases.multiplicity, axis=0)
