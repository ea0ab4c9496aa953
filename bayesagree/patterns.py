"""Patterns: items with the same annotations counted once, so that 10^8 annotations need the memory of a few.

Agreement and certainty depend on an item only through its pattern: which labels, levels or rankings it got, and how
often. `LabelPatterns`, `RatingPatterns` and `RankingPatterns` read a file that is sorted by item in one pass and keep
the distinct patterns with the number of items that show each. `common_agreement` and `agreement_table` take patterns as
they take annotations; what works item by item runs on `one_of_each()`, and `mean` weights its answer:

    patterns = LabelPatterns.from_file("votes.parquet")
    certainty = annotation_certainty(dirichlet(patterns.one_of_each(), draws=1), exact=True)
    patterns.mean(certainty)
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bayesagree._columns import names_array
from bayesagree._ratings import checked_scale
from bayesagree._sorted_file import Chunk, whole_items
from bayesagree.annotations import Labels, Rankings, Ratings
from bayesagree.errors import InputError, plain

type Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Patterns:
    """Distinct items, each with the number of items that are like it.

    Attributes
    ----------
    counts
        How often a pattern has each possible annotation, sparse, shape (pattern, annotation).
    weight
        Number of items with the pattern, shape (pattern,).
    """

    counts: Any
    weight: Counts

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.weight.sum())

    @property
    def n_annotations(self) -> int:
        """Number of annotations."""
        return int(self.weight @ self.counts.sum(axis=1))

    def mean(self, values: xr.DataArray) -> xr.DataArray:
        """Average what was computed item by item on `one_of_each` over all items."""
        return values.weighted(xr.DataArray(self.weight, dims="item", coords={"item": values["item"]})).mean("item")


@dataclass(frozen=True, eq=False)
class LabelPatterns(Patterns):
    """Distinct multisets of labels; `labels` names the columns of `counts`."""

    labels: NDArray[Any]

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        *,
        item: str = "item",
        label: str = "label",
        annotator: str | None = None,
        labels: Sequence[Any] | None = None,
    ) -> Self:
        r"""Count the patterns of a table with one row per annotation, sorted by item.

        Parameters
        ----------
        path
            Parquet or CSV file, or a folder of Parquet files; read once, 131,072 rows at a time.
        item, label
            Names of the columns; a row without a label is a missing annotation, its item stays.
        annotator
            Column of the annotators, read only to refuse one who labelled an item twice.
        labels
            All possible labels in their order; by default those found, sorted.

        Raises
        ------
        InputError
            Rows not sorted by item (and how to sort them), unknown label, missing item, repeated annotation.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "votes.csv"
        >>> _ = path.write_text("item,label\n1,cat\n1,dog\n2,dog\n2,cat\n3,cat\n")
        >>> patterns = LabelPatterns.from_file(path)
        >>> patterns.counts.toarray().tolist(), patterns.weight.tolist()
        ([[1, 1], [1, 0]], [2, 1])
        """
        names = Names(labels, "label")
        columns = [label] if annotator is None else [label, annotator]

        def coded() -> Iterator[tuple[Counts, Counts]]:
            for chunk in whole_items(path, item, columns):
                codes = names.codes(chunk, label)
                if annotator is not None:
                    _require_distinct_annotators(chunk, annotator, codes >= 0)
                yield codes, chunk.start

        counts, weight = _tally(coded())
        if counts.nnz == 0:
            raise InputError(f"there is no label: column {label!r} holds missing values only")
        known, order = names.in_order()
        return cls(_columns(counts, order), weight, known)

    def one_of_each(self) -> Labels:
        """Return one item of each pattern, named 0, 1, ..."""
        return Labels.from_counts(self.counts.toarray(), labels=self.labels.tolist())


@dataclass(frozen=True, eq=False)
class RatingPatterns(Patterns):
    """Distinct multisets of ratings on a scale of levels; column m of `counts` is the level low + m step."""

    scale: tuple[float, float]
    step: float

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        *,
        scale: tuple[float, float],
        step: float,
        item: str = "item",
        rating: str = "rating",
        annotator: str | None = None,
    ) -> Self:
        r"""Count the patterns of a table with one row per rating, sorted by item.

        Continuous ratings have no patterns to share: give them to `Ratings.from_long`.

        Parameters
        ----------
        path, item, annotator
            As `LabelPatterns.from_file`.
        scale, step
            As `Ratings.from_long`.
        rating
            Column of the ratings; a row without one is missing.

        Raises
        ------
        InputError
            As `LabelPatterns.from_file`; and a rating outside the scale or off the step, with its item.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "ratings.csv"
        >>> _ = path.write_text("item,rating\n1,5\n1,4\n2,4\n2,5\n")
        >>> RatingPatterns.from_file(path, scale=(1, 5), step=1).counts.toarray().tolist()
        [[0, 0, 0, 1, 1]]
        """
        low, high = checked_scale(scale, step)
        columns = [rating] if annotator is None else [rating, annotator]

        def coded() -> Iterator[tuple[Counts, Counts]]:
            for chunk in whole_items(path, item, columns):
                codes = _levels(chunk, rating, (low, high), step)
                if annotator is not None:
                    _require_distinct_annotators(chunk, annotator, codes >= 0)
                yield codes, chunk.start

        counts, weight = _tally(coded())
        if counts.nnz == 0:
            raise InputError("there is no rating: every one is missing")
        return cls(_columns(counts, np.arange(round((high - low) / step) + 1)), weight, (low, high), step)

    @property
    def n_levels(self) -> int:
        """Number of levels of the scale."""
        return int(self.counts.shape[1])

    def one_of_each(self) -> Ratings:
        """Return one item of each pattern, named 0, 1, ...; annotators 0, 1, ... are places in the pattern."""
        return self._items(np.arange(self.weight.size))

    def sample(self, n_items: int, rng: np.random.Generator) -> Ratings:
        """Draw items at random, each pattern in proportion to its items."""
        return self._items(rng.choice(self.weight.size, n_items, p=self.weight / self.weight.sum()))

    def _items(self, pattern: Counts) -> Ratings:
        counts: Any = csr_array(self.counts[pattern])
        n = np.asarray(counts.sum(axis=1)).ravel()
        matrix = np.full((n.size, int(n.max())), np.nan)
        matrix[np.arange(n.max()) < n[:, None]] = self.scale[0] + self.step * np.repeat(counts.indices, counts.data)
        return Ratings.from_matrix(matrix, scale=self.scale, step=self.step)


@dataclass(frozen=True, eq=False)
class RankingPatterns(Patterns):
    """Distinct multisets of partial rankings; column r of `counts` is `rankings[r]`, blocks of names, best first."""

    labels: NDArray[Any]
    rankings: list[list[list[Any]]]

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        *,
        item: str = "item",
        annotator: str = "annotator",
        label: str = "label",
        rank: str = "rank",
        labels: Sequence[Any] | None = None,
    ) -> Self:
        r"""Count the patterns of a table with one row per (item, annotator, label), sorted by item; equal ranks tie.

        Raises
        ------
        InputError
            As `LabelPatterns.from_file` and `Rankings.from_long`.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "rankings.csv"
        >>> _ = path.write_text("item,annotator,label,rank\n1,a,x,1\n1,a,y,2\n2,b,y,4\n2,b,x,3\n")
        >>> patterns = RankingPatterns.from_file(path)
        >>> patterns.rankings, patterns.weight.tolist()
        ([[['x'], ['y']]], [2])
        """
        names = Names(labels, "label")
        known: dict[int, int] = {}
        rankings: list[list[list[Any]]] = []

        def coded() -> Iterator[tuple[Counts, Counts]]:
            for chunk in whole_items(path, item, [annotator, label, rank]):
                entries = _Entries.of(chunk, names.codes(chunk, label), annotator, label, rank)
                codes = np.empty(entries.start.size - 1, np.int64)
                for r, key in enumerate(entries.keys()):
                    if key not in known:
                        known[key] = len(rankings)
                        rankings.append(entries.blocks(r, names.found))
                    codes[r] = known[key]
                yield codes, entries.rankings_of_item

        counts, weight = _tally(coded())
        return cls(counts, weight, names.in_order()[0], rankings)

    def one_of_each(self) -> Rankings:
        """Return one item of each pattern, named 0, 1, ...; the annotators are unknown."""
        bounds = self.counts.indptr
        cases = []
        for start, end in itertools.pairwise(bounds):
            code = np.repeat(self.counts.indices[start:end], self.counts.data[start:end])
            cases.append([self.rankings[c] for c in code])
        return Rankings.from_blocks(cases, labels=self.labels.tolist())


class Names:
    """Codes of names: those given, or found while the file is read."""

    def __init__(self, given: Sequence[Any] | None, role: str):
        self.given, self.role = given is not None, role
        self.found: list[Any] = [] if given is None else names_array(given, role).tolist()
        self.position = {name: code for code, name in enumerate(self.found)}

    def codes(self, chunk: Chunk, column: str) -> Counts:
        """Return the code of every row, -1 where the name is missing."""
        coded = chunk.columns[column]
        coded = coded if hasattr(coded, "dictionary") else coded.dictionary_encode()
        names = [None if name is None else plain(name) for name in coded.dictionary.to_pylist()]
        for k, name in enumerate(names):
            if name is not None and name not in self.position:
                if self.given:
                    row = coded.indices.to_pylist().index(k)
                    raise InputError(
                        f"item {chunk.item_of(row)!r}: {self.role} {name!r} is not among the {len(self.found)} given; "
                        f"add it to {self.role}s= or correct the row"
                    )
                self.position[name] = len(self.found)
                self.found.append(name)
        code = np.array([self.position.get(name, -1) for name in names] + [-1])
        return code[coded.indices.fill_null(len(names)).to_numpy(zero_copy_only=False)]

    def in_order(self) -> tuple[NDArray[Any], Counts]:
        """Return the names in their final order, and the code of each."""
        order = range(len(self.found)) if self.given else sorted(range(len(self.found)), key=self.found.__getitem__)
        return names_array([self.found[k] for k in order], self.role), np.array(order)


@dataclass(frozen=True)
class _Entries:
    """Rankings of a chunk: entries sorted by item, annotator, block and label."""

    label: Counts
    block: Counts
    start: Counts
    rankings_of_item: Counts

    @classmethod
    def of(cls, chunk: Chunk, code: Counts, annotator: str, label: str, rank: str) -> Self:
        ranks = _numbers(chunk, rank)
        for bad, role in ((code < 0, label), (~np.isfinite(ranks), rank)):
            if bad.any():
                where = chunk.item_of(int(np.argmax(bad)))
                raise InputError(f"item {where!r}: column {role!r} is missing; leave unranked labels out")
        who = _annotator_codes(chunk, annotator)
        item = np.repeat(np.arange(chunk.start.size - 1), np.diff(chunk.start))
        _require_distinct((item, who, code), chunk, "an annotator ranks a label twice; keep one of the rows")
        order = np.lexsort((code, ranks, who, item))
        item, who, ranks, code = item[order], who[order], ranks[order], code[order]
        new = np.append(True, (np.diff(item) != 0) | (np.diff(who) != 0))
        start = np.flatnonzero(new)
        step = np.cumsum(new | np.append(True, np.diff(ranks) != 0))
        block = step - np.repeat(step[start], np.diff(np.append(start, item.size)))
        return cls(code, block, np.append(start, item.size), np.searchsorted(item[start], np.arange(item[-1] + 2)))

    def keys(self) -> list[int]:
        return np.add.reduceat(_words(_words(self.label).astype(np.int64) + self.block), self.start[:-1]).tolist()

    def blocks(self, ranking: int, names: list[Any]) -> list[list[Any]]:
        rows = slice(*self.start[ranking : ranking + 2])
        blocks: list[list[Any]] = [[] for _ in range(self.block[rows].max() + 1)]
        for code, block in zip(self.label[rows], self.block[rows]):
            blocks[block].append(names[code])
        return blocks


def _tally(coded: Iterable[tuple[Counts, Counts]]) -> tuple[Any, Counts]:
    """Count the items of each multiset of codes (-1: missing), in the order in which they are first seen.

    A multiset is known by the 64-bit sum of one random word for each code: two of a million distinct ones share their
    sum with probability below 1e-7.
    """
    position: dict[int, int] = {}
    weight: list[int] = []
    rows: list[Counts] = []
    for codes, start in coded:
        keys = np.add.reduceat(np.where(codes < 0, np.uint64(0), _words(codes)), start[:-1])
        distinct, first, number = np.unique(keys, return_index=True, return_counts=True)
        for k in np.argsort(first):
            key = int(distinct[k])
            if key in position:
                weight[position[key]] += int(number[k])
            else:
                position[key] = len(weight)
                weight.append(int(number[k]))
                own = codes[start[first[k]] : start[first[k] + 1]]
                rows.append(np.sort(own[own >= 0]))
    column = np.concatenate(rows)
    row = np.repeat(np.arange(len(rows)), [r.size for r in rows])
    counts = csr_array(
        (np.ones(column.size, np.int64), (row, column)), shape=(len(rows), int(column.max(initial=0)) + 1)
    )
    counts.sum_duplicates()
    return counts, np.array(weight)


def _words(codes: Counts) -> NDArray[np.uint64]:
    """Return a random word for each code (the output function of SplitMix64)."""
    z = (codes.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _columns(counts: Any, order: Counts) -> Any:
    """Put the columns into their order; codes that no item has become columns of zeros."""
    width = max(int(order.max()) + 1, counts.shape[1])
    full = csr_array((counts.data, counts.indices, counts.indptr), shape=(counts.shape[0], width))
    return csr_array(full[:, order])


def _levels(chunk: Chunk, rating: str, scale: tuple[float, float], step: float) -> Counts:
    values = _numbers(chunk, rating)
    level = (values - scale[0]) / step
    nearest = np.rint(level)
    bad = (values < scale[0]) | (values > scale[1]) | (np.abs(level - nearest) > 1e-6)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"item {chunk.item_of(row)!r}: rating {values[row]:g} is not one of the levels {scale[0]:g}, "
            f"{scale[0] + step:g}, ..., {scale[1]:g}; correct it, or the scale= and step="
        )
    return np.where(np.isnan(values), -1, nearest).astype(np.int64)


def _numbers(chunk: Chunk, column: str) -> NDArray[np.float64]:
    import pyarrow as pa

    values = chunk.columns[column]
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise InputError(f"column {column!r} holds {values.type}, not numbers; convert it first")
    return values.to_numpy(zero_copy_only=False).astype(np.float64)


def _annotator_codes(chunk: Chunk, annotator: str) -> Counts:
    column = chunk.columns[annotator]
    if column.null_count:
        where = chunk.item_of(int(np.argmax(column.is_null().to_numpy(zero_copy_only=False))))
        raise InputError(f"item {where!r}: the annotator is missing; correct it or drop the row")
    column = column if hasattr(column, "dictionary") else column.dictionary_encode()
    return column.indices.to_numpy().astype(np.int64)


def _require_distinct_annotators(chunk: Chunk, annotator: str, present: NDArray[np.bool_]) -> None:
    item = np.repeat(np.arange(chunk.start.size - 1), np.diff(chunk.start))
    who = _annotator_codes(chunk, annotator)
    rule = "an annotator annotated it more than once; keep one of the rows"
    _require_distinct((item[present], who[present]), chunk, rule)


def _require_distinct(codes: tuple[Counts, ...], chunk: Chunk, rule: str) -> None:
    key = codes[0]
    for more in codes[1:]:
        key = key * (int(more.max(initial=0)) + 1) + more
    ordered = np.sort(key)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if twice.size:
        raise InputError(f"item {chunk.items[int(codes[0][np.argmax(key == twice[0])])].as_py()!r}: {rule}")
