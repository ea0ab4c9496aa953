"""The sampler of `corrected_rate`: Hamiltonian Monte Carlo with all that belongs to one item integrated out.

What is left are some hundred parameters with a smooth density: the coefficients, the scales of their priors, and what
people have in common: the correlation rho of the latent opinions of two people on an item (``target="share"``), or
people's sensitivity and specificity (``"truth"``). Items that are alike are one cell.

Given the scales, coefficients and people's parameters are nearly normal: trajectories follow them in coordinates in
which this normal distribution is standard, and the scales move with these coordinates held, that is, with the rest all
but integrated out. Few systems with little data then do not hold the chain at small scales, nor at large ones.

Votes on a share: k of n people say positive with probability E[Phi(z)^k Phi(-z)^(n - k)], z ~ N(m / s, t^2), where
s^2 = 1 - rho and t^2 = rho / (1 - rho). The trapezoid rule converges as fast as a power of the number of nodes for such
integrands; slopes by m and t^2 are moments of the same sum (the normal density solves the heat equation).

Source: Neal, "MCMC using Hamiltonian dynamics" (2011), https://arxiv.org/abs/1206.1901, sections 4 and 4.2; Trefethen
and Weideman, "The exponentially convergent trapezoidal rule" (2014), https://doi.org/10.1137/130932132. The moves of
the scales are ours.
"""

import math

import numpy as np
import scipy as sp

from bayesagree._types import Floats, Rng
from bayesagree.inference.hamiltonian import ACCEPTANCE, Chain
from bayesagree.inference.slices import sweep
from bayesagree.judges._panel import Panel, Regression
from bayesagree.judges.prior import CorrectedRatePrior, Target

# Starts from which modes of truths are looked for: of two that are reached alike often, one is missed in 3 % of the
# fits. Shares have one mode.
STARTS = 6
# Log odds farther from 0 are this far; utilities farther away are impossible: trajectories that went astray.
LARGEST_ODDS, FARTHEST = 16.0, 1e6
# Parameters have a prior deviation of about 1: a tenth of it is near enough to straight, and far enough for
# differences of the slopes to have ten digits. No direction is longer than ten of them.
CURVED_OVER, LEAST_CURVED = 0.1, 0.01
# A quarter of a circle, pi / 2, makes a draw of a normal target independent; lengths at random meet no period.
SHORTEST, LONGEST = 0.8, 2.0
# Draws that the first units of the logarithms of the scales, 1, are worth where they are measured.
UNIT_DRAWS = 5
# Standard deviations that the nodes reach, and their distance in widths of the integrand.
REACH, APART = 6.5, 0.9


