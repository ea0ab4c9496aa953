"""Performance tables: groups, gaps, the oracle, metrics, and refusals."""

import numpy as np
import pandas as pd
import pytest

from bayesagree import Labels, Predictions, Ratings
from bayesagree.annotations import Groups
from bayesagree.subjective.performance import group_performance, left_out


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
