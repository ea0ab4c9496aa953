"""Limits of agreement: the published example's numbers by hand, their interval by simulation."""

import numpy as np
import pytest
from scipy.stats import binom

import bayesagree as ba
from bayesagree.errors import InputError


def two(difference):
    """Return two annotators whose ratings differ so."""
    middle = np.full(len(difference), 50.0)
    return ba.Ratings.from_matrix(np.stack([middle + np.asarray(difference), middle], axis=1), scale=(0, 100))


def test_limits_are_mean_and_two_standard_deviations():
    difference = np.array([1.0, -2.0, 3.0, 0.5, 2.5])
    row = ba.agreement.limits_of_agreement(two(difference)).iloc[0]
    assert row["n_items"] == 5
    assert row["difference"] == pytest.approx(difference.mean())
    assert row["high_limit"] == pytest.approx(difference.mean() + 1.959964 * difference.std(ddof=1))
    # The mean difference has the t interval of every textbook.
    half = 2.776445 * difference.std(ddof=1) / np.sqrt(5)
    assert row["difference_upper"] - row["difference"] == pytest.approx(half, rel=1e-5)


def test_intervals_hold_the_true_limits():
    rng, n = np.random.default_rng(1), 300
    inside = np.zeros(3)
    for _ in range(n):
        row = ba.agreement.limits_of_agreement(two(rng.normal(1, 2, 8))).iloc[0]
        for k, (name, truth) in enumerate((("difference", 1), ("low_limit", -2.919928), ("high_limit", 4.919928))):
            inside[k] += row[f"{name}_lower"] < truth < row[f"{name}_upper"]
    assert ((inside >= binom.ppf(1e-3, n, 0.95)) & (inside <= binom.ppf(1 - 1e-3, n, 0.95))).all()


def test_pairs_are_those_that_share_three_items():
    table = [[1, 2, np.nan], [2, 2, np.nan], [3, 4, 1], [3, np.nan, 2]]
    ratings = ba.Ratings.from_matrix(table, scale=(1, 5), step=1, annotators=["a", "b", "c"])
    assert ba.agreement.limits_of_agreement(ratings)[["annotator", "other_annotator"]].values.tolist() == [["a", "b"]]
    with pytest.raises(InputError, match="no two annotators rated"):
        ba.agreement.limits_of_agreement(ratings, annotators=["a", "c"])
    with pytest.raises(InputError, match="'z' is not one of"):
        ba.agreement.limits_of_agreement(ratings, annotators=["a", "z"])


def test_models_beside_annotators():
    """Of a model that repeats an annotator no limit differs from 0; of another those of two annotators."""
    x = np.array([[1.0, 2], [3, 3], [4, 5], [2, 4], [3, 4]])
    ratings = ba.Ratings.from_matrix(x, scale=(1, 5))
    models = ba.Predictions.from_numbers({"copy": x[::-1, 0]}, items=[4, 3, 2, 1, 0])
    found = ba.agreement.limits_of_agreement(ratings, models)
    assert found["annotator"].tolist() == ["copy", "copy"]
    assert found["difference"].tolist() == [0.0, ba.agreement.limits_of_agreement(ratings)["difference"].item()]
    with pytest.raises(InputError, match="are labels"):
        ba.agreement.limits_of_agreement(ratings, ba.Predictions.from_labels({"A": list("ababa")}))
