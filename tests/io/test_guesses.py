"""What people's own files hold: columns of unclear roles, words for no answer, misspelt labels, other encodings."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import bayesagree as ba
from bayesagree import read_annotations
from bayesagree.annotations._words import guessed_columns, missing_words, name_key, sides_of, similar
from bayesagree.annotations.missing_predictions import without_missing
from bayesagree.errors import InputError
from bayesagree.io.doors import as_annotations, as_predictions
from bayesagree.io.exports import read_export
from bayesagree.io.formats._found import one_spelling
from bayesagree.io.formats._guess import only_key, vocabulary
from bayesagree.io.predictions import read_outputs


def survey(n_people=40, n_items=12, each=5):
    """Judgments of statements by workers with demographics, as crowdsourcing platforms export them."""
    rng = np.random.default_rng(1)
    rows = [
        (item, f"unit_{person}", int(rng.integers(6)), person % 3)
        for person in range(n_people) for item in rng.permutation(n_items)[:each].tolist()
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["statement_id", "unit_id", "truth_level", "gender"])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_unclear_roles_are_asked():
    """Items and workers were swapped: ordinal alpha .005 for .311."""
    with pytest.raises(InputError, match="no column 'annotator' for the annotator"):
        read_annotations(survey(), label="truth_level")
    known = {"item": "statement_id", "label": "truth_level"}
    assert read_annotations(survey(), **known, annotator="unit_id").annotators.size == 40
    clear = survey().rename(columns={"unit_id": "worker_id"})
    assert read_annotations(clear, **known).annotators.size == 40


WIDE = pd.DataFrame({
    "Bild": ["a", "b", "c", "d"], "Anna": ["ja", "nein", "ja", "ja"], "Jörg": ["nein", "n/a", "ja", "ja"],
    "Zoë": ["ja", "nein", "nein", "ja"],
})  # fmt: skip


@pytest.mark.filterwarnings("ignore:the table. column 'Bild' is taken for the item:UserWarning")
def test_one_missing_word_drops_no_annotator():
    with pytest.warns(UserWarning, match=r"'n/a' may stand for no answer; na_values=\['n/a'\] reads"):
        kept = read_annotations(WIDE)
    assert kept.annotators.tolist() == ["Anna", "Jörg", "Zoë"]
    assert kept.categories.tolist() == ["ja", "n/a", "nein"]
    read = read_annotations(WIDE, na_values="n/a")
    assert (read.annotators.size, read.n_annotations, read.categories.tolist()) == (3, 11, ["ja", "nein"])
    assert read_annotations(WIDE, labels=["ja", "nein", "n/a"]).n_annotations == 12  # named by the user: no warning
    with pytest.raises(InputError, match="'n/a' is not one of the 2 known"):
        read_annotations(WIDE, labels=["ja", "nein"])
    assert read_annotations(WIDE, labels=["ja", "nein"], na_values=["n/a"]).n_annotations == 11


MIXED = pd.DataFrame({
    "item": [*range(7)], "annotator": "x", "label": ["yes", "Yes", "yes ", "no", "yes", "cafe\u0301", "caf\u00e9"],
})  # fmt: skip


def test_spellings_of_one_label_are_pointed_out_and_merged():
    with pytest.warns(UserWarning, match=r"labels 'Yes', 'yes', 'yes ' differ in case.*\(2 such groups in all\)"):
        apart = read_annotations(MIXED)
    assert apart.categories.size == 6
    merged = read_annotations(MIXED, merge_similar=True)
    assert merged.categories.size == 3
    assert merged.counts().sum(axis=0).tolist() == [2, 1, 4]
    assert read_annotations(MIXED, merge_similar=True, labels=["Yes", "no", "café"]).categories.tolist()[0] == "Yes"
    numbers = MIXED.assign(label=["1", "1.0", "2", "2", "a", "b", "b"])
    assert read_annotations(numbers, merge_similar=True).categories.tolist() == ["1", "2", "a", "b"]


def test_labels_without_annotators(tmp_path):
    table = pd.DataFrame({"item": ["q", "p", "q", "p", "r"], "label": ["a", "b", "a", "a", None]})
    labels = ba.Labels.from_long(table, annotator=None)
    assert not labels.annotators_known
    assert labels.items.tolist() == ["p", "q", "r"]
    assert labels.counts().tolist() == [[1, 1], [2, 0], [0, 0]]
    table.to_csv(tmp_path / "t.csv", index=False)
    assert read_annotations(tmp_path / "t.csv", annotator=None).counts().tolist() == labels.counts().tolist()
    with pytest.raises(InputError, match="no column 'annotator' for the annotator"):
        read_annotations(tmp_path / "t.csv")
    with pytest.raises(InputError, match="annotator=None is for labels"):
        read_annotations(table.assign(rating=1), annotator=None, kind="ratings", scale=(1, 5))
    with pytest.raises(InputError, match="there is no label"):
        ba.Labels.from_long(table.assign(label=None), annotator=None)


TEXT = "item,annotator,label\n1,Jörg,gut\n2,Zoë,schlecht\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("excel", [False, True])
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_encodings_and_the_line_of_excel(tmp_path, encoding, excel, ending):
    import gzip

    content = (f"sep=;\r\n{TEXT.replace(',', ';')}" if excel else TEXT).encode(encoding)
    path = tmp_path / f"t.{ending}"
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = read_annotations(path)
    assert labels.annotators.tolist() == ["Jörg", "Zoë"]
    expected = ["line 3: not UTF-8 text; it is read as Windows text"] if encoding == "cp1252" else []
    expected = [text.replace("3", "2") for text in expected] if not excel else expected
    assert len(caught) == len(expected)
    assert all(text in str(warning.message) for text, warning in zip(expected, caught))


def test_a_vocabulary_shares_more_than_half_of_its_values():
    """Two and three of five values stand in another column too."""
    for other, found in (("pqpqp", []), ("pqrpq", ["a", "b"])):
        assert vocabulary(pd.DataFrame({"a": list("pqrst"), "b": list(other)})) == found


RANKED = pd.DataFrame(
    [(1, "Zo\u00e9", "Mel", 1), (1, "Zo\u00e9", "Ekz", 2), (1, "Zo\u00e9", "Nae", 1), (1, "Zo\u00e9", "War", 2)],
    columns=["item", "annotator", "label", "rank"],
)  # fmt: skip


def test_a_second_ranking_by_one_reader_is_no_tie():
    """It made blocks of two labels each, whatever `duplicates` said."""
    with pytest.raises(InputError, match=r"item 1, annotator 'Zoé': ranked more than once.*duplicates='first'"):
        read_annotations(RANKED)
    assert read_annotations(RANKED, duplicates="first").of_item(0) == [[["Mel"], ["Ekz"]]]
    assert read_annotations(RANKED, duplicates="last").of_item(0) == [[["Nae"], ["War"]]]
    with pytest.warns(UserWarning, match="column 'answer' is taken for the label"):
        renamed = read_annotations(RANKED.rename(columns={"label": "answer"}), duplicates="last")
    assert renamed.of_item(0) == [[["Nae"], ["War"]]]
    tied = read_annotations(RANKED.sort_values("rank", kind="stable"))
    assert tied.of_item(0) == [[["Mel", "Nae"], ["Ekz", "War"]]]


def test_spellings_of_every_kind_and_of_names_are_pointed_out_and_merged():
    """Rankings had none of these checks, and people and items in two forms of Unicode were two."""
    rows = RANKED.assign(label=["Mel", "MEL", "n/a", "War"], rank=[1, 1, 1, 2], item=["q ", "q", "q ", "q "])
    rows["annotator"] = ["Zo\u00e9", "Zoe\u0301", "Zo\u00e9", "Zo\u00e9"]
    with pytest.warns(UserWarning) as said:
        assert read_annotations(rows).items.size == 2
    text = " ".join(str(one.message) for one in said)
    for part in ("'n/a' may stand for no answer", "labels 'MEL', 'Mel' differ", "annotators 'Zo", "items 'q', 'q '"):
        assert part in text
    merged = read_annotations(rows.iloc[1:], na_values=["n/a"], merge_similar=True)
    assert (merged.items.size, merged.annotators.size, merged.categories.size) == (1, 1, 2)


@pytest.mark.filterwarnings("ignore:.*are taken for the places of rankings:UserWarning")
def test_numbered_columns_are_the_places_of_a_ranking():
    """The way clinics keep a differential diagnosis; texts of ties made 187 categories."""
    table = pd.DataFrame({
        "image": [7, 7], "reader": ["a", "b"], "Diagnose 1": ["M", "N / E"], "Diagnose 2": ["E", "M"],
        "Diagnose 3": [None, "W"],
    })  # fmt: skip
    found = read_annotations(table, item="image")
    assert found.of_item(0) == [[["M"], ["E"]], [["E", "N"], ["M"], ["W"]]]
    assert found.annotators.tolist() == ["a", "b"]


def test_rows_of_labels_without_a_model_are_of_one():
    one = ba.read_predictions(pd.DataFrame({"item": ["p", "q"], "label": ["x", "y"]}))
    assert (one.models.tolist(), one.label_index.tolist()) == (["model"], [[0, 1]])


def test_one_probability_of_each_model_in_a_column_with_gaps():
    """The way two classifiers are kept; an item that no model predicts is skipped with those that one lacks."""
    votes = ba.Labels.from_counts(np.ones((5, 2), int), labels=["no", "yes"])
    table = pd.DataFrame({"comment_id": [0, 1, 2, 3], "v1": [0.2, np.nan, 0.9, 0.4], "v2": [0.5, 0.7, 0.1, 0.3]})
    with pytest.warns(UserWarning, match="read as probabilities of the last, 'yes'"):
        models = as_predictions(table, votes, may_lack=True)
    labels, scored = without_missing(votes, models, "skip")
    assert (labels.items.tolist(), scored.models.tolist()) == ([0, 2, 3], ["v1", "v2"])
    np.testing.assert_allclose(scored.scores[:, :, 1], table[["v1", "v2"]].dropna().T)


@pytest.mark.parametrize(
    ("column", "values", "chance_of_yes"),
    [("yes", [0.3, 0.9], [0.3, 0.9]), ("no", [0.3, 0.9], [0.7, 0.1]), ("prob", [0.3, 0.9], [0.3, 0.9])],
)
@pytest.mark.filterwarnings("ignore:pass labels in their order")
def test_a_column_of_one_probability_of_a_model(column, values, chance_of_yes):
    """A column "yes" beside the model was refused, with the advice to read "no" as missing; "no" was taken for yes."""
    votes = ba.Labels.from_counts(np.ones((2, 2), int), labels=["no", "yes"])
    table = pd.DataFrame({"item": [0, 1], column: values})
    for given in (table, table.assign(model="model")):
        models = as_predictions(given, votes).aligned(votes.items, votes.categories)
        np.testing.assert_allclose(models.scores[0, :, 1], chance_of_yes)


def test_columns_named_as_the_labels_are_scores_and_percentages_are_divided():
    votes = ba.Labels.from_counts(np.ones((2, 2), int), labels=["no", "yes"])
    models = as_predictions(pd.DataFrame({"item": [0, 1], "no": [70, 10], "yes": [30, 90]}), votes)
    assert models.hard_labels().tolist() == [[0, 1]]
    with pytest.raises(InputError, match=r"scores sum to 100 .* log_loss needs probabilities; divide those of each"):
        ba.evaluate(votes, models, metrics="log_loss", draws=10, random_seed=1)


def labelled(who, choices):
    value = {"from_name": "q", "type": "choices", "value": {"choices": choices}}
    return {"completed_by": {"id": who, "email": f"{who}@x"}, "result": [value]}


def test_several_choices_are_no_repeats_and_names_of_fields_are_used(tmp_path):
    """`duplicates="last"` kept the last choice of an answer, and the names of the item and annotator were ignored."""
    tasks = [
        {"id": 1, "data": {"comment": "c1"}, "annotations": [labelled(7, ["a"]), labelled(8, ["a", "b"])]},
        {"id": 2, "data": {"comment": "c2"}, "annotations": [labelled(7, ["b"]), labelled(7, ["a"])]},
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    with pytest.raises(InputError, match=r"1 answers choose several labels.* and 1 annotations are repeated"):
        read_annotations(path)
    with pytest.warns(UserWarning, match="1 answers choose several labels: all choices are kept"):
        found = read_annotations(path, duplicates="last", item="comment", annotator="email")
    rows = [["c1", "7@x", "a"], ["c1", "8@x", "a"], ["c1", "8@x", "b"], ["c2", "7@x", "a"]]
    assert found.to_long().astype(str).to_numpy().tolist() == rows
    with pytest.raises(InputError, match="label='answer' is not used: the tool itself names the label"):
        read_annotations(path, label="answer")
    for role, name, known in (("item", "text", "'comment'"), ("annotator", "name", "'id', 'email'")):
        with pytest.raises(
            InputError, match=f"{role}='{name}': a task has no such field of its {role}, it has {known};"
        ):
            read_annotations(path, duplicates="last", **{role: name})
    path.write_text(path.read_text().replace('{"id": 7, "email": "7@x"}', "7"))
    with pytest.raises(InputError, match="annotator='email': a task has no such field of its annotator, it has none"):
        read_annotations(path, duplicates="last", annotator="email")


def test_the_files_of_a_folder_are_read_as_one(tmp_path):
    """Two weeks were two commands, or a table joined by hand."""
    votes = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": [*"abab"], "label": [*"xyxx"]})
    tasks = [
        {"id": n, "data": {}, "annotations": [labelled(7, ["a"]), labelled(8, [k])]} for n, k in ((1, "a"), (2, "b"))
    ]
    writers = {
        "csv": lambda rows, path: rows.to_csv(path, index=False),
        "jsonl": lambda rows, path: rows.to_json(path, orient="records", lines=True),
        "json": lambda rows, path: path.write_text(json.dumps([tasks[i - 1] for i in rows["item"].unique()])),
    }
    for ending, write in writers.items():
        write(votes, whole := tmp_path / f"whole.{ending}")
        (weeks := tmp_path / ending).mkdir()
        (weeks / ".DS_Store").write_text("of a Mac")
        for n, rows in votes.groupby("item"):
            write(rows, weeks / f"week {n}.{ending}")
        joined, once = (read_annotations(path).to_long() for path in (weeks, whole))
        pd.testing.assert_frame_equal(joined, once)
        (weeks / "notes.txt").write_text("hard items")
        with pytest.raises(InputError, match=rf"a folder of 'notes.txt', 'week 1.{ending}', .* of one ending"):
            read_annotations(weeks)
    (some := tmp_path / "some").mkdir()
    for n, more in ((1, ""), (2, ', "note": "hard"')):  # rows of JSON Lines may lack a field
        row = f'{{"item": {n}, "annotator": "a", "label": "x"{more}}}'
        (some / f"week {n}.jsonl").write_text(f"{row}\n")
    assert read_annotations(some).n_annotations == 2
    (models := tmp_path / "models").mkdir()
    for name in "AB":
        pd.DataFrame({"model": name, "item": [1, 2], "label": [*"xy"]}).to_csv(models / f"{name}.csv", index=False)
    assert ba.read_predictions(models).models.tolist() == ["A", "B"]
    pd.DataFrame({"model": "C", "item": [1, 2], "answer": [*"xy"]}).to_csv(models / "C.csv", index=False)
    with pytest.raises(InputError, match=r"C.csv and .*A.csv differ in columns 'answer', 'label'; rename"):
        ba.read_predictions(models)


@pytest.mark.filterwarnings("ignore:.*are taken for the places of rankings:UserWarning")
@pytest.mark.parametrize("second", [["W", "N"], ["E", "M"]], ids=["other labels", "the same labels"])
def test_two_rows_of_one_reader_are_two_rankings(second):
    """Melted by column their ranks rise as those of one ranking with ties."""
    # Parts that are joined have row numbers of their own.
    columns = ["item", "annotator", "dx 1", "dx 2"]
    table = pd.concat([pd.DataFrame([[7, "a", *row]], columns=columns) for row in (["M", "E"], second)])
    with pytest.raises(ba.errors.InputError, match="annotator 'a'"):
        read_annotations(table)
    assert read_annotations(table, duplicates="last").of_item(0) == [[[label] for label in second]]


def test_labels_of_outputs_are_spelled_as_the_annotations():
    long = pd.DataFrame({"model": ["yes"] * 2, "item": ["No", "b"], "label": ["yes ", "NO"]})
    read = read_outputs(long, spelled=["No", "Yes"])
    assert (read.models.tolist(), read.items.tolist()) == (["yes"], ["No", "b"])
    assert read.categories[read.hard_labels()].tolist() == [["Yes", "No"]]
    wide = pd.DataFrame({"item": [1, 2], "YES": [0.2, 0.7], "no": [0.8, 0.3]})
    assert read_outputs(wide, spelled=["No", "Yes"]).categories.tolist() == ["Yes", "No"]
    with pytest.raises(InputError, match="2 columns are spellings of 'Yes'"):
        read_outputs(wide.assign(yes=0.0), spelled=["No", "Yes"])


def test_columns_of_a_model_and_a_label_are_scores_of_the_model():
    """They were four models, each with the probability of the last label."""
    wide = pd.DataFrame(
        {"item": ["p", "q"], "A_no": [0.2, 0.7], "A_yes": [0.8, 0.3], "B_no": [0.4, 1], "B_yes": [0.6, 0]}
    )
    read = read_outputs(wide)
    assert (read.models.tolist(), read.categories.tolist()) == (["A", "B"], ["no", "yes"])
    np.testing.assert_allclose(read.scores, [[[0.2, 0.8], [0.7, 0.3]], [[0.4, 0.6], [1, 0]]], rtol=1e-6)
    votes = ba.Labels.from_counts([[0, 3], [3, 0]], items=["p", "q"], labels=["no", "yes"])
    with pytest.warns(UserWarning, match="numbers are read as probabilities of the last, 'yes'"):
        other = read_outputs(wide.assign(B_yes=0.1), two=["no", "yes"])  # B's do not sum to one
    assert other.models.size == 4 and as_predictions(read, votes) is read


UNUSED = {
    "labels": {"step": 1.0, "question": "q", "kind": "ratings", "rating": "stars", "rank": "place"},
    "ratings": {"labels": [1, 4], "ordered": True, "question": "q", "rank": "place"},
    "rankings": {"step": 1.0, "ordered": False, "question": "q", "rating": "stars"},
    "comparisons": {"scale": (0, 5), "labels": ["A"], "ordered": True, "na_values": ["tie"], "kind": "labels"},
    "counts": {"scale": (0, 5), "item": "nope"},
}


@pytest.mark.parametrize("kind", UNUSED)
def test_an_option_that_would_not_be_used_is_refused(kind):
    long = {"item": ["p", "p", "q", "q"], "annotator": [*"abab"]}
    tables = {
        "labels": long | {"label": [*"xyxx"]},
        "ratings": long | {"rating": [1, 4, 4, 1]},
        "rankings": long | {"label": [*"xyyx"], "rank": [1] * 4},
        "comparisons": {"left": [*"ABA"], "right": [*"BCC"], "winner": ["left", "tie", "right"]},
        "counts": {"item": [1, 2], "x": [1, 2], "y": [3, 0]},
    }
    table, how = pd.DataFrame(tables[kind]), {"ratings": {"scale": (1, 4), "step": 1}, "counts": {"format": "counts"}}
    assert read_annotations(table, **how.get(kind, {})).kind == ("labels" if kind == "counts" else kind)
    for name, value in UNUSED[kind].items():
        named = "|".join((f"{name}=", f"no column '{value}'", "the scale of the ratings is not known"))
        with pytest.raises(InputError, match=named):
            read_annotations(table, **how.get(kind, {}) | {name: value})


@pytest.mark.parametrize("name", ["gold", "Ground truth", "true_label", "adjudicated"])
def test_a_column_named_as_the_truth_is_pointed_out(tmp_path, name):
    path = tmp_path / "wide.csv"
    pd.DataFrame({"item": [1, 2, 3], "a": list("xyx"), "b": list("xyy"), name: list("xyx")}).to_csv(path, index=False)
    with pytest.warns(UserWarning, match=f"annotator {name} is named as the truth"):
        read_annotations(path)
    with pytest.warns(UserWarning, match=f"model {name} is named as the truth"):
        read_outputs(path)


def test_predictions_of_another_scale_are_pointed_out():
    ratings = ba.Ratings.from_matrix([[1, 2], [4, 5], [3, 3]], scale=(1, 5))
    models = pd.DataFrame({"item": [0, 1, 2], "near": [0.5, 5.9, 3.0], "of a hundred": [20.0, 90.0, 55.0]})
    with pytest.warns(UserWarning, match=r"'of a hundred': predictions such as 20 are far from the scale .*1.*5"):
        ba.evaluate(ratings, models, random_seed=1)


@pytest.mark.parametrize(("columns", "roles", "found"), [
    (["Task ID", "Worker_Id", "Answer"], {"item": "item", "annotator": "annotator", "label": "label"},
     ["Task ID", "Worker_Id", "Answer"]),
    (["text", "text_id"], {"item": "item"}, ["text_id"]),  # a text has an id beside it
    (["text", "image"], {"item": "item"}, ["item"]),  # none of them is named so
    (["task", "item"], {"item": "item"}, ["item"]),
    (["task"], {"item": "unit"}, ["unit"]),  # another name was asked for
    (["task"], {"item": None}, [None]),
    (["judge", "score"], {"annotator": "annotator", "rating": "rating"}, ["judge", "score"]),
    (["choice"], {"label": "label", "rating": "rating"}, ["choice", "rating"]),
])  # fmt: skip
def test_a_column_is_taken_where_one_name_fits(columns, roles, found):
    said = []
    assert guessed_columns(columns, said.append, **roles) == found
    taken = [f"column {name!r} is taken for the {role}" for role, name in zip(roles, found) if name != roles[role]]
    assert said == ["; ".join(taken)] * bool(taken)


def test_spellings_of_a_label_are_those_that_a_reader_would_call_one():
    assert similar(["Yes ", "yes", "no", 1, "1", "1.0", "NO"]) == [["Yes ", "yes"], ["no", "NO"], ["1", "1.0"]]
    assert similar(["Ann", "ann", " Ann"], name_key) == [["Ann", " Ann"]]  # people may differ in case
    assert one_spelling(["b", "B", "B", "a"]) == {"b": "B", "B": "B"}
    assert one_spelling(["b", "B"]) == {"b": "B", "B": "B"}  # as often: the first in order
    assert one_spelling(["B", "B"], labels=["b"]) == {"b": "b", "B": "b"}
    assert missing_words(["N/A", " none ", -99, "no", 9, "-"]) == ["N/A", " none ", -99, "-"]
    assert sides_of(["winner", "model_b", "model_a"]) == ("model_a", "model_b") and sides_of(["left"]) is None


@pytest.mark.parametrize(("table", "options", "message"), [
    ({"item": [1, 1], "label": ["x", "y"]}, {"probabilities": True}, "are given twice"),
    ({"model": ["A", "B"], "item": [1, 1], "label": ["x", None]}, {}, "model 'B' has no label; hard labels and"),
    ({"model": ["A"], "item": [1]}, {}, r"no column for the labels \(there are none\); the table has 'model', 'item'"),
    ({"model": ["A"], "item": [1], "x": [0.5], "y": [0.5]}, {"labels": ["x", "z"]}, "no column for the labels 'z'"),
    ({"model": ["A"], "item": [1], "Yes": [1], "yes ": [0]}, {"spelled": ["yes"]}, "2 columns are spellings of 'yes'"),
])  # fmt: skip
def test_predictions_that_are_not_clear(table, options, message):
    with pytest.raises(InputError, match=message):
        read_outputs(pd.DataFrame(table), **options)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_cells_tell_what_columns_of_predictions_hold():
    """Scores of one model sum to one or are labels that are named; else probabilities of the last label of two."""
    items = {"item": [1, 2]}
    one = read_outputs(pd.DataFrame(items | {"x": [0.25, 0.5], "y": [0.75, 0.5]}))
    assert (one.models.tolist(), one.categories.tolist()) == (["model"], ["x", "y"])
    apart = read_outputs(pd.DataFrame(items | {"x": [0.25, 0.5], "y": [0.5, 0.25]}), two=["no", "yes"])
    assert (apart.models.tolist(), apart.categories.tolist()) == (["x", "y"], ["no", "yes"])
    assert apart.scores[:, :, 1].tolist() == [[0.25, 0.5], [0.5, 0.25]]
    logits = read_outputs(pd.DataFrame(items | {"x": [-2.5, 0.5], "y": [3.0, 0.25]}), labels=["y", "x"])
    assert (logits.models.tolist(), logits.scores.tolist()) == (["model"], [[[3.0, -2.5], [0.25, 0.5]]])
    whole = read_outputs(pd.DataFrame(items | {"x": [1, 0], "y": [0, 1]}).assign(model="A"))
    assert whole.categories.tolist() == ["x", "y"] and whole.hard_labels().tolist() == [[0, 1]]
    codes = read_outputs(pd.DataFrame({"model": ["A"], "item": [1], "1": [0.3], "0": [0.7]}))
    assert codes.categories.tolist() == [1, 0]
    joined = pd.DataFrame(items | {"A_x": [0.2, 0.4], "A_y": [0.8, 0.6], "B_x": [1.0, 0.5], "B_y": [0.0, 0.5]})
    both = read_outputs(joined)
    assert (both.models.tolist(), both.categories.tolist()) == (["A", "B"], ["x", "y"])
    assert both.scores[:, :, 1].tolist() == [[0.8, 0.6], [0.0, 0.5]]
    runs = read_outputs(pd.DataFrame({"model": ["A", "A"], "item": [1, 2], "label": [["x", "y"], ["y", "y"]]}))
    assert (runs.models.size, runs.model_names.tolist()) == (2, ["A"])
    levels = {"model": ["A"], "item": [1], "0.1": [1.0], "0.9": [5.0]}
    assert read_outputs(pd.DataFrame(levels), numbers=True).levels.tolist() == [0.1, 0.9]
    samples = {"model": ["A"], "item": [1], "s1": [1.0], "s2": [5.0]}
    assert read_outputs(pd.DataFrame(samples), numbers=True).levels.tolist() == [0.25, 0.75]


def test_options_of_reading_do_not_go_with_what_is_read_already():
    rated = ba.Ratings.from_matrix([[1, 2]], scale=(1, 3))
    with pytest.raises(InputError, match="scale= reads a table or a file; ratings= is Ratings already"):
        as_annotations(rated, (ba.Ratings,), "ratings", scale=(1, 3))
    assert as_annotations(rated, (ba.Ratings,), "ratings", scale=None) is rated
    table = pd.DataFrame({"item": [1, 1], "annotator": ["a", "b"], "rating": [1.5, 2]})
    assert as_annotations(table, (ba.Ratings,), "ratings", scale=(1, 3)).rating.tolist() == [1.5, 2]
    with pytest.raises(InputError, match=r"; read_annotations takes these options, and ratings= its result$"):
        as_annotations(table, (ba.Ratings,), "ratings")
    gap = pd.DataFrame({"model": ["A", "A"], "item": [0, 1], "x": [0.5, np.nan], "y": [0.5, np.nan]})
    with pytest.raises(InputError, match="model 'A' has no prediction for 1 of 2 items: 1"):
        as_predictions(gap)
    assert as_predictions(gap, may_lack=True).lacking().tolist() == [[False, True]] and as_predictions(None) is None


@pytest.mark.parametrize(("columns", "key"), [
    ({"a": [1, 1], "b": [1, 2]}, "b"), ({"a": ["x", None], "b": [*"xy"]}, "b"), ({"a": [0.5, 1.5], "b": [1, 2]}, "b"),
    ({"a": [["x"], ["y"]], "b": [1, 2]}, "b"), ({"a": [1, 2], "b": [1, 2]}, "a"), ({"a": [1, 1]}, None),
])  # fmt: skip
def test_items_are_named_by_the_first_column_that_names_every_row_once(columns, key):
    """Decimal numbers are scores, and lists name nothing."""
    assert only_key(pd.DataFrame(columns)) == key


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("columns", "options", "models", "labels"), [
    ({"x": [1, 0], "y": [0, 1]}, {}, None, None),  # one of each row: scores of a model without a name
    ({"x": [0.5, 1.5], "y": [2.5, 0.5]}, {}, None, None),  # no probabilities
    ({"x": [1, 1], "y": [0, 1]}, {"labels": ["y", "x"]}, ["model"], ["y", "x"]),
    ({"x": [1, 1], "y": [0, 1]}, {}, ["x", "y"], [0, 1]),  # codes of labels
    ({"x": [1.0, np.nan], "y": [1, 2]}, {}, ["x", "y"], [1, 2]),
    ({"x": ["a", "b"], "y": ["b", "b"]}, {}, ["x", "y"], ["a", "b"]),
    ({"x": [0.0, 0.5], "y": [1.0, 0.25]}, {"two": ["no", "yes"]}, ["x", "y"], ["no", "yes"]),
    ({"score": [0.0, 0.5]}, {"two": ["no", "yes"]}, ["score"], ["no", "yes"]),
])  # fmt: skip
def test_columns_are_models_or_the_labels_of_one(columns, options, models, labels):
    table = pd.DataFrame({"item": ["p", "q"], **columns})
    if models is None:
        with pytest.raises(InputError, match="read as scores, one column a label: no column 'model' for the model"):
            read_outputs(table, **options)
        table["model"], models, labels = "A", ["A"], options.get("labels", ["x", "y"])
    read = read_outputs(table, **options)
    assert (read.models.tolist(), read.categories.tolist()) == (models, labels)
    assert read.items.tolist() == ["p", "q"]


@pytest.mark.parametrize(("names", "rows", "models", "labels"), [
    (["A_x", "A_y", "B_x", "B_y"], [[0.25, 0.75, 1.0, 0.0]], ["A", "B"], ["x", "y"]),
    (["A_x", "A_y", "B_x", "B_y"], [[0.25, 0.5, 1.0, 0.0]], ["A_x", "A_y", "B_x", "B_y"], [0, 1]),  # do not sum to one
    (["A_x", "A_y", "A_z"], [[0.25, 0.5, 0.25]], ["model"], ["A_x", "A_y", "A_z"]),  # of one model
    (["A_1_x", "A_1_y", "B_1_x", "B_1_y"], [[0.25, 0.75, 1.0, 0.0]], ["A_1", "B_1"], ["x", "y"]),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_columns_of_every_model_and_label_are_scores_that_sum_to_one(names, rows, models, labels):
    read = read_outputs(pd.DataFrame(rows, columns=names).assign(item="p"))
    assert (read.models.tolist(), read.categories.tolist()) == (models, labels)


@pytest.mark.parametrize("name", ["scores", "probabilities", "label"])
def test_objects_of_scores_are_scores_of_labels(tmp_path, name):
    path = tmp_path / "models.jsonl"
    rows = [{"model": "m", "item": k, name: {"no": 0.9 - 0.8 * (k % 2), "yes": 0.1 + 0.8 * (k % 2)}} for k in range(4)]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = ba.read_predictions(path)
    np.testing.assert_allclose(found.scores[0, :, 1], [0.1, 0.9, 0.1, 0.9])
    assert (found.categories.tolist(), found.runs) == (["no", "yes"], None)


@pytest.mark.parametrize("command", [["audit"], ["evaluate", "--missing", "skip"], ["next"]])
def test_items_of_which_none_is_in_both_files_are_named(run, tmp_path, command):
    """A spreadsheet has taken the zeros of the names away."""
    (tmp_path / "labels.csv").write_text("item,annotator,label\n01,x,a\n01,y,a\n02,x,b\n02,y,b\n")
    (tmp_path / "models.csv").write_text("model,item,label\nm,1,a\nm,2,b\n")
    files = [str(tmp_path / name) for name in ("labels.csv", "models.csv")]
    done = run(command[0], *files, *command[1:])
    assert "no item of the predictions, 1, 2, is one of the annotations', '01', '02'" in done.stderr


def test_a_column_of_counts_is_the_number_of_votes(tmp_path):
    path = tmp_path / "counted.csv"
    path.write_text("item,label,count\n1,a,9\n1,b,1\n2,a,0\n2,b,7\n")
    read = read_export(path, annotator=None)
    assert read.annotations.counts().tolist() == [[9, 1], [0, 7]]
    assert "column 'count' is taken for the number of votes" in " ".join(read.notes)
    path.write_text("item,label,count\n1,a,9\n1,b,1.5\n")
    with pytest.raises(InputError, match=r"row 1, column 'count': 1.5 is no number of votes"):
        ba.read_annotations(path, annotator=None)


def test_names_on_several_levels_of_an_index_are_columns():
    table = pd.DataFrame({"item": [1, 1, 2], "annotator": list("aba"), "label": list("xyx")})
    assert read_annotations(table.set_index(["item", "annotator"])).to_long().equals(read_annotations(table).to_long())
    said = pd.DataFrame({"model": ["m", "m"], "item": [1, 2], "label": ["x", "y"]}).set_index(["model", "item"])
    assert read_outputs(said).models.tolist() == ["m"]


def test_an_index_named_by_a_number_is_a_column() -> None:
    table = pd.DataFrame({"who": list("ab"), "label": list("xy")}, index=pd.Index([7, 8], name=0))
    assert read_annotations(table, item="0", annotator="who").items.tolist() == [7, 8]
