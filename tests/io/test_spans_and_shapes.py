"""Spans, shapes of Phoenix and Argilla, CoNLL, CVAT and decimal commas, as the tools write them."""

import json
import zipfile

import pytest

from bayesagree import InputError, Labels, Ratings, read_annotations
from bayesagree.io import read_export

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

# Written by label-studio-sdk 2.1.2 (Converter, CONLL2003) from the annotations of two people.
CONLL = {
    "ann": """-DOCSTART- -X- O
Ada -X- _ B-PER
Lovelace -X- _ I-PER
met -X- _ O
Charles -X- _ B-PER
Babbage -X- _ I-PER

He -X- _ O
worked -X- _ O
at -X- _ O
Cambridge -X- _ B-ORG
University -X- _ I-ORG

""",
    "bob": """-DOCSTART- -X- O
Ada -X- _ B-PER
Lovelace -X- _ O
met -X- _ O
Charles -X- _ B-PER
Babbage -X- _ I-PER

He -X- _ O
worked -X- _ O
at -X- _ O
Cambridge -X- _ O
University -X- _ O

""",
}
# As CVAT and datumaro 1.13.12 (export "cvat") write it, less the labels.
CVAT = """<?xml version="1.0" encoding="utf-8"?>
<annotations><version>1.1</version><meta><job><id>3</id>{assignee}</job></meta>
<image id="0" name="a.png" width="4" height="4"><tag label="{first}" source="manual"></tag></image>
<image id="1" name="b.png" width="4" height="4"><box label="cat" xtl="0" ytl="0" xbr="1" ybr="1"></box></image>
</annotations>"""


def archive(path, members):
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in members.items():
            packed.writestr(name, text)
    return path


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


def test_conll(tmp_path):
    export = read_export(archive(tmp_path / "ner.zip", {f"{who}.conll": text for who, text in CONLL.items()}))
    assert export.format == "conll"
    assert export.annotations.to_matrix().to_dict("index") == {
        "sentence 1:0-2": {"ann": "PER", "bob": "PER"},
        "sentence 1:3-5": {"ann": "PER", "bob": "PER"},
        "sentence 2:3-5": {"ann": "ORG", "bob": "no label"},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CONLL["bob"].replace("worked", "lived"), r"sentence 2 of bob\.conll has other tokens than that of ann\.conll"),
        (CONLL["bob"] + "One -X- _ O\n", r"sentence 3 of bob\.conll has other tokens than that of ann\.conll"),
        (CONLL["bob"].replace("met -X- _ O", "met -X- _ PER"), r"bob\.conll, line 4: .*expected a token and a tag"),
    ],
)
def test_conll_of_other_tokens_or_tags(tmp_path, text, message):
    path = archive(tmp_path / "ner.zip", {"ann.conll": CONLL["ann"], "bob.conll": text})
    with pytest.raises(InputError, match=message):
        read_export(path)


def test_cvat(tmp_path):
    known = "<assignee><username>ann</username></assignee>"
    members = {"1.xml": CVAT.format(assignee=known, first="cat"), "bob.xml": CVAT.format(assignee="", first="dog")}
    export = read_export(archive(tmp_path / "jobs.zip", members))
    assert export.format == "cvat"
    assert export.annotations.to_matrix().to_dict("index") == {"a.png": {"ann": "cat", "bob": "dog"}}
    left = dict(export.contents.query("left_out")[["what", "number"]].values.tolist())
    assert left == {"boxes and other shapes": 2, "images without a tag": 2}
    with pytest.raises(InputError, match=r"x\.xml: not XML"):
        read_export(archive(tmp_path / "broken.zip", {"x.xml": "<annotations>"}))


def test_decimal_commas_where_semicolons_separate(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("item;annotator;rating\nx;ann;1,5\nx;bob;2\ny;ann;3,25\n")
    ratings = read_annotations(path, scale=(1, 5))
    assert isinstance(ratings, Ratings)
    assert ratings.rating.tolist() == [1.5, 2.0, 3.25]
    path.write_text("item;annotator;label\nx;ann;1,5\nx;bob;a\n")
    labels = read_annotations(path)
    assert isinstance(labels, Labels)
    assert labels.categories.tolist() == ["1,5", "a"]
