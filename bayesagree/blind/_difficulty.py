"""Truths behind systems of two labels that err on the same items: Dawid-Skene with a difficulty that all systems share.

    t_i ~ pi,   logit Pr(system j is right on item i | t_i = k) = sqrt(1 + s^2 / 2.89) a_jk - s z_i,   z_i ~ N(0, 1)

with a_jk about the log odds of being right over all items, s the spread of difficulties: 0 is independent errors.
Truths and difficulties are summed out over the patterns of labels; parameters by Hamiltonian Monte Carlo. What labels
alone say of s is little, so that intervals are wider than those of independent errors.

Source: Qu, Tan, Kutner, "Random effects models in latent class analysis for evaluating accuracy of diagnostic tests",
Biometrics 52 (1996), https://doi.org/10.2307/2533043, with logits for probits.
"""

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._inference.streams import Seed, map_blocks, seed_sequence
from bayesagree._numerics.hamiltonian import Chain
from bayesagree._numerics.types import Floats, Rng

NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
LOG_WEIGHTS = np.log(_WEIGHTS / _WEIGHTS.sum())[:, None]
ATTENUATION = 1.7**2
"""A logistic averaged over a normal of variance s^2 is nearly one whose logit is divided by sqrt(1 + s^2 / this)."""
ABILITY, ABILITY_SD, PREVALENCE = 1.5, 1.0, 3.0
SPREAD = 2.0
"""Scale of the half-normal prior of s: at 1 four systems, whose labels say little of s, keep intervals too narrow."""
WARM_UP = 150
WIDEST = 8.0
"""Bound of log s, far outside the posterior: a trajectory that leaves it is rejected."""


class SharedDifficulty:
    """The posterior of abilities (label, system), log odds of the prevalence and log s, of codes (system, item)."""

    def __init__(self, predicted: NDArray[np.int16]) -> None:
        patterns, place, count = np.unique(predicted, axis=1, return_inverse=True, return_counts=True)
        self.place, self.count, self.n_systems = place.ravel(), count, len(predicted)
        code = patterns.T.astype(np.int64)
        self.right = np.stack([code == k for k in range(2)]).astype(np.float64)  # (label, pattern, system)
        self.given = np.broadcast_to((code >= 0).astype(np.float64), self.right.shape)

    def joint(self, point: Floats) -> tuple[Floats, Floats]:
        """Return log Pr(label, difficulty, pattern), (label, node, pattern), and logits, (label, node, system)."""
        ability, spread = point[:-2].reshape(2, 1, self.n_systems), np.exp(point[-1])
        logit = np.sqrt(1 + spread**2 / ATTENUATION) * ability - spread * NODES[:, None]
        of_right, of_wrong = -np.logaddexp(0, -logit), -np.logaddexp(0, logit)
        share = -np.logaddexp(0, [point[-2], -point[-2]])
        patterns = (of_right - of_wrong) @ self.right.swapaxes(1, 2) + of_wrong @ self.given.swapaxes(1, 2)
        return patterns + LOG_WEIGHTS + share[:, None, None], logit

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """Return the log density and its gradient."""
        if abs(point[-1]) > WIDEST:
            return -np.inf, np.zeros_like(point)
        spread = np.exp(point[-1])
        log_joint, logit = self.joint(point)
        largest = log_joint.max(axis=(0, 1))
        joint = np.exp(log_joint - largest)
        total = joint.sum(axis=(0, 1))
        items = joint * (self.count / total)
        slope = items @ self.right - (items @ self.given) * sp.special.expit(logit)
        ability = point[:-2].reshape(2, 1, -1)
        factor = np.sqrt(1 + spread**2 / ATTENUATION)
        away, positive = (ability[:, 0] - ABILITY) / ABILITY_SD, sp.special.expit(point[-2])
        of_ability = slope.sum(axis=1) * factor - away / ABILITY_SD
        of_odds = items[1].sum() - self.count.sum() * positive + PREVALENCE * (1 - 2 * positive)
        turn = ability * spread / (ATTENUATION * factor) - NODES[:, None]
        of_spread = (slope * turn).sum() * spread - (spread / SPREAD) ** 2 + 1
        height = self.count @ (np.log(total) + largest) + PREVALENCE * np.log(positive * (1 - positive))
        height += point[-1] - 0.5 * ((spread / SPREAD) ** 2 + (away**2).sum())
        return float(height), np.concatenate([of_ability.ravel(), [of_odds, of_spread]])

    def mode(self) -> tuple[Floats, Floats]:
        """Find the mode, and directions of about one standard deviation each."""
        start = np.append(np.full(2 * self.n_systems, ABILITY), [0.0, -0.5])

        def loss(point: Floats) -> tuple[float, Floats]:
            height, slope = self(np.append(point[:-1], np.clip(point[-1], -WIDEST, WIDEST)))
            return -height, -slope

        found = sp.optimize.minimize(loss, start, jac=True, method="BFGS")
        covariance = (found.hess_inv + found.hess_inv.T) / 2
        return found.x, np.linalg.cholesky(covariance + 1e-6 * np.eye(start.size))

    def draw(self, draws: int, mode: tuple[Floats, Floats], rng: Rng) -> tuple[NDArray[np.int16], Floats]:
        """Return truths (draw, item) and spreads (draw,) of one chain."""
        centre, units = mode
        point = centre + 0.3 * units @ rng.standard_normal(centre.size)
        chain = Chain(self, point, units, rng, shortest=0.5, longest=2.5)
        chain.adapt(WARM_UP)
        points = chain.run(draws)
        truth = np.empty((draws, self.place.size), np.int16)
        for row, at in zip(truth, points):
            odds = np.subtract(*sp.special.logsumexp(self.joint(at)[0], axis=1)[::-1])
            row[:] = rng.random(row.size) < sp.special.expit(odds)[self.place]
        return truth, np.exp(points[:, -1])


def truths_behind(
    predicted: NDArray[np.int16], draws: int, chains: int, seed: Seed
) -> tuple[NDArray[np.int16], Floats]:
    """Draw truths (chain x draw, item) and spreads of difficulty, chain after chain."""
    model = SharedDifficulty(predicted)
    rngs = [np.random.default_rng(stream) for stream in seed_sequence(seed).spawn(chains)]
    mode = model.mode()
    truths, spreads = zip(*map_blocks(lambda rng: model.draw(draws, mode, rng), rngs))
    return np.concatenate(truths), np.concatenate(spreads)
