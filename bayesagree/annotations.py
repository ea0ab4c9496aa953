"""The three kinds of annotation: `Labels`, `Ratings` and `Rankings`.

All three are frozen and long inside: one row is one annotation, so that ten million annotations by a hundred
thousand annotators fit. They are checked once, at the door; everything behind the door can rely on them. Rows are
sorted by item, then annotator, so that the order of the input never changes a result.

=========  ==========================================  ===============================================
kind       one annotation is                           notation of the papers
=========  ==========================================  ===============================================
Labels     one label of a closed list                  n_ik, the number of annotators of i who chose k
Ratings    one number on a bounded scale               x_ij in [low, high]
Rankings   blocks of labels, best first, ties inside   B_1 > B_2 > ...
=========  ==========================================  ===============================================
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesagree._columns import (
    Codes,
    Duplicates,
    categories,
    column,
    eager_frame,
    encode,
    float_column,
    kept_rows,
    names_array,
    require_present,
    values_of,
)
from bayesagree.errors import InputError, plain, some


@dataclass(frozen=True, eq=False)
class Labels:
    """One label of a closed list per annotation.

    Attributes
    ----------
    items, annotators, labels
        Names on each axis. `annotators` is empty where the annotators are unknown (`from_counts`).
    item_index, annotator_index, label_index
        Positions in those names, one row per annotation, shape (row,); an unknown annotator is -1.
    count
        How many annotations the row stands for, shape (row,): 1 unless the labels came as counts.
    """

    items: NDArray[Any]
    annotators: NDArray[Any]
    labels: NDArray[Any]
    item_index: Codes
    annotator_index: Codes
    label_index: Codes
    count: NDArray[np.int64]

    @classmethod
    def from_long(
        cls,
        frame: Any,
        *,
        item: str = "item",
        annotator: str = "annotator",
        label: str = "label",
        labels: Sequence[Any] | None = None,
        duplicates: Duplicates = "error",
    ) -> Self:
        """Read a table with one row per annotation.

        Parameters
        ----------
        frame
            pandas, polars or pyarrow table.
        item, annotator, label
            Names of its columns. A row without a label is a missing annotation: its item stays.
        labels
            All possible labels in their order. By default the declared categories of a categorical column, else
            the distinct values found, sorted.
        duplicates
            What to do when an annotator labelled an item twice: raise, keep every label, or keep the first or
            the last.

        Raises
        ------
        InputError
            Empty table, missing column, unknown label, missing item or annotator, repeated annotation.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"task": [1, 1, 2], "worker": list("aba"), "label": ["cat", "dog", "cat"]})
        >>> Labels.from_long(table, item="task", annotator="worker").counts().tolist()
        [[1, 1], [1, 0]]
        """
        table = eager_frame(frame)
        item_codes, items = encode(values_of(column(table, item, "item")), "item")
        annotator_codes, annotators = encode(values_of(column(table, annotator, "annotator")), "annotator")
        require_present(item_codes, "item")
        require_present(annotator_codes, "annotator")
        series = column(table, label, "label")
        declared = labels if labels is not None else categories(series)
        known = None if declared is None else names_array(declared, "label")
        label_codes, known = encode(values_of(series), "label", known)
        present = np.flatnonzero(label_codes >= 0)
        rows = present[kept_rows(item_codes[present], annotator_codes[present], (items, annotators), duplicates)]
        return cls._sorted(items, annotators, known, item_codes[rows], annotator_codes[rows], label_codes[rows])

    @classmethod
    def from_matrix(
        cls,
        array: ArrayLike,
        *,
        items: Sequence[Any] | None = None,
        annotators: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
    ) -> Self:
        """Read an (item, annotator) matrix of labels; NaN and None are missing.

        Examples
        --------
        >>> Labels.from_matrix([["a", "b"], ["a", None]], labels=["a", "b"]).counts().tolist()
        [[1, 1], [1, 0]]
        """
        matrix, items_, annotators_ = _matrix(array, items, annotators)
        known = None if labels is None else names_array(labels, "label")
        codes, known = encode(_whole_numbers(matrix.ravel()), "label", known)
        rows = np.flatnonzero(codes >= 0)
        if rows.size == 0:
            raise InputError("the matrix holds no label: every cell is missing")
        item_codes, annotator_codes = np.divmod(rows, max(matrix.shape[1], 1))
        return cls._sorted(items_, annotators_, known, item_codes, annotator_codes, codes[rows])

    @classmethod
    def from_counts(
        cls, array: ArrayLike, *, items: Sequence[Any] | None = None, labels: Sequence[Any] | None = None
    ) -> Self:
        """Read an (item, label) matrix of counts; the annotators behind them are unknown.

        Raises
        ------
        InputError
            A count that is negative or not a whole number, with its place.

        Examples
        --------
        >>> Labels.from_counts([[3, 0], [1, 2]], labels=["no", "yes"]).n_annotations
        6
        """
        counts = np.asarray(array)
        if counts.ndim != 2 or counts.size == 0:
            raise InputError(f"counts must be an (item, label) matrix with cells, got shape {counts.shape}")
        items_ = _axis(items, counts.shape[0], "item")
        labels_ = _axis(labels, counts.shape[1], "label")
        bad = np.argwhere(~(np.isfinite(counts) & (counts >= 0) & (counts == np.floor(counts))))
        if bad.size:
            row, col = bad[0]
            raise InputError(
                f"item {plain(items_[row])!r}, label {plain(labels_[col])!r}: count {plain(counts[row, col])!r} "
                "is not a whole number of annotations (0, 1, 2, ...)"
            )
        item_codes, label_codes = np.nonzero(counts)
        unknown = np.broadcast_to(np.int32(-1), item_codes.shape)
        return cls(
            items_, np.empty(0, dtype="<U1"), labels_, item_codes.astype(np.int32), unknown,
            label_codes.astype(np.int32), counts[item_codes, label_codes].astype(np.int64),
        )  # fmt: skip

    @classmethod
    def _sorted(
        cls,
        items: NDArray[Any],
        annotators: NDArray[Any],
        labels: NDArray[Any],
        item: NDArray[Any],
        annotator: NDArray[Any],
        label: NDArray[Any],
    ) -> Self:
        order = np.lexsort((label, annotator, item))
        one = np.broadcast_to(np.int64(1), item.shape)
        item, annotator, label = (a[order].astype(np.int32) for a in (item, annotator, label))
        return cls(items, annotators, labels, item, annotator, label, one)

    @property
    def n_annotations(self) -> int:
        """Number of annotations."""
        return int(self.count.sum())

    @property
    def annotators_known(self) -> bool:
        """Whether each annotation says who made it."""
        return self.annotators.size > 0

    @property
    def has_repeats(self) -> bool:
        """Whether some annotator labelled an item more than once (kept with ``duplicates="keep"``)."""
        return self.annotators_known and _has_repeats(self.item_index, self.annotator_index)

    def counts(self) -> NDArray[np.int64]:
        """Return the number of annotators of each item who chose each label, shape (item, label)."""
        shape = (self.items.size, self.labels.size)
        table = np.zeros(shape, dtype=np.int64)
        np.add.at(table, (self.item_index, self.label_index), self.count)
        return table


@dataclass(frozen=True, eq=False)
class Ratings:
    """One number on a bounded scale per annotation.

    Attributes
    ----------
    items, annotators
        Names on each axis.
    item_index, annotator_index
        Positions in those names, one row per rating, shape (row,).
    rating
        The ratings in the units of the scale, shape (row,).
    scale
        Lowest and highest possible rating.
    step
        Distance between neighbouring levels (low, low + step, ..., high), or None for a continuous scale.
    """

    items: NDArray[Any]
    annotators: NDArray[Any]
    item_index: Codes
    annotator_index: Codes
    rating: NDArray[np.float64]
    scale: tuple[float, float]
    step: float | None

    @classmethod
    def from_long(
        cls,
        frame: Any,
        *,
        scale: tuple[float, float],
        step: float | None = None,
        item: str = "item",
        annotator: str = "annotator",
        rating: str = "rating",
        duplicates: Duplicates = "error",
    ) -> Self:
        """Read a table with one row per rating; a row without a rating is missing, its item stays.

        Raises
        ------
        InputError
            As `Labels.from_long`; and a rating outside the scale or off the step, with its item and annotator.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"item": [1, 1], "annotator": ["a", "b"], "rating": [2, 5]})
        >>> Ratings.from_long(table, scale=(1, 5), step=1).levels().tolist()
        [1, 4]
        """
        table = eager_frame(frame)
        item_codes, items = encode(values_of(column(table, item, "item")), "item")
        annotator_codes, annotators = encode(values_of(column(table, annotator, "annotator")), "annotator")
        require_present(item_codes, "item")
        require_present(annotator_codes, "annotator")
        values = float_column(table, rating, "rating")
        present = np.flatnonzero(~np.isnan(values))
        rows = present[kept_rows(item_codes[present], annotator_codes[present], (items, annotators), duplicates)]
        return cls._checked(items, annotators, item_codes[rows], annotator_codes[rows], values[rows], scale, step)

    @classmethod
    def from_matrix(
        cls,
        array: ArrayLike,
        *,
        scale: tuple[float, float],
        step: float | None = None,
        items: Sequence[Any] | None = None,
        annotators: Sequence[Any] | None = None,
    ) -> Self:
        """Read an (item, annotator) matrix of ratings; NaN and None are missing."""
        matrix, items_, annotators_ = _matrix(array, items, annotators)
        try:
            values = matrix.astype(np.float64).ravel()
        except (TypeError, ValueError) as error:
            raise InputError(f"ratings must be numbers: {error}") from error
        rows = np.flatnonzero(~np.isnan(values))
        item_codes, annotator_codes = np.divmod(rows, max(matrix.shape[1], 1))
        return cls._checked(items_, annotators_, item_codes, annotator_codes, values[rows], scale, step)

    @classmethod
    def _checked(
        cls,
        items: NDArray[Any],
        annotators: NDArray[Any],
        item: NDArray[Any],
        annotator: NDArray[Any],
        rating: NDArray[np.float64],
        scale: tuple[float, float],
        step: float | None,
    ) -> Self:
        low, high = _scale(scale, step)
        if rating.size == 0:
            raise InputError("there is no rating: every cell is missing")

        def refuse(bad: NDArray[np.bool_], rule: str) -> None:
            if bad.any():
                row = int(np.flatnonzero(bad)[0])
                raise InputError(
                    f"item {plain(items[item[row]])!r}, annotator {plain(annotators[annotator[row]])!r}: "
                    f"rating {rating[row]:g} {rule} ({int(bad.sum())} such ratings in all)"
                )

        outside = ~((rating >= low) & (rating <= high))
        wide = (min(low, float(np.min(rating))), max(high, float(np.max(rating))))
        refuse(
            outside,
            f"is outside the scale ({low:g}, {high:g}); pass scale=({wide[0]:g}, {wide[1]:g}) or drop the row",
        )
        if step is not None:
            level = (rating - low) / step
            refuse(
                np.abs(level - np.round(level)) > 1e-6,
                f"is off the step: levels are {low:g}, {low + step:g}, ..., {high:g}; "
                "pass step=None for a continuous scale or correct the row",
            )
        order = np.lexsort((rating, annotator, item))
        item, annotator = item[order].astype(np.int32), annotator[order].astype(np.int32)
        return cls(items, annotators, item, annotator, rating[order], (low, high), step)

    @property
    def n_annotations(self) -> int:
        """Number of ratings."""
        return int(self.rating.size)

    @property
    def n_levels(self) -> int | None:
        """Number of levels of a discrete scale, or None for a continuous one."""
        return None if self.step is None else round((self.scale[1] - self.scale[0]) / self.step) + 1

    @property
    def has_repeats(self) -> bool:
        """Whether some annotator rated an item more than once (kept with ``duplicates="keep"``)."""
        return _has_repeats(self.item_index, self.annotator_index)

    def unit(self) -> NDArray[np.float64]:
        """Return the ratings mapped to [0, 1], shape (row,)."""
        low, high = self.scale
        return (self.rating - low) / (high - low)

    def levels(self) -> NDArray[np.int64]:
        """Return the level 0, 1, ..., M - 1 of every rating on a discrete scale, shape (row,)."""
        if self.step is None:
            raise InputError("a continuous scale has no levels; pass step= when building the ratings")
        return np.round((self.rating - self.scale[0]) / self.step).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Rankings:
    """One partial ranking with ties per annotation: blocks of labels, best first.

    Labels that an annotator does not name rank below all that are named (one last, unordered block).

    Attributes
    ----------
    items, annotators, labels
        Names on each axis. `annotators` is empty where the annotators are unknown.
    item_index, annotator_index
        One entry per ranking, shape (ranking,); an unknown annotator is -1.
    start
        Ranking r owns the entries ``start[r]:start[r + 1]`` of the next two arrays, shape (ranking + 1,).
    label_index, block
        Label named, and the position 0, 1, ... of its block, shape (entry,); sorted by block, then label.
    """

    items: NDArray[Any]
    annotators: NDArray[Any]
    labels: NDArray[Any]
    item_index: Codes
    annotator_index: Codes
    start: NDArray[np.int64]
    label_index: Codes
    block: Codes

    @classmethod
    def from_blocks(
        cls,
        cases: Sequence[Sequence[Sequence[Sequence[Any]]]],
        *,
        labels: Sequence[Any] | int,
        items: Sequence[Any] | None = None,
        annotators: Sequence[Sequence[Any]] | None = None,
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

        Raises
        ------
        InputError
            Empty case, ranking or block; unknown label; a label named twice in one ranking.

        Examples
        --------
        >>> rankings = Rankings.from_blocks([[[[0, 3], [2]], [[1], [0]]]], labels=4)
        >>> rankings.n_annotations, rankings.block.tolist()
        (2, [0, 0, 1, 0, 1])
        """
        if len(cases) == 0:
            raise InputError("there is no case: cases is empty")
        items_ = _axis(items, len(cases), "item")
        labels_ = np.arange(labels) if isinstance(labels, int) else names_array(labels, "label")
        item, rank, named, block = [], [], [], []
        for i, case in enumerate(cases):
            if len(case) == 0:
                raise InputError(f"item {plain(items_[i])!r} has no ranking; drop the item")
            for r, ranking in enumerate(case):
                if len(ranking) == 0 or any(len(b) == 0 for b in ranking):
                    raise InputError(
                        f"item {plain(items_[i])!r}, ranking {r}: empty block in {ranking!r}; every block names at "
                        "least one label: leave unranked labels out instead"
                    )
                for b, block_labels in enumerate(ranking):
                    for name in block_labels:
                        item.append(i)
                        rank.append(r)
                        named.append(name)
                        block.append(b)
        codes, _ = encode(np.asarray(named, dtype=object), "label", labels_)
        who = _who(annotators, cases, items_)
        item_, rank_ = np.asarray(item), np.asarray(rank)
        annotator = None if who is None else np.asarray([who[i][r] for i, r in zip(item, rank)], dtype=object)
        return cls._grouped(items_, labels_, item_, rank_, annotator, codes, np.asarray(block))

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
    ) -> Self:
        """Read a table with one row per (item, annotator, label); equal rank is a tie, 1 is best.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"item": [7, 7], "annotator": ["a", "a"], "label": ["x", "y"], "rank": [1, 1]})
        >>> Rankings.from_long(table).block.tolist()
        [0, 0]
        """
        table = eager_frame(frame)
        item_codes, items = encode(values_of(column(table, item, "item")), "item")
        annotator_codes, annotators = encode(values_of(column(table, annotator, "annotator")), "annotator")
        series = column(table, label, "label")
        declared = labels if labels is not None else categories(series)
        known = None if declared is None else names_array(declared, "label")
        label_codes, known = encode(values_of(series), "label", known)
        for codes, role in ((item_codes, "item"), (annotator_codes, "annotator"), (label_codes, "label")):
            require_present(codes, role)
        ranks = float_column(table, rank, "rank")
        if np.isnan(ranks).any():
            raise InputError(
                f"row {int(np.flatnonzero(np.isnan(ranks))[0])}: the rank is missing; leave unranked labels out"
            )
        return cls._grouped(items, known, item_codes, annotator_codes, annotators[annotator_codes], label_codes, ranks)

    @classmethod
    def _grouped(
        cls,
        items: NDArray[Any],
        labels: NDArray[Any],
        item: NDArray[Any],
        ranker: NDArray[Any],
        annotator: NDArray[Any] | None,
        label: NDArray[Any],
        rank: NDArray[Any],
    ) -> Self:
        if annotator is None:
            annotators, who = np.empty(0, dtype="<U1"), np.full(item.shape, -1, np.int32)
        else:
            who, annotators = encode(annotator, "annotator")
        order = np.lexsort((label, rank, ranker if annotator is None else who, item))
        item, ranker, label, rank, who = (a[order] for a in (item, ranker, label, rank, who))
        new_ranking = np.ones(item.size, bool)
        key = ranker if annotator is None else who
        new_ranking[1:] = (item[1:] != item[:-1]) | (key[1:] != key[:-1])
        ranking = np.cumsum(new_ranking) - 1
        start = np.append(np.flatnonzero(new_ranking), item.size)
        new_block = new_ranking.copy()
        new_block[1:] |= rank[1:] != rank[:-1]
        block = np.cumsum(new_block) - 1
        block -= block[start[:-1]][ranking]
        pair = ranking.astype(np.int64) * labels.size + label
        twice = np.sort(pair)[1:][np.diff(np.sort(pair)) == 0]
        if twice.size:
            r, k = divmod(int(twice[0]), labels.size)
            name = "" if annotator is None else f", annotator {plain(annotators[who[start[r]]])!r}"
            raise InputError(
                f"item {plain(items[item[start[r]]])!r}{name}: label {plain(labels[k])!r} is named twice in one "
                "ranking; a label has one place: keep its best one"
            )
        first = start[:-1]
        return cls(
            items, annotators, labels, item[first].astype(np.int32), who[first].astype(np.int32), start,
            label.astype(np.int32), block.astype(np.int32),
        )  # fmt: skip

    @property
    def n_annotations(self) -> int:
        """Number of rankings."""
        return int(self.item_index.size)

    def ranking_index(self) -> NDArray[np.int64]:
        """Return the ranking that each entry belongs to, shape (entry,)."""
        return np.repeat(np.arange(self.n_annotations), np.diff(self.start))

    def block_sizes(self) -> NDArray[np.int64]:
        """Return how many labels share the block of each entry, shape (entry,)."""
        new_block = np.append(False, np.diff(self.block) != 0)
        new_block[self.start[1:-1]] = True
        block = np.cumsum(new_block)
        return np.bincount(block)[block]

    @property
    def annotators_known(self) -> bool:
        """Whether each ranking says who made it."""
        return self.annotators.size > 0


