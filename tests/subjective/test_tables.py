"""Tables about groups of annotators, and groups made from the annotations."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesagree import Labels, Ratings
from bayesagree.annotations.annotators import Annotators
from bayesagree.annotations.groups import Groups
from bayesagree.subjective import tables
from bayesagree.subjective.agreement import group_agreement
from bayesagree.subjective.performance import group_performance


@pytest.fixture(scope="module")
def votes():
    rng = np.random.default_rng(1)
    said = (rng.random((25, 12)) < np.where(np.arange(12) < 6, 0.95, 0.5)).astype(int)
    return Labels.from_matrix(said, annotators=[f"w{j}" for j in range(12)], labels=[0, 1])


@pytest.fixture(scope="module")
def groups(votes):
    people = Annotators.from_table(pd.DataFrame({"annotator": votes.annotators, "camp": ["f"] * 6 + ["m"] * 6}))
    return Groups.by_features(votes, people, ["camp"])


def test_performance_on_ratings_has_the_intervals_of_a_bootstrap():
    rng = np.random.default_rng(2)
    rated = Ratings.from_matrix(rng.integers(1, 6, (20, 13)), scale=(1, 5), step=1)
    people = Annotators.from_table(pd.DataFrame({"annotator": range(13), "camp": ["f"] * 6 + ["m"] * 6 + ["x"]}))
    camps = Groups.by_features(rated, people, ["camp"])
    models = {"A": pd.Series(rng.normal(3, 1, 20), index=range(20))}
    result = group_performance(rated, models, camps)
    table = tables.group_table(result, tables.performance_draws(rated, models, camps, result, seed=1))
    two = table.iloc[:2]
    errors = result["annotator_performance"].values[0, :12].reshape(2, 6)
    np.testing.assert_allclose(two["posterior_mean"], errors.mean(axis=1), atol=0.02)
    # Weights of a Dirichlet(1, ..., 1): the variance of the mean is that of the values / (n + 1).
    width = 2 * 1.96 * errors.std(axis=1) / np.sqrt(7)
    np.testing.assert_allclose(two["upper"] - two["lower"], width, rtol=0.2)
    assert table.iloc[2][["posterior_mean", "lower", "upper"]].isna().all()  # of one annotator nothing is known


def test_agreement_of_every_two_groups(votes, groups):
    table = tables.group_agreement_table(votes, groups)
    known = group_agreement(votes, groups)["alpha"].values
    assert table[["group", "other_group"]].to_numpy().tolist() == [["f", "f"], ["f", "m"], ["m", "m"]]
    np.testing.assert_allclose(table["alpha"], [known[0, 0], known[0, 1], known[1, 1]])
    draws = np.random.default_rng(1).random((2, 50, 2, 2))
    dims = ("chain", "draw", "group", "other_group")
    phi = xr.DataTree.from_dict({"posterior": xr.Dataset({"phi": (dims, draws)})})
    with_phi = tables.group_agreement_table(votes, groups, phi)
    np.testing.assert_allclose(with_phi["Phi"], draws.mean(axis=(0, 1))[[0, 0, 1], [0, 1, 1]])
    assert (with_phi["lower"] < with_phi["Phi"]).all()
    assert (with_phi["Phi"] < with_phi["upper"]).all()
