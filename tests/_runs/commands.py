# ruff: noqa: E501
"""Runs of the command line: what is printed, as text and as a document, and the files that are written."""

import json
import os
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import pandas as pd
from _hostile import ITEMS

from _runs.recipe import RUNS, later
from _runs.world import FOLDER, _rating_rows, _verdicts, table
from bayesagree.cli import main


def _files() -> Any:
    where = FOLDER()
    _rating_rows(1).to_csv(where / "ratings.csv", index=False)
    _rating_rows(None).rename(columns={"annotator": "model", "rating": "label"}).pivot_table(
        index="item", columns="model", values="label").ffill().bfill().reset_index().melt("item", value_name="label").to_csv(where / "numbers.csv", index=False)  # fmt: skip
    table("models.csv").drop(index=[3, 20]).to_csv(where / "gappy.csv", index=False)
    table("people.csv").assign(gender=[*"fmfmf"]).to_csv(where / "people.csv", index=False)
    _verdicts().assign(rater=lambda t: np.where(t.index % 2, "g", "h")).to_csv(where / "verdicts.csv", index=False)
    games = table("games.csv")
    games.assign(page=np.arange(len(games)) % 7, length=np.random.default_rng(3).normal(size=len(games))).to_csv(
        where / "games.csv", index=False
    )
    pd.DataFrame({"item": ITEMS, "text": [f"text of {i}" for i in ITEMS]}).to_csv(where / "texts.csv", index=False)
    many = pd.DataFrame({"item": np.arange(120) // 3, "annotator": np.arange(120) % 3})
    many.assign(label=np.random.default_rng(1).choice([*"abc"], 120)).to_csv(where / "many.csv", index=False)
    (where / "spec.json").write_text(json.dumps({
        "bias_definition": "alike for all", "protected": ["age"], "metrics": ["accuracy", "dispersion"],
        "annotators": {"age": {"old": 0.5, "young": 0.5}}, "labels_per_item": 3, "smallest_group": 2,
    }))  # fmt: skip
    return where


WHERE = later(_files)


def printed(words: str, written: str = "") -> Any:
    """Run a command in the folder of the data, and give its code, its texts and what it wrote."""
    where, was, argv = WHERE(), os.getcwd(), sys.argv
    width = os.environ.pop("COLUMNS", None)
    sys.argv = ["bayesagree", *words.split()]
    out, err = StringIO(), StringIO()
    code: Any = 0
    os.chdir(where)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            try:
                main()
            except SystemExit as stop:
                code = stop.code or 0
        found = {"code": code, "stderr": plain(err.getvalue())}
        said = out.getvalue()
        found["out"] = json.loads(said) if words.endswith("--json") and said.startswith(("{", "[")) else lines(said)
        if written:
            found["file"] = read(where / written) if (where / written).exists() else "none"
    finally:
        os.chdir(was)
        sys.argv = argv
        if width:
            os.environ["COLUMNS"] = width
    return found


def plain(said: str) -> str:
    """Leave out what differs from run to run: seconds, folders, versions."""
    said = re.sub(r"\d+(\.\d+)? (s|seconds|ms|min)\b", "# s", said)
    return re.sub(r"bayesagree \d[\w.+]*", "bayesagree #", said)


def lines(said: str) -> list[str]:
    """Give a text by parts of ten lines."""
    each = [" ".join(line.split()) for line in plain(said).splitlines()]
    return ["\n".join(each[k : k + 10]) for k in range(0, len(each), 10)]


def read(path: Any) -> Any:
    """Give what a command wrote, and remove it."""
    from bayesagree.io import read_result

    if path.suffix == ".nc":
        found: Any = read_result(path).load()
    else:
        found = lines(re.sub(r"20\d\d-\d\d-\d\d", "#", path.read_text()))
    path.unlink()
    return found


FEW = "--draws 12 --chains 2"
COMMANDS = f"""
contents labels.csv
contents ratings.csv --scale 1 5 --step 1
contents cases.json
contents games.csv
contents models.csv
agreement labels.csv
agreement labels.csv --seed 2 --annotators sample
agreement labels.csv --item-features items.csv --cluster page
agreement labels.csv --ordered --labels x,y,z
agreement ratings.csv --scale 1 5 --step 1
agreement ratings.csv --scale 1 5 --step 1 --item-mean flat --likelihood binned
evaluate labels.csv models.csv {FEW}
evaluate labels.csv models.csv {FEW} --reliability 1,3 --metrics f1_macro,accuracy
evaluate labels.csv shares.csv {FEW} --metrics brier,kl --plausibility dirichlet --another-annotator
evaluate labels.csv models.csv {FEW} --plausibility dirichlet --items bootstrap --item-features items.csv --by part
evaluate labels.csv models.csv {FEW} --plausibility dirichlet --items bootstrap --item-features items.csv --cluster page
evaluate labels.csv models.csv {FEW} --truth-is sampled
evaluate labels.csv models.csv {FEW} --gold gold.csv
evaluate labels.csv gappy.csv {FEW} --missing skip
evaluate labels.csv gappy.csv {FEW} --missing wrong
evaluate labels.csv gappy.csv {FEW}
evaluate labels.csv models.csv {FEW} --plausibility dawid_skene
evaluate ratings.csv numbers.csv --scale 1 5 --step 1 {FEW}
certainty labels.csv {FEW}
certainty labels.csv --exact
certainty labels.csv {FEW} --reliability 1,4
certainty ratings.csv --scale 1 5 --step 1 --threshold 3 {FEW}
compare labels.csv models.csv {FEW} --metric f1_macro --ci-prob .5
compare labels.csv models.csv {FEW} --items bootstrap
check labels.csv models.csv --plausibility dirichlet {FEW} --new top --old mid --probability .01
check labels.csv models.csv --plausibility dirichlet {FEW} --new low --old top
check labels.csv models.csv --plausibility dirichlet {FEW} --new mid --old top --not-worse .5
reliability labels.csv
reliability labels.csv --reliability 1,2 --plausibility dirichlet
conformal labels.csv shares.csv --coverage .7
conformal labels.csv shares.csv --coverage .5 --method majority --score margin --mass .5 --folds 3
conformal labels.csv shares.csv --coverage .7 --plausibility dirichlet
auc two.csv scores.csv --draws 12
auc two.csv scores.csv --draws 12 --positive no
blind models.csv --draws 12
blind models.csv --gold gold.csv --draws 12 --metrics accuracy,f1 --methods majority,em
blind models.csv --crowd labels.csv --draws 12
preferences games.csv {FEW}
preferences games.csv --first left --second right --winner winner --annotator annotator --item page --item-effects {FEW}
preferences games.csv {FEW} --ties common --order none --discrimination none --likelihood rao_kupper --scale win_rate
preferences games.csv --first left --second right --winner winner --covariates length {FEW}
rankings cases.json --prirn 2 --plackett-luce 1 {FEW}
rankings cases.json --prirn 2,5 --plackett-luce 2 {FEW} --simulated-models 3 --case 1 --unranked exact
annotators labels.csv {FEW} --variant full
annotators labels.csv {FEW} --variant one_coin --gold gold.csv
crowdtruth labels.csv --draws 12
judge verdicts.csv --people two.csv {FEW}
judge verdicts.csv --people two.csv {FEW} --system system --positive no --target truth --inclusion chance --judge rater
judge verdicts.csv --choose 9 --system system
judge verdicts.csv --choose 11 --design doubt
subjective labels.csv --annotators people.csv --group age models.csv --draws 12
subjective labels.csv --annotators people.csv --group age,gender models.csv --draws 12 --smallest-group 2
subjective labels.csv --annotators people.csv --group age models.csv --draws 12 --specification spec.json
subjective labels.csv --annotators people.csv --group age models.csv --draws 12 --truth by-group
plan labels.csv --n-items 20,60 --n-annotators 2,3 --replicates 2
plan labels.csv models.csv --n-items 20 --n-annotators 4 --replicates 2 --target .2 --cost 1,2
plan labels.csv --n-items 20 --n-annotators 4 --replicates 2 --crossed --metric alpha_nominal
next labels.csv --number 3
next labels.csv models.csv --number 14
next labels.csv models.csv --number 5 --goal metric
evaluate labels.csv
evaluate nowhere.csv models.csv
agreement labels.csv --scale 5 1
plan labels.csv --n-items nine --n-annotators 2
agreement ratings.csv
""".strip().splitlines()
WRITTEN = {
    f"evaluate labels.csv models.csv {FEW} --force -o kept.nc": "kept.nc",
    f"plausibility labels.csv {FEW} --force -o p.nc": "p.nc",
    f"plausibility labels.csv {FEW} --top-labels 2 --plausibility dawid_skene --force -o p.nc": "p.nc",
    f"certainty labels.csv {FEW} --force -o certainty.csv": "certainty.csv",
    "next labels.csv models.csv --number 4 --force -o tasks.json --tool label_studio --contents texts.csv": "tasks.json",
    f"annotators labels.csv {FEW} --variant one_coin --force -o p.csv": "p.csv",
    "agreement labels.csv --force -o a.csv": "a.csv",
    f"judge verdicts.csv --people two.csv {FEW} --force -o j.csv": "j.csv",
    "judge verdicts.csv --choose 9 --force -o c.csv": "c.csv",
    f"report labels.csv models.csv {FEW} --force -o r.html": "r.html",
    f"report labels.csv shares.csv --annotators people.csv --group age {FEW} --gold gold.csv --force -o r.html": "r.html",
    f"report ratings.csv numbers.csv --scale 1 5 --step 1 {FEW} --force -o r.html": "r.html",
    f"report games.csv {FEW} --force -o r.html": "r.html",
    f"report labels.csv --annotators people.csv --specification spec.json {FEW} --title Ours --force -o r.html": "r.html",
    f"report cases.json {FEW} --force -o r.html": "r.html",
    f"report many.csv {FEW} --least-certain 3 --force -o r.html": "r.html",
}
SLOW = (
    "subjective",
    "agreement ratings",
    "blind",
    "preferences",
    "judge verdicts.csv --people",
    "evaluate labels.csv models",
)
for words in COMMANDS:
    if not words.startswith(SLOW):
        RUNS[f"bayesagree {words}"] = lambda words=words: printed(words)
    if not words.startswith("contents"):
        RUNS[f"bayesagree {words} --json"] = lambda words=words: printed(f"{words} --json")
for words, file in WRITTEN.items():
    RUNS[f"bayesagree {words}"] = lambda words=words, file=file: printed(words, file)
RUNS["bayesagree demo"] = lambda: printed("demo")
