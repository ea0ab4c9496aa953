"""The posterior of `corrected_rate`: what belongs to one item is integrated out, slices draw the rest.

What is left are some hundred parameters with a smooth density: the coefficients, the scales of their priors, and what
people have in common: the correlation rho of the latent opinions of two people on an item (``target="share"``), or
people's sensitivity and specificity (``"truth"``). Items that are alike are one cell.

Votes on a share: k of n people say positive with probability E[Phi(z)^k Phi(-z)^(n - k)], z ~ N(m / s, t^2), where
s^2 = 1 - rho and t^2 = rho / (1 - rho). The trapezoid rule converges as fast as a power of the number of nodes for such
integrands; slopes by m and t^2 are moments of the same sum (the normal density solves the heat equation).

Source: Trefethen and Weideman, "The exponentially convergent trapezoidal rule" (2014),
https://doi.org/10.1137/130932132.
"""

import numpy as np
import scipy as sp

from bayesagree._types import Floats, Rng
from bayesagree.inference.slices import Fit
from bayesagree.judges._panel import Panel, Regression
from bayesagree.judges.prior import CorrectedRatePrior, Target

# Starts from which modes of truths are looked for: of two that are reached alike often, one is missed in 3 % of the
# fits. Shares have one mode.
STARTS = 6
# Log odds and logarithms of scales farther from 0 are this far; utilities farther away are impossible.
LARGEST_ODDS, LARGEST_LOG, FARTHEST = 16.0, 12.0, 1e6
# Finite differences of slopes, and the least curvature at a mode: no direction is longer than three priors.
STEP, LEAST_CURVED = 0.01, 0.1
# Standard deviations that the nodes reach, and their distance in widths of the integrand, in asinh of latent opinions.
REACH, APART, ACROSS = 6.5, 0.75, 0.2


