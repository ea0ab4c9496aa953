"""The sampler of `corrected_rate` where people err: Hamiltonian Monte Carlo with the items' truths integrated out.

Judges that together all but know the truth leave the drawn truths, and utilities given these, hardly any room: sweeps
that draw them move the slopes by a hundredth of their spread. Integrated out they leave a smooth density of some
hundred parameters: coefficients in units of their standard deviations, logarithms of the scales, and people's
accuracy. Trajectories are taken in units of the curvature at the mode.

Source: Neal, "MCMC using Hamiltonian dynamics" (2011), https://arxiv.org/abs/1206.1901, sections 4 and 4.2.
"""

import math
from typing import NamedTuple

import numba
import numpy as np
import scipy as sp

from bayesagree._numerics.hamiltonian import Chain
from bayesagree._numerics.types import Floats
from bayesagree.judges._regression import Draws, Regression

# Starts from which modes are looked for: of two that are reached alike often, one is missed in 3 % of the fits.
STARTS = 6
# Logarithms of scales farther from 0 are this far: trajectories that went astray.
LARGEST = 50.0
# Coefficients and logarithms have a prior deviation of about 1: a tenth of it is near enough to straight, and far
# enough for differences of the slopes to have ten digits.
CURVED_OVER = 0.1
# No direction is longer than the prior, wherever the density is flat or bends the other way.
LEAST_CURVED = 1.0
# A quarter of a circle, pi / 2, makes a draw of a normal target independent: two trajectories, the default `thin`, pass
# it, and lengths at random meet no period.
SHORTEST, LONGEST = 0.8, 2.0


