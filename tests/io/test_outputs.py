"""What is written comes back: tables in every ending, items for each tool, containers as tables."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesagree as ba
from bayesagree import io
from bayesagree.errors import InputError

VOTES = ba.Labels.from_matrix([["a", "b", None], ["a", None, "a"]], items=["p", "q"], annotators=["x", "y", "z"])


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_tables_come_back(tmp_path, ending):
    table = pd.DataFrame({"item": ["a", "b"], "n": [1, 2], "share": [1 / 3, np.nan], "note": ['x;,\t"y', "ü"]})
    ba.write_table(table, tmp_path / f"t.{ending}")
    back = io.read_table(tmp_path / f"t.{ending}")
    pd.testing.assert_frame_equal(back, table, check_dtype=False, rtol=1e-15)


def test_a_value_without_dimensions_is_a_table_of_one_row(tmp_path):
    ba.write_table(xr.DataArray(2.5, {"model": "A"}, name="kappa"), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "model,kappa\nA,2.5\n"


def test_json_has_its_schema(tmp_path):
    table = pd.DataFrame({"item": ["a"], "n": [1], "share": [np.nan], "sure": [True]})
    ba.write_table(table, tmp_path / "t.json")
    document = json.loads((tmp_path / "t.json").read_text())
    assert document["data"] == [{"item": "a", "n": 1, "share": None, "sure": True}]
    kinds = {field["name"]: field["type"] for field in document["schema"]["fields"]}
    assert kinds == {"item": "string", "n": "integer", "share": "number", "sure": "boolean"}


def test_a_result_is_summarised_with_its_intervals(tmp_path):
    tree = ba.dirichlet(VOTES, draws=200, seed=1)
    ba.write_table(tree, tmp_path / "t.csv", ci_prob=0.9)
    table = io.read_table(tmp_path / "t.csv").set_index(["item", "category"])
    plausibility = tree["posterior"]["plausibility"]
    assert table.loc[("q", "a"), "value"] == pytest.approx(float(plausibility.sel(item="q", category="a").mean()))
    assert (table["lower"] <= table["value"]).all()
    assert set(table["ci_prob"]) == {0.9}
    constants = io.summary_table(tree, group="posterior_parameters")
    assert constants["lower"].isna().all()
    with pytest.raises(InputError, match="group='x' is not in the result; it has"):
        io.summary_table(tree, group="x")


@pytest.mark.parametrize(("result", "path"), [("text", "t.csv"), (pd.DataFrame(), "t.xlsx")])
def test_what_cannot_be_written_leaves_no_file(tmp_path, result, path):
    with pytest.raises(InputError):
        ba.write_table(result, tmp_path / path)
    assert list(tmp_path.iterdir()) == []


TEXTS = pd.DataFrame({"id": ["q", "p"], "text": ["second", "first"], "url": ["u2", "u1"]})


@pytest.mark.parametrize(
    ("tool", "name", "expected"),
    [
        ("label_studio", "t.json", {"data": {"item": "p", "text": "first", "url": "u1"}, "meta": {"gain": 0.5}}),
        ("argilla", "t.jsonl", {"id": "p", "text": "first", "url": "u1", "gain": 0.5}),
        ("prodigy", "t.jsonl", {"text": "first", "url": "u1", "meta": {"item": "p", "gain": 0.5}}),
        ("doccano", "t.jsonl", {"text": "first", "item": "p", "url": "u1", "gain": 0.5}),
    ],
)
def test_items_as_a_tool_imports_them(tmp_path, tool, name, expected):
    chosen = pd.DataFrame({"item": ["p", "q"], "gain": [0.5, np.nan]})
    ba.io.write_items(chosen, tmp_path / name, contents=TEXTS, item="id", tool=tool)
    text = (tmp_path / name).read_text()
    rows = json.loads(text) if name.endswith(".json") else [json.loads(line) for line in text.splitlines()]
    assert rows[0] == expected
    assert len(rows) == 2
    ba.io.write_items(chosen, tmp_path / name, n=1, tool=tool)
    assert "q" not in (tmp_path / name).read_text().replace('"gain"', "")


def test_least_certain_items_come_first(tmp_path):
    certainty = xr.DataArray([0.9, 0.5], coords={"item": ["p", "q"]}, dims="item", name="certainty")
    ba.io.write_items(certainty, tmp_path / "t.csv")
    assert io.read_table(tmp_path / "t.csv")["item"].tolist() == ["q", "p"]


@pytest.mark.parametrize(
    ("items", "options", "message"),
    [
        (["p"], {}, "expected a table with a column 'item'"),
        (pd.DataFrame({"item": ["p", "p"]}), {}, "item 'p' is listed twice"),
        (pd.DataFrame({"item": ["r"]}), {"contents": TEXTS, "item": "id"}, "item 'r' has no row in contents"),
        (pd.DataFrame({"item": ["p"]}), {"contents": TEXTS}, "contents has no column 'item'; it has 'id'"),
        (pd.DataFrame({"item": ["p"]}), {"tool": "paper"}, "tool='paper' is not one of 'label_studio'"),
        (pd.DataFrame({"item": ["p"]}), {"tool": "prodigy"}, "prodigy imports .jsonl, not '.json'"),
    ],
)
def test_lists_that_no_tool_imports_are_refused(tmp_path, items, options, message):
    with pytest.raises(InputError, match=message):
        ba.io.write_items(items, tmp_path / "t.json", **options)
    assert list(tmp_path.iterdir()) == []


def test_contents_that_become_no_table_are_refused(tmp_path):
    items = pd.DataFrame({"item": [1], "gain": [0.1]})
    with pytest.raises(InputError, match="contents must be a table, got Dataset"):
        io.write_items(items, tmp_path / "t.json", contents=xr.Dataset())
