"""Hamiltonian Monte Carlo: Markov chains of trajectories with random lengths.

Source: Neal, "MCMC using Hamiltonian dynamics" (2011), https://arxiv.org/abs/1206.1901, sections 4 (units) and 4.2
(trajectories of random length).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesagree._types import Floats, Rng
from bayesagree.inference.slices import UNIT_DRAWS, refitted

FIRST_STEP = 0.3
# Acceptance that costs the fewest gradients for an independent draw is .65 for normal targets and higher for skewed.
ACCEPTANCE = 0.8
# Log densities at points (..., parameter) and the gradients there; minus infinity rejects a trajectory.
Density = Callable[[Floats], tuple[Any, Floats]]
# Of `walk`: trajectories before each of the two refits of the units and after the last; their lengths, around a quarter
# of the circle that they are under a normal density; acceptance.
WARM_UP, LENGTHS, WALK_ACCEPTANCE = (8, 8, 4), (1.2, 2.8), 0.85


class Chain:
    """Markov chains from a point, (..., parameter): walkers that move at once, with the same step and lengths.

    `units` (parameter, direction) are directions of about one standard deviation each.

    Trajectories are between `shortest` and `longest` of these units long.
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
    ) -> None:
        self.density, self.rng, self.units, self.log_step = density, rng, units, math.log(FIRST_STEP)
        self.shortest, self.longest = shortest, longest
        self.point, (self.height, self.slope) = point, density(point)

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

    def run(self, draws: int) -> Floats:
        """Return draws, each the end of a trajectory, shape (draw, ..., parameter)."""
        kept = np.empty((draws, *self.point.shape))
        for d in range(draws):
            self.move()
            kept[d] = self.point
        return kept

    def move(self) -> float:
        """Follow one trajectory and return its probability to be accepted, of walkers the mean."""
        momentum = self.rng.standard_normal(self.point.shape)
        energy = self.height - 0.5 * np.square(momentum).sum(axis=-1)
        length = self.rng.uniform(self.shortest, self.longest)
        n_steps = math.ceil(length / self.step)
        step, point, height, slope = length / n_steps, self.point, self.height, self.slope
        for s in range(n_steps):
            momentum = momentum + (0.5 if s == 0 else 1.0) * step * (slope @ self.units)
            point = point + step * momentum @ self.units.T
            height, slope = self.density(point)
            if np.max(height) == -math.inf:
                break
        momentum = momentum + 0.5 * step * (slope @ self.units)
        change = height - 0.5 * np.square(momentum).sum(axis=-1) - energy
        accepted = np.where(np.isfinite(change), np.exp(np.minimum(change, 0.0)), 0.0)
        taken = self.rng.random(accepted.shape) < accepted
        self.height, one = np.where(taken, height, self.height), taken[..., None]
        self.point, self.slope = np.where(one, point, self.point), np.where(one, slope, self.slope)
        return float(accepted.mean())


def walk(density: Density, start: Floats, units: Floats, draws: int, rng: Rng) -> Floats:
    """Draw points, shape (walker, draw, parameter), by walkers that begin at `start`, shape (walker, parameter).

    Their `units` are refitted to all of them twice while they warm up.
    """
    chain = Chain(density, start, units, rng, shortest=LENGTHS[0], longest=LENGTHS[1])
    past = np.empty((0, *start.shape))
    for number in WARM_UP:
        if len(past):
            chain.units = refitted(chain.units, past[len(past) // 3 :].reshape(-1, start.shape[1]), UNIT_DRAWS)
        past = np.concatenate([past, chain.adapt(number, WALK_ACCEPTANCE)])
    return chain.run(draws).swapaxes(0, 1)
