"""Draws of the parameters of the informed prior: Hamiltonian Monte Carlo in the units of the normal approximation.

The likelihood has ridges (a slope may stand for a level, a clear item for an open one), along which a normal
approximation makes items more extreme than the votes say: it moves E sum_k lambda_k^2 by up to a whole posterior
standard deviation, and with it total variation and Brier score. Steps in units of the approximation,
theta = mode + root z, make all directions about equally long, so that trajectories of a few units forget where they
started.

With hundreds of labels most parameters are levels and clarities that few votes know, near enough to normal that the
normal part of the trajectory is solved exactly, a turn on a circle in place of a step on a straight line. Only what the
posterior differs from normal by takes steps, a third fewer with 859 parameters, and turns of up to half a circle mix as
well as those up to 8. With few labels circles and lines need the same steps.

Source: Neal, "MCMC using Hamiltonian dynamics" (2011), https://arxiv.org/abs/1206.1901, section 4 (whitening) and 4.2
(trajectories of random length). Shahbaba, Lan, Johnson and Neal, "Split Hamiltonian Monte Carlo" (2014),
https://arxiv.org/abs/1106.5941, section 2.1 (the circle).
"""

import math
from typing import Any

import numba
import numpy as np

from bayesagree._inference.streams import Seed, block_generators, map_blocks, seed_sequence
from bayesagree._numerics.types import Floats
from bayesagree._numerics.vectors import copy_to
from bayesagree.plausibility.informed._kernels import score_functions
from bayesagree.plausibility.informed.covariates import Covariates
from bayesagree.plausibility.informed.fit import FARTHEST, Fit, Votes, gather
from bayesagree.plausibility.informed.prior import Layout

# The error of the normal approximation beside the posterior's own sd falls as one over the root of the number of items.
MOST_ITEMS = 5000
"""Items with votes up to which the parameters are drawn by Hamiltonian Monte Carlo."""
WARM_UP = 40
"""Trajectories that find the step and leave the start behind; they are not kept."""
FIRST_STEP = 0.3
# Acceptance that costs the fewest gradients for an independent draw is .65 for normal targets and higher for skewed.
ACCEPTANCE = 0.8
# A quarter of a circle, pi / 2, makes a draw of a normal target independent. Where a sharp kind of clear item and none
# fit equally well, the approximation knows one of them, and only long trajectories find the other: up to 8, R-hat is
# 1.07 to 1.15 where 2.5 leaves 1.27 to 1.36, at twice the cost; up to 14 costs twice as much again.
SHORTEST, LONGEST = 1.0, 8.0
# Few clear items leave their odds a long tail, which half a circle crosses too seldom: with 1,000 items and 50 labels
# R-hat of clear_odds is 1.15 to 1.25 (three seeds), on lines up to 8 it is 1.08 (one).
MANY_LABELS = 100
"""Labels from which trajectories turn on a circle."""
HALF_CIRCLE = 3.0
"""Longest trajectory on the circle."""
# A new set costs some twenty passes over all items, more than its draws, or only one where sets are independent.
MOST_SHARED, MOST_SHARED_NORMAL = 10, 20
"""Most consecutive draws that share their parameters, of a Markov chain and of the normal approximation."""


def is_normal(votes: Votes, engine: str) -> bool:
    """Tell whether the parameters are drawn from their normal approximation."""
    return engine == "normal" or int(np.count_nonzero(np.diff(votes.start))) > MOST_ITEMS


def draws_per_parameters(votes: Votes, draws: int, engine: str) -> int:
    """Return how many consecutive draws of a chain share one draw of the parameters; it divides `draws`."""
    most = MOST_SHARED_NORMAL if is_normal(votes, engine) else MOST_SHARED
    return next(d for d in range(most, 0, -1) if draws % d == 0)