class Votes:
    """Log probability of all votes, whatever belongs to one item integrated out, with the prior of people's parameters.

    The point: every coefficient, then the log odds of rho, or of 2 accuracy - 1 for people's sensitivity and
    specificity, which lie above one half.
    """

    def __init__(self, panel: Panel, data: Regression, target: Target, prior: CorrectedRatePrior) -> None:
        self.scale_prior, self.share = data.scale_prior, target == "share"
        self.names = ("vote_correlation",) if self.share else ("people_sensitivity", "people_specificity")
        self.accuracy_prior = np.array([prior.people_right, prior.people_wrong]) - 1
        self.n = data.scale_index.size
        # Scale of each coefficient; those of known standard deviation take the last, which is 1.
        self.scaled = np.where(data.scale_index < 0, data.scale_prior.size, data.scale_index)
        rows = np.column_stack([data.columns, panel.votes, panel.positive])[panel.seen]
        rows, self.alike = np.unique(rows.astype(np.float64), axis=0, return_counts=True)
        self.columns, self.votes, self.positive = np.ascontiguousarray(rows[:, :-2]), rows[:, -2], rows[:, -1]
        self.kinds, self.kind = np.unique(rows[:, -2:], axis=0, return_inverse=True)

    def start(self, rng: Rng) -> Floats:
        """Return a point from which to look for a mode: people's parameters from anywhere, so that none is missed."""
        return np.append(np.zeros(self.n), sp.special.logit(rng.uniform(0.1, 0.9, len(self.names))))

    def people(self, point: Floats) -> Floats:
        """Return people's parameters at points (..., parameter)."""
        inside = sp.special.expit(point[..., self.n :].clip(-LARGEST_ODDS, LARGEST_ODDS))
        return inside if self.share else (1 + inside) / 2

    def density(self, point: Floats) -> tuple[float, Floats]:
        """Return the log density at a point and its gradient."""
        mean, people = self.columns @ point[: self.n], self.people(point)
        if not np.abs(mean).max() < FARTHEST:
            return -math.inf, np.zeros(point.size)
        value, by_mean, by_people = self._shares(mean, people[0]) if self.share else self._truths(mean, people)
        inside = people if self.share else 2 * people - 1
        prior = np.log(inside * (1 - inside)).sum()
        if not self.share:
            right, wrong = self.accuracy_prior
            prior += (right * np.log(people) + wrong * np.log1p(-people)).sum()
            by_people = (by_people + right / people - wrong / (1 - people)) / 2
        slope = np.append(
            (self.alike * by_mean) @ self.columns, by_people * inside * (1 - inside) + 1 - 2 * inside
        )
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
            zeroth, first, second = (
                weight.sum(axis=1),
                (weight * e).sum(axis=1),
                (weight * (e**2 - 1)).sum(axis=1),
            )
        by_centre, by_variance = first / (tau * zeroth), second / (2 * tau**2 * zeroth)
        by_rho = self.alike @ (by_centre * mean / (2 * spread**3) + by_variance / spread**4)
        return float(self.alike @ (np.log(zeroth) + top)), by_centre / spread, np.array([by_rho])


def _log_votes(z: Floats, votes: Floats, positive: Floats) -> Floats:
    # Half the time of log_ndtr; beyond 37 standard deviations, where no vote is, both are all but minus infinity.
    yes, no = (np.log(np.maximum(sp.special.ndtr(side), 1e-300)) for side in (z, -z))
    return positive * yes + (votes - positive) * no


class Given:
    """The posterior given the scales, in coordinates in which it is about standard normal, and a chain of both.

    Around a centre v0 the log probability of the votes is nearly quadratic, with curvature H; with the precisions D of
    the prior, which the scales determine, v = Q^-1 b + Q^(-1/2) x, where Q = H + D and b = H v0 + the slope there.
    """

    def __init__(self, votes: Votes, centre: Floats, log_scales: Floats | None = None) -> None:
        self.votes, size = votes, votes.scale_prior.size
        seen = np.log(votes.scale_prior / 2)[None] if log_scales is None else log_scales
        self.typical, away = seen.mean(axis=0), seen - seen.mean(axis=0)
        worth = len(seen) + UNIT_DRAWS
        self.units = np.linalg.cholesky((away.T @ away + UNIT_DRAWS * np.eye(size)) / worth)
        steps = CURVED_OVER * np.eye(centre.size)
        slopes = np.array([votes.density(centre - step)[1] - votes.density(centre + step)[1] for step in steps])
        value, vector = np.linalg.eigh((slopes + slopes.T) / (4 * CURVED_OVER))
        self.curvature = (vector * np.maximum(value, LEAST_CURVED)) @ vector.T
        self.pull = self.curvature @ centre + votes.density(centre)[1]

    def scaled(self, log_scale: Floats) -> None:
        """Take these scales."""
        votes, self.log_scale = self.votes, log_scale
        logs = np.append(log_scale, 0.0)[votes.scaled]
        self.precision = np.exp(-2 * logs)
        precision = self.curvature.copy()
        precision[np.arange(votes.n), np.arange(votes.n)] += self.precision
        self.root = np.linalg.inv(np.linalg.cholesky(precision)).T
        self.mean = self.root @ (self.root.T @ self.pull)
        # Half-normal, with the Jacobian of the logarithm; the coefficients' priors; the volume of the coordinates.
        self.height = float(
            log_scale.sum() - 0.5 * (np.exp(2 * log_scale) / votes.scale_prior**2).sum() - logs.sum()
        )
        self.height += float(np.log(self.root.diagonal()).sum())

    def point(self, place: Floats) -> Floats:
        """Return the parameters at coordinates."""
        return self.mean + self.root @ place

    def place(self, point: Floats) -> Floats:
        """Return the coordinates of parameters."""
        return np.linalg.solve(self.root, point - self.mean)

    def density(self, place: Floats) -> tuple[float, Floats]:
        """Return the log density at coordinates, with that of the scales, and its gradient by the coordinates."""
        point = self.point(place)
        value, slope = self.votes.density(point)
        coefficient = point[: self.votes.n]
        slope[: self.votes.n] -= self.precision * coefficient
        return value + self.height - 0.5 * float(self.precision @ coefficient**2), slope @ self.root

    def move_scales(self, chain: Chain, rng: Rng) -> None:
        """Draw the scales with the coordinates held, on one elliptical slice."""
        if self.log_scale.size == 0:
            return

        def heights(log_scale: Floats) -> Floats:
            self.scaled(log_scale[0])
            chain.height, chain.slope = self.density(chain.point)
            return np.array([chain.height])

        old = self.log_scale[None], np.array([chain.height])
        sweep(heights, *old, self.typical, self.units, rng)  # ends at the scales that are drawn


