"""Where the files of a data set are: the folder in BAYESAGREE_DATA first, else downloaded once and checked.

`sources.csv` has the origin, licence and citation of each folder, `files.csv` the files that can be downloaded. Those
of CIFAR-10H have a row for each of their parts, which are joined from files of three projects and checked by their
content: it does not depend on how a part was written.
"""

import csv
import hashlib
import json
import os
from collections.abc import Mapping
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayesagree._types import Array
from bayesagree.annotations import Annotations
from bayesagree.annotations.predictions import Predictions
from bayesagree.io.tables import read_table


def table_rows(name: str) -> list[dict[str, str]]:
    """Read a table of this folder: a row as a mapping of column to text."""
    text = files("bayesagree.datasets").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


# Folder of a data set to its `url`, `licence` and `citation`.
SOURCES = {row.pop("folder"): row for row in table_rows("sources.csv")}


class Content(NamedTuple):
    """What the files of a data set hold: the fields of `Dataset` that are read."""

    annotations: Annotations
    predictions: Predictions | None = None
    gold: pd.Series | None = None
    extra: Mapping[str, Any] = {}


def by_item(rows: Any, value: str, item: str = "item", name: str = "gold") -> pd.Series:
    """Return one value per item, from rows in which an item may come several times."""
    return rows.drop_duplicates(item).set_index(item)[value].rename(name)


def features(rows: Any, annotator: str, columns: list[str]) -> pd.DataFrame:
    """Return one row per annotator with the given columns."""
    return rows.drop_duplicates(annotator).set_index(annotator)[columns].rename_axis("annotator")


def table(path: str) -> pd.DataFrame:
    """Read a table of a data set; `path` is folder/name without .gz."""
    return read_table(locate(path))


def lines(path: str) -> list[str]:
    """Read the lines of a text file of a data set."""
    return locate(path).read_text(encoding="utf-8").splitlines()


def json_content(path: str) -> Any:
    """Read a JSON file of a data set."""
    return json.loads("\n".join(lines(path)))


def arrays(path: str) -> dict[str, Array]:
    """Read the arrays of an .npz file of a data set."""
    with np.load(locate(path), allow_pickle=False) as content:
        return dict(content)


def local_file(path: str) -> Path | None:
    """Return the file, plain or gzip, of the local folder; None where it is not there."""
    local = os.environ.get("BAYESAGREE_DATA")
    found = [Path(local) / name for name in (path, f"{path}.gz")] if local else []
    return next((file for file in found if file.is_file()), None)


def sources_of(path: str) -> list[dict[str, str]]:
    """Return where a file, or each of its parts, can be downloaded, at a pinned commit."""
    return [row for row in table_rows("files.csv") if row["file"] == path]


def locate(path: str) -> Path:
    """Return the file, plain or gzip, from the local folder or else downloaded.

    Raises
    ------
    FileNotFoundError
        The file is in no folder and cannot be downloaded; the message names its source and where to put it.
    """
    if (file := local_file(path)) is not None:
        return file
    rows = sources_of(path)
    local = os.environ.get("BAYESAGREE_DATA")
    if not rows:
        why = "it is a conversion of files that cannot be downloaded as they are"
    elif find_spec("pooch") is None:
        why = "or pip install 'bayesagree[data]' to download it"
    else:
        import pooch

        target = Path(pooch.os_cache("bayesagree")) / path
        try:
            return (
                _joined(rows, target) if rows[0]["part"] else _fetch(rows[0]["url"], rows[0]["sha256"], target)
            )
        except (OSError, ValueError) as error:
            why = f"the download failed: {error}"
    whole = rows and not rows[0]["part"]
    url = rows[0]["url"] if whole else SOURCES[path.split("/", 1)[0]]["url"]
    where = f"{local}/{path}" if local else f"<folder>/{path} and set BAYESAGREE_DATA=<folder>"
    raise FileNotFoundError(f"data file {path!r} is not there; get it from {url} and put it in {where} ({why})")


def _fetch(url: str, checksum: str | None, target: Path) -> Path:
    import pooch

    return Path(pooch.retrieve(url, checksum, fname=target.name, path=target.parent))


def _joined(rows: list[dict[str, str]], target: Path) -> Path:
    """Download the parts of a file of CIFAR-10H and join them, once."""
    if not target.is_file():
        values = {row["part"]: _part(row, target.parents[1] / "parts") for row in rows}
        target.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(target, **values)  # type: ignore[arg-type]
    return target


def _part(row: dict[str, str], folder: Path) -> Array:
    """Download an array and refuse one that does not hold what was published."""
    file = _fetch(row["url"], None, folder / row["url"].rsplit("/", 1)[1])
    # The tables hold a label, ten counts, and the probabilities of a network.
    values = np.load(file) if file.suffix == ".npy" else pd.read_csv(file, header=None).to_numpy(float)[:, 11:]
    values = np.ascontiguousarray(values, dtype=row["dtype"])
    if hashlib.sha256(values.tobytes()).hexdigest() != row["sha256"]:
        raise ValueError(f"{file} does not hold the published {row['part']} of CIFAR-10H")
    return values
