"""The posterior of Phi with outright answers at the ends of the scale: the shares of both ends integrated out.

An answer at an end is an interval of a judgment, as on any level, or an outright end: given the item mean mu, the odds
of an outright low end against a judgment inside the scale are w_low / (1 - w_low) (1 - mu) / mu, of a high end the
mirror image. Their roots are uniform on (0, 1). At given shares the engine is that of any likelihood; the log evidence
at log p and the shares is smooth, and a surrogate goes through it: more places, where the surrogate has mass and
is least certain, are evaluated until they no longer move the posterior. Draws from the surrogate, evaluated exactly,
check it and correct the log evidence (importance sampling).

Readings with and without outright ends are averaged: they are equally likely before the ratings, and weighted by their
evidence, which is equal where no answer lies between the ends (Hoeting, Madigan, Raftery, Volinsky, "Bayesian model
averaging", Statistical Science 14, 1999).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy as sp

from bayesagree._inference.streams import one_blas_thread
from bayesagree._numerics.beta import SMALLEST
from bayesagree._numerics.types import Floats
from bayesagree.agreement._exact.item_means import ItemMeans
from bayesagree.agreement._exact.likelihood import Kind
from bayesagree.agreement._exact.outright_density import LEVEL, LIMITS, LogDensity, look_around
from bayesagree.agreement._exact.posterior import PhiPosterior, log_prior, phi_posterior
from bayesagree.agreement._exact.surrogate import Surrogate
from bayesagree.errors import ConvergenceError, warn

# Log density of log p before the ratings.
type LogPrior = Callable[[Floats], Floats]

# Places added in a round, rounds at most, and further ones after failed checks at most. More places per round: fewer
# fits of the surrogate, more evaluations.
PLACES_PER_ROUND, MOST_ROUNDS, MORE_ROUNDS = 12, 20, 6
# Move of the log evidence, and of quantiles of Phi in standard deviations, below which the rounds stop. Halving it
# adds about two rounds.
MOVE_TO_STOP = 2e-2
# Draws from the surrogate that check it by importance sampling; effective draws among them that end the rounds, and
# below which the surrogate is not used. With fewer draws the log evidence errs by more than a tenth.
CHECKS, ENOUGH, FEWEST = 40, 20, 10
# Places from which the next are chosen, and the power of the density from which they are drawn. With a power of 1 no
# candidate lies in the tails, where the surrogate then swings.
CANDIDATES, CANDIDATE_POWER = 300, 0.5
# The surrogate is cut this far above the highest known value: without the cut a swing far from all places takes the
# whole mass, with a smaller one a mode between the places is cut off.
MOST_ABOVE_PLACES = 2.0
# The first box holds all places at most this far below the highest: a smaller one starts too narrow and is widened.
BOX_START_DROP = 9.0
# Cells of the box along log p and both angles. Memory and time grow with their product.
CELLS = (32, 16, 16)
# A box is cut where the log density has fallen by the first (1e-6 of the mode), widened by a share of its side where
# it has fallen by less than the second (1e-4), so often at most. A smaller second value loses tail mass.
EDGE_DROP_CUT, EDGE_DROP_WIDEN, WIDENING, MOST_BOX_FITS = 14.0, 9.0, 0.3, 6
# Log evidence below that of the rival from which the posterior is not checked: its weight is below a thousandth.
NEGLIGIBLE = 7.0
QUANTILES = np.array([0.025, 0.16, 0.5, 0.84, 0.975])
# Points of the fine grid of log p in a cell: linear interpolation of the distribution function between them.
POINTS_PER_CELL = 40


class Cells(NamedTuple):
    """A box of (log p, angles) cut into `CELLS`.

    Attributes
    ----------
    sides
        Lower and upper ends of the box, shape (3, 2).
    centres
        Centres of the cells, shape (cell, 3).
    log_density
        Of (log p, angles) at the centres, shape (cell,).
    """

    sides: Floats
    centres: Floats
    log_density: Floats

    @property
    def width(self) -> Floats:
        """Sides of a cell, shape (3,)."""
        return (self.sides[:, 1] - self.sides[:, 0]) / np.array(CELLS)

    @property
    def mass(self) -> Floats:
        """Probability of each cell, shape (cell,)."""
        density = np.exp(self.log_density - self.log_density.max())
        return density / density.sum()

    @property
    def log_evidence(self) -> float:
        """Log integral of the density."""
        return float(sp.special.logsumexp(self.log_density) + np.log(np.prod(self.width)))


@dataclass(frozen=True)
class InflatedPosterior:
    """Posterior of Phi and of the shares of outright ends.

    Attributes
    ----------
    phi
        Marginal posterior of Phi.
    cells
        Joint posterior of log p and the shares.
    effective
        Effective draws among the `CHECKS` of the importance sampling that corrects the log evidence.
    """

    phi: PhiPosterior
    cells: Cells
    effective: float

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw log p, shape (n,), and the shares, shape (n, 2)."""
        at = _drawn(self.cells, n, rng)
        return at[:, 0], np.sin(at[:, 1:]) ** 2


