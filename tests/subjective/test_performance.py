"""Performance tables: groups, gaps, the oracle, metrics, and refusals."""

import numpy as np
import pandas as pd
import pytest

from bayesagree import Labels, Predictions, Ratings
from bayesagree.subjective.performance import annotator_performance, group_performance, left_out


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


def test_built_in_metrics_equal_functions():
    rng = np.random.default_rng(1)
    labels = Labels.from_matrix(rng.integers(0, 3, (8, 4)), labels=[0, 1, 2])
    models = Predictions.from_labels({"A": rng.integers(0, 3, 8)}, labels=[0, 1, 2])
    ours = annotator_performance(labels, models)
    function = annotator_performance(labels, models, metric=lambda said, predicted: np.mean(said == predicted))
    np.testing.assert_allclose(ours, function, rtol=1e-15)
    ratings = Ratings.from_matrix(rng.integers(1, 6, (8, 4)), scale=(1, 5), step=1)
    predicted = {"A": pd.Series(rng.normal(3, 1, 8), index=range(8))}
    error = annotator_performance(ratings, predicted)
    by_hand = annotator_performance(ratings, predicted, metric=lambda x, y: np.abs(x - y).mean())
    np.testing.assert_allclose(error, by_hand, rtol=1e-13)
    r = annotator_performance(ratings, predicted, metric="correlation")
    assert float(r[0, 1]) == pytest.approx(
        np.corrcoef(ratings.rating[ratings.annotator_index == 1], predicted["A"])[0, 1]
    )


def test_correlations_start_at_three_annotations_that_differ():
    rated = np.array([[1, 1, 5, 3], [2, np.nan, 5, 1], [4, 2, 5, 5]])  # three, two, three alike, three
    ratings = Ratings.from_matrix(rated, scale=(1, 5), step=1)
    predicted = {"A": pd.Series([1.0, 2.0, 2.5], index=range(3)), "B": pd.Series([3.0, 3.0, 3.0], index=range(3))}
    r = annotator_performance(ratings, predicted, metric="correlation").sel(model="A").values
    by_hand = [np.corrcoef(rated[:, k], predicted["A"])[0, 1] for k in (0, 3)]
    np.testing.assert_allclose(r, [by_hand[0], np.nan, np.nan, by_hand[1]], rtol=1e-12)
    assert np.isnan(annotator_performance(ratings, predicted, metric="correlation").sel(model="B")).all()
