"""Hamiltonian Monte Carlo of many chains in lockstep: all ask for their densities and gradients at once.

Units are a Cholesky root of the covariance, refitted to all chains' draws twice while they warm up, so that of a nearly
normal density three or four steps make a draw that hardly depends on the one before.

Source: Neal, "MCMC using Hamiltonian dynamics" (2011), https://arxiv.org/abs/1206.1901, sections 4 (units) and 4.2
(trajectories of random length).
"""

from collections.abc import Callable

import numpy as np

from bayesagree._types import Floats, Rng

# Trajectories before each of the two refits of the units and after the last; draws that old units are worth, a
# parameter.
WARM_UP = 8, 8, 4
UNIT_DRAWS = 1.0
# Lengths of trajectories in units, around a quarter of the circle that they are under a normal density; the acceptance
# aimed at.
LENGTHS = 1.2, 2.8
ACCEPTANCE = 0.85

# Log densities (row,) and gradients (row, parameter) of rows of parameters.
Density = Callable[[Floats], tuple[Floats, Floats]]


def hamiltonian_draws(density: Density, start: Floats, root: Floats, draws: int, rng: Rng) -> Floats:
    """Draw parameters, shape (chain, draw, parameter), from chains that begin at `start`, shape (chain, parameter).

    `root` L gives the first guess L L' of the covariance.
    """
    x, (chains, size) = start.copy(), start.shape
    (height, slope), past, out = density(x), [], np.empty((chains, draws, size))
    log_step, tries, ends = np.log(0.5), 0, -np.cumsum(WARM_UP[::-1])[::-1]
    for sweep in range(ends[0], draws):
        if sweep in ends[1:]:
            recent = np.concatenate(past[len(past) // 3 :])
            away = np.linalg.solve(root, (recent - recent.mean(axis=0)).T)
            worth = UNIT_DRAWS * size
            root = root @ np.linalg.cholesky((away @ away.T + worth * np.eye(size)) / (len(recent) + worth))
            tries = 0
        length = rng.uniform(*LENGTHS)
        n_steps = int(np.ceil(length / np.exp(log_step)))
        step = length / n_steps * rng.uniform(0.8, 1.2, (chains, 1))
        momentum = rng.standard_normal(x.shape)
        energy, at, here, by = height - 0.5 * np.square(momentum).sum(axis=1), x, height, slope
        for s in range(n_steps):
            momentum += (0.5 if s == 0 else 1.0) * step * (by @ root)
            at = at + step * (momentum @ root.T)
            here, by = density(at)
        momentum += 0.5 * step * (by @ root)
        change = here - 0.5 * np.square(momentum).sum(axis=1) - energy
        chance = np.exp(np.minimum(np.where(np.isfinite(change), change, -np.inf), 0))
        accepted = rng.random(chains) < chance
        x, slope = (np.where(accepted[:, None], new, old) for new, old in ((at, x), (by, slope)))
        height = np.where(accepted, here, height)
        if sweep < 0:
            tries += 1
            log_step += 1.5 * (chance.mean() - ACCEPTANCE) / np.sqrt(tries)
            past.append(x)
        else:
            out[:, sweep] = x
    return out
