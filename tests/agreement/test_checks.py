"""Checks of one Phi for all items, and of the prior of the item means."""

import numpy as np

from bayesagree import simulate
from bayesagree.agreement.checks import item_fit, item_mean_check
from bayesagree.annotations import Ratings
from studies.clusters import phi_clusters


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
