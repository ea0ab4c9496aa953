"""What was on offer when a ranking was made: a set of labels for each ranking."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Codes
from bayesagree.annotations._columns import encode, objects
from bayesagree.errors import InputError, as_python


@dataclass(frozen=True, eq=False)
class ChoiceSets:
    """The labels that each ranking chose from; a label that it was not offered is no loser.

    Attributes
    ----------
    start
        Ranking r was offered the entries ``start[r]:start[r + 1]`` of `label_index`, shape (ranking + 1,).
    label_index
        Labels, increasing within a ranking, shape (entry,).
    """

    start: NDArray[np.int64]
    label_index: NDArray[np.int32]

    @classmethod
    def of(cls, item: NDArray[Any], ranker: NDArray[Any], label: NDArray[Any]) -> Self:
        """Group the offered labels by (item, ranker), in their order; a label offered twice is offered once."""
        rows = np.unique(np.stack([item, ranker, label]).astype(np.int64), axis=1)
        new = np.append(True, (np.diff(rows[:2], axis=1) != 0).any(axis=0))
        return cls(np.append(np.flatnonzero(new), rows.shape[1]), rows[2].astype(np.int32))

    def __getitem__(self, ranking: int) -> NDArray[np.int32]:
        """Return the labels that a ranking was offered."""
        return self.label_index[self.start[ranking] : self.start[ranking + 1]]

    def require(
        self, start: NDArray[np.int64], label: NDArray[Any], item_of: NDArray[Any], labels: NDArray[Any]
    ) -> None:
        """Refuse rankings that name what they were not offered."""
        for r in range(self.start.size - 1):
            named = label[start[r] : start[r + 1]]
            if (strange := np.setdiff1d(named, self[r])).size:
                raise InputError(
                    f"item {as_python(item_of[r])!r}: the ranking names {as_python(labels[strange[0]])!r}, which was "
                    "not on offer; offered= lists all labels that a ranking chose from, named or not"
                )


def offered_codes(
    offered: Sequence[Sequence[Sequence[Any]]],
    cases: Sequence[Sequence[Any]],
    items: NDArray[Any],
    labels: NDArray[Any],
    who: list[Codes] | None,
) -> NDArray[np.int64]:
    """Return one column (item, ranker, label) for each label on offer."""
    if [len(sets) for sets in offered] != [len(case) for case in cases]:
        raise InputError("offered[item] must list the labels on offer for each ranking of that item")
    rows = [
        (i, r if who is None else int(who[i][r]), name)
        for i, sets in enumerate(offered)
        for r, names in enumerate(sets)
        for name in names
    ]
    item, ranker, named = zip(*rows)
    place = [f"offered, item {as_python(items[i])!r}" for i in item]
    codes, _ = encode(objects(list(named)), "label", labels, place.__getitem__)
    return np.stack([item, ranker, codes]).astype(np.int64)
