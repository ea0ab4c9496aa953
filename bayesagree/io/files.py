"""Files in and results out: tables (CSV, TSV, Parquet, JSON Lines), nested blocks (JSON), results (netCDF, zarr).

Every file may end in .gz. In text tables an empty cell, ``NA`` and ``NaN`` are missing; every other text, also
``None`` and ``null``, is a name.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import xarray as xr

from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, SizeError, opening, require_file
from bayesagree.io import _prediction_tables
from bayesagree.io._json import MOST_UNPACKED
from bayesagree.io._stores import netcdf_arrays, zarr_arrays
from bayesagree.io.exports import export_of
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Wanted, naming
from bayesagree.io.formats._guess import Columns
from bayesagree.io.formats.registry import format_of
from bayesagree.io.tables import read_table


def read_predictions(
    path: Any,
    *,
    format: str | None = None,
    question: str | None = None,
    model: str = "model",
    item: str = "item",
    label: str = "label",
    score: str = "score",
    labels: Sequence[Any] | None = None,
    probabilities: bool = False,
    numbers: bool = False,
) -> Predictions:
    r"""Predictions of a table in one of five layouts, distinguished by the columns, or of an export of a tool.

    ==========================  ================================================
    columns                     one row is
    ==========================  ================================================
    model, item, label, score   one score
    model, item, label          one hard label
    model, item, score          the probability of the last, positive of two labels
    model, item, and others     all scores of an item: one column for each label
    item, and others            all hard labels of an item: one column for each model
    ==========================  ================================================

    Parameters
    ----------
    path
        The file; or a table in memory (pandas, polars, pyarrow, `datasets.Dataset`).
    format, question
        As in `read_annotations`, for exports that hold outputs of models.
    model, item, label, score
        Names of the columns.
    labels
        All possible labels in their order. In the wide layout: the columns to read, by default all others.
    probabilities
        Declare the scores to be probabilities: they must then sum to one.
    numbers
        Read numbers in the units of ratings, unless the table has labels: one column of them, or several, which are
        samples of a predictive distribution, or its quantiles where their names are levels such as 0.05. Without a
        column of models each column is a model.

    Raises
    ------
    InputError
        A file that cannot be read or breaks a rule of `Predictions`; the message names the file and the layout.
    FileNotFoundError
        There is no such file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "predictions.csv"
    >>> _ = path.write_text("model,item,cat,dog\nA,1,0.7,0.3\nA,2,0.1,0.9\n")
    >>> read_predictions(path).hard_labels().tolist()
    [[0, 1]]
    """
    file = File(path)
    known = format_of(file, format)
    if format is not None or known is not None:
        wanted = Wanted(question, labels=labels, duplicates="keep")
        found = export_of(file, Columns(), wanted, format, known).predictions
        if found is None:
            raise InputError(f"{file.name} holds no outputs of models")
        return found
    table = read_table(path) if file.table is None else file.table  # an unknown ending names the known ones
    table = table.set_axis([str(name) for name in table.columns], axis=1)
    columns = _prediction_tables.Columns(model, item, label, score).found(table)
    layout = _prediction_tables.layout(table, columns, labels, numbers)
    with naming(file.name, layout):
        return _prediction_tables.READERS[layout](table, columns, labels, probabilities)


def write_result(tree: xr.DataTree, path: str | Path) -> None:
    """Write a result to netCDF (.nc) or zarr (.zarr), whole or not at all.

    Raises
    ------
    InputError
        Another ending, or .zarr without the package zarr.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "result.nc"
    >>> tree = xr.DataTree.from_dict({"/posterior": xr.Dataset({"phi": (("chain", "draw"), [[0.2, 0.3]])})})
    >>> write_result(tree, path)
    >>> read_result(path).identical(tree)
    True
    """
    path = Path(path)
    zarr = is_zarr(path)
    with atomic_path(path) as temporary:
        if zarr:
            tree.to_zarr(temporary, mode="w", consolidated=False)
        else:
            if shutil.disk_usage(temporary.parent).free < tree.nbytes + 2**18:  # HDF5 would end the process
                raise OSError(errno.ENOSPC, f"no space for {tree.nbytes:,} bytes", str(path))
            tree.to_netcdf(temporary, engine="h5netcdf")


def read_result(path: str | Path, *, max_bytes: int = MOST_UNPACKED) -> xr.DataTree:
    """Read a result that `write_result` wrote, unchanged and wholly into memory.

    Parameters
    ----------
    path
        A .nc file or a .zarr store.
    max_bytes
        Largest size in memory, as the metadata of the file state it; 4 GiB by default.

    Raises
    ------
    InputError
        Another ending, .zarr without the package zarr, or a file that is no netCDF or no store of `write_result`.
    SizeError
        More than `max_bytes`; nothing was read.
    FileNotFoundError
        There is no such file.

    Examples
    --------
    >>> import tempfile
    >>> from bayesagree import Labels, dirichlet
    >>> path = Path(tempfile.mkdtemp()) / "posterior.nc"
    >>> write_result(dirichlet(Labels.from_counts([[3, 1]]), draws=10, seed=1), path)
    >>> dict(read_result(path)["posterior"].sizes)
    {'chain': 4, 'draw': 10, 'item': 1, 'category': 2}
    """
    path = Path(path)
    require_file(path, folder=(zarr := is_zarr(path)))
    with opening(path, "result"):
        size = sum(zarr_arrays(path) if zarr else netcdf_arrays(path))
        if size > max_bytes:
            raise SizeError(
                f"{str(path)!r} takes {size / 2**30:.2f} GiB in memory, more than max_bytes={max_bytes}; raise it, or "
                "open what you need of the file with xarray.open_datatree"
            )
        options: dict[str, Any] = {"engine": "zarr", "consolidated": False} if zarr else {"engine": "h5netcdf"}
        with xr.open_datatree(path, **options) as tree:
            return tree.load()


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`, for a file or a folder, and move it there only when all went well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        temporary = Path(folder) / path.name
        try:
            yield temporary
        except OSError as error:  # libraries do not say which file
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error
        if path.is_dir():
            shutil.rmtree(path)
        os.replace(temporary, path)


def is_zarr(path: Path) -> bool:
    """Return whether a result at this path is a zarr store and not netCDF; refuse other endings."""
    if path.suffix not in (".nc", ".zarr"):
        raise InputError(f"{str(path)!r}: results are written as .nc (netCDF) or .zarr, not {path.suffix!r}")
    if path.suffix == ".zarr" and find_spec("zarr") is None:
        raise InputError(f"{str(path)!r}: .zarr needs pip install 'bayesagree[scale]'; or write to .nc")
    return path.suffix == ".zarr"
