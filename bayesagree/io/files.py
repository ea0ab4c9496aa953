"""Files in and results out: tables (CSV, TSV, Parquet, JSON Lines, JSON), results (netCDF).

Every file may end in .gz. In text tables an empty cell, ``NA`` and ``NaN`` are missing; every other text, also
``None`` and ``null``, is a name.
"""

import errno
import glob
import os
import platform
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import xarray as xr

from bayesagree.annotations.predictions import Predictions
from bayesagree.annotations.runs import Runs
from bayesagree.errors import InputError, SizeError, opening, require_file
from bayesagree.io import _prediction_tables
from bayesagree.io._json import MOST_UNPACKED
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
    run: str | None = None,
    labels: Sequence[Any] | None = None,
    probabilities: bool = False,
    numbers: bool = False,
) -> Predictions:
    r"""Read predictions from a table, whose columns tell its layout, or from an export of a tool.

    ==========================  ================================================
    columns                     one row is
    ==========================  ================================================
    model, item, label, score   one score
    model, item, label          one hard label
    model, item, score          the probability of the last, positive of two labels
    model, item, and others     all scores of an item: one column for each label
    item, and others            all hard labels of an item: one column for each model
    item, and probabilities     those of the labels, if they sum to one (of the model "model"), else one probability of
                                the last, positive of two labels for each model
    ==========================  ================================================

    Without a column of items the rows are the items 0, 1, ... A list in the cell of a label or score holds the answers
    of several runs. In .json such rows are objects, or the labels are ``{model: {item: label}}``. The log of Inspect
    has the answers that its first scorer kept, with epochs as runs.

    Parameters
    ----------
    path
        The file; or a table in memory (pandas, polars, pyarrow, `datasets.Dataset`).
    format, question
        As in `read_annotations`, for exports that hold outputs of models.
    model, item, label, score
        Names of the columns.
    run
        Column of the runs of models that answered an item several times; None finds it, as `Predictions.from_long`.
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
    return read_outputs(**locals())


def read_outputs(
    path: Any,
    *,
    format: str | None = None,
    question: str | None = None,
    run: str | None = None,
    labels: Sequence[Any] | None = None,
    two: Sequence[Any] | None = None,
    probabilities: bool = False,
    numbers: bool = False,
    **names: str,
) -> Predictions:
    """Read predictions as `read_predictions`; `two` names the labels of one probability per item."""
    file = File(path)
    known = format_of(file, format)
    if format is not None or known is not None:
        wanted = Wanted(question, labels=labels, duplicates="keep", outputs=True)
        found = export_of(file, Columns(), wanted, format, known).predictions
        if found is None:
            raise InputError(f"{file.name} holds no outputs of models")
        return found
    table = read_table(path) if file.table is None else file.table  # an unknown ending names the known ones
    table = table.set_axis([str(name) for name in table.columns], axis=1)
    table = _prediction_tables.named_by_role(table, **names)
    with naming(file.name, "predictions"):
        table, run = _prediction_tables.one_answer_a_row(table, run)
        table, runs = _prediction_tables.one_row_a_run(table, run)
    layout = _prediction_tables.layout(table, labels, numbers)
    with naming(file.name, layout):
        of_two = two if layout in _prediction_tables.OF_TWO else None
        found = _prediction_tables.READERS[layout](table, labels or of_two, probabilities)
    return found if runs is None else replace(found, runs=Runs.of(found.models, runs))


def write_result(tree: xr.DataTree, path: str | Path) -> None:
    """Write a result to netCDF (.nc), whole or not at all.

    Raises
    ------
    InputError
        Another ending.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "result.nc"
    >>> tree = xr.DataTree.from_dict({"/posterior": xr.Dataset({"phi": (("chain", "draw"), [[0.2, 0.3]])})})
    >>> write_result(tree, path)
    >>> read_result(path).identical(tree)
    True
    """
    path = require_result(path)
    with atomic_path(path) as temporary:
        if shutil.disk_usage(temporary.parent).free < tree.nbytes + 2**18:  # HDF5 would end the process
            raise OSError(errno.ENOSPC, f"no space for {tree.nbytes:,} bytes", str(path))
        tree.to_netcdf(temporary, engine="h5netcdf")


def read_result(path: str | Path) -> xr.DataTree:
    """Read a result that `write_result` wrote, unchanged and wholly into memory.

    Parameters
    ----------
    path
        A .nc file.

    Raises
    ------
    InputError
        Another ending, or a file that is no netCDF of `write_result`.
    SizeError
        More than 4 GiB in memory, as the metadata of the file state it; nothing was read.
    FileNotFoundError
        There is no such file.

    Examples
    --------
    >>> import tempfile
    >>> from bayesagree import Labels, dirichlet
    >>> path = Path(tempfile.mkdtemp()) / "posterior.nc"
    >>> write_result(dirichlet(Labels.from_counts([[3, 1]]), draws=10, random_seed=1), path)
    >>> dict(read_result(path)["posterior"].sizes)
    {'chain': 4, 'draw': 10, 'item': 1, 'category': 2}
    """
    path = require_result(path)
    require_file(path)
    with opening(path, "result"):
        size = _size_in_memory(path)
        if size > MOST_UNPACKED:
            raise SizeError(
                f"{str(path)!r} takes {size / 2**30:.2f} GiB in memory, more than the {MOST_UNPACKED / 2**30:g} that "
                "are read; open what you need of the file with xarray.open_datatree"
            )
        with xr.open_datatree(path, engine="h5netcdf") as tree:
            return tree.load()


def require_result(path: str | Path) -> Path:
    """Refuse a path that no result can be written to, before anything is computed."""
    path = Path(path)
    if path.suffix != ".nc":
        raise InputError(f"{str(path)!r}: results are written as .nc (netCDF), not {path.suffix!r}")
    return path


def _size_in_memory(path: Path) -> int:
    """Bytes of all variables, by the metadata alone; refuse links in a circle and values kept in other files."""
    import h5py

    found: list[int] = []
    seen: set[Any] = set()

    def strange(name: str, link: Any) -> str | None:
        node: Any = file[name] if isinstance(link, h5py.HardLink) else None
        found.append(getattr(node, "nbytes", 0))
        elsewhere = not isinstance(node, h5py.Dataset | h5py.Group) or node in seen
        seen.add(node)
        return (
            name
            if elsewhere or (isinstance(node, h5py.Dataset) and (node.external or node.is_virtual))
            else None
        )

    with h5py.File(path, "r") as file:
        seen.add(file["/"])
        if (name := file.visititems_links(strange)) is not None:
            raise InputError(
                f"{str(path)!r}: {name!r} leads elsewhere, as nothing in a result of write_result does"
            )
    return sum(found)


# A temporary folder that nobody touched for so many seconds is of no writer any more, whatever its process.
STALE = 24 * 3600.0
# Where a process number means something.
MACHINE = f"{crc32(platform.node().encode()):08x}"


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`, for a file or a folder, and move it there only when all went well.

    What a killed writer of the same name left is removed; another one at work is not disturbed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(f".{glob.escape(path.name)}.*-*.*"):
        if _is_stale(left, path.name):
            shutil.rmtree(left, ignore_errors=True)
    prefix = f".{path.name}.{MACHINE}-{os.getpid()}."
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=prefix) as folder:
        temporary = Path(folder) / path.name
        try:
            yield temporary
        except OSError as error:  # libraries do not say which file
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error
        if path.is_dir():
            shutil.rmtree(path)
        os.replace(temporary, path)


def _is_stale(left: Path, name: str) -> bool:
    """Return whether a temporary folder is of a process of this machine that is gone, or a day old."""
    written = re.fullmatch(rf"\.{re.escape(name)}\.([0-9a-f]{{8}})-(\d+)\.\w+", left.name)
    if written is None:
        return False
    try:
        if time.time() - left.stat().st_mtime > STALE:
            return True
        if written[1] == MACHINE and os.name != "nt":  # there the call below would end the process
            os.kill(int(written[2]), 0)
    except (ProcessLookupError, FileNotFoundError):
        return True
    except OSError:  # of another user
        return False
    return False
