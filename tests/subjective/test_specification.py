"""The seven points of an evaluation of subjective labels, checked against data."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesagree import InputError, Labels, Predictions
from bayesagree.annotations.annotators import Annotators
from bayesagree.subjective.performance import group_performance
from bayesagree.subjective.specification import (
    EvaluationSpecification,
    check_specification,
    individual_unfairness,
)


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    labels = Labels.from_matrix(rng.choice(["ok", "toxic"], (30, 12), p=[0.8, 0.2]))
    people = pd.DataFrame(
        {"annotator": range(12), "gender": ["f"] * 8 + ["m"] * 3 + [None], "age": (["old"] + ["young"] * 11)}
    )
    return labels, Annotators.from_table(people)


@pytest.fixture
def declared():
    return EvaluationSpecification(
        "accuracy differs between genders",
        protected=["gender", "age"],
        similarity=["age"],
        annotators={"gender": {"f": 0.5, "m": 0.5}, "age": {"young": 0.5, "old": 0.4, "very old": 0.1}},
        annotators_reason="balanced",
        items={"source": {"web": 0.5, "mail": 0.5}},
        labels={"ok": 0.5, "toxic": 0.5},
        labels_per_item=13,
        labels_per_group_and_item=1,
        collection="asked in the corridor",
        smallest_group=5,
    )


@pytest.fixture
def report(data, declared):
    labels, people = data
    items = pd.DataFrame({"source": ["web"] * 30}, index=labels.items)
    model = Predictions.from_labels({"A": ["ok"] * 30}, labels=["ok", "toxic"])
    scores = group_performance(labels, model, people, by=["gender"])
    return check_specification(declared, labels, people, items=items, scores=scores)


def test_gaps_are_found(report):
    gaps = "\n".join(report.gaps)
    for expected in (
        "annotators, gender: 1 of 12 are not known",
        "annotators, age = very old: nobody, target 10 %",
        "annotators, age = young: 92 %, target 50 %",
        "items, source = mail: nobody, target 50 %",
        "labels, label = toxic: ",
        "30 of 30 items have fewer than 13 labels",
        "cells (group, item) have fewer than 1 labels",
        "1 of 5 combinations are empty: m & old",
        "3 groups have fewer than 5 annotators: f & old, m & young, unknown & young",
    ):
        assert expected in gaps


def test_groups_and_scores_are_reported(report):
    assert report.groups.loc["f & young", "annotators"] == 7
    assert bool(report.groups.loc["f & young", "enough"])
    assert set(report.scores["group"]) == {"f", "m", "unknown"}


def test_json_holds_everything_and_comes_back(report, declared):
    document = json.loads(report.to_json())
    assert document["declared"]["annotators"]["gender"] == {"f": 0.5, "m": 0.5}
    assert document["gaps"] == list(report.gaps)
    assert len(document["scores"]) == 3
    again = EvaluationSpecification.from_json(declared.to_json())
    assert again.to_json() == declared.to_json()


def test_markdown_has_the_seven_points(report):
    page = report.to_markdown()
    for n in range(1, 8):
        assert f"\n## {n}. " in page
    assert "| gender | f | 0.500 | 0.667 | 8 |" in page
    assert "asked in the corridor" in page


def test_data_as_declared_have_no_gaps(data):
    labels, people = data
    counts = labels.counts().sum(axis=0) / labels.n_annotations
    declared = EvaluationSpecification(
        "accuracy differs with age", protected=["age"], annotators={"age": {"old": 1 / 12, "young": 11 / 12}},
        labels=dict(zip(["ok", "toxic"], counts.tolist())), labels_per_item=12, smallest_group=1,
    )  # fmt: skip
    assert check_specification(declared, labels, people).gaps == ()


def test_bad_declarations(data):
    labels, people = data
    with pytest.raises(InputError, match=r"'gender' is .*; shares are 0 or more and sum to 1"):
        EvaluationSpecification("x", annotators={"gender": {"f": 0.5, "m": 0.4}})
    with pytest.raises(InputError, match="fairness='equal'"):
        EvaluationSpecification("x", fairness="equal")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="no feature 'sex'"):
        check_specification(EvaluationSpecification("x", protected=["sex"]), labels, people)
    with pytest.raises(InputError, match="pass items="):
        check_specification(EvaluationSpecification("x", items={"source": {"web": 1.0}}), labels, people)
    with pytest.raises(InputError, match="no specification"):
        EvaluationSpecification.from_json('{"bias": "x"}')


def test_similar_people_are_served_alike_or_not():
    people = Annotators.from_table(pd.DataFrame({"annotator": list("wxyz"), "age": [20, 20, 30, None]}))
    performance = xr.DataArray(
        [[0.9, 0.5, 0.1, 0.2], [0.7, 0.7, 0.1, 0.2]], {"model": ["A", "B"], "annotator": list("wxyz")}
    )
    assert individual_unfairness(people, performance, ["age"]).values == pytest.approx([0.4, 0.0])
    towns = {"annotator": list("wxyz"), "age": [20, 20, 30, 30], "town": ["a", "b", "b", "b"]}
    people = Annotators.from_table(pd.DataFrame(towns))
    both, half = (individual_unfairness(people, performance, ["age", "town"], at_least=p) for p in (1, 0.5))
    assert both.values == pytest.approx([0.1, 0.1])  # y and z alone
    pairs = [(0, 1), (1, 2), (1, 3), (2, 3)]
    assert half.values == pytest.approx(
        [np.mean([abs(row[a] - row[b]) for a, b in pairs]) for row in performance.values]
    )


def test_individual_fairness_that_is_declared_is_reported():
    votes = Labels.from_matrix([["a", "b", "a"], ["b", "b", "a"]], annotators=list("xyz"))
    people = Annotators.from_table(pd.DataFrame({"annotator": list("xyz"), "age": ["30", "30", "60"]}))
    declared = EvaluationSpecification("like by like", fairness="individual", similarity="age")
    assert declared.similarity == ("age",)
    scores = group_performance(votes, Predictions.from_labels({"A": ["a", "b"]}), people, by=["age"])
    report = check_specification(declared, votes, people, scores=scores)
    # x is served on both items, y on one: they are the only pair of one age.
    assert report.individual.to_dict("records") == [{"model": "A", "individual_unfairness": 0.5}]
    assert "Individual fairness" in report.to_markdown()
    assert json.loads(report.to_json())["individual"][0]["individual_unfairness"] == 0.5
    alone = Annotators.from_table(pd.DataFrame({"annotator": list("xyz"), "age": ["30", "40", "60"]}))
    assert any("no two annotators" in gap for gap in check_specification(declared, votes, alone, scores=scores).gaps)


def test_a_share_that_rounds_to_its_target_is_shown_exactly():
    labels = Labels.from_long(
        pd.DataFrame({"item": range(400), "annotator": "x", "label": ["a"] * 399 + ["other"]}), labels=["a", "other"]
    )
    people = Annotators.from_table(pd.DataFrame({"annotator": ["x"]}))
    gaps = check_specification(EvaluationSpecification("x", labels={"a": 1.0}), labels, people).gaps
    assert "labels, label = other: 0.2 %, target 0.0 %" in gaps


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"annotators": {"g": {"f": "half"}}}, "shares are numbers"),
        ({"fairness": "individual"}, "name similarity="),
    ],
)
def test_what_no_specification_can_hold(fields, message):
    with pytest.raises(InputError, match=message):
        EvaluationSpecification("bias", **fields)


def test_one_feature_is_one_name():
    declared = EvaluationSpecification("bias", protected="gender", metrics="accuracy")
    assert (declared.protected, declared.metrics) == (("gender",), ("accuracy",))
