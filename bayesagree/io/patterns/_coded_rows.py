"""Codes of the rows of a chunk: its names and levels, each with an error that names the item."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree.annotations._columns import names_array
from bayesagree.errors import InputError, as_python
from bayesagree.io.patterns._sorted_file import Chunk

type Counts = NDArray[np.int64]


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
        names = [None if name is None else as_python(name) for name in coded.dictionary.to_pylist()]
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


def level_codes(chunk: Chunk, rating: str, scale: tuple[float, float], step: float) -> Counts:
    """Return the level of every row, counted from the lowest, -1 where the rating is missing."""
    values, (low, high) = _numbers(chunk, rating), scale
    if values.dtype.kind in "iu" and step == 1 and float(low).is_integer():  # nothing to divide, nothing to round
        level = values.astype(np.int64) - int(low)
        bad = level.view(np.uint64) > int(high - low)  # without a sign a level below the lowest is a large number
    else:
        exact = (values - low) / step
        nearest = np.rint(exact)
        bad = (values < low) | (values > high) | (np.abs(exact - nearest) > 1e-6)
        level = np.where(np.isnan(exact), -1, nearest).astype(np.int64)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"item {chunk.item_of(row)!r}: rating {values[row]:g} is not one of the levels {low:g}, "
            f"{low + step:g}, ..., {high:g}; correct it, or the scale= and step="
        )
    return level


def _numbers(chunk: Chunk, column: str) -> NDArray[Any]:
    """Return whole numbers as they are, where none is missing, or floats with NaN."""
    import pyarrow as pa

    values = chunk.columns[column]
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise InputError(f"column {column!r} holds {values.type}, not numbers; convert it first")
    found = values.to_numpy(zero_copy_only=False)
    return found if found.dtype.kind in "iu" else found.astype(np.float64)  # missing ones made integers floats


def require_distinct_annotators(chunk: Chunk, annotator: str, present: NDArray[np.bool_]) -> None:
    """Refuse an annotator who annotated an item twice; `present` is true for rows with an annotation."""
    column = chunk.columns[annotator]
    if column.null_count:
        where = chunk.item_of(int(np.argmax(column.is_null().to_numpy(zero_copy_only=False))))
        raise InputError(f"item {where!r}: the annotator is missing; correct it or drop the row")
    column = column if hasattr(column, "dictionary") else column.dictionary_encode()
    who = column.indices.to_numpy().astype(np.int64)[present]
    item = np.repeat(np.arange(chunk.start.size - 1), np.diff(chunk.start))[present]
    key = item * (int(who.max(initial=0)) + 1) + who
    ordered = np.sort(key)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if twice.size:
        where = chunk.items[int(item[np.argmax(key == twice[0])])].as_py()
        raise InputError(f"item {where!r}: an annotator annotated it more than once; keep one of the rows")
