"""Rankings as the samplers read them: each item's few named labels, its distinct rankings, flat integer arrays."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree.annotations import Rankings
from bayesagree.errors import InputError

type Integers = NDArray[np.int64]
type Competing = Literal["all", "named"]


class Cases(NamedTuple):
    """The rankings of all items in local label numbers 0 .. n - 1, n the number of labels somebody named.

    Equal rankings of one item stand once, with a count: their arrival times only enter as sums. Rankings of an item
    are sorted, so that nothing depends on the order of its annotators.

    Where a ranking names all K labels, its last block is left out: nothing arrives after it, so it says no more than
    being unranked does, and augmenting it would only slow the sampler down. Where only named labels compete it stays.

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
    only_named
        Whether a ranking is about the labels it names and no others.
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
    only_named: bool

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


def read_cases(rankings: Rankings, reliability: int = 1, *, competing: Competing = "all") -> Cases:
    """Group the rankings by item; `reliability` repeats every ranking so many times."""
    only_named = named_compete(competing)
    label_start, ranking_start, block_start, entry_start = [0], [0], [0], [0]
    label: list[np.ndarray] = []
    entry: list[np.ndarray] = []
    arrivals: list[np.ndarray] = []
    mean_rank_order: list[np.ndarray] = []
    multiplicity: list[int] = []
    first = np.searchsorted(rankings.item_index, np.arange(rankings.items.size + 1))
    for i in range(rankings.items.size):
        entries = slice(rankings.start[first[i]], rankings.start[first[i + 1]])
        named, local = np.unique(rankings.label_index[entries], return_inverse=True)
        label.append(named)
        label_start.append(label_start[-1] + named.size)
        counts, rank_sum = np.zeros(named.size, dtype=np.int64), np.zeros(named.size)
        for (members, blocks), repeats in sorted(_distinct(rankings, local, first[i], first[i + 1]).items()):
            sizes = np.unique(blocks, return_counts=True)[1]
            if not only_named and len(members) == rankings.categories.size:
                sizes = sizes[:-1]
            ranked = np.asarray(members[: sizes.sum()], dtype=np.int64)
            counts[ranked] += reliability * repeats
            rank_sum += repeats * sizes.size
            rank_sum[ranked] += repeats * (np.asarray(blocks[: ranked.size]) - sizes.size)
            entry.append(ranked)
            entry_start.extend((entry_start[-1] + np.cumsum(sizes)).tolist())
            block_start.append(block_start[-1] + sizes.size)
            multiplicity.append(reliability * repeats)
        arrivals.append(counts)
        mean_rank_order.append(rank_sum.argsort(kind="stable").argsort(kind="stable"))
        ranking_start.append(len(multiplicity))
    return Cases(
        np.asarray(label_start), np.concatenate(label).astype(np.int64), np.asarray(ranking_start),
        np.asarray(multiplicity), np.asarray(block_start), np.asarray(entry_start), np.concatenate(entry),
        np.concatenate(arrivals), np.concatenate(mean_rank_order), rankings.categories.size, only_named,
    )  # fmt: skip


def named_compete(competing: Competing) -> bool:
    """Return whether a ranking is about the labels it names and no others."""
    if competing not in ("all", "named"):
        raise InputError(f"competing={competing!r} is not one of 'all', 'named'")
    return competing == "named"


def _distinct(
    rankings: Rankings, local: Integers, first: int, last: int
) -> dict[tuple[tuple[int, ...], tuple[int, ...]], int]:
    """Count the equal rankings of one item; a key is the local labels in order and the block of each."""
    counts: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    offset = rankings.start[first]
    for r in range(first, last):
        at = slice(rankings.start[r], rankings.start[r + 1])
        here = slice(at.start - offset, at.stop - offset)
        key = (tuple(local[here].tolist()), tuple(rankings.block[at].tolist()))
        counts[key] = counts.get(key, 0) + 1
    return counts
