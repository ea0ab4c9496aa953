"""Truths behind systems that err on the same items: Dawid-Skene with a difficulty that all systems share.

    t_i ~ pi,   logit Pr(system j is right on item i | t_i = k) = sqrt(1 + s^2 / 2.89) a_jk - s z_i,   z_i ~ N(0, 1)

with a_jk about the log odds of being right over all items, s the spread of difficulties: 0 is independent errors. Of
more than two labels a wrong one has a share that is fixed before: how often the system, drawn towards all systems,
gives it beside the answers of all. A consensus by expectation maximisation in their place takes its errors for certain
(with four systems, 150 items, three labels, intervals then hold .73 of the accuracies). Truths and difficulties are
summed out over the patterns of labels; parameters by slices. What labels alone say of s is little, so
that intervals are wider than those of independent errors.

Source: Qu, Tan, Kutner, "Random effects models in latent class analysis for evaluating accuracy of diagnostic tests",
Biometrics 52 (1996), https://doi.org/10.2307/2533043, with logits for probits.
"""

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng, Triple
from bayesagree.inference.cells import row_shares
from bayesagree.inference.slices import Fit, chains_of
from bayesagree.inference.streams import Seed, item_blocks, seed_sequence

NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
LOG_WEIGHTS = np.log(_WEIGHTS / _WEIGHTS.sum()).astype(np.float32)
# A logistic averaged over a normal of variance s^2 is nearly one whose logit is divided by sqrt(1 + s^2 / this).
ATTENUATION = 1.7**2
ABILITY, ABILITY_SD, PREVALENCE = 1.5, 1.0, 3.0
# Scale of the half-normal prior of s: at 1 four systems, whose labels say little of s, keep intervals too narrow.
SPREAD = 2.0
# Numbers of joint probabilities held at once; step of differences; sweeps of a draw.
AT_ONCE, STEP, SWEEPS = 2**20, 0.01, 2
# Bound of log s, far outside the posterior.
WIDEST = 8.0


class SharedDifficulty:
    """The posterior of abilities (label, system), log odds of the labels against the first, and log s.

    Of codes (system, item), -1 where there is none.
    """

    def __init__(self, predicted: NDArray[np.int16], n_labels: int) -> None:
        patterns, place, count = np.unique(predicted, axis=1, return_inverse=True, return_counts=True)
        self.place, self.count, self.n_systems = place.ravel(), count.astype(float), len(predicted)
        self.n_labels, self.given = n_labels, (patterns >= 0).astype(np.float32)  # (system, pattern)
        # Of (label, system, pattern); log Pr(wrong) = log Pr(right) - logit.
        self.right = (patterns == np.arange(n_labels)[:, None, None]).astype(np.float32)
        self.wrong_of = self.given - self.right
        of_wrong = np.log(_shares_of_wrong_labels(predicted, n_labels))  # log 1 where it is right
        self.wrong = np.einsum("stk,ksp->tp", of_wrong, self.right)  # (label, pattern)

    def joint(self, point: Floats) -> Triple:
        """Return Pr(label, difficulty, pattern), (..., label, node, pattern), over exp of a number of each pattern.

        Also these numbers, (..., pattern), and log prevalences, (..., label); of points (..., parameter).
        """
        n_abilities = self.n_labels * self.n_systems
        spread = np.exp(point[..., -1, None, None, None].clip(-WIDEST, WIDEST))
        odds = point[..., n_abilities:-1]
        share = sp.special.log_softmax(
            np.concatenate([np.zeros((*odds.shape[:-1], 1)), odds], axis=-1), axis=-1
        )
        ability = point[..., :n_abilities].reshape(*odds.shape[:-1], self.n_labels, 1, self.n_systems)
        logit = (np.sqrt(1 + spread**2 / ATTENUATION) * ability - spread * NODES[:, None]).astype(np.float32)
        log_joint = sp.special.log_expit(logit) @ self.given - logit @ self.wrong_of + LOG_WEIGHTS[:, None]
        log_joint += (self.wrong + share[..., None])[..., None, :].astype(np.float32)
        largest = log_joint.max(axis=(-3, -2))
        return np.exp(log_joint - largest[..., None, None, :]), largest, share

    def density(self, points: Floats) -> Floats:
        """Return log densities of points (point, parameter)."""
        joint, largest, share = self.joint(points)
        away, log_spread = (points[:, : self.n_labels * self.n_systems] - ABILITY) / ABILITY_SD, points[:, -1]
        height = (np.log(joint.sum(axis=(-3, -2))) + largest) @ self.count
        height += 2 * PREVALENCE / self.n_labels * share.sum(axis=1) - 0.5 * np.square(away).sum(axis=1)
        height += log_spread - 0.5 * (np.exp(log_spread) / SPREAD) ** 2
        return np.where(np.abs(log_spread) > WIDEST, -np.inf, height)

    def mode(self) -> Fit:
        """Find the mode, and the covariance there, from equal abilities and prevalences."""
        n_abilities = self.n_labels * self.n_systems
        start = np.concatenate([np.full(n_abilities, ABILITY), np.zeros(self.n_labels - 1), [-0.5]])
        moves = np.concatenate([np.zeros((1, start.size)), STEP * np.eye(start.size)])

        def loss(point: Floats) -> tuple[float, Floats]:
            heights = -self.density(np.append(point[:-1], np.clip(point[-1], -WIDEST / 2, WIDEST / 2)) + moves)
            return heights[0], (heights[1:] - heights[0]) / STEP

        found = sp.optimize.minimize(loss, start, jac=True, method="BFGS", options={"gtol": 0.01})
        return Fit(found.x, np.linalg.cholesky(found.hess_inv))

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
    points = chains_of(model.density, [model.mode()], draws, chains, rng, sweeps=SWEEPS).reshape(
        draws * chains, -1
    )
    return model.truths(points, rng), np.exp(points[:, -1])


def _shares_of_wrong_labels(predicted: NDArray[np.int16], n_labels: int) -> Floats:
    """Return Pr(label | system, truth, wrong), shape (system, truth, label); 1 where label and truth are the same.

    For this the truth of an item is any of the answers to it.
    """
    same = np.eye(n_labels, dtype=bool)
    given = predicted[..., None] == np.arange(n_labels)
    counts = given.mean(axis=0).T @ given.astype(float)
    pooled = np.where(same, 0, counts.sum(axis=0) + 1)
    counts = np.where(same, 0, counts) + n_labels * row_shares(pooled)
    return np.where(same, 1.0, row_shares(counts))
