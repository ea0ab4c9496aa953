"""What the tests of the command line share: small files on which no two annotators or models are alike."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

N = 32


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write labels of four annotators, ratings, rankings, games, models, gold, people and features of items."""
    where, rng = tmp_path_factory.mktemp("commands"), np.random.default_rng(1)
    items = [f"t{i}" for i in range(N)]
    truth = rng.integers(0, 3, N)

    def said(skill: float) -> list[str]:
        return ["abc"[t if rng.random() < skill else rng.integers(0, 3)] for t in truth]

    def table(column: str, skills: dict[str, float]) -> pd.DataFrame:
        parts = [pd.DataFrame({column: who, "item": items, "label": said(skill)}) for who, skill in skills.items()]
        return pd.concat(parts, ignore_index=True)

    people = {"ann": 0.9, "bob": 0.8, "cyn": 0.7, "dan": 0.5}
    labels = table("annotator", people)
    models = table("model", {"[bold]good": 0.95, "fair": 0.75, "poor": 0.4})
    shares = models.merge(pd.DataFrame({"of": [*"abc"]}), how="cross")
    shares["score"] = np.where(shares["label"] == shares["of"], 0.6, 0.2)
    judges = table("judge", {"gpt": 0.8, "other": 0.7})
    systems = judges["item"].map(dict(zip(items, ["s0", "s1"] * N)))
    ratings = pd.DataFrame({"item": items * 4, "annotator": np.repeat([*people], N)})
    ratings["rating"] = np.clip(np.tile(truth + 2, 4) + rng.integers(-1, 2, 4 * N), 1, 5)
    following = labels.assign(rank=2, label=labels["label"].map({"a": "b", "b": "c", "c": "a"}))
    pages = {"item": items, "page": np.arange(N) // 4, "half": np.arange(N) // 16}
    left, right = [*"AABBC"] * 8, [*"BCCAA"] * 8
    games = pd.DataFrame({"left": left, "right": right, "winner": ["A", "tie", "B", "A", "A"] * 8})
    tables = {
        "labels": labels,
        "models": models,
        "shares": shares.drop(columns="label").rename(columns={"of": "label"}),
        "verdicts": judges.assign(system=systems, chance=np.tile(rng.uniform(0.3, 0.9, N), 2)),
        "gold": pd.DataFrame({"item": items, "label": ["abc"[t] for t in truth]}),
        "people": pd.DataFrame({"annotator": [*people], "age": ["old", "old", "young", "young"]}),
        "ratings": ratings,
        "ranked": pd.concat([labels.assign(rank=1), following]),
        "items": pd.DataFrame(pages),
        "games": games.assign(annotator=["x", "y"] * 20),
    }
    for name, one in tables.items():
        one.to_csv(where / f"{name}.csv", index=False)
    declared = {"bias_definition": "unequal accuracy", "protected": ["age"], "smallest_group": 3}
    (where / "declared.json").write_text(json.dumps(declared))
    (where / "own_metrics.py").write_text("def hits(true, predicted):\n    return (true == predicted).mean()\n")
    return where


@pytest.fixture
def run(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, folder: Path) -> Callable[..., Any]:
    """Run the command line where the files are."""
    monkeypatch.chdir(folder)
    return run


@pytest.fixture
def document(run: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """Run a command with --json and return its document."""

    def read(*words: object) -> dict[str, Any]:
        code, out, err = run(*words, "--json")
        assert code == 0, err
        assert "NaN" not in out
        return json.loads(out)

    return read
