"""The sampler of shares: Gibbs sweeps of a hierarchical probit regression of people's votes on verdicts.

Every vote has a latent utility w whose sign it is (Albert and Chib 1993). Given the utilities the coefficients are
normal; the scales of the hierarchy are drawn with the coefficients integrated out, so that few systems with little data
do not hold the chain at small scales.

Chains run side by side, each with its own stream: a call costs more than the numbers of one chain. The first axis of
every array below is theirs, unless its shape is given.

Source: Albert and Chib, "Bayesian analysis of binary and polychotomous response data", JASA 88 (1993),
https://doi.org/10.1080/01621459.1993.10476321.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats
from bayesagree.judges._regression import Draws, Regression

type Streams = Sequence[np.random.Generator]

# Step of the random walk on the log of the scales: with it about a third is accepted for 5 to 20 systems.
SCALE_STEP = 0.9
# Joint moves per sweep: each evaluates the likelihood of all votes.
JOINT_MOVES = 2
# Sweeps before the first draw from which the joint moves learn their directions.
LEARNT_FROM = 100
# Lengths of joint moves, drawn at random, in units of the posterior's standard deviations: the largest is right where
# the other coefficients leave the three free, the others where they hold them.
LENGTHS = (1.2, 0.4, 0.12)


class Shares:
    """Votes are draws from the share lambda_i of people who say positive; E lambda_i = Phi(m_i).

    Two people's utilities of an item correlate by rho: at 0 the verdicts explain all that people agree on, at 1 people
    never disagree. `free` is the log odds of rho.
    """

    names = ("vote_correlation",)

    def __init__(self, data: Regression, rngs: Streams) -> None:
        self.data, self.rngs = data, rngs
        self.item = np.repeat(np.arange(data.votes.size), data.votes)
        self.first = np.cumsum(data.votes) - data.votes
        says = np.arange(self.item.size) - self.first[self.item] < data.positive[self.item]
        self.sign = np.where(says, 1.0, -1.0)
        self.free = np.zeros((len(rngs), 1))
        self.values = _inside(self.free)  # rho of each chain
        self.effect = _each(rngs, lambda rng: rng.standard_normal(data.votes.size))

    def utilities(self, mean: Floats) -> tuple[Floats, Floats]:
        """Draw the utility of every vote; return their mean in each item and its precision."""
        rho, n = self.values, self.data.votes
        centre = mean + np.sqrt(rho) * self.effect
        uniform = _each(self.rngs, lambda rng: rng.random(self.item.size))
        utility = truncated_normal(centre[:, self.item], np.sqrt(1 - rho), self.sign, uniform)
        return np.add.reduceat(utility, self.first, axis=1) / n, 1 / (rho + (1 - rho) / n)

    def after(self, mean: Floats, average: Floats) -> None:
        """Draw the items' effects given their utilities."""
        rho, n = self.values, self.data.votes
        total = 1 - rho + n * rho
        centre = np.sqrt(rho) * n * (average - mean) / total
        noise = _each(self.rngs, lambda rng: rng.standard_normal(n.size))
        self.effect = centre + np.sqrt((1 - rho) / total) * noise


def sample_chains(data: Regression, *, draws: int, tune: int, thin: int, rngs: Streams) -> list[Draws]:
    """Run a chain of each generator; no result depends on the others. The first shared column is the intercept's."""
    observe = Shares(data, rngs)
    n_chains, n_columns, n_scales = len(rngs), data.scale_index.size, data.scale_prior.size
    scale = np.maximum(np.abs(_each(rngs, lambda rng: rng.standard_normal(n_scales))) * data.scale_prior, 1e-3)
    coefficients, scales = np.empty((n_chains, draws, n_columns)), np.empty((n_chains, draws, n_scales))
    people = np.empty((n_chains, draws, len(observe.names)))
    products = [*map(np.stack, zip(*(_products(data, data.votes == n) for n in set(data.votes.tolist()))))]
    mean, joint = np.zeros((n_chains, data.votes.size)), _JointMoves(data, observe)
    for sweep in range(tune + draws * thin):
        average, precision = observe.utilities(mean)
        coefficient = _draw_coefficients(data, products, average, precision, scale, rngs)
        mean = data.mean(coefficient)
        observe.after(mean, average)
        coefficient, scale, mean = joint.move(coefficient, scale, mean, learn=sweep < tune)
        row, rest = divmod(sweep - tune, thin)
        if row >= 0 and rest == thin - 1:
            coefficients[:, row], scales[:, row], people[:, row] = coefficient, scale, observe.values
    return [Draws(c, s, dict(zip(observe.names, p.T))) for c, s, p in zip(coefficients, scales, people)]


