"""Truths behind systems that err on the same items: Dawid-Skene with a difficulty that all systems share.

    t_i ~ pi,   logit Pr(system j is right on item i | t_i = k) = sqrt(1 + s^2 / 2.89) a_jk - s z_i,   z_i ~ N(0, 1)

with a_jk about the log odds of being right over all items, s the spread of difficulties: 0 is independent errors. Of
more than two labels a wrong one has a share that is fixed before: how often the system, drawn towards all systems,
gives it beside the answers of all. A consensus by expectation maximisation in their place takes its errors for certain
(with four systems, 150 items, three labels, intervals then hold .73 of the accuracies). Truths and difficulties are
summed out over the patterns of labels; parameters by Hamiltonian Monte Carlo. What labels alone say of s is little, so
that intervals are wider than those of independent errors.

Source: Qu, Tan, Kutner, "Random effects models in latent class analysis for evaluating accuracy of diagnostic tests",
Biometrics 52 (1996), https://doi.org/10.2307/2533043, with logits for probits.
"""

from typing import Any

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.inference.hamiltonian import walk
from bayesagree.inference.streams import Seed, item_blocks, seed_sequence

NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
LOG_WEIGHTS = np.log(_WEIGHTS / _WEIGHTS.sum())
# A logistic averaged over a normal of variance s^2 is nearly one whose logit is divided by sqrt(1 + s^2 / this).
ATTENUATION = 1.7**2
ABILITY, ABILITY_SD, PREVALENCE = 1.5, 1.0, 3.0
# Scale of the half-normal prior of s: at 1 four systems, whose labels say little of s, keep intervals too narrow.
SPREAD = 2.0
# Walkers that make a chain one after the other; numbers of joint probabilities held at once.
WALKERS, AT_ONCE = 4, 2**20
# Bound of log s, far outside the posterior: a trajectory that leaves it is rejected.
WIDEST = 8.0


