"""Exports of tools: files built from the published schema of each (its version stands there), read as they are.

The rows are written by hand, so that counts and names below are known without the reader.
"""

import json
import re
import zipfile

import numpy as np
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


def asked(table, message, **options):
    with pytest.raises(InputError, match=re.escape(message)):
        read_annotations(table, **options)


ROWS = pd.DataFrame({"item": [1, 1, 2], "annotator": [*"aba"], "label": [*"xyx"]})


def test_tables_that_hold_no_counts_lists_or_places():
    asked(ROWS[["annotator", "label"]], "no column holds counts; the table has 'annotator', 'label'", format="counts")
    asked(ROWS, "no column holds lists; the table has 'item', 'annotator', 'label'", format="lists")
    asked(ROWS, "no columns end in 1, 2, ...; the table has 'item', 'annotator', 'label'", format="places")
    asked(ROWS, "has the columns 'item', 'annotator', 'label', and no column 'stars'", rating="stars")
    asked(ROWS, "annotator=None is for labels; ratings need the column", annotator=None, rating="label", scale=(0, 1))
    asked(ROWS, "kind='spans' is not one of", kind="spans")
    asked(
        ROWS.rename(columns={"label": "text"}), "no label ('label') and no rating ('rating'); name the right one with"
    )
    asked(ROWS, "comparisons are rows of left, right and winner (or model_a, model_b, winner)", kind="comparisons")
    both = ROWS.assign(rating=[1, 2, 3])
    asked(both, "both a label column 'label' and a rating column 'rating'; pass kind='labels' or kind='ratings' with")
    assert read_annotations(both, scale=(1, 3), step=1, kind="ratings").rating.tolist() == [1, 2, 3]
    assert read_annotations(both, kind="labels").categories.tolist() == ["x", "y"]
    wrong = ROWS.assign(label=["x", "y", {"z"}])
    asked(wrong, "the table, read as labels: row 2: {'z'} is not a label name", kind="labels")


def test_columns_that_are_no_counts_are_named():
    table = pd.DataFrame({"item": ["p", "q"], "yes": [2, np.nan], "no": [0, 3], "text": ["good", "bad"]})
    export = read_export(table, format="counts")
    assert export.annotations.counts().tolist() == [[2, 0], [0, 3]]
    assert export.annotations.categories.tolist() == ["yes", "no"]
    assert "not read, since they are no counts: 'text'" in export.notes
    turned = read_annotations(table[["item", "yes", "no"]], format="counts", labels=["no", "yes"])
    assert turned.counts().tolist() == [[0, 2], [3, 0]]
    with pytest.raises(InputError, match="no column holds counts, one for each of the labels 'a', 'b'"):
        read_annotations(table, format="counts", labels=["a", "b"])


def test_columns_of_other_values_are_named_beside_those_of_annotators():
    table = pd.DataFrame({
        "item": range(6), "ann": [*"xyxyxy"], "bob": [*"xxyyxy"], "best 1": [*"abcdef"], "best 2": [*"ghijkl"],
    })  # fmt: skip
    export = read_export(table)
    assert export.annotations.annotators.tolist() == ["ann", "bob"]
    assert "not read, since they share few values with the others: 'best 1', 'best 2'" in export.notes
    assert not [note for note in export.notes if "may be places" in note]  # they are not among those that were read
    numbered = table.rename(columns={"ann": "read 1", "bob": "read 2", "best 1": "text", "best 2": "more"})
    assert "columns 'read 1', 'read 2' may be places of rankings: name the columns of items and annotators" in " ".join(
        read_export(numbered).notes
    )
    alone = read_export(table[["item", "ann", "best 1"]], format="wide").annotations  # the layout is certain
    assert alone.annotators.tolist() == ["ann", "best 1"]
    rated = pd.DataFrame({"item": range(6), "ann": [0.5, 1, 2, 3, 4, 5], "bob": [0, 1, 2, 3, 4, 5]})
    ratings = read_annotations(rated, scale=(0, 5))
    assert (ratings.annotators.tolist(), ratings.step, ratings.rating.max()) == (["ann", "bob"], None, 5)