def inflated_posterior(means: ItemMeans, *, rival: float = -np.inf) -> InflatedPosterior:
    """Return the posterior of Phi and of the shares of outright ends.

    Where it is averaged with another reading, whose log evidence is `rival`, it need be only as exact as it counts.

    Raises
    ------
    ConvergenceError
        Without a rival, where importance sampling has fewer than 10 effective draws of 40 after all rounds.
    """
    density, prior = LogDensity(means), partial(log_prior, shapes=means.prior.phi)
    look_around(density)
    rng = np.random.default_rng(0)  # of the places: the posterior is a function of the ratings
    at, values = np.array(density.at), np.array(density.values)
    near = at[values > values.max() - BOX_START_DROP]
    # Only the axes of the first fit: later rounds take them from the mass of the surrogate.
    centre, covariance = at[np.argmax(values)], np.diag(np.var(near, axis=0) + 1e-6)
    previous, moved, rounds, total, effective = None, np.inf, 0, np.log(CHECKS), float(CHECKS)
    while True:
        surrogate = Surrogate.fit(at, values - prior(at[:, 0]), centre, covariance)
        cells = _box(surrogate, prior, at[values > values.max() - BOX_START_DROP], values.max() + MOST_ABOVE_PLACES)
        found = _marginal(cells, prior)
        if previous is not None:
            found, moved = _compared(found, previous)
            moved *= float(sp.special.expit(found.log_evidence - rival))
        rounds += 1
        # A surrogate that no longer moves may still be wrong between the places: draws from it find that out.
        if moved < MOVE_TO_STOP or rounds >= MOST_ROUNDS:
            if found.log_evidence < rival - NEGLIGIBLE:
                break
            checked = _drawn(cells, CHECKS, rng)
            expected = np.minimum(surrogate(checked) + prior(checked[:, 0]), values.max() + MOST_ABOVE_PLACES)
            log_weight = np.array([density(place) for place in checked]) - expected
            total = sp.special.logsumexp(log_weight)
            effective = float(np.exp(2 * total - sp.special.logsumexp(2 * log_weight)))
            if effective > ENOUGH or rounds >= MOST_ROUNDS + MORE_ROUNDS:
                break
            at, values = np.array(density.at), np.array(density.values)
        previous = found
        mass = cells.mass
        centre = mass @ cells.centres
        away = cells.centres - centre
        covariance = (away * mass[:, None]).T @ away + np.diag(cells.width**2 / 12)
        for place in surrogate.least_known(_drawn(cells, CANDIDATES, rng, CANDIDATE_POWER), PLACES_PER_ROUND):
            density(place)
        at, values = np.array(density.at), np.array(density.values)
    if effective < FEWEST and rival == -np.inf:
        raise ConvergenceError(
            f"the posterior with outright ends is too narrow a ridge: of {CHECKS} draws {effective:.0f} are effective; "
            "use engine='nuts' or likelihood='binned'"
        )
    error = float(np.sqrt(max(CHECKS / effective - 1, 0.0) / CHECKS))
    evidence = found.log_evidence + float(total) - float(np.log(CHECKS))
    return InflatedPosterior(replace(found, log_evidence=evidence, log_evidence_error=error), cells, effective)


def _box(surrogate: Surrogate, prior: LogPrior, near: Floats, highest: float) -> Cells:
    """Return the cells of a box around the mass of the surrogate, starting around some places, shape (place, 3)."""
    low, high = near.min(axis=0), near.max(axis=0)
    room = 0.15 * (high - low) + 1e-3
    sides = np.clip(np.stack([low - room, high + room], axis=1), LIMITS[:, :1], LIMITS[:, 1:])
    cells = _cells(surrogate, prior, sides, highest)
    for _ in range(MOST_BOX_FITS):
        drop = (cells.log_density.max() - cells.log_density).reshape(CELLS)
        profiles = [drop.min(axis=tuple({0, 1, 2} - {axis})) for axis in range(3)]
        fitted = np.array([_fitted_side(*given) for given in zip(cells.sides, LIMITS, profiles)])
        if np.array_equal(fitted, cells.sides):
            break
        cells = _cells(surrogate, prior, fitted, highest)
    return cells


def _fitted_side(side: Floats, limits: Floats, drop: Floats) -> Floats:
    """Return a side of the box, wider at an end with much density, and without most of the cells without any."""
    width = side[1] - side[0]
    live = np.flatnonzero(drop < EDGE_DROP_CUT)
    spare = np.maximum(np.array([live[0], drop.size - 1 - live[-1]]) - 1, 0)
    inwards = np.where(drop[[0, -1]] < EDGE_DROP_WIDEN, -WIDENING, np.where(spare > 2, spare / drop.size, 0.0)) * width
    return np.clip(side + inwards * np.array([1, -1]), *limits)


def _cells(surrogate: Surrogate, prior: LogPrior, sides: Floats, highest: float) -> Cells:
    steps = [low + (high - low) * (np.arange(n) + 0.5) / n for (low, high), n in zip(sides, CELLS)]
    centres = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 3)
    log_slope = np.log(np.cos(centres[:, 1:])).sum(axis=1)  # of the roots, in the angles
    log_density = np.minimum(surrogate(centres) + prior(centres[:, 0]), highest)
    return Cells(sides, centres, log_density + log_slope)


