# ruff: noqa: E501
"""Runs of the readers: small odd tables in every layout with every option, and odd texts in JSON."""

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from _runs.recipe import add, within
from bayesagree import io
from bayesagree.errors import InputError
from bayesagree.io import _json, tables
from bayesagree.io.formats import _guess, pairwise, spreadsheet
from bayesagree.io.formats._found import Wanted

long = pd.DataFrame({"item": [1, 1, 2, 2, 3], "annotator": [*"abaca"], "label": ["no", "yes", "no", "No ", None]})
names = {"item": "task_id", "annotator": "Worker", "label": "Answer"}
TABLES: dict[str, pd.DataFrame] = {
    "long": long,
    "long by other names": long.rename(columns=names),
    "long by vague names": long.rename(columns={"item": "id", "annotator": "uid"}),
    "long with texts": long.rename(columns=names).assign(text=["t1", "t1", "t2", "t2", "t3"], text_id=[7, 7, 8, 8, 9]),
    "long without names": long.rename(columns={"item": "q", "annotator": "r", "label": "s"}),
    "crossed without names": pd.DataFrame({"q": [1, 1, 2, 2, 3, 3], "r": [*"ababab"], "s": [*"xyxxyx"]}),
    "long twice": pd.concat([long, long.iloc[:2].assign(label=["yes", "no"])]),
    "long without annotators": long.drop(columns="annotator"),
    "long with ratings": long.assign(label=[1, 2, 5, 3, None]).rename(columns={"label": "score"}),
    "long with both": long.assign(rating=[1, 2, 5, 3, 4]),
    "long with ranks": long.assign(rank=[1, 2, 1, 1, 3], label=[*"abcab"]),
    "long with numbers": long.assign(label=[1, 2, 5, 3, 4]),
    "wide": pd.DataFrame({"doc": ["p", "q", "r"], "ann": ["x", "y", "x"], "bob": ["x", "x", None], "cyn": ["y", "y", "x"]}),
    "wide with a text": pd.DataFrame({"item": ["p", "q", "r"], "text": ["a b", "c", "d"], "ann": [*"xyx"], "bob": ["x", "N/A", "y"]}),
    "wide with a rare label": pd.DataFrame({"item": ["p", "q", "r"], "ann": [*"xyz"], "bob": [*"xyx"], "cyn": [*"xxx"]}),
    "wide of numbers": pd.DataFrame({"item": [*"pqr"], "ann": [1, 2, 3], "bob": [2, 2, np.nan], "cyn": [3, 1, 1]}),
    "wide of levels": pd.DataFrame({"ann": [1.0, 2.0, 3.0], "bob": [2.0, 2.0, 1.0]}),
    "counts": pd.DataFrame({"item": [*"pqr"], "yes": [3, 0, 1], "no": [1, 2, 2], "note": ["a", "b", "c"]}),
    "no counts": pd.DataFrame({"item": [*"pqr"], "note": ["a", "b", "c"]}),
    "an item twice": pd.DataFrame({"item": [*"pqp"], "yes": [3, 0, 1], "no": [1, 2, 2]}),
    "an item missing": pd.DataFrame({"item": ["p", None, "q"], "yes": [3, 0, 1], "no": [1, 2, 2]}),
    "lists": pd.DataFrame({"item": [*"pqr"], "labels": [["x", "y"], ["x"], []], "annotators": [["a", "b"], ["c"], []]}),
    "lists alone": pd.DataFrame({"item": [*"pqr"], "votes": ['["x", "y"]', "['x']", "[]"]}),
    "lists of numbers": pd.DataFrame({"item": [*"pq"], "ratings": [[1, 4], [2, 5]], "workers": [["a", "b"], ["b", "c"]]}),
    "lists under two names": pd.DataFrame({"item": [*"pq"], "one": [["x"], ["y"]], "two": [["x"], ["x"]]}),
    "uneven lists": pd.DataFrame({"item": [*"pq"], "labels": [["x", "y"], ["x"]], "annotators": [["a"], ["b"]]}),
    "objects": pd.DataFrame({"item": [*"pq"], "votes": [{"x": 2, "y": 1}, {"y": 3, "x": None}]}),
    "no list": pd.DataFrame({"item": [*"pq"], "labels": [["x"], "y"]}),
    "pairs": pd.DataFrame({"model_a": [*"ABA"], "model_b": [*"BCC"], "winner": ["model_a", "tie", "model_b"], "judge": [*"xyx"]}),
    "features": pd.DataFrame({"q": [1, 1, 2, 2], "r": [*"abab"], "s": [*"xxyy"], "t": [0.5, 1.5, 2.5, 3.5]}),
    "two choices": pd.DataFrame({"q": [1, 1, 2, 2], "r": [*"abab"], "s": [*"xyxy"], "t": [*"uvvu"]}),
    "empty": long.iloc[:0],
}  # fmt: skip
OPTIONS: dict[str, dict[str, Any]] = {
    "": {}, "labels": {"labels": ["no", "yes"]}, "reversed": {"labels": ["y", "x"], "ordered": True}, "number": {"labels": 6},
    "scale": {"scale": (1, 5)}, "levels": {"scale": (1, 5), "step": 1}, "ratings": {"kind": "ratings"}, "rankings": {"kind": "rankings"},
    "comparisons": {"kind": "comparisons"}, "wide": {"format": "wide"}, "counts": {"format": "counts"}, "lists": {"format": "lists"},
    "long": {"format": "long"}, "first": {"duplicates": "first"}, "keep": {"duplicates": "keep"}, "similar": {"merge_similar": True},
    "missing": {"na_values": ["no", "x", 2]}, "one missing": {"na_values": "yes"}, "nobody": {"annotator": None},
    "names": {"item": "q", "annotator": "r", "label": "s"}, "wrong name": {"label": "nothing"},
}  # fmt: skip