class Votes:
    """Log density of all votes and of the prior, whatever belongs to one item integrated out, up to a constant.

    A point: every coefficient in standard deviations of its prior, the logarithms of the scales, then the log odds of
    rho, or of 2 accuracy - 1 for people's sensitivity and specificity, which lie above one half.
    """

    def __init__(self, panel: Panel, data: Regression, target: Target, prior: CorrectedRatePrior) -> None:
        self.scale_prior, self.share = data.scale_prior, target == "share"
        self.names = ("vote_correlation",) if self.share else ("people_sensitivity", "people_specificity")
        self.accuracy_prior = np.array([prior.people_right, prior.people_wrong]) - 1
        self.n, self.end = data.scale_index.size, data.scale_index.size + data.scale_prior.size
        self.size = self.end + len(self.names)
        # Scale of each coefficient; those of known standard deviation take the last, which is 1.
        self.scale_of = np.where(data.scale_index < 0, data.scale_prior.size, data.scale_index)
        self.of_scale = (self.scale_of[:, None] == np.arange(data.scale_prior.size)).astype(float)
        rows = np.column_stack([data.columns, panel.votes, panel.positive])[panel.seen]
        rows, self.alike = np.unique(rows.astype(np.float64), axis=0, return_counts=True)
        self.columns, self.votes, self.positive = np.ascontiguousarray(rows[:, :-2]), rows[:, -2], rows[:, -1]

    def people(self, points: Floats) -> Floats:
        """Return people's parameters at points (..., parameter)."""
        inside = sp.special.expit(points[..., self.end :].clip(-LARGEST_ODDS, LARGEST_ODDS))
        return inside if self.share else (1 + inside) / 2

    def deviations(self, points: Floats) -> Floats:
        """Return the prior standard deviation of each coefficient at points (..., parameter)."""
        logs = points[..., self.n : self.end].clip(-LARGEST_LOG, LARGEST_LOG)
        return np.exp(np.concatenate([logs, np.zeros((*logs.shape[:-1], 1))], axis=-1))[..., self.scale_of]

    def coefficients(self, points: Floats) -> Floats:
        """Return the coefficients at points (..., parameter)."""
        return points[..., : self.n] * self.deviations(points)

    def density(self, points: Floats) -> tuple[Floats, Floats]:
        """Return log densities of points (point, parameter), and their gradients."""
        unit, logs, people = points[:, : self.n], points[:, self.n : self.end], self.people(points)
        deviation = self.deviations(points)
        mean = (unit * deviation) @ self.columns.T
        astray = ~(np.abs(mean).max(axis=1, initial=0.0) < FARTHEST)
        mean[astray] = 0.0
        value, by_mean, by_people = (self._shares if self.share else self._truths)(mean, people)
        inside = people if self.share else 2 * people - 1
        prior = np.log(inside * (1 - inside)).sum(axis=1)
        if not self.share:
            right, wrong = self.accuracy_prior
            prior += (right * np.log(people) + wrong * np.log1p(-people)).sum(axis=1)
            by_people = (by_people + right / people - wrong / (1 - people)) / 2
        along = (self.alike * by_mean) @ self.columns * deviation
        scaled = np.exp(2 * logs.clip(-LARGEST_LOG, LARGEST_LOG)) / self.scale_prior**2
        # Half-normal scales, with the Jacobian of the logarithm.
        value = value + prior - 0.5 * np.square(unit).sum(axis=1) + (logs - 0.5 * scaled).sum(axis=1)
        of_scales = (along * unit) @ self.of_scale + 1 - scaled
        of_people = by_people * inside * (1 - inside) + 1 - 2 * inside
        return np.where(astray, -np.inf, value), np.hstack([along - unit, of_scales, of_people])

    def _truths(self, mean: Floats, accuracy: Floats) -> tuple[Floats, Floats, Floats]:
        """Log probability of all votes, its slopes by each cell's m, and by people's sensitivity and specificity."""
        negative, right = self.votes - self.positive, accuracy[:, None, :]
        log_yes = self.positive * np.log(right[..., 0]) + negative * np.log1p(-right[..., 0])
        log_no = negative * np.log(right[..., 1]) + self.positive * np.log1p(-right[..., 1])
        yes, no = sp.special.log_ndtr(mean) + log_yes, sp.special.log_ndtr(-mean) + log_no
        total = np.logaddexp(yes, no)
        log_density = -0.5 * mean**2 - 0.5 * np.log(2 * np.pi) - total
        by_mean = np.exp(log_density + log_yes) - np.exp(log_density + log_no)
        by_accuracy = [
            (self.alike * share) @ said / right[:, 0, k] - (self.alike * share) @ other / (1 - right[:, 0, k])
            for k, (share, said, other) in enumerate(
                [(np.exp(yes - total), self.positive, negative), (np.exp(no - total), negative, self.positive)]
            )
        ]
        return total @ self.alike, by_mean, np.stack(by_accuracy, axis=1)

    def _shares(self, mean: Floats, rho: Floats) -> tuple[Floats, Floats, Floats]:
        """Log probability of all votes, its slopes by each cell's m, and by rho."""
        spread, tau, most = np.sqrt(1 - rho), np.sqrt(rho / (1 - rho)), self.votes.max()
        centre = mean / spread
        low, high = (np.arcsinh(centre + side * REACH * tau) for side in (-1, 1))
        # As dense as the votes of one item ask for: where they are all but certain, or around the cell's own mean.
        normal, across = 2 * REACH / APART, (high - low).max() / ACROSS * np.sqrt(max(1.0, most / 32))
        number = int(min(normal * np.sqrt(1 + 0.64 * most * tau.max() ** 2), max(normal, across))) + 1
        step = (high - low) / number
        x = low[..., None] + step[..., None] * np.arange(number + 1)
        z = np.sinh(x)
        e = (z - centre[..., None]) / tau[..., None]
        # Half the time of log_ndtr; beyond 37 standard deviations, where no vote is, both are all but minus infinity.
        yes, no = (np.log(np.maximum(sp.special.ndtr(side), 1e-300)) for side in (z, -z))
        exponent = self.positive[:, None] * yes + (self.votes - self.positive)[:, None] * no - 0.5 * e**2
        top = exponent.max(axis=-1)
        weight = np.exp(exponent - top[..., None]) * np.cosh(x)
        zeroth, first, second = (
            (weight * moment).sum(axis=-1) * step / (tau * np.sqrt(2 * np.pi)) for moment in (1.0, e, e**2 - 1)
        )
        by_centre, by_variance = first / (tau * zeroth), second / (2 * tau**2 * zeroth)
        by_rho = (by_centre * mean / (2 * spread**3) + by_variance / spread**4) @ self.alike
        return (np.log(zeroth) + top) @ self.alike, by_centre / spread, by_rho[:, None]


def modes(votes: Votes, rng: Rng) -> list[Fit]:
    """Climb to modes from several points: people may err more, and judges less, where the verdicts tell it badly."""
    found, steps = [], STEP * np.concatenate([np.eye(votes.size), -np.eye(votes.size)])

    def loss(point: Floats) -> tuple[float, Floats]:
        value, slope = votes.density(point[None])
        return -float(value[0]), -slope[0]

    for _ in range(1 if votes.share else STARTS):
        # People's parameters from anywhere, so that none is missed.
        start = np.concatenate(
            [
                np.zeros(votes.n),
                np.log(votes.scale_prior / 2),
                sp.special.logit(rng.uniform(0.1, 0.9, len(votes.names))),
            ]
        )
        mode = sp.optimize.minimize(loss, start, jac=True, method="BFGS", options={"gtol": 0.01}).x
        before, after = np.split(votes.density(mode - steps)[1], 2)
        value, vector = np.linalg.eigh((before - after + (before - after).T) / (4 * STEP))
        found.append(Fit(mode, np.linalg.cholesky((vector / np.maximum(value, LEAST_CURVED)) @ vector.T)))
    return found
