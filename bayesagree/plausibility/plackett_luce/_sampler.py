"""Rankings as races of the labels in play, their worths block of items by block, and those of labels not in play."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from bayesagree._types import Array, Booleans, Floats, Integers, Rng
from bayesagree.annotations import Rankings
from bayesagree.errors import one_of, positive, positive_int
from bayesagree.inference.blocks import label_dtype
from bayesagree.inference.convergence import diagnostics
from bayesagree.inference.multisets import words
from bayesagree.inference.pseudo_label import spread

Unranked = Literal["exact", "lumped"]
# Shape of each of the labels that are lumped together, within their sum: shares that differ by a thousandth.
EQUAL = 1e6


class Run(NamedTuple):
    """How long the sampler runs: `draws` kept per chain, one every `thin` sweeps, after `tune` sweeps."""

    chains: int
    tune: int
    draws: int
    thin: int


class Races(NamedTuple):
    """The rankings of some items in slots: n labels in play of each item, and last one slot for all others together.

    Equal rankings of an item stand once, with their number, in an order that is not that of annotators.
    A last block of all that is left on offer says no more than being unranked does, and counts as that.

    Attributes
    ----------
    slot_start, item, label
        Item i has the slots ``slot_start[i]:slot_start[i + 1]`` of the labels `label` (positions, increasing; the
        number of labels stands for all others).
    race_start, times
        Item i has the races ``race_start[i]:race_start[i + 1]``; `times` annotators gave each.
    entry_start, entry, block
        Race r is about ``entry[entry_start[r]:entry_start[r + 1]]``, places of labels among the slots of the item, best
        first; entries of one `block` (0, 1, ...) are tied, the last block is what remains.
    arrivals
        How many annotators ranked the label of each slot.
    place
        Place 0, 1, ... of each slot in the order of average ranks, best first; any order serves the sampler, in which
        the last slot is behind all others.
    """

    slot_start: Integers
    item: Integers
    label: Integers
    race_start: Integers
    times: Integers
    entry_start: Integers
    entry: Integers
    block: Integers
    arrivals: Integers
    place: Integers

    @classmethod
    def of(cls, rankings: Rankings, reliability: int = 1, in_play: Booleans | None = None) -> "Races":
        """Group rankings by item, each `reliability` times; labels in play are all named or offered, and `in_play`."""
        n_items = rankings.items.size
        width = rankings.categories.size + 1
        choice = rankings.offered
        of_ranking = rankings.item_index.astype(int)
        named = rankings.ranking_index(), rankings.label_index
        chosen = (
            named
            if choice is None
            else (np.repeat(np.arange(of_ranking.size), np.diff(choice.start)), choice.label_index)
        )
        more = np.zeros((n_items, width), bool)
        more[:, -1] = True
        if in_play is not None:
            more[:, :-1] = in_play
        code = np.union1d(of_ranking[chosen[0]] * width + chosen[1], np.flatnonzero(more))
        item, label = np.divmod(code, width)
        slot_start = np.searchsorted(item, np.arange(n_items + 1))
        # Every ranking with every slot of its item: the block that it put the label in, -1 what was not on offer.
        slots = np.diff(slot_start)[of_ranking]
        first = np.cumsum(slots) - slots
        race = np.repeat(np.arange(slots.size), slots)
        slot = np.arange(race.size) - first[race]

        def at(ranking: Integers, label: Array) -> Integers:
            found = np.searchsorted(code, of_ranking[ranking] * width + label)
            return first[ranking] + found - slot_start[of_ranking[ranking]]

        offered = width - 1 if choice is None else np.diff(choice.start)
        last = rankings.block[rankings.start[1:] - 1].astype(int) + (np.diff(rankings.start) < offered)
        depth = last[race]
        if choice is not None:
            depth[:] = -1
            depth[at(*chosen)] = last[chosen[0]]
        depth[at(*named)] = rankings.block
        # Equal rankings of an item have the same sum of words.
        key = np.add.reduceat(words(slot << 20 | depth + 1), first)
        _, one, times = np.unique(
            np.column_stack([of_ranking.astype(np.uint64), key]), axis=0, return_index=True, return_counts=True
        )
        number = np.full(slots.size, one.size)
        number[one] = np.arange(one.size)
        order = np.lexsort((slot, depth, number[race]))
        order = order[(depth >= 0)[order] & (number[race] < one.size)[order]]
        race, entry, block = number[race[order]], slot[order], depth[order]
        here = slot_start[of_ranking[one]][race] + entry
        below = block - last[one][race]
        arrivals, rank_sum = (np.bincount(here, times[race] * of, code.size) for of in (below < 0, below))
        place = np.empty_like(item)
        place[np.lexsort((rank_sum, item))] = np.arange(item.size) - slot_start[item]
        place[slot_start[1:] - 1] = item.size
        return cls(
            slot_start,
            item,
            label,
            np.searchsorted(of_ranking[one], np.arange(n_items + 1)),
            times * reliability,
            np.searchsorted(race, np.arange(one.size + 1)),
            entry,
            block,
            (arrivals * reliability).astype(int),
            place,
        )


def worth_shape(n_labels: int, shape: float | None, unranked: Unranked) -> float:
    """Return the prior shape of the worth of a named label, for one treatment of the labels that nobody named."""
    one_of(unranked, "unranked", ("exact", "lumped"))
    usual = 1.0 if unranked == "lumped" else 1.0 / n_labels
    return positive(usual if shape is None else shape, "shape")


@dataclass(frozen=True, eq=False)
class Problem:
    """The rankings as races, and the gamma prior of their worths.

    `shape` (slot,): of each label in play, and of the sum over all others, which is a gamma variable too; `split`: of
    each of these within their sum, which falls to them as a Dirichlet distribution.
    """

    races: Races
    n_labels: int
    shape: Floats
    split: float

    @classmethod
    def of(
        cls,
        rankings: Rankings,
        reliability: int = 1,
        shape: float | None = None,
        unranked: Unranked = "exact",
        in_play: Booleans | None = None,
    ) -> "Problem":
        """Read rankings, each of them `reliability` times."""
        races = Races.of(rankings, positive_int(reliability, "reliability"), in_play)
        n_labels = rankings.categories.size
        one = worth_shape(n_labels, shape, unranked)
        shapes = np.full(races.label.size, one)
        others = n_labels + 1 - np.diff(races.slot_start)
        shapes[races.slot_start[1:] - 1] = one * (np.minimum(others, 1) if unranked == "lumped" else others)
        return cls(races, n_labels, shapes, EQUAL if unranked == "lumped" else one)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.races.slot_start.size - 1

    @property
    def named(self) -> Booleans:
        """Whether each label is in play, shape (item, category), and last the sum over all others, which is not."""
        table = np.zeros((self.n_items, self.n_labels + 1), bool)
        table[self.races.item, self.races.label] = True
        table[:, -1] = False
        return table

    def draw(self, items: slice, run: Run, rng: Rng) -> Floats:
        """Return shares of the slots of neighbouring items, shape (chain, draw, slot); those of an item sum to one."""
        from bayesagree.plausibility.plackett_luce._gibbs import TINY, gibbs

        races, first = self.races, self.races.slot_start[items.start]
        out = np.empty((run.chains, run.draws, races.slot_start[items.stop] - first))
        for own, i in zip(rng.spawn(items.stop - items.start), range(items.start, items.stop)):
            slot, (a, b) = slice(*races.slot_start[i : i + 2]), races.race_start[i : i + 2]
            prior, arrivals = self.shape[slot], races.arrivals[slot]
            of_races = races.entry, races.block, races.entry_start[a : b + 1], races.times[a:b]
            given = *of_races, prior, arrivals, races.place[slot], run.tune, run.thin, own
            drawn, scratch = np.empty((run.chains, run.draws, prior.size)), tuple(np.empty((6, prior.size + 1)))
            for chain in drawn:
                theta = np.maximum(own.standard_gamma(prior + arrivals), np.where(prior > 0, TINY, 0.0))
                gibbs(*given, chain, theta / theta.sum(), scratch)
            out[:, :, slot.start - first : slot.stop - first] = drawn
        return out

    def diagnostics(self, items: slice, theta: Floats) -> Floats:
        """Return R-hat and effective sample size of the worst label of each item, shape (item, 2)."""
        start = self.races.slot_start[items.start : items.stop] - self.races.slot_start[items.start]
        r_hat, ess = diagnostics(theta)
        return np.stack([np.fmax.reduceat(r_hat, start), np.fmin.reduceat(ess, start)], axis=1)

    def reduce(self, items: slice, theta: Floats, depth: int | None, rng: Rng) -> Array:
        """Return the best `depth` labels of each draw, or all plausibilities, shape (item, sample, ...).

        Labels not in play compete too, each with its own random share of their mass.
        """
        from bayesagree.inference.best_of_unnamed import top_labels

        width, dtype = (self.n_labels, np.float64) if depth is None else (depth, label_dtype(self.n_labels))
        out = np.zeros((items.stop - items.start, theta.shape[0] * theta.shape[1], width), dtype)
        edges = self.races.slot_start[items.start : items.stop + 1]
        flat = theta.reshape(-1, theta.shape[2])
        for one, start, stop, of_item in zip(out, edges, edges[1:], rng.spawn(len(out))):
            label = self.races.label[start : stop - 1]
            rest = np.setdiff1d(np.arange(self.n_labels), label)
            write = spread if depth is None else top_labels
            own = np.ascontiguousarray(flat[:, start - edges[0] : stop - edges[0]])
            write(own, label, rest, self.split, of_item, one)
        return out
