"""From columns of any data frame, or cells of a matrix, to integer codes and names."""

from collections.abc import Callable, Hashable, Sequence
from numbers import Number
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import infer_dtype, is_numeric_dtype

from bayesagree._types import Array, Booleans, Codes, Floats, Integers
from bayesagree.annotations._words import guessed_columns
from bayesagree.errors import InputError, as_python, one_of, place_of, refuse, say, shorten

Duplicates = Literal["error", "keep", "first", "last"]
Place = Callable[[int], str]


def pandas_frame(given: Any) -> pd.DataFrame:
    """Return a table of pandas, polars or pyarrow as one of pandas; anything else is an error that names the type."""
    table = _frame(given)
    if table is None:
        raise InputError(
            f"expected a data frame (pandas, polars or pyarrow), got {type(given).__name__}; "
            "arrays go through from_matrix"
        )
    if len(table) == 0:
        raise InputError(f"the table is empty: no row below the columns {shorten(table.columns, 20)}")
    return table


def _frame(given: Any) -> pd.DataFrame | None:
    """Return a table as one of pandas, None for anything else."""
    if isinstance(given, np.ndarray | list):
        return None
    if not isinstance(given, pd.DataFrame):
        import narwhals as nw  # takes a twentieth of a second

        given = nw.from_native(given, pass_through=True)
        given = given.collect() if isinstance(given, nw.LazyFrame) else given
        if not isinstance(given, nw.DataFrame):
            return None
        given = pd.DataFrame({series.name: _pandas_column(series) for series in given.iter_columns()})
    refuse(
        given.columns.duplicated(),
        lambda at: f"two columns are named {given.columns[at]!r}; give every column a name of its own",
    )
    return given


def _pandas_column(series: Any) -> Any:
    """Return the values of a column of another library: missing ones do not make floats of whole numbers."""
    kind, values = series.dtype, series.to_list()
    if hasattr(kind, "categories"):  # an Enum
        return pd.Categorical(values, list(kind.categories))
    if kind.is_integer() and series.null_count():
        return pd.array(values, str(kind))
    return series.to_numpy() if kind.is_numeric() else objects(values)


def column(table: pd.DataFrame, name: str, role: str) -> Any:
    """Column of a table; where it is missing, the error says which columns exist and how to map them."""
    if name not in table.columns:
        way_out = say(role)
        if role == "annotator":
            way_out += f"; {say(role, None)} counts labels whose annotators are unknown"
        raise InputError(
            f"no column {name!r} for the {role}; the table has {shorten(table.columns, 20)}: name the right one with "
            f"{way_out}"
        )
    return table[name]


def float_column(table: pd.DataFrame, name: str, role: str) -> Floats:
    """Column of numbers, with NaN for missing cells; text that is no number is an error."""
    values = np.asarray(values_of(column(table, name, role)))
    return float_values(values, lambda row: f"column {name!r}, row {row}", role)


