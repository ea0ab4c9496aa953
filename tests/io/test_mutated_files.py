"""20,000 files with a few changed bytes, of all formats: a sentence or a reading, and of text tables the right one.

A crash, a loop or an error of a library below fails. Tables are read by Python's own csv and json, by Polars
(Parquet) and by h5py (netCDF) as well: where both read, they read the same annotations or numbers. The bytes are new
every night; a failure names the seed of its file.
"""

import csv
import gzip
import io as streams
import json
import os
import random
import signal
import time
import warnings
from collections import Counter

import _exports
import h5py
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import bayesagree as ba

FILES = 20_000
SECONDS = 20
"""A file that takes more of the processor hangs."""
NIGHT = int(os.environ.get("NIGHT", time.time() // 86400))


def columnar(name, write):
    def make(folder, rows):
        table = pd.DataFrame(rows, columns=["item", "annotator", "label"])
        getattr(table, write)(folder / name)
        return folder / name

    return make


def result(name):
    def make(folder, rows):
        values = np.arange(float(len(rows))).reshape(2, -1)
        tree = xr.DataTree.from_dict({"/posterior": xr.Dataset({"phi": (("chain", "draw"), values)})})
        ba.write_result(tree, folder / name)
        return folder / name

    return make


def zipped(folder, rows):
    path = folder / "long.csv.gz"
    path.write_bytes(gzip.compress(_exports.long_csv(folder, rows).read_bytes(), mtime=0))
    return path


MADE = {
    name: getattr(_exports, name)
    for name in (
        "label_studio", "argilla", "prodigy", "doccano", "inspect", "promptfoo", "phoenix",
        "long_csv", "long_tsv", "long_jsonl", "lists_jsonl", "wide_csv",
    )
} | {
    "csv.gz": zipped, "parquet": columnar("t.parquet", "to_parquet"),
    "nc": result("r.nc"),
}  # fmt: skip
TABLES = {
    "long_csv": ",", "long_tsv": "\t", "long_jsonl": None, "csv.gz": ",", "parquet": "parquet",
    "nc": "nc",
}  # fmt: skip


def changed(content, dice):
    """Change a file in one of six ways, a few times."""
    data = bytearray(content)
    for _ in range(dice.choice([1, 1, 2, 5])):
        at, way = dice.randrange(len(data) + 1), dice.randrange(6)
        if way == 0 and data:
            data[at - 1] = dice.randrange(256)
        elif way == 1 and data:
            data[at - 1] ^= 1 << dice.randrange(8)
        elif way == 2:
            data[at:at] = bytes(dice.randrange(256) for _ in range(dice.randrange(1, 9)))
        elif way == 3:
            del data[at : at + dice.randrange(1, 40)]
        elif way == 4:
            data[at:at] = data[max(at - dice.randrange(1, 60), 0) : at]
        else:
            data[at:at] = dice.choice([b"\0", b"\xff", b"\xef\xbb\xbf", b"\r\n", b'"', b",", b"1e999", b"NaN", b"\xe9"])
    return bytes(data) or b"\0"


def plain(cell):
    """Give a number as a number: in a column of numbers one of which is not whole, 3 is 3.0."""
    try:
        return f"{float(cell):.17g}"
    except (TypeError, ValueError):
        return str(cell)


def independent(content, separator):
    """Read a long table by Python's own readers: a count of (item, annotator, label), None where they do not."""
    try:
        if separator == "parquet":
            rows = pl.read_parquet(streams.BytesIO(content)).rows()
            return Counter(tuple(map(plain, row)) for row in rows if row[2] is not None)
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        text = content.decode("utf-8-sig")
        if separator is None:
            rows = [json.loads(line) for line in text.split("\n") if line.strip()]
        else:
            rows = list(csv.DictReader(streams.StringIO(text, newline=""), delimiter=separator, strict=True))
        cells = [tuple(plain(row[name]) for name in ("item", "annotator", "label")) for row in rows]
        cells = [cell for cell in cells if cell[2] not in ("", "None")]  # no label was given
    except (ValueError, KeyError, TypeError, EOFError, OSError, csv.Error, pl.exceptions.PolarsError):
        return None
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # of Polars
            return None
        raise
    return Counter(cells)


def as_read(found):
    names = found.items, found.annotators, found.categories
    codes = found.item_index, found.annotator_index, found.label_index
    columns = [np.asarray(n)[c].tolist() for n, c in zip(names, codes)]
    return Counter(tuple(map(plain, row)) for row in zip(*columns))


def same_result(found, path):
    """Whether a result holds what h5py reads of the file (of bytes in memory, broken ones, it may read others)."""
    try:
        with h5py.File(path) as file:
            numbers = file["posterior/phi"][:]
    except Exception:  # noqa: BLE001  whatever it is
        return True
    posterior = found["posterior"].to_dataset() if "posterior" in found else {}
    return "phi" not in posterior or np.array_equal(posterior["phi"].values, numbers, equal_nan=True)


def outcome(path, content, separator):
    """Give what one file ends in: sentence, read, same, or what is wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ba.read_result(path) if path.suffix == ".nc" else ba.read_annotations(path)
    except ba.InputError:
        return "sentence"
    except Exception as error:  # noqa: BLE001  any other error is the finding
        return f"{type(error).__name__}: {str(error)[:200]}"
    if separator == "nc":
        return "same" if same_result(found, path) else "differs from h5py"
    if separator == "-" or not isinstance(found, ba.Labels):
        return "read"
    other = independent(content, separator)
    if other is None:
        return "read"
    ours = as_read(found)
    return "same" if ours == other else f"differs: ours has {[*(ours - other)][:3]}, not {[*(other - ours)][:3]}"


@pytest.mark.parametrize(
    ("n", "first"), [(5, 0), pytest.param(FILES // len(MADE) + 1, NIGHT * 10**6, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", MADE)
def test_changed_files_are_read_or_refused(tmp_path, name, n, first):
    path, separator = MADE[name](tmp_path, _exports.votes(12, 3)), TABLES.get(name, "-")
    content, wrong = path.read_bytes(), {}
    assert outcome(path, content, separator) in ("read", "same")
    for random_seed in range(first, first + n):
        data = changed(content, random.Random(random_seed))
        path.write_bytes(data)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # the signal ends the process
        found = outcome(path, data, separator)
        signal.setitimer(signal.ITIMER_PROF, 0)
        if found not in ("sentence", "read", "same"):
            wrong[random_seed] = found
    assert not wrong, f"{len(wrong)} of {n}: {dict([*wrong.items()][:12])}"