def test_names_of_lists_decide_between_several():
    """Ratings in lists need a scale, and the list of the annotators is none of answers."""
    table = pd.DataFrame(
        {"item": ["p", "q"], "Ratings": [[1, 2], [3]], "tokens": [["a"], ["b"]], "Workers": [[*"ab"], [*"a"]]}
    )
    read = read_annotations(table, scale=(1, 3), step=1)
    assert (read.kind, read.rating.tolist(), read.annotators.tolist()) == ("ratings", [1, 2, 3], ["a", "b"])
    assert read_export(table).annotations.kind == "labels"
    asked(table.rename(columns={"Ratings": "numbers"}), "no label ('label') and no rating ('rating')")
    arrays = table.assign(Ratings=[np.array([1, 2]), (3,)])
    assert read_export(arrays).annotations.counts().tolist() == [[1, 1, 0], [0, 0, 1]]
    empty = table.assign(Ratings=[[1, 2], []])
    assert read_export(empty).annotations.n_annotations == 2
    nobody = read_export(empty.assign(Workers=[[*"ab"], []]))
    assert (nobody.annotations.n_annotations, left_out(nobody)) == (2, {"items without an annotation": 1})


def test_places_have_ties_and_labels_that_are_numbers():
    table = pd.DataFrame({"case": [1, 1], "annotator": ["a", "b"], "top2": [7, 8], "top1": [8, 7], "note": ["u", "v"]})
    export = read_export(table, item="case", format="places")
    assert export.annotations.of_item(0) == [[[8], [7]], [[7], [8]]]
    assert "columns 'top1', 'top2' are taken for the places of rankings, ' / ' for a tie" in export.notes
    gap = table.rename(columns={"top1": "top3"})  # no first place
    asked(gap, "no columns end in 1, 2, ...", item="case", format="places")


def test_rows_without_an_answer_are_counted():
    table = ROWS.assign(label=["x", None, None])
    assert left_out(read_export(table)) == {"rows without a label": 2}
    rated = ROWS.assign(label=[1, None, 3])
    assert left_out(read_export(rated, rating="label", scale=(1, 3))) == {"rows without a rating": 1}
    assert left_out(read_export(ROWS.assign(rating=[1, None, 3]), kind="labels")) == {}


def test_tables_of_other_libraries_are_read_by_their_own_conversion():
    """A data set of `datasets` has names of columns and no check of its own; what holds no table is refused."""

    class Rows:
        column_names = ("item", "annotator", "label")

        def to_pandas(self):
            return ROWS

    assert read_annotations(Rows()).to_long().equals(read_annotations(ROWS).to_long())
    asked([1, 2], "expected a path or a table, got list; a table has rows and named columns")
    named = ROWS.groupby("item").first().rename_axis("item")  # the index names the items
    assert read_annotations(named).items.tolist() == [1, 2]


def test_inspect_scores_of_several_questions_judges_and_none(tmp_path):
    """An object holds a value for each question, a list one for each judge; a score that is NaN is none."""
    values = [{"tone": "good", "facts": "bad"}, ["C", "I"], float("nan"), "C"]
    samples = [{"id": k, "scores": {"s": {"value": value}}} for k, value in enumerate(values)]
    log = {"version": 2, "status": "success", "eval": {"model": "m"}, "samples": [*samples, {"id": 4}]}
    path = write(tmp_path / "log.json", log)
    tone = read_export(path, format="inspect", question="tone")
    assert tone.annotations.to_long().to_numpy().tolist() == [[0, "s", "good"]]
    score = read_export(path, format="inspect", question="score")
    assert score.annotations.to_matrix().to_dict("index") == {
        1: {"s": None, "s 1": "C", "s 2": "I"}, 3: {"s": "C", "s 1": None, "s 2": None},
    }  # fmt: skip
    assert left_out(score)["samples that were not scored"] == 1
    rows = [{"id": k, "scores": {"s": {"value": value}}} for k, value in enumerate((0.25, 1.0, float("nan")))]
    rated = read_export(write(path, log | {"samples": rows}), format="inspect", scale=(0, 1))
    assert rated.annotations.rating.tolist() == [0.25, 1.0] and left_out(rated) == {"samples that were not scored": 1}


