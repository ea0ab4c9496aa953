"""Exports of tools: files built from the published schema of each (its version stands there), read as they are.

The rows are written by hand, so that counts and names below are known without the reader.
"""

import json
import zipfile

import pandas as pd
import pytest

from bayesagree import read_annotations, read_predictions
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError
from bayesagree.io import read_export


def choice(who, label, **more):
    region = {"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": [label]}}
    return {"completed_by": who, "was_cancelled": False, "ground_truth": False, "result": [region]} | more


LABEL_STUDIO = [  # 1.13
    {
        "id": 1,
        "data": {"text": "a"},
        "annotations": [
            choice(7, "glad"),
            choice({"id": 8, "email": "b@c"}, "sad"),
            choice(9, "sad", was_cancelled=True),
        ],
        "predictions": [{"model_version": "m1", "score": 0.9, "result": choice(0, "glad")["result"]}],
    },
    {
        "id": 2,
        "data": {"text": "b"},
        "annotations": [choice(7, "sad", ground_truth=True), choice(8, "sad", result=[])],
        "predictions": [{"model_version": "m1", "score": 0.4, "result": choice(0, "sad")["result"]}],
    },
]
PROMPTFOO = {  # written by promptfoo 0.118.0, `eval` with the provider echo, less costs and settings
    "evalId": "eval", "config": {}, "shareableUrl": None, "metadata": {}, "results": {
        "version": 3, "prompts": [], "stats": {}, "results": [
            {"promptIdx": 0, "testIdx": k, "success": False, "score": 0.5, "vars": {"q": output}, "failureReason": 1,
             "provider": {"id": "echo", "label": ""}, "response": {"output": output},
             "error": f'Expected output to contain "{other}"',
             "gradingResult": {"pass": False, "score": 0.5, "assertion": None, "componentResults": [
                 {"pass": word in output, "score": 1, "assertion": {"type": "contains", "value": word}}
                 for word in ("yes", "maybe")]}}
            for k, (output, other) in enumerate([("yes or no", "maybe"), ("maybe", "yes")])]}
}  # fmt: skip


def write(path, content):
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in content))
    else:
        path.write_text(json.dumps(content))
    return path


def left_out(export):
    table = export.contents.query("left_out")
    return dict(zip(table["what"], table["number"]))


def test_label_studio(tmp_path):
    export = read_export(write(tmp_path / "e.json", LABEL_STUDIO))
    assert export.format == "label_studio"
    assert export.annotations.counts().tolist() == [[1, 1], [0, 1]]
    assert set(export.annotations.annotators) == {7, 8}
    assert left_out(export) == {"cancelled annotations": 1, "annotations without an answer to the whole task": 1}
    assert export.gold == {2: "sad"}
    assert export.predictions.hard_labels().tolist() == [[0, 1]]


def test_promptfoo_judges_outputs(tmp_path):
    export = read_export(write(tmp_path / "results.json", PROMPTFOO))
    assert export.annotations.annotators.tolist() == ["contains 1", "contains 2"]
    assert export.annotations.to_matrix().to_dict("index") == {
        "test 0, echo": {"contains 1": "pass", "contains 2": "fail"},
        "test 1, echo": {"contains 1": "fail", "contains 2": "pass"},
    }


def inspect_log(path, compression, epochs=1):
    log = {"version": 2, "status": "success", "eval": {"model": "openai/x", "config": {"epochs": epochs}}}
    samples = [
        {"id": i, "epoch": e + 1, "scores": {
            "judge_a": {"value": "C" if i else "I", "answer": f"{i - e}"}, "judge_b": {"value": "C"},
        }}
        for i in range(3) for e in range(epochs)
    ] + [{"id": 9, "epoch": 1, "error": {"message": "x"}, "scores": {}}]  # fmt: skip
    from backports.zstd import zipfile as with_zstd

    with with_zstd.ZipFile(path, "w", compression) as archive:
        archive.writestr("header.json", json.dumps(log))
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    return path


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, 93])
def test_inspect_logs_of_either_packing(tmp_path, compression):
    export = read_export(inspect_log(tmp_path / "log.eval", compression))
    assert export.format == "inspect"
    assert export.annotations.annotators.tolist() == ["judge_a", "judge_b"]
    assert export.annotations.counts().sum(axis=0).tolist() == [5, 1]
    assert left_out(export) == {"failed samples": 1}


