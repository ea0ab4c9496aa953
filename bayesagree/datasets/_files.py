"""Where the files of a data set are: the folder in BAYESAGREE_DATA first, else downloaded once and checked.

`sources.csv` has the origin, licence and citation of each folder, `registry.txt` the files that can be downloaded, and
`conversions.csv` the parts of those of CIFAR-10H, which are joined from files of three projects. Joined files are
checked by their content, which does not depend on how a part was written.
"""

import csv
import hashlib
import json
import os
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesagree.annotations import Annotations
from bayesagree.annotations.predictions import Predictions
from bayesagree.io.tables import read_table

FOLDER = files("bayesagree.datasets")
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def table_rows(name: str) -> list[dict[str, str]]:
    """Read a table of this folder: a row as a mapping of column to text."""
    return list(csv.DictReader(FOLDER.joinpath(name).read_text(encoding="utf-8").splitlines()))


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

    Raises
    ------
    FileNotFoundError
        The file is in no folder and cannot be downloaded; the message names its source and where to put it.
    """
    if (file := local_file(path)) is not None:
        return file
    parts = [row for row in table_rows("conversions.csv") if row["file"] == path]
    if not parts and path not in registry():
        raise _missing(path, "it is a conversion of files that cannot be downloaded as they are")
    if find_spec("pooch") is None:
        raise _missing(path, "or pip install 'bayesagree[data]' to download it")
    import pooch

    kept = Path(pooch.os_cache("bayesagree"))
    try:
        return (
            joined(path, parts, kept) if parts else _fetch(registry()[path][1], registry()[path][0], kept / path)
        )
    except (OSError, ValueError) as error:
        raise _missing(path, f"the download failed: {error}") from error


def _fetch(url: str, checksum: str | None, target: Path) -> Path:
    import pooch

    return Path(pooch.retrieve(url, checksum, fname=target.name, path=target.parent))


@cache
def registry() -> dict[str, tuple[str, str]]:
    """Return the files that can be downloaded: path to (checksum, URL at a pinned commit)."""
    text = (FOLDER / "registry.txt").read_text(encoding="utf-8")
    rows = (line.split() for line in text.splitlines())
    return {path: (checksum, url) for path, checksum, url in rows}


def joined(path: str, parts: list[dict[str, str]], folder: Path) -> Path:
    """Download the parts of a file of CIFAR-10H and join them, once.

    Raises
    ------
    ValueError
        A part that does not hold what was published.
    """
    target = folder / path
    if target.is_file():
        return target
    values = {}
    for row in parts:
        name, file = row["part"], _fetch(row["url"], None, folder / "parts" / row["url"].rsplit("/", 1)[1])
        if file.suffix == ".npy":
            values[name] = np.load(file)
        else:  # a label, ten counts, and the probabilities of a network
            values[name] = pd.read_csv(file, header=None).to_numpy(float)[:, 11:]
        # Counts and labels are 16-bit little-endian integers, probabilities 32-bit floats.
        kind = "<i2" if name in ("counts", "labels") else "<f4"
        values[name] = np.ascontiguousarray(values[name]).astype(kind)
        if hashlib.sha256(values[name].tobytes()).hexdigest() != row["sha256"]:
            raise ValueError(f"{file} does not hold the published {name} of CIFAR-10H")
    if "labels" in values:
        values |= {"labels": values["labels"].astype(np.int8), "class_names": np.array(CLASSES)}
    target.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(target, **values)  # type: ignore[arg-type]
    return target


def _missing(path: str, why: str) -> FileNotFoundError:
    folder = path.split("/", 1)[0]
    local = os.environ.get("BAYESAGREE_DATA")
    url = registry()[path][1] if path in registry() else SOURCES[folder]["url"]
    where = f"{local}/{path}" if local else f"<folder>/{path} and set BAYESAGREE_DATA=<folder>"
    return FileNotFoundError(f"data file {path!r} is not there; get it from {url} and put it in {where} ({why})")
