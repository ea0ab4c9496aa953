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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

import xarray as xr

from bayesagree.errors import InputError, SizeError, opening, require_file
from bayesagree.io._json import MOST_UNPACKED


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
    if path.is_dir() and path.suffix != ".zarr":
        raise InputError(f"{str(path)!r} is a folder, and all in it would go; name a file")
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
        if path.suffix == ".zarr" and path.is_dir():
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
