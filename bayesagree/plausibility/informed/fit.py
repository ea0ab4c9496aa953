"""Fit of the informed prior: the parameters that make the votes most probable, and draws of them given the votes."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy as sp

from bayesagree._types import Floats, Rng
from bayesagree.inference.hamiltonian import Density, Modes, walk
from bayesagree.plausibility.informed.family import Items, kinds
from bayesagree.plausibility.informed.prior import Layout

# Cells (item, label, vector) that are computed at once: more leave the processor's cache.
MOST_CELLS = 100_000
# Parameters are learnt from so many cells (item, label) of annotated items, or so many items: more tell little more.
LEARNT_CELLS, LEARNT_ITEMS = 24_000, 1000
# Prior standard deviations beyond which no parameter goes.
FARTHEST = 15.0
# Steps of the climb, the gain of log density at which it ends, and the step of derivatives in prior sds.
STEPS, ENOUGH, EPSILON = 40, 1e-4, 1e-5
# The same where chains only begin.
ENOUGH_TO_BEGIN = 0.3
# The odds of the second kind of items are the last parameter; chains begin where it is nearly no item, and most items.
BEGIN = -3.0, 2.0
# Prior standard deviations of these odds over which they are summed.
ODDS = np.linspace(-2.75, 2.75, 18)
# Chains start this far from a mode beside its normal approximation.
SPREAD = 0.7
# Halvings of that distance where the log density is so much lower, a parameter, than that of the best start.
NEARER, LOWEST = 5, 2.0
# Chains of the sampler behind each chain of a result.
WALKERS = 6

# Log likelihood of each item at parameters, shape (item, vector), of parameters (vector, parameter).
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


def climb(values: Likelihoods, mean: Floats, sd: Floats, number: Floats, enough: float = ENOUGH) -> Fit:
    """Climb to the mode of parameters with priors N(mean, sd^2) and take the information of the items about them there.

    Both by the scores of items, their derivatives with respect to the parameters: the information is the sum of their
    outer products (Berndt, Hall, Hall and Hausman, 1974) plus the precision of the prior. `number` tells how many items
    are like each.
    """
    size, z = mean.size, np.zeros(mean.size)
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


def chains_of(density: Density, fits: list[Fit], draws: int, chains: int, rng: Rng) -> Floats:
    """Draw parameters, shape (chain, draw, parameter), by chains that begin near modes, by the mass that these have."""
    modes, roots = (np.stack(part) for part in zip(*fits))
    n, size = chains * WALKERS, modes.shape[1]
    mass = density(modes)[0] + np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
    which = rng.choice(len(fits), n, p=sp.special.softmax(mass))
    away = SPREAD * np.einsum("cpq,cq->cp", roots[which], rng.standard_normal((n, size)))
    # Where the information at a mode says little of what lies around it, a chain that begins too far off stays there.
    for _ in range(NEARER):
        height = density(modes[which] + away)[0]
        near = height > np.nanmax(height) - LOWEST * size
        if near.all():
            break
        away = np.where(near[:, None], away, away / 2)
    start = modes[which] + away
    root = np.linalg.cholesky(np.einsum("fpq,frq->pr", roots, roots) / len(fits))
    out = walk(density, start, root, -(-draws // WALKERS), rng, Modes(modes, roots) if len(fits) > 1 else None)
    return out.reshape(chains, -1, size)[:, :draws]


def by_cells(function: Likelihoods, theta: Floats, cells: int) -> Floats:
    """Apply a function to parameters (vector, parameter), a few vectors of so many cells at a time; its last axis."""
    step = max(1, MOST_CELLS // max(cells, 1))
    return np.concatenate([function(theta[at : at + step]) for at in range(0, len(theta), step)], axis=-1)


class Learner:
    """The parameters of the informed prior, learnt from the annotated items."""

    def __init__(self, layout: Layout, items: Items) -> None:
        n_items = int(items.counts.any(axis=1).sum())
        most = max(LEARNT_ITEMS, LEARNT_CELLS // items.counts.shape[1])
        self.layout, (self.items, number) = layout, items.alike()
        if n_items > most:
            some = np.random.default_rng(0).permutation(np.repeat(np.arange(number.size), number))[:most]
            kept, number = np.unique(some, return_counts=True)
            self.items = self.items.rows(kept)
        self.number = number.astype(float)
        self.rough = self.items.single()

    def likelihoods(self, theta: Floats) -> Floats:
        """Log likelihood of the votes of each item at parameters (vector, parameter), shape (item, vector)."""

        def found(some: Floats) -> Floats:
            return kinds(some, self.layout, self.items).log_likelihoods(some[:, -1])[0]

        return by_cells(found, theta, self.items.counts.size)

    def mode(self, best_odds: float, enough: float = ENOUGH) -> Fit:
        """Climb to the mode of all parameters but the odds of the second kind, which are held."""

        def values(theta: Floats) -> Floats:
            return self.likelihoods(np.pad(theta, ((0, 0), (0, 1)), constant_values=best_odds))

        return climb(values, self.layout.mean[:-1], self.layout.sd[:-1], self.number, enough)

    def density(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """Log posterior density (vector,) of all parameters but the odds of the second kind, which are summed over.

        With its gradient (vector, parameter), and the log density at each of the odds (odds, vector).
        """
        mean, sd = self.layout.mean, self.layout.sd
        number: Any = self.number.astype(np.float32)
        share = sp.special.expit(mean[-1] + sd[-1] * ODDS).astype(np.float32)
        away = np.clip(np.nan_to_num((theta - mean[:-1]) / sd[:-1], nan=FARTHEST), -FARTHEST, FARTHEST)
        theta = mean[:-1] + sd[:-1] * away

        def found(some: Floats) -> Floats:
            there = kinds(np.pad(some, ((0, 0), (0, 1))), self.layout, self.rough)
            top = there.logs.max(axis=0)
            opened, known, clear = np.exp(there.logs - top)
            rest, more = opened + clear, known - opened
            mixed = [rest + one * more for one in share]
            by_odds = np.stack([number @ np.log(one) for one in mixed]) + number @ top
            by_odds = by_odds - 0.5 * np.square(ODDS)[:, None]
            total = sp.special.logsumexp(by_odds, axis=0)
            first = second = 0.0
            for one, part, weight in zip(share, mixed, np.exp(by_odds - total).astype(np.float32)):
                part = weight / part
                first = first + part
                second = second + one * part
            first, second = first * number[:, None], second * number[:, None]
            by = np.stack([opened * (first - second), known * second, clear * first])
            return np.concatenate([total[None], by_odds, there.gradient(by).T])

        with np.errstate(over="ignore", invalid="ignore"):  # far off, where no chain goes
            out = by_cells(found, theta, self.items.counts.size)
        beyond = np.abs(away).max(axis=1) < FARTHEST
        height = np.where(beyond, out[0] - 0.5 * np.square(away).sum(axis=1), -np.inf)
        return height, out[1 + ODDS.size :].T - away / sd[:-1], out[1 : 1 + ODDS.size]

    def draws(self, draws: int, chains: int, rng: Rng) -> Floats:
        """Draw the parameters, shape (chain, draw, parameter).

        The odds of the second kind are summed over a grid, and drawn from it afterwards: their posterior may be as flat
        as their prior, and chains that carry them along mix slowly.
        """
        mean, sd = self.layout.mean, self.layout.sd
        fits = [self.mode(odds, ENOUGH_TO_BEGIN) for odds in BEGIN]
        out = chains_of(lambda theta: self.density(theta)[:2], fits, draws, chains, rng)
        weight = self.density(out.reshape(-1, out.shape[2]))[2]
        odds = ODDS[(weight + rng.gumbel(size=weight.shape)).argmax(axis=0)]
        return np.concatenate([out, (mean[-1] + sd[-1] * odds).reshape(*out.shape[:2], 1)], axis=2)
