"""Text and columnar files to plain tables; nothing here knows what an annotation is."""

import codecs
import csv
import io
import re
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayesagree.annotations._words import MISSING_CELLS
from bayesagree.errors import InputError, opening, shorten, warn
from bayesagree.io._json import (
    content_of,
    guarded,
    lines_of,
    open_file,
    read_rows,
    require_distinct,
    require_size,
    undecodable_line,
)

# A name that as a number would be another one too: 01 is 1 then, and 1e1 is 10.
# One of 16 digits has neighbours that are the same float, which a column with gaps holds.
NAMES = re.compile(r"(?<![\w.])(0\d|\d+[eE]\d|\d{16})")


class Dialect(NamedTuple):
    """How a table is written as text."""

    separator: str
    encoding: str
    skipped: int  # lines before the header


def read_table(path: str | Path, labels: Any = None) -> pd.DataFrame:
    r"""Read a table from CSV, TSV, Excel, Parquet or JSON Lines, plain or gzip (.gz), chosen by the ending of its name.

    Empty cells, NA and NaN are missing in texts and in Excel, unless they are listed in `labels`.

    Raises
    ------
    InputError
        Unknown ending, no row, repeated column names, rows of different lengths, text of no known encoding, broken
        gzip, JSON or Parquet; Parquet without pyarrow (extra ``scale``), or Excel without openpyxl (extra ``xlsx``)
        or with several sheets.
    FileNotFoundError
        There is no such file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "table.csv"
    >>> _ = path.write_text("item,label\n1,cat\n2,\n")
    >>> read_table(path)["label"].isna().tolist()
    [False, True]
    """
    path = Path(path)
    read = READERS.get(Path(path.name.removesuffix(".gz")).suffix)
    if read is None:
        raise InputError(
            f"{str(path)!r}: unknown kind of file; known are {', '.join(READERS)}, each also with .gz; save a "
            "spreadsheet as CSV"
        )
    listed = {*map(str, labels)} if np.ndim(labels) else ()
    missing = [cell for cell in MISSING_CELLS if cell not in listed]
    with guarded(path):
        table = read(path, {"keep_default_na": False, "na_values": missing})
    if len(table) == 0:
        raise InputError(f"{str(path)!r} is empty: no row below the columns {shorten(table.columns, 20)}")
    return table


def _delimited(path: Path, separator: str | None, missing: Any) -> pd.DataFrame:
    """Read text in UTF-8, in UTF-16 with a byte order mark, or else in the code page of Windows, with a warning."""
    with open_file(path) as stream:
        wide = stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    if wide:
        return _table_in(path, separator, "utf-16", missing)
    try:
        return _table_in(path, separator, "utf-8-sig", missing)
    except UnicodeDecodeError:
        table = _table_in(path, separator, "cp1252", missing)
    line = undecodable_line(path)
    warn(
        f"{str(path)!r}, line {line}: not UTF-8 text; it is read as Windows text (cp1252): check names with accents, "
        "or save it as UTF-8"
    )
    return table


def _table_in(path: Path, separator: str | None, encoding: str, missing: Any) -> pd.DataFrame:
    first = next(lines_of(path, encoding), "")
    named = re.fullmatch(r'"?sep=(.)"?\s*', first)  # Excel names the separator in a line of its own
    # Spreadsheets write semicolons where the comma is the decimal mark.
    guess = ";" if ";" in first and "," not in first else ","
    dialect = Dialect(named[1] if named else separator or guess, encoding, 1 if named else 0)
    _check_header(path, dialect)
    try:
        with open_file(path) as stream:
            layout: Any = {"sep": dialect.separator, "skiprows": dialect.skipped, "encoding": encoding}
            table = pd.read_csv(stream, low_memory=False, **layout, **missing)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, OverflowError) as error:
        _require_even_rows(path, dialect)
        raise InputError(f"{str(path)!r}: {error}") from error
    numeric = [name for name in table.columns if table[name].dtype.kind in "iuf"]
    if numeric and any(NAMES.search(line) for line in lines_of(path, encoding)):
        with open_file(path) as stream:
            text = pd.read_csv(stream, dtype=str, usecols=numeric, **layout, **missing)
        for name in numeric:
            if text[name].str.fullmatch(r"0\d+|\d+[eE]\d+").any():
                table[name] = text[name]
            elif table[name].dtype.kind == "f" and text[name].str.fullmatch(r"-?\d{16,}").any():
                table[name] = pd.to_numeric(text[name], dtype_backend="numpy_nullable")
    if dialect.separator == ";":
        for name in [name for name, column in table.items() if has_decimal_commas(column)]:
            table[name] = pd.to_numeric(table[name].str.replace(",", "."))
            warn(f"{str(path)!r}, column {name!r}: a comma is read as the decimal mark")
    # pandas fills rows that are too short from the right, and loses its place after a carriage return alone.
    if (len(table) and table.iloc[:, -1].isna().any()) or _has_bare_returns(path):
        _require_even_rows(path, dialect)
    return _filled(table, path)


