"""Rankings: one partial ranking with ties per annotation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesagree._types import Codes
from bayesagree.annotations._columns import (
    annotation_codes,
    axis_names,
    eager_frame,
    encode,
    float_column,
    label_column,
    objects,
    require_present,
)
from bayesagree.annotations._container import Categorical, Container, Level
from bayesagree.annotations._display import names
from bayesagree.annotations._words import guessed_columns
from bayesagree.annotations.labels import Labels
from bayesagree.annotations.ratings import Ratings
from bayesagree.errors import InputError, as_python, say, shorten


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

    items: NDArray[Any]
    annotators: NDArray[Any]
    categories: NDArray[Any]
    item_index: Codes
    annotator_index: Codes
    start: NDArray[np.int64]
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
        annotators: Sequence[Sequence[Any]] | None = None,
        offered: Sequence[Sequence[Sequence[Any]]] | None = None,
    ) -> Self:
        """Read nested lists: ``cases[item][annotator]`` is a list of blocks, a block a list of tied labels.

        Parameters
        ----------
        cases
            The rankings of each item.
        labels
            All possible labels, or their number n when the blocks hold ids 0 .. n - 1.
        items
            Names of the items, by default 0, 1, ...
        annotators
            ``annotators[item]`` names the annotators of that item in the order of its rankings; by default they
            are unknown.
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
        if len(cases) == 0:
            raise InputError("there is no case: cases is empty")
        items_ = axis_names(items, len(cases), "item")
        known = range(int(labels)) if isinstance(labels, int | np.integer) else labels
        item, ranking, named, block = [], [], [], []
        for i, case in enumerate(cases):
            if len(case) == 0:
                raise InputError(f"item {as_python(items_[i])!r} has no ranking; drop the item")
            for r, blocks in enumerate(case):
                _require_blocks(blocks, f"item {as_python(items_[i])!r}, ranking {r}")
                for b, tied in enumerate(blocks):
                    for name in tied:
                        item.append(i)
                        ranking.append(r)
                        named.append(name)
                        block.append(b)

        def place(row: int) -> str:
            return f"item {as_python(items_[item[row]])!r}, ranking {ranking[row]}"

        codes, labels_ = encode(objects(named), "label", known, place)
        who, names = _annotators_of(annotators, cases, items_)
        ranker = np.asarray(ranking) if who is None else np.asarray([who[i][r] for i, r in zip(item, ranking)])
        chosen_from = None if offered is None else _offered_codes(offered, cases, items_, labels_, who)
        return cls._grouped(items_, names, labels_, np.asarray(item), ranker, codes, np.asarray(block), chosen_from)

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
        table = eager_frame(frame)
        item, annotator, label = guessed_columns(table.columns, item=item, annotator=annotator, label=label)
        (item_codes, items), (annotator_codes, annotators) = annotation_codes(table, item, annotator)
        label_codes, known = label_column(table, label, labels)
        require_present(label_codes, "label")
        ranks = float_column(table, rank, "rank")
        ranked = ~np.isnan(ranks)
        if not offered and not ranked.all():
            raise InputError(
                f"row {int(np.flatnonzero(~ranked)[0])}: the rank is missing; leave unranked labels out, or pass "
                "offered=True if the rows of a ranking are all labels that were on offer"
            )
        rows = np.stack([item_codes, annotator_codes, label_codes]).astype(np.int64)
        i, who, k = rows[:, ranked]
        return cls._grouped(items, annotators, known, i, who, k, ranks[ranked], rows if offered else None)

    @classmethod
    def _grouped(
        cls,
        items: NDArray[Any],
        annotators: NDArray[Any],
        labels: NDArray[Any],
        item: NDArray[Any],
        ranker: NDArray[Any],
        label: NDArray[Any],
        rank: NDArray[Any],
        on_offer: NDArray[Any] | None = None,
    ) -> Self:
        """Sort the entries and cut them into rankings; a ranker is an annotator or, unknown, a number in the item.

        `on_offer` has one column (item, ranker, label) for each label that a ranking chose from.
        """
        order = np.lexsort((label, rank, ranker, item))
        item, ranker, label, rank = (a[order] for a in (item, ranker, label, rank))
        new_ranking = np.ones(item.size, bool)
        new_ranking[1:] = (item[1:] != item[:-1]) | (ranker[1:] != ranker[:-1])
        ranking = np.cumsum(new_ranking) - 1
        first = np.flatnonzero(new_ranking)
        new_block = new_ranking.copy()
        new_block[1:] |= rank[1:] != rank[:-1]
        block = np.cumsum(new_block) - 1
        block -= block[first][ranking]
        who = ranker[first] if annotators.size else np.full(first.size, -1)
        _require_one_place(ranking, label, labels, items[item[first]], annotators[who] if annotators.size else None)
        item_of, who_of, label_of, block_of = (a.astype(np.int32) for a in (item[first], who, label, block))
        start = np.append(first, item.size)
        offered = None
        if on_offer is not None:
            _require_ranked(on_offer, np.stack([item[first], ranker[first]]), items)
            offered = ChoiceSets.of(*on_offer)
            offered.require(start, label, items[item[first]], labels)
        return cls(items, annotators, labels, item_of, who_of, start, label_of, block_of, offered)

    def to_long(self) -> pd.DataFrame:
        """Table of one row per label named: item, annotator (or number of the ranking), label, rank; ties are equal.

        Examples
        --------
        >>> given = Rankings.from_blocks([[[["a", "c"], ["b"]]]], labels=[*"abc"], annotators=[["x"]])
        >>> given.to_long()["rank"].tolist()
        [1, 1, 2]
        """
        row = self.ranking_index()
        named: dict[str, Any] = {"item": self.items[self.item_index[row]], "ranking": row}
        if self.annotators_known:
            named = {"item": named["item"], "annotator": self.annotators[self.annotator_index[row]]}
        label = pd.Categorical.from_codes(self.label_index, categories=pd.Index(self.categories))
        return pd.DataFrame(named | {"label": label, "rank": self.block + 1})

    def overview(self) -> dict[str, Any]:
        """Sizes and names by what they are."""
        return super().overview() | {"categories": names(self.categories)}

    def ranking_index(self) -> NDArray[np.int64]:
        """Ranking of each entry, shape (entry,)."""
        return np.repeat(np.arange(self.n_annotations), np.diff(self.start))

    def block_sizes(self) -> NDArray[np.int64]:
        """Size of the block of each entry, shape (entry,)."""
        new_block = np.append(False, np.diff(self.block) != 0)
        new_block[self.start[1:-1]] = True
        if new_block[1:].all():  # no ties
            return np.ones(new_block.size, np.int64)
        block = np.cumsum(new_block)
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
    size = np.diff(rankings.start)
    least, most = np.full((2, rankings.items.size), n)
    np.minimum.at(least, rankings.item_index, size)
    most[:] = 0
    np.maximum.at(most, rankings.item_index, size)
    odd = np.flatnonzero((least < most) & (2 * most > n))
    if odd.size == 0:
        return f"{said}.", False
    i = odd[np.argmax((most - least)[odd])]
    return (
        f"{said}; rankings of item {as_python(rankings.items[i])!r} name {least[i]} to {most[i]} labels: if the others "
        f"were not on offer, say what was by {say('offered')}"
    ), True


