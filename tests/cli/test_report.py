"""`bayesagree report`: one page from files of any kind, one JSON document, and errors that leave nothing behind."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesagree import simulate


@pytest.fixture
def run(run, monkeypatch, files):
    monkeypatch.chdir(files)
    return partial(run, "report")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(1)
    said = (rng.random((30, 8)) < np.where(np.arange(8) < 4, 0.95, 0.5)).astype(int)
    rows = [(f"t{i}", f"w{j}", "yes" if said[i, j] else "no") for i in range(30) for j in range(8)]
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv(folder / "labels.csv", index=False)
    models = [(m, f"t{i}", label) for m, label in (("optimist", "yes"), ("pessimist", "no")) for i in range(30)]
    pd.DataFrame(models, columns=["model", "task", "label"]).to_csv(folder / "models.csv", index=False)
    people = pd.DataFrame({"worker": [f"w{j}" for j in range(8)], "age": ["old"] * 4 + ["young"] * 4})
    people.to_csv(folder / "people.csv", index=False)
    declared = {"bias_definition": "unequal accuracy", "protected": ["age"], "smallest_group": 9}
    (folder / "declared.json").write_text(json.dumps(declared))
    rated = simulate.ratings(n_items=20, ratings_per_item=4, phi=0.6, seed=1).ratings
    frame = pd.DataFrame({"item": rated.item_index, "annotator": np.tile(np.arange(4), 20), "rating": rated.rating})
    frame.to_csv(folder / "ratings.csv", index=False)
    cases = [[[["a"], ["b", "c"]], [["b"]]], [[["c"], ["a"]], [["c"]]]]
    (folder / "cases.json").write_text(json.dumps({"cases": cases, "labels": ["a", "b", "c"]}))
    return folder


@pytest.mark.parametrize("items", ["fixed", "bootstrap"])
def test_evaluate_and_report_print_the_same_numbers(run, tmp_path, monkeypatch, items):
    monkeypatch.chdir(tmp_path)
    given = simulate.labelled_test_set(n_items=60, n_labels=3, per_item=3, seed=1)
    labels = given.labels
    columns = {"item": labels.item_index, "annotator": labels.annotator_index}
    pd.DataFrame(columns | {"label": np.array([*"abc"])[labels.label_index]}).to_csv("few.csv", index=False)
    scores = given.predictions.scores.reshape(-1, 3)
    rows = pd.DataFrame(scores, columns=[*"abc"]).assign(model=np.repeat([*"ABC"], 60), item=np.tile(np.arange(60), 3))
    rows.to_csv("models.csv", index=False)
    how = ("--items", items, "--draws", 100, "--seed", 5, "--json")
    one = json.loads(run.func("evaluate", "few.csv", "models.csv", *how).stdout)
    page = run.func("report", "few.csv", "models.csv", "-o", "page.html", *how)
    notes = json.loads(page.stdout)["notes"]
    best = next(row["model"] for row in one["scores"] if row["model"] in [*"ABC"])
    assert one["settings"][0]["plausibility"] == "informed_dirichlet"
    scores = {row["model"]: f"{row['mean']:.3f} ({row['lower']:.3f} to {row['upper']:.3f})" for row in one["scores"]}
    assert any(f"How good is {best} " in note and scores[best] in note for note in notes), (scores, notes)
    gaps = {f"({row['lower']:+.3f} to {row['upper']:.3f})" for row in one["pairs"]}
    assert any(gap in note for gap in gaps for note in notes), (gaps, notes)


def test_what_was_done_with_unusual_data_is_stated_by_evaluate_and_report(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    votes = pd.DataFrame({"item": range(40), "annotator": 0, "label": [*"abba"] * 10})
    votes.to_csv("one_vote.csv", index=False)
    same = pd.DataFrame({"item": range(40), "label": ["a", "b"] * 20})
    short = same.iloc[3:]
    models = pd.concat([same.assign(model="A"), same.assign(model="twin"), short.assign(model="short")])
    models.to_csv("models.csv", index=False)
    how = ("--labels", "a,b,c", "--draws", 50, "--json")
    refused = run.func("evaluate", "one_vote.csv", "models.csv", *how)
    assert refused.returncode == 2
    assert "no prediction for 3 of 40 items: 0, 1, 2" in refused.stderr.replace("\n", " ")
    assert "--missing skip" in refused.stderr.replace("\n", " ")
    expected = [
        "No item has two annotations",
        "3 of 40 items are left out",
        "A and twin predict the same label",
        "Labels that nobody gave and no model predicts: 'c'",
    ]
    one = run.func("evaluate", "one_vote.csv", "models.csv", *how, "--missing", "skip")
    page = run.func("report", "one_vote.csv", "models.csv", "-o", "p.html", *how, "--missing", "skip")
    for answer in (one, page):
        notes = " ".join(json.loads(answer.stdout)["notes"])
        assert [text for text in expected if text not in notes] == []
    wrong = run.func("evaluate", "one_vote.csv", "models.csv", *how, "--missing", "wrong").stdout
    assert "3 missing predictions count as wrong." in wrong


COLUMNS = ("--item", "task", "--annotator", "worker", "--draws", 50)


def test_labels_with_models_groups_and_a_specification(run, files, tmp_path):
    out = tmp_path / "page.html"
    code, said, err = run(
        "labels.csv", *COLUMNS, "models.csv", "--annotators", "people.csv", "--group", "age",
        "--specification", "declared.json", "--title", "Our trial", "-o", out,
    )  # fmt: skip
    assert code == 0, err
    page = out.read_text(encoding="utf-8")
    assert "<h1>Our trial</h1>" in page
    for section in ("summary", "models", "certainty", "items", "agreement", "groups", "specification", "methods"):
        assert f'<section id="{section}"' in page
    assert "optimist is better than pessimist with probability > 0.999" in said
    assert "fewer than 9 annotators: old, young" in page
    assert "serves young worse than old" in said


def test_json_is_one_document(run, tmp_path):
    code, said, _ = run("labels.csv", *COLUMNS, "--json", "--reliability", "2,4", "-o", tmp_path / "page.html")
    document = json.loads(said)
    assert code == 0
    assert document.keys() == {"notes", "settings", "warnings"}
    assert any("of 30 items)" in note for note in document["notes"])
    assert document["settings"][0]["reliability"] == [2.0, 4.0]
    assert (tmp_path / "page.html").exists()


def test_a_trace_may_be_the_truth(run, tmp_path):
    """A posterior of one's own, saved with `to_netcdf`, in the place of the package's."""
    drawn = np.random.default_rng(1).dirichlet([2.0, 1.0], size=(2, 100, 30))
    coords = {"item": sorted(f"t{i}" for i in range(30)), "category": ["no", "yes"]}
    values = xr.Dataset({"plausibility": (("chain", "draw", "item", "category"), drawn)}, coords)
    xr.DataTree.from_dict({"posterior": values}).to_netcdf(tmp_path / "trace.nc", engine="h5netcdf")
    out = tmp_path / "page.html"
    asked = ("labels.csv", *COLUMNS, "models.csv", "--plausibility", tmp_path / "trace.nc")
    code, said, err = run(*asked, "--json", "-o", out)
    assert code == 0, err
    settings = json.loads(said)["settings"][0]
    assert settings["plausibility"].endswith("trace.nc")
    assert (settings["chains"], settings["draws"]) == (2, 100)
    assert "a posterior of the authors&#39; own" in out.read_text(encoding="utf-8")


def test_predictions_may_inform_the_truth(run, tmp_path):
    out = tmp_path / "page.html"
    asked = ("labels.csv", *COLUMNS, "--plausibility", "informed_dirichlet", "-o", out)
    code, said, err = run(*asked, "models.csv")
    assert code == 0, err
    assert "against many annotators?" in said
    assert "By the labels alone: " in said
    assert "Labels only" in out.read_text(encoding="utf-8")
    code, _, err = run(*asked, "--force")
    assert code == 2
    assert "learns from predictions" in err


def test_ratings_and_rankings(run, tmp_path):
    rated = tmp_path / "ratings.html"
    code, said, err = run("ratings.csv", "--scale", 1, 5, "--step", 1, "--threshold", 3, "-o", rated)
    assert code == 0, err
    assert "Common agreement Phi" in said
    code, said, err = run("ratings.csv", "--scale", 1, 5, "--step", 1, "-o", rated, "--force")
    assert code == 0, err
    assert "whether the mean of an item is below 3, the middle; --threshold changes it" in err
    code, said, err = run("cases.json", "-o", tmp_path / "rankings.html")
    assert code == 0, err
    assert "So often an annotator puts first what the others put first" in said


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "give either a file of annotations or --data NAME"),
        (("labels.csv", "--item", "unit"), "no column 'unit'"),
        (("cases.json", "--group", "age"), "give --annotators FILE"),
        (("cases.json", "--group", "age", "--annotators", "people.csv", "--annotator", "worker"), "not on rankings"),
        (("labels.csv", *COLUMNS, "--items", "some"), "--items 'some' is not one of fixed, bootstrap"),
        (("labels.csv", *COLUMNS, "--reliability", "high"), "--reliability 'high' is not a list of numbers"),
        (("labels.csv", *COLUMNS, "--specification", "declared.json"), "features of their annotators"),
        (("labels.csv", *COLUMNS, "models.csv", "--metrics", "hit"), "metric 'hit' is not known"),
    ],
)
def test_bad_input_leaves_no_file(run, tmp_path, args, message):
    code, said, err = run(*args, "-o", tmp_path / "never.html")
    assert code == 2
    assert message in " ".join(err.split())
    assert said == ""
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_the_error_names_it(run, monkeypatch, tmp_path):
    import importlib.util

    from bayesagree.cli import report

    find = importlib.util.find_spec
    monkeypatch.setattr(report, "find_spec", lambda name: None if name == "jinja2" else find(name))
    code, _, err = run("labels.csv", "-o", tmp_path / "never.html")
    assert code == 2
    assert "pip install 'bayesagree[report]'" in err


def test_public_data_names_its_source(run, tmp_path, public_data):
    out = tmp_path / "page.html"
    code, _, err = run("--data", "human-objects/edge", "--draws", 50, "-o", out)
    assert code == 0, err
    page = out.read_text(encoding="utf-8")
    assert "human-objects/edge" in page
    assert "Licence of the data" in page


@pytest.mark.parametrize("plausibility", ["dirichlet", "dawid_skene", "informed_dirichlet"])
def test_evaluate_and_report_print_the_same_scores(run, files, tmp_path, plausibility):
    from typer.testing import CliRunner

    from bayesagree.cli._commands import app

    given = ("labels.csv", "--item", "task", "--annotator", "worker", "--draws", "100", "--seed", "4")
    asked = (*given, "--plausibility", plausibility, "--allow-unmixed")
    done = CliRunner().invoke(app, ["evaluate", asked[0], "models.csv", *asked[1:], "--json"])
    code, said, err = run(*asked, "models.csv", "-o", tmp_path / "page.html")
    assert code == 0, err
    best = said.split("How good is ")[1].split()[0].rstrip(",")
    [row] = [row for row in json.loads(done.stdout)["scores"] if row["model"] == best]
    assert f"? {row['mean']:.3f} ({row['lower']:.3f} to {row['upper']:.3f}). " in said


def test_gold_is_shown_in_the_panel(run, files, tmp_path):
    (files / "gold.csv").write_text("task,label\n" + "".join(f"t{i},yes\n" for i in range(0, 30, 2)))
    asked = ("labels.csv", *COLUMNS, "models.csv", "--gold", "gold.csv", "-o", tmp_path / "page.html")
    code, said, err = run(*asked)
    assert code == 0, err
    assert "Against gold (15 items): " in said
