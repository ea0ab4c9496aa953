"""The posterior of Phi: mode, Student t, adaptive importance sampling.

Places are (log p, logit m, logit s, two angles), as many of them as there are: the roots of the shares of outright
ends, uniform on (0, 1), are the sines of the angles, on whose scale a share is known equally well near 0 and near 1.
The mode is climbed to, the first draws are of a Student t around it, and further rounds are mixtures around the best
draws until enough of them are effective; all draws together are weighted by the mixture of all rounds, and the Pareto
k-hat of the weights says whether they can be trusted. log p of a place is rounded to a fraction of its standard
deviation, so that places share tables of the likelihood.

An answer at an end is an interval of a judgment, as on any level, or an outright end, with odds that the item mean
moves (see `Likelihood.ends`). Readings with and without outright ends are
averaged: they are equally likely before the ratings, and weighted by their evidence, which is equal where no answer
lies between the ends (Hoeting, Madigan, Raftery, Volinsky, "Bayesian model averaging", Statistical Science 14, 1999).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy as sp

from bayesagree._types import Advance, Floats, Rng, silent
from bayesagree.agreement._phi.likelihood import compressed
from bayesagree.agreement._phi.problem import Problem
from bayesagree.agreement.summary import Summary, summarise
from bayesagree.errors import ConvergenceError, warn
from bayesagree.inference.convergence import K_HAT_LIMIT, pareto_k, warn_of_weights
from bayesagree.inference.streams import one_blas_thread

Density = Callable[..., Floats]

HALF_LOG_2 = np.log(2) / 2
# log p from Phi -0.9999 to 1 - 2^-9999, and the largest logit of m and s; shares closer to 1 make no difference.
SEARCH = (np.log(1e-4), np.log(2e4))
LARGEST_LOGIT = 15.0
LARGEST_ANGLE = np.pi / 2 - 1e-6
# log p at which the mode is looked for first, logits of s and, for outright ends, angles.
STARTS = np.linspace(-1.5, 4.0, 9), (-2.0, -0.5, 1.0), (0.15, 0.7)
# Step of the finite differences towards the mode, and how far from the best start it may be.
SPACING, FARTHEST = 1e-3, 3.0
# Least curvature of the first proposal, degrees of freedom of all, and what its scale is multiplied by.
FLATTEST, DEGREES, WIDER = 0.05, 3, 1.15
# Draws in the first round, a quarter for each of two modes, in others, further rounds at most; effective draws that end
# them.
FIRST, NEXT, MOST_ROUNDS, ENOUGH = 4096, 2048, 8, 2500
# log p between the starts from which two modes are looked for.
APART = 0.9
# Lattice of 1024 points and more (Cools, Kuo, Nuyens, "Constructing embedded lattice rules for multivariate
# integration", SIAM Journal on Scientific Computing 28, 2006): scipy.stats takes longer to import than it saves.
LATTICE = np.array([1, 182667, 469891, 498753, 110745, 446247, 250185])
# Centres of a further round, their width in the covariance of the draws, and the largest weight that counts there.
CENTRES, NARROWER, LARGEST_WEIGHT = 40, 0.35, 0.02
# Effective draws below which there is no result.
FEWEST = 50
# Log evidence below that of the rival from which no further round follows: its weight is below a ten-thousandth. The
# least share of effective draws that a reading beside a rival has.
NEGLIGIBLE, LEAST_SHARE = 10.0, 0.2
# Weight of a reading above which its effective draws and k-hat count.
COUNTED = 0.01
# Log density below the largest at which a place counts for nothing.
HOPELESS = 60.0
# Rounding of log p in standard deviations, and equally likely places that a summary is made of.
ROUNDED, PLACES = 0.25, 10_000


def phi_of(precision: Floats | float) -> Floats:
    """Return Phi = 1 - 2^(1 - p/2)."""
    return 1 - 2 * np.exp(-HALF_LOG_2 * np.asarray(precision))


def precision_of(phi: Floats | float) -> Floats:
    """Return p = 2 (1 - log2(1 - Phi))."""
    return 2 * (1 - np.log2(1 - np.asarray(phi)))


class Draws(NamedTuple):
    """Draws of log p, of (m, s), shape (draw, 2), None without, and of the shares of outright ends, shape (draw, 2)."""

    y: Floats
    hyper: Floats | None
    shares: Floats


class PhiPosterior(NamedTuple):
    """Weighted places of the posterior, in the order of log p."""

    # log p, shape (place,).
    y: Floats
    # Weight of each place, adding up to 1.
    weight: Floats
    # (m, s), shape (place, 2), None without.
    hyper: Floats | None
    # Shares of outright ends, shape (place, 2), 0 without.
    shares: Floats
    # Log marginal likelihood of the ratings.
    log_evidence: float
    # Its Monte-Carlo standard error.
    log_evidence_error: float
    # Effective draws of the importance sampling.
    effective: float
    # Pareto k-hat of its weights.
    k_hat: float

    def summary(self, ci_prob: float = 0.95) -> Summary:
        """Return mean, sd and HDI of Phi, and Pr(Phi > 0)."""
        return summarise(phi_of(np.exp(self.draw(PLACES, np.random.default_rng(0)).y)), ci_prob)

    def draw(self, n: int, rng: Rng) -> Draws:
        """Draw places by their weights, systematically and in random order."""
        at = np.searchsorted(np.cumsum(self.weight), (np.arange(n) + rng.random()) / n)
        at = rng.permutation(np.minimum(at, self.y.size - 1))
        return Draws(self.y[at], None if self.hyper is None else self.hyper[at], self.shares[at])


class JointPosterior(NamedTuple):
    """Posterior of both readings of answers at the ends together, and of each, None of one that is not considered."""

    phi: PhiPosterior
    binned: PhiPosterior | None
    inflated: PhiPosterior | None
    # Posterior probability of the reading with outright ends.
    prob_inflated: float


@one_blas_thread()
def joint_posterior(problem: Problem, progress: Advance = silent) -> JointPosterior:
    """Return the posterior under the likelihood of the problem, with the progress (see `common_agreement`).

    Raises
    ------
    ConvergenceError
        Fewer than 50 draws of the importance sampling are effective; of averaged readings the one without outright
        ends is then left, with a warning.
    """
    if problem.kind == "inflated":
        inflated = _checked(_posterior(problem, True, progress))
        return JointPosterior(inflated, None, inflated, 1.0)
    binned = _checked(_posterior(problem, False, progress))
    if problem.kind != "averaged":
        return JointPosterior(binned, binned, None, 0.0)
    inflated = _posterior(problem, True, progress, binned.log_evidence)
    share = sp.special.expit(inflated.log_evidence - binned.log_evidence)
    if inflated.effective < FEWEST and share > np.exp(-NEGLIGIBLE):
        warn(
            "the posterior with outright ends could not be computed: answers at the ends are read as intervals "
            "(likelihood='binned')"
        )
        return JointPosterior(binned, binned, None, 0.0)
    # Without an answer between the ends the evidence only compares how much prior the readings have at the limits.
    share = 0.5 if problem.like.only_ends else float(share)
    return JointPosterior(_mixture(binned, inflated, share), binned, inflated, share)


def _checked(found: PhiPosterior) -> PhiPosterior:
    if found.effective < FEWEST:
        raise ConvergenceError(
            f"only {found.effective:.0f} draws of the importance sampling are effective; use engine='nuts'"
        )
    warn_of_weights(found.k_hat, "use engine='nuts'")
    return found


def _posterior(problem: Problem, outright: bool, progress: Advance, rival: float = -np.inf) -> PhiPosterior:
    """Return the posterior of one reading; where it is averaged, with one whose log evidence is `rival`."""
    density, (starts, ranges) = log_density(problem, outright, progress), _starts(problem, outright)
    # With outright ends there may be two modes, and a ridge between them: agreement with many, and without.
    sides = [starts[:, 0] < APART, starts[:, 0] >= APART] if outright else [slice(None)]
    rounds = [_mode(density, starts[side], ranges) for side in sides]
    places, log_weight, k_hat, error, effective = _by_importance(density, rounds, rival)
    total = float(sp.special.logsumexp(log_weight))
    order = np.argsort(places[:, 0])
    places = places[order]
    weight = np.exp(log_weight[order] - total)
    hyper = sp.special.expit(places[:, 1:3]) if problem.means.hierarchical else None
    shares = np.sin(places[:, -2:]) ** 2 if outright else np.zeros((len(places), 2))
    return PhiPosterior(
        places[:, 0], weight, hyper, shares, total - float(np.log(weight.size)), error, effective, k_hat
    )


def log_density(problem: Problem, outright: bool, progress: Advance = silent) -> Density:
    """Return the log density of the ratings and places, shape (place, parameter).

    With a step, log p is rounded to its multiples; without, the density is continued evenly to negative angles.
    """
    like = compressed(problem.like)
    means = problem.means
    best = np.array([-np.inf])
    kinds = 3 if means.hierarchical else 1

    def density(places: Floats, step: float = 0.0) -> Floats:
        y = places[:, 0]
        logits = places[:, 1:kinds]
        angles = places[:, kinds:]
        inside = (np.abs(logits) < LARGEST_LOGIT).all(axis=1) & (np.abs(angles) < LARGEST_ANGLE).all(axis=1)
        if step:
            y = np.round(y / step) * step
            inside = inside & (angles >= 0).all(axis=1)
        inside &= (y > SEARCH[0]) & (y < SEARCH[1])
        found = np.full(y.size, -np.inf)
        of_phi = y[inside] + np.log(HALF_LOG_2) - HALF_LOG_2 * np.exp(y[inside])
        found[inside] = of_phi + np.log(np.cos(angles[inside])).sum(axis=1) + like.log_width
        found += (sp.special.log_expit(logits) + sp.special.log_expit(-logits)).sum(axis=1)
        if step and not like.densities:  # a probability is 1 at most: places of too little prior cost nothing
            inside &= found > best[0] - HOPELESS
            found[~inside] = -np.inf
        for value in np.unique(y[inside]):
            some = inside & (y == value)
            hyper = sp.special.expit(logits[some]) if means.hierarchical else None
            shares = np.sin(angles[some]) ** 2 if outright else None
            found[some] += like.weight @ means.evidence(like, float(np.exp(value)), hyper, shares)
            progress(int(some.sum()))
        best[0] = max(best[0], found.max())
        return found

    return density


def pattern_evidence(problem: Problem, y: Floats, hyper: Any = None, shares: Any = None) -> Floats:
    """Return log Pr(ratings of one item) given log p, (m, s) and shares, shape (pattern, parameters)."""
    found = np.empty((problem.like.weight.size, y.size))
    for value in np.unique(y):
        some = y == value
        given = (None if of is None else of[some] for of in (hyper, shares))
        found[:, some] = problem.means.evidence(problem.like, float(np.exp(value)), *given)
    return found


def draw_item_means(problem: Problem, drawn: Draws, rng: Rng) -> Floats:
    """Draw mu of every rated item given each draw of the other parameters, shape (sample, item)."""
    item = problem.patterns.pattern_of_item[problem.patterns.pattern_of_item >= 0]
    step = drawn.y.std() / 20 + 1e-9
    y = np.round(drawn.y / step) * step
    return problem.means.draw(problem.like, item, y, drawn.hyper, drawn.shares, rng)


def _starts(problem: Problem, outright: bool) -> tuple[Floats, list[tuple[float, float]]]:
    """Return places among which the mode is looked for first, and the range of each parameter."""
    like, axes, ranges = problem.like, [STARTS[0]], [SEARCH]
    if problem.means.hierarchical:
        unit = problem.patterns.values.clip(0.02, 0.98)
        mean = like.weight @ (problem.patterns.counts @ unit) / (like.weight @ like.size)
        axes += [sp.special.logit([mean]), STARTS[1]]
        ranges += [(-LARGEST_LOGIT, LARGEST_LOGIT)] * 2
    axes += [STARTS[2]] * 2 * outright
    ranges += [(-LARGEST_ANGLE, LARGEST_ANGLE)] * 2 * outright
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes)), ranges


def _mode(density: Density, starts: Floats, ranges: list[tuple[float, float]]) -> "_Round":
    """Return a Student t around the mode that is climbed to from the best start."""
    start = starts[np.argmax(density(starts))]
    around = SPACING * np.concatenate([np.eye(start.size), -np.eye(start.size)])

    def loss(x: Floats) -> tuple[float, Floats]:
        value, *near = -density(np.vstack([x, x + around]))
        up, down = np.split(np.array(near), 2)
        return value, (up - down) / (2 * SPACING)

    # Far beyond the best start an item's likelihood needs many nodes.
    bounds = [
        (max(low + 3 * SPACING, at - FARTHEST), min(high - 3 * SPACING, at + FARTHEST))
        for (low, high), at in zip(ranges, start)
    ]
    at = sp.optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-6}).x
    up, down = np.split(np.stack([loss(at + step)[1] for step in around]), 2)
    curvature = (up - down) / (2 * SPACING)
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    return _Round(at[None], vectors * (WIDER / np.sqrt(np.maximum(values, FLATTEST))))


class _Round(NamedTuple):
    """Student t kernels of one shape around several centres."""

    centres: Floats
    root: Floats

    def draw(self, n: int, rng: Rng) -> Floats:
        """Draw n places, a power of two, from a lattice that is shifted at random."""
        d = self.root.shape[0]
        u = np.clip((np.arange(n)[:, None] / n * LATTICE[: d + 2] + rng.random(d + 2)) % 1, 1e-12, 1 - 1e-12)
        t = sp.special.ndtri(u[:, :d]) / np.sqrt(2 * sp.special.gammaincinv(DEGREES / 2, u[:, [d]]) / DEGREES)
        return self.centres[(u[:, -1] * len(self.centres)).astype(int)] + t @ self.root.T

    def log_density(self, places: Floats) -> Floats:
        """Return the log density of places."""
        d, inverse = self.root.shape[0], np.linalg.inv(self.root)
        squares = [np.square((places - at) @ inverse.T).sum(axis=1) for at in self.centres]
        share = np.abs(np.linalg.det(inverse)) * sp.special.poch(DEGREES / 2, d / 2) / len(self.centres)
        log_t = -(DEGREES + d) / 2 * np.log1p(np.array(squares) / DEGREES)
        return sp.special.logsumexp(log_t, axis=0) + np.log(share) - d / 2 * np.log(DEGREES * np.pi)


def _by_importance(
    density: Density, rounds: list[_Round], rival: float
) -> tuple[Floats, Floats, float, float, float]:
    """Return places, their log weights, k-hat, the error of the log evidence, and how many places are effective."""
    rng = np.random.default_rng(0)  # of the places: the posterior is a function of the ratings
    rounds, most = list(rounds), len(rounds) + MOST_ROUNDS
    number = [FIRST // len(rounds) ** 2] * len(rounds)
    places = np.concatenate([one.draw(n, rng) for one, n in zip(rounds, number)])
    narrowest = min(float(np.sqrt((one.root[0] ** 2).sum())) for one in rounds)
    values = density(places, ROUNDED * narrowest)
    while True:
        of_rounds = [one.log_density(places) + np.log(n) for one, n in zip(rounds, number)]
        log_weight = values - sp.special.logsumexp(of_rounds, axis=0) + np.log(len(places))
        total = float(sp.special.logsumexp(log_weight))
        weight = np.exp(log_weight - total)
        effective = float(1 / (weight**2).sum())
        k_hat = pareto_k(log_weight)
        ahead = total - np.log(len(places)) - rival
        # Beside another reading it need be only as exact as it counts.
        settled = effective > ENOUGH * max(sp.special.expit(ahead), LEAST_SHARE) and k_hat < K_HAT_LIMIT
        if settled or len(rounds) >= most or ahead < -NEGLIGIBLE:
            break
        weight = np.minimum(weight, max(LARGEST_WEIGHT, 2 / len(places)))
        weight /= weight.sum()
        away = places - weight @ places
        covariance = (away * weight[:, None]).T @ away
        sd = min(3 * narrowest, float(np.sqrt(covariance[0, 0])))
        new = np.linalg.cholesky(NARROWER * covariance + 1e-8 * np.eye(places.shape[1]))
        rounds.append(_Round(places[rng.choice(len(places), CENTRES, p=weight)], new))
        number.append(NEXT)
        drawn = rounds[-1].draw(NEXT, rng)
        places = np.concatenate([places, drawn])
        values = np.concatenate([values, density(drawn, ROUNDED * sd)])
    error = float(np.sqrt(max(len(places) / effective - 1, 0.0) / len(places)))
    return places, log_weight, k_hat, error, effective


def _mixture(first: PhiPosterior, second: PhiPosterior, share: float) -> PhiPosterior:
    """Return the mixture of two posteriors, `share` of it the second."""
    order = np.argsort(np.concatenate([first.y, second.y]))

    def both(name: str) -> Floats:
        return np.concatenate([getattr(first, name), getattr(second, name)])[order]

    weight = np.concatenate([(1 - share) * first.weight, share * second.weight])[order]
    counted = [one for one, part in ((first, 1 - share), (second, share)) if part > COUNTED]
    return PhiPosterior(
        both("y"), weight, None if first.hyper is None else both("hyper"), both("shares"),
        float(np.logaddexp(first.log_evidence, second.log_evidence) - np.log(2)),
        (1 - share) * first.log_evidence_error + share * second.log_evidence_error,
        min(one.effective for one in counted), max(one.k_hat for one in counted),
    )  # fmt: skip
