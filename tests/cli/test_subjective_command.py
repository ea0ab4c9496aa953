"""The command `bayesagree subjective`, and the figures of the same results."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

from bayesagree import Labels, Predictions
from bayesagree.annotations.annotators import Annotators
from bayesagree.plots import plot_disagreement_by_quality, plot_group_heatmap, plot_group_intervals
from bayesagree.subjective import crowdtruth
from bayesagree.subjective.disagreement import disagreement_rate
from bayesagree.subjective.group_model import group_posterior
from bayesagree.subjective.performance import group_performance

SPECIFICATION = {"bias_definition": "unequal accuracy", "protected": ["gender"], "smallest_group": 3}


@pytest.fixture(scope="module")
def frames():
    rng = np.random.default_rng(1)
    said = (rng.random((25, 12)) < np.where(np.arange(12) < 6, 0.95, 0.5)).astype(int)
    rows = pd.DataFrame(
        [(f"t{i}", f"w{j}", said[i, j]) for i in range(25) for j in range(12)], columns=["item", "annotator", "label"]
    )
    people = pd.DataFrame({"annotator": [f"w{j}" for j in range(12)], "gender": ["f"] * 6 + ["m"] * 6})
    models = pd.DataFrame({"model": "A", "item": [f"t{i}" for i in range(25)], "label": 1})
    own = rows.assign(model="oracle")
    level = rng.integers(2, 5, 25)
    noise = rng.integers(-1, 2, (25, 12)) * np.where(np.arange(12) < 6, rng.random((25, 12)) < 0.4, 2)
    rated = rows[["item", "annotator"]].assign(rating=np.clip(level[:, None] + noise, 1, 5).ravel())
    guesses = pd.DataFrame({"model": "A", "item": [f"t{i}" for i in range(25)], "rating": level + 0.5})
    each = rated.assign(model="B", rating=rated["rating"] + rng.normal(size=len(rated)))
    return {
        "labels": rows, "people": people, "models": models, "own": own, "ratings": rated, "guesses": guesses,
        "each": each,
    }  # fmt: skip


@pytest.fixture(scope="module")
def files(frames, tmp_path_factory):
    folder = tmp_path_factory.mktemp("subjective")
    for name, frame in frames.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    (folder / "declared.json").write_text(json.dumps(SPECIFICATION))
    return folder


@pytest.fixture
def run(run, monkeypatch, files):
    monkeypatch.chdir(files)
    return partial(run, "subjective")


OPTIONS = ("labels.csv", "--annotators", "people.csv", "--group", "gender", "--draws", "100")


def test_groups_with_intervals(run):
    code, out, _ = run(*OPTIONS, "models.csv", "--json")
    assert code == 0
    answer = json.loads(out)
    f, m = answer["groups"]
    assert f["group"] == "f"
    assert f["lower"] > m["upper"]
    code, out, _ = run(*OPTIONS, "models.csv")
    assert "95 % HDI" in out


def test_predictions_for_each_annotator(run):
    code, out, _ = run(*OPTIONS, "own.csv", "--json")
    assert code == 0
    assert json.loads(out)["models"][0]["raw_dispersion"] == 1


RATED = ("ratings.csv", "--scale", "1", "5", "--step", "1", "--annotators", "people.csv", "--draws", "100")


@pytest.mark.long
def test_metrics_of_ratings(run):
    code, out, _ = run(*RATED, "--group", "gender", "guesses.csv", "--json")
    assert code == 0
    answer = json.loads(out)
    assert answer["settings"][0]["metric"] == "absolute_error"
    f, m = answer["groups"]
    assert m["lower"] > f["upper"]
    within, between, _ = answer["agreement"]
    assert (within["group"], within["other_group"], between["other_group"]) == ("f", "f", "m")
    assert between["upper"] < within["lower"]
    assert between["alpha"] < within["alpha"]


def test_correlation_of_ratings(run):
    options = (*RATED, "--group", "gender", "each.csv", "--metric", "correlation", "--no-phi")
    code, out, _ = run(*options, "--json")
    assert code == 0
    answer = json.loads(out)
    assert answer["settings"][0]["metric"] == "correlation"
    assert 0 < answer["groups"][0]["lower"] < answer["groups"][0]["upper"] < 1
    assert "Phi" not in answer["agreement"][0]
    _, out, _ = run(*options)
    assert "Correlation by gender" in out
    assert "alpha" in out


@pytest.mark.filterwarnings("ignore:.*groups have no annotator")
def test_bins_from_other_items(run):
    bins = ("models.csv", "--bins", "2", "--draws", "50", "--json")
    code, out, _ = run("labels.csv", *bins, "--rate-share", "0.4")
    assert code == 0
    answer = json.loads(out)
    assert sum(g["annotations"] for g in answer["groups"]) == 15 * 12
    assert "Phi" not in answer["agreement"][0]
    code, _, error = run("labels.csv", *bins, "--rate-share", "1")
    assert code == 2
    assert "--rate-share 1 is not between" in error


@pytest.mark.long
def test_progress_counts_the_pairs_of_groups_that_phi_takes(run, bars):
    options = (*RATED, "--group", "gender", "guesses.csv")
    assert run(*options).returncode == 0
    assert run(*options, "--no-phi").returncode == 0
    assert bars == [(5, 5), (2, 2)]


@pytest.mark.filterwarnings("ignore:.*groups have no annotator")
def test_bins_of_disagreement_by_default(run):
    code, out, _ = run("labels.csv", "models.csv", "--bins", "2", "--draws", "50", "--json")
    assert code == 0
    assert json.loads(out)["settings"][0]["by"] == "disagreement rate"


def test_report_of_the_specification(run, files):
    code, _, _ = run(*OPTIONS, "models.csv", "--specification", "declared.json", "-o", "report.md")
    assert code == 0
    page = (files / "report.md").read_text()
    assert "## 7. Report" in page


def test_specification_without_a_report_is_shown(run):
    code, out, _ = run(*OPTIONS, "models.csv", "--specification", "declared.json", "--json")
    assert code == 0
    answer = json.loads(out)
    assert {"groups", "specification", "gaps"} <= answer.keys()
    assert answer["gaps"] == [{"gap": "none found"}]


def test_specification_is_checked_before_there_is_any_model(run, files):
    (files / "more.json").write_text(json.dumps(SPECIFICATION | {"smallest_group": 7}))
    code, out, _ = run(
        "labels.csv", "--annotators", "people.csv", "--specification", "more.json", "--json", "-o", "before.md"
    )
    assert code == 0
    assert json.loads(out)["gaps"] == [{"gap": "2 groups have fewer than 7 annotators: 'f', 'm'"}]
    assert "## 7. Report" in (files / "before.md").read_text()
    assert "Gaps between" in run("labels.csv", "--annotators", "people.csv", "--specification", "more.json").stdout


def test_individual_fairness_in_the_command(run, files):
    declared = {"bias_definition": "like by like", "fairness": "individual", "similarity": ["gender"]}
    (files / "individual.json").write_text(json.dumps(declared))
    code, out, _ = run(*OPTIONS, "models.csv", "--specification", "individual.json", "--json")
    assert code == 0
    (row,) = json.loads(out)["individual"]
    assert row["model"] == "A"
    assert 0 < row["individual_unfairness"] < 1


def test_equal_disagreement_rates_are_one_group(run, files):
    (files / "u.csv").write_text("item,annotator,label\n1,a,x\n1,b,x\n2,a,y\n2,b,y\n")
    (files / "p.csv").write_text("model,item,label\nM,1,x\nM,2,x\n")
    code, out, error = run("u.csv", "p.csv", "--draws", "50", "--json")
    assert code == 0, error
    assert [row["group"] for row in json.loads(out)["groups"]] == ["0.000"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("labels.csv", "--specification", "declared.json"), "give --annotators FILE"),
        (("labels.csv", "models.csv", "--group", "gender"), "give --annotators FILE"),
        (("labels.csv",), "give a file of predictions"),
        ((*OPTIONS, "models.csv", "-o", "other.md"), "--specification FILE"),
        ((*RATED, "guesses.csv"), "pass --threshold"),
        ((*RATED, "guesses.csv", "--group", "gender", "--metric", "f1"), "'correlation' for Ratings"),
        ((*OPTIONS, "models.csv", "--metric", "correlation"), "'accuracy' for Labels"),
        ((*RATED, "models.csv", "--group", "gender"), "no column 'rating'"),
    ],
)
def test_bad_input_says_what_to_do(run, args, message):
    code, out, error = run(*args)
    assert code == 2
    assert out == ""
    assert message in " ".join(error.split())


def test_figures(frames):
    labels = Labels.from_long(frames["labels"])
    people = Annotators.from_table(frames["people"])
    model = Predictions.from_labels({"A": frames["models"].set_index("item")["label"]}, labels=[0, 1])
    result = group_performance(labels, model, people, by=["gender"])
    heat = plot_group_heatmap(result)
    assert [t.get_text() for t in heat.get_yticklabels()] == ["f (6)", "m (6)"]
    assert len(heat.texts) == 2
    intervals = plot_group_intervals(group_posterior(labels, model, people, by=["gender"], draws=50, seed=1))
    assert intervals[0, 0].get_title() == "A"
    rate = disagreement_rate(labels)
    boxes = plot_disagreement_by_quality(rate, crowdtruth(labels)["wqs"])
    assert sum(int(t.get_text().split("(")[1][:-1]) for t in boxes.get_xticklabels()) == 12


def test_truth_of_each_group(run):
    code, out, _ = run(*OPTIONS, "models.csv", "--truth", "by-group", "--json")
    assert code == 0
    answer = json.loads(out)
    assert [row["group"] for row in answer["scores"]] == ["f", "m"]
    assert answer["scores"][0]["mean"] > answer["scores"][1]["mean"]
    assert answer["scores"][0]["worst_served"] + answer["scores"][1]["worst_served"] == pytest.approx(1)
    f, m = answer["scores"]
    assert f["difference"] == pytest.approx(f["mean"] - m["mean"])
    assert f["difference_lower"] == pytest.approx(-m["difference_upper"])
    assert {"divided", "p_value"} <= set(answer["groups"][0])
    code, _, error = run("labels.csv", "models.csv", "--truth", "by-group")
    assert code == 2
    assert "--group FEATURES" in error
    code, _, error = run(*OPTIONS, "own.csv", "--truth", "by-group")
    assert "predictions per item" in error
