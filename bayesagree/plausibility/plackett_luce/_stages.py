"""Rankings as the Gibbs sampler reads them: what was at risk at each stage, each set of labels once.

A stage of a ranking is the wait until its next block: it depends on the labels at risk, those of the block and of all
that came later. Stages of the same set add up, from whatever rankings: the waits for untied labels are one gamma
variable, whoever arrived; only ties need to know their block.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from bayesagree.plausibility.plackett_luce._cases import Cases, Integers


class Stages(NamedTuple):
    """Sets of local labels 0 .. n that were at risk, n standing for all labels that nobody named.

    Attributes
    ----------
    label_start, arrivals, mean_rank_order
        As in `Cases`.
    set_start
        Item i has the sets ``set_start[i]:set_start[i + 1]``; their numbers below count from its first.
    subset, extra_start, extra
        Set s holds the labels of the set `subset`, an earlier one or -1 for none, and
        ``extra[extra_start[s]:extra_start[s + 1]]``.
    singles
        How many untied labels arrived from each set.
    tie_start, tie_from, tie_rest, tie_repeats
        Item i has the tied blocks ``tie_start[i]:tie_start[i + 1]``, which `tie_repeats` annotators made from the set
        `tie_from` and left the set `tie_rest`.
    tie_label_start, tie_label
        Block t holds ``tie_label[tie_label_start[t]:tie_label_start[t + 1]]``.
    """

    label_start: Integers
    arrivals: Integers
    mean_rank_order: Integers
    set_start: Integers
    subset: Integers
    extra_start: Integers
    extra: Integers
    singles: Integers
    tie_start: Integers
    tie_from: Integers
    tie_rest: Integers
    tie_repeats: Integers
    tie_label_start: Integers
    tie_label: Integers


class _Sets:
    """Sets at risk of one item, each told by a subset and what it has beside."""

    def __init__(self) -> None:
        self.number: dict[frozenset[int], int] = {}
        self.subset: list[int] = []
        self.extra: list[list[int]] = []

    def add(self, labels: frozenset[int], below: frozenset[int] | None) -> int:
        """Return the number of a set that holds another one, if any."""
        if labels not in self.number:
            self.number[labels] = len(self.subset)
            self.subset.append(-1 if below is None else self.number[below])
            self.extra.append(sorted(labels - (below or frozenset())))
        return self.number[labels]


def stages_of(cases: Cases, items: slice) -> Stages:
    """Return the stages of neighbouring items."""
    sets_of, singles_of, ties_of = [], [], []
    for i in range(items.start, items.stop):
        sets, singles, ties = _Sets(), Counter(), Counter()
        everything = range(cases.label_start[i + 1] - cases.label_start[i] + 1)
        for r in range(cases.ranking_start[i], cases.ranking_start[i + 1]):
            first, last, times = cases.block_start[r], cases.block_start[r + 1], int(cases.multiplicity[r])
            ends = cases.entry_start[first : last + 1].tolist()
            entry = cases.entry[ends[0] : ends[-1]].tolist()
            offered = cases.offered[cases.offered_start[r] : cases.offered_start[r + 1]].tolist()
            at_risk = frozenset(offered if cases.limited else everything).difference(entry)
            below = None
            for start, stop in zip(ends[-2::-1], ends[:0:-1]):
                block, rest = entry[start - ends[0] : stop - ends[0]], at_risk
                if len(block) > 1:
                    sets.add(rest, below)
                    below = rest
                at_risk = rest.union(block)
                one = sets.add(at_risk, below)
                below = at_risk
                if len(block) == 1:
                    singles[one] += times
                else:
                    ties[one, sets.number[rest], tuple(block)] += times
        sets_of.append(sets)
        singles_of.append(singles)
        ties_of.append(sorted(ties.items()))
    extra = [one for sets in sets_of for one in sets.extra]
    ties = [(*key, times) for item in ties_of for key, times in item]
    come_from, rest, block, repeats = zip(*ties) if ties else ((), (), (), ())
    labels = slice(cases.label_start[items.start], cases.label_start[items.stop])
    return Stages(
        label_start=cases.label_start[items.start : items.stop + 1] - labels.start,
        arrivals=cases.arrivals[labels],
        mean_rank_order=cases.mean_rank_order[labels],
        set_start=_starts(len(sets.subset) for sets in sets_of),
        subset=_integers(s for sets in sets_of for s in sets.subset),
        extra_start=_starts(len(one) for one in extra),
        extra=_integers(k for one in extra for k in one),
        singles=_integers(of[s] for of, sets in zip(singles_of, sets_of) for s in range(len(sets.subset))),
        tie_start=_starts(len(of) for of in ties_of),
        tie_from=_integers(come_from),
        tie_rest=_integers(rest),
        tie_repeats=_integers(repeats),
        tie_label_start=_starts(len(one) for one in block),
        tie_label=_integers(k for one in block for k in one),
    )


def _integers(values: Iterable[int]) -> Integers:
    return np.fromiter(values, dtype=np.int64)


def _starts(sizes: Iterable[int]) -> Integers:
    return np.append(0, np.cumsum(_integers(sizes)))
