import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from bayesagree import read_result


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("input")
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 40)
    rows = [
        (f"t{i}", f"w{w}", "abc"[truth[i] if rng.random() < 0.7 else rng.integers(0, 3)])
        for i in range(40)
        for w in rng.permutation(6)[:4]
    ]
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv(folder / "annotations.csv", index=False)
    said = [
        (m, f"t{i}", "abc"[truth[i] if rng.random() < skill else rng.integers(0, 3)])
        for m, skill in (("good", 0.95), ("poor", 0.3))
        for i in range(40)
    ]
    pd.DataFrame(said, columns=["model", "task", "label"]).to_csv(folder / "predictions.csv", index=False)
    return folder


@pytest.mark.long
def test_demo_ends_with_intervals_and_a_probability(run):
    done = run("demo")
    assert done.returncode == 0, done.stderr
    assert "95 % HDI" in done.stdout
    assert "better than" in done.stdout


def test_evaluate_keeps_draws_that_compare_reads(run, files, tmp_path):
    out = tmp_path / "evaluation.nc"
    done = run("evaluate", files / "annotations.csv", files / "predictions.csv", "--item", "task",
               "--annotator", "worker", "--reliability", "1,3", "--draws", 200, "--json", "-o", out)  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert [row["model"] for row in answer["scores"][:2]] == ["good", "poor"]
    assert answer["scores"][0]["lower"] <= answer["scores"][0]["mean"] <= answer["scores"][0]["upper"]
    assert read_result(out)["posterior"]["top_1_accuracy"].sizes["reliability"] == 2
    compared = run("compare", out, "--reliability", 3, "--json")
    pair = json.loads(compared.stdout)["pairs"][0]
    assert (pair["model"], pair["other_model"]) == ("good", "poor")
    assert pair["prob_better"] > 0.9
    assert run("compare", out).returncode == 2


def test_compare_of_files_is_that_of_the_kept_evaluation(run, files, tmp_path):
    given = (files / "annotations.csv", files / "predictions.csv", "--item", "task", "--annotator", "worker")
    assert run("evaluate", *given, "--draws", 60, "-o", tmp_path / "kept.nc").returncode == 0
    kept, made = run("compare", tmp_path / "kept.nc", "--json"), run("compare", *given, "--draws", 60, "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(kept.stdout) == json.loads(made.stdout)
    assert "there are no predictions" in run("compare", given[0], *given[2:]).stderr


def test_evaluate_notes_few_votes_and_names_the_target(run, files):
    given = (files / "annotations.csv", files / "predictions.csv")
    asked = ("evaluate", *given, "--item", "task", "--annotator", "worker", "--draws", 50)
    assert "Votes and predictions together estimate the score" in run(*asked).stdout
    asked = (*asked, "--plausibility", "dirichlet")
    done = run(*asked)
    assert "score from these annotations alone" in " ".join(done.stdout.split())
    assert "Votes are few: the prior has 20 % of the weight" in done.stdout
    answer = json.loads(run(*asked, "--json").stdout)
    assert len(answer["notes"]) == 1
    assert answer["settings"][0]["prior_share"] == pytest.approx(0.2)
    assert json.loads(run(*asked, "--json", "--reliability", 3).stdout)["notes"] == []
    assert json.loads(run(*asked, "--json", "--plausibility", "informed_dirichlet").stdout)["notes"] == []


def test_certainty_and_plausibility(run, files, tmp_path):
    columns = ["--item", "task", "--annotator", "worker"]
    table = tmp_path / "certainty.csv"
    done = run("certainty", files / "annotations.csv", *columns, "--exact", "--reliability", "1,3", "-o", table)
    assert done.returncode == 0, done.stderr
    assert len(pd.read_csv(table)) == 80
    out = tmp_path / "plausibility.nc"
    done = run("plausibility", files / "annotations.csv", *columns, "--draws", 20, "-o", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert read_result(out)["posterior"]["plausibility"].sizes == {"chain": 4, "draw": 20, "item": 40, "category": 3}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["evaluate"], "give either a file of annotations or --data NAME"),
        (["evaluate", "{annotations}", "--item", "unit"], "no column 'unit'"),
        (["evaluate", "{annotations}", "--item", "task", "--annotator", "worker"], "there are no predictions"),
        (["evaluate", "missing.csv", "x.csv"], "missing.csv"),
        (["evaluate", "{annotations}", "{predictions}", "--item", "task", "--annotator", "worker", "--metrics", "hit"],
         "metric 'hit' is not known"),
        (["certainty", "{annotations}", "--item", "task", "--annotator", "worker", "--reliability", "low"],
         "--reliability 'low' is not a list of numbers"),
        (["plan", "{annotations}", "--item", "task", "--annotator", "worker", "--n-items", "10,2.5"],
         "--n-items '10,2.5' must be whole numbers"),
        (["evaluate", "--data", "cifar"], "similar: cifar10h"),
    ],
)  # fmt: skip
def test_bad_input_exits_with_2_and_one_message(run, files, tmp_path, args, message):
    names = {"annotations": files / "annotations.csv", "predictions": files / "predictions.csv"}
    out = tmp_path / "never.nc"
    extra = ["-o", out] if args[0] == "evaluate" else []
    done = run(*(a.format(**names) for a in args), *extra)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_usage_errors_exit_with_2(run):
    assert run("evaluate", "--draws", "0").returncode == 2
    assert run("nothing").returncode == 2


@pytest.mark.parametrize(("way", "message"), [(">&-", "stdout is closed"), ("> /dev/full", "No space left on device")])
def test_an_answer_that_cannot_be_written_ends_with_a_sentence(way, message, tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("item,annotator,label\n1,a,x\n1,b,x\n2,a,y\n2,b,x\n")
    code = "from bayesagree.cli import process; process()"
    script = f'"$0" -c "$1" contents "$2" {way}'
    words = ["sh", "-c", script, sys.executable, code, str(votes)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


def test_warnings_are_sentences_and_said_once(tmp_path):
    rows = [f"{item},{who},{(item + who) % 3}" for item in range(30) for who in range(4)]
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("\n".join(["item,annotator,rating", *rows]))
    code = "from bayesagree.cli import process; process()"
    words = [
        sys.executable,
        "-c",
        code,
        "annotators",
        str(ratings),
        "--scale",
        "0,2",
        "--draws",
        "100",
        "--chains",
        "1",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stderr.count("bayesagree: 3 levels: below 5 Phi depends much on what a level stands for\n") == 1
    assert "UserWarning" not in done.stderr
