"""Every option of a command changes what it prints: each command with and without it, on data where nothing is alike.

An option that is read and dropped on its way to the function below would print the same numbers.
"""

import json

import pytest
from _hostile import write

from bayesagree.cli import COMMANDS as LINES
from bayesagree.cli import _commands

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore::UserWarning")]

BASES = {
    "agreement": "agreement labels.csv",
    "rated": "agreement ratings.csv --scale 1 5 --step 1",
    "evaluate": "evaluate labels.csv models.csv --plausibility dirichlet --draws 40",
    "resampled": "evaluate labels.csv models.csv --plausibility dirichlet --draws 40 --items bootstrap",
    "informed": "evaluate labels.csv models.csv --plausibility informed_dirichlet --draws 40",
    "sliced": "evaluate labels.csv models.csv --plausibility dirichlet --draws 40 --item-features items.csv",
    "gappy": "evaluate labels.csv gappy.csv --plausibility dirichlet --draws 40 --missing skip",
    "certainty": "certainty labels.csv",
    "compare": "compare kept.nc --reliability 1",
    "compared": "compare labels.csv gappy.csv --plausibility dirichlet --draws 40 --missing skip",
    "check": "check labels.csv models.csv --plausibility dirichlet --draws 40 --new top --old mid --probability .01",
    "reliability": "reliability labels.csv",
    "conformal": "conformal labels.csv shares.csv --coverage .7",
    "auc": "auc two.csv scores.csv --draws 40",
    "preferences": "preferences games.csv --draws 40 --chains 2",
    "preferred": "preferences games.csv --first left --second right --winner winner --draws 40 --chains 2",
    "rankings": "rankings cases.json --prirn 2 --plackett-luce 1 --draws 40",
    "annotators": "annotators labels.csv --draws 40 --chains 2 --variant full",
    "judge": "judge verdicts.csv --people two.csv --draws 40 --chains 2",
    "chosen": "judge verdicts.csv --choose 9 --system system",
    "subjective": "subjective labels.csv --annotators people.csv --group age models.csv --draws 40",
    "small": "subjective labels.csv --annotators people.csv --group age,gender models.csv --draws 40",
    "plan": "plan labels.csv --n-items 20 --n-annotators 4 --replicates 2",
    "next": "next labels.csv models.csv --number 14",
    "uncertain": "next labels.csv --number 14",
    "blind": "blind models.csv --gold gold.csv --draws 20 --metrics accuracy",
}
EFFECTS = {
    "agreement": ["--seed 2", "--annotators sample", "--item-features items.csv --cluster page"],
    "rated": ["--level nominal", "--item-mean flat", "--likelihood binned"],
    "evaluate": [
        "--draws 41", "--chains 3", "--seed 2", "--reliability 3", "--metrics f1_macro", "--truth-is sampled",
        "--another-annotator", "--items bootstrap", "--plausibility informed_dirichlet",
    ],
    "resampled": ["--item-features items.csv --cluster page"],
    "informed": ["--gold gold.csv"],
    "sliced": ["--by part"],
    "gappy": ["--missing wrong"],
    "certainty": [
        "--draws 99", "--chains 3", "--seed 2", "--reliability 3", "--k 2", "--exact", "--plausibility dawid_skene",
    ],
    "compare": ["--metric f1_macro", "--reliability 4", "--ci-prob .5"],
    "compared": [
        "--items bootstrap", "--missing wrong", "--seed 2", "--draws 41", "--chains 3", "--reliability 3",
        "--metric f1_macro", "--plausibility informed_dirichlet",
    ],
    "check": [
        "--seed 2", "--chains 3", "--draws 41",
        "--new mid --old low", "--old low", "--not-worse .1", "--metric f1_macro", "--items bootstrap",
    ],
    "reliability": ["--reliability 1,2", "--seed 2", "--plausibility dirichlet --reliability 1,2"],
    "conformal": [
        "--coverage .5", "--method majority", "--score margin", "--mass .5", "--folds 7", "--plausibility dirichlet",
        "--seed 2",
    ],
    "auc": ["--positive no", "--draws 41", "--chains 3", "--seed 2"],
    "preferences": [
        "--draws 41", "--chains 3", "--seed 2", "--ties common", "--order none", "--discrimination none",
        "--likelihood rao_kupper", "--ci-prob .5", "--scale win_rate",
    ],
    "preferred": ["--annotator annotator", "--item page --item-effects", "--covariates length"],
    "rankings": [
        "--simulated-models 3", "--prirn 5", "--plackett-luce 2", "--unranked exact", "--draws 41", "--seed 2",
        "--case 1", "--chains 3",
    ],
    "annotators": ["--draws 41", "--chains 3", "--seed 2", "--variant one_coin", "--gold gold.csv"],
    "judge": [
        "--system system", "--positive no", "--target truth", "--inclusion chance", "--judge rater",
        "--draws 41", "--chains 3", "--seed 2",
    ],
    "chosen": ["--choose 11", "--design stratified", "--design doubt", "--seed 2"],
    "subjective": ["--group gender", "--draws 41", "--seed 2"],
    "small": ["--smallest-group 2"],
    "plan": [
        "--n-items 30", "--n-annotators 3", "--crossed", "--metric alpha_nominal", "--target .2", "--cost 1,2",
        "--replicates 3", "models.csv", "--seed 2",
    ],
    "next": ["--number 3", "--goal metric", "--goal certainty", "--plausibility informed_dirichlet"],
    "uncertain": ["--seed 2"],
    "blind": ["--methods majority", "--metrics f1", "--draws 21", "--seed 2"],
}  # fmt: skip
CASES = [(base, option) for base, options in EFFECTS.items() for option in options]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import numpy as np
    import pandas as pd

    where = write(tmp_path_factory.mktemp("hostile"))
    labels = pd.read_csv(where / "labels.csv")
    rating = labels["label"].map({"x": 1, "y": 2, "z": 5}) + (labels["annotator"] == "bob") * (labels["label"] != "z")
    labels.assign(rating=rating).drop(columns="label").to_csv(where / "ratings.csv", index=False)
    pd.read_csv(where / "models.csv").drop(index=[3, 20]).to_csv(where / "gappy.csv", index=False)
    people = pd.read_csv(where / "people.csv").assign(gender=["f", "m", "f", "m", "f"])
    people.to_csv(where / "people.csv", index=False)
    rng = np.random.default_rng(3)
    verdicts = pd.read_csv(where / "verdicts.csv")
    chance = dict(zip(verdicts["item"].unique(), rng.uniform(0.2, 0.9, verdicts["item"].nunique())))
    verdicts.assign(chance=verdicts["item"].map(chance), rater=np.where(verdicts.index % 2, "g", "h")).to_csv(
        where / "verdicts.csv", index=False
    )
    games = pd.read_csv(where / "games.csv")
    games.assign(page=np.arange(len(games)) % 7, length=rng.normal(size=len(games))).to_csv(
        where / "games.csv", index=False
    )
    return where


