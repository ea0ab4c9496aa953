"""Performance tables: groups, gaps, the oracle, metrics, and refusals."""

import re

import numpy as np
import pandas as pd
import pytest

from bayesagree import InputError, Labels, Predictions, Ratings
from bayesagree.annotations import Groups
from bayesagree.subjective.performance import (
    annotator_scores,
    as_groups,
    group_performance,
    individual_unfairness,
    left_out,
)


def test_group_table(four):
    labels, people, models = four
    with pytest.warns(UserWarning, match=r"1 of 4 groups have no annotator with a value.*'x'"):
        result = group_performance(labels, models, people, by=["gender"])
    assert result["group"].values.tolist() == ["f", "m", "x", "unknown"]
    assert result["n_annotators"].values.tolist() == [2, 2, 0, 1]
    assert result["n_annotations"].values.tolist() == [6, 6, 0, 3]
    table = result["performance"].sel(model="A").values
    np.testing.assert_allclose(table, [5 / 6, 1 / 3, np.nan, 1 / 3])
    known = [5 / 6, 1 / 3, 1 / 3]
    assert float(result["mean_performance"].sel(model="A")) == pytest.approx(np.mean(known))
    assert float(result["dispersion"].sel(model="A")) == pytest.approx(1 - np.std(known))
    without = left_out(result)["dispersion"].sel(model="A")
    assert float(without.sel(left_out="f")) == pytest.approx(1)


def test_performance_is_the_mean_over_each_annotators_own_answers():
    """By loops; a prediction that lacks does not count, nor does a cell without an answer."""
    rng = np.random.default_rng(1)
    answers, everybody = rng.integers(0, 3, (8, 4)), np.zeros(4, np.int32)
    labels, said = Labels.from_matrix(answers, labels=[0, 1, 2]), rng.integers(0, 3, 8)
    one = Groups(labels.annotators, np.array(["all"]), everybody, "nothing")
    ours = group_performance(labels, Predictions.from_labels({"A": said}, labels=[0, 1, 2]), one)
    hits = [np.mean([answers[i, j] == said[i] for i in range(8)]) for j in range(4)]
    np.testing.assert_allclose(ours["annotator_performance"][0], hits, rtol=1e-15)
    rated = np.where(rng.random((8, 4)) < 0.2, np.nan, rng.integers(1, 6, (8, 4)))
    predicted = pd.Series(rng.normal(3, 1, 8), index=range(8)).where(lambda value: value.index != 3)
    ratings = Ratings.from_matrix(rated, scale=(1, 5), step=1)
    error = group_performance(ratings, {"A": predicted}, one)
    by_hand = [np.nanmean([abs(rated[i, j] - predicted[i]) for i in range(8)]) for j in range(4)]
    np.testing.assert_allclose(error["annotator_performance"][0], by_hand, rtol=1e-13)


VOTES = Labels.from_matrix([["a", "b"], ["a", "a"]], items=["p", "q"], annotators=["x", "y"])
RATED = Ratings.from_matrix([[1, 2], [3, 3]], scale=(1, 3), step=1)
ALL = Groups(VOTES.annotators, np.array(["all"]), np.zeros(2, np.int32), "nothing")


@pytest.mark.parametrize(
    ("annotations", "models", "message"),
    [
        (VOTES, {}, "there is no model: pass {name: series}"),
        (
            VOTES,
            {"A": ["a", "b"]},
            "model 'A': expected a pandas series indexed by item or (item, annotator), got list",
        ),
        (VOTES, {"A": pd.Series(["a", "b"], ["p", "p"])}, "model 'A' predicts 'p' twice; give one prediction each"),
        (VOTES, {"A": pd.Series(["a"], ["p"])}, "model 'A' has no prediction for 1 items: 'q'"),
        (
            VOTES,
            {"A": pd.Series(["a", "c"], ["p", "q"])},
            "model 'A' predicts 'c', which is no label of the annotations",
        ),
        (
            RATED,
            Predictions.from_labels({"A": [1, 2]}),
            "ratings need predicted ratings: pass {model: series of numbers",
        ),
        (Labels.from_counts([[1, 2]]), {"A": pd.Series(["a"])}, "needs to know who gave each label"),
        (
            Labels.from_long(pd.DataFrame({"item": [1, 1], "annotator": "x", "label": [*"ab"]}), duplicates="keep"),
            {"A": pd.Series(["a"], [1])},
            "needs one annotation per (item, annotator); pass duplicates='first' or 'last'",
        ),
    ],
)
def test_predictions_that_fit_no_annotations(annotations, models, message):
    with pytest.raises(InputError, match=re.escape(message)):
        annotator_scores(annotations, models)


def test_predictions_of_one_annotator_are_scored_on_their_own_answers():
    """Of (item, annotator): x is right once of two, y was predicted once, wrongly."""
    said = pd.Series(["a", "b", "a"], pd.MultiIndex.from_tuples([("p", "x"), ("q", "x"), ("p", "y")]))
    models, right, number = annotator_scores(VOTES, {"A": said})
    assert (models.tolist(), right.tolist(), number.tolist()) == (["A"], [[1, 0]], [[2, 1]])


def test_groups_that_are_made_already_take_no_features():
    assert as_groups(VOTES, ALL, ()) is ALL
    with pytest.raises(InputError, match=r"the annotators are grouped already \(by nothing\); leave out by=\['age'\]"):
        as_groups(VOTES, ALL, ["age"])
    with pytest.raises(InputError, match="the groups are of other annotators than the annotations"):
        as_groups(RATED, ALL, ())
    performance = group_performance(VOTES, Predictions.from_labels({"A": ["a", "a"]}, items=["p", "q"]), ALL)
    with pytest.raises(InputError, match="name the features by which annotators are similar"):
        individual_unfairness(None, performance["annotator_performance"], [])
