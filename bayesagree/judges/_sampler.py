"""The sampler of `corrected_rate`: Hamiltonian Monte Carlo with all that belongs to one item integrated out.

What is left are some hundred parameters with a smooth density: coefficients in units of their standard deviations,
logarithms of the scales, and what people have in common: the correlation rho of the latent opinions of two people on an
item (``target="share"``), or people's sensitivity and specificity (``"truth"``). Items that are alike are one cell.

Votes on a share: k of n people say positive with probability E[Phi(z)^k Phi(-z)^(n - k)], z ~ N(m / s, t^2), where
s^2 = 1 - rho and t^2 = rho / (1 - rho). The trapezoid rule converges as fast as a power of the number of nodes for such
integrands; slopes by m and t^2 are moments of the same sum (the normal density solves the heat equation).

Source: Neal, "MCMC using Hamiltonian dynamics" (2011), https://arxiv.org/abs/1206.1901, sections 4 and 4.2; Trefethen
and Weideman, "The exponentially convergent trapezoidal rule" (2014), https://doi.org/10.1137/130932132.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy as sp

from bayesagree._numerics.hamiltonian import Chain
from bayesagree._numerics.types import Floats, Rng
from bayesagree.judges._regression import CorrectedRatePrior, Regression, Target

# Starts from which modes of truths are looked for: of two that are reached alike often, one is missed in 3 % of the
# fits. Shares have one mode.
STARTS = 6
# Logarithms of scales farther from 0 are this far, and log odds of rho; utilities farther away are impossible:
# trajectories that went astray.
LARGEST, LARGEST_ODDS, FARTHEST = 50.0, 16.0, 1e6
# Coefficients and logarithms have a prior deviation of about 1: a tenth of it is near enough to straight, and far
# enough for differences of the slopes to have ten digits.
CURVED_OVER = 0.1
# No direction is longer than the prior, wherever the density is flat or bends the other way.
LEAST_CURVED = 1.0
# A quarter of a circle, pi / 2, makes a draw of a normal target independent; lengths at random meet no period.
SHORTEST, LONGEST = 0.8, 2.0
# Standard deviations that the nodes reach, and their distance in widths of the integrand.
REACH, APART = 6.5, 0.9


class Posterior:
    """Log posterior of coefficients, scales and people's parameters, whatever belongs to one item integrated out.

    The point: every coefficient in units of its standard deviation, the logarithms of the scales, then the log odds of
    rho, or of 2 accuracy - 1 for people's sensitivity and specificity, which lie above one half.
    """

    def __init__(self, data: Regression, target: Target, prior: CorrectedRatePrior) -> None:
        self.scale_prior, self.share = data.scale_prior, target == "share"
        self.names = ("vote_correlation",) if self.share else ("people_sensitivity", "people_specificity")
        self.accuracy_prior = np.array([prior.people_right, prior.people_wrong]) - 1
        self.scaled = np.where(data.scale_index < 0, data.scale_prior.size, data.scale_index)
        self.ends = np.cumsum([data.scale_index.size, data.scale_prior.size])
        rows, self.alike = np.unique(
            np.column_stack([data.columns, data.votes, data.positive]), axis=0, return_counts=True
        )
        self.columns, self.votes, self.positive = np.ascontiguousarray(rows[:, :-2]), rows[:, -2], rows[:, -1]
        self.kinds, self.kind = np.unique(rows[:, -2:], axis=0, return_inverse=True)

    def start(self, rng: Rng) -> Floats:
        """Return a point from which to look for a mode: people's parameters from anywhere, so that none is missed."""
        free = sp.special.logit(rng.uniform(0.1, 0.9, len(self.names)))
        return np.concatenate([np.zeros(self.ends[0]), np.log(self.scale_prior / 2), free])

    def parts(self, point: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the coefficients, the scales and people's parameters at a point."""
        n, end = self.ends
        scale = np.exp(np.clip(point[n:end], -LARGEST, LARGEST))
        inside = sp.special.expit(np.clip(point[end:], -LARGEST_ODDS, LARGEST_ODDS))
        return point[:n] * np.append(scale, 1.0)[self.scaled], scale, inside if self.share else (1 + inside) / 2

    def density(self, point: Floats) -> tuple[float, Floats]:
        """Return the log density at a point and its gradient."""
        n, end = self.ends
        coefficient, scale, people = self.parts(point)
        mean = self.columns @ coefficient
        if not np.abs(mean).max() < FARTHEST:
            return -math.inf, np.zeros(point.size)
        value, by_mean, by_people = self._shares(mean, people[0]) if self.share else self._truths(mean, people)
        inside = people if self.share else 2 * people - 1
        known, share, slope = point[:n], (scale / self.scale_prior) ** 2, np.empty(point.size)
        prior = -0.5 * (known @ known + share.sum()) + np.log(scale).sum()
        prior += np.log(inside * (1 - inside)).sum()
        if not self.share:
            right, wrong = self.accuracy_prior
            prior += (right * np.log(people) + wrong * np.log1p(-people)).sum()
            by_people = (by_people + right / people - wrong / (1 - people)) / 2
        by_coefficient = (self.alike * by_mean) @ self.columns
        slope[:n] = by_coefficient * np.append(scale, 1.0)[self.scaled] - known
        slope[n:end] = np.bincount(self.scaled, by_coefficient * coefficient, scale.size + 1)[:-1] + 1 - share
        slope[end:] = by_people * inside * (1 - inside) + 1 - 2 * inside
        return value + float(prior), slope

    def _truths(self, mean: Floats, accuracy: Floats) -> tuple[float, Floats, Floats]:
        """Log probability of all votes, its slopes by each cell's m, and by people's sensitivity and specificity."""
        negative = self.votes - self.positive
        log_yes = self.positive * math.log(accuracy[0]) + negative * math.log1p(-accuracy[0])
        log_no = negative * math.log(accuracy[1]) + self.positive * math.log1p(-accuracy[1])
        yes, no = sp.special.log_ndtr(mean) + log_yes, sp.special.log_ndtr(-mean) + log_no
        total = np.logaddexp(yes, no)
        log_density = -0.5 * mean**2 - 0.5 * math.log(2 * math.pi) - total
        by_mean = np.exp(log_density + log_yes) - np.exp(log_density + log_no)
        share = self.alike * np.exp(yes - total)
        of_yes, of_no = share @ self.positive, share @ negative
        not_yes, not_no = (self.alike - share) @ self.positive, (self.alike - share) @ negative
        by_accuracy = [
            of_yes / accuracy[0] - of_no / (1 - accuracy[0]),
            not_no / accuracy[1] - not_yes / (1 - accuracy[1]),
        ]
        return float(self.alike @ total), by_mean, np.array(by_accuracy)

    def _shares(self, mean: Floats, rho: float) -> tuple[float, Floats, Floats]:
        """Log probability of all votes, its slopes by each cell's m, and by rho."""
        spread, tau = math.sqrt(1 - rho), math.sqrt(rho / (1 - rho))
        centre, most = mean / spread, self.votes.max()
        if tau < 1:  # nodes around each cell's own mean
            step = APART / math.sqrt(1 + 0.64 * most * tau**2)
            e = np.arange(-REACH, REACH + step, step)
            weight = np.exp(-0.5 * e**2) * step / math.sqrt(2 * math.pi)
            log_votes = _log_votes(centre[:, None] + tau * e, self.votes[:, None], self.positive[:, None])
            moments = np.stack([weight, weight * e, weight * (e**2 - 1)], axis=1)
            top = log_votes.max(axis=1)
            zeroth, first, second = (np.exp(log_votes - top[:, None]) @ moments).T
        else:  # the same nodes for all cells, farther apart where the votes are all but certain
            end, step = math.asinh(np.abs(centre).max() + REACH * tau), 0.2 / math.sqrt(max(1, most / 32))
            x = np.arange(-end, end + step, step)
            e = (np.sinh(x) - centre[:, None]) / tau
            log_votes = _log_votes(np.sinh(x), self.kinds[:, :1], self.kinds[:, 1:])[self.kind]
            exponent = log_votes - 0.5 * e**2
            top = exponent.max(axis=1)
            weight = np.exp(exponent - top[:, None]) * (np.cosh(x) * (step / (tau * math.sqrt(2 * math.pi))))
            zeroth, first, second = weight.sum(axis=1), (weight * e).sum(axis=1), (weight * (e**2 - 1)).sum(axis=1)
        by_centre, by_variance = first / (tau * zeroth), second / (2 * tau**2 * zeroth)
        by_rho = self.alike @ (by_centre * mean / (2 * spread**3) + by_variance / spread**4)
        return float(self.alike @ (np.log(zeroth) + top)), by_centre / spread, np.array([by_rho])

    def precision(self, point: Floats) -> Floats:
        """Return the curvature at a point, by differences of the gradient."""
        steps = CURVED_OVER * np.eye(point.size)
        slopes = [self.density(point - step)[1] - self.density(point + step)[1] for step in steps]
        return (np.array(slopes) + np.array(slopes).T) / (4 * CURVED_OVER)


def _log_votes(z: Floats, votes: Floats, positive: Floats) -> Floats:
    return positive * sp.special.log_ndtr(z) + (votes - positive) * sp.special.log_ndtr(-z)


class Mode(NamedTuple):
    """A mode, the logarithm of the probability around it, and its own units, shape (parameter, direction)."""

    point: Floats
    log_mass: float
    units: Floats


def modes(target: Posterior, rng: Rng) -> list[Mode]:
    """Look for modes from several points: people may err more, and judges less, where the verdicts tell it badly."""
    found = []
    for _ in range(1 if target.share else STARTS):
        best = sp.optimize.minimize(
            lambda x: tuple(-v for v in target.density(x)), target.start(rng), jac=True, method="BFGS",
            options={"gtol": 0.01},
        )  # fmt: skip
        units, log_volume = _units(target, best.x)
        found.append(Mode(best.x, log_volume - float(best.fun), units))
    return found


def _units(target: Posterior, point: Floats) -> tuple[Floats, float]:
    """Return directions of about one standard deviation each, and the logarithm of the volume that they span."""
    value, vector = np.linalg.eigh(target.precision(point))
    value = np.maximum(value, LEAST_CURVED)
    # Multiplied by momenta it gives steps, and its transpose turns slopes into forces.
    return vector / np.sqrt(value), -0.5 * float(np.log(value).sum())


def sample_chain(
    target: Posterior, known: list[Mode], *, draws: int, tune: int, thin: int, rng: Rng
) -> tuple[Floats, Floats, Floats]:
    """Return draws of coefficients, scales and people's parameters, each after `thin` trajectories.

    The chain starts from a mode drawn by its mass: trajectories seldom change modes.
    """
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
    return coefficient, scale, people
