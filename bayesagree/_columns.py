"""From columns of any data frame to integer codes and names: the one place where input tables are read."""

from collections.abc import Sequence
from typing import Any, Literal

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from bayesagree.errors import InputError, plain, some

type Codes = NDArray[np.int32]
type Duplicates = Literal["error", "keep", "first", "last"]


def eager_frame(frame: Any) -> nw.DataFrame[Any]:
    """Wrap a pandas, polars or pyarrow table; anything else is an error that names the type."""
    try:
        table = nw.from_native(frame)
    except TypeError as error:
        raise InputError(
            f"expected a data frame (pandas, polars or pyarrow), got {type(frame).__name__}; "
            "arrays go through from_matrix"
        ) from error
    if isinstance(table, nw.LazyFrame):
        table = table.collect()
    if len(table) == 0:
        raise InputError(f"the table is empty: no row below the columns {some(table.columns, 20)}")
    return table


def column(table: nw.DataFrame[Any], name: str, role: str) -> nw.Series[Any]:
    """Return one column; where it is missing, say which columns exist and how to map them."""
    if name not in table.columns:
        raise InputError(
            f"no column {name!r} for the {role}; the table has {some(table.columns, 20)}: "
            f"name the right one with {role}=..."
        )
    return table[name]


def float_column(table: nw.DataFrame[Any], name: str, role: str) -> NDArray[np.float64]:
    """Return a column of numbers, with NaN for missing cells; text that is no number is an error."""
    series = column(table, name, role)
    if series.dtype.is_numeric():
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    values = np.asarray(series.to_list(), dtype=object)
    numbers = np.asarray(pd.to_numeric(values, errors="coerce"), dtype=np.float64)
    bad = np.flatnonzero(np.isnan(numbers) & pd.notna(values))
    if bad.size:
        raise InputError(f"column {name!r}, row {bad[0]}: {values[bad[0]]!r} is not a number ({role})")
    return numbers


def categories(series: nw.Series[Any]) -> list[Any] | None:
    """Return the declared categories of a categorical column, in their order, or None."""
    if series.dtype == nw.Enum:
        return list(series.dtype.categories)  # type: ignore[attr-defined]
    return series.cat.get_categories().to_list() if series.dtype == nw.Categorical else None


def values_of(series: nw.Series[Any]) -> NDArray[Any]:
    """Return a column as an array for `encode`; integers with gaps become objects, not floats."""
    if series.dtype.is_integer() and series.null_count() == 0:
        return series.to_numpy()
    return np.asarray(series.to_list(), dtype=object)


def names_array(names: Sequence[Any] | ArrayLike, role: str) -> NDArray[Any]:
    """Return the names of one axis as a 1-D array of one kind, without repeats."""
    given = list(names)  # type: ignore[arg-type]
    array = _one_kind(given, role)
    repeated = pd.Index(array).duplicated()
    if repeated.any():
        raise InputError(f"{role} {plain(array[repeated][0])!r} is listed twice; every {role} has one name")
    return array


def _one_kind(values: list[Any], role: str) -> NDArray[Any]:
    kinds = {_kind(v) for v in values}
    if len(kinds) > 1:
        examples = [next(v for v in values if _kind(v) == kind) for kind in sorted(kinds)]
        raise InputError(f"{role} names mix {' and '.join(sorted(kinds))} ({some(examples)}); use one kind")
    if kinds == {"number"} and not all(float(v).is_integer() for v in values):
        return np.asarray(values, dtype=np.float64)
    if kinds == {"number"}:
        return np.asarray([int(v) for v in values], dtype=np.int64)
    return np.asarray(values, dtype=bool) if kinds == {"truth value"} else np.asarray([str(v) for v in values])


def _kind(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "truth value"
    return "number" if isinstance(value, int | float | np.number) else "text"


def encode(values: NDArray[Any], role: str, names: NDArray[Any] | None = None) -> tuple[Codes, NDArray[Any]]:
    """Code values as positions in `names` (sorted distinct values where none are given); missing is -1.

    Returns
    -------
    codes : array of int32, shape (row,)
    names : array, shape (name,)

    Raises
    ------
    InputError
        A value that `names` does not list, with its row and the nearest way out.
    """
    codes, found = pd.factorize(np.asarray(values), use_na_sentinel=True)
    found = _one_kind(list(found), role)
    if names is None:
        order = np.argsort(found, kind="stable")
        target, names = np.empty(found.size, np.int64), found[order]
        target[order] = np.arange(found.size)
    else:
        target = pd.Index(names).get_indexer(pd.Index(found))
        if (target < 0).any():
            unknown = int(np.flatnonzero(target < 0)[0])
            row = int(np.flatnonzero(codes == unknown)[0])
            raise InputError(
                f"row {row}: {role} {plain(found[unknown])!r} is not one of the {len(names)} known "
                f"({some(names)}); add it to {role}s=[...] or correct the row"
            )
    return np.append(target, -1)[codes].astype(np.int32), names


def require_present(codes: Codes, role: str) -> None:
    """Refuse rows without a name on an axis that must have one."""
    if (codes < 0).any():
        raise InputError(f"row {int(np.flatnonzero(codes < 0)[0])}: the {role} is missing; every annotation needs one")


def kept_rows(
    item: Codes, annotator: Codes, names: tuple[NDArray[Any], NDArray[Any]], duplicates: Duplicates
) -> NDArray[np.int64]:
    """Return the rows to keep under a rule for repeated (item, annotator) pairs, in their given order."""
    if duplicates not in ("error", "keep", "first", "last"):
        raise InputError(f"duplicates={duplicates!r} is not one of 'error', 'keep', 'first', 'last'")
    pair = item.astype(np.int64) * (len(names[1]) + 1) + annotator
    repeated = pd.Series(pair).duplicated(keep="last" if duplicates == "last" else "first").to_numpy()
    if duplicates == "keep" or not repeated.any():
        return np.arange(len(pair))
    if duplicates == "error":
        row = int(np.flatnonzero(repeated)[0])
        raise InputError(
            f"item {plain(names[0][item[row]])!r}, annotator {plain(names[1][annotator[row]])!r}: annotated more "
            f"than once ({int(repeated.sum())} repeated rows in all); pass duplicates='first', 'last' or 'keep'"
        )
    return np.flatnonzero(~repeated)
