"""Rankings as the sampler reads them: of each item the labels in play, and its distinct rankings as races of these."""

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
        for i in range(rankings.items.size):
            rows = range(first[i], first[i + 1])
            at = slice(rankings.start[rows.start], rankings.start[rows.stop])
            known = [rankings.label_index[at]] if choice is None else [choice[r] for r in rows]
            if in_play is not None:
                known.append(np.flatnonzero(in_play[i]).astype(np.int32))
            here = np.append(np.unique(np.concatenate(known)).astype(np.int64), n_labels)
            counts, rank_sum = np.zeros((2, here.size), np.int64)
            distinct = sorted(_distinct(rankings, here, rows).items())
            for (order, block), number in distinct:
                ranked = sum(b < block[-1] for b in block)
                counts[list(order[:ranked])] += reliability * number
                rank_sum[list(order)] += number * (np.array(block) - block[-1])
                entries.extend(order)
                blocks.extend(block)
                sizes.append(len(order))
                times.append(reliability * number)
            labels.append(here)
            races.append(len(distinct))
            arrivals.append(counts)
            places.append(rank_sum.argsort(kind="stable").argsort(kind="stable"))
        joined = (np.concatenate(parts) for parts in (arrivals, places))
        of_races = (_starts(races), np.array(times, np.int64), _starts(sizes), np.array(entries), np.array(blocks))
        return cls(_starts([len(one) for one in labels]), np.concatenate(labels), *of_races, *joined)

    def some(self, items: slice) -> "Races":
        """Return the races of neighbouring items."""
        slots = slice(self.slot_start[items.start], self.slot_start[items.stop])
        races = slice(self.race_start[items.start], self.race_start[items.stop])
        entries = slice(self.entry_start[races.start], self.entry_start[races.stop])
        return Races(
            self.slot_start[items.start : items.stop + 1] - slots.start,
            self.label[slots],
            self.race_start[items.start : items.stop + 1] - races.start,
            self.times[races],
            self.entry_start[races.start : races.stop + 1] - entries.start,
            self.entry[entries],
            self.block[entries],
            self.arrivals[slots],
            self.place[slots],
        )

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


def _distinct(
    rankings: Rankings, here: Integers, rows: range
) -> dict[tuple[tuple[int, ...], tuple[int, ...]], int]:
    """Count the equal races of one item: places of all that competed, best first, and the block of each."""
    counts: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    for r in rows:
        at = slice(rankings.start[r], rankings.start[r + 1])
        place, block = np.searchsorted(here, rankings.label_index[at]), rankings.block[at]
        on_offer = np.arange(here.size) if rankings.offered is None else np.searchsorted(here, rankings.offered[r])
        everything = rankings.categories.size if rankings.offered is None else on_offer.size
        last = block[-1] + (place.size < everything)
        rest = np.setdiff1d(on_offer, place)
        order = np.concatenate([place[block < last], np.sort(np.append(place[block == last], rest))])
        depth = np.append(block[block < last], np.full(order.size - (block < last).sum(), last))
        key = tuple(order.tolist()), tuple(depth.tolist())
        counts[key] = counts.get(key, 0) + 1
    return counts


def _starts(sizes: list[int]) -> Integers:
    return np.append(0, np.cumsum(sizes)).astype(np.int64)
