"""Where the files of a data set are: the folder in BAYESAGREE_DATA first, else downloaded once and checked.

`sources.csv` has the origin, licence and citation of each folder, `registry.txt` the files that can be downloaded.
"""

import json
import os
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesagree.annotations import Annotations
from bayesagree.annotations.predictions import Predictions
from bayesagree.datasets._conversion import CONVERSIONS, FOLDER, convert, table_rows
from bayesagree.io.tables import read_table

# Folder of a data set to its `url`, `licence` and `citation`.
SOURCES = {row.pop("folder"): row for row in table_rows("sources.csv")}


class Content(NamedTuple):
    """What the files of a data set hold: the fields of `Dataset` that are read."""

    annotations: Annotations
    predictions: Predictions | None = None
    gold: pd.Series | None = None
    extra: Mapping[str, Any] = {}


def by_item(rows: Any, value: str, item: str = "item", name: str | None = None) -> pd.Series:
    """Return one value per item, from rows in which an item may come several times."""
    once = rows.drop_duplicates(item)
    return pd.Series(once[value].to_numpy(), index=pd.Index(once[item]), name=name or value)


def features(rows: pd.DataFrame, annotator: str, columns: list[str]) -> pd.DataFrame:
    """Return one row per annotator with the given columns."""
    once = rows.drop_duplicates(annotator)
    return pd.DataFrame(once[columns]).set_axis(pd.Index(once[annotator], name="annotator"), axis=0)


def table(path: str) -> pd.DataFrame:
    """Read a table of a data set; `path` is folder/name without .gz."""
    return read_table(locate(path))


def lines(path: str) -> list[str]:
    """Read the lines of a text file of a data set."""
    return locate(path).read_text(encoding="utf-8").splitlines()


def json_content(path: str) -> Any:
    """Read a JSON file of a data set."""
    return json.loads(locate(path).read_text(encoding="utf-8"))


def arrays(path: str) -> dict[str, NDArray[Any]]:
    """Read the arrays of an .npz file of a data set."""
    with np.load(locate(path), allow_pickle=False) as content:
        return dict(content)


def local_file(path: str) -> Path | None:
    """Return the file, plain or gzip, of the local folder; None where it is not there."""
    local = os.environ.get("BAYESAGREE_DATA")
    found = [Path(local) / name for name in (path, f"{path}.gz")] if local else []
    return next((file for file in found if file.is_file()), None)


def locate(path: str) -> Path:
    """Return the file, plain or gzip, from the local folder or else downloaded.

    A file that is put together from several (`_conversion`) is, once they are downloaded.

    Raises
    ------
    FileNotFoundError
        The file is in no folder and cannot be downloaded; the message names its source and where to put it.
    """
    if (file := local_file(path)) is not None:
        return file
    if path in CONVERSIONS:
        return _converted(path)
    if path not in registry():
        raise _missing(path, "it is a conversion of files that cannot be downloaded as they are")
    if find_spec("pooch") is None:
        raise _missing(path, "or pip install 'bayesagree[data]' to download it")
    return _download(path)


@cache
def registry() -> dict[str, tuple[str, str]]:
    """Return the files that can be downloaded: path to (checksum, URL at a pinned commit)."""
    text = (FOLDER / "registry.txt").read_text(encoding="utf-8")
    rows = (line.split() for line in text.splitlines())
    return {path: (checksum, url) for path, checksum, url in rows}


def _download(path: str) -> Path:
    import pooch

    checksum, url = registry()[path]
    folder, name = path.rsplit("/", 1)
    try:
        return Path(pooch.retrieve(url, checksum, fname=name, path=pooch.os_cache("bayesagree") / folder))
    except (OSError, ValueError) as error:
        raise _missing(path, f"the download failed: {error}") from error


def _converted(path: str) -> Path:
    """Download the parts of a file and join them, once."""
    if find_spec("pooch") is None:
        raise _missing(path, "or pip install 'bayesagree[data]' to download its parts and join them")
    import pooch

    cache_folder = Path(pooch.os_cache("bayesagree"))
    if (cache_folder / path).is_file():
        return cache_folder / path
    try:
        parts = {
            name: Path(pooch.retrieve(url, None, fname=url.rsplit("/", 1)[1], path=cache_folder / "parts"))
            for name, url in CONVERSIONS[path][0].items()
        }
        return convert(path, parts, cache_folder)
    except (OSError, ValueError) as error:
        raise _missing(path, f"the download failed: {error}") from error


def _missing(path: str, why: str) -> FileNotFoundError:
    folder = path.split("/", 1)[0]
    local = os.environ.get("BAYESAGREE_DATA")
    url = registry()[path][1] if path in registry() else SOURCES[folder]["url"]
    where = f"{local}/{path}" if local else f"<folder>/{path} and set BAYESAGREE_DATA=<folder>"
    return FileNotFoundError(f"data file {path!r} is not there; get it from {url} and put it in {where} ({why})")
