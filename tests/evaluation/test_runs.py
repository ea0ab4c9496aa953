"""Models that answered several times: what is read, scored and split."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from bayesagree import InputError, Labels, Predictions, compare, evaluate, read_predictions, score
from bayesagree.annotations.runs import Runs
from bayesagree.evaluation.tables import given_notes
from bayesagree.report.data import report_data

TASKS = [[1, 1, 1, 1], [1, 1, 1, 1], [1, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
NAMES = [f"t{i}" for i in range(len(TASKS))]


def table(column="run"):
    """Six tasks of four runs, of which one model passes some."""
    return pd.DataFrame(
        [("m", item, run, ("fail", "pass")[ok]) for item, row in zip(NAMES, TASKS) for run, ok in enumerate(row)],
        columns=["model", "item", column, "label"],
    )


@pytest.fixture(scope="module")
def runs():
    return Predictions.from_long(table(), run="run")


@pytest.fixture(scope="module")
def sure():
    return pd.DataFrame({"fail": 0.0, "pass": 1.0}, index=pd.Index(NAMES, name="item"))


def scored(truth, predictions, metric):
    estimate = truth.to_xarray().to_dataarray("category").transpose("item", "category")
    return score(estimate, predictions, metric).item()


def of_subsets(k, value):
    """Mean over tasks and over all sets of k runs, by listing them."""
    return np.mean([np.mean([value(some) for some in combinations(row, k)]) for row in TASKS])


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_pass_at_and_hat_are_means_over_all_sets_of_runs(runs, sure, k):
    assert scored(sure, runs, f"pass_at_{k}") == pytest.approx(of_subsets(k, any), abs=1e-12)
    assert scored(sure, runs, f"pass_hat_{k}") == pytest.approx(of_subsets(k, all), abs=1e-12)


def test_flips_and_majorities_by_listing(runs, sure):
    assert [scored(sure, runs, name) for name in ("accuracy", "pass_hat_4")] == pytest.approx([7 / 12, 1 / 3])
    assert scored(sure, runs, "flip_rate") == pytest.approx(of_subsets(2, lambda two: two[0] != two[1]))
    assert scored(sure, runs, "majority_accuracy") == pytest.approx((3 + 0.5) / 6)


@pytest.mark.parametrize("column", ["trial", "Epoch", "replicate", "seed"])
def test_the_column_of_runs_is_found_by_its_name(column, runs):
    with pytest.warns(UserWarning, match=f"column '{column}' is taken for the run"):
        found = Predictions.from_long(table(column))
    with pytest.warns(UserWarning, match=f"column '{column}' is taken for the run"):
        read = read_predictions(table(column))
    assert Predictions.from_long(table(column).query(f"{column} == 2")).runs is None  # it tells no rows apart
    for one in (found, read):
        np.testing.assert_array_equal(one.label_index, runs.label_index)
        assert one.model_names.tolist() == ["m"]


def test_lists_in_json_are_runs(tmp_path, runs):
    given = table().groupby("item")["label"].agg(list)
    rows = [{"model": "m", "item": item, "label": labels} for item, labels in given.items()]
    for name, content in (("rows.json", rows), ("models.json", {"m": given.to_dict()})):
        (tmp_path / name).write_text(json.dumps(content))
        np.testing.assert_array_equal(read_predictions(tmp_path / name).label_index, runs.label_index)
    listed = [{"model": "m", "item": item, "score": [0.2, 0.6]} for item in NAMES]
    np.testing.assert_allclose(read_predictions(pd.DataFrame(listed)).pooled().scores[0, :, 1], 0.4)


def test_wide_scores_and_a_missing_column_of_models():
    wide = pd.DataFrame({"model": "m", "item": [1, 1, 2, 2], "run": [0, 1, 0, 1], "no": [0.6, 0.4, 1, 1]})
    read = read_predictions(wide.assign(yes=1 - wide["no"]), run="run")
    np.testing.assert_allclose(read.pooled().scores[0], [[0.5, 0.5], [1, 0]])
    assert read_predictions(table().drop(columns="model"), run="run").model_names.tolist() == ["model"]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Predictions.from_long(table().drop(columns="run")), "given twice"),
        (lambda: Predictions.from_long(table().assign(seed=table()["run"])), "name one with run="),
        (lambda: Predictions.from_long(table().assign(run=np.nan), run="run"), "row 0: the run is missing"),
        (lambda: read_predictions(table(), run="round"), "no column 'round' for the run"),
        (lambda: Predictions.from_long(table(), run="round"), "round"),
    ],
)
def test_what_is_no_run_is_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()


def test_metrics_of_runs_need_runs(runs, sure):
    once = Predictions.from_labels({"m": ["pass"] * 6}, items=NAMES, labels=["fail", "pass"])
    assert scored(sure, once, "pass_at_1") == scored(sure, once, "pass_hat_1") == 1
    for predictions, metric in ((once, "flip_rate"), (runs, "pass_at_5")):
        with pytest.raises(InputError, match=f"{metric} needs . runs of every model"):
            scored(sure, predictions, metric)


def test_an_evaluation_has_the_mean_over_runs_and_each_run(runs):
    votes = Labels.from_counts([[1, 2], [0, 3], [2, 1], [1, 2], [3, 0], [2, 1]], items=NAMES, labels=["fail", "pass"])
    how = {"plausibility": "dirichlet", "draws": 200, "chains": 2, "random_seed": 1}
    tree = evaluate(votes, runs, metrics=["accuracy", "f1"], **how)
    apart = {f"r{r}": table().query("run == @r").set_index("item")["label"] for r in range(4)}
    each = evaluate(votes, Predictions.from_labels(apart, labels=["fail", "pass"]), metrics=["accuracy", "f1"], **how)
    for metric in ("accuracy", "f1"):
        expected = each["posterior"][metric].values
        np.testing.assert_allclose(tree["posterior"][metric].values[..., 0], expected.mean(axis=2))
        np.testing.assert_allclose(tree["runs"][metric].values[..., 0], expected)
    assert compare(tree, "accuracy").index.tolist() == ["m"]


def test_the_spread_over_tasks_is_not_that_over_tasks_and_runs(runs):
    """One standard error over tasks, .1667, is the root of n / (n - 1) (n + 1) / n bootstrap variances."""
    votes = Labels.from_counts([[0, 10_000]] * 6, items=NAMES, labels=["fail", "pass"])
    tree = evaluate(votes, runs, plausibility="dirichlet", items="bootstrap", draws=4000, random_seed=1)
    parts = tree["variance"]["accuracy"].sel(model="m")
    total = float(parts.sel(part="total"))
    error = np.sqrt(total * 7 / 5)
    assert error == pytest.approx(0.1667, abs=4 * 0.1667 / np.sqrt(2 * 16_000) + 0.001)
    between = np.var(np.mean(TASKS, axis=0), ddof=1) / 4
    assert float(parts.sel(part="run")) == pytest.approx(between)
    assert float(parts.sel(part=["annotation", "test_set", "run"]).sum()) == pytest.approx(total)


def test_the_part_of_runs_against_simulation():
    """Another set of four runs moves the score by as much as the part of runs says."""
    chance, n_runs, sets = np.random.default_rng(5).beta(1, 1, 40), 4, 4000
    scores = (np.random.default_rng(6).random((n_runs, sets, 40)) < chance).mean(axis=2)
    runs = Runs(np.array(["m"]), np.zeros(n_runs, int), np.arange(n_runs))
    truth = (chance * (1 - chance)).mean() / 40 / n_runs
    # Mean of 4000 variances of three degrees of freedom, and the variance of 4000 means.
    assert runs.variance(scores)[0] == pytest.approx(truth, rel=4 * np.sqrt(2 / 3 / sets))
    assert runs.mean(scores)[0].var() == pytest.approx(truth, rel=4 * np.sqrt(2 / sets))


def test_the_report_says_that_runs_count_as_one_and_an_evaluation_does_not(runs):
    votes = Labels.from_counts([[1, 2]] * 6, items=NAMES, labels=["fail", "pass"])
    assert not any("runs" in note for note in given_notes(votes, runs, "error"))
    data = report_data(votes, runs, plausibility="dirichlet", draws=20, chains=2)
    assert sum("runs" in note for note in data.given) == 1
