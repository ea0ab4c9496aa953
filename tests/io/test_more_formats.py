"""Files as other programs write them: Label Studio's JSON-MIN, Excel, PrefLib."""

import json

import pandas as pd
import pytest

from bayesagree import InputError, Rankings, read_annotations

# Written by label-studio-sdk 2.1.2 (Converter, JSON_MIN) from two tasks with two annotators each.
JSON_MIN = [
    {"text": "one", "id": 1, "mood": "sad", "stars": [{"rating": 2}], "topics": "a", "annotator": "p7@example.org",
     "annotation_id": 1, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "lead_time": 3.2},
    {"text": "one", "id": 1, "mood": "glad", "stars": [{"rating": 4}], "topics": {"choices": ["a", "b"]},
     "annotator": "p8@example.org", "annotation_id": 2, "created_at": "2026-01-01T00:00:00Z",
     "updated_at": "2026-01-01T00:00:00Z", "lead_time": 3.2},
    {"text": "two", "id": 2, "mood": "glad", "stars": [{"rating": 5}], "topics": "b", "annotator": "p7@example.org",
     "annotation_id": 3, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "lead_time": 3.2},
    {"text": "two", "id": 2, "mood": "glad", "stars": [{"rating": 4}], "topics": "b", "annotator": "p8@example.org",
     "annotation_id": 4, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "lead_time": 3.2},
]  # fmt: skip
TOC = "# TITLE: Council\n# ALTERNATIVE NAME 1: Ada\n# ALTERNATIVE NAME 2: Bo\n# ALTERNATIVE NAME 3: Cy\n"


@pytest.fixture
def minimal(tmp_path):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(JSON_MIN))
    return path


def test_json_min_is_a_table(minimal):
    with pytest.warns(UserWarning, match="column 'id' is taken for the item"):
        mood = read_annotations(minimal, label="mood", kind="labels")
    assert mood.to_matrix().to_dict("index") == {
        1: {"p7@example.org": "sad", "p8@example.org": "glad"},
        2: {"p7@example.org": "glad", "p8@example.org": "glad"},
    }


def test_excel(tmp_path):
    pytest.importorskip("openpyxl")
    table = pd.DataFrame({"item": ["x", "x", "y"], "annotator": ["ann", "bob", "ann"], "label": ["a", "b", None]})
    path = tmp_path / "labels.xlsx"
    table.to_excel(path, index=False)
    labels = read_annotations(path)
    assert labels.to_long()[["item", "annotator", "label"]].values.tolist() == [["x", "ann", "a"], ["x", "bob", "b"]]
    with pd.ExcelWriter(path) as writer:
        table.to_excel(writer, sheet_name="first", index=False)
        table.to_excel(writer, sheet_name="second", index=False)
    with pytest.raises(InputError, match="has 2 sheets with rows, 'first', 'second'; keep one"):
        read_annotations(path)
    path.write_bytes(b"PK\x03\x04 not a workbook")
    with pytest.raises(InputError, match="not a whole Excel file"):
        read_annotations(path)


@pytest.mark.parametrize(
    ("kind", "votes", "expected"),
    [
        ("soc", "1: 1, 2, 3\n1: 3, 1, 2\n", [[["Ada"], ["Bo"], ["Cy"]], [["Cy"], ["Ada"], ["Bo"]]]),
        ("soi", "1: 1, 2\n1: 3\n", [[["Ada"], ["Bo"]], [["Cy"]]]),
        ("toc", "1: 1, {2, 3}\n1: {1, 2}, 3\n", [[["Ada"], ["Bo", "Cy"]], [["Ada", "Bo"], ["Cy"]]]),
        ("toi", "2: 1, {2, 3}\n1: 3\n", [[["Ada"], ["Bo", "Cy"]]] * 2 + [[["Cy"]]]),
        # Categories of a .cat file may be empty.
        ("cat", "2: {1, 2}, {}, 3\n1: 3, {1, 2}, {}\n", [[["Ada", "Bo"], ["Cy"]]] * 2 + [[["Cy"], ["Ada", "Bo"]]]),
    ],
)
def test_preflib(tmp_path, kind, votes, expected):
    """Written by preflibtools 2.0.33 (`OrdinalInstance.write`, `CategoricalInstance.write`)."""
    path = tmp_path / f"votes.{kind}"
    categories = "# CATEGORY NAME 1: Yes\n# CATEGORY NAME 2: Maybe\n# CATEGORY NAME 3: No\n" if kind == "cat" else ""
    path.write_text(f"# FILE NAME: {path.name}\n# DATA TYPE: {kind}\n{categories}{TOC}{votes}")
    rankings = read_annotations(path)
    assert isinstance(rankings, Rankings)
    assert rankings.items.tolist() == ["Council"]
    blocks = rankings.to_long().groupby(["ranking", "rank"])["label"].agg(list)
    assert [ranking.tolist() for _, ranking in blocks.groupby(level=0)] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{TOC}2: 1,4\n", "line 5: '2: 1,4' is no number of voters and their order of alternatives 1, 2, 3"),
        (f"{TOC}x: 1\n", "line 5: 'x: 1' is no number of voters"),
        (TOC, "no vote; a line is a number of voters"),
        (f"{TOC}# ALTERNATIVE NAME 4: Ada\n1: 1\n", "'Ada' is listed twice; every label has one name"),
    ],
)
def test_broken_preflib(tmp_path, text, message):
    path = tmp_path / "votes.soi"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_annotations(path)