def _drawn(cells: Cells, n: int, rng: np.random.Generator, power: float = 1.0) -> Floats:
    """Draw places from a power of the density, shape (place, 3)."""
    cumulative = np.cumsum(cells.mass**power)
    chosen = np.searchsorted(cumulative, rng.random(n) * cumulative[-1])
    return cells.centres[np.minimum(chosen, cumulative.size - 1)] + (rng.random((n, 3)) - 0.5) * cells.width


def _marginal(cells: Cells, prior: LogPrior) -> PhiPosterior:
    """Return the marginal posterior of y = log p."""
    (low, high), width = cells.sides[0], cells.width
    steps, y = cells.centres[:: CELLS[1] * CELLS[2], 0], np.linspace(low, high, POINTS_PER_CELL * CELLS[0] + 1)
    log_sum = sp.special.logsumexp(cells.log_density.reshape(CELLS[0], -1), axis=1) + np.log(np.prod(width[1:]))
    log_likelihood: Any = sp.interpolate.make_interp_spline(steps, log_sum - prior(steps), k=3)
    log_density = log_likelihood(y) + prior(y) - cells.log_evidence
    density = np.exp(log_density)
    cdf = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    log_density -= np.log(cdf[-1] * (y[1] - y[0]))
    return PhiPosterior(y, cdf / cdf[-1], log_density, cells.log_evidence, np.nan, np.nan, LEVEL)


def _compared(found: PhiPosterior, previous: PhiPosterior) -> tuple[PhiPosterior, float]:
    """Return the posterior with its errors, the moves since the previous one, and the largest relative move."""
    evidence = abs(found.log_evidence - previous.log_evidence)
    interval = float(np.abs(found.quantile(QUANTILES) - previous.quantile(QUANTILES)).max())
    sd = max(found.summary().sd, SMALLEST)
    return replace(found, log_evidence_error=evidence, interval_error=interval), max(evidence, interval / sd)


@dataclass(frozen=True)
class JointPosterior:
    """Posterior of Phi and of the shares of outright ends.

    Attributes
    ----------
    phi
        Marginal posterior of Phi.
    binned, inflated
        Posteriors of the readings without and with outright ends, None of a reading that is not considered.
    prob_inflated
        Posterior probability of the reading with outright ends.
    """

    phi: PhiPosterior
    binned: PhiPosterior | None
    inflated: InflatedPosterior | None
    prob_inflated: float

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw log p, shape (n,), and the shares, shape (n, 2), 0 where there are no outright ends."""
        if self.inflated is None:
            return self.phi.draw(n, rng), np.zeros((n, 2))
        if self.binned is None:
            return self.inflated.draw(n, rng)
        outright = rng.random(n) < self.prob_inflated
        y, shares = np.empty(n), np.zeros((n, 2))
        y[~outright] = self.binned.draw(int((~outright).sum()), rng)
        y[outright], shares[outright] = self.inflated.draw(int(outright.sum()), rng)
        return y, shares


@one_blas_thread()
def joint_posterior(means: ItemMeans, kind: Kind) -> JointPosterior:
    """Return the posterior under a likelihood (see `common_agreement`)."""
    if kind == "inflated":
        inflated = inflated_posterior(means)
        return JointPosterior(inflated.phi, None, inflated, 1.0)
    binned = phi_posterior(means)
    if kind != "averaged":
        return JointPosterior(binned, binned, None, 0.0)
    inflated = inflated_posterior(means, rival=binned.log_evidence)
    if inflated.effective < FEWEST:
        warn(
            "the posterior with outright ends could not be computed: answers at the ends are read as intervals "
            "(likelihood='binned')"
        )
        return JointPosterior(binned, binned, None, 0.0)
    # Without an answer between the ends the evidence only compares how much prior the readings have at the limits.
    share = 0.5 if means.like.only_ends else sp.special.expit(inflated.phi.log_evidence - binned.log_evidence)
    return JointPosterior(_mixture(binned, inflated.phi, float(share)), binned, inflated, float(share))


def _mixture(first: PhiPosterior, second: PhiPosterior, share: float) -> PhiPosterior:
    """Return the mixture of two posteriors, `share` of it the second."""
    y = np.union1d(first.log_precision, second.log_precision)
    parts = [(1 - share, first), (share, second)]
    log_density = np.full(y.size, -np.inf)
    cdf, errors = np.zeros(y.size), np.zeros(2)
    for weight, one in parts:
        log_part = np.interp(y, one.log_precision, one.log_density, left=-np.inf, right=-np.inf)
        log_density = np.logaddexp(log_density, log_part + np.log(max(weight, SMALLEST)))
        cdf += weight * np.interp(y, one.log_precision, one.cdf, left=0, right=1)
        errors += weight * np.array([one.log_evidence_error, one.interval_error])
    log_evidence = float(np.logaddexp(first.log_evidence, second.log_evidence) - np.log(2))
    return PhiPosterior(y, cdf, log_density, log_evidence, float(errors[0]), float(errors[1]), LEVEL)
