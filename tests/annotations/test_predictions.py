"""Predictions: aligned by name in every layout; what is missing, repeated or no number is refused by name."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bayesagree import read_predictions
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError

ITEMS, LABELS = np.array(["p", "q"]), np.array(["x", "y"])
SCORES = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(1, 4)), elements=st.floats(-9, 9)
)


def named(array: np.ndarray) -> Predictions:
    models = {f"m{m}": scores for m, scores in enumerate(array)}
    items, labels = [f"i{i}" for i in range(array.shape[1])], [f"k{k}" for k in range(array.shape[2])]
    return Predictions.from_scores(models, items=items, labels=labels)


@given(SCORES, st.randoms(use_true_random=False))
def test_scores_follow_their_names_in_any_order(array: np.ndarray, random: object) -> None:
    predictions = named(array)
    frames = {}
    for model, scores in zip(predictions.models, array):
        frame = pd.DataFrame(scores, index=predictions.items, columns=predictions.categories)
        frames[str(model)] = frame.sample(frac=1, random_state=random.randrange(2**32))  # type: ignore[attr-defined]
    shuffled = Predictions.from_scores(frames)
    again = shuffled.aligned(predictions.items, predictions.categories)
    assert np.array_equal(again.scores, array)
    assert np.array_equal(again.hard_labels(), predictions.hard_labels())


@given(SCORES)
def test_long_scores_are_the_same_predictions(array: np.ndarray) -> None:
    predictions = named(array)
    axes = (predictions.models, predictions.items, predictions.categories)
    names = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    long = pd.DataFrame(names, columns=["model", "item", "label"]).assign(score=array.ravel())
    for table in (long, long[::-1], pl.DataFrame(long.to_dict("list")), pa.table(long.to_dict("list"))):
        assert np.array_equal(Predictions.from_long(table, score="score").scores, array)


@given(SCORES)
def test_top_labels_are_sorted_scores_and_ties_fall_in_label_order(array: np.ndarray) -> None:
    predictions = named(np.round(array))
    depth = array.shape[2]
    for scores, order in zip(np.round(array).reshape(-1, depth), predictions.top_labels(depth).reshape(-1, depth)):
        assert order.tolist() == sorted(range(depth), key=lambda k: (-scores[k], k))


@given(st.lists(st.lists(st.none() | st.sampled_from("xyz"), min_size=2, max_size=2), min_size=1, max_size=6))
def test_hard_labels_of_every_layout_agree(rows: list[list[str | None]]) -> None:
    models = {"A": [row[0] for row in rows], "B": [row[1] for row in rows]}
    predictions = Predictions.from_labels(models, labels=[*"xyz"])
    assert [[None if k < 0 else "xyz"[k] for k in row] for row in predictions.label_index] == [*models.values()]
    series = {m: pd.Series(v, dtype=object)[::-1] for m, v in models.items()}
    again = Predictions.from_labels(series, labels=[*"xyz"]).aligned(predictions.items, predictions.categories)
    assert np.array_equal(again.label_index, predictions.label_index)
    long = [(m, i, k) for m, values in models.items() for i, k in enumerate(values)]
    table = pd.DataFrame(long, columns=["model", "item", "label"]).astype({"label": object})
    assert np.array_equal(Predictions.from_long(table, labels=[*"xyz"]).label_index, predictions.label_index)


def test_hard_labels_may_leave_labels_of_the_annotations_unused() -> None:
    aligned = Predictions.from_labels({"A": ["y", None]}, items=ITEMS).aligned(ITEMS[::-1], LABELS)
    assert aligned.label_index.tolist() == [[-1, 1]]


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ({}, {}, "there is no model"),
        ({"A": [1, 2]}, {}, "model 'A': a single score per item is the probability of the positive label"),
        ({"A": [[1, 2]]}, {"items": ["p", "q"]}, "model 'A': 2 item names for 1 items ('p', 'q'); give one"),
        (
            {"A": [[1, np.nan]]},
            {},
            "model 'A', item 0, label 1: score nan is missing or not finite (1 such",
        ),
        ({"A": [["high", 1]]}, {}, "model 'A', item 0, label 0: 'high' is not a number (score)"),
        ({"A": [[2, -1]]}, {"probabilities": True}, "(1 such items in all), and they are declared probabilities"),
        (
            {"A": [[1, 2]], "B": [[1, 2], [1, 2]]},
            {},
            "the items of model 'B' are not the same set: missing none; unknown 1",
        ),
    ],
)
def test_scores_refuse(scores: dict, options: dict, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        Predictions.from_scores(scores, **options)


@pytest.mark.parametrize(
    ("columns", "score", "message"),
    [
        ({"item": [1, 1]}, None, "predictions for model 'A', item 1 are given twice; keep one row"),
        ({}, "score", "model 'A', item 1, label 'y': score nan is missing or not finite (2 such"),
        (
            {"item": [1, 1], "score": [0.5, None]},
            "score",
            "model 'A', item 1, label 'y': score nan is missing",
        ),
        ({"model": ["A", None]}, None, "row 1: the model is missing"),
    ],
)
def test_long_predictions_refuse(columns: dict, score: str | None, message: str) -> None:
    table = pd.DataFrame({"model": ["A", "A"], "item": [1, 2], "label": ["x", "y"], "score": [0.5, 0.5]} | columns)
    with pytest.raises(InputError, match=re.escape(message)):
        Predictions.from_long(table, score=score)


def test_alignment_refuses_other_labels() -> None:
    scores = Predictions.from_scores({"A": np.zeros((2, 2))}, items=ITEMS, labels=LABELS)
    with pytest.raises(
        InputError, match="the labels of the predictions are not the same set: missing 'z'; unknown 'y'"
    ):
        scores.aligned(ITEMS, np.array(["x", "z"]))
    hard = Predictions.from_labels({"A": ["x", "w"]}, items=ITEMS)
    with pytest.raises(InputError, match="the predictions: label 'w' is not one of the 2 known"):
        hard.aligned(ITEMS, LABELS)


def test_labels_that_are_no_answers_are_pointed_out_where_they_alone_lack() -> None:
    scores = Predictions.from_scores({"A": np.zeros((2, 2))}, items=ITEMS, labels=LABELS)
    words = "na_values=['skip'] reads labels that are no answers as missing"
    with pytest.raises(InputError, match=re.escape(words)):
        scores.aligned(ITEMS, np.array(["x", "y", "skip"]))
    for items, labels in ((ITEMS, ["x", "z"]), (ITEMS, ["x"]), (np.array(["p", "q", "r"]), ["x", "y"])):
        with pytest.raises(InputError, match=r"both sides must name the same (label|item)s$"):
            scores.aligned(items, np.array(labels))


@pytest.mark.parametrize(("given", "wanted"), [("Na\u0308vus", "N\u00e4vus"), ("yes ", "Yes"), ("1", 1)])
def test_refusal_names_labels_that_differ_in_spelling_alone(given: str, wanted: str | int) -> None:
    scores = Predictions.from_scores({"A": np.zeros((2, 2))}, items=ITEMS, labels=[given, "other"])
    asked = np.array([wanted, "other"], dtype=object)
    with pytest.raises(InputError, match="differ in spelling, Unicode form or type alone"):
        scores.aligned(ITEMS, asked)


def test_more_labels_than_small_integers_hold() -> None:
    scores = np.zeros((1, 40_000))
    scores[0, [39_000, 5]] = 2, 1
    assert Predictions.from_scores({"A": scores}).top_labels(2).tolist() == [[[39_000, 5]]]


def test_one_probability_an_item_is_that_of_the_positive_label(tmp_path):
    both = Predictions.from_scores({"M": [[0.25, 0.75], [0.75, 0.25]]}, labels=["no", "yes"], items=["p", "q"])
    series = pd.Series([0.75, 0.25], index=["p", "q"])
    for scores, items in (([0.75, 0.25], ["p", "q"]), (series, None)):
        one = Predictions.from_scores({"M": scores}, labels=["no", "yes"], items=items)
        np.testing.assert_array_equal(one.scores, both.scores)
        assert one.categories.tolist() == ["no", "yes"]
        assert one.items.tolist() == ["p", "q"]
    path = tmp_path / "p.csv"
    path.write_text("model,item,score\nM,1,.8\nM,2,.3\n")
    read = read_predictions(path, labels=[0, 1])
    np.testing.assert_allclose(read.scores, [[[0.2, 0.8], [0.7, 0.3]]])
    assert read_predictions(path).categories.tolist() == [0, 1]


@pytest.mark.parametrize(("last", "quantiles"), [(0.9, True), (1.0, False), (0.0, False)])
def test_columns_between_0_and_1_are_levels_of_quantiles(last, quantiles):
    table = pd.DataFrame([[1.0, 2.0, 4.0]], columns=[0.25, 0.5, last])
    found = Predictions.from_numbers({"A": table})
    expected = [0.25, 0.5, 0.9] if quantiles else [1 / 6, 0.5, 5 / 6]
    np.testing.assert_allclose(np.ravel(found.levels), expected)


def test_quantiles_stand_for_what_lies_nearer_to_them_than_to_others():
    """Levels .1, .5 and .9 stand for .3, .4 and .3 of the distribution; equal samples for a third each."""
    table = pd.DataFrame([[9.0, 1.0, 3.0]], columns=[0.9, 0.1, 0.5], index=["p"])
    assert Predictions.from_numbers({"A": table}).points().tolist() == [[pytest.approx(0.3 * 1 + 0.4 * 3 + 0.3 * 9)]]
    samples = Predictions.from_numbers({"A": [[9.0, 1.0, 3.5]]})
    assert samples.points().tolist() == [[pytest.approx(4.5)]]
    assert samples.numbers.tolist() == [[[1.0, 3.5, 9.0]]]
    for cells, message in (
        ([[9.0, 10.0, 3.0]], "model 'A', item 'p': the quantiles fall where their levels rise; correct them"),
        ([[9.0, -np.inf, 3.0]], "model 'A', item 'p': a number is infinite; correct it"),
    ):
        with pytest.raises(InputError, match=message):
            Predictions.from_numbers({"A": pd.DataFrame(cells, columns=table.columns, index=["p"])})


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([0.2, 1.1], {}, "is the probability of the positive label of two, between 0 and 1 (there are 2 labels)"),
        ([-0.1, 1.0], {}, "between 0 and 1 (there are 2 labels)"),
        ([0.0, 1.0], {"labels": [*"abc"]}, "(there are 3 labels)"),
        ([[0.5, 0.502]], {"probabilities": True}, "item 0: scores sum to 1.002 or are negative (1 such items in all)"),
    ],
)
def test_scores_that_are_no_probabilities(given, options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        Predictions.from_scores({"A": given}, **options)


def test_probabilities_may_be_certain_and_sum_to_one_within_a_thousandth():
    assert Predictions.from_scores({"A": [0.0, 1.0]}).scores.tolist() == [[[1, 0], [0, 1]]]
    sound = Predictions.from_scores({"A": [[0.5, 0.5009], [1.0, 0.0]]}, probabilities=True)
    assert sound.hard_labels().tolist() == [[1, 0]]


def test_items_of_a_table_are_named_by_its_column_then_its_index_then_by_what_is_given():
    table = pd.DataFrame({"x": [0.9, 0.2], "y": [0.1, 0.8]})
    for one, items, names in (
        (table.assign(item=["q", "p"]), None, ["q", "p"]),
        (table.set_axis(["q", "p"], axis=0), ["p", "q"], ["p", "q"]),
        (table, ["r", "s"], ["r", "s"]),
        (table, None, [0, 1]),
    ):
        assert Predictions.from_scores({"A": one}, items=items).items.tolist() == names
    with pytest.raises(InputError, match=r"3 item names for 2 items"):
        Predictions.from_scores({"A": table}, items=[*"rst"])
    with pytest.raises(InputError, match=r"items='r', 's': the table itself names the items 'q', 'p'"):
        Predictions.from_scores({"A": table.assign(item=["q", "p"])}, items=["r", "s"])
    turned = Predictions.from_scores({"A": table.set_axis(["q", "p"])}, items=["p", "q"], labels=["y", "x"])
    assert turned.scores[0].tolist() == [[0.8, 0.2], [0.1, 0.9]]


def test_numbers_in_one_file_are_text_in_the_other():
    """A column of 0, 1 and "unsure" is text, though no answer is a label; the predictions of 0 and 1 are numbers."""
    hard = Predictions.from_labels({"A": [0, 1, 1]})
    found = hard.aligned(hard.items, np.array(["1", "0"], object))
    assert found.categories[found.hard_labels()[0]].tolist() == ["0", "1", "1"]
    scores = Predictions.from_scores({"A": [[0.9, 0.1], [0.2, 0.8]]}, labels=[0, 1])
    assert scores.aligned(scores.items, np.array(["1", "0"], object)).scores[0].tolist() == [[0.1, 0.9], [0.8, 0.2]]
    with pytest.raises(InputError, match="2"):
        Predictions.from_labels({"A": [0, 2]}).aligned(np.arange(2), np.array(["1", "0"], object))


NUMBERS = Predictions.from_numbers({"A": [[1.0, 3.0], [2.0, np.nan]]}, items=ITEMS)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: Predictions.from_labels({"A": ["x"]}).points(), "these predictions are labels; Predictions.from_num"),
        (lambda: NUMBERS.hard_labels(), 'these predictions are numbers, which have no labels; use metrics=["mae"]'),
        (lambda: Predictions.from_labels({"A": ["x", "y"]}).top_labels(2), "top 2 of 2 labels does not exist; use 1"),
        (lambda: named(np.zeros((1, 1, 2))).top_labels(3), "top 3 of 2 labels does not exist; use 1 to 2"),
        (lambda: named(np.zeros((1, 1, 2))).top_labels(0), "top 0 of 2 labels does not exist"),
        (
            lambda: Predictions.from_numbers({"A": [[1.0, 2, 3]], "B": [[1.0, 2]], "C": [1.0]}),
            "model 'B' has 2 samples or quantiles per item, and another model has other ones (3)",
        ),
        (lambda: Predictions.from_numbers([1.0]), "numbers"),
    ],
)
def test_what_predictions_of_another_kind_lack(use, message):
    with pytest.raises(InputError, match=re.escape(message)):
        use()


def test_predictions_say_what_they_hold():
    hard = Predictions.from_labels({"A": ["x", None], "B": [None, None]}, labels=["x", "y"])
    assert hard.overview() == {
        "models": "'A', 'B'", "items": 2, "categories": "'x', 'y'", "predicted": "labels", "missing": 3
    }  # fmt: skip
    assert named(np.zeros((1, 3, 2))).overview()["predicted"] == "scores"
    samples = Predictions.from_numbers({"A": [[1.0, 3.0, 8.0]]})
    assert samples.overview() == {"models": "'A'", "items": 1, "predicted": "numbers", "values per item": 3}


def test_predictions_of_other_items_have_no_part():
    scores = named(np.arange(12.0).reshape(2, 3, 2))
    some = scores.on_items(np.array(["i2", "i0", "i9"]))
    assert some.items.tolist() == ["i0", "i2"]
    np.testing.assert_array_equal(some.scores, scores.scores[:, [0, 2]])
    assert scores.on_items(scores.items[::-1]) is scores
    hard = Predictions.from_labels({"A": ["x", "y"]}, items=ITEMS)
    assert hard.on_items(ITEMS[1:]).label_index.tolist() == [[1]]
    numbers = Predictions.from_numbers({"A": [1.0, 2.0]}, items=ITEMS).aligned(ITEMS[::-1], LABELS)
    assert numbers.points().tolist() == [[2.0, 1.0]]


def test_a_model_lacks_the_items_without_a_label_or_a_number():
    assert Predictions.from_labels({"A": ["x", None]}).lacking().tolist() == [[False, True]]
    assert Predictions.from_numbers({"A": [np.nan, 2.0]}).lacking().tolist() == [[True, False]]
    gap = Predictions.from_scores({"A": [[0.5, 0.5], [np.nan, np.nan]]})
    assert gap.lacking().tolist() == [[False, True]] and gap.top_labels(2)[0, 1].tolist() == [-1, -1]


def test_runs_of_one_model_are_pooled_by_the_share_of_each_label():
    """By hand: 2 of 3 runs say x of two labels, (2 + 1 / 2) / 4; one item has one answer, (1 + 1 / 2) / 2."""
    rows = [("A", 1, 1, "x"), ("A", 2, 1, "x"), ("A", 3, 1, "y"), ("A", 1, 2, "y"), ("B", 1, 1, "y"), ("B", 2, 1, "y")]
    runs = Predictions.from_long(pd.DataFrame(rows, columns=["model", "run", "item", "label"]), run="run")
    assert runs.model_names.tolist() == ["A", "B"] and runs.overview()["runs"] == 5
    pooled = runs.pooled()
    expected = [[[2.5 / 4, 1.5 / 4], [0.5 / 2, 1.5 / 2]], [[0.5 / 3, 2.5 / 3], [np.nan, np.nan]]]
    np.testing.assert_allclose(pooled.scores, expected)
    assert pooled.models.tolist() == ["A", "B"] and pooled.pooled() is pooled


@pytest.mark.parametrize(
    ("rows", "names", "options", "message"),
    [
        (
            [("A", 1, 1, 1, "x"), ("A", 1, 2, 2, "y")],
            ["model", "item", "run", "seed", "label"],
            {},
            "'run', 'seed' all",
        ),
        (
            [("A", 1, None, "x"), ("A", 1, 2.0, "y")],
            ["model", "item", "run", "label"],
            {"run": "run"},
            "row 0: the run is",
        ),
        ([(1, 1, "x"), (1, 2, "y")], ["item", "run", "label"], {"run": "run"}, "runs are read with one row for each"),
    ],
)
def test_runs_that_cannot_be_told_apart(rows, names, options, message):
    with pytest.raises(InputError, match=message):
        Predictions.from_long(pd.DataFrame(rows, columns=names), **options)
