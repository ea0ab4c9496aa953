"""`--gold` of evaluate and report, and its place in the report."""

import json

import pandas as pd
import pytest

N = 60


@pytest.fixture
def files(tmp_path):
    """Write a crowd of five that is wrong on a third of the items, a model equal to gold, and a copy of the vote."""
    gold = ["yes" if i % 2 else "no" for i in range(N)]
    vote = ["yes" if i % 3 == 0 else truth for i, truth in enumerate(gold)]
    votes = pd.DataFrame([(i, a, vote[i]) for i in range(N) for a in range(5)], columns=["item", "annotator", "label"])
    models = [(i, name, labels[i]) for name, labels in (("right", gold), ("copy", vote)) for i in range(N)]
    votes.to_csv(tmp_path / "votes.csv", index=False)
    pd.DataFrame(models, columns=["item", "model", "label"]).to_csv(tmp_path / "models.csv", index=False)
    known = pd.DataFrame({"item": range(0, 40), "gold": gold[:40]})
    known.to_csv(tmp_path / "gold.csv", index=False)
    return tmp_path


def test_evaluate_reads_gold_and_begins_with_the_contradiction(run, files):
    given = ("evaluate", files / "votes.csv", files / "models.csv", "--gold", files / "gold.csv", "--draws", 100)
    code, out, err = run(*given)
    assert code == 0, err
    assert "Gold contradicts the annotators" in out + err
    found = json.loads(run(*given, "--json")[1])
    assert found["settings"][0]["n_gold"] == 40
    targets = {row["model"]: row for row in found["targets"]}
    assert targets["right"]["on_gold_items"] == 1
    assert targets["copy"]["on_gold_items"] < targets["copy"]["annotations_only"]
    assert found["scores"][0]["model"] == "right"


def test_report_begins_with_the_contradiction(run, files):
    pytest.importorskip("jinja2")
    page, given = files / "page.html", ("--gold", files / "gold.csv", "--draws", 100)
    code, out, err = run("report", files / "votes.csv", files / "models.csv", *given, "-o", page)
    assert code == 0, err
    text = page.read_text(encoding="utf-8")
    assert (out + err).index("Gold contradicts the annotators") < (out + err).index("How good is")
    assert text.index("Gold contradicts the annotators") < text.index('class="panel"')
    found = json.loads(run("evaluate", files / "votes.csv", files / "models.csv", *given, "--json")[1])["scores"]
    section = text[text.index('id="gold-table"') :]
    assert all(f"{row['mean']:.3f}" in section for row in found if row["metric"] == "top_1_accuracy")