# Any of the three containers.
Annotations = Labels | Ratings | Rankings


def _require_blocks(blocks: Any, where: str) -> None:
    """Refuse what is not a list of blocks, each a list of labels: text would fall apart into letters."""
    for level in (blocks, *blocks) if _is_list(blocks) else (blocks,):
        if not _is_list(level):
            raise InputError(
                f"{where}: {as_python(level)!r} is not a list; a ranking is a list of blocks of labels"
            )
    if len(blocks) == 0 or any(len(block) == 0 for block in blocks):
        raise InputError(
            f"{where}: empty block in {blocks!r}; every block names at least one label: leave out unranked labels"
        )


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence | set | frozenset | np.ndarray) and not isinstance(value, str | bytes)


def _require_one_place(
    ranking: NDArray[Any],
    label: NDArray[Any],
    labels: NDArray[Any],
    item_of: NDArray[Any],
    annotator_of: NDArray[Any] | None,
) -> None:
    place = np.sort(ranking.astype(np.int64) * labels.size + label)
    if (twice := place[1:][np.diff(place) == 0]).size:
        r, k = divmod(int(twice[0]), labels.size)
        who = "" if annotator_of is None else f", annotator {as_python(annotator_of[r])!r}"
        raise InputError(
            f"item {as_python(item_of[r])!r}{who}: label {as_python(labels[k])!r} is named twice in one "
            "ranking; a label has one place: keep its best one"
        )


def _require_ranked(on_offer: NDArray[Any], rankings: NDArray[Any], items: NDArray[Any]) -> None:
    """Refuse choice sets of which nothing was ranked; `rankings` has one column (item, ranker) each."""
    sets = np.unique(on_offer[:2], axis=1)
    if sets.shape[1] > rankings.shape[1]:
        ranked = set(map(tuple, rankings.T.tolist()))
        item = next(i for i, ranker in sets.T.tolist() if (i, ranker) not in ranked)
        raise InputError(f"item {as_python(items[item])!r}: a ranking names none of the labels on offer; drop it")


def _annotators_of(
    annotators: Sequence[Sequence[Any]] | None, cases: Sequence[Sequence[Any]], items: NDArray[Any]
) -> tuple[list[Codes] | None, NDArray[Any]]:
    """Return the annotators of each item as codes, None where they are unknown, and their names."""
    if annotators is None:
        return None, np.empty(0, dtype="<U1")
    named = [list(names) for names in annotators]
    sizes = [len(case) for case in cases]
    if [len(names) for names in named] != sizes:
        raise InputError("annotators[item] must name one annotator for each ranking of that item")
    codes, known = encode(objects([name for names in named for name in names]), "annotator")
    who = np.split(codes, np.cumsum(sizes)[:-1])
    for i, of_item in enumerate(who):
        if (of_item < 0).any():
            raise InputError(f"item {as_python(items[i])!r}: an annotator is missing; name every one")
        if np.unique(of_item).size < of_item.size:
            raise InputError(
                f"item {as_python(items[i])!r}: an annotator is named twice ({shorten(named[i])}); one ranking each"
            )
    return who, known


def _offered_codes(
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