@pytest.fixture
def document(run, monkeypatch, folder):
    monkeypatch.chdir(folder)

    def printed(words):
        code, out, err = run(*words.split(), "--json")
        assert code in (0, 1), err
        return json.loads(out)

    return printed


# Commands that use the seed for nothing else.
SEED_SHOWS = ("evaluate", "certainty", "compared", "check", "preferences")


@pytest.fixture(scope="module")
def plain():
    return {}


def of_a_night(base, option):
    """Draws, chains and seed go to the function below as one: in CI another of them shows that they arrive."""
    name = option.split()[0]
    return name == "--chains" or (name == "--draws" and base in SEED_SHOWS)


@pytest.mark.parametrize(
    ("base", "option"),
    [pytest.param(*case, id=" ".join(case), marks=[pytest.mark.slow] if of_a_night(*case) else []) for case in CASES],
)
def test_an_option_changes_the_answer(document, plain, folder, base, option):
    if base == "compare" and not (folder / "kept.nc").exists():
        kept = BASES["evaluate"] + " --metrics top_1_accuracy,f1_macro --reliability 1,4 -o kept.nc"
        document(kept)
    if base not in plain:
        plain[base] = document(BASES[base])
    changed = document(f"{BASES[base]} {option}")
    tables = [{k: v for k, v in found.items() if k != "settings"} for found in (plain[base], changed)]
    assert tables[0] != tables[1], "the tables are the same with and without it"


ELSEWHERE = {
    "--json", "--output", "--force", "--data", "--format", "--question", "--kind", "--scale", "--step", "--labels",
    "--duplicates", "--no-annotator", "--missing-labels", "--merge-similar", "--ordered", "--label", "--rating",
    "--rank", "--model", "--predictions-item", "--predictions-label", "--dask", "--allow-unmixed",
    "--tool", "--contents", "--verdicts-item", "--verdicts-label", "--threshold", "--specification",
    "--simulated-models", "--people", "--annotators", "--item", "--annotator", "--new", "--crowd", "--risk",
    "--system", "--missing", "--epsilon", "--baseline", "--bins", "--rate-share", "--truth", "--phi", "--metric",
    "--report",
}  # fmt: skip
"""How files are read and written has tests beside the readers and writers, one file of options each."""
OTHERS = {"demo", "contents", "doctor", "report", "plausibility", "blind"}


def test_every_option_of_an_answer_is_tried():
    left = {}
    for name in set(LINES) - OTHERS:
        options = {p.opts[0] for p in _commands.load(name).params if p.opts and p.opts[0].startswith("--")}
        tried = {w for base, o in CASES if BASES[base].split()[0] == name for w in o.split()}
        tried |= {w for base in BASES.values() if base.split()[0] == name for w in base.split()}
        if missing := options - tried - ELSEWHERE:
            left[name] = missing
    assert not left
