"""The posterior of `corrected_rate`: what belongs to one item is integrated out, slices draw the rest.

What is left are some hundred parameters with a smooth density: the coefficients, the scales of their priors, and what
people have in common: the correlation rho of the latent opinions of two people on an item (``target="share"``), or
people's sensitivity and specificity (``"truth"``). Items that are alike are one cell.

Votes on a share: k of n people say positive with probability E[Phi(z)^k Phi(-z)^(n - k)], z ~ N(m / s, t^2), where
s^2 = 1 - rho and t^2 = rho / (1 - rho). The trapezoid rule converges as fast as a power of the number of nodes for such
integrands, and is used once: a table by m and rho serves all draws.

Source: Trefethen and Weideman, "The exponentially convergent trapezoidal rule" (2014),
https://doi.org/10.1137/130932132.
"""

from functools import lru_cache

import numpy as np
import scipy as sp

from bayesagree._types import Floats, Rng
from bayesagree.inference.slices import Fit
from bayesagree.judges._panel import Panel, Regression
from bayesagree.judges.prior import CorrectedRatePrior, Target

# Starts from which modes of truths are looked for: of two that are reached alike often, one is missed in 3 % of the
# fits. Shares have one mode.
STARTS = 6
# Log odds, logarithms of scales and utilities farther from 0 are this far.
LARGEST_ODDS, LARGEST_LOG, FARTHEST = 16.0, 12.0, 1e3
# Finite differences of the log density.
STEP = 0.01
# Standard deviations that the nodes reach, and their distance in widths of the integrand, in asinh of latent opinions.
REACH, APART, ACROSS = 8.0, 0.75, 0.2
# Where log probabilities of shares are tabulated: cubic splines between err by 2e-5 where votes are likely.
# Their nodes are even in asinh(m) and in asinh of a quarter of the log odds of rho: so many a unit, and to either side
# of 0, beyond the farthest.
PER_M, MOST_M, PER_ODDS, MOST_ODDS = 20.0, 153, 16.0, 35
OPINIONS = np.sinh(np.arange(-MOST_M, MOST_M + 1) / PER_M)
CORRELATIONS = sp.special.expit(4 * np.sinh(np.arange(-MOST_ODDS, MOST_ODDS + 1) / PER_ODDS))


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
        rows, self.alike = np.unique(rows.astype(float), axis=0, return_counts=True)
        self.columns, self.votes, self.positive = np.ascontiguousarray(rows[:, :-2]), rows[:, -2], rows[:, -1]
        if self.share:
            kinds, self.kind = np.unique([self.votes, self.positive], axis=1, return_inverse=True)
            self.table = share_table(*map(tuple, kinds))

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

    def density(self, points: Floats) -> Floats:
        """Return log densities of points (point, parameter)."""
        unit = points[:, : self.n]
        logs = points[:, self.n : self.end]
        people = self.people(points)
        mean = ((unit * self.deviations(points)) @ self.columns.T).clip(-FARTHEST, FARTHEST)
        inside = people if self.share else 2 * people - 1
        value = np.log(inside * (1 - inside)).sum(axis=1)
        if not self.share:
            right, wrong = self.accuracy_prior
            value += (right * np.log(people) + wrong * np.log1p(-people)).sum(axis=1)
        value += (self._shares if self.share else self._truths)(mean, people) @ self.alike
        scaled = np.exp(2 * logs.clip(-LARGEST_LOG, LARGEST_LOG)) / self.scale_prior**2
        # Half-normal scales, with the Jacobian of the logarithm.
        return value + (logs - 0.5 * scaled).sum(axis=1) - 0.5 * np.square(unit).sum(axis=1)

    def _truths(self, mean: Floats, accuracy: Floats) -> Floats:
        """Log probability of the votes of each cell, by its m and people's sensitivity and specificity."""
        negative = self.votes - self.positive
        right = accuracy[:, None, :]
        log_yes = self.positive * np.log(right[..., 0]) + negative * np.log1p(-right[..., 0])
        log_no = negative * np.log(right[..., 1]) + self.positive * np.log1p(-right[..., 1])
        return np.logaddexp(sp.special.log_ndtr(mean) + log_yes, sp.special.log_ndtr(-mean) + log_no)

    def _shares(self, mean: Floats, rho: Floats) -> Floats:
        """Log probability of the votes of each cell, by its m and rho."""
        opinion = self.kind * OPINIONS.size + MOST_M + PER_M * np.arcsinh(mean)
        odds = MOST_ODDS + PER_ODDS * np.arcsinh(sp.special.logit(rho) / 4)
        return sp.ndimage.map_coordinates(self.table, np.broadcast_arrays(opinion, odds), prefilter=False)


@lru_cache(maxsize=1)
def share_table(votes: tuple[float, ...], positive: tuple[float, ...]) -> Floats:
    """Return coefficients of cubic splines in m and rho of the log probability of votes, one kind below the other.

    The fit without judges asks for those of the fit with them.
    """
    kinds = np.array([votes, positive])
    heights = np.stack([log_shares(OPINIONS, rho, *kinds) for rho in CORRELATIONS], axis=-1)
    for axis in (1, 2):
        heights = sp.ndimage.spline_filter1d(heights, axis=axis)
    return heights.reshape(-1, CORRELATIONS.size)


def log_shares(mean: Floats, rho: float, votes: Floats, positive: Floats) -> Floats:
    """Log probability, shape (kind, m), that of an item's votes so many are positive, in one order."""
    tau = np.sqrt(rho / (1 - rho))
    centre = mean / np.sqrt(1 - rho)
    low, high = (np.arcsinh(centre + side * REACH * tau) for side in (-1, 1))
    # As dense as the votes of one item ask for.
    number = int(max(2 * REACH / APART, (high - low).max() / ACROSS * np.sqrt(1 + votes.max() / 32))) + 1
    step = (high - low) / number
    x = low[:, None] + step[:, None] * np.arange(number + 1)
    z = np.sinh(x)
    weight = np.log(np.cosh(x)) - 0.5 * ((z - centre[:, None]) / tau) ** 2
    yes, no = sp.special.log_ndtr(z), sp.special.log_ndtr(-z)
    found = []
    for n, k in zip(votes, positive):  # a thousand of them at once would not go into memory
        exponent = weight + k * yes + (n - k) * no
        top = exponent.max(axis=1)
        found.append(np.log(np.exp(exponent - top[:, None]).sum(axis=1)) + top)
    return np.stack(found) + np.log(step / (tau * np.sqrt(2 * np.pi)))


def modes(votes: Votes, rng: Rng) -> list[Fit]:
    """Climb to modes from several points: people may err more, and judges less, where the verdicts tell it badly."""
    found, steps = [], STEP * np.eye(votes.size)

    def slope(point: Floats) -> Floats:
        return (votes.density(point - steps) - votes.density(point + steps)) / (2 * STEP)

    for _ in range(1 if votes.share else STARTS):
        # People's parameters from anywhere, so that none is missed.
        start = np.concatenate(
            [
                np.zeros(votes.n),
                np.log(votes.scale_prior / 2),
                sp.special.logit(rng.uniform(0.1, 0.9, len(votes.names))),
            ]
        )
        climbed = sp.optimize.minimize(
            lambda point: -votes.density(point[None])[0],
            start,
            jac=slope,
            method="BFGS",
            options={"gtol": 0.01},
        )
        found.append(Fit(climbed.x, np.linalg.cholesky(climbed.hess_inv)))
    return found
