"""A file as readers look at it: its JSON, its table or its members, each read once."""

import sys
import zipfile
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pandas as pd

from bayesagree.annotations._words import named_columns
from bayesagree.errors import InputError, opening, require_file, shorten
from bayesagree.io._json import read_json, read_rows, require_size
from bayesagree.io.formats._guess import Columns
from bayesagree.io.tables import READERS, arrow_frame, read_table

LINES = (".jsonl", ".ndjson")

# Keys below which a server's answer holds its list of objects.
ENVELOPES = ("data", "events")

# Rows of JSON Lines whose fields tell the format: to look at more would parse the file twice.
HEAD = 1000

# Number of the Zstandard method in ZIP files, which the standard library reads from Python 3.14.
ZSTD = 93


class File:
    """One export: a path, or a table that is in memory already; a folder holds `parts`, files that are read as one."""

    def __init__(self, source: Any, labels: Any = None) -> None:
        self.labels = labels  # as the user lists them
        self.names = Columns()  # as the user gives them
        self.path = Path(source) if isinstance(source, str | Path) else None
        self._given = None if self.path is not None else _frame(source)
        self.parts: list[File] = []
        if self.path is not None:
            require_file(self.path, folder=True)
            self.parts = _parts(self.path, labels) if self.path.is_dir() else []

    @property
    def name(self) -> str:
        """Name for messages."""
        return "the table" if self.path is None else repr(str(self.path))

    @property
    def suffix(self) -> str:
        """Ending without .gz; that of a table in memory is empty."""
        path = self.parts[0].path if self.parts else self.path
        return "" if path is None else Path(path.name.removesuffix(".gz")).suffix.lower()

    @property
    def _streamed(self) -> list[Path]:
        """Files of JSON Lines, which are read row by row."""
        return [one.path for one in self.parts or [self] if one.path and self.suffix in LINES]

    @cached_property
    def table(self) -> pd.DataFrame | None:
        """All rows, None where the file is no table; in JSON a list of objects, or labels by model and item."""
        if self._given is not None or self.path is None:
            return self._given
        if self.parts and self.suffix != ".json":
            tables = [pd.DataFrame(part.table) for part in self.parts]
            for part, table in zip(self.parts, tables):
                apart = sorted(set(tables[0].columns) ^ set(table.columns), key=str)
                if apart and not self._streamed:  # rows of JSON Lines may lack fields
                    raise InputError(
                        f"{part.path} and {self.parts[0].path} differ in columns {shorten(apart)}; rename them, "
                        "or leave them out of both"
                    )
            return pd.concat(tables, ignore_index=True)
        if self.suffix != ".json":
            return read_table(self.path, self.labels) if self.suffix in READERS else None
        rows = self.json
        if isinstance(rows, dict) and rows and all(isinstance(labels, dict) for labels in rows.values()):
            given = [(model, *one) for model, labels in rows.items() for one in labels.items()]
            return pd.DataFrame(given, columns=["model", "item", "label"])
        objects = isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)
        return pd.DataFrame(rows) if objects else None

    @cached_property
    def fields(self) -> set[str]:
        """Names of the fields of a row, none where there are no rows; those of the first `HEAD` of JSON Lines."""
        if self.suffix == ".json":
            return set(self.first)
        if self._streamed:
            return set().union(*islice(self.lines(), HEAD))
        return set() if self.table is None else {str(name) for name in self.table.columns}

    @cached_property
    def json(self) -> Any:
        """Content of a .json file, None for others; the lists of a folder joined."""
        if self.parts and self.suffix == ".json":
            listed = [part.objects for part in self.parts]
            return [*chain.from_iterable(listed)] if all(listed) else None
        return read_json(self.path) if self.path is not None and self.suffix == ".json" else None

    @property
    def objects(self) -> list[Any]:
        """List in JSON, also within the answer of a server; empty where there is none."""
        content = self.json
        if isinstance(content, dict):
            content = next((content[key] for key in ENVELOPES if key in content), None)
        return content if isinstance(content, list) else []

    @property
    def first(self) -> dict[str, Any]:
        """First object of a list in JSON, for a look at its fields; empty where there is none."""
        first = next(iter(self.objects), None)
        return first if isinstance(first, dict) else {}

    @cached_property
    def members(self) -> dict[str, zipfile.ZipInfo]:
        """Files in a ZIP archive by name, none where it is no archive."""
        if self.path is None or self.suffix not in (".zip", ".eval"):
            return {}
        with opening(self.path, "ZIP archive"), zipfile.ZipFile(self.path) as archive:
            return {member.filename: member for member in archive.infolist() if not member.is_dir()}

    def contents(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield members of the archive, each opened as it is reached.

        What the archive says of a member's size bounds what is unpacked.
        """
        members = [self.members[name] for name in names]
        for member in members:
            require_size(member.file_size, f"{self.name}, {member.filename}")
        module = _zstd_zipfile(self.name) if any(one.compress_type == ZSTD for one in members) else zipfile
        with opening(self.path, "ZIP archive"):
            archive = module.ZipFile(str(self.path))
        with archive:
            for member in members:
                with opening(f"{self.path}, {member.filename}", "member of a ZIP archive"):
                    content = archive.read(member.filename)
                yield member.filename, content

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the objects of a list in JSON, or the rows of a table as dictionaries, missing cells left out."""
        if self.suffix == ".json":
            yield from self.objects
        elif self._streamed:
            yield from chain.from_iterable(map(read_rows, self._streamed))
        elif self.table is not None:
            for row in self.table.to_dict("records"):
                known = {name: v for name, v in row.items() if not (isinstance(v, float) and v != v)}
                yield {str(name): v for name, v in known.items() if v is not None}


def _parts(folder: Path, labels: Any) -> list[File]:
    """Return the files of a folder by name, such as one for each week: all are tables, or lists in JSON."""
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    kinds = {Path(path.name.removesuffix(".gz")).suffix.lower() for path in paths}
    for path in paths:
        require_file(path)
    if len(kinds) != 1 or not kinds <= {*READERS, ".json"}:
        held = shorten([path.name for path in paths]) or "nothing"
        raise InputError(
            f"{str(folder)!r} is a folder of {held}; its files are read as one if all are tables, or all are "
            "JSON, of one ending"
        )
    return [File(path, labels) for path in paths]


def _zstd_zipfile(name: str) -> Any:
    if sys.version_info >= (3, 14):
        return zipfile
    try:
        from backports.zstd import zipfile as with_zstd
    except ImportError:
        raise InputError(f"{name} is packed with Zstandard; pip install 'bayesagree[logs]' reads it") from None
    return with_zstd


def _frame(source: Any) -> pd.DataFrame:
    """Turn what holds a table in memory (pandas, polars, pyarrow, `datasets.Dataset`) into a pandas frame."""
    if isinstance(source, pd.DataFrame):
        if source.index.names != [None]:
            return source if {*source.index.names} & {*source.columns} else source.reset_index()
        # Names of items that have no name of their own, unless a column has the items.
        has_items = named_columns(source.columns, item="item")[0] in source.columns
        return source if has_items or source.index.dtype.kind != "O" else source.reset_index(names="item")
    if hasattr(source, "validate") and hasattr(source, "column_names"):
        with opening("the table", "Arrow table"):
            return arrow_frame(source)
    convert = getattr(source, "to_pandas", None)
    if convert is None:
        raise InputError(
            f"expected a path or a table, got {type(source).__name__}; a table has rows and named columns"
        )
    return convert()
