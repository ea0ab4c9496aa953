"""The sampler of shares: Gibbs sweeps of a hierarchical probit regression of people's votes on verdicts.

Every vote has a latent utility w whose sign it is (Albert and Chib 1993). Given the utilities the coefficients are
normal; the scales of the hierarchy are drawn with the coefficients integrated out, so that few systems with little data
do not hold the chain at small scales.

Source: Albert and Chib, "Bayesian analysis of binary and polychotomous response data", JASA 88 (1993),
https://doi.org/10.1080/01621459.1993.10476321.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree.judges._regression import Draws, Regression

type Floats = NDArray[np.float64]

# Step of the random walk on the log of the scales: with it about a third is accepted for 5 to 20 systems.
SCALE_STEP = 0.9
JOINT_MOVES = 2
"""Joint moves per sweep: each evaluates the likelihood of all votes."""
LEARNT_FROM = 100
"""Sweeps before the first draw from which the joint moves learn their directions."""
# Lengths of joint moves, drawn at random, in units of the posterior's standard deviations: the largest is right where
# the other coefficients leave the three free, the others where they hold them.
LENGTHS = (1.2, 0.4, 0.12)


class Shares:
    """Votes are draws from the share lambda_i of people who say positive; E lambda_i = Phi(m_i).

    Two people's utilities of an item correlate by rho: at 0 the verdicts explain all that people agree on, at 1 people
    never disagree. `free` is the log odds of rho.
    """

    names = ("vote_correlation",)

    def __init__(self, data: Regression, rng: np.random.Generator) -> None:
        self.data, self.rng = data, rng
        self.item = np.repeat(np.arange(data.votes.size), data.votes)
        first = np.cumsum(data.votes) - data.votes
        self.says = np.arange(self.item.size) - first[self.item] < data.positive[self.item]
        self.free, self.effect = np.zeros(1), rng.standard_normal(data.votes.size)

    @property
    def values(self) -> Floats:
        """The sweep's rho."""
        return np.clip(sp.special.expit(self.free), 1e-9, 1 - 1e-9)

    def utilities(self, mean: Floats) -> tuple[Floats, Floats]:
        """Draw the utility of every vote; return their mean in each item and its precision."""
        rho, n = self.values[0], self.data.votes
        centre = mean + np.sqrt(rho) * self.effect
        utility = truncated_normal(centre[self.item], np.sqrt(1 - rho), self.says, self.rng)
        return np.bincount(self.item, utility, n.size) / n, 1 / (rho + (1 - rho) / n)

    def after(self, mean: Floats, average: Floats) -> None:
        """Draw the items' effects given their utilities."""
        rho, n = self.values[0], self.data.votes
        total = 1 - rho + n * rho
        centre = np.sqrt(rho) * n * (average - mean) / total
        self.effect = centre + np.sqrt((1 - rho) / total) * self.rng.standard_normal(n.size)

    def log_posterior(self, free: Floats, mean: Floats) -> float:
        """Log density of `free`, rho being uniform, and of the votes given the items' effects."""
        rho = np.clip(sp.special.expit(free[0]), 1e-9, 1 - 1e-9)
        z = (mean + np.sqrt(rho) * self.effect) / np.sqrt(1 - rho)
        k, n = self.data.positive, self.data.votes
        return float(k @ sp.special.log_ndtr(z) + (n - k) @ sp.special.log_ndtr(-z) + np.log(rho * (1 - rho)))


def sample_chain(data: Regression, *, draws: int, tune: int, thin: int, rng: np.random.Generator) -> Draws:
    """Run one chain. The first shared column is the intercept's."""
    observe = Shares(data, rng)
    n_columns, n_scales = data.scale_index.size, data.scale_prior.size
    scale = np.maximum(np.abs(rng.standard_normal(n_scales)) * data.scale_prior, 1e-3)
    coefficients, scales = np.empty((draws, n_columns)), np.empty((draws, n_scales))
    people = np.empty((draws, len(observe.names)))
    products = [(int(np.flatnonzero(data.votes == n)[0]), _products(data, data.votes == n)) for n in set(data.votes)]
    mean, joint = np.zeros(data.votes.size), _JointMoves(data, observe, rng)
    for sweep in range(tune + draws * thin):
        average, precision = observe.utilities(mean)
        moments = _moments(data, products, average, precision)
        scale, coefficient = _draw_coefficients(data, moments, scale, rng)
        mean = data.mean(coefficient)
        observe.after(mean, average)
        coefficient, scale, mean = joint.move(coefficient, scale, mean, learn=sweep < tune)
        row, rest = divmod(sweep - tune, thin)
        if row >= 0 and rest == thin - 1:
            coefficients[row], scales[row], people[row] = coefficient, scale, observe.values
    return Draws(coefficients, scales, dict(zip(observe.names, people.T)))


