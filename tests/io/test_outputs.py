"""What is written comes back: tables in every ending, items for each tool, containers as tables."""

import json

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
