"""`bayesagree annotators`: the table, one JSON document, gold, and errors with exit code 2."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

from bayesagree import UnmixedError
from bayesagree.datasets.simulate import crowd_labels


@pytest.fixture
def run(run):
    return partial(run, "annotators")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crowd")
    crowd = crowd_labels(n_items=60, n_annotators=5, n_labels=3, seed=1)
    labels = crowd.labels
    pd.DataFrame({"item": labels.item_index, "annotator": labels.annotator_index, "label": labels.label_index}).to_csv(
        folder / "labels.csv", index=False
    )
    pd.DataFrame({"item": range(50), "gold": crowd.truth[:50]}).to_csv(folder / "gold.csv", index=False)
    return folder


def test_json_is_one_document_with_annotators_checks_and_confidence(run, files):
    code, out, _ = run(files / "labels.csv", "--gold", files / "gold.csv", "--draws", 60, "--chains", 2, "--json")
    assert code == 0
    answer = json.loads(out)
    assert sum(row["n_labels_given"] for row in answer["annotators"]) == 180
    assert len({row["annotator"] for row in answer["confusion"]}) == 5
    checks = {row["check"] for row in answer["checks"]}
    assert checks >= {"separate_groups_of_annotators", "largest_r_hat"}
    confidence = {row["measure"]: row["value"] for row in answer["confidence"]}
    assert confidence["gold_items"] == 50
    assert 0 < confidence["calibrated_over_all_items"] <= 1


def test_the_table_names_every_annotator_and_asks_for_gold(run, files, monkeypatch):
    asked = (files / "labels.csv", "--variant", "full", "--draws", 60, "--chains", 2)
    code, out, err = run(*asked)
    assert code == 0
    assert "accuracy" in out
    assert all(f"\n{j} " in out for j in range(5))
    assert "pass --gold" in err

    def refuse(_):
        raise UnmixedError("chains disagree")

    monkeypatch.setattr("bayesagree.plausibility.dawid_skene._results.require_mixed", refuse)
    assert run(*asked).returncode == 2


def test_gold_without_known_items_is_refused(run, files, tmp_path):
    pd.DataFrame({"item": ["x"], "label": [1]}).to_csv(tmp_path / "gold.csv", index=False)
    code, out, err = run(files / "labels.csv", "--gold", tmp_path / "gold.csv")
    assert (code, out) == (2, "")
    assert "none of its items" in err


def test_a_crowd_that_only_the_prior_calls_good_is_named(run, tmp_path):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 60)
    right = rng.random((60, 6)) < 0.65
    votes = np.where(right, truth[:, None], 1 - truth[:, None])
    long = pd.DataFrame({"item": np.repeat(range(60), 6), "annotator": np.tile(range(6), 60), "label": votes.ravel()})
    long.to_csv(tmp_path / "labels.csv", index=False)
    code, _, err = run(tmp_path / "labels.csv", "--draws", 200, "--chains", 2)
    assert code == 0
    assert "switch labels" in err


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_levels_of_ratings_stand_beside_phi_with_and_without_them(run, tmp_path):
    rng = np.random.default_rng(1)
    strict, item = np.tile([-1, 0, 1], 30), np.repeat(np.arange(30), 3)
    rating = np.clip(np.repeat(rng.integers(2, 5, 30), 3) + strict, 1, 5)
    pd.DataFrame({"item": item, "annotator": np.tile(list("abc"), 30), "rating": rating}).to_csv(
        tmp_path / "ratings.csv", index=False
    )
    code, out, _ = run(tmp_path / "ratings.csv", "--scale", 1, 5, "--step", 1, "--draws", 40, "--json")
    assert code == 0
    answer = json.loads(out)
    assert [row["annotator"] for row in answer["annotators"]] == list("abc")
    plain, without = (row["mean"] for row in answer["agreement"])
    assert plain < without


def test_the_annotators_are_kept_as_a_table(run, files, tmp_path):
    out = tmp_path / "annotators.csv"
    code, said, err = run(files / "labels.csv", "--variant", "full", "--draws", 60, "--json", "-o", out)
    assert code == 0, err
    kept, shown = pd.read_csv(out), json.loads(said)["annotators"]
    assert kept["annotator"].tolist() == [row["annotator"] for row in shown]
    np.testing.assert_allclose(kept["accuracy"], [row["accuracy"] for row in shown])
