"""Exports of tools, broken anywhere: an answer or an `InputError`; and every row is read or counted as left out."""

import contextlib
import json
import tempfile
import warnings
import zipfile
from copy import deepcopy
from pathlib import Path

import _exports
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesagree.errors import InputError, SizeError
from bayesagree.io import read_export

LABELS = st.sampled_from(["yes", "no", None])
VOTES = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(["ann", "bob", "eve"]), LABELS),
    min_size=1,
    unique_by=lambda row: row[:2],
)
JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 2**70), st.floats(), st.text("ab[{\"',\n\x00ä", max_size=4),
    st.just([]), st.just({}), st.just([[1]]), st.just({"rank": 1}), st.just({"value": {"label": []}}),
    st.just("9" * 400),
)  # fmt: skip
NO_SKIPS = {"promptfoo", "inspect"}  # every judge of these judges every output


@pytest.mark.parametrize("tool", _exports.TOOLS)
@given(rows=VOTES)
@settings(max_examples=6, deadline=None)
def test_rows_are_read_or_counted(tool, rows):
    if tool in NO_SKIPS:
        rows = [(item, who, label or "no") for item, who, label in rows]
    with tempfile.TemporaryDirectory() as folder:
        path = _exports.TOOLS[tool](Path(folder), sorted(rows))
        if all(label is None for *_, label in rows):
            with contextlib.suppress(InputError):
                assert read_export(path).annotations is None
            return
        export = read_export(path, format=tool)
    left_out = export.contents.loc[export.contents["left_out"], "number"].sum()
    assert export.annotations is not None
    assert export.annotations.n_annotations == sum(label is not None for *_, label in rows)
    assert export.annotations.n_annotations + left_out == len(rows)


def places(node, path=()):
    """Yield the path to every node of a document."""
    yield path
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


def broken(document, data):
    """Replace, drop or repeat one node of a document."""
    spots = list(places(document))
    *way, last = data.draw(st.sampled_from(spots[1:]))
    node = document
    for key in way:
        node = node[key]
    match data.draw(st.sampled_from(["replace", "drop", "repeat"])):
        case "replace":
            node[last] = deepcopy(data.draw(JUNK))
        case "drop":
            del node[last]
        case _ if isinstance(node, list):
            node.append(node[last])
        case _:
            node[f"{last}2"] = node.pop(last)
    return document


def rewritten(path, data):
    """Break a file: its bytes, or its content in a few places."""
    if data.draw(st.integers(0, 4)) == 0:
        content = path.read_bytes()
        at = data.draw(st.integers(0, len(content)))
        path.write_bytes(content[:at] + data.draw(st.sampled_from([b"", b"\xff", b"\x00", b'"', b"}", b"\n"])))
        return
    if path.suffix in (".zip", ".eval"):
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name).decode() for name in archive.namelist()}
        name = data.draw(st.sampled_from(sorted(members)))
        members[name] = broken_text(members[name], data, lines=name.endswith("l"))
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in members.items():
                archive.writestr(name, text)
        return
    path.write_text(broken_text(path.read_text(), data, lines=path.suffix == ".jsonl", table=path.suffix == ".csv"))


def broken_text(text, data, *, lines=False, table=False):
    if table:
        rows = [line.split(",") for line in text.splitlines()]
        return "\n".join(",".join(str(cell) for cell in row) for row in broken(rows, data) if isinstance(row, list))
    document = [json.loads(line) for line in text.splitlines()] if lines else json.loads(text)
    for _ in range(data.draw(st.integers(1, 3))):
        if document:
            document = broken(document, data)
    return "\n".join(map(json.dumps, document)) if lines else json.dumps(document)


def break_and_read(tool, data):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*(not UTF-8|may stand for no answer|Unicode form alone|several in a cell)")
        path = {**_exports.TOOLS, "lm_eval": _exports.lm_eval}[tool](Path(folder), _exports.votes(2, 3))
        rewritten(path, data)
        with contextlib.suppress(InputError, SizeError):
            read_export(path, format=data.draw(st.sampled_from([None, tool])), duplicates="keep")


@pytest.mark.parametrize("tool", [*_exports.TOOLS, "lm_eval"])
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_broken_exports_give_an_answer_or_an_error_of_input(tool, data):
    break_and_read(tool, data)


@pytest.mark.slow
@pytest.mark.parametrize("tool", [*_exports.TOOLS, "lm_eval"])
@given(data=st.data())
@settings(max_examples=600, deadline=None)
def test_many_broken_exports(tool, data):
    break_and_read(tool, data)
