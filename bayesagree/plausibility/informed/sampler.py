"""Draws of the parameters of the informed prior: Hamiltonian Monte Carlo in the units of the normal approximation.

The likelihood has ridges (a slope may stand for a level, a clear item for an open one), along which a normal
approximation makes items more extreme than the votes say: it moves E sum_k lambda_k^2 by up to a whole posterior
standard deviation, and with it total variation and Brier score. Steps in units of the approximation,
theta = mode + root z, make all directions about equally long, so that trajectories of a few units forget where they
started.

Source: Neal, "MCMC using Hamiltonian dynamics" (2011), https://arxiv.org/abs/1206.1901, section 4 (whitening) and 4.2
(trajectories of random length).
"""

import math
from functools import partial

import numpy as np

from bayesagree._types import Floats
from bayesagree.inference.convergence import ENOUGH_DRAWS, R_HAT_LIMIT, diagnostics
from bayesagree.inference.hamiltonian import Chain, Normals
from bayesagree.inference.streams import Seed, block_generators, map_blocks, one_blas_thread, seed_sequence
from bayesagree.plausibility.informed._block_kernels import blocks_of, score_functions
from bayesagree.plausibility.informed.covariates import Covariates
from bayesagree.plausibility.informed.fit import FARTHEST, Fit, Votes, alike, gather
from bayesagree.plausibility.informed.prior import Layout

# The error of the normal approximation beside the posterior's own sd falls as one over the root of the number of items.
# Items with votes up to which the parameters are drawn by Hamiltonian Monte Carlo.
MOST_ITEMS = 5000
# Trajectories that find the step and leave the start behind; they are not kept.
WARM_UP = 20
# Trajectories turn on the circle of the normal approximation. A quarter of it, pi / 2, makes a draw of a normal target
# independent; with up to 2.2 chains take half the gradients of straight trajectories of up to 4 and mix as well (on
# simulated sets, chaosnli-snli and dices350: 1,900 for 3,400, worst parameter 24 effective draws for 12 of a thousand).
SHORTEST, LONGEST = 1.0, 2.2
# Where two kinds of items and one fit about equally well, or clear items and open ones exchange their parts, the
# posterior has two modes: chains that disagree run on with jumps between what they found, with so many trajectories for
# a draw, until they agree.
THIN_OF_RETRIES = (1, 1, 2, 2)
# With hundreds of labels most parameters are levels and clarities that few votes know, which are nearly normal.
# Labels from which trajectories take up to half of the circle, and are not tried again.
MANY_LABELS = 100
HALF_CIRCLE = 3.0
# A new set costs some twenty passes over all items, more than its draws, or only one where sets are independent.
# Most consecutive draws that share their parameters, of a Markov chain and of the normal approximation.
MOST_SHARED, MOST_SHARED_NORMAL = 10, 20


def is_normal(votes: Votes, engine: str) -> bool:
    """Return whether the parameters are drawn from their normal approximation."""
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
    random_seed: Seed,
    engine: str = "hmc",
) -> Floats:
    """Draw the parameters, shape (chain, draw, parameter)."""
    if is_normal(votes, engine):
        return normal_draws(fit, draws, chains, random_seed)
    some, weight = alike(votes, covariates, np.flatnonzero(np.diff(votes.start)))
    blocks = blocks_of(*gather(votes, covariates, some), weight)
    root = np.ascontiguousarray(fit.root)
    many = len(layout.categories) > MANY_LABELS
    longest = HALF_CIRCLE if many else LONGEST

    def start(rng: np.random.Generator) -> Chain:
        by_theta = np.empty((1, fit.mode.size, blocks.votes.shape[1]))

        def density(theta: Floats) -> tuple[float, Floats]:
            slope, away = np.empty(theta.size), (theta - layout.mean) / layout.sd
            if not np.abs(away).max() < FARTHEST:
                return -math.inf, slope
            value = score_functions(theta, *blocks, slope, by_theta) - 0.5 * float(away @ away)
            return value, slope - away / layout.sd

        point = fit.mode + root @ rng.standard_normal(fit.mode.size)
        chain = Chain(density, point, root, rng, shortest=SHORTEST, longest=longest, centre=fit.mode)
        chain.adapt(WARM_UP)
        return chain

    with one_blas_thread():
        started = list(map_blocks(start, block_generators(random_seed, chains)))
        drawn = run(started, draws)
        for retry, thin in enumerate(() if many else THIN_OF_RETRIES):
            if not disagree(drawn):
                break
            # Only draws that are not kept set the proposals and the steps.
            jumps = Normals.of(drawn, root)
            for chain in started if retry else ():
                chain.adapt(WARM_UP)
            drawn = run(started, draws, thin, jumps)
    return drawn


def run(started: list[Chain], draws: int, thin: int = 1, jumps: Normals | None = None) -> Floats:
    """Run all chains on, each in a thread of its own, shape (chain, draw, parameter)."""
    return np.stack(list(map_blocks(partial(Chain.run, draws=draws, thin=thin, jumps=jumps), started)))


def disagree(drawn: Floats) -> bool:
    """Return whether chains, shape (chain, draw, parameter), are long enough to compare and have not mixed."""
    return len(drawn) > 1 and drawn.shape[1] >= ENOUGH_DRAWS and bool(diagnostics(drawn)[0].max() > R_HAT_LIMIT)


def normal_draws(fit: Fit, draws: int, chains: int, random_seed: Seed) -> Floats:
    """Draw the parameters from their normal approximation, shape (chain, draw, parameter)."""
    return fit.draws(draws * chains, np.random.default_rng(seed_sequence(random_seed))).reshape(chains, draws, -1)
