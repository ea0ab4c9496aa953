"""The Plackett-Luce posterior as a PyMC model, and its NUTS draws in the form of the Gibbs sampler's."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.streams import Seed, block_generators
from bayesagree.errors import InputError
from bayesagree.plausibility.plackett_luce._cases import Cases
from bayesagree.plausibility.plackett_luce._sampler import WorthBlock, WorthPrior, diagnostics_of, reduce_block

if TYPE_CHECKING:
    import pymc as pm

type Integers = NDArray[np.int64]


def worth_model(cases: Cases, prior: WorthPrior, *, rate: float, exponent: float, items: NDArray[Any]) -> "pm.Model":
    """Build the model: one worth per named label and one for all others of an item, every ranking observed."""
    import pymc as pm
    import pytensor.tensor as pt

    from bayesagree.plausibility.plackett_luce.partial_ranking import PartialRanking

    if exponent != 1 and prior.split > 0 and (cases.n_unnamed > 1).any():
        raise InputError(
            f"exponent={exponent!r}: the worths of several unnamed labels, each to a power, do not add up to one; "
            "pass unranked='lumped'"
        )
    slot, shape, name = _slots(cases, prior, items)
    item, ranks = _rank_table(cases, slot.shape[1])
    coords = {"slot": name, "ranking": np.arange(item.size), "position": np.arange(slot.shape[1])}
    with pm.Model(coords=coords) as model:
        worth = pm.Gamma("worth", shape, rate, dims="slot")
        racing: Any = worth if exponent == 1 else worth**exponent
        padded: Any = pt.concatenate([racing, np.zeros(1)])
        PartialRanking("ranks", padded[slot[item]], observed=ranks, dims=("ranking", "position"))
    return model


def read_worths(
    sampled: xr.DataTree, cases: Cases, prior: WorthPrior, seed: Seed, depth: int | None
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return draws of all items from `worth_model`, shape (item, sample, ...), and r_hat and ess, shape (item, 2)."""
    drawn = sampled["posterior"]["worth"].transpose("chain", "draw", "slot").values
    worth = np.pad(drawn.reshape(-1, drawn.shape[2]), ((0, 0), (0, 1)))
    slot = _slots(cases, prior, np.arange(cases.n_items))[0]
    theta = []
    for i, n in enumerate(np.diff(cases.label_start)):
        own = worth[:, slot[i, : n + 1]]
        theta.append(own / own.sum(axis=1, keepdims=True))
    (rng,) = block_generators(seed, 1)
    block = WorthBlock(slice(0, cases.n_items), theta, diagnostics_of(theta, drawn.shape[0]), rng)
    return reduce_block(cases, prior, block, depth), block.diagnostics


def _slots(cases: Cases, prior: WorthPrior, items: NDArray[Any]) -> tuple[Integers, NDArray[np.float64], list[str]]:
    """Return numbers for all worths: the (item, position) table of numbers, the shape of each worth and its name.

    Item i has its n named labels at positions 0 .. n - 1 and the others at n; an absent worth has the number after the
    last one.
    """
    n_named = np.diff(cases.label_start)
    present = np.arange(n_named.max() + 1) < n_named[:, None]
    shape = np.where(present, prior.shape, 0.0)
    shape[np.arange(cases.n_items), n_named] = prior.unnamed
    present = shape > 0
    slot = np.full(shape.shape, present.sum(), dtype=np.int64)
    slot[present] = np.arange(present.sum())
    name = [f"{items[i]}:{position}" for i, position in np.argwhere(present)]
    return slot, shape[present], name


def _rank_table(cases: Cases, width: int) -> tuple[Integers, Integers]:
    """Return the item of every ranking and the rank of each of its positions, shape (ranking, position)."""
    n_rankings = cases.multiplicity.size
    ranks = np.repeat(np.diff(cases.block_start)[:, None], width, axis=1)
    for r in range(n_rankings):
        for rank, b in enumerate(range(cases.block_start[r], cases.block_start[r + 1])):
            ranks[r, cases.entry[cases.entry_start[b] : cases.entry_start[b + 1]]] = rank
    item = np.repeat(np.arange(cases.n_items), np.diff(cases.ranking_start))
    return np.repeat(item, cases.multiplicity), np.repeat(ranks, cases.multiplicity, axis=0)
