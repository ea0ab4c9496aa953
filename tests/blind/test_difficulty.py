"""The shared difficulty of systems: its density against brute force, and the truths that it draws."""

import warnings

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm

from bayesagree import Predictions
from bayesagree.blind import blind_posterior
from bayesagree.blind._difficulty import ABILITY, ABILITY_SD, ATTENUATION, SPREAD, SharedDifficulty


def labels(items, spread, seed):
    """Return labels (item, system) of four systems, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=(items, 1))
    right = rng.random((items, 4)) < expit(1.3 * logit([0.6, 0.7, 0.8, 0.9]) + spread * rng.normal(size=(items, 1)))
    return np.where(right, truth, 1 - truth), truth[:, 0]


def test_density_is_a_sum_over_truths_and_difficulties():
    said = labels(12, 1.0, 1)[0].T.astype(np.int16)
    said[1, 3] = -1  # a missing label
    model = SharedDifficulty(said)
    point = np.random.default_rng(2).normal(1, 0.3, 10)
    point[9] = -1.0  # 15 nodes are exact for a spread of .4, and err by .03 at 2
    ability, odds, spread = point[:8].reshape(2, 4), point[8], np.exp(point[9])
    z = np.linspace(-8, 8, 4001)
    total = 0.0
    for item in said.T:
        likelihood = 0.0
        for k, share in ((0, expit(-odds)), (1, expit(odds))):
            chance = expit(np.sqrt(1 + spread**2 / ATTENUATION) * ability[k] - spread * z[:, None])
            of_labels = np.where(item == k, chance, np.where(item < 0, 1.0, 1 - chance)).prod(axis=1)
            likelihood += share * np.trapezoid(of_labels * norm.pdf(z), z)
        total += np.log(likelihood)
    total += 3 * np.log(expit(odds) * expit(-odds)) + point[9] - spread**2 / (2 * SPREAD**2)
    total -= ((ability - ABILITY) ** 2).sum() / (2 * ABILITY_SD**2)
    assert model(point)[0] == pytest.approx(total, abs=1e-3)  # 15 nodes


def test_gradient():
    model = SharedDifficulty(labels(40, 1.0, 3)[0].T.astype(np.int16))
    point = np.random.default_rng(4).normal(0.5, 0.3, 10)
    ahead = [(model(point + 1e-5 * unit)[0] - model(point - 1e-5 * unit)[0]) / 2e-5 for unit in np.eye(10)]
    np.testing.assert_allclose(model(point)[1], ahead, atol=1e-6)


def test_items_of_unequal_difficulty_widen_intervals_and_are_warned_of():
    width, warned = [], []
    for spread in (0.0, 3.0):
        said, _ = labels(400, spread, 7)
        models = Predictions.from_labels({f"s{j}": column for j, column in enumerate(said.T)}, labels=[0, 1])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            drawn = blind_posterior(models, metrics=("accuracy",), items="fixed", draws=250, chains=2, seed=1)
        width.append(float(drawn["posterior"]["accuracy"].std(("chain", "draw")).mean()))
        warned.append(any("err on the same items" in str(warning.message) for warning in caught))
    assert warned == [False, True]
    assert width[1] > 1.5 * width[0]
