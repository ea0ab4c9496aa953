"""The shared difficulty of systems: its density against brute force, and the truths that it draws."""

import warnings

import numpy as np
import pytest
from scipy.special import expit, logit, softmax
from scipy.stats import norm

from bayesagree import Predictions
from bayesagree.blind import blind_posterior
from bayesagree.blind._difficulty import ABILITY, ABILITY_SD, ATTENUATION, SPREAD, WIDEST, SharedDifficulty


def labels(items, spread, random_seed, n_labels=2):
    """Return labels (item, system) of four systems, and the truth."""
    rng = np.random.default_rng(random_seed)
    truth = rng.integers(n_labels, size=(items, 1))
    right = rng.random((items, 4)) < expit(1.3 * logit([0.6, 0.7, 0.8, 0.9]) + spread * rng.normal(size=(items, 1)))
    return np.where(right, truth, (truth + rng.integers(1, n_labels, right.shape)) % n_labels), truth[:, 0]


def shares(said, n_labels):
    """Return the share of each label of an item, shape (item, label)."""
    return np.stack([(said == k).mean(axis=0) for k in range(n_labels)], axis=1)


def joint(said, n_labels, ability, prevalence, spread):
    """Return Pr(truth, labels) of each item, (item, truth), by the trapezoid rule over difficulties."""
    expected, z = shares(said, n_labels), np.linspace(-8, 8, 4001)
    found = np.empty((said.shape[1], n_labels))
    for i, item in enumerate(said.T):
        for k, share in enumerate(prevalence):
            chance = expit(np.sqrt(1 + spread**2 / ATTENUATION) * ability[k] - spread * z[:, None])
            wrong = [1.0 if label < 0 or label == k else _share_of_wrong(said, expected, system, k, label)
                     for system, label in enumerate(item)]  # fmt: skip
            of_labels = np.where(item == k, chance, np.where(item < 0, 1.0, wrong * (1 - chance))).prod(axis=1)
            found[i, k] = share * np.trapezoid(of_labels * norm.pdf(z), z)
    return found


@pytest.mark.parametrize("n_labels", [2, 3])
def test_density_and_truths_are_sums_over_truths_and_difficulties(n_labels):
    said = labels(12, 1.0, 1, n_labels)[0].T.astype(np.int16)
    said[1, 3] = -1  # a missing label
    model = SharedDifficulty(said, n_labels)
    point = np.random.default_rng(2).normal(1, 0.3, 5 * n_labels)
    point[-1] = -1.0  # 15 nodes are exact for a spread of .4, and err by .03 at 2
    ability, odds, spread = point[: 4 * n_labels].reshape(n_labels, 4), point[4 * n_labels : -1], np.exp(point[-1])
    prevalence = softmax(np.append(0.0, odds))
    of_items = joint(said, n_labels, ability, prevalence, spread)
    total = np.log(of_items.sum(axis=1)).sum()
    total += 6 / n_labels * np.log(prevalence).sum() + point[-1] - spread**2 / (2 * SPREAD**2)
    total -= ((ability - ABILITY) ** 2).sum() / (2 * ABILITY_SD**2)
    assert model.density(point[None])[0] == pytest.approx(total, abs=1e-3)  # 15 nodes
    drawn = model.truths(np.tile(point, (8000, 1)), np.random.default_rng(3))
    found, expected = shares(drawn, n_labels), of_items / of_items.sum(axis=1, keepdims=True)
    np.testing.assert_array_less(abs(found - expected), 1e-3 + 4.5 * np.sqrt(expected * (1 - expected) / 8000))


def test_spreads_beyond_the_bound_have_no_density():
    model = SharedDifficulty(labels(12, 1.0, 1)[0].T.astype(np.int16), 2)
    points = np.ones((4, 10))
    points[:, -1] = [-WIDEST - 0.1, -WIDEST, WIDEST, WIDEST + 0.1]
    assert np.isneginf(model.density(points)).tolist() == [True, False, False, True]


def test_mode_is_higher_than_the_points_around_it():
    model = SharedDifficulty(labels(150, 1.0, 4, 3)[0].T.astype(np.int16), 3)
    mode, root = model.mode()
    around = mode + 0.5 * np.concatenate([root.T, -root.T])
    # Half a standard deviation from the mode a normal density is 1/8 lower.
    assert (model.density(mode[None]) - model.density(around) > 0.02).all()


def _share_of_wrong(said, expected, system, truth, label):
    """Return the share of a wrong label: the system's own, with as many labels of the shares of all as there are."""
    wrong = [k for k in range(expected.shape[1]) if k != truth]
    of_all = {k: 1 + sum(expected[i, truth] for row in said for i in np.flatnonzero(row == k)) for k in wrong}
    own = {k: sum(expected[i, truth] for i in np.flatnonzero(said[system] == k)) for k in wrong}
    own = {k: own[k] + expected.shape[1] * of_all[k] / sum(of_all.values()) for k in wrong}
    return own[label] / sum(own.values())


@pytest.mark.parametrize("n_labels", [2, 3])
def test_items_of_unequal_difficulty_widen_intervals_and_are_warned_of(n_labels):
    width, warned = [], []
    for spread in (0.0, 3.0):
        said, _ = labels(400, spread, 7, n_labels)
        names = list(range(n_labels))
        models = Predictions.from_labels({f"s{j}": column for j, column in enumerate(said.T)}, labels=names)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            drawn = blind_posterior(models, metrics=("accuracy",), items="fixed", draws=250, chains=2, random_seed=1)
        width.append(float(drawn["posterior"]["accuracy"].std(("chain", "draw")).mean()))
        warned.append(any("err on the same items" in str(warning.message) for warning in caught))
    assert warned == [False, True]
    assert width[1] > 1.5 * width[0]
