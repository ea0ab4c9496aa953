"""`bayesagree preferences`: the same numbers as the package, in tables and JSON."""

import json

import pytest

from bayesagree import Comparisons, agreement_table, annotate_next, davidson
from bayesagree.comparisons import preference_table
from tests.comparisons.test_davidson import crowd

# Chains this short are not compared: a last digit, which compilers decide, may put their R-hat on either side.
SHORT = ("--draws", "80", "--chains", "2")


@pytest.fixture
def games(tmp_path):
    path = tmp_path / "games.csv"
    crowd(n=600).rename(columns={"who": "annotator"}).drop(columns="prompt").to_csv(path, index=False)
    return path


def test_json_has_the_tables_of_the_package(run, games):
    answer = json.loads(run("preferences", games, "--json", "--scale", "arena", *SHORT).stdout)
    table = crowd(n=600)
    tree = davidson(Comparisons.from_long(table, annotator="who"), draws=80, chains=2, seed=1)
    ours = preference_table(tree, scale="arena").drop(columns="component")
    assert [row["mean"] for row in answer["models"]] == pytest.approx(ours["mean"].tolist())
    assert [row["rank_upper"] for row in answer["models"]] == ours["rank_upper"].tolist()
    assert len(answer["annotators"]) == 6
    assert {row["effect"] for row in answer["effects"]} >= {"tie_probability"}


def test_columns_by_name_and_covariates(run, games, tmp_path):
    text = games.read_text().replace("left,right,winner", "one,two,best", 1)
    other = tmp_path / "other.csv"
    other.write_text(text)
    names = ("--first", "one", "--second", "two", "--winner", "best", "--covariates", "longer")
    options = ("--ties", "common", "--order", "none", "--discrimination", "none")
    answer = json.loads(run("preferences", other, *names, *options, "--json", *SHORT).stdout)
    assert [row["effect"] for row in answer["effects"]] == ["tie_probability", "longer"]


def test_the_screen(run, games):
    shown = run("preferences", games, *SHORT).stdout
    assert "Models by strength, with the 95% HDI and rank set" in shown


def test_agreement_on_pairs(run, games):
    assert f"agreement{games}" in "".join(run("contents", games).stdout.split())  # lines break in the path
    answer = json.loads(run("agreement", games, "--duplicates", "first", "--json").stdout)["agreement"]
    ours = agreement_table(Comparisons.from_long(crowd(n=600), annotator="who").to_labels("first"), seed=1)
    found = [row["estimate"] for row in answer if row["estimate"] is not None]
    assert found == pytest.approx(ours["estimate"].dropna().tolist())


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("item,annotator,label\n1,a,x\n1,b,y\n", (), "comparisons are rows of left, right and winner"),
        ("left,right,winner\nA,B,Z\n", (), "row 0: winner 'Z' is neither"),
        ("left,right,winner\nA,B,A\n", ("--scale", "elo"), "--scale 'elo' is not one of"),
        ("left,right,winner\nA,B,A\n", ("--ties", "often"), "--ties 'often' is not one of"),
    ],
)
def test_bad_input(run, tmp_path, text, options, message):
    path = tmp_path / "games.csv"
    path.write_text(text)
    result = run("preferences", path, *options)
    assert result.returncode == 2
    assert message in result.stderr


@pytest.mark.long
def test_the_next_pair_and_the_number_that_separates_two(run, games):
    pairs = json.loads(run("next", games, "-n", 3, "--json").stdout)["pairs"]
    table = annotate_next(Comparisons.from_long(crowd(n=600), annotator="who"), n=3, seed=1)
    assert [(row["first"], row["second"]) for row in pairs] == list(zip(table["first"], table["second"]))
    answer = json.loads(run("plan", games, "--json").stdout)
    assert answer["comparisons"][0]["votes"] == 0
    assert "separate them with probability 0.8" in answer["notes"][0]


def test_report(run, games, tmp_path):
    """`report` and `preferences --report` write one page, which is never replaced without --force."""
    ours, theirs = tmp_path / "ours.html", tmp_path / "theirs.html"
    answer = json.loads(run("report", games, "-o", theirs, "--json", *SHORT).stdout)
    assert answer["notes"][0].startswith("Which model is best?")
    assert "Which comparisons should be next?" in theirs.read_text()
    shown = run("preferences", games, "--report", ours, *SHORT)
    assert "Models by strength" in shown.stdout
    assert "ours.html is written; open it in a browser." in shown.stderr.replace("\n", "")
    assert ours.read_text() == theirs.read_text()
    again = run("preferences", games, "--report", ours, *SHORT)
    assert again.returncode == 2
    assert "pass --force to replace it, or another --report" in again.stderr