def modes(votes: Votes, rng: Rng) -> list[tuple[Floats, float]]:
    """Look for modes from several points, at typical scales; also return the log of the probability around each.

    People may err more, and judges less, where the verdicts tell it badly.
    """
    found = []
    precision = np.append(
        np.append(votes.scale_prior / 2, 1.0)[votes.scaled] ** -2.0, np.zeros(len(votes.names))
    )
    for _ in range(1 if votes.share else STARTS):

        def loss(point: Floats) -> tuple[float, Floats]:
            value, slope = votes.density(point)
            return 0.5 * float(precision @ point**2) - value, precision * point - slope

        best = sp.optimize.minimize(loss, votes.start(rng), jac=True, method="BFGS", options={"gtol": 0.01})
        given = Given(votes, best.x)
        given.scaled(np.log(votes.scale_prior / 2))
        found.append((best.x, float(np.log(given.root.diagonal()).sum()) - float(best.fun)))
    return found


def sample_chain(
    votes: Votes, known: list[tuple[Floats, float]], *, draws: int, tune: int, thin: int, rng: Rng
) -> tuple[Floats, Floats]:
    """Return draws of coefficients and of people's parameters, each after `thin` trajectories.

    The chain starts from a mode drawn by its mass: trajectories seldom change modes.
    """
    centre = known[rng.choice(len(known), p=sp.special.softmax([mass for _, mass in known]))][0]
    given, log_scale = Given(votes, centre), np.log(votes.scale_prior / 2)
    given.scaled(log_scale)
    place = rng.standard_normal(centre.size)
    chain = Chain(given.density, place, np.eye(centre.size), rng, shortest=SHORTEST, longest=LONGEST)
    points, log_scales = (np.empty((tune + draws * thin, size)) for size in (centre.size, log_scale.size))
    for t, point in enumerate(points):
        if t and t in (tune // 4, tune // 2):  # the curvature where the chain is, in place of that at the mode
            old, given = given, Given(votes, points[t // 2 : t].mean(axis=0), log_scales[t // 2 : t])
            given.scaled(old.log_scale)
            chain.density, chain.point = given.density, given.place(old.point(chain.point))
            chain.height, chain.slope = given.density(chain.point)
        acceptance = chain.move()
        if t < tune:  # Robbins and Monro (1951), from large corrections to small ones
            chain.log_step += (acceptance - ACCEPTANCE) / math.sqrt(t + 4.0)
        given.move_scales(chain, rng)
        point[:], log_scales[t] = given.point(chain.point), given.log_scale
    kept = slice(tune + thin - 1, None, thin)
    return points[kept, : votes.n], votes.people(points[kept])
