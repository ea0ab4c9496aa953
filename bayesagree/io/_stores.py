"""What a stored result holds, by its metadata alone, before anything of it is read."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from bayesagree.errors import InputError, shorten

# Codecs of zarr that `read_result` decodes: none of them runs what it reads.
CODECS = {"blosc", "bytes", "crc32c", "gzip", "transpose", "vlen-bytes", "vlen-utf8", "zstd"}

# Chunks of a variable of a zarr store: each is a file, which takes some 0.1 ms to look for.
MOST_CHUNKS = 10**6


def netcdf_arrays(path: Path) -> list[int]:
    """Bytes of each variable, by the metadata alone; refuse links in a circle and values kept in other files."""
    import h5py

    found: list[int] = []
    seen: set[Any] = set()

    def strange(name: str, link: Any) -> str | None:
        node: Any = file[name] if isinstance(link, h5py.HardLink) else None
        found.append(getattr(node, "nbytes", 0))
        elsewhere = not isinstance(node, h5py.Dataset | h5py.Group) or node in seen
        seen.add(node)
        return name if elsewhere or (isinstance(node, h5py.Dataset) and (node.external or node.is_virtual)) else None

    with h5py.File(path, "r") as file:
        seen.add(file["/"])
        if (name := file.visititems_links(strange)) is not None:
            raise InputError(f"{str(path)!r}: {name!r} leads elsewhere, as nothing in a result of write_result does")
    return found


def zarr_arrays(path: Path) -> list[int]:
    """Bytes of each variable, by the metadata alone; refuse codecs that `write_result` does not write.

    Stores of version 2 may name a codec that unpickles, that is, runs what is in the file.
    """
    if not (path / "zarr.json").is_file() or any(path.rglob(".zarray")):
        raise InputError(f"{str(path)!r} is no zarr store of version 3, as write_result writes; write it again")
    found = []
    for file in sorted(path.rglob("zarr.json")):
        about = json.loads(file.read_text(encoding="utf-8"))
        if about["node_type"] != "array":
            continue
        if strange := {codec["name"] for codec in about["codecs"]} - CODECS:
            raise InputError(f"{str(file)!r}: codec {shorten(strange)} is not one of {', '.join(sorted(CODECS))}")
        chunk = about["chunk_grid"]["configuration"]["chunk_shape"]
        pieces = math.prod(-(-n // c) for n, c in zip(about["shape"], chunk, strict=True))
        if pieces > MOST_CHUNKS:
            raise InputError(f"{str(file)!r}: {pieces:,} chunks, more than the {MOST_CHUNKS:,} that are read")
        kind = about["data_type"]
        text = 16 if kind == "string" else 0
        item = kind["configuration"]["length_bytes"] if isinstance(kind, dict) else text or np.dtype(kind).itemsize
        found.append(item * math.prod([*about["shape"], 1]))
    return found
