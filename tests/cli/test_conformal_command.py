import json
from functools import partial

import _conformal as cases
import numpy as np
import pandas as pd
import pytest

from bayesagree import Labels, conformalize, read_predictions


@pytest.fixture
def run(run):
    return partial(run, "conformal")


@pytest.fixture
def files(tmp_path):
    truth, predictions = cases.items(60, n_labels=3)
    rng = np.random.default_rng(1)
    votes = [(i, f"w{w}", int(rng.choice(3, p=p / p.sum()))) for i, p in enumerate(truth.values) for w in range(4)]
    pd.DataFrame(votes, columns=["item", "annotator", "label"]).to_csv(tmp_path / "votes.csv", index=False)
    rows = [("A", i, k, s) for i, row in enumerate(predictions.scores[0]) for k, s in enumerate(row)]
    pd.DataFrame(rows, columns=["model", "item", "label", "score"]).to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path


def test_table_and_json(run, files):
    code, out, err = run(files / "votes.csv", files / "scores.csv")
    assert code == 0, err
    assert "majority_coverage" in out
    assert "Widest sets" in out
    code, out, _ = run(files / "votes.csv", files / "scores.csv", "--json", "--score", "aps", "--coverage", "0.8")
    answer = json.loads(out)
    assert answer["settings"][0]["score"] == "aps"
    assert {row["quantity"] for row in answer["coverage"]} == {"coverage", "majority_coverage", "mass_coverage", "size"}


def test_sets_of_new_items_are_written(run, files):
    code, _, err = run(files / "votes.csv", files / "scores.csv", "--new", files / "scores.csv", "-o", files / "s.csv")
    assert code == 0, err
    table = pd.read_csv(files / "s.csv", dtype={"labels": str}).set_index("item")
    models = read_predictions(files / "scores.csv")
    counts = pd.read_csv(files / "votes.csv").groupby(["item", "label"]).size().unstack(fill_value=0)
    votes = Labels.from_counts(counts.to_numpy(), items=list(counts.index), labels=list(counts.columns))
    expected = conformalize(votes, models).predict_set(models)[0]
    assert table["size"].sort_index().tolist() == expected.sum("category").values.tolist()
    assert table.loc[0, "labels"] == " ".join(map(str, expected["category"].values[expected.values[0]]))


def test_a_posterior_calibrates(run, files):
    code, out, err = run(files / "votes.csv", files / "scores.csv", "--plausibility", "dirichlet", "--json")
    assert code == 0, err
    assert json.loads(out)["settings"][0]["plausibility"] == "dirichlet"


def test_refusals(run, files):
    assert (
        "--coverage 1.0 must lie strictly" in run(files / "votes.csv", files / "scores.csv", "--coverage", "1").stderr
    )
    assert "--score 'best'" in run(files / "votes.csv", files / "scores.csv", "--score", "best").stderr
    assert "there are no predictions" in run(files / "votes.csv").stderr
