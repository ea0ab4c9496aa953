"""Every study runs from the command line: its example can be parsed, its tables are one document, its figures files."""

import json
import shlex
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _paths import ROOT

from bayesagree.cli._commands import as_command

STUDIES = sorted(path.stem for path in (ROOT / "studies").glob("*.py") if "    run(main)" in path.read_text())
ARGUMENTS = {
    "answers": "--raters 3 --levels 5 --n-items 10 --repeats 1",
    "auc": "--cases good --labels-per-item 5 --labels-per-annotator 5 --runs 1 --label-level",
    "blind": "--systems models.csv --gold gold.csv --draws 20",
    "certainty": "labels.csv --reliability 1 --draws 50",
    "crowd": "ratings.csv --scale 1,5 --step 1",
    "paradoxes": "--cases 7c",
    "rankings": "cases.csv --prirn 2 --plackett-luce 1 --draws 50",
    "sizes": "ratings.csv --scale 1,5 --step 1 --shares 0.5 --repeats 1",
    "toy": "--reliability 1",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where, rng = tmp_path_factory.mktemp("studies"), np.random.default_rng(1)
    truth, items = rng.integers(0, 2, 20), [f"t{i}" for i in range(20)]
    right = rng.random((20, 6)) < 0.8
    votes = [(items[i], f"w{w}", "ab"[truth[i] if right[i, w] else 1 - truth[i]]) for i in range(20) for w in range(6)]
    pd.DataFrame(votes, columns=["item", "annotator", "label"]).to_csv(where / "labels.csv", index=False)
    systems = pd.DataFrame(votes, columns=["item", "model", "label"])
    systems[systems["model"] < "w5"].to_csv(where / "models.csv", index=False)
    gold = pd.DataFrame({"item": items, "label": ["ab"[code] for code in truth]})
    gold.to_csv(where / "gold.csv", index=False)
    ratings = np.clip(rng.normal(2 + 2 * truth[:, None], 1, (20, 4)), 1, 5).astype(int)
    rated = [(items[i], f"w{w}", ratings[i, w]) for i in range(20) for w in range(4)]
    pd.DataFrame(rated, columns=["item", "annotator", "rating"]).to_csv(where / "ratings.csv", index=False)
    ranked = [
        (items[i], f"w{w}", "abcd"[(truth[i] + k) % 4], 1 + k) for i in range(20) for w in range(3) for k in range(2)
    ]
    pd.DataFrame(ranked, columns=["item", "annotator", "label", "rank"]).to_csv(where / "cases.csv", index=False)
    return where


@pytest.fixture
def study(run_study, monkeypatch, folder):
    monkeypatch.chdir(folder)
    return run_study


@pytest.mark.parametrize("name", STUDIES)
def test_help_has_an_example_that_can_be_parsed(name):
    command = as_command(import_module(f"studies.{name}").main, name)
    example = next(line for line in command.help.splitlines() if line.strip().startswith("Example: "))
    words = shlex.split(example.split("Example: ")[1])
    assert words[:3] == ["python", "-m", f"studies.{name}"]
    assert command.make_context(name, words[3:]).params
    assert f"python -m studies.{name}" in (ROOT / "studies" / "README.md").read_text()


@pytest.mark.parametrize("name", STUDIES)
def test_json_is_one_document_of_the_tables_and_figures_are_files(study, tmp_path, name):
    code, out, err = study(name, *ARGUMENTS[name].split(), "--json", "--figures", tmp_path)
    assert code == 0, err
    document = json.loads(out)
    assert len(document) > 1
    figures = [path.stem for path in Path(tmp_path).glob("*.png")]
    assert figures
    assert all(figure in document["notes"][-1] for figure in figures)