def read(table: pd.DataFrame, ways: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Read a table as an export in several ways, each of which may be refused."""
    found: dict[str, Any] = {}
    for how, options in ways.items():
        try:
            found[how] = [io.read_export(table, **options)]
        except (ValueError, TypeError) as error:
            found[how] = str(error)
    return found


for name, table in TABLES.items():
    add(f"read_export of {name}", read, table, OPTIONS)()


def guesses(table: pd.DataFrame) -> Any:
    """Give what is guessed of a table."""
    notes: list[str] = []
    found: list[Any] = [_guess.vocabulary(table), _guess.only_key(table), [_guess.nested(table[n]) for n in table],
                        list(_guess.Columns().by_name(table)), list(_guess._by_cells(table, _guess.Columns())),
                        spreadsheet.layout(table, _guess.Columns()), pairwise.sides_of(table.columns)]  # fmt: skip
    try:
        found.append(list(_guess.Columns().guessed(table, notes)))
    except InputError as error:
        found.append(str(error))
    return [*found, notes]


for name, table in TABLES.items():
    add(f"guesses of {name}", guesses, table)()
for limits in ({"FEW_ANNOTATORS": 1}, {"FEW_ANNOTATORS": 2}, {"MOST_LABELS": 1}, {"MOST_LABELS": 2}, {"MOST_LABELS": 3}, {"MOST_CANDIDATES": 2},
               {"MOST_CANDIDATES": 3}):  # fmt: skip
    for name in ("crossed without names", "wide with a rare label", "long by vague names", "two choices"):
        add(f"guesses of {name} within", within, _guess, limits, guesses, TABLES[name])()
for most in (2, 3, 4):
    add(
        "columns within",
        within,
        spreadsheet,
        {"MOST_COLUMNS": most},
        read,
        TABLES["wide of levels"].assign(cyn=[1.0, 1.0, 2.0]),
        {"": {}},
    )()
rows = long.assign(label=["no", "yes", ["x", "y"], [], None])
for values in (
    ["a", "b", "N/A", 2],
    ["x", ["y"], [], ["a", "b"]],
    [{"rank": 1, "value": "x"}],
    [{"rank": 1}],
    [None, 2.5],
):
    for wanted in (
        Wanted(),
        Wanted(na_values="a"),
        Wanted(na_values=["b", 2]),
        Wanted(merge_similar=True),
        Wanted(labels=3, merge_similar=True),
    ):
        add("cleaned", lambda w, v: w.cleaned(v), wanted, values)()
for weight in (0, 1, 1.2, 1.4999, 1.499999999, 1.5, 1.5001, 1.7, 2, 2.0001, 0.9, -1, None, "1", float("nan")):
    add("_of_weight", pairwise._of_weight, weight, 3)()

TEXTS = [
    b"[]", b"[1, 2]", b'[{"a": 1}, {"a": 2}, {"a": [{"b": 1}, {"b": 2}]}, {"a": "}, {"}]', b' [{"a":1},{"b":2},{"c":3}] ', b'{"a": 1}',
    b'{"a": 1, "a": 2}', b'[{"a": 1}, {"a": 1, "a": 2}]', b'[{"a": 12345678901234567890}, {"a": 1234567890123456789}]', b'{"a": NaN}',
    b'[{"a": 1}, {"a": NaN}, {"a": 3}]', b'{"\\u003a": 1, "b": 2}', b'{"a": "\\u003a"}', b'{"a": 1', b'[{"a": 1}, {"a": }]', b"", b"\n\n",
    b'"\xff"', b'\n"a\xe9"', b'\xef\xbb\xbf{"a": 1}', b'\xff\xfe{\x00}\x00', b"[" * 3000, b'[{"a": 1}\n, {"b" 2}]', b'["a", "b"]', b"12", b"[[1], [2]]",
    b'{"a":1}\n{"a":2}\n\n{"a":3}\n{"a":4}\n', b'{"a":1}\n{"a":2}\n{"a":3', b'{"a":1}\n[2]\n', b'{"a":1}\n{"a":1,"a":2}\n', b'\xef\xbb\xbf{"a":1}\n{"b":2}',
    b'{"a": 1e400}', b'{"a": -0.0, "b": 1.0}',
]  # fmt: skip
SMALL = {"LARGE": 10, "PIECE": 3, "PART": 8, "BLOCK": 2}


def of_text(read: Any, text: bytes, end: str) -> Any:
    """Write a text to a file, and read it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"t{end}"
        path.write_bytes(gzip.compress(text) if end.endswith(".gz") else text)
        found = read(path)
        whole = isinstance(found, dict | list | int | str)
        return [type(found).__name__, repr(found if whole else list(found))]


for k, text in enumerate(TEXTS):
    for limits in ({}, SMALL, SMALL | {"MOST_CANDIDATES": 1}):
        add(f"read_json {k}", within, _json, limits, of_text, _json.read_json, text, ".json")()
    for limits in ({}, SMALL):
        add(f"read_rows {k}", within, _json, limits, of_text, _json.read_rows, text, ".jsonl")()
    add(f"read_json {k} packed", of_text, _json.read_json, text, ".json.gz")()
for size in (24, 25, 26):
    add(
        "read_json at its size",
        within,
        _json,
        {"LARGE": size, "PIECE": 3},
        of_text,
        _json.read_json,
        TEXTS[3].strip(),
        ".json",
    )()
    add(
        "unpacked at its size",
        within,
        _json,
        {"MOST_UNPACKED": size},
        of_text,
        _json.read_json,
        TEXTS[3].strip(),
        ".json.gz",
    )()
add("undecodable_line", of_text, _json.undecodable_line, b"a\nb\nc\xff\nd\xff\n", ".txt")()
add("undecodable_line none", of_text, _json.undecodable_line, b"a\nb\n", ".txt")()

CSV = [
    b"item,label\n1,cat\n2,\n", b"item;label\n1,5;cat\n2;dog\n", b"sep=;\nitem;label\n1;a,b\n", b'"sep=|"\nitem|label\n1|a\n', b"item,label\n1,cat,3\n2,dog\n",
    b"item,label\n1\n2,dog\n", b"item,label\n", b"", b"item,item\n1,2\n", b"item,label\n1,caf\xe9\n", "item,label\n1,café\n".encode("utf-16"),
    b'item,label\n1,"a\nb"\n2,c\n', b"item,label\r1,a\r2,b\r", b"item,label\r\n1,a\r\n2,NA\r\n", b"\xef\xbb\xbfitem,label\n1,a\n", b'item,label\n1,"a\n2,b\n',
    b"item\tlabel\n1\ta\n", b"a;b\n1,5;2\n-2,25;3\nx;4\n", b"a;b\n1;2\n;3\n+4,0;5\n", b"item,label\n1,nan\n2,None\n3,null\n4,-\n", b"item,label,\n1,a,\n2,b,\n",
    b" item , label \n1,a\n", b"item,label\n1,\n,b\n\n3,c\n",
]  # fmt: skip


def _frame(text: bytes, end: str) -> Any:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"t{end}"
        path.write_bytes(gzip.compress(text) if end.endswith(".gz") else text)
        frame = tables.read_table(path)
        return [repr(frame.to_dict("list")), *map(str, frame.dtypes)]


for k, text in enumerate(CSV):
    for end in (".csv", ".tsv", ".csv.gz"):
        add(f"read_table {k}", _frame, text, end)()
add("read_table of no such kind", _frame, b"a", ".doc")()
for content in (
    [[["a"]]],
    [[[["a"], ["b"]]]],
    {"cases": [[[["a"]]]], "items": ["p"], "labels": ["a"]},
    {"case": 1},
    "x",
    {"cases": 3},
    [3],
    [[3]],
    [[[3]]],
):
    add("read_blocks", lambda c: repr(tables.read_blocks(c)), content)()