def float_values(values: Array, place: Place, role: str) -> Floats:
    """Numbers, with NaN for missing values; text that is no number is an error with its place."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    numbers = np.asarray(pd.to_numeric(values, errors="coerce"), dtype=np.float64)
    refuse(
        np.isnan(numbers) & pd.notna(values),
        lambda row: f"{place(row)}: {values[row]!r} is not a number ({role})",
    )
    return numbers


def values_of(series: Any) -> Any:
    """Column as `encode` reads it: numbers as they are, text as pandas has it, the rest as objects."""
    if isinstance(series.dtype, pd.StringDtype):
        return series.array
    return series.to_numpy() if is_numeric_dtype(series.dtype) else objects(series.tolist())


def objects(values: Sequence[Any]) -> Array:
    """One-dimensional array of objects, whatever the values are."""
    return np.fromiter(values, object, len(values))


def names_array(names: Sequence[Any] | ArrayLike, role: str) -> Array:
    """Names of one axis as an array of one kind, without repeats; a number n stands for 0 .. n - 1."""
    given = objects(range(names) if isinstance(names, int | np.integer) else list(names))  # type: ignore[arg-type]
    refuse(pd.isna(given), lambda at: f"{role} names hold a missing one at position {at}; name every one")
    array = _one_kind(given, infer_dtype(given), role)
    refuse(
        pd.Index(array).duplicated(),
        lambda at: f"{role} {as_python(array[at])!r} is listed twice; every {role} has one name",
    )
    return array


def encode(
    values: Any, role: str, names: Sequence[Any] | Array | int | None = None, place: Place = "row {}".format
) -> tuple[Codes, Array]:
    """Positions of values in `names` (by default their distinct values, sorted); missing is -1.

    Returns
    -------
    codes : array of int32, shape (row,)
    names : array, shape (name,)

    Raises
    ------
    InputError
        A value that `names` does not list, with its place and the nearest way out.
    """
    known = None if names is None else names_array(names, role)
    try:
        codes, distinct = pd.factorize(values, use_na_sentinel=True)
    except TypeError:
        row = next(i for i, value in enumerate(values) if not isinstance(value, Hashable))
        raise InputError(f"{place(row)}: {values[row]!r} is not a {role} name; use text or numbers") from None
    distinct = np.asarray(distinct)
    # True equals 1, so only the values themselves tell whether a column of objects mixes the two.
    found = _one_kind(distinct, infer_dtype(values if isinstance(values, np.ndarray) else distinct), role)
    if known is None:
        known, target = np.unique(found, return_inverse=True)
    else:
        target = pd.Index(known).get_indexer(pd.Index(found))
        refuse(
            np.append(target, 0)[codes] < 0,
            lambda row: (
                f"{place(row)}: {role} {as_python(found[codes[row]])!r} is not one of the {len(known)} known "
                f"({shorten(known)}); add it to {role}s=[...] or correct the row"
            ),
        )
    return np.append(target, -1).astype(np.int32)[codes], known


def _one_kind(values: Array, kind: str, role: str) -> Array:
    """Names as int64, float64, bool or text; whole floats are integers (a column with gaps holds floats).

    `kind` is what pandas calls the values: dates and other objects are text, unless numbers stand among them.
    """
    if kind in ("mixed", "mixed-integer") and any(isinstance(v, Number | np.bool_) for v in values):
        raise InputError(f"{role} names mix numbers and other kinds ({shorten(values)}); use one kind")
    if kind == "boolean":
        return values.astype(bool)
    if kind not in ("integer", "floating", "mixed-integer-float"):
        texts = [str(v) for v in values.tolist()]
        _require_text(values, texts, role)
        return np.asarray(texts, dtype=np.str_ if values.size else "<U1")
    numbers = values if values.dtype != object else np.asarray(values.tolist())
    if numbers.dtype == object or (numbers.dtype.kind == "f" and (np.abs(numbers) >= 2**53).any()):
        which = "beyond 64 bits" if numbers.dtype == object else "that are inexact as floats, beyond 2**53"
        raise InputError(f"{role} names hold whole numbers {which} ({shorten(values)}); make them text")
    if numbers.dtype.kind == "f":
        whole = numbers == np.floor(numbers)
        return numbers.astype(np.int64 if whole.all() else np.float64)
    return numbers if numbers.max(initial=0) > np.iinfo(np.int64).max else numbers.astype(np.int64)


def _require_text(values: Array, texts: list[str], role: str) -> None:
    """Refuse bytes, and NUL characters, which NumPy drops at the end of a text: two names would become one."""
    wrong = next((v for v in values.tolist() if isinstance(v, bytes | bytearray)), None)
    if wrong is not None:
        raise InputError(f"{role} {wrong!r} is bytes, not text; decode it, such as column.str.decode('utf-8')")
    if "\0" in "".join(texts):
        wrong = next(text for text in texts if "\0" in text)
        raise InputError(f"{role} {wrong!r} holds a NUL character; remove it from the data")


def coded(table: pd.DataFrame, name: str | None, role: str) -> tuple[Codes, Array]:
    """Codes and names of a column of which every row has a value; without a column -1 and no name."""
    if name is None:
        return np.full(len(table), -1, np.int32), np.empty(0, "<U1")
    codes, names = encode(values_of(column(table, name, role)), role)
    require_present(codes < 0, role)
    return codes, names


def coded_labels(
    given: Any, labels: Any, ordered: bool | None = None, cells: Any = None, place: Place = "row {}".format
) -> tuple[Codes, Array, bool | None]:
    """Codes and names of labels, those listed, declared by what is given, or the values sorted; whether in order.

    `given` is a column; or what holds the `cells` of a matrix.
    """
    if labels is None:
        kinds = {*given.dtypes} if isinstance(given, pd.DataFrame) else {getattr(given, "dtype", None)}
        kind = kinds.pop()
        if not kinds and isinstance(kind, pd.CategoricalDtype):
            labels, ordered = list(kind.categories), (kind.ordered or None) if ordered is None else ordered
    codes, known = encode(values_of(given) if cells is None else cells, "label", labels, place)
    if ordered and labels is None and known.dtype.kind not in "iufb":
        raise InputError(
            f"ordered=True: the order of the labels {shorten(known)} is not known; pass labels=[...], lowest first"
        )
    return codes, known, ordered


def axis_names(names: Sequence[Any] | None, size: int, role: str, whose: str = "") -> Array:
    """Names of an axis, by default 0, 1, ..."""
    array = np.arange(size) if names is None else names_array(names, role)
    if array.size != size:
        raise InputError(
            f"{whose}{array.size} {role} names for {size} {role}s ({shorten(array)}); give one name each"
        )
    return array


def matrix_axes(
    table: Any, items: Any, columns: Any, role: str = "annotator", whose: str = ""
) -> tuple[Array, Array, Array]:
    """Cells of a matrix or data frame, names of its items (rows) and of its columns, which have a role.

    A data frame names its columns itself, a pandas frame also its rows (index): names that are passed put these in
    order. Numbers by default (`RangeIndex`) are no names.
    """
    frame = _frame(table)
    if frame is None:
        table = np.ma.filled(table.astype(object), np.nan) if isinstance(table, np.ma.MaskedArray) else table
        matrix = table if isinstance(table, np.ndarray) else np.asarray(table, object)
    else:
        for axis, (names, what) in enumerate(((items, "item"), (columns, role))):
            frame = frame if names is None else _in_order(frame, axis, names, what, whose)
        items, columns = frame.axes
        numeric = all(kind.kind in "biuf" for kind in frame.dtypes)
        matrix = frame.to_numpy(None if numeric else object)
    if matrix.ndim != 2 or matrix.size == 0:
        raise InputError(f"{whose}expected an (item, {role}) matrix with cells, got shape {matrix.shape}")
    rows = axis_names(items, matrix.shape[0], "item", whose)
    return matrix, rows, axis_names(columns, matrix.shape[1], role, whose)


def _in_order(frame: pd.DataFrame, axis: int, names: Any, role: str, whose: str) -> pd.DataFrame:
    """Return a frame with its rows or columns in the order of the names that are passed, which it has itself."""
    own, known = frame.axes[axis], axis_names(names, frame.shape[axis], role, whose)
    place, unnamed = pd.Index(map(str, known)).get_indexer([*map(str, own)]), isinstance(own, pd.RangeIndex)
    # Numbers by default are positions of rows; as columns, 0 and 1 may be labels.
    if not (unnamed and axis == 0) and (np.sort(place) == np.arange(own.size)).all():
        frame = frame.take(np.argsort(place), axis=axis)
    elif not unnamed:
        raise InputError(
            f"{whose}{role}s={shorten(known)}: the table itself names the {role}s {shorten(own)}; leave "
            f"{say(f'{role}s')} out, or rename them in the table"
        )
    return frame.set_axis(known, axis=axis)


def cell_place(**axes: Array) -> Place:
    """Place of a cell of a flattened array by the names on its axes, as errors name it."""

    def place(cell: int) -> str:
        at = np.unravel_index(cell, [names.size for names in axes.values()])
        return place_of(**{role: axes[role][i] for role, i in zip(axes, at)})

    return place


def require_present(missing: Booleans, role: str) -> None:
    """Refuse rows without a value that every row must have."""
    refuse(missing, lambda row: f"row {row}: the {role} is missing; every row needs one; or drop the row")


def changes(*columns: Array) -> Booleans:
    """Where a row differs from the one before, shape (row,); the first row does.

    Examples
    --------
    >>> changes(np.array([1, 1, 2, 2]), np.array([5, 5, 5, 6])).tolist()
    [True, False, True, True]
    """
    new = np.ones(columns[0].size, np.bool_)
    new[1:] = np.any([one[1:] != one[:-1] for one in columns], axis=0)
    return new


class Entries(NamedTuple):
    """Annotations as they are read, before they are sorted: the item and the annotator of each row, and all names.

    No names of annotators: they are unknown, and what stands in their place tells annotations of an item apart.
    """

    item: Array
    annotator: Array
    items: Array
    annotators: Array

    @classmethod
    def of_table(
        cls, frame: Any, item: str, annotator: str | None, **value: Any
    ) -> tuple["Entries", pd.DataFrame, str]:
        """Read two columns, which every row must have; return also the table and the name of the column of values."""
        table = pandas_frame(frame)
        item, annotator, name = guessed_columns(table.columns, item=item, annotator=annotator, **value)
        (of_item, items), (by, annotators) = coded(table, item, "item"), coded(table, annotator, "annotator")
        return cls(of_item, by, items, annotators), table, name

    @classmethod
    def of_matrix(
        cls, array: Any, items: Sequence[Any] | None, annotators: Sequence[Any] | None
    ) -> tuple["Entries", Array]:
        """Return the entries of every cell of an (item, annotator) matrix, and the cells."""
        matrix, items_, annotators_ = matrix_axes(array, items, annotators)
        item, annotator = np.indices(matrix.shape, np.int32).reshape(2, -1)
        return cls(item, annotator, items_, annotators_), matrix.ravel()

    def place(self, row: int) -> str:
        """Name the item and the annotator of a row, as errors do."""
        who = {"annotator": self.annotators[self.annotator[row]]} if self.annotators.size else {}
        return place_of(item=self.items[self.item[row]], **who)

    def kept(self, present: Booleans, duplicates: Duplicates, what: str) -> Integers:
        """Rows that hold something, under a rule for repeated (item, annotator) pairs, in their given order."""
        one_of(duplicates, "duplicates", ("error", "keep", "first", "last"))
        rows = np.flatnonzero(present)
        if rows.size == 0:
            raise InputError(f"there is no {what}: every one is missing")
        if duplicates == "keep" or not self.annotators.size:
            return rows
        pair = self.item[rows].astype(np.int64) * self.annotators.size + self.annotator[rows]
        repeated = pd.Index(pair).duplicated("last" if duplicates == "last" else "first")
        refuse(
            repeated & (duplicates == "error"),
            lambda row: (
                f"{self.place(rows[row])}: annotated more than once ({int(repeated.sum())} repeated rows in "
                f"all); {say('duplicates', 'first')} keeps one of them ('last' and 'keep' are other rules)"
            ),
        )
        return rows[~repeated]
