"""Rankings as the Gibbs sampler reads them: what was at risk at each stage, each set of labels once.

A stage of a ranking is the wait until its next block: it depends on the labels at risk, those of the block and of all
that came later. Stages of the same set add up, from whatever rankings: the waits for untied labels are one gamma
variable, whoever arrived; only ties need to know their block.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from bayesagree._types import Integers
from bayesagree.plausibility.plackett_luce._cases import Cases

# A structured array; numba reads its fields as attributes.
type Records = Any


def record(fields: str) -> np.dtype[Any]:
    """Return the type of a structured array: names with the type of each, float by default."""
    named = [field.partition(":") for field in fields.split()]
    return np.dtype([(name, kind or "f8") for name, _, kind in named], align=True)


# A set at risk: the labels of the set `subset`, an earlier one or -1 for none, and the labels
# ``extra[extra_start:extra_stop]``; `singles` untied labels arrived from it. The rest is the sweep's: the set's worth,
# how long it waited before and after only labels in the tail were left, and whether it is of the tail (late).
SET = record("subset:i8 extra_start:i8 extra_stop:i8 singles:i8 worth wait tail_wait late:?")
# A tied block ``tie_label[label_start:label_stop]``, which `repeats` annotators made from the set `come_from` and left
# the set `rest`.
TIE = np.dtype([("come_from", "i8"), ("rest", "i8"), ("repeats", "i8"), ("label_start", "i8"), ("label_stop", "i8")])


class Stages(NamedTuple):
    """Sets of local labels 0 .. n that were at risk, n standing for all labels that nobody named.

    Attributes
    ----------
    label_start, arrivals, mean_rank_order
        As in `Cases`.
    set_start, sets, extra
        Item i has the records `SET` ``sets[set_start[i]:set_start[i + 1]]``; their numbers count from its first.
    tie_start, ties, tie_label
        Item i has the records `TIE` ``ties[tie_start[i]:tie_start[i + 1]]``.
    """

    label_start: Integers
    arrivals: Integers
    mean_rank_order: Integers
    set_start: Integers
    sets: Records
    extra: Integers
    tie_start: Integers
    ties: Records
    tie_label: Integers


class _Sets:
    """Sets at risk of one item, each given by a subset and what it has beside."""

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
            # From the last block on, so that every set at risk is an earlier one and what came before.
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
    extra = [labels for one in sets_of for labels in one.extra]
    ends = _starts(len(labels) for labels in extra)
    sets = np.zeros(len(extra), SET)
    sets["subset"] = _integers(s for one in sets_of for s in one.subset)
    sets["extra_start"], sets["extra_stop"] = ends[:-1], ends[1:]
    sets["singles"] = _integers(of[s] for of, one in zip(singles_of, sets_of) for s in range(len(one.subset)))
    tied = [(*key, times) for one in ties_of for key, times in one]
    come_from, rest, block, repeats = zip(*tied) if tied else ((), (), (), ())
    ends = _starts(len(labels) for labels in block)
    ties = np.zeros(len(tied), TIE)
    ties["come_from"], ties["rest"], ties["repeats"] = come_from, rest, repeats
    ties["label_start"], ties["label_stop"] = ends[:-1], ends[1:]
    labels = slice(cases.label_start[items.start], cases.label_start[items.stop])
    return Stages(
        label_start=cases.label_start[items.start : items.stop + 1] - labels.start,
        arrivals=cases.arrivals[labels],
        mean_rank_order=cases.mean_rank_order[labels],
        set_start=_starts(len(one.subset) for one in sets_of),
        sets=sets,
        extra=_integers(k for labels in extra for k in labels),
        tie_start=_starts(len(of) for of in ties_of),
        ties=ties,
        tie_label=_integers(k for labels in block for k in labels),
    )


def _integers(values: Iterable[int]) -> Integers:
    return np.fromiter(values, dtype=np.int64)


def _starts(sizes: Iterable[int]) -> Integers:
    return np.append(0, np.cumsum(_integers(sizes)))
