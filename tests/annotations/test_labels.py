"""Labels hold what came in, in any order and of any library; what breaks a rule is refused by name."""

import pickle
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from annotations._same import same
from hypothesis import given
from hypothesis import strategies as st

from bayesagree.agreement.coefficients import agreement_table
from bayesagree.annotations import Labels, Ratings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, SizeError
from bayesagree.plausibility.informed.covariates import on_items_of
from bayesagree.subjective.disagreement import without_items


def frame(**columns: object) -> pd.DataFrame:
    return pd.DataFrame({"item": [1, 1, 2], "annotator": list("aba"), "label": ["x", "y", "x"]} | columns)


@st.composite
def label_rows(draw: st.DrawFn) -> pd.DataFrame:
    kinds = [st.integers(-9, 9), st.text("abcä ", min_size=1, max_size=3), st.booleans()]
    item, annotator, label = (draw(st.sampled_from(kinds)) for _ in range(3))
    rows = draw(
        st.lists(st.tuples(item, annotator, st.none() | label), min_size=1, max_size=30, unique_by=lambda r: r[:2])
    )
    return pd.DataFrame(rows, columns=["item", "annotator", "label"]).astype(object)


@given(label_rows(), st.randoms(use_true_random=False))
def test_labels_do_not_depend_on_row_order(rows: pd.DataFrame, random: object) -> None:
    if rows["label"].isna().all():
        with pytest.raises(InputError, match="there is no label"):
            Labels.from_long(rows)
        return
    order = list(range(len(rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert same(Labels.from_long(rows), Labels.from_long(rows.iloc[order]))


@given(label_rows())
def test_labels_hold_every_row_once(rows: pd.DataFrame) -> None:
    present = rows.dropna()
    if present.empty:
        return
    labels = Labels.from_long(rows)
    held = {
        (labels.items[i].item(), labels.annotators[a].item(), labels.categories[k].item())
        for i, a, k in zip(labels.item_index, labels.annotator_index, labels.label_index)
    }
    assert held == set(present.itertuples(index=False, name=None))
    assert labels.n_annotations == len(present) == labels.counts().sum()
    assert set(labels.items.tolist()) == set(rows["item"])
    assert not labels.has_repeats


@given(label_rows())
def test_frames_of_every_library_give_the_same_labels(rows: pd.DataFrame) -> None:
    if rows["label"].isna().all():
        return
    columns = {name: [None if pd.isna(v) else v for v in values] for name, values in rows.items()}
    from_pandas = Labels.from_long(rows)
    assert same(from_pandas, Labels.from_long(pl.DataFrame(columns)))
    assert same(from_pandas, Labels.from_long(pl.DataFrame(columns).lazy()))
    assert same(from_pandas, Labels.from_long(pa.table(columns)))
    assert same(from_pandas, Labels.from_long(rows.convert_dtypes()))


@given(st.lists(st.lists(st.none() | st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=8))
def test_matrix_and_long_and_counts_agree(matrix: list[list[int | None]]) -> None:
    if all(cell is None for row in matrix for cell in row):
        return
    names = ["r0", "r1", "r2"]
    labels = Labels.from_matrix(matrix, annotators=names, labels=range(4))
    floats = np.asarray(matrix, dtype=float)
    assert same(labels, Labels.from_matrix(floats, annotators=names, labels=range(4)))
    assert same(labels, Labels.from_matrix(pd.DataFrame(floats, columns=names), labels=range(4)))
    wide = pl.DataFrame(matrix, schema=dict.fromkeys(names, pl.Int64), orient="row")
    assert same(labels, Labels.from_matrix(wide, labels=range(4)))
    long = wide.with_row_index("item").unpivot(names, index="item", variable_name="annotator", value_name="label")
    assert same(labels, Labels.from_long(long, labels=range(4)))
    assert np.array_equal(labels.counts(), [[row.count(k) for k in range(4)] for row in matrix])
    again = Labels.from_counts(labels.counts(), labels=range(4))
    assert np.array_equal(again.counts(), labels.counts())
    assert (again.n_annotations, again.annotators_known) == (labels.n_annotations, False)


def test_integer_labels_with_gaps_stay_integers() -> None:
    for column in ([1, None, 2], np.array([1.0, np.nan, 2.0]), pd.array([1, None, 2], dtype="Int64")):
        labels = Labels.from_long(frame(label=column))
        assert labels.categories.dtype == np.int64
        assert labels.categories.tolist() == [1, 2]


def test_declared_categories_are_the_labels_in_their_order() -> None:
    for ordered in (True, False):
        text = pd.Categorical(["x", "y", "x"], categories=["z", "y", "x"], ordered=ordered)
        assert Labels.from_long(frame(label=text)).labels.tolist() == ["z", "y", "x"]
    numbers = pd.Categorical([2, 1, 2], categories=[3, 2, 1])
    assert Labels.from_long(frame(label=numbers)).labels.tolist() == [3, 2, 1]
    enum = pl.Series(["x", "y", "x"], dtype=pl.Enum(["z", "y", "x"]))
    assert Labels.from_long(pl.DataFrame(frame().to_dict("list")).with_columns(label=enum)).labels.tolist() == [*"zyx"]


def test_unsigned_ids_of_64_bits_do_not_wrap() -> None:
    big = np.array([2**64 - 1, 2**64 - 1, 3], dtype=np.uint64)
    assert Labels.from_long(frame(item=big)).items.tolist() == [3, 2**64 - 1]


def test_duplicates_by_every_rule() -> None:
    rows = frame(annotator=list("aaa"))
    assert Labels.from_long(rows, duplicates="first").label_index.tolist() == [0, 0]
    assert Labels.from_long(rows, duplicates="last").label_index.tolist() == [1, 0]
    kept = Labels.from_long(rows, duplicates="keep")
    assert (kept.has_repeats, kept.n_annotations) == (True, 3)
    ratings = Ratings.from_long(frame(annotator=list("aaa"), rating=[3, 1, 2]), scale=(1, 3), duplicates="keep")
    assert (ratings.has_repeats, ratings.rating.tolist()) == (True, [1, 3, 2])
    # A repeat with a missing label is no repeat.
    assert Labels.from_long(frame(annotator=list("aaa"), label=["x", None, "x"])).n_annotations == 2


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (frame(item=[1, None, 2]), {}, "row 1: the item is missing"),
        (frame(label=[None] * 3), {}, "there is no label: every one is missing"),
        (frame(), {"labels": ["x"]}, "row 1: label 'y' is not one of the 1 known ('x'); add it to labels=[...]"),
        (frame(label=[1, "a", 2]), {}, "label names mix numbers and other kinds (1, 'a', 2); use one kind"),
        (frame(annotator=list("aaa")), {}, "item 1, annotator 'a': annotated more than once (1 repeated rows in all)"),
        (pd.DataFrame([[1, 2, 3]], columns=["item", "label", "label"]), {}, "give every column a name of its own"),
        (np.zeros((2, 3)), {}, "expected a data frame (pandas, polars or pyarrow), got ndarray; arrays go through"),
        ({"item": [1]}, {}, "expected a data frame (pandas, polars or pyarrow), got dict; arrays go through"),
        (frame()[:0], {}, "the table is empty: no row below the columns 'item', 'annotator', 'label'"),
        (frame(label=[{"x"}, "y", "x"]), {}, "row 0: {'x'} is not a label name; use text or numbers"),
        (frame(item=[2**70, 1, 2]), {}, "item names hold whole numbers beyond 64 bits"),
        (frame(label=["x", b"y", "x"]), {}, "label b'y' is bytes, not text; decode it, such as column.str.decode("),
        (frame(label=["x", "y\0", "x"]), {}, "label 'y\\x00' holds a NUL character; remove it from the data"),
        (frame(), {"ordered": True}, "ordered=True: the order of the labels 'x', 'y' is not known; pass labels=[...]"),
        (frame(), {"labels": ["x", None]}, "label names hold a missing one at position 1; name every one"),
        (frame(), {"labels": ["x", "y", "x"]}, "label 'x' is listed twice; every label has one name"),
        (frame(), {"duplicates": "all"}, "duplicates='all' is not one of"),
        (
            frame(),
            {"annotator": "who"},
            "no column 'who' for the annotator; the table has 'item', 'annotator', 'label': name the right one with "
            "annotator=...; annotator=None counts labels whose annotators are unknown",
        ),
    ],
)
def test_labels_from_long_refuses(rows: object, options: dict, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        Labels.from_long(rows, **options)


@pytest.mark.parametrize(
    ("matrix", "axes", "message"),
    [
        ([["a", "b"]], {"items": ["p", "q"]}, "2 item names for 1 items ('p', 'q'); give one name each"),
        ([["a", "b"]], {"annotators": ["x"]}, "1 annotator names for 2 annotators ('x'); give one name each"),
        (["a", "b"], {}, "expected an (item, annotator) matrix with cells, got shape (2,)"),
        ([[], []], {}, "expected an (item, annotator) matrix with cells, got shape (2, 0)"),
        ([["a", {"b"}]], {"annotators": ["x", "y"]}, "item 0, annotator 'y': {'b'} is not a label name"),
        ([["a"], ["b"]], {"labels": ["a"], "items": ["p", "q"]}, "item 'q', annotator 0: label 'b' is not one of"),
    ],
)
def test_labels_from_matrix_refuses(matrix: list, axes: dict, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        Labels.from_matrix(matrix, **axes)


def test_gaps_in_tables_of_other_libraries_leave_whole_numbers() -> None:
    table = pl.DataFrame({"item": [1, 1, 2], "annotator": list("aba"), "label": [3, None, 2**40 + 1]})
    for one in (table, table.lazy(), pa.table(table.to_dict())):
        categories = Labels.from_long(one).categories
        assert categories.tolist() == [3, 2**40 + 1] and categories.dtype.kind == "i"
    declared = table.with_columns(pl.Series("label", ["x", None, "z"], dtype=pl.Enum(["z", "y", "x"])))
    assert Labels.from_long(declared).categories.tolist() == ["z", "y", "x"]


def test_frames_of_numbers_and_of_text_are_the_matrices_that_they_hold() -> None:
    for cells in ([[1, 2], [2, 1]], [[0.5, 1], [1.5, 2]], [["a", "b"], ["b", None]], [[1, "b"], [2, "c"]]):
        table = pd.DataFrame(cells, index=["p", "q"], columns=["ann", "bob"])
        if isinstance(cells[0][0], int) and isinstance(cells[0][1], str):
            with pytest.raises(InputError, match="label names mix numbers and other kinds"):
                Labels.from_matrix(table)
            continue
        read = Labels.from_matrix(table)
        assert same(read, Labels.from_matrix(cells, items=["p", "q"], annotators=["ann", "bob"]))
        unnamed = table.reset_index(drop=True)
        assert same(Labels.from_matrix(unnamed, items=["r", "s"]), replace(read, items=np.array(["r", "s"])))


def test_names_that_are_passed_put_a_named_table_in_order() -> None:
    """They do not rename what the table names: votes would stand under another label, item or annotator."""
    counts = pd.DataFrame({"yes": [3, 0], "no": [1, 2]}, index=["p", "q"])
    turned = Labels.from_counts(counts, items=["q", "p"], labels=["no", "yes"])
    assert turned.items.tolist() == ["q", "p"]
    assert turned.counts().tolist() == [[2, 0], [1, 3]]
    frame = pd.DataFrame({"ann": [1, 2], "bob": [2, 3]}, index=["p", "q"])
    assert Labels.from_matrix(frame, annotators=["bob", "ann"]).to_matrix()["bob"].tolist() == [2, 3]
    assert Ratings.from_matrix(frame, scale=(1, 5), items=["q", "p"]).to_matrix().loc["p"].tolist() == [1, 2]
    with pytest.raises(InputError, match=r"items='r', 's': the table itself names the items 'p', 'q'"):
        Labels.from_matrix(frame, items=["r", "s"])
    with pytest.raises(InputError, match=r"labels='a', 'b': the table itself names the labels 'yes', 'no'"):
        Labels.from_counts(counts, labels=["a", "b"])


def test_a_matrix_has_one_cell_for_an_item_and_an_annotator() -> None:
    twice = Labels.from_long(frame(annotator=list("aaa")), duplicates="keep")
    with pytest.raises(InputError, match=r"item 1, annotator 'a': several annotations for one cell; use to_long\(\)"):
        twice.to_matrix()
    with pytest.raises(InputError, match=r"no column per annotator; use counts\(\)"):
        Labels.from_counts([[1, 2]]).to_matrix()


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1, -1]], "item 0, label 1: count -1 is not a whole number of annotations"),
        ([[1, 0.5]], "item 0, label 1: count 0.5 is not a whole number"),
        ([[0, 0]], "there is no annotation: every count is 0"),
    ],
)
def test_labels_from_counts_refuses(counts: object, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        Labels.from_counts(counts)


GRADES = ["mild", "severe", "critical"]
GRADED = Labels.from_matrix([["mild", "severe"], ["critical", None], ["severe", "severe"]], labels=GRADES, ordered=True)


def test_an_order_is_stated_or_that_of_numbers():
    assert GRADED.ordered and GRADED.has_order and GRADED.level == "ordinal"
    assert "ordered categories 'mild', 'severe', 'critical'" in repr(GRADED)
    assert "<th>ordered categories</th>" in GRADED._repr_html_()
    numbers = Labels.from_long(frame(label=[2, 1, 5]))
    assert (numbers.ordered, numbers.has_order, numbers.level) == (None, True, "nominal")
    assert not Labels.from_long(frame(label=[2, 1, 5]), ordered=False).has_order
    assert Labels.from_long(frame(label=[2, 1, 5]), labels=[5, 2, 1]).has_order  # numbers that fall throughout
    assert not Labels.from_long(frame(label=[2, 1, 5]), labels=[2, 5, 1]).has_order
    assert Labels.from_long(frame(label=[2, 1, 5]), labels=[2, 5, 1], ordered=True).has_order
    assert not Labels.from_long(frame()).has_order


def test_columns_of_counts_without_names_are_classes():
    counts = np.array([[3, 0, 1]])
    assert not Labels.from_counts(counts).has_order
    assert Labels.from_counts(counts, ordered=True).has_order
    assert Labels.from_counts(counts, labels=[1, 2, 3]).has_order
    assert Labels.from_counts(pd.DataFrame(counts, columns=[1, 2, 3])).has_order
    assert not Labels.from_counts(counts, labels=GRADES).has_order


def test_ordered_categoricals_keep_their_order():
    kind = pd.CategoricalDtype(GRADES, ordered=True)
    column = pd.Series(["severe", "mild", "mild"], dtype=kind)
    assert Labels.from_long(frame(label=column)).ordered
    assert Labels.from_long(frame(label=column), ordered=False).ordered is False
    wide = pd.DataFrame({"a": ["mild", "severe"], "b": ["severe", None]}, dtype=kind)
    found = Labels.from_matrix(wide)
    assert (found.ordered, found.categories.tolist()) == (True, GRADES)
    assert Labels.from_matrix(wide.assign(b=["mild", "mild"])).ordered is None


def test_copies_keep_the_order():
    assert GRADED.select(GRADED.item_index < 2).ordered
    assert same(Labels.from_long(GRADED.to_long()), GRADED)
    assert same(Labels.from_matrix(GRADED.to_matrix(), labels=GRADES, ordered=True), GRADED)
    assert pickle.loads(pickle.dumps(GRADED)).ordered
    assert without_items(GRADED, [0]).ordered
    models = Predictions.from_labels({"A": [*GRADES, "mild"]}, labels=GRADES)
    assert on_items_of(GRADED, models).items.size == 4
    assert on_items_of(GRADED, models).ordered


def test_counts_too_large_for_a_row_each_are_refused():
    counts = Labels.from_counts([[10**9, 1], [3, 10**9]], labels=["a", "b"])
    for use in (counts.row_of_each, lambda: agreement_table(counts, random_seed=1)):
        with pytest.raises(SizeError, match="2,000,000,004 annotations stand in 4 counts"):
            use()


def test_a_number_of_labels_stands_for_their_codes() -> None:
    assert Labels.from_matrix([[0, 2]], labels=4).categories.tolist() == [0, 1, 2, 3]
    assert Predictions.from_labels({"A": [0, 2]}, labels=4).categories.tolist() == [0, 1, 2, 3]
    with pytest.raises(InputError, match="label 2 is not one of the 2 known"):
        Labels.from_matrix([[0, 2]], labels=2)


def test_what_a_mask_hides_is_missing():
    labels = np.ma.masked_equal([[1, 0, 9], [0, 9, 1]], 9)
    assert same(Labels.from_matrix(labels), Labels.from_matrix([[1, 0, None], [0, None, 1]]))
    rated = np.ma.array([[1.0, 5.0], [2.0, 4.0]], mask=[[0, 1], [0, 0]])
    assert Ratings.from_matrix(rated, scale=(1, 5)).rating.tolist() == [1, 2, 4]
