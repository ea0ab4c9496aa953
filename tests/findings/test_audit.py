"""For each check a planted defect of which it speaks; it is silent on the same test set without the defect."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest

import bayesagree as ba
from bayesagree.findings.case import Finding
from bayesagree.findings.table import _corrected
from benchmarks import audit as worlds

SILENT = {"none", "not run"}
# Of a clean test set these may say that which is so of any: few votes, models nearly alike, hard items.
NOTES = {"few_votes", "unseparated", "all_err"}
LONG = {"drifts", "knows_votes", "served_badly", "camps"}


@cache
def audited(defect=None):
    """A test set with twice the answers that the weakest check needs; the seed was not chosen."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return worlds.audited(defect, random_seed=1, n_items=600 if defect in LONG else 200)


@pytest.mark.parametrize("defect", worlds.DEFECTS)
def test_a_check_speaks_of_its_defect(defect):
    name = defect.partition(",")[0]
    found = audited(defect).loc[name]
    assert found["severity"] not in SILENT
    assert all(found[["finding", "evidence", "what_to_do", "where"]])
    assert audited(defect).attrs["where"][name]
    if name not in NOTES:
        assert audited()["severity"][name] in SILENT


@pytest.mark.parametrize(
    ("defect", "who"),
    [("copies", {("r0", "r1"), ("r1", "r0")}), ("drifts", {"r0"}), ("one_answer", {"r0"}), ("careless", {"r0"}),
     ("careless, against", {"r0"}), ("too_fast", {"r0"}), ("knows_votes", {"A"}), ("unused, by one", {"other"}),
     ("camps", {f"r{j}" for j in range(6)}),
     ("base_rate", {"C"}), ("uncalibrated", {"C"}), ("no_probabilities", {"C"}), ("paradox", {"good"})],
)  # fmt: skip
def test_it_names_the_culprits_and_nobody_else(defect, who):
    found = audited(defect).attrs["where"][defect.partition(",")[0]]
    assert found
    assert set(found) <= who


def test_a_judge_who_names_the_first_or_favours_a_model_is_found_and_no_other():
    assert worlds.arena(1.5, 1, n=600).attrs["where"]["first_place"] == ["j5"]
    assert worlds.arena(0.0, 1, n=900, favour=1.5).attrs["where"]["favours"] == [("j5", "B")]
    fair = worlds.arena(0.0, 1, n=600)["severity"]
    assert fair[["first_place", "favours"]].tolist() == ["none", "none"]
    assert fair["few_votes"] == "not run"  # most pairs are compared once


def test_the_worst_stand_first_and_names_are_few():
    order = audited("copies")["severity"].map(["critical", "warning", "note", "none", "not run"].index)
    assert order.is_monotonic_increasing
    assert audited("few_votes")["where"]["few_votes"].count(",") == 5


def test_checks_are_corrected_together():
    """Holm by hand: .01 * 4, .02 * 3, and never below what stands before; a counted one has no part."""
    said = {name: Finding(["x"], chance=p) for name, p in zip("dabc", (0.01, 0.02, 0.021, 1.0))}
    found = _corrected(said | {"fact": Finding(["x"])})
    assert found == pytest.approx({"d": 0.04, "a": 0.06, "b": 0.06, "c": 1.0, "fact": 0.0})


def test_ratings_frames_and_what_a_check_lacks():
    rng = np.random.default_rng(2)
    table = pd.DataFrame(np.clip(rng.normal(rng.normal(50, 25, (150, 1)), 8, (150, 5)), 0, 100), columns=list("abcde"))
    table["e"] = rng.uniform(0, 100, 150)
    found = ba.audit(ba.Ratings.from_matrix(table.to_numpy(), scale=(0, 100), annotators=list("abcde")))
    assert found.attrs["where"]["careless"] == ["e"]
    assert found.loc["few_votes", "finding"].endswith("needs labels")
    long = table.round(-2).stack().rename_axis(["item", "annotator"]).rename("label").astype(str).reset_index()
    assert ba.audit(long, gold={0: "0.0", 1: "0.0", 999: "0.0"})["severity"]["against_gold"] != "not run"
    counts = ba.audit(ba.Labels.from_counts([[3, 1], [0, 4]]))
    assert counts.loc["never_meet", "finding"].endswith("needs who gave each answer: one row per annotation")


def test_the_command_says_the_same(run, tmp_path):
    given = worlds.arguments(worlds.clean(np.random.default_rng(1)))
    text = given["annotations"].to_long().to_csv(index=False).replace(",poor", ",Good ")
    (tmp_path / "labels.csv").write_text(text)
    found = run("audit", tmp_path / "labels.csv", "-o", tmp_path / "audit.csv").stdout
    assert "Nothing found: Annotators who never meet on an item." in found
    kept = pd.read_csv(tmp_path / "audit.csv")
    assert kept["severity"].iloc[0] == "critical"
    assert "ba." not in kept["what_to_do"].fillna("").str.cat()  # commands on the command line


def test_progress_counts_the_checks():
    done = []
    found = ba.audit(ba.Labels.from_matrix([[0, 1], [1, 1], [0, 0]] * 5), random_seed=1, progress=done.append)
    assert done == [1] * len(found)
