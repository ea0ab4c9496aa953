"""Hamiltonian Monte Carlo: one Markov chain of trajectories with random lengths, in units that the caller gives.

Source: Neal, "MCMC using Hamiltonian dynamics" (2011), https://arxiv.org/abs/1206.1901, sections 4 (units) and 4.2
(trajectories of random length).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from bayesagree._types import Floats, Rng

FIRST_STEP = 0.3
# Acceptance that costs the fewest gradients for an independent draw is .65 for normal targets and higher for skewed.
ACCEPTANCE = 0.8
# Proposals of a jump after each trajectory: one costs a gradient, a trajectory five or more, and one in ten to fifty is
# accepted. Every so many trajectories one takes a quarter of the step: a chain that jumps to where the density is
# narrower would stay there for ever.
JUMPS, SHORT_EVERY, SHORT_STEP = 4, 4, 0.25
# Draws that the units are worth beside those of a chain, whose covariance alone is too narrow where it has moved
# little, and the width of a proposal beside the normal's.
UNIT_DRAWS, WIDTH = 40, 1.1

# The log density at a point and its gradient there; minus infinity ends a trajectory, which is then rejected.
type Density = Callable[[Floats], tuple[float, Floats]]


@dataclass(frozen=True, eq=False)
class Normals:
    """Equal shares of normal distributions, from which jumps between modes are proposed.

    Attributes
    ----------
    means, roots
        Means, shape (normal, parameter), and roots of the covariances, (normal, parameter, parameter).
    inverse_roots, log_scales
        Inverses of the roots and the logarithms of their determinants, shape (normal,).
    """

    means: Floats
    roots: Floats
    inverse_roots: Floats
    log_scales: Floats

    @classmethod
    def of(cls, drawn: Floats, units: Floats) -> Self:
        """Fit one to each chain of draws, shape (chain, draw, parameter); `units` as those of a chain."""
        n = drawn.shape[1]
        away = np.linalg.solve(units, (drawn - drawn.mean(axis=1, keepdims=True)).swapaxes(1, 2))
        covariance = (away @ away.swapaxes(1, 2) + UNIT_DRAWS * np.eye(units.shape[1])) / (n + UNIT_DRAWS)
        roots = WIDTH * units @ np.linalg.cholesky(covariance)
        return cls(drawn.mean(axis=1), roots, np.linalg.inv(roots), np.linalg.slogdet(roots)[1])

    def draw(self, rng: Rng) -> Floats:
        """Draw a point, shape (parameter,)."""
        chosen = rng.integers(len(self.means))
        return self.means[chosen] + self.roots[chosen] @ rng.standard_normal(self.means.shape[1])

    def log_density(self, point: Floats) -> float:
        """Return the log density at a point, up to a constant."""
        away = (self.inverse_roots @ (point - self.means)[:, :, None])[:, :, 0]
        return float(np.logaddexp.reduce(-0.5 * np.sum(away**2, axis=1) - self.log_scales))


class Chain:
    """A Markov chain: `units` (parameter, direction) are directions of about one standard deviation each.

    Trajectories are between `shortest` and `longest` of these units long. With a `centre` the normal density around it,
    with these units, is followed exactly, on a circle, and steps correct what the density differs from it by (split
    Hamiltonian Monte Carlo, Shahbaba, Lan, Johnson and Neal, 2014, https://arxiv.org/abs/1106.5941, section 2.1): of
    many nearly normal parameters they may be longer by half.
    """

    def __init__(
        self,
        density: Density,
        point: Floats,
        units: Floats,
        rng: Rng,
        *,
        shortest: float,
        longest: float,
        centre: Floats | None = None,
    ) -> None:
        self.density, self.rng, self.units, self.log_step = density, rng, units, math.log(FIRST_STEP)
        self.shortest, self.longest, self.centre = shortest, longest, centre
        self.away = np.zeros(point.size)
        self._stand(point, *density(point))

    @property
    def step(self) -> float:
        """Length of a step."""
        return math.exp(self.log_step)

    def adapt(self, trajectories: int, acceptance: float = ACCEPTANCE) -> Floats:
        """Follow trajectories whose acceptance sets the step; return their ends, shape (trajectory, parameter)."""
        ends = np.empty((trajectories, self.point.size))
        for t in range(trajectories):
            # Robbins and Monro (1951), from large corrections to small ones.
            self.log_step += (self.move() - acceptance) / math.sqrt(t + 4.0)
            ends[t] = self.point
        return ends

    def run(self, draws: int, thin: int = 1, jumps: Normals | None = None) -> Floats:
        """Return draws, each the end of `thin` trajectories, with jumps after each where given; (draw, parameter)."""
        kept = np.empty((draws, self.point.size))
        for d in range(draws):
            for t in range(thin):
                short = jumps is not None and (d * thin + t) % SHORT_EVERY == 0
                self.move(SHORT_STEP if short else 1.0)
                if jumps is not None:
                    for _ in range(JUMPS):
                        self.jump(jumps)
            kept[d] = self.point
        return kept

    def jump(self, proposals: Normals) -> bool:
        """Propose a point wherever the chain is, and return whether it was accepted (independence sampler).

        Source: Tierney, "Markov chains for exploring posterior distributions" (1994),
        https://doi.org/10.1214/aos/1176325750, section 2.3.3.
        """
        point = proposals.draw(self.rng)
        height, slope = self.density(point)
        gain = height - self.height + proposals.log_density(self.point) - proposals.log_density(point)
        accepted = math.isfinite(gain) and self.rng.random() < math.exp(min(gain, 0.0))
        if accepted:
            self._stand(point, height, slope)
        return accepted

    def _stand(self, point: Floats, height: float, slope: Floats) -> None:
        self.point, self.height, self.slope = point, height, slope
        if self.centre is not None:
            self.away = np.linalg.solve(self.units, point - self.centre)

    def move(self, shorter: float = 1.0) -> float:
        """Follow one trajectory, by steps `shorter` times as long, and return its probability to be accepted."""
        momentum = self.rng.standard_normal(self.point.size)
        energy = self.height - 0.5 * momentum @ momentum
        length = self.rng.uniform(self.shortest, self.longest)
        n_steps = math.ceil(length / (shorter * self.step))
        step, point, height, slope = length / n_steps, self.point, self.height, self.slope
        origin = point if self.centre is None else self.centre
        away = self.away
        pull = 0.0 if self.centre is None else 1.0
        ahead, turn = (step, 1.0) if self.centre is None else (math.sin(step), math.cos(step))
        for s in range(n_steps):
            momentum = momentum + (0.5 if s == 0 else 1.0) * step * (slope @ self.units + pull * away)
            away, momentum = turn * away + ahead * momentum, turn * momentum - pull * ahead * away
            point = origin + self.units @ away
            height, slope = self.density(point)
            if height == -math.inf:
                break
        momentum = momentum + 0.5 * step * (slope @ self.units + pull * away)
        change = height - 0.5 * momentum @ momentum - energy
        accepted = math.exp(min(change, 0.0)) if math.isfinite(change) else 0.0
        if self.rng.random() < accepted:
            self.point, self.height, self.slope = point, height, slope
            self.away = self.away if self.centre is None else away
        return accepted
