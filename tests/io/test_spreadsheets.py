"""What spreadsheets write: empty columns and rows, a row of means, several labels in a cell, names of many digits."""

import warnings

import pandas as pd
import pytest

from bayesagree import InputError, Labels, read_annotations, read_predictions
from bayesagree.io import read_export, read_table

ROWS = "item,annotator,label\n1,ann,NA\n1,bob,yes\n2,ann,nan\n2,bob,NA\n"


def written(folder, text, name="table.csv"):
    path = folder / name
    path.write_text(text)
    return path


def test_a_listed_word_for_a_missing_cell_is_a_label(tmp_path):
    path = written(tmp_path, ROWS)
    assert read_annotations(path, labels=["NA", "yes"]).counts().tolist() == [[1, 1], [1, 0]]
    assert read_annotations(path, labels=["NA", "nan", "yes"]).n_annotations == 4
    assert read_annotations(path).n_annotations == 1
    models = written(tmp_path, "item,model,label\n1,A,NA\n2,A,yes\n", "models.csv")
    assert read_predictions(models, labels=["NA", "yes"]).label_index.tolist() == [[0, 1]]


def test_a_workbook_has_the_missing_words_of_a_text(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "labels.xlsx"
    table = pd.DataFrame({"item": [1, 1, 2], "annotator": [*"aba"], "label": ["None", "NA", "n/a"]})
    table.to_excel(path, index=False)
    assert read_table(path)["label"].dropna().tolist() == ["None", "n/a"]
    assert read_annotations(path, labels=["None", "NA", "n/a"]).n_annotations == 3
    table.assign(**{"Unnamed: 3": None}).reindex(range(5)).to_excel(path, index=False)
    assert read_table(path).shape == (3, 3)


def test_columns_without_name_and_cell_and_rows_without_a_cell_are_left_out(tmp_path):
    path = written(tmp_path, "item,annotator,label,,\n1,ann,no,,\n1,bob,,,\n,,,,\n,,,,\n")
    assert read_table(path).shape == (2, 3)
    assert read_annotations(path).to_long().to_numpy().tolist() == [[1, "ann", "no"]]
    title = written(tmp_path, "batch 3,,\nitem,annotator,label\n1,ann,no\n")
    with pytest.raises(InputError, match="2 columns have no name; the first row must name every column"):
        read_annotations(title)
    gap = written(tmp_path, "item,annotator,label\n1,ann,no\n,,\n1,bob,no\n")
    with pytest.raises(InputError, match="row 1: the item is missing"):
        read_annotations(gap)
    noted = written(tmp_path, "item,no,yes,comment\n1,2,3,\n2,1,,\n")
    export = read_export(noted, format="counts")
    assert export.annotations.categories.tolist() == ["no", "yes"]
    assert "not read, since they are no counts: 'comment'" in export.notes


def test_whole_numbers_that_are_one_float_stay_apart(tmp_path):
    path = written(tmp_path, "item,ann,bob\n1,9007199254740993,9007199254740992\n2,,9007199254740993\n")
    assert read_annotations(path, format="wide").categories.tolist() == [2**53, 2**53 + 1]
    with pytest.raises(InputError, match="inexact as floats, beyond 2\\*\\*53"):
        Labels.from_long(pd.DataFrame({"item": [1, 1], "annotator": [*"ab"], "label": [2.0**53, 1]}))


def test_rows_and_columns_that_summarise_are_pointed_out():
    table = pd.DataFrame({"item": ["p", "q", "Mean"], "ann": [1, 2, 1.5], "bob": [3, 4, 3.5], "Total": [4, 6, 5]})
    with pytest.warns(UserWarning) as told:
        read_annotations(table, scale=(1, 6), format="wide")
        read_annotations(pd.DataFrame({"item": [1], "no": [1], "yes": [2], "total": [3]}), format="counts")
    said = " ".join(str(one.message) for one in told)
    assert "label total is named as a summary of the others is" in said
    assert "item Mean is named as a summary of the others is" in said
    assert "annotator Total is named as a summary of the others is" in said


def test_several_labels_in_a_cell_are_pointed_out():
    rows = {"item": [1, 1, 2, 2], "annotator": [*"abab"], "label": ["cat", "dog", "cat;dog", "cat"]}
    with pytest.warns(UserWarning, match=r"'cat;dog' are labels of their own, though they may be several in a cell"):
        read_annotations(pd.DataFrame(rows))
    nested = '{"choices": ["cat", "dog"]}'
    with pytest.warns(UserWarning, match="may be several in a cell"):
        read_annotations(pd.DataFrame(rows | {"label": [nested, "dog", "cat", "cat"]}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_annotations(pd.DataFrame(rows), labels=["cat", "dog", "cat;dog"])
        read_annotations(pd.DataFrame(rows | {"label": ["cat, small", "dog", "dog", "cat, small"]}))


def test_annotators_that_differ_in_case_are_pointed_out_and_merged():
    rows = pd.DataFrame({"item": ["p", "p", "P"], "annotator": ["Ann0", "bob", "ann0"], "label": [*"xyx"]})
    with pytest.warns(UserWarning, match="annotators 'Ann0', 'ann0' differ in case"):
        read_annotations(rows)
    merged = read_annotations(rows, merge_similar=True)
    assert merged.annotators.tolist() == ["Ann0", "bob"]
    assert merged.items.tolist() == ["P", "p"]  # short names of items may differ in case


def test_a_word_for_no_answer_that_no_cell_holds_is_pointed_out(tmp_path):
    path = written(tmp_path, "item,annotator,label\n1,a,-99\n1,b,2\n2,a,\n2,b,2\n")
    with pytest.warns(UserWarning, match=r"no answer is 'zzz', which na_values=\['zzz'\] reads as missing"):
        assert read_annotations(path, na_values=["zzz", "-99", "NA"]).n_annotations == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_annotations(path, na_values=[-99])
