"""Tables about groups of annotators, and groups made from the annotations."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import kstest

from bayesagree import InputError, Labels, Ratings
from bayesagree.annotations.annotators import Annotators
from bayesagree.annotations.groups import Groups
from bayesagree.io.doors import as_annotators
from bayesagree.subjective import tables
from bayesagree.subjective.performance import dispersion_draws, group_performance


def test_performance_on_ratings_has_the_intervals_of_a_bootstrap():
    rng = np.random.default_rng(2)
    rated = Ratings.from_matrix(rng.integers(1, 6, (20, 13)), scale=(1, 5), step=1)
    people = Annotators.from_table(pd.DataFrame({"annotator": range(13), "camp": ["f"] * 6 + ["m"] * 6 + ["x"]}))
    camps = Groups.by_features(rated, people, ["camp"])
    models = {"A": pd.Series(rng.normal(3, 1, 20), index=range(20))}
    result = group_performance(rated, models, camps)
    table = tables.group_table(result, tables.performance_draws(rated, models, camps, result, random_seed=1))
    two = table.iloc[:2]
    errors = result["annotator_performance"].values[0, :12].reshape(2, 6)
    np.testing.assert_allclose(two["posterior_mean"], errors.mean(axis=1), atol=0.02)
    # Weights of a Dirichlet(1, ..., 1): the variance of the mean is that of the values / (n + 1).
    width = 2 * 1.96 * errors.std(axis=1) / np.sqrt(7)
    np.testing.assert_allclose(two["upper"] - two["lower"], width, rtol=0.2)
    assert table.iloc[2][["posterior_mean", "lower", "upper"]].isna().all()  # of one annotator nothing is known


def test_predictions_for_each_annotator_are_read_by_both_names(tmp_path):
    table = pd.DataFrame({"model": "A", "item": [0, 0, 1], "annotator": ["x", "y", "x"], "label": ["no", "yes", "no"]})
    table.to_csv(tmp_path / "said.csv", index=False)
    said = tables.read_model_predictions(
        tmp_path / "said.csv", Labels.from_counts([[1, 1], [2, 0]], labels=["no", "yes"])
    )
    assert said["A"].to_dict() == {(0, "x"): "no", (0, "y"): "yes", (1, "x"): "no"}


def test_people_are_read_from_a_file_as_from_a_table(tmp_path):
    people = pd.DataFrame({"annotator": ["ann", "bob"], "gender": ["f", "m"]})
    people.to_csv(tmp_path / "people.csv", index=False)
    read = [as_annotators(given).features.to_dict() for given in (people, tmp_path / "people.csv")]
    assert read[0] == read[1] and read[0]


def test_tables_of_predictions_have_the_column_of_what_they_predict(tmp_path):
    ratings = Ratings.from_matrix([[1, 2]], scale=(1, 3), step=1)
    pd.DataFrame({"model": ["A"], "item": [0], "stars": [2.5]}).to_csv(tmp_path / "said.csv", index=False)
    read = tables.read_model_predictions(tmp_path / "said.csv", ratings, rating="stars")
    assert read["A"].to_dict() == {0: 2.5}
    with pytest.raises(InputError, match="no column 'rating'; these predictions need model, item, rating"):
        tables.read_model_predictions(tmp_path / "said.csv", ratings)
    with pytest.raises(
        InputError, match="accuracy and the disagreement rate are of labels, and these are ratings: pass"
    ):
        tables.as_labels(ratings, None)
    sides = tables.as_labels(ratings, 2.0)
    assert sides.categories[sides.label_index].tolist() == ["below", "at_or_above"]


def test_dispersion_is_one_less_the_spread_of_the_means_of_groups():
    """Weights of a bootstrap lie between the values of a group; one of a single annotator has no spread of its own."""
    values = np.array([[0.9, 0.7, 0.5, 0.3, 0.2, np.nan], [0.5] * 6])
    result = xr.Dataset(
        {"annotator_performance": (("model", "annotator"), values), "group_of": ("annotator", [0, 0, 1, 1, 2, 0])},
        {"model": ["A", "B"], "group": ["f", "m", "x", "none"]},
    )
    drawn = dispersion_draws(result, draws=4000, random_seed=1)
    a = drawn["performance"].sel(model="A").values
    assert np.isnan(a[:, 2:]).all() and (a[:, 0] > 0.7).all() and (a[:, 1] < 0.5).all()
    # Of two values one apart by .2 the mean is uniform between them.
    assert kstest((a[:, 0] - 0.7) / 0.2, "uniform").pvalue > 1e-4
    every = np.column_stack([a[:, :2], np.full(4000, 0.2)])
    np.testing.assert_allclose(drawn["mean_performance"].sel(model="A"), every.mean(axis=1))
    np.testing.assert_allclose(drawn["dispersion"].sel(model="A"), 1 - every.std(axis=1))
    np.testing.assert_allclose(drawn["dispersion"].sel(model="B"), 1)
    performance = xr.Dataset(
        {name: ("model", [0.5, 0.25]) for name in ("mean_performance", "dispersion")}, {"model": ["B", "A"]}
    )
    table = tables.dispersion_table(performance, drawn)
    assert table[["model", "mean", "raw_dispersion"]].values.tolist() == [["B", 0.5, 0.5], ["A", 0.25, 0.25]]
    assert table["dispersion"].tolist() == pytest.approx([1, float(drawn["dispersion"].sel(model="A").mean())])
    spread = drawn["dispersion"].sel(model="A").values
    assert np.mean((spread >= table["lower"][1]) & (spread <= table["upper"][1])) == pytest.approx(0.95, abs=0.002)