def _filled(table: Any, path: Path) -> pd.DataFrame:
    """Return a table of a spreadsheet without columns that have neither name nor cell, and empty rows at its end.

    One column without a name may be the numbers of the rows.
    """
    nameless = [name for name in table.columns if str(name).startswith("Unnamed: ")]
    empty = [name for name in nameless if table[name].isna().all()]
    if (unnamed := len(nameless) - len(empty)) > 1:
        raise InputError(f"{str(path)!r}: {unnamed} columns have no name; the first row must name every column")
    table = table.drop(columns=empty)
    if len(table) and table.iloc[-1].isna().all():
        table = table[table[::-1].notna().any(axis=1).cummax()[::-1]]
    return table


def has_decimal_commas(column: Any) -> bool:
    """Return whether all cells that are not missing are numbers, some with a decimal comma."""
    if column.dtype.kind in "biuf":
        return False
    given = column.dropna().astype(str)
    number = given.str.fullmatch(r"\s*[+-]?\d+(,\d+)?([eE][+-]?\d+)?\s*")
    return bool(number.all() and given.str.contains(",").any())


def _has_bare_returns(path: Path) -> bool:
    with open_file(path) as stream:
        return any(b"\r" in part.replace(b"\r\n", b"") for part in iter(lambda: stream.read(2**20), b""))


def _cells(path: Path, dialect: Dialect) -> Any:
    lines = islice(lines_of(path, dialect.encoding), dialect.skipped, None)
    return csv.reader(lines, delimiter=dialect.separator)


def _check_header(path: Path, dialect: Dialect) -> None:
    rows = _cells(path, dialect)
    header = next(rows, None)
    if not header:
        raise InputError(f"{str(path)!r} is empty: the first line must name the columns")
    require_distinct([name for name in header if name], f"{str(path)!r}")
    other = {",": "\t;|", "\t": ",;|", ";": "\t|"}.get(dialect.separator, "")
    if len(header) == 1 and any(c in header[0] for c in other):
        raise InputError(
            f"{str(path)!r}: the only column is {header[0]!r}; this file is not separated by {dialect.separator!r}: "
            "end its name in .tsv for tabs, .csv for commas, and save it with one of them"
        )
    # pandas takes a first column too many for the names of the rows.
    if len(next(filter(None, rows), header)) > len(header):
        _require_even_rows(path, dialect)


def _require_even_rows(path: Path, dialect: Dialect) -> None:
    rows = _cells(path, dialect)
    width = len(next(rows))
    for row in rows:
        if row and len(row) != width:
            raise InputError(
                f"{str(path)!r}, line {rows.line_num + dialect.skipped}: {len(row)} fields where the header has "
                f"{width}; quote fields that contain {dialect.separator!r} and fill missing ones with nothing"
            )


def _parquet(path: Path, _: Any) -> pd.DataFrame:
    require_arrow(path)
    from pyarrow import parquet

    with opening(path, "Parquet file"):
        return arrow_frame(parquet.read_table(io.BytesIO(content_of(path))))


def _excel(path: Path, missing: Any) -> pd.DataFrame:
    if find_spec("openpyxl") is None:
        raise InputError(
            f"{str(path)!r}: Excel files need openpyxl; pip install 'bayesagree[xlsx]', or save it as CSV"
        )
    with opening(path, "Excel file"), zipfile.ZipFile(path) as archive:
        require_size(sum(member.file_size for member in archive.infolist()), repr(str(path)))
    with opening(path, "Excel file"):
        sheets = pd.read_excel(path, sheet_name=None, **missing)
        sheets = {name: sheet for name, sheet in sheets.items() if sheet.size}
    if len(sheets) != 1:
        raise InputError(
            f"{str(path)!r} has {len(sheets)} sheets with rows, {shorten(sheets)}; keep one as CSV"
        )
    (table,) = sheets.values()
    return _filled(table, path)


def require_arrow(path: str | Path) -> None:
    """Refuse a kind of file that pyarrow alone reads and writes, where it is not installed."""
    if find_spec("pyarrow") is None:
        raise InputError(f"{str(path)!r}: this kind of file needs pyarrow; pip install 'bayesagree[scale]'")


def arrow_frame(table: Any) -> pd.DataFrame:
    """Return an Arrow table as a frame, checked first: a damaged one can crash the interpreter."""
    table.validate(full=True)
    return table.to_pandas()


def _objects(path: Path, _: Any) -> pd.DataFrame:
    """Read JSON Lines; a list per column is several times faster than a dictionary per row."""
    rows = list(read_rows(path))
    names = dict.fromkeys(chain.from_iterable(rows))
    return pd.DataFrame({name: [row.get(name) for row in rows] for name in names})


READERS: dict[str, Callable[[Path, Any], pd.DataFrame]] = {
    ".csv": lambda path, missing: _delimited(path, None, missing),
    ".tsv": lambda path, missing: _delimited(path, "\t", missing),
    ".parquet": _parquet,
    ".jsonl": _objects,
    ".ndjson": _objects,
    ".xlsx": _excel,
}
