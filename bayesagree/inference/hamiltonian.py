"""Hamiltonian Monte Carlo: Markov chains of trajectories with random lengths.

Source: Neal, "MCMC using Hamiltonian dynamics" (2011), https://arxiv.org/abs/1206.1901, sections 4 (units) and 4.2
(trajectories of random length).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesagree._types import Advance, Floats, Rng
from bayesagree.inference.slices import refitted

FIRST_STEP = 0.3
# Trajectories before each of the two refits of the units and after the last; their lengths, around a quarter of the
# circle that they are under a normal density; acceptance.
WARM_UP, LENGTHS, ACCEPTANCE = (8, 8, 4), (1.2, 2.8), 0.85
# Log densities of points (walker, parameter) and the gradients there; minus infinity rejects a trajectory.
Density = Callable[[Floats], tuple[Any, Floats]]
# Points, with their log densities and gradients.
Place = tuple[Floats, Any, Floats]


def walk(density: Density, start: Floats, units: Floats, draws: int, rng: Rng, progress: Advance) -> Floats:
    """Draw points, shape (walker, draw, parameter), by walkers that begin at `start`, shape (walker, parameter).

    They move at once, with the same step and lengths. `units` (parameter, direction) are directions of about one
    standard deviation each, and refitted to all walkers twice while they warm up. `progress` is called with the number
    of walkers after every draw of theirs.
    """
    here, log_step, past = (start, *density(start)), math.log(FIRST_STEP), []
    for number in WARM_UP:
        if past:
            units = refitted(units, np.concatenate(past[len(past) // 3 :]))
        for t in range(number):
            here, accepted = _move(density, here, units, math.exp(log_step), rng)
            # Robbins and Monro (1951), from large corrections to small ones.
            log_step += (accepted - ACCEPTANCE) / math.sqrt(t + 4.0)
            past.append(here[0])
    kept = np.empty((len(start), draws, start.shape[1]))
    for d in range(draws):
        here, _ = _move(density, here, units, math.exp(log_step), rng)
        kept[:, d] = here[0]
        progress(len(start))
    return kept


def _move(density: Density, here: Place, units: Floats, step: float, rng: Rng) -> tuple[Place, float]:
    """Follow a trajectory of each walker; return where they are then, and the mean probability of acceptance."""
    (point, height, slope), momentum = here, rng.standard_normal(here[0].shape)
    energy, length = height - 0.5 * np.square(momentum).sum(axis=-1), rng.uniform(*LENGTHS)
    n_steps = math.ceil(length / step)
    step = length / n_steps
    for s in range(n_steps):
        momentum = momentum + (0.5 if s == 0 else 1.0) * step * (slope @ units)
        point = point + step * momentum @ units.T
        height, slope = density(point)
        if np.max(height) == -math.inf:
            break
    momentum = momentum + 0.5 * step * (slope @ units)
    change = height - 0.5 * np.square(momentum).sum(axis=-1) - energy
    chance = np.where(np.isfinite(change), np.exp(np.minimum(change, 0.0)), 0.0)
    taken = rng.random(chance.shape) < chance
    kept = [np.where(taken, new.T, old.T).T for new, old in zip((point, height, slope), here)]
    return (kept[0], kept[1], kept[2]), float(chance.mean())
