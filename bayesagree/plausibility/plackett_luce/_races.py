"""Rankings as the sampler reads them: of each item the labels in play, and its distinct rankings as races of these."""

from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Integers
from bayesagree.annotations import Rankings


class Races(NamedTuple):
    """The rankings of some items in slots: n labels in play of each item, and last one slot for all others together.

    Equal rankings of an item stand once, with their number, and sorted: nothing depends on the order of annotators.
    A last block of all that is left on offer says no more than being unranked does, and counts as that.

    Attributes
    ----------
    slot_start, label
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
        Place 0, 1, ... of each slot in the order of average ranks, best first; any order serves the sampler.
    """

    slot_start: Integers
    label: Integers
    race_start: Integers
    times: Integers
    entry_start: Integers
    entry: Integers
    block: Integers
    arrivals: Integers
    place: Integers

    @classmethod
    def of(cls, rankings: Rankings, reliability: int = 1, in_play: NDArray[np.bool_] | None = None) -> "Races":
        """Group rankings by item, each `reliability` times; labels in play are all named or offered, and `in_play`."""
        n_labels, choice = rankings.categories.size, rankings.offered
        first = np.searchsorted(rankings.item_index, np.arange(rankings.items.size + 1))
        labels, races, times, sizes, entries, blocks, arrivals, places = ([] for _ in range(8))
        for rows in map(range, first[:-1], first[1:]):
            at = slice(rankings.start[rows.start], rankings.start[rows.stop])
            known = [rankings.label_index[at]] if choice is None else [choice[r] for r in rows]
            if in_play is not None:
                known.append(np.flatnonzero(in_play[len(labels)]).astype(np.int32))
            here = np.append(np.unique(np.concatenate(known)).astype(np.int64), n_labels)
            counts, rank_sum = np.zeros((2, here.size), np.int64)
            distinct = sorted(Counter(_race(rankings, here, r) for r in rows).items())
            for (order, block), number in distinct:
                depth = np.array(block)
                np.add.at(counts, np.array(order)[depth < depth[-1]], reliability * number)
                rank_sum[list(order)] += number * (depth - depth[-1])
                entries.extend(order)
                blocks.extend(block)
                sizes.append(len(order))
                times.append(reliability * number)
            labels.append(here)
            races.append(len(distinct))
            arrivals.append(counts)
            places.append(rank_sum.argsort(kind="stable").argsort(kind="stable"))
        of_slots = (np.concatenate(parts) for parts in (arrivals, places))
        of_races = (
            _starts(races),
            np.array(times, np.int64),
            _starts(sizes),
            np.array(entries),
            np.array(blocks),
        )
        return cls(_starts([len(one) for one in labels]), np.concatenate(labels), *of_races, *of_slots)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.slot_start.size - 1

    @property
    def others(self) -> Integers:
        """Slots that stand for all labels not in play, shape (item,)."""
        return self.slot_start[1:] - 1

    @property
    def item(self) -> Integers:
        """Item of each slot."""
        return np.repeat(np.arange(self.n_items), np.diff(self.slot_start))


def _race(rankings: Rankings, here: Integers, r: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return places of all labels that competed in a ranking, best first, and the block of each."""
    at = slice(rankings.start[r], rankings.start[r + 1])
    place, block = np.searchsorted(here, rankings.label_index[at]), rankings.block[at]
    on_offer, everything = np.arange(here.size), rankings.categories.size
    if rankings.offered is not None:
        on_offer = np.searchsorted(here, rankings.offered[r])
        everything = on_offer.size
    last = block[-1] + (place.size < everything)
    ahead = block < last
    remaining = np.union1d(place[~ahead], np.setdiff1d(on_offer, place))
    order = np.concatenate([place[ahead], remaining])
    return tuple(order.tolist()), (*block[ahead].tolist(), *[int(last)] * remaining.size)


def _starts(sizes: list[int]) -> Integers:
    return np.append(0, np.cumsum(sizes)).astype(np.int64)
