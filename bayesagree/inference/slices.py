"""Draws of parameters with normal priors, without gradients: many chains in lockstep, of jumps and elliptical slices.

Items are independent given the parameters, and each gives its log likelihood at many parameter vectors at once. Chains
begin around modes. The posterior has ridges (a slope may stand for a level, a clear item for an open one) and, along
the share of items whose best label alone is known, plateaus and two modes: a t distribution that is refitted to the
draws while they warm up proposes points anywhere, and gives the ellipses of slices around it.

Source: Nishihara, Murray and Adams, "Parallel MCMC with generalized elliptical slice sampling", JMLR 15 (2014),
https://www.jmlr.org/papers/v15/nishihara14a.html, algorithm 2; Murray, Adams and MacKay, "Elliptical slice sampling",
AISTATS (2010), for the slice; Tierney, "Markov chains for exploring posterior distributions", Annals of Statistics 22
(1994), section 2.3.3, for jumps between slices.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy as sp

from bayesagree._types import Advance, Floats, Rng, silent

# Degrees of freedom of the t distribution; jumps before each slice; turns that are tried on an ellipse, beyond which a
# chain stays.
FREEDOM, JUMPS, TURNS = 8.0, 5, 2
# Draws that warm up, shares of them after which the t distribution is refitted, and how many a parameter its units are
# worth.
WARM_UP, REFITS, UNIT_DRAWS = 10, (0.3, 0.65, 1.0), 2.0
# Chains at least behind all chains of a result, sweeps of a draw, and how far from a mode, beside its normal
# approximation, chains begin.
WALKERS, SWEEPS, SPREAD = 48, 5, 0.5
# Halvings of a step of the climb, the gain of log density at which it ends, that where chains only begin, and the step
# of derivatives in prior sds.
STEPS, ENOUGH, ENOUGH_TO_BEGIN, EPSILON = 40, 1e-4, 0.3, 1e-5

# Log densities at parameters (vector, parameter), shape (vector,), or log likelihoods of items there, (item, vector).
Likelihoods = Callable[[Floats], Floats]


class Fit(NamedTuple):
    """Normal approximation of the posterior of the parameters.

    Attributes
    ----------
    mode
        The most probable parameters.
    root
        Matrix L of the covariance L L', so that ``mode + L z`` is a draw for standard normal z.
    """

    mode: Floats
    root: Floats


class Prior(NamedTuple):
    """Normal priors of the parameters: means and standard deviations."""

    mean: Floats
    sd: Floats


def climb(
    values: Likelihoods, prior: Prior, number: Floats, enough: float = ENOUGH, start: Floats | None = None
) -> Fit:
    """Climb to the mode of the parameters, and take the information of the items about them there.

    Both by the scores of items, their derivatives with respect to the parameters: the information is the sum of their
    outer products (Berndt, Hall, Hall and Hausman, 1974) plus the precision of the prior. `number` tells how many items
    are like each.
    """
    (mean, sd), size = prior, prior.mean.size
    z = np.zeros(size) if start is None else (start - mean) / sd
    moves = np.concatenate([np.zeros((1, size)), EPSILON * np.eye(size)])
    while True:
        there = values(mean + sd * (z + moves))
        here = number @ there[:, 0] - 0.5 * z @ z
        scores = (there[:, 1:] - there[:, :1]) / EPSILON
        triangle = np.linalg.cholesky((scores.T * number) @ scores + np.eye(size))
        root = sp.linalg.solve_triangular(triangle, np.eye(size), lower=True).T
        step, gain = root @ (root.T @ (number @ scores - z)), -np.inf
        for _ in range(STEPS):
            new = z + step
            gain = number @ values((mean + sd * new)[None])[:, 0] - 0.5 * new @ new - here
            if gain > 0:
                break
            step = step / 2
        if not gain > enough:
            return Fit(mean + sd * z, sd[:, None] * root)
        z = z + step


def chains_of(
    density: Likelihoods,
    fits: list[Fit],
    draws: int,
    chains: int,
    rng: Rng,
    progress: Advance = silent,
    sweeps: int = SWEEPS,
) -> Floats:
    """Draw parameters, shape (chain, draw, parameter), by chains that begin near modes, by the mass that these have.

    `progress` is called with the number of new draws of all chains.
    """
    modes, roots = (np.stack(part) for part in zip(*fits))
    n, size = chains * -(-WALKERS // chains), modes.shape[1]
    share = sp.special.softmax(density(modes) + np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1))
    which, centre = rng.choice(len(fits), n, p=share), share @ modes
    x = modes[which] + SPREAD * np.einsum("cpq,cq->cp", roots[which], rng.standard_normal((n, size)))
    between = (modes - centre) * np.sqrt(share)[:, None]
    root = np.linalg.cholesky(np.einsum("f,fpq,frq->pr", share, roots, roots) + between.T @ between)
    each = -(-draws * chains // n)
    log_p, past, warm, left = density(x), [], WARM_UP * sweeps, draws * chains
    for number in range(warm + each * sweeps):
        if number in [round(part * warm) for part in REFITS]:
            recent = np.concatenate(past[number // 3 :])
            centre, root = recent.mean(axis=0), refitted(root, recent)
        x, log_p = sweep(density, x, log_p, centre, root, rng)
        if number < warm or number % sweeps == sweeps - 1:
            past.append(x)
        if number >= warm and number % sweeps == sweeps - 1:
            progress(min(n, left))
            left -= n
    return np.stack(past[warm:], axis=1).reshape(chains, -1, size)[:, :draws]


def posterior(height: Likelihoods, prior: Prior) -> Likelihoods:
    """Return the log density of parameters whose log likelihood is `height`; impossible far off, where that is none."""

    def density(theta: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found = height(theta) - 0.5 * np.square((theta - prior.mean) / prior.sd).sum(axis=1)
        return np.where(np.isnan(found), -np.inf, found)

    return density


def refitted(units: Floats, draws: Floats) -> Floats:
    """Return units (parameter, direction) of draws (draw, parameter), the old ones counted as some draws."""
    worth, away = UNIT_DRAWS * draws.shape[1], np.linalg.solve(units, (draws - draws.mean(axis=0)).T)
    covariance = (away @ away.T + worth * np.eye(len(away))) / (len(draws) + worth)
    return units @ np.linalg.cholesky(covariance)


def sweep(
    density: Likelihoods, x: Floats, log_p: Floats, centre: Floats, root: Floats, rng: Rng
) -> tuple[Floats, Floats]:
    """Move each chain, (chain, parameter) with log densities (chain,), by jumps and a slice; return both anew."""
    (chains, size), inverse = x.shape, np.linalg.inv(root)

    def squares(points: Floats) -> Floats:
        return np.square((points - centre) @ inverse.T).sum(axis=-1)

    def tail(points: Floats) -> Floats:
        return 0.5 * (FREEDOM + size) * np.log1p(squares(points) / FREEDOM)

    def heights(points: Floats) -> Floats:
        """Log density over that of the t distribution, of points (..., parameter)."""
        return density(points.reshape(-1, size)).reshape(points.shape[:-1]) + tail(points)

    x, height = x.copy(), log_p + tail(x)
    away = rng.standard_normal((JUMPS, *x.shape))
    away /= np.sqrt(rng.chisquare(FREEDOM, (JUMPS, chains, 1)) / FREEDOM)
    points = centre + away @ root.T
    for point, found in zip(points, heights(points)):
        taken = -rng.standard_exponential(chains) < found - height
        x[taken], height[taken] = point[taken], found[taken]
    # Given x, the t distribution is a normal one of this scale.
    scale = np.sqrt((FREEDOM + squares(x)) / rng.chisquare(FREEDOM + size, chains))
    other = scale[:, None] * (rng.standard_normal(x.shape) @ root.T)
    least = height - rng.standard_exponential(chains)
    left, turn = np.arange(chains), rng.uniform(0, 2 * np.pi, chains)
    low, high = turn - 2 * np.pi, turn
    for _ in range(TURNS):
        angle = turn[left, None]
        point = centre + (x[left] - centre) * np.cos(angle) + other[left] * np.sin(angle)
        found = heights(point)
        inside = found > least[left]
        at, left = left[inside], left[~inside]
        x[at], height[at] = point[inside], found[inside]
        if not left.size:
            break
        # A turn that is not taken narrows the next one.
        low, high = np.where(turn < 0, turn, low), np.where(turn < 0, high, turn)
        turn = rng.uniform(low, high)
    return x, height - tail(x)