def test_a_log_of_inspect_is_read_from_its_summaries_and_its_journal(tmp_path):
    log = {"version": 2, "eval": {"model": "m"}}
    rows = [{"id": k, "epoch": 1, "scores": {"judge": {"value": value}}} for k, value in enumerate("CI")]
    for header, members in (
        ("header.json", {"summaries.json": rows, "samples/0.json": {"id": 9}}),
        ("_journal/start.json", {f"samples/{k}.json": row for k, row in enumerate(rows)}),
    ):
        with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
            for name, content in {header: log, "samples/notes.txt": {}, **members}.items():
                archive.writestr(name, json.dumps(content))
        read = read_export(tmp_path / "log.eval").annotations
        assert read.to_long().to_numpy().tolist() == [[0, "judge", "C"], [1, "judge", "I"]]


def test_filters_of_lm_eval_are_chosen_by_name(tmp_path):
    """Each filter has a response of its own to the document; without a text as target choices are numbers."""
    row = {"doc_id": 3, "target": 1, "arguments": {"a": {"arg_1": "no"}, "b": {"arg_1": "yes"}}}
    choices = row | {"filtered_resps": [[-2.0, False], [-1.0, True]], "filter": "none"}
    strict = row | {"filtered_resps": [" 0 "], "filter": "strict"}
    folder = tmp_path / "llama"
    folder.mkdir()
    (folder / "samples.jsonl").write_text("".join(json.dumps(one) + "\n" for one in (choices, strict)))
    with pytest.raises(InputError, match=r"holds the filters 'none', 'strict'; choose one with question="):
        read_export(folder / "samples.jsonl")
    read = read_export(folder / "samples.jsonl", question="none")
    assert read.predictions.categories.tolist() == [0, 1] and read.predictions.models.tolist() == ["llama"]
    assert read.predictions.scores.tolist() == [[[-2.0, -1.0]]] and read.gold == {3: 1}
    assert left_out(read) == {"responses of another filter than 'none'": 1}
    text = read_export(folder / "samples.jsonl", question="strict")
    assert text.predictions.categories.tolist() == ["0"]
    assert "the model is 'llama', the folder of the file: samples do not name it" in text.notes


def test_outputs_of_promptfoo_are_named_by_provider_and_prompt(tmp_path):
    said = {"gradingResult": {"componentResults": [{"pass": True, "assertion": {"metric": "tone", "type": "rubric"}}]}}
    results = [
        said | {"testIdx": 0, "provider": {"label": "fast", "id": "x:fast"}, "promptIdx": 1, "success": True},
        said | {"testIdx": 0, "provider": {"id": "x:slow"}, "success": True},
        {"testIdx": 1, "provider": "echo", "success": False, "error": "timeout"},
        {"testIdx": 2, "provider": "echo", "success": False},
    ]
    export = read_export(write(tmp_path / "results.json", {"results": {"results": results}}))
    assert export.annotations.to_long().to_numpy().tolist() == [
        ["test 0, fast, prompt 1", "tone 1", "pass"], ["test 0, x:slow", "tone 1", "pass"],
        ["test 2, echo", "assertion 1", "fail"],
    ]  # fmt: skip
    assert left_out(export) == {"outputs with an error": 1}


def test_formats_that_are_not_known():
    with pytest.raises(
        InputError, match=r"format='excel' is not one of label_studio, .*, long, wide, counts, lists, pl"
    ):
        read_annotations(ROWS, format="excel")
    with pytest.raises(InputError, match="the table holds no outputs of models"):
        read_predictions(ROWS, format="long")


