"""Walkers of Hamiltonian Monte Carlo against a target with known moments, and at the edge of a support."""

import math

import numpy as np

from bayesagree.inference import hamiltonian
from bayesagree.inference.convergence import diagnostics
from bayesagree.inference.hamiltonian import ACCEPTANCE, walk


def test_moments_of_a_skewed_density():
    """Logs of gamma variables, shapes 2 and 5, in units of a wrong covariance."""
    shape, rng = np.array([2.0, 5.0]), np.random.default_rng(1)

    def density(x):
        return (shape * x - np.exp(x)).sum(axis=-1), shape - np.exp(x)

    units = np.array([[0.8, 0.0], [0.3, 0.5]])
    drawn = walk(density, rng.standard_normal((8, 2)) @ units.T, units, 500, rng, lambda n: None)
    _, ess = diagnostics(np.exp(drawn))
    z = (np.exp(drawn).mean(axis=(0, 1)) - shape) / np.sqrt(shape / ess)
    assert np.abs(z).max() < 4
    _, ess = diagnostics(np.exp(drawn) ** 2)
    second = shape * (shape + 1)
    variance = shape * (shape + 1) * (shape + 2) * (shape + 3) - second**2
    z = ((np.exp(drawn) ** 2).mean(axis=(0, 1)) - second) / np.sqrt(variance / ess)
    assert np.abs(z).max() < 4


def test_the_step_settles_near_the_requested_acceptance(monkeypatch):
    accepted, plain = [], hamiltonian._move

    def watched(*given):
        there, chance = plain(*given)
        accepted.append(chance)
        return there, chance

    monkeypatch.setattr(hamiltonian, "_move", watched)
    rng = np.random.default_rng(1)
    start = rng.standard_normal((16, 40))
    walk(lambda x: (-0.5 * np.square(x).sum(axis=-1), -x), start, np.eye(40), 50, rng, lambda n: None)
    assert abs(np.mean(accepted[-50:]) - ACCEPTANCE) < 0.1


def test_a_trajectory_out_of_the_support_is_rejected():
    def density(x):
        return np.where(np.abs(x[:, 0]) > 1, -math.inf, 0.0), np.zeros(x.shape)

    drawn = walk(density, np.zeros((4, 1)), np.eye(1), 200, np.random.default_rng(1), lambda n: None)
    assert 0.9 < np.abs(drawn).max() <= 1
