"""Simulation-based calibration of the informed posterior of ratings: parameters and truth drawn from its prior."""

import numpy as np
import pytest

from bayesagree import Predictions, Ratings, informed_normal, score

DRAWS, ITEMS = 99, 12


def _world(rng):
    """A model's numbers, the items' means, and the sd of ratings, each from its prior."""
    z = rng.standard_normal(ITEMS)
    z = (z - z.mean()) / z.std()
    # Nearer to 0 the prior of the ratings' sd is cut off: 2 in 1000 draws.
    s, t = np.abs(0.5 * rng.standard_normal(2))
    return (
        z,
        0.5 + 0.5 * rng.standard_normal() + rng.standard_normal() * z + t * rng.standard_normal(ITEMS),
        max(s, 1e-3),
    )


@pytest.mark.parametrize(("n", "random_seed"), [(150, 1), pytest.param(3000, 2, marks=pytest.mark.slow)])
def test_ranks_of_the_truth_are_uniform(calibration, n, random_seed):
    """Truth is an item's mean, and the RMSE of the model on all items."""
    rng = np.random.default_rng(random_seed)
    ranks = []
    for replication in range(n):
        z, mean, s = _world(rng)
        x = mean[:, None] + s * rng.standard_normal((ITEMS, 3))
        x[: ITEMS // 2, 1:] = np.nan
        # The scale only sets units: here one unit, ratings anywhere.
        ratings = _unbounded(x)
        models = Predictions.from_numbers({"A": z})
        how = {"draws": DRAWS, "chains": 1, "random_seed": replication}
        tree = informed_normal(ratings, models, annotator_effects=None, **how)
        drawn = tree["posterior"]["mean"].values[0]
        rmse = score(tree, models, "rmse").values[0, :, 0]
        true = np.sqrt(np.mean((z - mean) ** 2))
        ranks.append([(drawn[:, 0] < mean[0]).sum(), (drawn[:, -1] < mean[-1]).sum(), (rmse < true).sum()])
    for name, rank in zip(("one rating", "three ratings", "rmse"), np.array(ranks).T):
        calibration.uniform("informed_normal", name, rank, DRAWS + 1)


@pytest.mark.filterwarnings("ignore:the ratings of")
@pytest.mark.parametrize(("n", "random_seed"), [(60, 3), pytest.param(1000, 4, marks=pytest.mark.slow)])
def test_ranks_with_levels_of_annotators_are_uniform(calibration, n, random_seed):
    """Truth is an item's mean, an annotator's level, and an annotator's scatter."""
    rng = np.random.default_rng(random_seed)
    ranks = []
    for replication in range(n):
        z, mean, s = _world(rng)
        d = abs(0.25 * rng.standard_normal())
        shift, sd = d * rng.standard_normal(3), s * np.sqrt(2 / rng.standard_gamma(2, 3))
        x = mean[:, None] + shift + sd * rng.standard_normal((ITEMS, 3))
        x[: ITEMS // 2, 1] = np.nan
        models, how = Predictions.from_numbers({"A": z}), {"draws": 200, "chains": 2, "random_seed": replication}
        found = informed_normal(_unbounded(x), models, **how)["posterior"]
        # Each twentieth, so that draws are exchangeable with the truth.
        drawn = [found["mean"].values[..., 0], *(found[f"annotator_{v}"].values[..., 1] for v in ("shift", "sd"))]
        true = mean[0] + shift.mean(), shift[1] - shift.mean(), sd[1]
        ranks.append([(one[:, ::20] < value).sum() for one, value in zip(drawn, true)])
    for name, rank in zip(("item mean", "level", "scatter"), np.array(ranks).T):
        calibration.uniform("informed_normal, levels", name, rank, 21)


def _unbounded(x):
    from dataclasses import replace

    ratings = Ratings.from_matrix(x, scale=(-1e6, 1e6))
    return replace(ratings, scale=(0.0, 1.0))
