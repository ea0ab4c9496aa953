"""Whatever bytes a file holds: a right answer or a clear error, never a traceback from inside, never a wrong number.

CI tries some hundred files, the slow suite more than 10,000. Each case starts from a good file of one of the four
kinds, breaks it in a few places, and reads it. An error must be an `InputError`; what is read must be what a second,
plain reader (the csv and json modules) counts in the same text.
"""

import contextlib
import csv
import gzip
import io as text_io
import json
import random
import warnings

import numpy as np
import pytest

from bayesagree import io
from bayesagree.annotations import Labels, Rankings, Ratings
from bayesagree.errors import InputError

GOOD = {
    "csv": "item,annotator,label\ni1,a,cat\ni1,b,dog\ni2,a,cat\ni3,b,fox\n",
    "tsv": "item\tannotator\trating\n1\ta\t3\n1\tb\t4\n2\ta\t5\n",
    "jsonl": '{"item": 1, "annotator": "a", "label": "x", "rank": 1}\n'
    '{"item": 1, "annotator": "a", "label": "y", "rank": 2}\n',
    "json": '{"cases": [[[[0, 2], [1]], [[2]]], [[[1]]]], "labels": 3}',
}
JUNK = [
    "", "NaN", "inf", "-inf", "1e999", "-0", "0x10", "nan", "NA", "None", "null", "true", "1,5", '"', "'", "\\", "\x00",
    "\ufeff", "ä", "é", "名", "\u202e", "=1+1", "<script>alert(1)</script>", "a" * 5000, "9" * 400, "1e-400", ",",
    ",,,", "\t", "\n", "\r\n", "\r", "[", "]", "{", "}", "[[", "item", "category", "3.5", "-7", "2**63",
    "9223372036854775808",
]  # fmt: skip
RAW = [b"\xff", b"\xfe\xff", b"\x80abc", b"\xc3", b"PAR1", b"\x1f\x8b\x08", b"\x00\x00"]


def broken(kind: str, dice: random.Random) -> bytes:
    """Break a good file in a few places: cells, lines, bytes, or all of it."""
    text = GOOD[kind]
    separators = {"csv": ",", "tsv": "\t", "jsonl": " ", "json": " "}
    for _ in range(dice.randrange(4)):
        lines = text.split("\n")
        row = dice.randrange(len(lines))
        cells = lines[row].split(separators[kind])
        column = dice.randrange(len(cells))
        match dice.randrange(6):
            case 0:
                cells[column] = dice.choice(JUNK)
            case 1:
                cells.insert(column, dice.choice(JUNK))
            case 2:
                del cells[column]
            case 3:
                cells[column] = cells[column][: dice.randrange(len(cells[column]) + 1)] + dice.choice(JUNK)
            case 4:
                lines.insert(row, lines[row])
            case _:
                lines[row:] = lines[row + 1 :]
                cells = []
        if cells and row < len(lines):
            lines[row] = separators[kind].join(cells)
        text = "\n".join(lines)
    data = text.encode("utf-8", "surrogatepass")
    match dice.randrange(12):
        case 0:
            place = dice.randrange(len(data) + 1)
            data = data[:place] + dice.choice(RAW) + data[place:]
        case 1:
            data = data[: dice.randrange(len(data) + 1)]
        case 2:
            data = bytes(dice.randrange(256) for _ in range(dice.randrange(60)))
        case 3:
            data = text.encode("utf-16")
        case _:
            pass
    return data


def decoded(data: bytes, *, json_lines: bool) -> str:
    """Read UTF-8; a CSV or TSV file may also be in UTF-16 or in the code page of Windows."""
    if json_lines:
        return data.decode("utf-8-sig")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252")


def rows_of(kind: str, data: bytes) -> list[dict]:
    """Read a table as plainly as possible."""
    text = decoded(data, json_lines=kind == "jsonl")
    if kind == "jsonl":
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    reader = csv.DictReader(text_io.StringIO(text, newline=""), delimiter="," if kind == "csv" else "\t")
    return list(reader)


def check(kind: str, data: bytes, found: Labels | Ratings | Rankings) -> None:
    """Compare what was read with the plain reading of the same text."""
    assert found.items.size > 0
    if kind == "json":
        content = json.loads(data)
        cases = content["cases"] if isinstance(content, dict) else content
        assert isinstance(found, Rankings)
        assert found.n_annotations == sum(len(case) for case in cases)
        return
    missing = {"", "NA", "NaN", "nan", None}
    column = {Labels: "label", Ratings: "rating", Rankings: "label"}[type(found)]
    rows = rows_of(kind, data)
    if not isinstance(found, Rankings) and rows and column not in rows[0]:
        column = next(name for name in rows[0] if name not in ("item", "annotator"))  # taken by its name or its cells
    given = [row for row in rows if not any(v != v or v in missing for v in [row.get(column)])]
    if isinstance(found, Rankings):
        assert found.label_index.size == len(given)
    else:
        assert found.n_annotations == len(given)
    if isinstance(found, Ratings):
        assert sorted(found.rating) == sorted(float(row[column]) for row in given)
        assert np.isfinite(found.rating).all()
        assert ((found.rating >= 1) & (found.rating <= 5)).all()
    if isinstance(found, Labels):
        texts = [str(row[column]) for row in given]
        assert len({str(name) for name in found.labels}) <= len(set(texts))


def read(tmp_path, kind: str, data: bytes, packed: bool) -> None:
    path = tmp_path / f"file.{kind}{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(data, 1) if packed else data)
    with contextlib.suppress(InputError), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check(kind, data, io.read_annotations(path, scale=(1, 5) if kind == "tsv" else None, step=1))


def fuzz(tmp_path, seed: int, cases: int) -> None:
    for case in range(cases):
        dice = random.Random(f"{seed} {case}")
        kind = dice.choice(list(GOOD))
        data = broken(kind, dice)
        try:
            read(tmp_path, kind, data, packed=dice.random() < 0.2)
        except Exception as error:
            raise AssertionError(f"seed {seed}, case {case}, {kind}: {data!r}") from error


@pytest.mark.parametrize("kind", GOOD)
def test_the_good_files_are_read(tmp_path, kind):
    path = tmp_path / f"file.{kind}"
    path.write_text(GOOD[kind])
    found = io.read_annotations(path, scale=(1, 5) if kind == "tsv" else None, step=1)
    check(kind, GOOD[kind].encode(), found)


def test_broken_files_give_an_answer_or_a_clear_error(tmp_path):
    fuzz(tmp_path, 1, 300)


@pytest.mark.slow
def test_ten_thousand_broken_files(tmp_path):
    fuzz(tmp_path, 2, 12_000)
