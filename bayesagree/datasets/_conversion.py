"""Data sets that are put together from files of several projects: where these are, and how they are joined.

Conversions are checked by their content, which does not depend on how a file was written.
"""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

type Arrays = dict[str, NDArray[Any]]

_GITHUB = "https://raw.githubusercontent.com"
_COUNTS = f"{_GITHUB}/jcpeterson/cifar-10h/48da312b193b82e6939ec20f23d1f09cbdd849c8/data/cifar10h-counts.npy"
_CLEANLAB = f"{_GITHUB}/cleanlab/label-errors/6d5d6b31a13216290afc40e5c6319399c4d15c06"
_NETWORKS = f"{_GITHUB}/GavinKerrigan/conf_matrix_and_calibration/3b9cf13df58861a87549fe5d36017c1387aceb08/cifar10h"
_NETWORK_FILES = {
    "resnet_110": "resnet-110.csv",
    "preresnet_110": "preresnet-110.csv",
    "densenet_bc_190_40": "densenet-bc-L190-k40.csv",
}
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
CHECKSUMS = {
    "counts": "2278ae0f5723f8ca74304fd4ee812aa197b3cf3f1999663a792bedca5c877a8b",
    "labels": "0777b4d8d34036efebed9da06220dbfe33d5f06a32a55d7e609dc42fe510775f",
    "resnet_110": "473574f116294c612b7e573c128a304c270715c8729fc5b623a6adf419d71715",
    "preresnet_110": "71b28e5cd8a7d5e12a9ca3e3a39cf8311d0ccd76c7f30f5598399ea0c9f83ef4",
    "densenet_bc_190_40": "f09efc81ec2797f8ca1b5de8bbb2bad863349cfb6109475d7fb7ef2104eb7add",
    "cleanlab_crossval": "af9fc8420cfc609325f8eb1154bca56da8811911ca3c5e8a41326f2903721792",
}
"""SHA-256 of the numbers: counts and labels as 16-bit little-endian integers, probabilities as 32-bit floats."""


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
    for name in _NETWORK_FILES:
        table = pd.read_csv(files[name], header=None).to_numpy(float)
        if table.shape[1] != 11 + len(CLASSES):
            raise ValueError(f"{files[name]} has {table.shape[1]} columns, not a label, ten counts, ten probabilities")
        found[name] = table[:, 11:].astype(np.float32)
    found["cleanlab_crossval"] = np.load(files["cleanlab_crossval"]).astype(np.float32)
    for name, values in found.items():
        _require_published(files[name], name, values, "<f4")
    return found


CONVERSIONS: dict[str, tuple[dict[str, str], Callable[[Mapping[str, Path]], Arrays]]] = {
    "cifar10h/cifar10h_counts.npz": (
        {"counts": _COUNTS, "labels": f"{_CLEANLAB}/original_test_labels/cifar10_test_set_original_labels.npy"},
        _cifar10h_counts,
    ),
    "cifar10h/model_probs.npz": (
        {name: f"{_NETWORKS}/{file}" for name, file in _NETWORK_FILES.items()}
        | {"cleanlab_crossval": f"{_CLEANLAB}/cross_validated_predicted_probabilities/cifar10_test_set_pyx.npy"},
        _cifar10h_models,
    ),
}
"""File of a data set to the addresses of its parts, by name, and the function that joins them."""


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
