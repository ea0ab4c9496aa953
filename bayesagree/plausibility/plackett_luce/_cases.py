"""Rankings as the samplers read them: each item's few named labels, its distinct rankings, flat integer arrays."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Integers
from bayesagree.annotations import Rankings
from bayesagree.annotations.rankings import ChoiceSets


class Cases(NamedTuple):
    """The rankings of all items in local label numbers 0 .. n - 1, n the number of labels somebody named.

    Equal rankings of one item stand once, with a count: their arrival times only enter as sums. Rankings of an item
    are sorted, so that nothing depends on the order of its annotators.

    Where a ranking names all labels on offer, its last block is left out: nothing arrives after it, so it says no more
    than being unranked does, and augmenting it would only slow the sampler down.

    Where rankings have choice sets, `label` holds all that was on offer in any of them, named or not.

    Attributes
    ----------
    label_start, label
        Item i names the labels ``label[label_start[i]:label_start[i + 1]]`` (positions, increasing).
    ranking_start, multiplicity
        Item i owns the rankings ``ranking_start[i]:ranking_start[i + 1]``; `multiplicity` annotators gave each.
    block_start, entry_start, entry
        Ranking r owns the blocks ``block_start[r]:block_start[r + 1]``, best first, and block b the local labels
        ``entry[entry_start[b]:entry_start[b + 1]]``.
    arrivals
        How many annotators put each of `label` in a block of its ranking.
    mean_rank_order
        Place 0, 1, ... of each of `label` in the order of average ranks, best first; any order serves the sampler.
    n_labels
        Number of all possible labels, K.
    offered_start, offered
        Ranking r chose from the local labels ``offered[offered_start[r]:offered_start[r + 1]]``. `offered` is empty
        where every ranking chose from all K.
    """

    label_start: Integers
    label: Integers
    ranking_start: Integers
    multiplicity: Integers
    block_start: Integers
    entry_start: Integers
    entry: Integers
    arrivals: Integers
    mean_rank_order: Integers
    n_labels: int
    offered_start: Integers
    offered: Integers

    @property
    def limited(self) -> bool:
        """Whether rankings have choice sets."""
        return self.offered.size > 0

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.label_start.size - 1

    @property
    def n_unnamed(self) -> Integers:
        """How many of the possible labels nobody named, shape (item,)."""
        return self.n_labels - np.diff(self.label_start)

    def named(self, *, pseudo: bool = False) -> NDArray[np.bool_]:
        """Return whether anybody named each label, shape (item, category), with an empty last column for `pseudo`."""
        table = np.zeros((self.n_items, self.n_labels + pseudo), dtype=bool)
        table[np.repeat(np.arange(self.n_items), np.diff(self.label_start)), self.label] = True
        return table


def read_cases(rankings: Rankings, reliability: int = 1) -> Cases:
    """Group the rankings by item; `reliability` repeats every ranking so many times."""
    choice = rankings.offered
    label_start, ranking_start, block_start, entry_start, offered_start = [0], [0], [0], [0], [0]
    label: list[np.ndarray] = []
    entry: list[np.ndarray] = []
    offered: list[Integers] = []
    arrivals: list[np.ndarray] = []
    mean_rank_order: list[np.ndarray] = []
    multiplicity: list[int] = []
    first = np.searchsorted(rankings.item_index, np.arange(rankings.items.size + 1))
    for i in range(rankings.items.size):
        entries = slice(rankings.start[first[i]], rankings.start[first[i + 1]])
        in_play = rankings.label_index[entries] if choice is None else _offered(choice, first[i], first[i + 1])
        named = np.unique(in_play).astype(np.int64)
        local = np.searchsorted(named, rankings.label_index[entries])
        label.append(named)
        label_start.append(label_start[-1] + named.size)
        counts, rank_sum = np.zeros(named.size, dtype=np.int64), np.zeros(named.size)
        distinct = _distinct(rankings, local, choice, named, first[i], first[i + 1])
        # Sorted: the same rankings in another order of the annotators give the same draws.
        for (members, blocks, chosen_from), repeats in sorted(distinct.items()):
            sizes = np.unique(blocks, return_counts=True)[1]
            if len(members) == (rankings.categories.size if choice is None else len(chosen_from)):
                sizes = sizes[:-1]
            ranked = np.asarray(members[: sizes.sum()], dtype=np.int64)
            counts[ranked] += reliability * repeats
            rank_sum += repeats * sizes.size
            rank_sum[ranked] += repeats * (np.asarray(blocks[: ranked.size]) - sizes.size)
            entry.append(ranked)
            entry_start.extend((entry_start[-1] + np.cumsum(sizes)).tolist())
            block_start.append(block_start[-1] + sizes.size)
            multiplicity.append(reliability * repeats)
            offered.append(np.asarray(chosen_from, dtype=np.int64))
            offered_start.append(offered_start[-1] + len(chosen_from))
        arrivals.append(counts)
        mean_rank_order.append(rank_sum.argsort(kind="stable").argsort(kind="stable"))
        ranking_start.append(len(multiplicity))
    labels = np.asarray(label_start), np.concatenate(label).astype(np.int64)
    starts = np.asarray(ranking_start), np.asarray(multiplicity), np.asarray(block_start), np.asarray(entry_start)
    joined = np.concatenate(entry), np.concatenate(arrivals), np.concatenate(mean_rank_order)
    offers = np.asarray(offered_start), np.concatenate(offered)
    return Cases(*labels, *starts, *joined, rankings.categories.size, *offers)


def _offered(choice: ChoiceSets, first: int, last: int) -> NDArray[np.int32]:
    """Return what neighbouring rankings were offered, one after the other."""
    return choice.label_index[choice.start[first] : choice.start[last]]


type Key = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def _distinct(
    rankings: Rankings, local: Integers, choice: ChoiceSets | None, named: Integers, first: int, last: int
) -> dict[Key, int]:
    """Count the equal rankings of one item; a key is the local labels in order, the block of each, and the offer."""
    counts: dict[Key, int] = {}
    offset = rankings.start[first]
    for r in range(first, last):
        at = slice(rankings.start[r], rankings.start[r + 1])
        here = slice(at.start - offset, at.stop - offset)
        chosen_from = () if choice is None else tuple(np.searchsorted(named, choice[r]).tolist())
        key = (tuple(local[here].tolist()), tuple(rankings.block[at].tolist()), chosen_from)
        counts[key] = counts.get(key, 0) + 1
    return counts
