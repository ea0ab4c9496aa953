"""Chains of Hamiltonian Monte Carlo against a target with known moments."""

import math

import numpy as np

from bayesagree.inference.convergence import diagnostics
from bayesagree.inference.hamiltonian import ACCEPTANCE, Chain


def chains(density, units, n=4, draws=1000):
    found = []
    for random_seed in range(n):
        rng = np.random.default_rng(random_seed)
        start = units @ rng.standard_normal(len(units))
        chain = Chain(density, start, units, rng, shortest=1.0, longest=4.0)
        chain.adapt(100)
        found.append(chain.run(draws))
    return np.array(found)


def test_moments_of_a_skewed_density():
    """Logs of gamma variables, shapes 2 and 5, in units of a wrong covariance."""
    shape = np.array([2.0, 5.0])

    def density(x):
        return float((shape * x - np.exp(x)).sum()), shape - np.exp(x)

    drawn = chains(density, np.array([[0.8, 0.0], [0.3, 0.5]]))
    _, ess = diagnostics(np.exp(drawn))
    z = (np.exp(drawn).mean(axis=(0, 1)) - shape) / np.sqrt(shape / ess)
    assert np.abs(z).max() < 4
    _, ess = diagnostics(np.exp(drawn) ** 2)
    second = shape * (shape + 1)
    variance = shape * (shape + 1) * (shape + 2) * (shape + 3) - second**2
    z = ((np.exp(drawn) ** 2).mean(axis=(0, 1)) - second) / np.sqrt(variance / ess)
    assert np.abs(z).max() < 4


def test_the_step_settles_at_the_requested_acceptance():
    rng = np.random.default_rng(1)
    chain = Chain(lambda x: (-0.5 * float(x @ x), -x), np.zeros(20), np.eye(20), rng, shortest=1, longest=4)
    chain.adapt(300)
    assert abs(np.mean([chain.move() for _ in range(400)]) - ACCEPTANCE) < 0.1


def test_a_trajectory_out_of_the_support_is_rejected():
    def density(x):
        return (-math.inf, x) if abs(x[0]) > 1 else (0.0, np.zeros(1))

    chain = Chain(density, np.zeros(1), np.eye(1), np.random.default_rng(1), shortest=1.0, longest=4.0)
    assert np.abs(chain.run(500)).max() <= 1
