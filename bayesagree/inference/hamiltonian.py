"""Hamiltonian Monte Carlo: Markov chains of trajectories with random lengths, in units that the caller gives.

Source: Neal, "MCMC using Hamiltonian dynamics" (2011), https://arxiv.org/abs/1206.1901, sections 4 (units) and 4.2
(trajectories of random length).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesagree._types import Floats, Rng

FIRST_STEP = 0.3
# Acceptance that costs the fewest gradients for an independent draw is .65 for normal targets and higher for skewed.
ACCEPTANCE = 0.8
# Log densities at points (..., parameter) and the gradients there; minus infinity rejects a trajectory.
Density = Callable[[Floats], tuple[Any, Floats]]


class Chain:
    """Markov chains from a point, (..., parameter): walkers that move at once, with the same step and lengths.

    `units` (parameter, direction) are directions of about one standard deviation each.

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
        self.away = np.zeros(point.shape)
        self._stand(point, *density(point))

    @property
    def step(self) -> float:
        """Length of a step."""
        return math.exp(self.log_step)

    def adapt(self, trajectories: int, acceptance: float = ACCEPTANCE) -> Floats:
        """Follow trajectories whose acceptance sets the step; return their ends, shape (trajectory, ..., parameter)."""
        ends = np.empty((trajectories, *self.point.shape))
        for t in range(trajectories):
            # Robbins and Monro (1951), from large corrections to small ones.
            self.log_step += (self.move() - acceptance) / math.sqrt(t + 4.0)
            ends[t] = self.point
        return ends

    def run(self, draws: int, thin: int = 1) -> Floats:
        """Return draws, each the end of `thin` trajectories, shape (draw, ..., parameter)."""
        kept = np.empty((draws, *self.point.shape))
        for d in range(draws):
            for _ in range(thin):
                self.move()
            kept[d] = self.point
        return kept

    def _stand(self, point: Floats, height: Any, slope: Floats) -> None:
        self.point, self.height, self.slope = point, height, slope
        if self.centre is not None:
            self.away = np.linalg.solve(self.units, (point - self.centre).T).T

    def move(self) -> float:
        """Follow one trajectory and return its probability to be accepted, of walkers the mean."""
        momentum = self.rng.standard_normal(self.point.shape)
        energy = self.height - 0.5 * np.square(momentum).sum(axis=-1)
        length = self.rng.uniform(self.shortest, self.longest)
        n_steps = math.ceil(length / self.step)
        step, point, height, slope = length / n_steps, self.point, self.height, self.slope
        origin = point if self.centre is None else self.centre
        away = self.away
        pull = 0.0 if self.centre is None else 1.0
        ahead, turn = (step, 1.0) if self.centre is None else (math.sin(step), math.cos(step))
        for s in range(n_steps):
            momentum = momentum + (0.5 if s == 0 else 1.0) * step * (slope @ self.units + pull * away)
            away, momentum = turn * away + ahead * momentum, turn * momentum - pull * ahead * away
            point = origin + away @ self.units.T
            height, slope = self.density(point)
            if np.max(height) == -math.inf:
                break
        momentum = momentum + 0.5 * step * (slope @ self.units + pull * away)
        change = height - 0.5 * np.square(momentum).sum(axis=-1) - energy
        accepted = np.where(np.isfinite(change), np.exp(np.minimum(change, 0.0)), 0.0)
        taken = self.rng.random(accepted.shape) < accepted
        self.height, one = np.where(taken, height, self.height), taken[..., None]
        self.point, self.slope = np.where(one, point, self.point), np.where(one, slope, self.slope)
        if self.centre is not None:
            self.away = np.where(one, away, self.away)
        return float(accepted.mean())
