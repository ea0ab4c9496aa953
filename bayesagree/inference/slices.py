"""Draws of parameters with normal priors: many chains of elliptical slices in lockstep.

The posterior of the parameters has ridges (a slope may stand for a level, a clear item for an open one) and, along the
share of items whose best label alone is known, plateaus. Slices need no gradient, no step and no rejection. Their
ellipses come from a t distribution around the mode, refitted to the draws twice while they warm up, and what the t
distribution does not say of the density is its likelihood. All chains ask for their densities at once.

Source: Nishihara, Murray and Adams, "Parallel MCMC with generalized elliptical slice sampling", JMLR 15 (2014),
https://www.jmlr.org/papers/v15/nishihara14a.html, algorithm 2; Murray, Adams and MacKay, "Elliptical slice sampling",
AISTATS (2010), for the slice.
"""

from collections.abc import Callable

import numpy as np

from bayesagree._types import Floats, Rng
from bayesagree.inference.hamiltonian import refitted

# Degrees of freedom of the t distribution.
FREEDOM = 8.0
# Sweeps before each of the two refits of the t distribution, and draws that its units are worth, a parameter.
WARM_UP = 8, 8
UNIT_DRAWS = 2.0

# Log densities of rows of parameters, shape (row,), of rows (row, parameter).
Densities = Callable[[Floats], Floats]


def elliptical_draws(
    density: Densities, start: Floats, centre: Floats, root: Floats, draws: int, rng: Rng
) -> Floats:
    """Draw parameters, shape (chain, draw, parameter), from chains that begin at `start`, shape (chain, parameter).

    `root` L gives the first covariance L L' of the t distribution around `centre`.
    """
    x, (chains, size) = start.copy(), start.shape
    log_p, past, out = density(x), [], np.empty((chains, draws, size))
    for number in range(-sum(WARM_UP), draws):
        if number in (-WARM_UP[1], 0):
            recent = np.concatenate(past[len(past) // 3 :])
            centre, root = recent.mean(axis=0), refitted(root, recent, UNIT_DRAWS)
        x, log_p = sweep(density, x, log_p, centre, root, rng)
        if number < 0:
            past.append(x)
        else:
            out[:, number] = x
    return out


def sweep(
    density: Densities, x: Floats, log_p: Floats, centre: Floats, root: Floats, rng: Rng
) -> tuple[Floats, Floats]:
    """Move each chain, (chain, parameter) with log densities (chain,), along one slice; return both anew."""
    (chains, size), inverse, log_p = x.shape, np.linalg.inv(root), log_p.copy()

    def log_t(points: Floats) -> Floats:
        squares = np.square((points - centre) @ inverse.T).sum(axis=1)
        return -0.5 * (FREEDOM + size) * np.log1p(squares / FREEDOM)

    # Given x, the t distribution is a normal one of this scale.
    squares = np.square((x - centre) @ inverse.T).sum(axis=1)
    scale = np.sqrt((FREEDOM + squares) / rng.chisquare(FREEDOM + size, chains))
    other = scale[:, None] * (rng.standard_normal(x.shape) @ root.T)
    least = log_p - log_t(x) - rng.standard_exponential(chains)
    angle = rng.uniform(0, 2 * np.pi, chains)
    low, high, left, new = angle - 2 * np.pi, angle.copy(), np.arange(chains), x.copy()
    while left.size:
        turn = angle[left, None]
        point = centre + (x[left] - centre) * np.cos(turn) + other[left] * np.sin(turn)
        found = density(point)
        inside = found - log_t(point) > least[left]
        new[left[inside]], log_p[left[inside]] = point[inside], found[inside]
        left = left[~inside]
        low[left] = np.where(angle[left] < 0, angle[left], low[left])
        high[left] = np.where(angle[left] < 0, high[left], angle[left])
        angle[left] = rng.uniform(low[left], high[left])
    return new, log_p


def draws_in_turn(
    density: Densities, start: Floats, centre: Floats, root: Floats, size: int, rng: Rng
) -> Floats:
    """Draw as `elliptical_draws`, shape (draw, parameter), from all chains in turn: neighbours hardly depend."""
    drawn = elliptical_draws(density, start, centre, root, -(-size // len(start)), rng)
    return drawn.swapaxes(0, 1).reshape(-1, centre.size)[:size]
