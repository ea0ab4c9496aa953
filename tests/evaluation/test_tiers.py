"""Places and tiers hold for all models together."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from bayesagree import InputError, compare, pairwise
from bayesagree.inference.tiers import joint_rank_sets, places, shrunk, standing, surely_better

SEEDS = st.integers(0, 10_000)


def world(rng, true, draws=400):
    """Return draws of a calibrated posterior: estimates with errors, and the same errors around them."""
    sd = rng.uniform(0.7, 1.3, true.size)
    shared = rng.normal(size=(draws, 1))
    return true + sd * rng.normal(size=true.size) + sd * rng.normal(size=(draws, true.size)) + shared


def result_of(draws, **attrs):
    names = [f"m{j}" for j in range(draws.shape[1])]
    values = xr.DataArray(draws[None], {"model": names}, ("chain", "draw", "model"), "score", attrs)
    return xr.DataTree.from_dict({"posterior": values.to_dataset()})


@given(SEEDS)
def test_places_are_the_ranks_of_scipy(seed):
    scores = np.random.default_rng(seed).integers(0, 4, (20, 5)).astype(float)
    for found, method in zip(places(scores), ("min", "max")):
        np.testing.assert_array_equal(found, rankdata(-scores, method, axis=1))


@given(SEEDS)
def test_models_keep_their_standing_in_any_order(seed):
    rng = np.random.default_rng(seed)
    draws, order = world(rng, rng.normal(size=5) * 3), rng.permutation(5)
    for here, there in zip(standing(draws), standing(draws[:, order])):
        np.testing.assert_array_equal(here[order], there)
    for here, there in zip(standing(draws), standing(7 * draws + 2)):
        np.testing.assert_array_equal(here, there)


@given(SEEDS)
def test_a_duplicated_model_shares_tier_and_places(seed):
    rng = np.random.default_rng(seed)
    draws = world(rng, np.array([0.0, 4.0, 9.0]))
    table = compare(result_of(np.column_stack([draws, draws[:, 1]])))
    one, copy = table.loc["m1"], table.loc["m3"]
    assert [one[c] for c in ("tier", "rank_lower", "rank_upper")] == [
        copy[c] for c in ("tier", "rank_lower", "rank_upper")
    ]
    pair = pairwise(result_of(np.column_stack([draws, draws[:, 1]]))).sel(model="m1", other_model="m3")
    assert [float(pair[c]) for c in ("prob_better", "difference", "lower", "upper")] == [0.5, 0, 0, 0]


@given(SEEDS, st.sampled_from([{}, {"higher_is_better": 0}, {"best": 0.1}]))
def test_a_pair_reversed_is_its_mirror_image(seed, attrs):
    draws = np.random.default_rng(seed).integers(0, 12, (60, 4)) / 12
    found = pairwise(result_of(draws, **attrs))
    np.testing.assert_allclose((found["prob_better"].values + found["prob_better"].values.T)[~np.eye(4, dtype=bool)], 1)
    for one, other in (("difference", "difference"), ("lower", "upper")):
        np.testing.assert_array_equal(found[one].values, -found[other].values.T)


def test_shrinkage_is_the_posterior_mean_by_quadrature():
    """By matrices, and another rule for the spread."""
    rng = np.random.default_rng(3)
    draws = np.array([0.0, 1.0, 1.5, 4.0]) + rng.normal(size=(20_000, 4)) * [1.0, 0.5, 0.8, 1.2]
    centre, noise = np.eye(4) - 0.25, np.cov(draws, rowvar=False)
    basis = np.linalg.svd(centre)[0][:, :3]
    mean, noise = basis.T @ draws.mean(axis=0), basis.T @ noise @ basis
    s = np.sqrt(np.trace(noise) / 3)
    weights, means = [], []
    for tau in np.linspace(0.005, 60, 12_000):
        total = noise + tau**2 * np.eye(3)
        solved = np.linalg.solve(total, mean)
        weights.append(np.exp(-(np.linalg.slogdet(total)[1] + mean @ solved) / 2) * s / (s + tau) ** 2)
        means.append(tau**2 * solved)
    expected = basis @ (np.array(weights) @ np.array(means) / np.sum(weights))
    found = shrunk(draws).mean(axis=0)
    np.testing.assert_allclose(found - found.mean(), expected, atol=0.02)


@pytest.mark.parametrize("n_models", [3, 8])
def test_equal_models_share_a_tier_and_a_spread_keeps_its_true_places(n_models):
    """Of worlds of equal models at most .07 are parted; in worlds with a spread .93 of the sets hold every place."""
    rng = np.random.default_rng(n_models)
    assert np.mean([standing(world(rng, np.zeros(n_models))).tier.max() > 1 for _ in range(40)]) <= 0.07
    held = []
    for _ in range(40):
        true = 3 * rng.normal(size=n_models)
        low, high, tier = standing(world(rng, true))
        place = rankdata(-true)
        held.append(((low <= place) & (place <= high)).all())
        assert (tier[np.argsort(place)] >= 1).all()
    assert np.mean(held) >= 0.93 - 2.5 * np.sqrt(0.93 * 0.07 / 40)


def test_models_far_apart_have_a_tier_and_a_place_each():
    draws = np.array([0.2, 0.9, 0.5]) + 0.01 * np.random.default_rng(1).normal(size=(500, 3))
    found = standing(draws)
    assert [part.tolist() for part in found] == [[3, 1, 2]] * 3
    assert surely_better(draws).sum() == 3
    low, high = joint_rank_sets(draws)
    assert (low == high).all()


def test_a_metric_may_be_left_out_where_there_is_one():
    draws = world(np.random.default_rng(2), np.array([0.0, 3.0]))
    tree = result_of(draws)
    assert compare(tree).equals(compare(tree, "score"))
    named = xr.DataTree.from_dict({"posterior": tree["posterior"].to_dataset().rename(score="accuracy")})
    assert compare(named, "top_1_accuracy").equals(compare(named))
    two = xr.DataTree.from_dict({"posterior": tree["posterior"].to_dataset().assign(other=tree["posterior"]["score"])})
    with pytest.raises(InputError, match="this result has 2 metrics; name one of 'score', 'other'"):
        compare(two)


def test_differences_within_a_region_make_no_practical_difference():
    """Of four draws the gaps are 0, .1, .2 and -.3: a gap as large as the region lies in it, and ties lie in none."""
    draws = np.array([[0.5, 0.5], [0.6, 0.5], [0.75, 0.5], [0.25, 0.5]])
    for rope, better, worse in ((0.0, 2, 1), (0.25, 0, 0), (0.2, 1, 1), (1.0, 0, 0)):
        found = pairwise(result_of(draws), rope=rope).sel(model="m0", other_model="m1")
        shares = [float(found[name]) * 4 for name in ("better", "equivalent", "worse")]
        assert shares == pytest.approx([better, 4 - better - worse, worse])
    for rope in (-0.1, np.nan):
        with pytest.raises(InputError, match=f"rope={rope} must be a difference of at least 0"):
            pairwise(result_of(draws), rope=rope)
    mirrored = pairwise(result_of(draws), rope=0.2)
    np.testing.assert_array_equal(mirrored["better"].values.T, mirrored["worse"].values)
    assert np.isnan(np.diagonal(mirrored["better"].values)).all()
