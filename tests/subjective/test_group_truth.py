"""The permutation test knows people with opinions from groups; lists of dividing items keep false ones few."""

import numpy as np
import pytest
import xarray as xr

from bayesagree import InputError, Labels, Predictions
from bayesagree.annotations.groups import Groups
from bayesagree.subjective import dividing_items, group_permutation_test
from bayesagree.subjective.group_truth import group_score_table, group_truth_table, group_truth_tables


def crowd(random_seed, shift_of_group=0.0, sd_of_people=1.0):
    """Simulate 40 items by 12 people in two groups, who say yes by the item, their group and their own opinion."""
    rng = np.random.default_rng(random_seed)
    group = np.repeat([0, 1], 6)
    own = sd_of_people * rng.standard_normal(12)
    logit = rng.standard_normal((40, 1)) + own + shift_of_group * np.outer(rng.choice([-1, 1], 40), group - 0.5)
    labels = Labels.from_matrix((rng.random((40, 12)) < 1 / (1 + np.exp(-logit))).astype(int), labels=[0, 1])
    return labels, Groups(labels.annotators, np.array(["a", "b"]), group.astype(np.int32), "group")


def p_value(labels, groups, permutations):
    return float(group_permutation_test(labels, groups, permutations=permutations, random_seed=1)["p_value_of_all"])


def test_people_with_opinions_are_no_group():
    p_values = [
        float(group_permutation_test(*crowd(random_seed), permutations=49, random_seed=1)["p_value_of_all"])
        for random_seed in range(60)
    ]
    # Uniform p values: 6 of 60 below .1, standard error 2.3.
    assert sum(p <= 0.1 for p in p_values) <= 6 + 4 * 2.4
    assert pytest.approx(np.mean(p_values), abs=4 * 0.29 / np.sqrt(60)) == 0.5


def test_groups_are_found():
    p_values = [
        float(group_permutation_test(*crowd(s, 3.0, 0.5), permutations=99, random_seed=1)["p_value_of_all"])
        for s in range(5)
    ]
    assert max(p_values) < 0.05


def test_differences_by_hand():
    labels = Labels.from_matrix([["a", "a", "b", "b"], ["a", "b", "b", None]])
    groups = Groups(labels.annotators, np.array(["x", "y", "z"]), np.array([0, 0, 1, 1], np.int32), "group")
    with pytest.warns(UserWarning, match="no pairs of answers to one item within 'z', or across to others"):
        found = group_permutation_test(labels, groups, permutations=9, random_seed=1)
    # x: one of two pairs agrees within; of six pairs across one agrees.
    np.testing.assert_allclose(found["difference"], [1 / 2 - 1 / 6, 1 - 1 / 6, np.nan])


def test_few_false_items():
    p = np.array([[0.99, 0.95, 0.7, 0.2], [0.4, np.nan, 0.3, 0.1]])
    derived = xr.Dataset({"prob_different": (("group", "item"), p)}, {"group": ["a", "b"], "item": list("wxyz")})
    found = dividing_items(xr.DataTree.from_dict({"/derived": derived}), false_share=0.1)
    assert found["item"].tolist() == ["w", "x"]
    assert dividing_items(xr.DataTree.from_dict({"/derived": derived}), false_share=0.13)["item"].tolist() == list(
        "wxy"
    )
    with pytest.raises(InputError, match="two votes per group and item"):
        dividing_items(xr.DataTree.from_dict({"/derived": derived * np.nan}))
    with pytest.raises(InputError, match="result of group_dirichlet"):
        dividing_items(xr.DataTree())


def given(name, values, dims, **names):
    return xr.Dataset({name: (dims, values)}, names)


def test_tables_of_groups_hold_means_shares_and_sums():
    draws = np.random.default_rng(1).random((2, 200, 3))
    votes = given("n_votes", [[1, 2], [3, 4], [5, 6]], ("group", "item"), group=list("abc"))
    truth = xr.DataTree.from_dict(
        {
            "posterior": given("divided", draws, ("chain", "draw", "group"), group=list("abc")),
            "constant_data": votes,
        }
    )
    test = given("p_value", [0.3, 0.2, 0.1], ("group",), group=list("cba"))
    table = group_truth_table(truth, test).set_index("group")
    assert table["votes"].tolist() == [3, 7, 11]
    assert table["p_value"].tolist() == [0.1, 0.2, 0.3]
    np.testing.assert_allclose(table["divided"], draws.mean(axis=(0, 1)))
    inside = (draws >= table["lower"].to_numpy()) & (draws <= table["upper"].to_numpy())
    np.testing.assert_allclose(inside.mean(axis=(0, 1)), 0.95, atol=0.005)


def test_scores_of_a_group_are_compared_with_the_mean_of_the_others():
    draws = np.random.default_rng(1).random((2, 200, 3, 1))
    dims, names = ("chain", "draw", "group", "model"), {"group": list("abc"), "model": ["A"]}
    worst = given("accuracy", [[0.2], [0.3], [0.5]], ("group", "model"), **names)
    tree = xr.DataTree.from_dict({"posterior": given("accuracy", draws, dims, **names), "worst_served": worst})
    table = group_score_table(tree).set_index("group")
    mean = draws.mean(axis=(0, 1, 3))
    np.testing.assert_allclose(table["mean"], mean)
    np.testing.assert_allclose(table["difference"], mean - (mean.sum() - mean) / 2)
    assert table["worst_served"].tolist() == [0.2, 0.3, 0.5]
    apart = draws[..., 0, 0] - draws[..., 1:, 0].mean(axis=2)
    low, high = table.loc["a", ["difference_lower", "difference_upper"]]
    assert np.mean((low <= apart) & (apart <= high)) == pytest.approx(0.95, abs=0.01)


@pytest.mark.filterwarnings("ignore:.* votes per group and item. scores against the truth of a group:UserWarning")
def test_tables_of_the_truth_of_groups_hold_one_score_test_and_list():
    labels, groups = crowd(1, 6.0, 0.5)
    some = labels.select(labels.item_index < 10)
    models = Predictions.from_labels({"A": [1] * 10, "B": [0] * 10}, labels=[0, 1])
    found = group_truth_tables(some, models, groups, draws=20, random_seed=1)
    mean = found["scores"].set_index(["group", "model"])["mean"]
    np.testing.assert_allclose([mean["a"].sum(), mean["b"].sum()], 1)  # what one model misses the other has
    test = group_permutation_test(some, groups, random_seed=1)
    assert found["groups"]["p_value"].tolist() == test["p_value"].values.tolist()
    assert set(found["items"]["item"]) <= set(range(10)) and len(found["items"])
