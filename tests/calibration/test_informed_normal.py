"""Simulation-based calibration of the informed posterior of ratings: parameters and truth drawn from its prior."""

import numpy as np
import pytest

from bayesagree import Predictions, Ratings, informed_normal, score

DRAWS, ITEMS = 99, 12


@pytest.mark.parametrize(("n", "random_seed"), [(150, 1), pytest.param(3000, 2, marks=pytest.mark.slow)])
def test_ranks_of_the_truth_are_uniform(calibration, n, random_seed):
    """Truth is an item's mean, and the RMSE of the model on all items."""
    rng = np.random.default_rng(random_seed)
    ranks = []
    for replication in range(n):
        z = rng.standard_normal(ITEMS)
        z = (z - z.mean()) / z.std()
        # Nearer to 0 the prior of the ratings' sd is cut off: 2 in 1000 draws.
        s, t = np.abs(0.5 * rng.standard_normal(2))
        mean = 0.5 + 0.5 * rng.standard_normal() + rng.standard_normal() * z + t * rng.standard_normal(ITEMS)
        x = mean[:, None] + max(s, 1e-3) * rng.standard_normal((ITEMS, 3))
        x[: ITEMS // 2, 1:] = np.nan
        # The scale only sets units: here one unit, ratings anywhere.
        ratings = _unbounded(x)
        models = Predictions.from_numbers({"A": z})
        tree = informed_normal(ratings, models, draws=DRAWS, chains=1, random_seed=replication)
        drawn = tree["posterior"]["mean"].values[0]
        rmse = score(tree, models, "rmse").values[0, :, 0]
        true = np.sqrt(np.mean((z - mean) ** 2))
        ranks.append([(drawn[:, 0] < mean[0]).sum(), (drawn[:, -1] < mean[-1]).sum(), (rmse < true).sum()])
    for name, rank in zip(("one rating", "three ratings", "rmse"), np.array(ranks).T):
        calibration.uniform("informed_normal", name, rank, DRAWS + 1)


def _unbounded(x):
    from dataclasses import replace

    ratings = Ratings.from_matrix(x, scale=(-1e6, 1e6))
    return replace(ratings, scale=(0.0, 1.0))
