"""Files of every kind with a few bytes changed, cut or repeated: an answer, or an error that names the file.

A damaged Feather file once crashed the interpreter, which would end this run.
"""

import contextlib
import gzip
import random
import shutil
import tempfile
import warnings
from pathlib import Path

import _exports
import pandas as pd
import pyarrow as pa
import pytest

import bayesagree as ba
from bayesagree import io
from bayesagree.errors import InputError, SizeError

VOTES = [(item, who, label) for item, who, label in _exports.votes(8, 3)]
TABLE = pd.DataFrame(VOTES, columns=["item", "annotator", "label"])
MODELS = pd.DataFrame({"model": ["A"] * 8 + ["B"] * 8, "item": [*range(8)] * 2, "no": [0.25] * 16, "yes": [0.75] * 16})


def stream(path):
    content = pa.Table.from_pandas(TABLE)
    with pa.ipc.new_stream(path, content.schema) as file:
        file.write_table(content)


def result(path):
    io.write_result(ba.dirichlet(ba.Labels.from_long(TABLE), draws=3, chains=2, seed=1), path)


def packed(path):
    path.write_bytes(gzip.compress(TABLE.to_csv(index=False).encode()))


BLOCKS = '{"labels": ["a", "b"], "cases": [[[["a"], ["b"]]]]}'


SEEDS = {
    "long.csv": (lambda path: TABLE.to_csv(path, index=False), io.read_annotations),
    "long.tsv": (lambda path: TABLE.to_csv(path, index=False, sep="\t"), io.read_annotations),
    "long.csv.gz": (packed, io.read_annotations),
    "long.jsonl": (lambda path: TABLE.to_json(path, orient="records", lines=True), io.read_annotations),
    "long.parquet": (lambda path: TABLE.to_parquet(path), io.read_annotations),
    "codes.parquet": (lambda path: TABLE.astype({"label": "category"}).to_parquet(path), io.read_annotations),
    "long.feather": (lambda path: TABLE.to_feather(path), io.read_annotations),
    "plain.feather": (lambda path: TABLE.to_feather(path, compression="uncompressed"), io.read_annotations),
    "long.arrow": (stream, io.read_annotations),
    "blocks.json": (lambda path: path.write_text(BLOCKS), io.read_annotations),
    "models.csv": (lambda path: MODELS.to_csv(path, index=False), io.read_predictions),
    "models.parquet": (lambda path: MODELS.to_parquet(path), io.read_predictions),
    "result.nc": (result, io.read_result),
} | {
    tool: (lambda path, make=make: shutil.copy(make(path.parent, VOTES), path), io.read_export)
    for tool, make in _exports.TOOLS.items()
}  # fmt: skip


def name_of(seed, folder):
    """Tools name their own files: take the ending of theirs."""
    return seed if "." in seed else f"seed{_exports.TOOLS[seed](folder, VOTES).suffix}"


def changed(content, dice):
    """Change, cut, repeat or insert a few bytes."""
    data = bytearray(content)
    for _ in range(dice.randrange(1, 6)):
        at = dice.randrange(len(data) + 1)
        match dice.randrange(6):
            case 0:
                del data[at:]
            case 1:
                data[at:at] = bytes(dice.randrange(256) for _ in range(dice.randrange(1, 5)))
            case 2:
                data[at:at] = data[at : at + dice.randrange(1, 60)]
            case 3:
                data[at : at + 8] = dice.choice([b"\xff", b"\x00", b"9"]) * min(8, len(data) - at)
            case _ if at < len(data):
                data[at] = dice.randrange(256)
            case _:
                pass
    return bytes(data)


def fuzz(seed, cases):
    make, read = SEEDS[seed]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / name_of(seed, folder)
        make(path)
        files = [file for file in sorted(path.rglob("*")) if file.is_file()] if path.is_dir() else [path]
        whole = {file: file.read_bytes() for file in files}
        read(path)
        for case in range(cases):
            dice = random.Random(f"{seed} {case}")
            file = dice.choice(files)
            file.write_bytes(changed(whole[file], dice))
            try:
                with warnings.catch_warnings(), contextlib.suppress(InputError, SizeError):
                    warnings.simplefilter("ignore")
                    read(path)
            except Exception as error:
                raise AssertionError(f"{seed}, case {case}: {file.name}") from error
            file.write_bytes(whole[file])


@pytest.mark.parametrize("seed", SEEDS)
def test_changed_files_give_an_answer_or_an_error_of_input(seed):
    fuzz(seed, 25)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_many_changed_files(seed):
    fuzz(seed, 700)