class SharedDifficulty:
    """The posterior of abilities (label, system), log odds of the labels against the first, and log s.

    Of codes (system, item), -1 where there is none.
    """

    def __init__(self, predicted: NDArray[np.int16], n_labels: int) -> None:
        patterns, place, count = np.unique(predicted, axis=1, return_inverse=True, return_counts=True)
        self.place, self.count, self.n_systems = place.ravel(), count.astype(np.float64), len(predicted)
        self.n_labels, self.given = n_labels, (patterns >= 0).astype(float)  # (system, pattern)
        self.right = (patterns == np.arange(n_labels)[:, None, None]).astype(float)  # (label, system, pattern)
        of_wrong = np.log(_shares_of_wrong_labels(predicted, n_labels))  # log 1 where it is right
        self.wrong = np.einsum("stk,ksp->tp", of_wrong, self.right)  # (label, pattern)

    def joint(self, point: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return Pr(label, difficulty, pattern), (..., label, node, pattern), over exp of a number of each pattern.

        Also these numbers, (..., pattern), log prevalences, (..., label), and logits, (..., label, node, system); of
        points (..., parameter).
        """
        n_abilities = self.n_labels * self.n_systems
        spread = np.exp(point[..., -1, None, None, None])
        odds = point[..., n_abilities:-1]
        share = sp.special.log_softmax(
            np.concatenate([np.zeros((*odds.shape[:-1], 1)), odds], axis=-1), axis=-1
        )
        ability = point[..., :n_abilities].reshape(*odds.shape[:-1], self.n_labels, 1, self.n_systems)
        logit = np.sqrt(1 + spread**2 / ATTENUATION) * ability - spread * NODES[:, None]
        log_joint = sp.special.log_expit(logit) @ self.right + LOG_WEIGHTS[:, None]
        log_joint += sp.special.log_expit(-logit) @ (self.given - self.right)
        log_joint += (self.wrong + share[..., None])[..., None, :]
        largest = log_joint.max(axis=(-3, -2))
        return np.exp(log_joint - largest[..., None, None, :]), largest, share, logit

    def __call__(self, point: Floats) -> tuple[Any, Floats]:
        """Return log densities of points (..., parameter) and their gradients."""
        inside = np.append(np.full(point.shape[-1] - 1, np.inf), WIDEST)
        (joint, largest, share, logit) = self.joint(point.clip(-inside, inside))
        spread = np.exp(point[..., -1])
        total = joint.sum(axis=(-3, -2))
        alpha = 2 * PREVALENCE / self.n_labels
        abilities = point[..., : self.n_labels * self.n_systems]
        here = joint * (self.count / total)[..., None, None, :]
        away = (abilities - ABILITY) / ABILITY_SD
        of_logit = here @ self.right.swapaxes(1, 2) - (here @ self.given.T) * sp.special.expit(logit)
        factor = np.sqrt(1 + spread**2 / ATTENUATION)
        by_ability = factor[..., None] * of_logit.sum(axis=-2).reshape(abilities.shape)
        by_spread = spread / (ATTENUATION * factor**2) * (by_ability * abilities).sum(axis=-1)
        by_spread -= (of_logit * NODES[:, None]).sum(axis=(-3, -2, -1))
        expected = (self.count.sum() + alpha * self.n_labels) * np.exp(share)
        of_labels = here.sum(axis=(-2, -1)) + alpha - expected
        of_spread = by_spread * spread + 1 - (spread / SPREAD) ** 2
        slope = np.concatenate(
            [by_ability - away / ABILITY_SD, of_labels[..., 1:], of_spread[..., None]], axis=-1
        )
        height = (
            (np.log(total) + largest) @ self.count + alpha * share.sum(axis=-1) - 0.5 * np.square(away).sum(-1)
        )
        height = height + point[..., -1] - 0.5 * (spread / SPREAD) ** 2
        return np.where(np.abs(point[..., -1]) > WIDEST, -np.inf, height), slope

    def start(self, log_spread: float) -> Floats:
        """Return the parameters at which searches start: equal abilities and prevalences."""
        n_abilities = self.n_labels * self.n_systems
        return np.concatenate([np.full(n_abilities, ABILITY), np.zeros(self.n_labels - 1), [log_spread]])

    def mode(self) -> tuple[Floats, Floats]:
        """Find the mode, and directions of about one standard deviation each."""
        start = self.start(-0.5)

        def loss(point: Floats) -> tuple[float, Floats]:
            height, slope = self(np.append(point[:-1], np.clip(point[-1], -WIDEST, WIDEST)))
            return -float(height), -slope

        found = sp.optimize.minimize(loss, start, jac=True, method="BFGS")
        covariance = (found.hess_inv + found.hess_inv.T) / 2
        return found.x, np.linalg.cholesky(covariance + 1e-6 * np.eye(start.size))

    def draw(self, draws: int, chains: int, rng: Rng) -> Floats:
        """Return parameters (sample, parameter), chain after chain."""
        centre, units = self.mode()
        point = centre + 0.3 * rng.standard_normal((chains * WALKERS, centre.size)) @ units.T
        points = walk(self, point, units, -(-draws // WALKERS), rng, lambda n: None)
        return points.reshape(chains, -1, centre.size)[:, :draws].reshape(-1, centre.size)

    def truths(self, points: Floats, rng: Rng) -> NDArray[np.int16]:
        """Draw the truth of each item given parameters (sample, parameter), shape (sample, item)."""
        truth = np.empty((len(points), self.place.size), np.int16)
        for some in item_blocks(len(points), max(1, AT_ONCE // (NODES.size * self.wrong.size))):
            of_label = self.joint(points[some])[0].sum(axis=-2)
            below = np.cumsum(of_label / of_label.sum(axis=1, keepdims=True), axis=1)[:, :-1, self.place]
            truth[some] = (rng.random((len(below), 1, self.place.size)) >= below).sum(axis=1)
        return truth


def truths_behind(
    predicted: NDArray[np.int16], n_labels: int, draws: int, chains: int, random_seed: Seed
) -> tuple[NDArray[np.int16], Floats]:
    """Draw truths (chain x draw, item) and spreads of difficulty, chain after chain."""
    model = SharedDifficulty(predicted, n_labels)
    rng = np.random.default_rng(seed_sequence(random_seed))
    points = model.draw(draws, chains, rng)
    return model.truths(points, rng), np.exp(points[:, -1])


def _shares_of_wrong_labels(predicted: NDArray[np.int16], n_labels: int) -> Floats:
    """Return Pr(label | system, truth, wrong), shape (system, truth, label); 1 where label and truth are the same.

    For this the truth of an item is any of the answers to it.
    """
    same = np.eye(n_labels, dtype=bool)
    given = predicted[..., None] == np.arange(n_labels)
    counts = given.mean(axis=0).T @ given.astype(np.float64)
    pooled = np.where(same, 0, counts.sum(axis=0) + 1)
    counts = np.where(same, 0, counts) + n_labels * pooled / pooled.sum(axis=1, keepdims=True)
    return np.where(same, 1.0, counts / counts.sum(axis=2, keepdims=True))
