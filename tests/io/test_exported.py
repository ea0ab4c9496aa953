"""Files written by the libraries of the tools themselves (`benchmarks/tool_exports.py` writes them anew)."""

import json
from pathlib import Path

import pandas as pd
import pytest

from bayesagree import InputError, Labels, Ratings
from bayesagree.io import read_export
from bayesagree.io.exports import _export
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found, Wanted

FILES = Path(__file__).parent / "exported"
USERS = [f"00000000-0000-0000-0000-00000000000{k}" for k in (1, 2)]


def matrix(export):
    return export.annotations.to_matrix().to_dict("index")


@pytest.mark.parametrize(
    ("name", "format", "items", "people", "left_out"),
    [
        ("label_studio", "label_studio", [1, 2], [7, 8], "cancelled annotations"),
        ("argilla_1", "argilla", ["one", "two"], USERS, "responses with status discarded"),
    ],
)
def test_labels_and_ratings(name, format, items, people, left_out):
    """Label Studio by label-studio-sdk 2.1.2, Argilla 1 by argilla 1.29.1."""
    path = FILES / f"{name}.json"
    mood = read_export(path, question="mood")
    assert mood.format == format
    first, second = (dict(zip(people, labels)) for labels in (("sad", "glad"), ("glad", "glad")))
    assert matrix(mood) == {items[0]: first, items[1]: second}
    assert mood.predictions.models.tolist() == ["m1"]
    assert mood.predictions.hard_labels().tolist() == [[mood.annotations.categories.tolist().index("glad")] * 2]
    left = dict(mood.contents.query("left_out")[["what", "number"]].values.tolist())
    assert left[left_out] == 2
    stars = read_export(path, question="stars", scale=(1, 5), step=1)
    assert stars.annotations.rating.tolist() == [2, 4, 5, 4]


def test_spans_of_label_studio():
    spans = read_export(FILES / "label_studio.json", question="ner").spans
    assert spans.values.tolist() == [[item, who, 0, 3, "PER"] for item in (1, 2) for who in (7, 8)]


def test_braintrust():
    """By the logger of braintrust 0.48.1."""
    path = FILES / "braintrust.json"
    scores, helpful = (read_export(path, question=name) for name in ("scores", "helpful"))
    assert helpful.format == "braintrust"
    assert [row["correct"] for row in matrix(scores).values()] == [1, 0]
    assert list(matrix(helpful).values()) == [{"ann": 1, "bob": 0}, {"ann": 0, "bob": 0}]
    assert helpful.annotations.items.tolist() == scores.annotations.items.tolist()


def test_doccano():
    """By the server of doccano 1.8.4: cy has labelled nothing."""
    export = read_export(FILES / "doccano_labels.zip")
    assert export.format == "doccano"
    assert matrix(export) == {1: {"ann": "sad", "bob": "glad"}, 2: {"ann": "glad", "bob": "glad"}}
    assert export.contents.query("left_out")[["what", "number"]].values.tolist() == [["rows without a label", 2]]
    with pytest.raises(InputError, match="Doccano has merged the labels and lost who gave them"):
        read_export(FILES / "doccano_merged.zip")


@pytest.mark.parametrize("form", ["server", "file of the client", "data frame"])
def test_phoenix(form):
    """By the server of arize-phoenix 20.26.1 and its client 3.5.0."""
    path = FILES / ("phoenix.json" if form == "server" else "phoenix.csv")
    source = pd.read_csv(path, index_col="span_id") if form == "data frame" else path
    mood = read_export(source, question="mood")
    assert mood.format == "phoenix"
    first, second = (str(number).rjust(16, "a") for number in (1, 2))
    assert matrix(mood) == {first: {"ann": "sad", "bob": "glad"}, second: {"ann": "glad", "bob": "glad"}}
    assert mood.predictions.models.tolist() == ["judge"]
    assert mood.predictions.items.tolist() == [first, second]
    assert read_export(source, question="stars", scale=(1, 5), step=1).annotations.rating.tolist() == [2, 4, 5, 4]


def test_a_page_of_phoenix_is_not_all(tmp_path):
    answer = json.loads((FILES / "phoenix.json").read_text())
    path = tmp_path / "page.json"
    path.write_text(json.dumps({"data": answer["data"][:10], "next_cursor": answer["data"][10]["id"]}))
    with pytest.warns(UserWarning, match=r"page\.json' is one page of the server's answer and ends before the last"):
        assert read_export(path, question="mood").annotations.n_annotations == 3


@pytest.mark.parametrize(
    ("name", "people"),
    [
        ("doccano_spans.zip", ["ann", "bob", "cy"]),
        ("argilla_spans.json", [*USERS, USERS[0][:-1] + "3"]),
        ("argilla_spans_flat.json", [*USERS, USERS[0][:-1] + "3"]),
    ],
)
def test_spans(name, people):
    """By the server of doccano 1.8.4, by argilla 2.8.0; the third person marked nothing."""
    export = read_export(FILES / name)
    spans = Labels.from_spans(export.spans).to_matrix()
    assert spans.to_dict("split")["data"] == [["PER", "PER", "no label"]] * 2
    assert spans.columns.tolist() == people
    assert [item.rpartition(":")[2] for item in spans.index] == ["5-8", "5-8"]
    assert export.annotations.to_matrix().equals(spans)


def test_items_that_only_people_rated_are_items_of_the_models_too():
    rows = [("q", item, name, value) for item, value in (("i", 1), ("j", 3)) for name in "ab"]
    found = Found(answers=rows, outputs=[("M", "i", 2, None)], ratings={"q"})
    export = _export("a tool", found, Wanted(scale=(1, 5), step=1), File(pd.DataFrame({"x": [1]})))
    assert isinstance(export.annotations, Ratings)
    assert export.predictions.items.tolist() == ["i", "j"]
