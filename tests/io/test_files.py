"""Files: every format reads the same table, every broken file says what is wrong, results come back unchanged."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from _paths import ROOT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bayesagree as ba
from bayesagree import io
from bayesagree.annotations import Labels, Rankings, Ratings
from bayesagree.errors import InputError
from bayesagree.io.files import MACHINE, atomic_path

TABLE = pd.DataFrame({"item": [1, 2, 3], "annotator": ["a", "None", "ä b"], "rating": [0.5, np.nan, 3.0]})
WRITERS: dict[str, Callable[[Path], object]] = {
    "csv": lambda path: TABLE.to_csv(path, index=False),
    "tsv": lambda path: TABLE.to_csv(path, index=False, sep="\t"),
    "parquet": lambda path: TABLE.to_parquet(path),
    "jsonl": lambda path: TABLE.to_json(path, orient="records", lines=True),
    "ndjson": lambda path: TABLE.to_json(path, orient="records", lines=True),
}


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("packed", [False, True])
def test_every_format_reads_the_same_table(tmp_path: Path, ending: str, packed: bool) -> None:
    path = tmp_path / f"table.{ending}"
    WRITERS[ending](path)
    if packed:
        path = write(tmp_path, f"{path.name}.gz", path.read_bytes())
    pd.testing.assert_frame_equal(io.read_table(path), TABLE, check_dtype=False)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.text("abc,;\t\"'\n ä", min_size=1), st.text("NAnaul ", min_size=1)), min_size=1))
def test_any_quoted_text_comes_back(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    table = pd.DataFrame(rows, columns=["one", "other"])
    missing = ("", "NA", "NaN", "nan")
    for name, separator in (("table.csv", ","), ("table.tsv", "\t")):
        table.to_csv(tmp_path / name, index=False, sep=separator)
        back = io.read_table(tmp_path / name)
        for column in table:
            expected = [None if v in missing else v for v in table[column]]
            assert [None if pd.isna(v) else v for v in back[column]] == expected


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (["01", "1", "02"], ["01", "1", "02"]),
        (["12e3", "12000", "1e1", "10"], ["12e3", "12000", "1e1", "10"]),
        (["1", "2", "10"], [1, 2, 10]),
        (["0.5", "1e-05", "10.05"], [0.5, 1e-05, 10.05]),
        (["0", "-1", "2"], [0, -1, 2]),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_names_that_one_number_would_make_the_same_stay_apart(
    tmp_path: Path, names: Any, kept: Any, encoding: str
) -> None:
    (tmp_path / "a.csv").write_text("item,label\n" + "".join(f"{name},x\n" for name in names), encoding=encoding)
    assert io.read_table(tmp_path / "a.csv")["item"].tolist() == kept


@pytest.mark.parametrize("first", [(0, 1, 2), (1, 2, 3), (11, 13, 15), ("01", "02", "03"), ("x", "y", "z")])
def test_a_column_without_a_name_is_refused_whatever_it_counts(tmp_path: Path, first: Any) -> None:
    """Names of rows that rise evenly were taken for places, and the column was lost."""
    path = write(tmp_path, "a.csv", "annotator,label\n\n" + "".join(f"{item},ann,x\n" for item in first))
    with pytest.raises(InputError, match="line 3: 3 fields where the header has 2"):
        io.read_table(path)


def test_codes_of_no_answer_are_missing_beside_empty_cells(tmp_path: Path) -> None:
    """An empty cell makes numbers of a column floats: -99 is -99.0 there."""
    rows = "".join(f"{i},{who},{label}\n" for i in range(3) for who, label in (("a", i % 2), ("b", ""), ("c", -99)))
    path = write(tmp_path, "a.csv", "item,annotator,label\n" + rows)
    assert ba.read_annotations(path, na_values=[-99]).categories.tolist() == [0, 1]
    assert ba.read_annotations(path, na_values="-99").n_annotations == 3


def test_a_folder_is_never_replaced_by_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    write(tmp_path / "mine", "thesis.txt", "all of it")
    with pytest.raises(InputError, match="mine' is a folder, and all in it would go"), atomic_path(tmp_path / "mine"):
        pass
    assert [path.name for path in tmp_path.rglob("*")] == ["mine", "thesis.txt"]


def test_an_error_of_the_system_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    """Libraries say what, some with a number of the system and some in words alone, of a temporary file."""
    path = tmp_path / "result.nc"
    for one, words in (
        (OSError(28, "No space left on device", "elsewhere"), "No space left"),
        (OSError("lost"), "lost"),
    ):
        with pytest.raises(OSError, match=words) as raised, atomic_path(path):
            raise one
        assert (raised.value.errno, raised.value.filename) == (one.errno, str(path))
        assert raised.value.strerror == (one.strerror or "lost")
    assert not list(tmp_path.iterdir())


def test_none_and_null_are_labels_and_na_is_missing(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "item,annotator,label\n1,a,None\n1,b,null\n1,c,NA\n1,d,\n")
    with pytest.warns(UserWarning, match=r"'None', 'null' may stand for no answer; na_values="):
        labels = ba.read_annotations(path)
    assert isinstance(labels, Labels)
    assert (labels.categories.tolist(), labels.n_annotations) == (["None", "null"], 2)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "is empty: the first line must name the columns"),
        ("a.csv", "item,label\n", "is empty: no row below the columns 'item', 'label'"),
        ("a.csv", "a,b\n1,2,3\n", "line 2: 3 fields where the header has 2; quote fields that contain ','"),
        ("a.csv", "a,b\n1,2\n1\n", "line 3: 1 fields where the header has 2"),
        ("a.csv", b"a,b\n1,2\n1,\x81\n", "line 3: not UTF-8 text; save it as UTF-8"),
        ("a.csv", "a\tb\n1\t2\n", "the only column is 'a\\tb'; this file is not separated by ','"),
        ("a.jsonl", '{"a": 1}\n{"a": \n', "line 2: not JSON"),
        ("a.jsonl", '{"a": 1, "a": 2}\n', "line 1: column 'a' is there twice"),
        ("a.parquet", "a,b\n", "not a whole Parquet file"),
        ("a.jsonl", "", "is empty: no JSON object in it"),
        ("a.jsonl", '{"a": 1}\n\n[1]\n', "line 3: expected an object, got [1]; one object a line"),
        ("a.jsonl", b'{"a": 1}\n{"a": "\xff"}\n', "line 2: not UTF-8 text; save it as UTF-8"),
        ("a.csv", "sep=;\na;b\n1;2\n1\n", "line 4: 1 fields where the header has 2; quote fields that contain ';'"),
        ("a.csv", "a,b\n\n1,2,3\n", "line 3: 3 fields where the header has 2"),
        ("a.tsv", "a,b\n1,2\n", "the only column is 'a,b'; this file is not separated by '\\t'"),
        ("a.doc", "a,b\n", "unknown kind of file; known are .csv, .tsv, .parquet, .jsonl, .ndjson, .xlsx"),
    ],
)
def test_broken_tables_say_what_is_wrong(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    path = write(tmp_path, name, content)
    with pytest.raises(InputError, match=re.escape(message)) as raised:
        io.read_table(path)
    assert str(path) in str(raised.value)


def test_gzip_that_unpacks_beyond_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesagree.io._json.MOST_UNPACKED", 10_000)
    row = '{"item": 1, "annotator": "a", "label": "cat"}\n'
    for name, line in (
        ("a.csv.gz", "1,a,cat\n"),
        ("a.jsonl.gz", row),
        ("a.json.gz", f"[{row}"),
    ):  # lines, and the whole
        path = tmp_path / name
        path.write_bytes(gzip.compress(b"item,annotator,label\n" * (".csv" in name) + line.encode() * 10_000))
        with pytest.raises(InputError, match=r"unpacks to .* GiB are read at most; unpack it yourself"):
            ba.read_annotations(path)


def test_broken_gzip_is_named(tmp_path: Path) -> None:
    plain, cut = tmp_path / "plain.csv.gz", tmp_path / "cut.csv.gz"
    plain.write_bytes(b"a,b\n1,2\n")
    cut.write_bytes(gzip.compress(b"a,b\n" + os.urandom(2000).hex().encode())[:-900])
    for path in (plain, cut):
        with pytest.raises(InputError, match="not a whole gzip file"):
            io.read_table(path)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_columns_choose_the_kind(tmp_path: Path) -> None:
    labels = write(tmp_path, "labels.csv", "item,annotator,label\n1,a,x\n")
    ratings = write(tmp_path, "ratings.csv", "item,annotator,rating\n1,a,2\n")
    rankings = write(tmp_path, "rankings.csv", "item,annotator,label,rank\n1,a,x,1\n1,a,y,2\n")
    both = write(tmp_path, "both.csv", "task,worker,label,rating\n1,a,4,2\n")
    mapped = {"item": "task", "annotator": "worker"}
    assert isinstance(ba.read_annotations(labels), Labels)
    assert isinstance(ba.read_annotations(ratings, scale=(1, 5), step=1), Ratings)
    assert isinstance(ba.read_annotations(rankings), Rankings)
    assert isinstance(ba.read_annotations(both, **mapped, kind="labels"), Labels)
    assert isinstance(ba.read_annotations(both, **mapped, scale=(1, 5)), Ratings)
    as_ratings = ba.read_annotations(both, **mapped, kind="ratings", rating="label", scale=(1, 5))
    assert isinstance(as_ratings, Ratings)
    assert as_ratings.rating.tolist() == [4]


def test_rows_in_json_are_a_table(tmp_path: Path) -> None:
    rows = [{"item": 1, "annotator": who, "label": label} for who, label in ("ax", "by")]
    votes = ba.read_annotations(write(tmp_path, "votes.json.gz", json.dumps(rows)))
    assert votes.to_matrix().values.tolist() == [["x", "y"]]  # type: ignore[union-attr]
    for content in ("[1, 2]", "[]", '"x"', '{"cases": []}'):
        with pytest.raises(InputError, match="has an unknown format; known are label_studio"):
            ba.read_annotations(write(tmp_path, "other.json", content))


def test_three_layouts_of_predictions_agree(tmp_path: Path) -> None:
    wide = write(tmp_path, "wide.csv", "model,item,0,1\nA,p,0.5,0.5\nA,q,0.1,0.9\nB,q,1,0\nB,p,0,1\n")
    rows = "A,p,0,0.5\nA,p,1,0.5\nA,q,0,0.1\nA,q,1,0.9\nB,q,0,1\nB,q,1,0\nB,p,0,0\nB,p,1,1\n"
    long = write(tmp_path, "long.csv", "model,item,label,score\n" + rows)
    hard = write(tmp_path, "hard.csv", "model,item,label\nA,p,0\nA,q,1\nB,q,0\nB,p,1\n")
    one, other = ba.read_predictions(wide, probabilities=True), ba.read_predictions(long, probabilities=True)
    assert np.array_equal(one.scores, other.scores)  # type: ignore[arg-type]
    assert one.labels.tolist() == other.labels.tolist() == [0, 1]
    assert np.array_equal(one.hard_labels(), ba.read_predictions(hard).hard_labels())
    assert ba.read_predictions(wide, labels=[1, 0]).labels.tolist() == [1, 0]


def test_a_column_of_labels_or_numbers_for_each_model(tmp_path: Path) -> None:
    words = write(tmp_path, "words.csv", "comment_id,new,old\nc1,hate,ok\nc2,ok,\nc3,ok,ok\n")
    found = ba.read_predictions(words)
    assert found.models.tolist() == ["new", "old"]
    assert found.items.tolist() == ["c1", "c2", "c3"]
    assert found.labels.tolist() == ["hate", "ok"]
    assert found.label_index.tolist() == [[0, 1, 1], [1, -1, 1]]  # type: ignore[union-attr]
    whole = write(tmp_path, "whole.csv", "item,new,old\n1,1,1\n2,0,1\n3,0,0\n")
    assert ba.read_predictions(whole).label_index.tolist() == [[1, 0, 0], [1, 1, 0]]  # type: ignore[union-attr]
    numbers = ba.read_predictions(write(tmp_path, "numbers.csv", "query,new,old\n1,3.5,2\n2,4,\n"), numbers=True)
    assert numbers.models.tolist() == ["new", "old"]
    np.testing.assert_array_equal(numbers.points(), [[3.5, 4.0], [2.0, np.nan]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("engine,item,label\np,1,x\nq,1,x\n", "no column 'model' for the model; the table has 'engine', 'item'"),
        ("item,x,y\np,0,1\nq,1,0\n", "read as scores, one column a label: no column 'model' for the model"),
        ("item,x,y\np,a,b\np,b,a\n", "read as hard labels, one column a model: item 'p' is listed twice"),
        ("item,x,y,text\np,a,b,one\nq,b,a,two\n", "column 'text' shares no value with 'x', 'y': drop it"),
        ("model,item,x\nA,p,1\nA,p,2\n", "item 'p' is listed twice"),
        ("model,item,x,y\nA,p,1,high\n", "model 'A', item 'p', label 'y': 'high' is not a number"),
        ("model,item,label,score\nA,p,x,\n", "read as scores, one a row: model 'A', item 'p', label 'x': score nan"),
        ("model,item,label\nA,p,x\nA,p,y\n", "read as hard labels: predictions for model 'A', item 'p' are given"),
    ],
)
def test_predictions_name_the_file_and_the_layout(tmp_path: Path, content: str, message: str) -> None:
    path = write(tmp_path, "predictions.csv", content)
    with pytest.raises(InputError, match=re.escape(message)) as raised:
        ba.read_predictions(path)
    assert str(path) in str(raised.value)


def result() -> xr.DataTree:
    items, labels = np.array(["q17", "ä", "a long name"]), np.array([3, 1])
    plausibility = np.random.default_rng(1).dirichlet([1.0, 2.0], (2, 5, 3))
    posterior = xr.Dataset(
        {
            "plausibility": (("chain", "draw", "item", "category"), plausibility),
            "top_label": (("chain", "draw", "item", "rank"), np.zeros((2, 5, 3, 1), np.int16)),
            "weight": (("item",), np.array([1.0, np.nan, np.inf], np.float32)),
            "open": (("item",), np.array([True, False, True])),
        },
        coords={"chain": [0, 1], "draw": np.arange(5), "item": items, "category": labels},
        attrs={"engine": "exact", "settings": json.dumps({"reliability": 1.0}), "seed": "1"},
    )
    constants = xr.Dataset(
        {"concentration": (("item", "category"), np.ones((3, 2)))}, {"item": items, "category": labels}
    )
    return xr.DataTree.from_dict(
        {"/posterior": posterior, "/constant_data": constants, "/": xr.Dataset(attrs={"a": "b"})}
    )


def test_results_come_back_unchanged(tmp_path: Path) -> None:
    tree, path = result(), tmp_path / "new folder" / "result.nc"
    ba.write_result(tree, path)
    back = ba.read_result(path)
    assert back.identical(tree)
    for group in ("posterior", "constant_data"):
        for name, variable in tree[group].variables.items():
            assert back[group].variables[name].dtype == variable.dtype
    path.unlink()
    assert back["posterior"]["plausibility"].sum() == tree["posterior"]["plausibility"].sum()


def test_writing_replaces_a_file_whole_or_leaves_it(tmp_path: Path) -> None:
    path = tmp_path / "result.nc"
    ba.write_result(result(), path)
    before = path.read_bytes()
    broken = xr.DataTree(xr.Dataset({"x": (("item",), [object()])}))
    with pytest.raises((TypeError, ValueError)):
        ba.write_result(broken, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    ba.write_result(xr.DataTree(xr.Dataset({"x": 1})), path)
    assert ba.read_result(path)["x"] == 1


KILLED = """
import os, signal, sys
from pathlib import Path
from bayesagree.io.files import atomic_path
with atomic_path(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.long
def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path: Path) -> None:
    path = tmp_path / "result.nc"
    ba.write_result(result(), path)
    for name in ("result.nc", "result.nc.old"):
        done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / name)], cwd=ROOT, check=False)
        assert done.returncode == -signal.SIGKILL
    assert ba.read_result(path).identical(result())
    assert len(list(tmp_path.glob(".result.nc.*"))) == 2
    ba.write_result(result(), path)
    (left,) = tmp_path.glob(".*")
    assert left.name.startswith(".result.nc.old."), "of a file of another name"


@pytest.mark.skipif(os.name == "nt", reason="a process of Windows cannot be asked for")
def test_writers_at_work_are_not_disturbed(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    old, here = tmp_path / ".a.csv.00000000-1.x", f".a.csv.{MACHINE}-"
    kept = [f"{here}{os.getpid()}.x", ".a.csv.00000000-7.x", f".a.csv.d.{MACHINE}-{gone.pid}.x", ".a.csv.mine"]
    for folder in (old, tmp_path / f"{here}{gone.pid}.x", *(tmp_path / name for name in kept)):
        folder.mkdir()
    os.utime(old, (0, 0))
    with atomic_path(tmp_path / "a.csv") as temporary:
        temporary.write_text("x")
        assert len(list(tmp_path.iterdir())) == len(kept) + 1
    assert {p.name for p in tmp_path.iterdir()} == {"a.csv", *kept}
