"""The seven points of an evaluation of subjective labels, checked against data; individual fairness."""

import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesagree import InputError, Labels
from bayesagree.annotations.annotators import Annotators
from bayesagree.subjective.performance import individual_unfairness
from bayesagree.subjective.specification import EvaluationSpecification, _markdown_table


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    labels = Labels.from_matrix(rng.choice(["ok", "toxic"], (30, 12), p=[0.8, 0.2]))
    people = pd.DataFrame(
        {"annotator": range(12), "gender": ["f"] * 8 + ["m"] * 3 + [None], "age": (["old"] + ["young"] * 11)}
    )
    return labels, Annotators.from_table(people)


def test_every_gap_is_found_and_on_the_page(data):
    labels, people = data
    declared = EvaluationSpecification(
        "accuracy differs between genders",
        protected=["gender", "age"],
        similarity={"age"},
        annotators={"gender": {"f": 0.5, "m": 0.5}, "age": {"young": 0.5, "old": 0.4, "very old": 0.1}},
        items={"source": {"web": 0.5, "mail": 0.5}},
        labels={"ok": 0.5, "toxic": 0.5},
        labels_per_item=13,
        labels_per_group_and_item=1,
        collection="asked in the corridor",
        smallest_group=5,
    )
    items = pd.DataFrame({"source": ["web"] * 30}, index=labels.items, dtype="category")
    report = declared.check(labels, people, items=items)
    gaps = "\n".join(report.gaps)
    for expected in (
        "annotators, gender: 1 of 12 are not known",
        "annotators, age = very old: nobody, target 10 %",
        "annotators, age = young: 91.7 %, target 50 %",
        "items, source = mail: nobody, target 50 %",
        "labels, label = toxic: ",
        "30 of 30 items have fewer than 13 labels",
        "30 of 150 cells (group, item) have fewer than 1 labels",
        "1 of 5 combinations are empty: 'm & old'",
        "3 groups have fewer than 5 annotators: 'f & old', 'm & young', 'unknown & young'",
    ):
        assert expected in gaps
    assert report.groups.loc["f & young", "annotators"] == 7
    page = report.to_markdown()
    assert "| gender | f | 0.500 | 0.667 | 8 |" in page
    assert "asked in the corridor" in page


def test_a_label_that_nobody_used_has_a_row():
    labels = Labels.from_matrix([["a", "b"]], labels=["a", "b", "c"])
    people = Annotators.from_table(pd.DataFrame({"annotator": [0, 1], "age": ["old", "young"]}))
    found = EvaluationSpecification("none").check(labels, people).distributions
    assert found[["value", "n"]].values.tolist() == [["a", 1], ["b", 1], ["c", 0]]


def test_data_as_declared_have_no_gaps(data):
    labels, people = data
    counts = labels.counts().sum(axis=0) / labels.n_annotations
    declared = EvaluationSpecification(
        "accuracy differs with age", protected=["age"], annotators={"age": {"old": 1 / 12, "young": 11 / 12}},
        labels=dict(zip(["ok", "toxic"], counts.tolist())), labels_per_item=12, smallest_group=1,
    )  # fmt: skip
    assert declared.check(labels, people).gaps == ()


def test_similar_people_are_served_alike_or_not():
    people = Annotators.from_table(pd.DataFrame({"annotator": list("wxyz"), "age": [20, 20, 30, None]}))
    performance = xr.DataArray(
        [[0.9, 0.5, 0.1, 0.2], [0.7, 0.7, 0.1, 0.2]], {"model": ["A", "B"], "annotator": list("wxyz")}
    )
    assert individual_unfairness(people, performance, ["age"]).values == pytest.approx([0.4, 0.0])
    towns = {"annotator": list("wxyz"), "age": [20, 20, 30, 30], "town": ["a", "b", "b", "b"]}
    people = Annotators.from_table(pd.DataFrame(towns))
    unfair = individual_unfairness(people, performance, ["age", "town"])
    assert unfair.values == pytest.approx([0.1, 0.1])  # y and z alone


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"fairness": "equal"}, "fairness='equal' is not one of 'group', 'individual'"),
        ({"fairness": "individual"}, "individual fairness is about similar annotators: name similarity=[features]"),
        (
            {"labels": {"ok": 0.5, "toxic": 0.4}},
            "target distribution labels={'ok': 0.5, 'toxic': 0.4}: shares are 0 or",
        ),
        ({"labels": {"ok": 1.5, "toxic": -0.5}}, "target distribution labels="),
        ({"labels": {"ok": np.nan}}, "target distribution labels="),
        ({"annotators": {"age": {}}}, "target distribution age={}"),
        ({"items": {"source": {"web": "all"}}}, "target distribution source={'web': 'all'}"),
    ],
)
def test_declarations_that_say_nothing_that_can_hold(declared, message):
    with pytest.raises(InputError, match=re.escape(message)):
        EvaluationSpecification("bias", **declared)


def test_a_declaration_is_read_from_json_or_refused(data):
    read = EvaluationSpecification.from_json('{"bias_definition": "bias", "protected": "age", "smallest_group": 3}')
    assert (read.protected, read.smallest_group) == (("age",), 3)  # one name is no list of letters
    for text in ("[1", "[1, 2]", '{"bias_definition": "bias", "colour": 1}'):
        with pytest.raises(InputError, match="this is not a specification: "):
            EvaluationSpecification.from_json(text)
    by_source = EvaluationSpecification("bias", items={"source": {"web": 1.0}})
    for items in (None, pd.DataFrame({"text": ["t"] * 30})):
        with pytest.raises(InputError, match="there is a target by item attribute 'source'; pass items= with it"):
            by_source.check(*data, items=items)


@pytest.mark.parametrize(("n_yes", "gap"), [(60, False), (61, True), (40, False), (39, True)])
def test_a_share_is_a_gap_beyond_two_standard_errors_of_its_target(n_yes, gap):
    """Of 100 labels with a target of one half the standard error is 5."""
    labels = Labels.from_matrix(np.where(np.arange(100) < n_yes, "yes", "no").reshape(50, 2))
    people = Annotators.from_table(pd.DataFrame({"annotator": [0, 1]}))
    report = EvaluationSpecification("bias", labels={"yes": 0.5, "no": 0.5}).check(labels, people)
    words = [f"labels, label = {name}: {n} %, target 50 %" for name, n in (("no", 100 - n_yes), ("yes", n_yes))]
    assert [*report.gaps] == words * gap
    assert "Gaps:\n\nnone found\n" in report.to_markdown() or gap
    assert "- similarity: not stated" in report.to_markdown()


def test_a_table_with_pipes_has_three_digits_and_no_missing_numbers() -> None:
    table = pd.DataFrame({"item": ["a|b", "c"], "n": [1, 2], "share": [2 / 3, np.nan]})
    assert _markdown_table(table).splitlines() == [
        "| item | n | share |", "| --- | --- | --- |", "| a\\|b | 1 | 0.667 |", "| c | 2 |  |"
    ]  # fmt: skip
    assert _markdown_table(table[:0]) == "none"