class Truths:
    """Log posterior of coefficients, scales and people's accuracy, each item's truth integrated out.

    An item's label is positive with probability Phi(m_i); people see it with a sensitivity and a specificity above one
    half, of which the point holds the log odds of 2 accuracy - 1. The point: every coefficient in units of its standard
    deviation, the logarithms of the scales, and these two.
    """

    names = ("people_sensitivity", "people_specificity")

    def __init__(self, data: Regression, accuracy: tuple[float, float]) -> None:
        self.data, self.accuracy_prior = data, np.array(accuracy)
        self.ends = np.cumsum([data.scale_index.size, data.scale_prior.size])
        self.scaled = np.where(data.scale_index < 0, data.scale_prior.size, data.scale_index)

    def start(self, rng: np.random.Generator) -> Floats:
        """Return a point from which to look for a mode: people's accuracy from anywhere, so that no mode is missed."""
        log_scale, accuracy = np.log(self.data.scale_prior / 2), rng.uniform(0.55, 0.95, 2)
        return np.concatenate([np.zeros(self.ends[0]), log_scale, sp.special.logit(2 * accuracy - 1)])

    def parts(self, point: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the coefficients, the scales and people's accuracy at a point."""
        n, end = self.ends
        scale, free = np.exp(np.clip(point[n:end], -LARGEST, LARGEST)), point[end:]
        accuracy = np.minimum((1 + sp.special.expit(free)) / 2, 1 - 1e-12)
        return point[:n] * np.append(scale, 1.0)[self.data.scale_index], scale, accuracy

    def density(self, point: Floats) -> tuple[float, Floats]:
        """Return the log density at a point and its gradient."""
        data, (n, end), (right, wrong) = self.data, self.ends, self.accuracy_prior - 1
        coefficient, scale, accuracy = self.parts(point)
        value, by_coefficient, by_accuracy = _of_votes(
            data.shared, data.own, data.system, data.positive, data.votes, coefficient, accuracy
        )
        known, share = point[:n], (scale / data.scale_prior) ** 2
        # The accuracy moves with its log odds by p (1 - p) / 2.
        p, of_accuracy = 2 * accuracy - 1, right * np.log(accuracy) + wrong * np.log1p(-accuracy)
        prior = -0.5 * (known @ known + share.sum()) + np.log(scale).sum()
        prior += (of_accuracy + sp.special.log_expit(point[end:]) + np.log1p(-p)).sum()
        slope = np.empty(point.size)
        slope[:n] = by_coefficient * np.append(scale, 1.0)[data.scale_index] - known
        slope[n:end] = np.bincount(self.scaled, by_coefficient * coefficient, scale.size + 1)[:-1] + 1 - share
        slope[end:] = (by_accuracy + right / accuracy - wrong / (1 - accuracy)) * p * (1 - p) / 2 + 1 - 2 * p
        return value + float(prior), slope

    def precision(self, point: Floats) -> Floats:
        """Return the curvature at a point, by differences of the gradient."""
        steps = CURVED_OVER * np.eye(point.size)
        slopes = [self.density(point - step)[1] - self.density(point + step)[1] for step in steps]
        return (np.array(slopes) + np.array(slopes).T) / (4 * CURVED_OVER)


@numba.njit(cache=True, nogil=True, fastmath={"reassoc"})
def _of_item(mean, positive, votes, accuracy):
    """Log probability of an item's votes, and its slopes by m_i, by people's sensitivity and by their specificity."""
    negative = votes - positive
    log_yes = positive * math.log(accuracy[0]) + negative * math.log(1 - accuracy[0])
    log_no = negative * math.log(accuracy[1]) + positive * math.log(1 - accuracy[1])
    top = max(log_yes, log_no)
    yes, no = math.exp(log_yes - top), math.exp(log_no - top)
    small = 0.5 * math.erfc(abs(mean) / math.sqrt(2))
    chance = 1 - small if mean > 0 else small
    total = max(chance * yes + (small if mean > 0 else 1 - small) * no, 1e-300)
    share = chance * yes / total
    return (
        math.log(total) + top,
        math.exp(-0.5 * mean * mean) / math.sqrt(2 * math.pi) * (yes - no) / total,
        share * (positive / accuracy[0] - negative / (1 - accuracy[0])),
        (1 - share) * (negative / accuracy[1] - positive / (1 - accuracy[1])),
    )


@numba.njit(cache=True, nogil=True, fastmath={"reassoc"})  # sums of columns, several at a time
def _of_votes(shared, own, system, positive, votes, coefficient, accuracy):
    """Log probability of all votes, and its slopes by the coefficients and by people's accuracy."""
    n_shared, n_own = shared.shape[1], own.shape[1]
    value, by_coefficient, by_accuracy = 0.0, np.zeros(coefficient.size), np.zeros(2)
    for i in range(votes.size):
        first = n_shared + system[i] * n_own
        mean = 0.0
        for c in range(n_shared):
            mean += shared[i, c] * coefficient[c]
        for c in range(n_own):
            mean += own[i, c] * coefficient[first + c]
        log_probability, by_mean, by_sensitivity, by_specificity = _of_item(mean, positive[i], votes[i], accuracy)
        value += log_probability
        by_accuracy[0] += by_sensitivity
        by_accuracy[1] += by_specificity
        for c in range(n_shared):
            by_coefficient[c] += shared[i, c] * by_mean
        for c in range(n_own):
            by_coefficient[first + c] += own[i, c] * by_mean
    return value, by_coefficient, by_accuracy


class Mode(NamedTuple):
    """A mode, the logarithm of the probability around it, and its own units, shape (parameter, direction)."""

    point: Floats
    log_mass: float
    units: Floats


def modes(target: Truths, rng: np.random.Generator) -> list[Mode]:
    """Look for modes from several points: people may err more, and judges less, where the verdicts tell it badly."""
    found = []
    for _ in range(STARTS):
        best = sp.optimize.minimize(
            lambda x: tuple(-v for v in target.density(x)), target.start(rng), jac=True, method="L-BFGS-B"
        )
        units, log_volume = _units(target, best.x)
        found.append(Mode(best.x, log_volume - float(best.fun), units))
    return found


def _units(target: Truths, point: Floats) -> tuple[Floats, float]:
    """Return directions of about one standard deviation each, and the logarithm of the volume that they span."""
    value, vector = np.linalg.eigh(target.precision(point))
    value = np.maximum(value, LEAST_CURVED)
    # Multiplied by momenta it gives steps, and its transpose turns slopes into forces.
    return vector / np.sqrt(value), -0.5 * float(np.log(value).sum())


def sample_truths(
    target: Truths, known: list[Mode], *, draws: int, tune: int, thin: int, rng: np.random.Generator
) -> Draws:
    """Run one chain of `thin` trajectories a draw, from a mode drawn by its mass: trajectories seldom change modes."""
    mode = known[rng.choice(len(known), p=sp.special.softmax([mode.log_mass for mode in known]))]
    start = mode.point + mode.units @ rng.standard_normal(mode.point.size)
    chain = Chain(target.density, start, mode.units, rng, shortest=SHORTEST, longest=LONGEST)
    # The curvature at the mode alone would not do as units: there the scales of a hierarchy are larger than nearly
    # anywhere. Two quarters of the trajectories learn the units, and all of them the step.
    first = tune // 4
    for phase in (first, first, tune - 2 * first):
        visited = chain.adapt(phase)
        if 0 < phase == first:
            chain.units, _ = _units(target, visited[phase // 2 :].mean(axis=0))
    coefficient, scale, people = (np.array(part) for part in zip(*map(target.parts, chain.run(draws, thin))))
    return Draws(coefficient, scale, dict(zip(target.names, people.T)))