class _JointMoves:
    """Moves of the intercept, of all coefficients and scales by one factor, and of the people's parameters, together.

    Utilities are integrated out: given these none of the three would move far, and with judges that predict people
    well the factor hardly at all.
    """

    def __init__(self, data: Regression, observe: Shares) -> None:
        self.data, self.observe, self.rngs = data, observe, observe.rngs
        n_chains, n_free = observe.free.shape
        self.known = data.scale_index < 0
        self.root = np.stack([np.diag([0.1, 0.1] + [0.3] * n_free)] * n_chains)
        self.past = np.zeros((n_chains, 0, 2 + n_free))

    def move(self, coefficient: Floats, scale: Floats, mean: Floats, *, learn: bool) -> tuple[Floats, Floats, Floats]:
        """Return coefficients, scales and means after some moves."""
        data, observe = self.data, self.observe
        drawn = [_each(self.rngs, self._drawn) for _ in range(JOINT_MOVES)]
        votes = mean, observe.effect, data.positive, data.votes, data.shared[0, 0]
        _accept(np.array(drawn), self.root, self.known, data.scale_prior, *votes, observe.free, coefficient, scale)
        observe.values = _inside(observe.free)
        if learn:
            self._learn(coefficient)
        return coefficient, scale, mean

    def _drawn(self, rng: np.random.Generator) -> Floats:
        """Draw a direction, and the log of a uniform number."""
        direction = LENGTHS[rng.integers(len(LENGTHS))] * rng.standard_normal(self.root.shape[1])
        return np.append(direction, np.log(rng.random()))

    def _learn(self, coefficient: Floats) -> None:
        size = np.log(np.linalg.norm(coefficient[:, : self.data.shared.shape[1]], axis=1, keepdims=True) + 1e-9)
        new = np.concatenate([coefficient[:, :1], size, self.observe.free], axis=1)[:, None]
        self.past = np.concatenate([self.past, new], axis=1)[:, -LEARNT_FROM:]
        if self.past.shape[1] == LEARNT_FROM:
            away = self.past - self.past.mean(axis=1, keepdims=True)
            covariance = away.mT @ away / (LEARNT_FROM - 1)
            self.root = np.linalg.cholesky(covariance + 1e-6 * np.eye(self.root.shape[1]))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _accept(drawn, root, known, scale_prior, mean, effect, positive, votes, column, free, coefficient, scale):
    """Make the moves (move, chain, direction) that are accepted, in place."""
    for c in range(len(scale)):
        votes_of = effect[c], positive, votes
        prior = known, scale_prior, coefficient[c], scale[c]
        height = _log_posterior(0.0, 1.0, free[c, 0], column, mean[c], *votes_of, *prior)
        for m in range(len(drawn)):
            shift = log_factor = other = 0.0
            for k in range(root.shape[1]):
                shift += root[c, 0, k] * drawn[m, c, k]
                log_factor += root[c, 1, k] * drawn[m, c, k]
                other += root[c, 2, k] * drawn[m, c, k]
            factor, other = math.exp(log_factor), free[c, 0] + other
            reached = _log_posterior(shift, factor, other, column, mean[c], *votes_of, *prior)
            # Each coefficient and each log scale is mapped: own ones with their scales, of which the prior knows the
            # ratio only, so that the Jacobian of the shared ones with a known scale is left.
            if drawn[m, c, root.shape[1]] < reached - height + known.sum() * log_factor:
                height, free[c, 0] = reached, other
                coefficient[c] *= factor
                coefficient[c, 0] += shift
                scale[c] *= factor
                mean[c] = factor * mean[c] + shift * column


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _log_posterior(shift, factor, free, column, mean, effect, positive, votes, known, scale_prior, coefficient, scale):
    """Log density of votes, `free`, coefficients of known scale and log scales, after a move by shift and factor.

    Rho is uniform; the votes are taken given the items' effects.
    """
    rho = min(max(1.0 / (1.0 + math.exp(-free)), 1e-9), 1 - 1e-9)
    height, root, spread = math.log(rho * (1.0 - rho)), math.sqrt(rho), math.sqrt(1.0 - rho)
    for k in range(known.size):
        if known[k]:
            height -= 0.5 * (factor * coefficient[k] + (shift if k == 0 else 0.0)) ** 2
    for k in range(scale.size):
        height += math.log(factor * scale[k]) - 0.5 * (factor * scale[k] / scale_prior[k]) ** 2
    for i in range(votes.size):
        z = (factor * mean[i] + shift * column + root * effect[i]) / spread
        if positive[i] > 0:
            height += positive[i] * _log_ndtr(z)
        if votes[i] > positive[i]:
            height += (votes[i] - positive[i]) * _log_ndtr(-z)
    return height


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _log_ndtr(z):
    """Log of the normal distribution function; below -37, where erfc underflows, by its asymptotic series."""
    if z > -37.0:
        return math.log(0.5 * math.erfc(-z * math.sqrt(0.5)))
    q = 1.0 / (z * z)
    return -0.5 * z * z - math.log(-z * math.sqrt(2.0 * math.pi)) + math.log1p(-q * (1.0 - q * (3.0 - q * 15.0)))


