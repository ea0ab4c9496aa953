"""What is written comes back: tables in every ending, items for each tool, containers as tables."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesagree as ba
from bayesagree import io
from bayesagree.errors import InputError
from bayesagree.io.outputs import summary_table

VOTES = ba.Labels.from_matrix([["a", "b", None], ["a", None, "a"]], items=["p", "q"], annotators=["x", "y", "z"])


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_tables_come_back(tmp_path, ending):
    table = pd.DataFrame({"item": ["a", "b"], "n": [1, 2], "share": [1 / 3, np.nan], "note": ['x;,\t"y', "ü"]})
    ba.io.write_table(table, tmp_path / f"t.{ending}")
    back = io.read_table(tmp_path / f"t.{ending}")
    pd.testing.assert_frame_equal(back, table, check_dtype=False, rtol=1e-15)


def test_a_result_is_summarised_with_its_intervals(tmp_path):
    tree = ba.dirichlet(VOTES, draws=200, random_seed=1)
    ba.io.write_table(tree, tmp_path / "t.csv", ci_prob=0.9)
    table = io.read_table(tmp_path / "t.csv").set_index(["item", "category"])
    plausibility = tree["posterior"]["plausibility"]
    assert table.loc[("q", "a"), "value"] == pytest.approx(float(plausibility.sel(item="q", category="a").mean()))
    assert (table["lower"] <= table["value"]).all()
    assert set(table["ci_prob"]) == {0.9}
    constants = summary_table(tree, group="posterior_parameters")
    assert constants["lower"].isna().all()
    with pytest.raises(InputError, match="group='x' is not in the result; it has"):
        summary_table(tree, group="x")


TEXTS = pd.DataFrame({"id": ["q", "p"], "text": ["second", "first"], "url": ["u2", "u1"]})


def test_items_as_label_studio_imports_them(tmp_path):
    chosen = pd.DataFrame({"item": ["p", "q"], "gain": [0.5, np.nan]})
    ba.io.write_items(chosen, tmp_path / "t.json", contents=TEXTS, item="id")
    rows = json.loads((tmp_path / "t.json").read_text())
    assert rows[0] == {"data": {"item": "p", "text": "first", "url": "u1"}, "meta": {"gain": 0.5}}
    assert rows[1]["meta"] == {"gain": None}
    ba.io.write_items(chosen, tmp_path / "t.json", n=1)
    assert len(json.loads((tmp_path / "t.json").read_text())) == 1


def test_least_certain_items_come_first(tmp_path):
    certainty = xr.DataArray([0.9, 0.5], coords={"item": ["p", "q"]}, dims="item", name="certainty")
    ba.io.write_items(certainty, tmp_path / "t.csv")
    assert io.read_table(tmp_path / "t.csv")["item"].tolist() == ["q", "p"]


@pytest.mark.parametrize(
    ("items", "options", "message"),
    [
        ([1, 2], {}, "expected a table with a column 'item' (annotate_next) or a DataArray (item), got list"),
        (pd.DataFrame({"id": ["p"]}), {}, "expected a table with a column 'item' (annotate_next)"),
        (xr.DataArray([[1.0]], dims=("item", "draw")), {}, "expected a table with a column 'item' (annotate_next)"),
        (pd.DataFrame({"item": ["p", "p"]}), {}, "item 'p' is listed twice; every item has one name"),
        (
            pd.DataFrame({"item": ["p"]}),
            {"contents": TEXTS},
            "contents has no column 'item'; it has 'id', 'text', 'url'",
        ),
        (pd.DataFrame({"item": ["r"]}), {"contents": TEXTS, "item": "id"}, "item 'r' has 0 rows in contents; an item"),
        (pd.DataFrame({"item": [37]}), {"contents": TEXTS, "item": "id"}, "item 37 has 0 rows in contents; an item"),
        (
            pd.DataFrame({"item": ["q", "p"]}),
            {"contents": pd.concat([TEXTS, TEXTS[1:]]), "item": "id"},
            "item 'p' has 2 rows in contents; an item has one",
        ),
    ],
)
def test_lists_that_no_tool_can_show(tmp_path, items, options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        ba.io.write_items(items, tmp_path / "t.json", **options)
    assert not list(tmp_path.iterdir())


def test_items_in_a_table_have_their_texts_before_their_gains(tmp_path):
    chosen = pd.DataFrame({"item": ["p", "q"], "gain": [0.5, 0.25]})
    ba.io.write_items(chosen, tmp_path / "t.csv", contents=TEXTS, item="id", n=1)
    assert (tmp_path / "t.csv").read_text().splitlines() == ["item,text,url,gain", "p,first,u1,0.5"]
    ba.io.write_items(chosen, tmp_path / "t.jsonl")
    assert io.read_table(tmp_path / "t.jsonl").to_dict("list") == {"item": ["p", "q"], "gain": [0.5, 0.25]}


def test_json_has_neither_numbers_that_do_not_exist_nor_arrays(tmp_path):
    table = pd.DataFrame({
        "item": ["p", "q"], "gain": [np.inf, -np.inf], "labels": [np.array([1, 2]), ("a", np.nan)],
        "when": [pd.Timestamp("2026-01-02"), pd.NaT], "of": [{"share": np.float64(0.5), 3: [np.inf]}, True],
    })  # fmt: skip
    ba.io.write_items(table, tmp_path / "t.json")
    first, second = (row["meta"] for row in json.loads((tmp_path / "t.json").read_text()))
    assert first == {"gain": None, "labels": [1, 2], "when": "2026-01-02 00:00:00", "of": {"share": 0.5, "3": [None]}}
    assert second == {"gain": None, "labels": ["a", None], "when": None, "of": True}


def test_cells_of_arrays_are_rows(tmp_path):
    path, values = tmp_path / "t.csv", xr.DataArray([[1.0, 2.0]], {"item": ["p"], "model": ["A", "B"]}, name="score")
    ba.io.write_table(values, path)
    assert path.read_text().splitlines() == ["item,model,score", "p,A,1.0", "p,B,2.0"]
    ba.io.write_table(values.sum().rename(None), path)
    assert path.read_text().splitlines() == ["value", "3.0"]
    ba.io.write_table(pd.DataFrame({"n": [3]}, index=pd.Index(["p"], name="item")), path)
    assert path.read_text().splitlines() == ["item,n", "p,3"]
    with pytest.raises(InputError, match="expected a table or a result of xarray, got list"):
        ba.io.write_table([1], path)
    with pytest.raises(InputError, match=r"tables are written as .csv, .tsv, .parquet, .jsonl, not '.xls'"):
        ba.io.write_table(values, tmp_path / "t.xls")


def test_a_summary_has_the_mean_and_spread_of_all_chains():
    drawn = np.random.default_rng(1).normal(size=(2, 50, 3))
    for chains, draws in ((2, 50), (1, 1)):
        some = {"rate": (("chain", "draw", "item"), drawn[:chains, :draws]), "n": ("item", [4, 5, 6])}
        tree = xr.DataTree.from_dict({"/posterior": xr.Dataset(some, {"item": [*"xyz"]})})
        table = summary_table(tree, ci_prob=0.5)
        assert table["variable"].tolist() == ["rate"] * 3 + ["n"] * 3 and table["item"].tolist() == [*"xyzxyz"]
        flat = drawn[:chains, :draws].reshape(-1, 3)
        np.testing.assert_allclose(table["value"], [*flat.mean(axis=0), 4, 5, 6])
        np.testing.assert_allclose(table["sd"][:3], flat.std(axis=0, ddof=1) if len(flat) > 1 else [np.nan] * 3)
        inside = (flat >= table["lower"].to_numpy()[:3]) & (flat <= table["upper"].to_numpy()[:3])
        assert (np.abs(inside.mean(axis=0) - 0.5) <= (0.02 if len(flat) > 1 else 0.5)).all()
        assert table["lower"][3:].isna().all() and table["ci_kind"][3:].isna().all()