def test_epochs_are_not_more_items_without_a_word(tmp_path):
    path = inspect_log(tmp_path / "log.eval", zipfile.ZIP_DEFLATED, epochs=2)
    export = read_export(path)
    assert export.predictions is None  # answers have other labels and items than verdicts
    answers = read_predictions(path)
    assert answers.model_names.tolist() == ["openai/x"] and answers.runs.names.tolist() == [1, 2]
    assert answers.categories[answers.label_index].tolist() == [["0", "1", "2"], ["-1", "0", "1"]]
    assert export.annotations.items.size == 6
    assert "2 epochs" in export.notes[0]


def test_wide_tables_need_no_melting(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("Image,Ann,Bob,Eve\np1,cat,dog,cat\np2,dog,,dog\n")
    export = read_export(path)
    assert export.format == "wide"
    assert export.annotations.annotators.tolist() == ["Ann", "Bob", "Eve"]
    assert export.annotations.items.tolist() == ["p1", "p2"]
    assert export.annotations.counts().tolist() == [[2, 1], [0, 2]]
    assert export.notes == ("column 'Image' is taken for the item",)


def test_numbers_are_counts_or_ratings_only_when_said(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("item,yes,no\n1,3,0\n2,0,3\n")
    with pytest.raises(InputError, match="format='counts' if they are labels"):
        read_annotations(path)
    assert read_annotations(path, format="counts").counts().tolist() == [[3, 0], [0, 3]]
    ratings = read_annotations(path, scale=(0, 5), step=1)
    assert isinstance(ratings, Ratings)
    assert ratings.annotators.tolist() == ["yes", "no"]


@pytest.mark.filterwarnings("ignore:the table. column 'id' is taken for the item:UserWarning")
@pytest.mark.parametrize("annotators", [None, [["a", "b"], ["b", "c"]]])
def test_lists_in_cells(annotators):
    table = pd.DataFrame({"id": ["x", "y"], "text": ["t", "u"], "annotations": [[1, 0], [1, 1]]})
    if annotators is not None:
        table["annotator_ids"] = annotators
    labels = read_annotations(table)
    assert labels.counts().tolist() == [[1, 1], [0, 2]]
    if annotators is not None:
        assert labels.annotators.tolist() == ["a", "b", "c"]
        with pytest.raises(
            InputError, match="row 0: 2 annotations in 'annotations' and 1 annotators in 'annotator_ids'"
        ):
            read_annotations(table.assign(annotator_ids=[["a"], ["b", "c"]]))


def test_lists_of_a_file_are_written_by_json_or_by_python(tmp_path):
    """Python writes an apostrophe within double quotes, and all else within single ones."""
    cells = ["['a', 'b']", '["a", "a"]', """['a', "it's"]""", '["it\'s", "a"]']
    pd.DataFrame({"item": range(4), "annotations": cells}).to_csv(path := tmp_path / "lists.csv", index=False)
    with pytest.raises(InputError, match="is not a list; every cell of the column must be one"):
        read_annotations(path)
    pd.DataFrame({"item": range(3), "annotations": [*cells[:2], cells[3]]}).to_csv(path, index=False)
    with pytest.warns(UserWarning, match="no column names the annotators"):
        labels = read_annotations(path, labels=["a", "b", "it's"])
    assert labels.counts().tolist() == [[1, 1, 0], [2, 0, 0], [1, 0, 1]]


def test_texts_beside_labels_are_not_annotators(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("item,text,answer\n1,good day,pos\n2,bad day,neg\n")
    with pytest.raises(InputError, match="no column 'annotator'"):
        read_annotations(path)


def test_a_format_of_another_package(monkeypatch, tmp_path):
    from bayesagree.io.formats import registry
    from bayesagree.io.formats._found import Found

    class Point:
        @staticmethod
        def load():
            answers = [("q", 1, "a", "x"), ("q", 1, "b", "y")]
            return registry.Format("mine", "Mine", lambda f: "mine" in f.fields, lambda f, question: Found(answers))

    monkeypatch.setattr(registry, "entry_points", lambda group: [Point])
    monkeypatch.setattr(registry, "_of_others", registry._of_others.__wrapped__)
    path = tmp_path / "t.csv"
    path.write_text("mine\n1\n")
    assert read_annotations(path).counts().tolist() == [[1, 1]]


def test_lists_of_any_name():
    listed = pd.DataFrame({"uid": ["a", "b"], "annotator_labels": [["e", "n"], ["n", "n"]], "text": ["x", "y"]})
    assert read_export(listed).annotations.counts().tolist() == [[1, 1], [0, 2]]