def _products(data: Regression, rows: NDArray[np.bool_]) -> tuple[Any, ...]:
    """Return the first of some items with equally many votes, which weigh the same, and their X'X by blocks.

    Shared (column, column), own (system, own, own) and between (system, own, column): own coefficients of two systems
    meet in no item.
    """
    shared, own, member = data.shared[rows], data.own[rows], data.member[:, rows]
    within, between = (np.einsum("si,ia,ib->sab", member, own, x, optimize=True) for x in (own, shared))
    return rows.argmax(), shared.T @ shared, within, np.ascontiguousarray(between)


def _draw_coefficients(
    data: Regression, products: Any, average: Floats, precision: Floats, scale: Floats, rngs: Streams
) -> Floats:
    """Draw the scales, in place, with the coefficients integrated out, then the coefficients."""
    n_chains, n_scales = scale.shape
    other, level = scale.copy(), np.full(n_chains, np.inf)
    if n_scales:
        other *= np.exp(SCALE_STEP / np.sqrt(n_scales) * _each(rngs, lambda rng: rng.standard_normal(n_scales)))
        level = np.log(_each(rngs, lambda rng: rng.random()))
    coefficient = _each(rngs, lambda rng: rng.standard_normal(data.scale_index.size))
    n_shared, n_own = data.shared.shape[1], data.own.shape[1]
    own, shared = np.empty((2, data.n_systems, n_own, n_own + n_shared + 1)), np.empty((2, n_shared, n_shared + 1))
    weighted = precision * average
    items, by_shared, by_own, between = products
    crossed = weighted @ data.shared, data.member @ (data.own * weighted[:, :, None])
    known = items, by_shared, by_own, between, precision, *crossed
    _given_utilities(*known, data.scale_index, data.scale_prior, other, level, own, shared, scale, coefficient)
    return coefficient


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _given_utilities(
    items, by_shared, by_own, between, precision, cross_shared, cross_own,
    scale_index, scale_prior, other, level, own, shared, scale, coefficient,
):  # fmt: skip
    """Replace scales by the other ones where these are accepted, and the coefficients, of noise, by draws.

    The systems' own coefficients are eliminated first. `own` is room for the root of each system's precision beside
    what the shared ones, and the data, say about its coefficients; `shared` for the root of what is left, and the data.
    """
    n_systems, n_own, n_shared = own.shape[1], own.shape[2], shared.shape[1]
    first = n_own + n_shared
    for c in range(len(scale)):
        now, chosen = 0.0, 0
        for side in range(1 if other.shape[1] == 0 else 2):
            scales = other[c] if side else scale[c]
            root, height = shared[side], 0.0
            root[:] = 0.0
            root[:, n_shared] = cross_shared[c]
            own[side] = 0.0
            for v in range(items.size):
                root[:, :n_shared] += precision[c, items[v]] * by_shared[v]
                own[side, :, :, :n_own] += precision[c, items[v]] * by_own[v]
                own[side, :, :, n_own:first] += precision[c, items[v]] * between[v]
            for k in range(scales.size):
                height += math.log(scales[k]) - 0.5 * (scales[k] / scale_prior[k]) ** 2
            for k in range(scale_index.size):
                height -= math.log(scales[scale_index[k]]) if scale_index[k] >= 0 else 0.0
            for a in range(n_shared):
                root[a, a] += scales[scale_index[a]] ** -2.0 if scale_index[a] >= 0 else 1.0
            for s in range(n_systems):
                part = own[side, s]
                part[:, first] = cross_own[c, s]
                for a in range(n_own):
                    index = scale_index[n_shared + s * n_own + a]
                    part[a, a] += scales[index] ** -2.0 if index >= 0 else 1.0
                height -= _eliminate(part)
                for b in range(n_shared):
                    for a in range(n_own):
                        for k in range(n_shared + 1):
                            root[b, k] -= part[a, n_own + b] * part[a, n_own + k]
                for a in range(n_own):
                    height += 0.5 * part[a, first] ** 2
            height -= _eliminate(root)
            for a in range(n_shared):
                height += 0.5 * root[a, n_shared] ** 2
            chosen = 1 if side and level[c] < height - now else 0
            now = height
        if chosen:
            scale[c] = other[c]
        drawn, root = coefficient[c], shared[chosen]
        for a in range(n_shared):
            drawn[a] += root[a, n_shared]
        _solve_back(root, drawn[:n_shared])
        for s in range(n_systems):
            mine, part = drawn[n_shared + s * n_own : n_shared + (s + 1) * n_own], own[chosen, s]
            for a in range(n_own):
                mine[a] += part[a, first]
                for b in range(n_shared):
                    mine[a] -= part[a, n_own + b] * drawn[b]
            _solve_back(part, mine)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _eliminate(rows):
    """Replace rows [A, B] by [L, L^-1 B], A = L L'; return the sum of the logs of L's diagonal."""
    n, log_det = rows.shape[0], 0.0
    for a in range(n):
        for b in range(a):
            for k in range(b):
                rows[a, b] -= rows[a, k] * rows[b, k]
            rows[a, b] /= rows[b, b]
            rows[a, a] -= rows[a, b] ** 2
        rows[a, a] = math.sqrt(rows[a, a])
        log_det += math.log(rows[a, a])
        for k in range(n, rows.shape[1]):
            for b in range(a):
                rows[a, k] -= rows[a, b] * rows[b, k]
            rows[a, k] /= rows[a, a]
    return log_det


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _solve_back(root, x):
    """Replace x by L'^-1 x."""
    for a in range(x.size - 1, -1, -1):
        for b in range(a + 1, x.size):
            x[a] -= root[b, a] * x[b]
        x[a] /= root[a, a]


def truncated_normal(mean: Floats, sd: Floats | float, sign: Floats, uniform: Floats) -> Floats:
    """Turn uniform numbers into normal variables that are above zero where `sign` is 1 and below it where it is -1.

    Examples
    --------
    >>> uniform = np.random.default_rng(1).random(4)
    >>> drawn = truncated_normal(np.zeros(4), 1.0, np.array([1.0, 1.0, -1.0, -1.0]), uniform)
    >>> (drawn > 0).tolist()
    [True, True, False, False]
    """
    # On the side of zero in which it lies a variable is |.|: x below sign * mean / sd, by its distribution function.
    share = uniform * sp.special.ndtr(sign * mean / sd)
    return mean - sign * sd * sp.special.ndtri(np.maximum(share, 1e-300))


def _each(rngs: Streams, draw: Callable[[np.random.Generator], Any]) -> Floats:
    """Return what is drawn from the stream of each chain, one row a chain."""
    return np.array([draw(rng) for rng in rngs])


def _inside(free: Floats) -> Floats:
    """Return the share of these log odds, away from 0 and 1."""
    # `np.clip` takes five times as long for so few numbers.
    return np.minimum(np.maximum(sp.special.expit(free), 1e-9), 1 - 1e-9)
