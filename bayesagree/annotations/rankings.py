"""Rankings: one partial ranking with ties per annotation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesagree._types import Array, Codes, Integers
from bayesagree.annotations._columns import (
    Entries,
    axis_names,
    changes,
    coded_labels,
    column,
    encode,
    float_column,
    objects,
    require_present,
)
from bayesagree.annotations._container import Categorical, Container, Level, rows_of
from bayesagree.annotations.labels import Labels
from bayesagree.annotations.ratings import Ratings
from bayesagree.errors import InputError, as_python, place_of, refuse, say, shorten


class ChoiceSets(NamedTuple):
    """The labels that each ranking chose from; a label that it was not offered is no loser.

    Attributes
    ----------
    start
        Ranking r was offered the entries ``start[r]:start[r + 1]`` of `label_index`, shape (ranking + 1,).
    label_index
        Labels, increasing within a ranking, shape (entry,).
    """

    start: Integers
    label_index: NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class Rankings(Categorical, Container):
    """One partial ranking with ties per annotation: blocks of labels, best first.

    Labels that an annotator does not name rank below all named ones (one last, unordered block), if they were on
    offer. If only some labels were on offer, as in pairwise comparisons, pass `offered`.

    Attributes
    ----------
    items, annotators, categories
        Names on each axis. `annotators` is empty where the annotators are unknown.
    item_index, annotator_index
        One entry per ranking, shape (ranking,); an unknown annotator is -1.
    start
        Ranking r owns the entries ``start[r]:start[r + 1]`` of the next two arrays, shape (ranking + 1,).
    label_index, block
        Label named, and the position 0, 1, ... of its block, shape (entry,); sorted by block, then label.
    offered
        The labels that each ranking chose from; None where all of them were on offer.
    """

    kind: ClassVar[Literal["rankings"]] = "rankings"
    level: ClassVar[Level] = "ordinal"

    categories: Array
    start: Integers
    label_index: Codes
    block: Codes
    offered: ChoiceSets | None = None

    @classmethod
    def from_blocks(
        cls,
        cases: Sequence[Sequence[Sequence[Sequence[Any]]]],
        *,
        labels: Sequence[Any] | int,
        items: Sequence[Any] | None = None,
        offered: Sequence[Sequence[Sequence[Any]]] | None = None,
    ) -> Self:
        """Read nested lists: ``cases[item][ranking]`` is a list of blocks, a block a list of tied labels.

        The annotators are unknown; `from_long` names them.

        Parameters
        ----------
        cases
            The rankings of each item.
        labels
            All possible labels, or their number n when the blocks hold ids 0 .. n - 1.
        items
            Names of the items, by default 0, 1, ...
        offered
            ``offered[item][ranking]`` lists the labels that a ranking chose from; by default all labels.

        Raises
        ------
        InputError
            Empty case, ranking or block; unknown label; a label named twice in one ranking, or not on offer.

        Examples
        --------
        >>> rankings = Rankings.from_blocks([[[[0, 3], [2]], [[1], [0]]]], labels=4)
        >>> rankings.n_annotations, rankings.block.tolist()
        (2, [0, 0, 1, 0, 1])

        Two systems of three met in each of two comparisons:

        >>> wins = [[["a"], ["b"]], [["b"], ["c"]]]
        >>> met = [["a", "b"], ["b", "c"]]
        >>> Rankings.from_blocks([wins], labels=["a", "b", "c"], offered=[met]).offered.start.tolist()
        [0, 2, 4]
        """
        items_ = axis_names(items, len(_listed(cases, "cases")), "item")
        if offered is not None and [*map(len, offered)] != [*map(len, cases)]:
            raise InputError("offered[item] must list the labels on offer for each ranking of that item")
        rows = []
        for i, case in enumerate(cases):
            for r, blocks in enumerate(_listed(case, place_of(item=items_[i]))):
                where = f"{place_of(item=items_[i])}, ranking {r}"
                new = [
                    (i, r, b, k) for b, tied in enumerate(_listed(blocks, where)) for k in _listed(tied, where)
                ]
                shown = None if offered is None else list(offered[i][r])
                if shown is not None and (strange := [name for *_, name in new if name not in shown]):
                    raise InputError(
                        f"{where}: it names {shorten(strange)}, which was not on offer; offered= lists all labels that "
                        "a ranking chose from, named or not"
                    )
                rows += new + [(i, r, np.nan, name) for name in shown or ()]
        item, ranking, rank, named = (objects(part) for part in zip(*rows))
        place = lambda row: f"{place_of(item=items_[item[row]])}, ranking {ranking[row]}"  # noqa: E731
        codes, labels_ = encode(named, "label", labels, place)
        entries = Entries(item.astype(np.int64), ranking.astype(np.int64), items_, np.empty(0, "<U1"))
        return cls._of(entries, codes, labels_, rank.astype(float), offered is not None)

    @classmethod
    def from_long(
        cls,
        frame: Any,
        *,
        item: str = "item",
        annotator: str = "annotator",
        label: str = "label",
        rank: str = "rank",
        labels: Sequence[Any] | None = None,
        offered: bool = False,
    ) -> Self:
        """Read a table with one row per (item, annotator, label); equal rank is a tie, 1 is best.

        With ``offered=True`` the rows of an annotator and item are what the ranking chose from, those without a rank
        are not ranked; otherwise all labels were on offer.

        Raises
        ------
        InputError
            As `from_blocks`; and a missing name or rank, with its row.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"item": [7, 7], "annotator": ["a", "a"], "label": ["x", "y"], "rank": [1, 1]})
        >>> Rankings.from_long(table).block.tolist()
        [0, 0]
        """
        entries, table, label = Entries.of_table(frame, item, annotator, label=label)
        codes, known, _ = coded_labels(column(table, label, "label"), labels)
        require_present(codes < 0, "label")
        ranks = float_column(table, rank, "rank")
        refuse(
            np.isnan(ranks) & (not offered),
            lambda row: (
                f"row {row}: the rank is missing; leave unranked labels out, or pass "
                "offered=True if the rows of a ranking are all labels that were on offer"
            ),
        )
        return cls._of(entries, codes, known, ranks, offered)

    @classmethod
    def _of(cls, entries: Entries, label: Codes, labels: Array, rank: Array, offered: bool) -> Self:
        """Sort the entries that have a rank and cut them into rankings; without a rank labels are on offer alone."""
        on_offer = None
        if offered:
            of = entries.item * np.int64(rank.size) + entries.annotator
            refuse(
                ~np.isin(of, of[~np.isnan(rank)]),
                lambda row: f"{entries.place(row)}: a ranking names none of the labels on offer; drop it",
            )
            *whose, shown = np.unique(np.stack([*entries[:2], label]), axis=1)  # also what a ranking names
            on_offer = ChoiceSets(
                np.append(np.flatnonzero(changes(*whose)), shown.size), shown.astype(np.int32)
            )
        rows = np.lexsort((label, rank, entries.annotator, entries.item))
        rows = rows[~np.isnan(rank[rows])]
        item, ranker, label, rank = (a[rows] for a in (*entries[:2], label, rank))
        new_ranking = changes(item, ranker)
        ranking, first = np.cumsum(new_ranking) - 1, np.flatnonzero(new_ranking)
        block = np.cumsum(changes(ranking, rank))
        block -= block[first][ranking]
        refuse(
            pd.Index(ranking * labels.size + label).duplicated(),
            lambda row: (
                f"{entries.place(rows[row])}: {place_of(label=labels[label[row]])} is named twice in one ranking; a "
                "label has one place: keep its best one"
            ),
        )
        who = ranker[first] if entries.annotators.size else np.full(first.size, -1)
        if on_offer is not None and on_offer.label_index.size == first.size * labels.size:
            on_offer = None  # all of them, always
        item_of, who, label, block = (a.astype(np.int32) for a in (item[first], who, label, block))
        return cls(*entries[2:], item_of, who, labels, np.append(first, item.size), label, block, on_offer)

    def to_long(self) -> pd.DataFrame:
        """Table of one row per label named: item, annotator (or number of the ranking), label, rank; ties are equal.

        Examples
        --------
        >>> Rankings.from_blocks([[[["a", "c"], ["b"]]]], labels=[*"abc"]).to_long()["rank"].tolist()
        [1, 1, 2]
        """
        row = self.ranking_index()
        who = {} if self.annotators_known else {"ranking": row}
        label = pd.Categorical.from_codes(self.label_index, categories=pd.Index(self.categories))
        return pd.DataFrame(rows_of(self, row) | who | {"label": label, "rank": self.block + 1})

    def ranking_index(self) -> Integers:
        """Ranking of each entry, shape (entry,)."""
        return np.repeat(np.arange(self.n_annotations), np.diff(self.start))

    def block_sizes(self) -> Integers:
        """Size of the block of each entry, shape (entry,)."""
        block = np.cumsum(changes(self.ranking_index(), self.block)) - 1
        return np.bincount(block)[block]

    def of_item(self, position: int) -> list[list[list[Any]]]:
        """Rankings of the item at a position, as nested lists of label names: blocks, best first.

        Examples
        --------
        >>> Rankings.from_blocks([[[["a"], ["b", "c"]], [["b"]]]], labels=["a", "b", "c"]).of_item(0)
        [[['a'], ['b', 'c']], [['b']]]
        """
        found = []
        for r in np.flatnonzero(self.item_index == position):
            entries = slice(self.start[r], self.start[r + 1])
            named, block = self.categories[self.label_index[entries]].tolist(), self.block[entries]
            found.append([[n for n, b in zip(named, block) if b == level] for level in range(block[-1] + 1)])
        return found


def who_competed(rankings: Rankings) -> tuple[str, bool]:
    """Say in one sentence whether a label that a ranking does not name was beaten, and whether that is doubtful.

    Doubtful: some rankings of an item name most of the labels, others fewer and not the same.

    Examples
    --------
    >>> who_competed(Rankings.from_blocks([[[["a"], ["b"]]]], labels="abc"))[0]
    'All 3 labels compete in every ranking: one that a ranking does not name was beaten by those it names.'
    """
    n = rankings.categories.size
    if rankings.offered is not None:
        return (
            "Rankings say what was on offer: a label that one does not name was beaten if it was offered.",
            False,
        )
    said = f"All {n} labels compete in every ranking: one that a ranking does not name was beaten by those it names"
    size: Any = pd.Series(np.diff(rankings.start)).groupby(rankings.item_index).agg(["min", "max"])
    odd: Any = size[(size["min"] < size["max"]) & (2 * size["max"] > n)]
    if odd.empty:
        return f"{said}.", False
    i = int((odd["max"] - odd["min"]).idxmax())
    least, most = odd.loc[i]
    return (
        f"{said}; rankings of {place_of(item=rankings.items[i])} name {least} to {most} labels: if the others "
        f"were not on offer, say what was by {say('offered')}"
    ), True


# Any of the three containers.
Annotations = Labels | Ratings | Rankings


def _listed(given: Any, where: str) -> Any:
    """Return a list that is not empty, and refuse all else: text would fall apart into letters."""
    listed = isinstance(given, Sequence | set | frozenset | np.ndarray) and not isinstance(given, str | bytes)
    if not listed or len(given) == 0:
        raise InputError(
            f"{where}: {as_python(given)!r} is not a list of blocks or labels; a ranking is a list of blocks, each a "
            "list of one label or more: leave out unranked labels"
        )
    return given
