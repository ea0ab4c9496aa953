"""Patterns: items with the same annotations counted once, so that 10^8 annotations need the memory of a few.

Agreement and certainty depend on an item only through its pattern: which labels or levels it got, and how
often. `LabelPatterns` and `RatingPatterns` read a file that is sorted by item in one pass and keep the distinct
patterns with the number of items that show each. `common_agreement` and `agreement_table` take patterns as
they take annotations; what works item by item runs on `representatives()`, and `mean` weights its answer:

    patterns = LabelPatterns.from_file("votes.parquet")
    certainty = annotation_certainty(dirichlet(patterns.representatives(), draws=1), exact=True)
    patterns.mean(certainty)
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._numerics.multisets import multisets
from bayesagree.annotations import Annotations, Labels, Ratings
from bayesagree.annotations._columns import names_array, sort_rows
from bayesagree.annotations._container import Kind, Level, OrderedCategories, checked_order
from bayesagree.annotations.ratings import checked_scale
from bayesagree.errors import InputError
from bayesagree.io.patterns._sorted_file import (
    BATCH,
    Chunk,
    Counts,
    Names,
    joined,
    level_codes,
    require_distinct_annotators,
    whole_items,
)


@dataclass(frozen=True, eq=False)
class Patterns(ABC):
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

    @abstractmethod
    def representatives(self) -> Annotations:
        """One item of each pattern, named 0, 1, ..."""

    def mean(self, values: xr.DataArray) -> xr.DataArray:
        """Average what was computed item by item on `representatives` over all items."""
        return values.weighted(xr.DataArray(self.weight, dims="item", coords={"item": values["item"]})).mean("item")


@dataclass(frozen=True, eq=False)
class LabelPatterns(Patterns, OrderedCategories):
    """Distinct multisets of labels; `categories` names the columns of `counts`, `ordered` is as in `Labels`."""

    kind: ClassVar[Kind] = "labels"

    categories: NDArray[Any]
    ordered: bool | None = None

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        *,
        item: str = "item",
        label: str = "label",
        annotator: str | None = None,
        labels: Sequence[Any] | None = None,
        ordered: bool | None = None,
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
        ordered
            As in `Labels.from_long`.

        Raises
        ------
        InputError
            Rows not sorted by item (and how to sort them), unknown label, missing item, repeated annotation, an order
            of names that is stated nowhere.

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
        counts, weight = _tally(path, item, label, annotator, lambda chunk: names.codes(chunk, label))
        if counts.nnz == 0:
            raise InputError(f"there is no label: column {label!r} holds missing values only")
        known, order = names.in_order()
        return cls(_columns(counts, order), weight, known, checked_order(ordered, labels, known))

    def representatives(self) -> Labels:
        """Return one item of each pattern, named 0, 1, ..."""
        names = self.categories.tolist()
        return Labels.from_counts(self.counts.toarray(), labels=names, ordered=self.ordered)


@dataclass(frozen=True, eq=False)
class RatingPatterns(Patterns):
    """Distinct multisets of ratings on a scale of levels; column m of `counts` is the level low + m step."""

    kind: ClassVar[Kind] = "ratings"
    level: ClassVar[Level] = "interval"

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
        counts, weight = _tally(
            path, item, rating, annotator, lambda chunk: level_codes(chunk, rating, (low, high), step)
        )
        if counts.nnz == 0:
            raise InputError("there is no rating: every one is missing")
        return cls(_columns(counts, np.arange(round((high - low) / step) + 1)), weight, (low, high), step)

    @property
    def n_levels(self) -> int:
        """Number of levels of the scale."""
        return int(self.counts.shape[1])

    def representatives(self) -> Ratings:
        """Return one item of each pattern, named 0, 1, ...; annotators 0, 1, ... are places in the pattern."""
        return self._items(np.arange(self.weight.size))

    def sample(self, n_items: int, rng: np.random.Generator) -> Ratings:
        """Draw items at random, each pattern in proportion to its items."""
        return self._items(rng.choice(self.weight.size, n_items, p=self.weight / self.weight.sum()))

    def _items(self, pattern: Counts) -> Ratings:
        counts: Any = sp.sparse.csr_array(self.counts[pattern])
        n = np.asarray(counts.sum(axis=1)).ravel()
        matrix = np.full((n.size, int(n.max())), np.nan)
        matrix[np.arange(n.max()) < n[:, None]] = self.scale[0] + self.step * np.repeat(counts.indices, counts.data)
        return Ratings.from_matrix(matrix, scale=self.scale, step=self.step)


def _tally(
    path: str | Path, item: str, value: str, annotator: str | None, codes_of: Callable[[Chunk], Counts]
) -> tuple[Any, Counts]:
    """Count the items of each multiset of codes (-1: missing), in the order in which they are first seen."""
    position: dict[int, int] = {}
    weight: list[int] = []
    rows: list[Counts] = []
    for chunk in whole_items(path, item, [value] if annotator is None else [value, annotator]):
        codes, start = codes_of(chunk), chunk.start
        if annotator is not None:
            require_distinct_annotators(chunk, annotator, codes >= 0)
        found = multisets(start, codes, np.zeros(start.size - 1, np.uint64))
        for key, first, items in zip(found.key.tolist(), found.first.tolist(), np.bincount(found.number).tolist()):
            if key in position:
                weight[position[key]] += items
            else:
                position[key] = len(weight)
                weight.append(items)
                own = codes[start[first] : start[first + 1]]
                rows.append(np.sort(own[own >= 0]))
    column = np.concatenate(rows)
    row = np.repeat(np.arange(len(rows)), [r.size for r in rows])
    counts = sp.sparse.csr_array(
        (np.ones(column.size, np.int64), (row, column)), shape=(len(rows), int(column.max(initial=0)) + 1)
    )
    counts.sum_duplicates()
    return counts, np.array(weight)


def _columns(counts: Any, order: Counts) -> Any:
    """Put the columns into their order; codes that no item has become columns of zeros."""
    width = max(int(order.max()) + 1, counts.shape[1])
    full = sp.sparse.csr_array((counts.data, counts.indices, counts.indptr), shape=(counts.shape[0], width))
    return sp.sparse.csr_array(full[:, order])


@dataclass(frozen=True)
class LabelBatches:
    r"""Labels of a table with one row per annotation, sorted by item; every loop over it reads the file once.

    Attributes
    ----------
    path
        Parquet or CSV file, or a folder of Parquet files.
    labels
        All possible labels in their order: the categories of every batch.
    item, annotator, label
        Names of the columns; a row without a label is a missing annotation, its item stays.
    rows
        A batch holds the items of at least so many rows, the last one of up to three times as many; two batches are
        in memory at a time.
    ordered
        Whether `labels` stand in a meaningful order, as in `Labels`.

    Raises
    ------
    InputError
        While it is read: rows not sorted by item (and how to sort them), an unknown label, a missing item or annotator,
        a repeated annotation.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "votes.csv"
    >>> _ = path.write_text("item,annotator,label\n1,a,cat\n1,b,dog\n2,a,dog\n2,c,dog\n")
    >>> [votes.counts().tolist() for votes in LabelBatches(path, labels=["cat", "dog"])]
    [[[1, 1], [0, 2]]]
    """

    path: str | Path
    labels: Sequence[Any]
    item: str = "item"
    annotator: str = "annotator"
    label: str = "label"
    rows: int = 2**20
    ordered: bool | None = None

    def __iter__(self) -> Iterator[Labels]:
        known = Names(self.labels, "label")
        full: list[Chunk] = []
        begun: list[Chunk] = []
        for chunk in whole_items(self.path, self.item, [self.annotator, self.label], min(self.rows, BATCH)):
            begun.append(chunk)
            if sum(int(one.start[-1]) for one in begun) >= self.rows:
                if full:
                    yield self._read(joined(full), known)
                full, begun = begun, []
        # The last rows may be those of a single item: they join the batch before them.
        yield self._read(joined(full + begun), known)

    def _read(self, chunk: Chunk, known: Names) -> Labels:
        label = known.codes(chunk, self.label)
        require_distinct_annotators(chunk, self.annotator, label >= 0)
        found = Names(None, "annotator")
        annotator = found.codes(chunk, self.annotator)
        annotators, order = found.in_order()
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        item = np.repeat(np.arange(chunk.start.size - 1), np.diff(chunk.start))
        given = np.flatnonzero(label >= 0)
        items, categories = names_array(chunk.items.to_pylist(), "item"), known.in_order()[0]
        codes = (item[given], place[annotator[given]], label[given])
        item, who, what = sort_rows(codes, (items.size, annotators.size, categories.size))
        once = np.broadcast_to(np.int64(1), item.shape)
        return Labels(items, annotators, categories, item, who, what, once, self.ordered)