class _JointMoves:
    """Moves of the intercept, of all coefficients and scales by one factor, and of the people's parameters, together.

    Utilities are integrated out: given these none of the three would move far, and with judges that predict people
    well the factor hardly at all.
    """

    def __init__(self, data: Regression, observe: Shares, rng: np.random.Generator) -> None:
        self.data, self.observe, self.rng = data, observe, rng
        size = 2 + observe.free.size
        self.root, self.past = np.diag([0.1, 0.1] + [0.3] * observe.free.size), np.zeros((0, size))

    def move(self, coefficient: Floats, scale: Floats, mean: Floats, *, learn: bool) -> tuple[Floats, Floats, Floats]:
        """Return coefficients, scales and means after some moves."""
        height = self._log_posterior(coefficient, scale, mean, self.observe.free)
        for _ in range(JOINT_MOVES):
            step = LENGTHS[self.rng.integers(len(LENGTHS))] * (self.root @ self.rng.standard_normal(len(self.root)))
            factor, free = np.exp(step[1]), self.observe.free + step[2:]
            other = factor * coefficient
            other[0] += step[0]
            moved = factor * mean + step[0] * self.data.shared[0, 0]
            reached = self._log_posterior(other, factor * scale, moved, free)
            # Each coefficient and each log scale is mapped: own ones with their scales, of which the prior knows the
            # ratio only, so that the Jacobian of the shared ones with a known scale is left.
            if np.log(self.rng.random()) < reached - height + (self.data.scale_index < 0).sum() * step[1]:
                coefficient, scale, mean, height = other, factor * scale, moved, reached
                self.observe.free = free
        if learn:
            self._learn(coefficient)
        return coefficient, scale, mean

    def _log_posterior(self, coefficient: Floats, scale: Floats, mean: Floats, free: Floats) -> float:
        """Log density of votes, people's parameters, coefficients of known scale, and log scales."""
        known = coefficient[self.data.scale_index < 0]
        prior = np.log(scale).sum() - 0.5 * (known @ known + ((scale / self.data.scale_prior) ** 2).sum())
        return float(prior) + self.observe.log_posterior(free, mean)

    def _learn(self, coefficient: Floats) -> None:
        size = np.log(np.linalg.norm(coefficient[: self.data.shared.shape[1]]) + 1e-9)
        self.past = np.vstack([self.past, [coefficient[0], size, *self.observe.free]])[-LEARNT_FROM:]
        if len(self.past) == LEARNT_FROM:
            self.root = np.linalg.cholesky(np.cov(self.past.T) + 1e-6 * np.eye(len(self.root)))


class _Moments(NamedTuple):
    """X'WX and X'Ww of the latent regression, by blocks: own coefficients of two systems meet in no item."""

    shared: Floats
    own: Floats
    between: Floats
    cross_shared: Floats
    cross_own: Floats


