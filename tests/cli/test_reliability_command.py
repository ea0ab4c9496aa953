import json
from functools import partial

import pandas as pd
import pytest


@pytest.fixture
def run(run):
    return partial(run, "reliability")


@pytest.fixture
def votes(tmp_path):
    rows = [(i, w, "ab"[(i + (w == 0)) % 2]) for i in range(20) for w in range(5)]
    path = tmp_path / "votes.csv"
    pd.DataFrame(rows, columns=["item", "annotator", "label"]).to_csv(path, index=False)
    return path


def test_curve_as_table_json_and_file(run, votes, tmp_path):
    code, out, _ = run(votes, "--reliability", "0.1,1")
    assert code == 0
    assert "observed agreement 0.600" in out
    code, out, _ = run(votes, "--reliability", "0.1,1", "--json", "-o", tmp_path / "curve.csv")
    answer = json.loads(out)
    assert answer["settings"][0]["best"] == 0.1
    assert [row["reliability"] for row in answer["curve"]] == [0.1, 1]
    assert pd.read_csv(tmp_path / "curve.csv")["log_score"].tolist() == pytest.approx(
        [row["log_score"] for row in answer["curve"]]
    )


def test_bad_input_ends_with_its_reason(run, votes):
    code, out, err = run(votes, "--reliability", "low")
    assert (code, out) == (2, "")
    assert "--reliability 'low' is not a list of numbers" in err
