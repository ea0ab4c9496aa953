"""Stream a table that is sorted by item and larger than memory, as chunks of whole items."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree.annotations._columns import names_array
from bayesagree.annotations._words import MISSING_CELLS
from bayesagree.errors import InputError, as_python, opening, require_file, shorten

# Rows read at a time by default: their columns stay in the processor's cache.
BATCH = 2**17


@dataclass(frozen=True)
class Chunk:
    """Rows of whole items."""

    items: Any  # name of each item, an Arrow array of shape (item,)
    start: NDArray[np.int64]  # first row of each item and the number of rows, shape (item + 1,)
    columns: dict[str, Any]  # name to Arrow array of shape (row,)
    first_row: int  # number of the chunk's first row in the file

    def item_of(self, row: int) -> Any:
        """Name the item of a row of the chunk."""
        return self.items[int(np.searchsorted(self.start, row, side="right")) - 1].as_py()


def joined(chunks: list[Chunk]) -> Chunk:
    """Put neighbouring chunks together."""
    import pyarrow as pa

    before = np.cumsum([0, *(chunk.start[-1] for chunk in chunks)])
    start = [chunk.start[1:] + first for chunk, first in zip(chunks, before)]
    columns = {name: pa.concat_arrays([chunk.columns[name] for chunk in chunks]) for name in chunks[0].columns}
    items = pa.concat_arrays([chunk.items for chunk in chunks])
    return Chunk(items, np.concatenate([[0], *start]), columns, chunks[0].first_row)


def whole_items(path: str | Path, item: str, columns: list[str], size: int | None = None) -> Iterator[Chunk]:
    """Read a Parquet or CSV file, or a folder of Parquet files, in order; the item column must ascend.

    Memory is that of a few batches of rows and of the largest item; `size` is the number of rows of a batch.

    Raises
    ------
    InputError
        Rows not sorted by item, a missing item, a column that is not there, a file that is none of these.
    FileNotFoundError
        There is no such file.
    """
    if find_spec("pyarrow") is None:
        raise InputError("reading a file larger than memory needs pyarrow; pip install 'bayesagree[scale]'")
    import pyarrow as pa

    names = list(dict.fromkeys([item, *columns]))
    rest, first_row, last = None, 0, None
    for batch in _batches(Path(path), names, size or BATCH):
        rows = pa.Table.from_batches([batch])
        rows = rows if rest is None else pa.concat_tables([rest, rows])
        name, start = _items(rows[item], first_row)
        _require_ascending(pa.concat_arrays([last, name]) if last is not None else name, path, item)
        # The last item may go on in the next batch.
        cut = int(start[-2])
        rest, last = rows.slice(cut), (name[-2:-1] if len(name) > 1 else last)
        if len(name) > 1:
            yield _chunk(rows.slice(0, cut), name[:-1], start[:-1], names, first_row)
        first_row += cut
    if rest is None or rest.num_rows == 0:
        raise InputError(f"{str(path)!r} is empty: no row below the columns {shorten(names, 20)}")
    name, start = _items(rest[item], first_row)
    yield _chunk(rest, name, start, names, first_row)


def _chunk(rows: Any, name: Any, start: NDArray[np.int64], names: list[str], first_row: int) -> Chunk:
    return Chunk(name, start, {column: rows[column].combine_chunks() for column in names}, first_row)


def _batches(path: Path, names: list[str], size: int) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.dataset as ds
    from pyarrow import csv

    require_file(path, folder=True)
    kind = ".parquet" if path.is_dir() else Path(path.name.removesuffix(".gz")).suffix
    if kind not in (".parquet", ".csv"):
        raise InputError(f"{str(path)!r}: the files that are streamed are .parquet and .csv")
    options = csv.ConvertOptions(null_values=MISSING_CELLS, strings_can_be_null=True)
    what = f"{'Parquet' if kind == '.parquet' else 'CSV'} file"
    with opening(path, what):
        table = ds.dataset(path, format="parquet" if kind == ".parquet" else ds.CsvFileFormat(convert_options=options))
        known = table.schema.names
        missing = [name for name in names if name not in known]
        if missing:
            raise InputError(f"{str(path)!r}: there is no column {shorten(missing)}; it has {shorten(known, 20)}")
        for name in names:
            _require_names_or_numbers(table.schema.field(name), path, pa.types)
        batches = table.to_batches(columns=names, batch_size=size, batch_readahead=4, fragment_readahead=1)
    while True:
        with opening(path, what):
            batch = next(batches, None)
            if batch is None:
                return
            batch.validate(full=True)
        if batch.num_rows:
            yield batch


def _require_names_or_numbers(field: Any, path: Path, types: Any) -> None:
    kind = field.type.value_type if types.is_dictionary(field.type) else field.type
    if types.is_nested(kind):
        raise InputError(f"{str(path)!r}: column {field.name!r} holds {kind}; names and numbers are read")
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        raise InputError(f"{str(path)!r}: column {field.name!r} holds bytes, not UTF-8 text; save it as UTF-8")


def _items(column: Any, first_row: int) -> tuple[Any, NDArray[np.int64]]:
    """Return the name of each run of equal items, and where the runs start and the last ends."""
    import pyarrow as pa

    pc = _compute()
    if column.null_count:
        row = first_row + int(pc.index(pc.is_null(column), True).as_py())
        raise InputError(f"row {row}: the item is missing; correct it or drop the row")
    values = column.combine_chunks()
    values = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    runs = pc.run_end_encode(values, run_end_type=pa.int64())
    return runs.values, np.append(0, runs.run_ends.to_numpy())


def _require_ascending(names: Any, path: str | Path, item: str) -> None:
    pc = _compute()
    wrong = pc.index(pc.less(names[:-1], names[1:]), False).as_py()
    if wrong >= 0:
        before, after = names[wrong].as_py(), names[wrong + 1].as_py()
        raise InputError(
            f"{str(path)!r} is not sorted by item: {after!r} comes after {before!r}; sort it first, for example "
            f"polars.scan_parquet(path).sort({item!r}).sink_parquet(sorted_path)"
        )


def _compute() -> Any:
    """Return Arrow's functions, which are registered when it is loaded: a type checker does not see them."""
    import pyarrow.compute

    return pyarrow.compute


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