def parameter_draws(
    votes: Votes,
    covariates: Covariates,
    layout: Layout,
    fit: Fit,
    draws: int,
    chains: int,
    seed: Seed,
    engine: str = "hmc",
) -> Floats:
    """Draw the parameters, shape (chain, draw, parameter)."""
    if is_normal(votes, engine):
        return normal_draws(fit, draws, chains, seed)
    voted = np.flatnonzero(np.diff(votes.start))
    dense, hit, start, label, count = gather(votes, covariates, voted)
    root, circle = np.ascontiguousarray(fit.root), len(layout.categories) > MANY_LABELS

    def chain(rng: np.random.Generator) -> Floats:
        out = np.empty((draws, fit.mode.size))
        parameter_chain(rng, layout.mean, layout.sd, fit.mode, root, dense, hit, start, label, count, circle, out)
        return out

    return np.stack(list(map_blocks(chain, block_generators(seed, chains))))


def normal_draws(fit: Fit, draws: int, chains: int, seed: Seed) -> Floats:
    """Draw the parameters from their normal approximation, shape (chain, draw, parameter)."""
    return fit.draws(draws * chains, np.random.default_rng(seed_sequence(seed))).reshape(chains, draws, -1)


@numba.njit(cache=True, nogil=True)
def _log_density(z, mean, sd, mode, root, dense, hit, start, label, count, value, slope):
    """Return the log posterior density at z, without constants, and write its gradient by z into `slope`.

    Minus infinity where a parameter is beyond all reason.
    """
    theta = mode + root @ z
    for j in range(theta.size):
        if not abs(theta[j] - mean[j]) < FARTHEST * sd[j]:
            return -math.inf
    by_theta = np.zeros((1, theta.size))
    score_functions(theta, dense, hit, start, label, count, value, by_theta)
    total = value.sum()
    for j in range(theta.size):
        step = (theta[j] - mean[j]) / sd[j]
        total -= 0.5 * step * step
        by_theta[0, j] -= step / sd[j]
    copy_to(slope, root.T @ by_theta[0])
    return total


@numba.njit(cache=True, nogil=True)
def parameter_chain(rng: Any, mean, sd, mode, root, dense, hit, start, label, count, circle, out):
    """Fill `out`, shape (draw, parameter), with one Markov chain that starts at a draw of the approximation.

    On a circle the normal part of the density, whose pull towards the mode is -z, is solved between the steps.
    """
    n, pull = mode.size, 1.0 if circle else 0.0
    value = np.empty(dense.shape[0])
    z, slope, new_slope = np.empty(n), np.zeros(n), np.zeros(n)
    for j in range(n):
        z[j] = rng.standard_normal()
    log_density = _log_density(z, mean, sd, mode, root, dense, hit, start, label, count, value, slope)
    log_step = math.log(FIRST_STEP)
    momentum = np.empty(n)
    for d in range(-WARM_UP, out.shape[0]):
        for j in range(n):
            momentum[j] = rng.standard_normal()
        energy = log_density - 0.5 * (momentum @ momentum)
        length = rng.uniform(SHORTEST, HALF_CIRCLE if circle else LONGEST)
        n_steps = math.ceil(length / math.exp(log_step))
        step = length / n_steps
        turn, ahead = (math.cos(step), math.sin(step)) if circle else (1.0, step)
        new, new_density = z.copy(), log_density
        copy_to(new_slope, slope)
        momentum += 0.5 * step * (new_slope + pull * new)
        for s in range(n_steps):
            for j in range(n):
                here = new[j]
                new[j] = turn * here + ahead * momentum[j]
                momentum[j] = turn * momentum[j] - pull * ahead * here
            new_density = _log_density(new, mean, sd, mode, root, dense, hit, start, label, count, value, new_slope)
            if new_density == -math.inf:
                break
            momentum += (step if s < n_steps - 1 else 0.5 * step) * (new_slope + pull * new)
        change = new_density - 0.5 * (momentum @ momentum) - energy
        accepted = math.exp(min(change, 0.0)) if math.isfinite(change) else 0.0
        if d < 0:
            # Robbins and Monro (1951), from large corrections to small ones.
            log_step += (accepted - ACCEPTANCE) / math.sqrt(d + WARM_UP + 4.0)
        if rng.random() < accepted:
            copy_to(z, new)
            copy_to(slope, new_slope)
            log_density = new_density
        if d >= 0:
            copy_to(out[d], mode + root @ z)
