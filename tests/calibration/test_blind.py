"""Do intervals of blind scores hold the actual scores as often as they say? Ten systems of known accuracy."""

import warnings

import numpy as np
import pytest
from _errors_of_draws import SIGMAS

from bayesagree.blind.independence import independence_check
from bayesagree.blind.scores import blind_posterior
from bayesagree.inference.intervals import hdi
from bayesagree.metrics.hard_labels import hard_label_scores
from studies.systems import simulated_systems

METRICS = ("accuracy", "recall")


def coverage(n_simulations, dependence, method="dawid_skene", first_seed=0):
    """Return the share of systems whose 95 % HDI holds the score against the truth, shape (simulation, metric)."""
    held = np.empty((n_simulations, len(METRICS)))
    for s in range(n_simulations):
        systems = simulated_systems(dependence=dependence, random_seed=first_seed + s)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # r-hat of one in a hundred short chains
            items = "fixed" if method == "dawid_skene" else "bootstrap"
            tree = blind_posterior(
                systems.predictions, method=method, metrics=METRICS, items=items, draws=200, chains=2, random_seed=s
            )
        for k, metric in enumerate(METRICS):
            actual = hard_label_scores(systems.predictions, dict(enumerate(systems.truth)), metric=metric).values
            draws = tree["posterior"][metric].values.reshape(-1, actual.size)
            ends = np.array([hdi(draws[:, m], 0.95) for m in range(actual.size)])
            held[s, k] = ((ends[:, 0] <= actual) & (actual <= ends[:, 1])).mean()
    return held


def assert_covers(held, nominal=0.95):
    """Systems of one simulation share their truth, so the error is that of means over simulations."""
    error = held.std(axis=0, ddof=1) / np.sqrt(held.shape[0])
    # An HDI of 400 draws is narrower than the true one by a few parts in a hundred.
    assert (np.abs(held.mean(axis=0) - nominal) < SIGMAS * error + 0.02).all(), held.mean(axis=0)


def test_independent_errors_are_covered():
    assert_covers(coverage(20, dependence=0.0))


@pytest.mark.parametrize(("dependence", "at_least"), [(0.25, 0.6), (0.5, 0.35)])
def test_a_shared_difficulty_widens_intervals_and_the_check_finds_shared_errors(dependence, at_least):
    """Means .87 and .72, standard errors .05 and .15; without the difficulty below .5 at a dependence of .5."""
    held = coverage(4, dependence=dependence)
    assert (held.mean(axis=0) > at_least).all()
    found = [
        independence_check(simulated_systems(dependence=dependence, random_seed=s).predictions, random_seed=s)
        for s in range(2)
    ]
    assert all(float(check["p_value"]) < 0.05 for check in found)


@pytest.mark.slow
def test_coverage_and_level_of_the_check_at_length():
    assert_covers(coverage(200, dependence=0.0, first_seed=1000))
    p_values = [
        float(independence_check(simulated_systems(random_seed=2000 + s).predictions, random_seed=s)["p_value"])
        for s in range(100)
    ]
    # Posterior predictive p values are conservative: small ones come no more often than they should.
    assert np.mean(np.array(p_values) < 0.05) <= 0.05 + SIGMAS * np.sqrt(0.05 * 0.95 / 100)