def test_what_a_question_is_not(tmp_path):
    rows = [{"id": k, "scores": {"s": {"value": {"tone": "good", "facts": "bad"}}}} for k in range(2)]
    log = {"version": 2, "status": "success", "eval": {"model": "m"}, "samples": rows}
    path = write(tmp_path / "log.json", log)
    for question, message in (
        (None, "asks 2 questions, 'tone', 'facts'; choose one with question="),
        ("style", "question='style' is not in"),
    ):
        with pytest.raises(InputError, match=message):
            read_export(path, format="inspect", question=question)
    nested = [row | {"scores": {"s": {"value": {"tone": {"deep": 1}}}}} for row in rows]
    with pytest.raises(InputError, match=r"an answer is \{'deep': 1\}, not a label or a number; choose ano"):
        read_export(write(path, log | {"samples": nested}), format="inspect")
    with pytest.raises(InputError, match=r"read as .*: a field is missing or of another kind than this format has"):
        read_export(write(path, log | {"samples": [{"scores": {}}]}), format="inspect")


def test_contents_count_what_was_read_and_what_was_not():
    rows = [(1, "a", "x"), (1, "a", "y"), (1, "b", "x"), (2, "a", None), (2, "b", "y")]
    table = pd.DataFrame(rows, columns=["item", "annotator", "label"])
    export = read_export(table, duplicates="first")
    assert export.contents.to_numpy().tolist() == [
        ["items", 2, False], ["annotations", 3, False], ["rows without a label", 1, True],
        ["repeated annotations of an item by an annotator", 1, True],
    ]  # fmt: skip
    assert export.sentences() == [
        "left out 1 rows without a label", "left out 1 repeated annotations of an item by an annotator"
    ]  # fmt: skip
    asked(ROWS.assign(rating=[1, 2, 3]).drop(columns="label"), "(they are 1 to 3); pass scale=")
    asked(ROWS, "it holds labels, of which step=1.0 says nothing; leave it out", step=1.0)


@pytest.mark.parametrize(("labels", "options", "noted"), [
    ([1, 2, 3], {}, True), ([1, 2, 1], {}, False), ([1, 2, 3], {"kind": "labels"}, False),
    ([1, 2, 3], {"ordered": False}, False), ([*"xyz"], {}, False), ([True, False, True], {}, False),
])  # fmt: skip
def test_three_numbers_as_labels_may_be_ratings(labels, options, noted):
    """Two are codes, and whoever states the kind or the order knows."""
    export = read_export(ROWS.assign(label=labels), **options)
    note = "the labels are numbers, 1 to 3; if they lie on a scale, name its ends with scale=(lowest, highest)"
    assert (note in export.notes) == noted


def test_a_page_of_json_and_files_of_unknown_endings(tmp_path):
    (tmp_path / "page.json").write_text('{"hello": 1}')
    with pytest.raises(InputError, match=r"page\.json' has an unknown format; known are label_studio, .* and tables"):
        read_annotations(tmp_path / "page.json")
    nested = {"A": {"p": "x", "q": "y"}, "B": {"p": "y"}}
    models = read_predictions(write(tmp_path / "labels.json", nested))
    assert models.models.tolist() == ["A", "B"] and models.label_index.tolist() == [[0, 1], [1, -1]]
    for name, content in (("one.csv", "item,annotator,label\n1,a,x\n"), ("two.csv", "item,annotator,answer\n1,b,x\n")):
        (folder := tmp_path / "weeks").mkdir(exist_ok=True)
        (folder / name).write_text(content)
    with pytest.raises(InputError, match=r"two\.csv and .*one\.csv differ in columns 'answer', 'label'; rename them"):
        read_annotations(folder)
    (folder / "two.csv").rename(folder / "two.tsv")
    with pytest.raises(InputError, match=r"weeks' is a folder of 'one\.csv', 'two\.tsv'; its files are read as one if"):
        read_annotations(folder)
