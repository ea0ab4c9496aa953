"""Chains of Hamiltonian Monte Carlo against a target with known moments."""

import math

import numpy as np

from bayesagree.inference.convergence import diagnostics
from bayesagree.inference.hamiltonian import ACCEPTANCE, Chain, Normals


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


CENTRES, SCALES, SHARES = np.array([[0.0, 0.0], [12.0, 5.0]]), np.array([1.0, 0.3]), np.array([0.7, 0.3])


def two_modes(x):
    """Return the log density of two normal modes, the second narrower, and its gradient."""
    away = (x - CENTRES) / SCALES[:, None]
    parts = np.log(SHARES) - 2 * np.log(SCALES) - 0.5 * (away**2).sum(axis=1)
    weight = np.exp(parts - np.logaddexp.reduce(parts))
    return float(np.logaddexp.reduce(parts)), -(weight / SCALES) @ away


def between_modes(random_seed):
    started = []
    for mode in (0, 0, 1, 1):
        rng = np.random.default_rng([random_seed, len(started)])
        start = CENTRES[mode] + 0.1 * rng.standard_normal(2)
        started.append(Chain(two_modes, start, np.eye(2), rng, shortest=1.0, longest=2.2, centre=np.zeros(2)))
        started[-1].adapt(20)
    first = np.array([chain.run(150) for chain in started])
    jumps = Normals.of(first, np.eye(2))
    return first, np.array([chain.run(300, 1, jumps) for chain in started])


def test_jumps_give_each_mode_its_share():
    first, drawn = between_modes(3)
    assert diagnostics(first)[0].max() > 1.5  # no chain leaves its mode by itself
    second = (drawn[:, :, :1] > 6).astype(float)
    r_hat, ess = diagnostics(second)
    assert r_hat.max() < 1.05
    assert abs(second.mean() - SHARES[1]) < 4 * np.sqrt(SHARES.prod() / ess[0])
    for mode, inside in enumerate((drawn[:, :, 0] < 6, drawn[:, :, 0] > 6)):
        spread = drawn[inside].std(axis=0)
        # A standard deviation has a relative error of 1 / sqrt(2 n); draws inside a mode are nearly independent.
        assert np.abs(spread / SCALES[mode] - 1).max() < 4 / np.sqrt(2 * inside.sum() / 4)
