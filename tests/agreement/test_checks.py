"""Checks of one Phi for all items, and of the prior of the item means."""

import numpy as np

from bayesagree import simulate
from bayesagree.agreement.checks import _statistics, item_fit, item_mean_check, phi_clusters
from bayesagree.annotations import Ratings


def test_items_with_their_own_phi_are_found():
    calm = simulate.ratings(n_items=160, ratings_per_item=8, phi=0.9, seed=1).ratings.rating.reshape(160, 8)
    torn = simulate.ratings(n_items=40, ratings_per_item=8, phi=-0.6, seed=2).ratings.rating.reshape(40, 8)
    both = Ratings.from_matrix(np.concatenate([calm, torn]), scale=(1, 5), step=1)
    found = phi_clusters(both, n_clusters=(1, 2), seed=1)
    gain = float(found["score"].sel(n_clusters=2) - found["score"].sel(n_clusters=1))
    assert gain > 4 * float(found["score_se"].sel(n_clusters=2))
    low, high = np.sort(found["phi"].sel(n_clusters=2).values)
    assert low < -0.3
    assert high > 0.8
    worst = item_fit(both, draws=300, seed=1)
    torn_items = worst.loc[worst["fit"] == "more disagreement", "item"]
    assert len(torn_items) >= 5
    assert (torn_items >= 160).all()
    assert (worst.loc[worst["fit"] == "more agreement", "item"] < 160).all()


def test_item_means_of_the_model_pass_their_check():
    problem = simulate.ratings(n_items=500, ratings_per_item=5, phi=0.5, item_mean=(2.0, 2.0), seed=3)
    assert item_mean_check(problem.ratings, draws=200, seed=1)["p_value"] > 0.01


def test_statistics_of_item_means_counted_one_by_one():
    """Items with one end, both ends, ends alone, and neither; levels and a continuous scale."""
    x = np.array([0.1, 0.3, 0.7, 0.9, 0.52, 0.1, 0.1, 0.9, 0.9, 0.3, 0.5, 0.1, 0.7, 0.0, 1.0, 0.3])
    item = np.array([0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 6])
    for n_levels, low, high in ((5, 0.15, 0.85), (None, 0.0, 1.0)):
        means = [x[item == i].mean() for i in range(7)]
        histogram = [sum(k / 10 <= m < (k + 1) / 10 for m in means) for k in range(10)]
        inner = {i: [v for v in x[item == i] if low < v < high] for i in range(7)}
        with_low = [np.mean(inner[i]) for i, v in zip(item, x) if v <= low and inner[i]]
        with_high = [np.mean(inner[i]) for i, v in zip(item, x) if v >= high and inner[i]]
        found = _statistics(x, item, n_levels)
        np.testing.assert_array_equal(found[:10], histogram)
        np.testing.assert_allclose(found[10:], [np.mean(with_low), np.mean(with_high)])
