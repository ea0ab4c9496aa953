"""The axes that the containers share: who annotated what, which labels there are, names of rows and columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree.annotations._columns import (
    Codes,
    Place,
    Table,
    categories,
    column,
    encode,
    names_array,
    require_present,
    values_of,
    wide_table,
)
from bayesagree.errors import InputError, as_python, shorten


def annotation_codes(
    table: Table, item: str, annotator: str
) -> tuple[tuple[Codes, NDArray[Any]], tuple[Codes, NDArray[Any]]]:
    """Return codes and names of the items and of the annotators; every row must have both."""
    items = encode(values_of(column(table, item, "item")), "item")
    annotators = encode(values_of(column(table, annotator, "annotator")), "annotator")
    require_present(items[0], "item")
    require_present(annotators[0], "annotator")
    return items, annotators


def label_column(table: Table, label: str, labels: Sequence[Any] | None) -> tuple[Codes, NDArray[Any]]:
    """Return codes and names of the labels: those given, else declared categories, else the values, sorted."""
    series = column(table, label, "label")
    declared = labels if labels is not None else categories(series)
    known = None if declared is None else names_array(declared, "label")
    return encode(values_of(series), "label", known)


def axis_names(names: Sequence[Any] | None, size: int, role: str) -> NDArray[Any]:
    """Return the names of an axis, by default 0, 1, ..."""
    if names is None:
        return np.arange(size)
    array = names_array(names, role)
    if array.size != size:
        raise InputError(f"{array.size} {role} names for {size} {role}s ({shorten(array)}); give one name each")
    return array


def matrix_axes(
    array: Any, items: Sequence[Any] | None, columns: Sequence[Any] | None, column_role: str = "annotator"
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return a matrix with cells, the names of its items (rows) and of its columns."""
    matrix, items, columns = wide_table(array, items, columns)
    if matrix.ndim != 2 or matrix.size == 0:
        raise InputError(f"expected an (item, {column_role}) matrix with cells, got shape {matrix.shape}")
    return matrix, axis_names(items, matrix.shape[0], "item"), axis_names(columns, matrix.shape[1], column_role)


def cell_place(
    rows: NDArray[Any], columns: NDArray[Any], row_role: str = "item", column_role: str = "annotator"
) -> Place:
    """Return how an error names a cell of a flattened matrix."""

    def place(cell: int) -> str:
        i, j = divmod(cell, columns.size)
        return f"{row_role} {as_python(rows[i])!r}, {column_role} {as_python(columns[j])!r}"

    return place


def has_repeats(item: Codes, annotator: Codes) -> bool:
    """Return whether sorted rows hold an (item, annotator) pair more than once."""
    return bool(((item[1:] == item[:-1]) & (annotator[1:] == annotator[:-1])).any())
