"""Data sets that are put together from files of several projects: where these are, and how they are joined.

Conversions are checked by their content, which does not depend on how a file was written.
"""

import csv
import hashlib
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

FOLDER = files("bayesagree.datasets")
type Arrays = dict[str, NDArray[Any]]

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def table_rows(name: str) -> list[dict[str, str]]:
    """Read a table of this folder: a row as a mapping of column to text."""
    return list(csv.DictReader(FOLDER.joinpath(name).read_text(encoding="utf-8").splitlines()))


PARTS = table_rows("conversions.csv")
# SHA-256 of the numbers: counts and labels as 16-bit little-endian integers, probabilities as 32-bit floats.
CHECKSUMS = {row["part"]: row["sha256"] for row in PARTS}


def _require_published(file: Path, name: str, values: NDArray[Any], kind: str) -> None:
    if hashlib.sha256(np.ascontiguousarray(values).astype(kind).tobytes()).hexdigest() != CHECKSUMS[name]:
        raise ValueError(f"{file} does not hold the published {name} of CIFAR-10H")


def _cifar10h_counts(files: Mapping[str, Path]) -> Arrays:
    """Join the votes of the people and the labels of the benchmark."""
    counts, labels = np.load(files["counts"]), np.load(files["labels"])
    for name, values in (("counts", counts), ("labels", labels)):
        _require_published(files[name], name, values, "<i2")
    return {"counts": counts.astype(np.int16), "labels": labels.astype(np.int8), "class_names": np.array(CLASSES)}


def _cifar10h_models(files: Mapping[str, Path]) -> Arrays:
    """Join the probabilities of the classifiers: of a network after the label and the votes, columns 11 to 20."""
    found: Arrays = {}
    for name in (name for name in files if name != "cleanlab_crossval"):
        table = pd.read_csv(files[name], header=None).to_numpy(float)
        if table.shape[1] != 11 + len(CLASSES):
            raise ValueError(f"{files[name]} has {table.shape[1]} columns, not a label, ten counts, ten probabilities")
        found[name] = table[:, 11:].astype(np.float32)
    found["cleanlab_crossval"] = np.load(files["cleanlab_crossval"]).astype(np.float32)
    for name, values in found.items():
        _require_published(files[name], name, values, "<f4")
    return found


_JOINS = {"cifar10h/cifar10h_counts.npz": _cifar10h_counts, "cifar10h/model_probs.npz": _cifar10h_models}
# File of a data set to the addresses of its parts, by name, and the function that joins them.
CONVERSIONS: dict[str, tuple[dict[str, str], Callable[[Mapping[str, Path]], Arrays]]] = {
    path: ({row["part"]: row["url"] for row in PARTS if row["file"] == path}, join) for path, join in _JOINS.items()
}


def convert(path: str, parts: Mapping[str, str | Path], target: str | Path) -> Path:
    """Join downloaded parts into a file of a data set.

    Parameters
    ----------
    path
        Which file, such as ``"cifar10h/cifar10h_counts.npz"``.
    parts
        Name of each part to the file that holds it; `CONVERSIONS` names them with their addresses.
    target
        Folder of the data sets, the one for BAYESAGREE_DATA.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    ValueError
        A part that does not hold what was published.
    KeyError
        A file that is no conversion, or a part that is missing.

    Examples
    --------
    >>> sorted(CONVERSIONS["cifar10h/cifar10h_counts.npz"][0])
    ['counts', 'labels']
    """
    needed, join = CONVERSIONS[path]
    arrays = join({name: Path(parts[name]) for name in needed})
    written = Path(target) / path
    written.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(written, **arrays)  # type: ignore[arg-type]
    return written