def _products(data: Regression, rows: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Return X'X of some items: shared (column, column), own (system, own, own), between (system, own, column)."""
    shared, own, member = data.shared[rows], data.own[rows], data.member[:, rows]
    within = np.einsum("si,ia,ib->sab", member, own, own, optimize=True)
    return shared.T @ shared, within, np.einsum("si,ia,ib->sab", member, own, shared, optimize=True)


def _moments(data: Regression, products: Any, average: Floats, precision: Floats) -> _Moments:
    """Weight the items; those with equally many votes have equal weights."""
    shared, own, between = (np.sum([precision[i] * parts[k] for i, parts in products], axis=0) for k in range(3))
    weighted = precision * average
    return _Moments(shared, own, between, weighted @ data.shared, data.member @ (data.own * weighted[:, None]))


def _draw_coefficients(
    data: Regression, moments: _Moments, scale: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw the scales with the coefficients integrated out, then the coefficients."""
    if not scale.size:
        return scale, _conditionals(data, moments, scale[None]).draw(0, rng)
    proposed = scale * np.exp(SCALE_STEP / np.sqrt(scale.size) * rng.standard_normal(scale.size))
    both = np.stack([scale, proposed])
    given = _conditionals(data, moments, both)
    now, then = given.log_density
    chosen = int(np.log(rng.random()) < then - now)
    return both[chosen], given.draw(chosen, rng)


class _Conditionals(NamedTuple):
    """Normal distributions of the coefficients given utilities and each of some scales; the first axis is theirs.

    The systems' own coefficients are eliminated first: `solved` (.., system, own, column + 1) is what the shared ones,
    and the data, say about each system's own, whose precision has the root `root_own`.
    """

    root: Floats
    half: Floats
    root_own: Floats
    solved: Floats
    log_density: Floats

    def draw(self, chosen: int, rng: np.random.Generator) -> Floats:
        """Draw the shared coefficients, then the systems' own given these."""
        noise = self.half[chosen] + rng.standard_normal(self.half.shape[1])
        shared = np.linalg.solve(self.root[chosen].T, noise)
        solved = self.solved[chosen]
        centre = solved[:, :, -1] - solved[:, :, :-1] @ shared
        noise = rng.standard_normal(centre.shape)[:, :, None]
        own = centre + np.linalg.solve(self.root_own[chosen].mT, noise)[:, :, 0]
        return np.append(shared, own.ravel())


def _conditionals(data: Regression, moments: _Moments, scales: Floats) -> _Conditionals:
    """Condition the coefficients on each row of scales: all at once, since calls cost more than these few numbers."""
    n_shared, n_own = data.shared.shape[1], data.own.shape[1]
    sd = np.column_stack([scales, np.ones(len(scales))])[:, data.scale_index]
    own_sd = sd[:, n_shared:].reshape(len(scales), data.n_systems, n_own)
    own = moments.own + own_sd[..., None] ** -2 * np.eye(n_own)
    both = np.concatenate([moments.between, moments.cross_own[:, :, None]], axis=2)
    solved = np.linalg.solve(own, both[None])
    left = moments.between.reshape(-1, n_shared).T @ solved.reshape(len(scales), -1, n_shared + 1)
    schur = moments.shared + sd[:, :n_shared, None] ** -2 * np.eye(n_shared) - left[:, :, :-1]
    root, root_own = np.linalg.cholesky(schur), np.linalg.cholesky(own)
    half = np.linalg.solve(root, (moments.cross_shared - left[:, :, -1])[:, :, None])[:, :, 0]
    explained = (half**2).sum(axis=1) + (moments.cross_own * solved[..., -1]).sum(axis=(1, 2))
    log_det = np.log(root.diagonal(axis1=1, axis2=2)).sum(axis=1)
    log_det += np.log(root_own.diagonal(axis1=2, axis2=3)).sum(axis=(1, 2))
    prior = np.log(scales).sum(axis=1) - 0.5 * ((scales / data.scale_prior) ** 2).sum(axis=1)
    return _Conditionals(root, half, root_own, solved, 0.5 * explained - log_det - np.log(sd).sum(axis=1) + prior)


def truncated_normal(mean: Floats, sd: float, above: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    """Draw normal variables that are above zero where `above` holds and below it elsewhere.

    Examples
    --------
    >>> drawn = truncated_normal(np.zeros(4), 1.0, np.array([True, True, False, False]), np.random.default_rng(1))
    >>> (drawn > 0).tolist()
    [True, True, False, False]
    """
    sign = np.where(above, 1.0, -1.0)
    # On the side of zero in which it lies a variable is |.|: x below sign * mean / sd, by its distribution function.
    share = rng.random(mean.size) * sp.special.ndtr(sign * mean / sd)
    return mean - sign * sd * sp.special.ndtri(np.maximum(share, 1e-300))
