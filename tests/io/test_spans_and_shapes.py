"""Spans, shapes of Phoenix and Argilla and decimal commas, as the tools write them."""

import json

import pytest

from bayesagree import InputError, Labels, Ratings, read_annotations
from bayesagree.io import read_export, read_table

USERS = [f"00000000-0000-0000-0000-00000000000{k}" for k in (1, 2)]

# Written by argilla 2.8.0 (Record.to_dict).
ARGILLA_2 = {
    "id": "r1", "fields": {"text": "x"}, "metadata": {},
    "suggestions": {"mood": {"value": "glad", "score": None, "agent": "m1"}},
    "responses": {"mood": [{"value": "sad", "user_id": USERS[0]}, {"value": "glad", "user_id": USERS[1]}]},
    "vectors": {}, "status": "pending", "_server_id": None,
}  # fmt: skip
# Written by the same (GenericIO.to_list, flatten=True); states are those of responses that no server has.
ARGILLA_2_FLAT = {
    "id": "r1", "status": "pending", "_server_id": None, "text": "x",
    "mood.responses": ["sad", "glad"], "mood.responses.users": USERS, "mood.responses.status": [None, None],
    "mood.suggestion": "glad", "mood.suggestion.score": None, "mood.suggestion.agent": "m1",
}  # fmt: skip
ARGILLA_1 = {
    "external_id": "r1", "fields": {"text": "x"}, "metadata": {},
    "responses": [
        {"user_id": USERS[0], "status": "submitted", "values": {"mood": {"value": "sad"}}},
        {"user_id": USERS[1], "status": "discarded", "values": {"mood": {"value": "glad"}}},
    ],
    "suggestions": [{"question_name": "mood", "value": "glad", "agent": "m1", "type": "model", "score": None}],
}  # fmt: skip


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def marked(export):
    return export.spans.astype(object).where(export.spans.notna(), None).values.tolist()


@pytest.mark.parametrize("record", [ARGILLA_2, ARGILLA_2_FLAT, ARGILLA_1], ids=["2", "2 flat", "1"])
def test_argilla_in_either_version(tmp_path, record):
    path = tmp_path / "records.json"
    path.write_text(json.dumps([record]))
    export = read_export(path)
    assert export.format == "argilla"
    given = dict(zip(export.annotations.annotators.tolist(), export.annotations.to_matrix().iloc[0].tolist()))
    assert given == ({USERS[0]: "sad"} if record is ARGILLA_1 else {USERS[0]: "sad", USERS[1]: "glad"})
    assert export.predictions.models.tolist() == ["m1"]
    assert export.predictions.items.tolist() == ["r1"]


def test_prodigy_views(tmp_path):
    def row(view, answer="accept", who="ann", **fields):
        hashes = {"_input_hash": 1, "_task_hash": 2, "_annotator_id": who, "_view_id": view}
        return {"text": "Ada met Bob", "answer": answer, **hashes, **fields}

    span = {"start": 0, "end": 3, "label": "PER"}
    manual = [
        row("ner_manual", spans=[span]),
        row("ner_manual", who="bob", spans=[]),
        row("ner_manual", "reject", spans=[span]),
    ]
    export = read_export(lines(tmp_path / "manual.jsonl", manual))
    assert marked(export) == [[1, "ann", 0, 3, "PER"], [1, "bob", None, None, None]]
    assert export.contents.query("left_out")[["what", "number"]].values.tolist() == [["rejected spans", 1]]
    proposed = read_export(
        lines(tmp_path / "binary.jsonl", [row("ner", spans=[span]), row("ner", "reject", "bob", spans=[span])])
    )
    assert proposed.spans is None
    assert proposed.annotations.to_matrix().iloc[0].to_dict() == {"ann": "accept", "bob": "reject"}
    blocks = lines(tmp_path / "blocks.jsonl", [row("blocks", spans=[span], accept=["sad"], user_input="why")])
    with pytest.raises(InputError, match="asks 2 questions, 'choice', 'user_input'"):
        read_export(blocks)
    assert read_annotations(blocks, question="choice").categories.tolist() == ["sad"]
    spans = read_export(blocks, question="spans")
    assert (marked(spans), spans.annotations.items.tolist()) == ([[1, "ann", 0, 3, "PER"]], ["1:0-3"])
    boxes = read_export(lines(tmp_path / "boxes.jsonl", [row("image_manual", spans=[{"label": "cat", "points": []}])]))
    assert boxes.annotations.categories.tolist() == ["accept"]
    assert boxes.contents.query("left_out")["what"].tolist() == ["marks in the view 'image_manual'"]


def test_decimal_commas_where_semicolons_separate(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("item;annotator;rating\nx;ann;1,5\nx;bob;2\ny;ann;3,25\n")
    with pytest.warns(UserWarning, match="column 'rating': a comma is read as the decimal mark"):
        ratings = read_annotations(path, scale=(1, 5))
    assert isinstance(ratings, Ratings)
    assert ratings.rating.tolist() == [1.5, 2.0, 3.25]
    path.write_text("item;A\nx; 0,75\ny;1,2E-05\n")
    with pytest.warns(UserWarning, match="column 'A': a comma"):
        assert read_table(path)["A"].tolist() == [0.75, 1.2e-05]
    path.write_text("item;annotator;label\nx;ann;1,5\nx;bob;a\n")
    labels = read_annotations(path)
    assert isinstance(labels, Labels)
    assert labels.categories.tolist() == ["1,5", "a"]
