"""Hostile files: bytes for text, archives that unpack without end, broken stores, absurd sizes, pipes, formulas."""

import json
import os
import zipfile

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import bayesagree as ba
from bayesagree import io
from bayesagree.errors import InputError, SizeError
from bayesagree.io import _json


@pytest.mark.parametrize("row", ["1,w\0,b", "1,v,b\0", "1\0,v,b"])
def test_names_with_nul_are_refused(tmp_path, row):
    """NumPy drops a trailing NUL: 'a' and 'a\\0' print alike and split the votes of a label."""
    path = tmp_path / "nul.csv"
    path.write_text(f"item,annotator,label\nx,w,a\n{row}\n")
    with pytest.raises(InputError, match=r"holds a NUL character; remove it"):
        ba.read_annotations(path)


def archive(path, members, **options):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content, **options)
    return path


HEADER = {"header.json": json.dumps({"eval": {"model": "m"}})}


def test_members_that_unpack_beyond_the_limit_are_refused_before(tmp_path, monkeypatch):
    monkeypatch.setattr("bayesagree.io._json.MOST_UNPACKED", 2**20)
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda self, name: HEADER["header.json"].encode())
    path = archive(tmp_path / "bomb.eval", HEADER | {"summaries.json": b" " * (2**20 + 1)})
    with pytest.raises(InputError, match=r"summaries\.json: unpacks to 0\.0 GiB or more, and .* GiB are read"):
        ba.read_annotations(path)
    path = archive(tmp_path / "bomb.zip", {"ann.jsonl": b"\n" * 2**21})
    with pytest.raises(InputError, match=r"ann\.jsonl: unpacks to"):
        ba.read_annotations(path)


def test_a_table_of_very_many_columns_is_refused_before_its_columns_are_looked_at(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"a{k}" for k in range(2**14)]
    path.write_text("\n".join([",".join(["item", *names]), ",".join(["1"] * (2**14 + 1))]))
    with pytest.raises(InputError, match="has 16385 columns, more than 16384; write one row per annotation"):
        ba.read_annotations(path)
    # In time that grows with the columns: 100,000 names took minutes, as each was looked up in a list of the others.
    with pytest.raises(InputError, match="column 'a7' is there twice"):
        _json.require_distinct([*(f"a{k}" for k in range(10**5)), "a7"], "wide.csv")


@pytest.mark.parametrize("name", ["d.eval", "d.csv", "d.json", "d.parquet", "d.nc"])
def test_folders_and_pipes_are_no_files(tmp_path, name):
    folder, pipe = tmp_path / name, tmp_path / "pipes" / name
    folder.mkdir()
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    read = ba.read_result if name.endswith(".nc") else io.read_export
    empty = "is not a regular file" if name.endswith(".nc") else "is a folder of nothing"
    for path, said in ((folder, empty), (pipe, "is not a regular file")):
        with pytest.raises(InputError, match=rf"{name}' {said}"):
            read(path)
    (folder / "week.csv").symlink_to(folder)
    with pytest.raises(InputError, match=r"' is not a regular file"):
        read(folder)


def test_tables_of_arrow_are_validated_before_use(tmp_path):
    """Offsets beyond the text of a column crashed the interpreter."""
    offsets = np.array([0, 2**30, 2], np.int32)
    text = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(b"ab")])
    table = pa.table({"item": [1, 2], "annotator": ["x", "x"], "label": text})
    with pytest.raises(InputError, match=r"not a whole Arrow table"):
        ba.read_annotations(table)


@pytest.mark.parametrize("where", ["circle", "link", "other file", "two names"])
def test_results_lead_nowhere_else(tmp_path, where):
    """A group within itself was read for ever; values kept in another file were read from anywhere on the machine."""
    path = tmp_path / "r.nc"
    (tmp_path / "secret").write_bytes(b"secret")
    with h5py.File(path, "w") as file:
        group = file.create_group("posterior")
        if where == "circle":
            group["again"] = file["/"]
        elif where == "link":
            group["again"] = h5py.ExternalLink(str(tmp_path / "secret"), "/x")
        elif where == "two names":
            group["again"] = file.create_group("a")
        else:
            group.create_dataset("again", shape=(6,), dtype="u1", external=[(str(tmp_path / "secret"), 0, 6)])
    with pytest.raises(InputError, match=r"r\.nc': '(posterior/again|a)' leads elsewhere"):
        ba.read_result(path)


def test_sizes_are_looked_at_before_they_are_allocated(tmp_path):
    with h5py.File(tmp_path / "huge.nc", "w") as file:
        file.create_dataset("posterior/phi", shape=(10**11,), dtype="f8", chunks=(10**6,))
    assert (tmp_path / "huge.nc").stat().st_size < 10_000
    with pytest.raises(SizeError, match=r"huge\.nc' takes 745\.06 GiB in memory, more than the 4 that are read"):
        ba.read_result(tmp_path / "huge.nc")


TEXTS = (
    "18446744073709551616", "-9223372036854775809", "9007199254740993", "[1234567890123456789, -1]", "1e400",
    "-0", "NaN", "[Infinity, -Infinity]", '"\\ud800"', '"\\u003a"', '{"a\\u003a": {"b:c": ":"}}', "[" * 300 + "]" * 300,
    "\ufeff[1]", '{"id": "1234567890123456789012"}', "0.000123456789012345678901", '"\\u0000"', "  [ ]  ",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_json_is_parsed_as_python_parses_it(tmp_path, text):
    """Numbers over 64 bits, NaN, half a surrogate."""
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    assert repr(_json.read_json(tmp_path / "a.json")) == repr(json.loads(text.removeprefix("\ufeff")))


@pytest.mark.parametrize("text", ['{"a": 1, "a": "\\u003a"}', '[{"b": {"c": ":", "c": 1}}]', '{"a": NaN, "a": 1}'])
@pytest.mark.parametrize("filler", [0, 10**6])
def test_a_key_twice_is_found_at_any_depth(tmp_path, text, filler):
    """Also in one part of many."""
    text = f'["{"x" * filler}", {text}]'
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match=r"column '[ac]' is there twice"):
        _json.read_json(tmp_path / "a.json")


FORMULAS = ["=1+1", "@x", "-cmd|' /C calc'!A0", "+A1", "\t=1"]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_formulas_are_escaped(tmp_path, ending):
    path = tmp_path / f"f.{ending}"
    table = pd.DataFrame({"item": [*FORMULAS, "-1.5", "+2e3", "a=b"], "n": [-1.0] * 8})
    with pytest.warns(UserWarning, match=r"a spreadsheet would compute '=1\+1', '@x'"):
        ba.io.write_table(table, path)
    assert io.read_table(path)["item"].tolist() == [f"'{text}" for text in FORMULAS] + ["-1.5", "+2e3", "a=b"]
    ba.io.write_table(table, tmp_path / "f.jsonl")
    assert io.read_table(tmp_path / "f.jsonl")["item"].tolist() == table["item"].tolist()
