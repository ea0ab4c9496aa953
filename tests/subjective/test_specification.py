"""The seven points of an evaluation of subjective labels, checked against data; individual fairness."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesagree import Labels
from bayesagree.annotations.annotators import Annotators
from bayesagree.subjective.performance import individual_unfairness
from bayesagree.subjective.specification import EvaluationSpecification


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