type Annotations = Labels | Ratings | Rankings


def _axis(names: Sequence[Any] | None, size: int, role: str) -> NDArray[Any]:
    if names is None:
        return np.arange(size)
    array = names_array(names, role)
    if array.size != size:
        raise InputError(f"{array.size} {role} names for {size} {role}s ({some(array)}); give one name each")
    return array


def _matrix(
    array: ArrayLike, items: Sequence[Any] | None, annotators: Sequence[Any] | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    matrix = np.asarray(array, dtype=None if isinstance(array, np.ndarray) else object)
    if matrix.ndim != 2 or matrix.size == 0:
        raise InputError(f"expected an (item, annotator) matrix with cells, got shape {matrix.shape}")
    return matrix, _axis(items, matrix.shape[0], "item"), _axis(annotators, matrix.shape[1], "annotator")


def _whole_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Give a float matrix with NaN gaps its integer labels back."""
    if values.dtype.kind != "f":
        return values
    return np.asarray([None if np.isnan(v) else int(v) if v.is_integer() else v for v in values], dtype=object)


def _scale(scale: tuple[float, float], step: float | None) -> tuple[float, float]:
    low, high = float(scale[0]), float(scale[1])
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InputError(f"scale {scale!r} is not (lowest, highest) with lowest < highest")
    if step is not None:
        n = (high - low) / step if step > 0 else np.nan
        if not np.isfinite(n) or abs(n - round(n)) > 1e-6:
            raise InputError(f"step {step!r} does not divide the scale ({low:g}, {high:g}) into whole levels")
    return low, high


def _has_repeats(item: Codes, annotator: Codes) -> bool:
    return bool(((item[1:] == item[:-1]) & (annotator[1:] == annotator[:-1])).any())


def _who(
    annotators: Sequence[Sequence[Any]] | Mapping[Any, Any] | None,
    cases: Sequence[Sequence[Any]],
    items: NDArray[Any],
) -> list[list[Any]] | None:
    if annotators is None:
        return None
    who = [list(names) for names in annotators]
    if [len(names) for names in who] != [len(case) for case in cases]:
        raise InputError("annotators[item] must name one annotator for each ranking of that item")
    for i, names in enumerate(who):
        if len(set(names)) != len(names):
            raise InputError(f"item {plain(items[i])!r}: an annotator is named twice ({some(names)}); one ranking each")
    return who
