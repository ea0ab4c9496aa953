"""The marginal posterior of Phi by one-dimensional quadrature in y = log p, refined until it converges.

A flat prior on Phi is p ~ Exponential(rate = log(2) / 2). In y the density is analytic and dies at both ends, so the
trapezoidal rule converges exponentially, from polarised (p near 0) to unanimous ratings (p in the hundreds).
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy as sp

from bayesagree._numerics.types import Floats
from bayesagree.agreement._exact.compression import refined
from bayesagree.agreement._exact.item_means import ItemMeans, KnownMeans, blocks, likelihood_step, nodes
from bayesagree.agreement._exact.likelihood import Likelihood
from bayesagree.errors import ConvergenceError

HALF_LOG_2 = np.log(2) / 2
# The grid of log p ends where the density has fallen by exp(-18), 6 standard deviations from the mode.
DROP = 18.0
# Last moves of the log evidence and of the ends of the interval at which refinement stops: far below any sd of Phi.
LOG_EVIDENCE_TOLERANCE, INTERVAL_TOLERANCE = 1e-6, 1e-4
# Refinements at most: the steps are then 0.8^9 = 0.13 of the first ones.
MAX_LEVEL = 9
# The mode is searched with steps 1.6 times as long: it only centres the grid.
SEARCH_LEVEL = -2
# Patterns that say where about the mode is: theirs is nearer to it than a step of that search.
SEARCHED = 2000
# log p searched for the mode: Phi from -0.9999 to 1 - 2^-9999.
SEARCH = (np.log(1e-4), np.log(2e4))
# Steps from the mode to a side: a posterior that has not died by then is flat.
MOST_STEPS = 4000
# Points of the fine grid in a step: between them the trapezoidal error of the distribution function is below 1e-6.
FINE = 200
# Precisions from 0.01 to 400 (Phi to 1 - 2^-199) that bracket the maximum: the likelihood is smooth in log p.
ML_PRECISIONS = 24
# Steps to the top of a polynomial of degree four, from the node next to it.
NEWTON_STEPS = 4


def phi_of(precision: Floats | float) -> Floats:
    """Return Phi = 1 - 2^(1 - p/2)."""
    return 1 - 2 * np.exp(-HALF_LOG_2 * np.asarray(precision))


def precision_of(phi: Floats | float) -> Floats:
    """Return p = 2 (1 - log2(1 - Phi))."""
    return 2 * (1 - np.log2(1 - np.asarray(phi)))


class Summary(NamedTuple):
    """Mean, sd, HDI and mode of Phi and Pr(Phi > 0) from the grid, without Monte-Carlo error."""

    mean: float
    sd: float
    lower: float
    upper: float
    map: float
    prob_positive: float


@dataclass(frozen=True)
class PhiPosterior:
    """The posterior of Phi on a fine grid.

    Attributes
    ----------
    log_precision
        Fine equidistant grid of y = log p, shape (grid,).
    cdf
        Pr(log p <= y) at the grid, shape (grid,).
    log_density
        Log posterior density of y, shape (grid,), normalised.
    log_evidence
        Log marginal likelihood of the ratings.
    log_evidence_error, interval_error
        Last moves of the log evidence and of the ends of the 95 % interval by a refinement.
    level
        Number of refinements.
    """

    log_precision: Floats
    cdf: Floats
    log_density: Floats
    log_evidence: float
    log_evidence_error: float
    interval_error: float
    level: int

    @property
    def phi(self) -> Floats:
        """Phi at the grid, shape (grid,)."""
        return phi_of(np.exp(self.log_precision))

    def phi_density(self) -> Floats:
        """Density of Phi at the grid, shape (grid,)."""
        return np.exp(self.log_density - self.log_precision + HALF_LOG_2 * np.exp(self.log_precision)) / np.log(2)

    def quantile(self, probability: Floats | float) -> Floats:
        """Return quantiles of Phi."""
        return phi_of(np.exp(np.interp(probability, self.cdf, self.log_precision)))

    def prob_above(self, phi: float) -> float:
        """Return Pr(Phi > phi)."""
        return float(1 - np.interp(np.log(precision_of(phi)), self.log_precision, self.cdf))

    def hdi(self, prob: float = 0.95) -> tuple[float, float]:
        """Return the highest density interval of Phi, the shortest that holds `prob`."""
        density = self.phi_density()

        def slope(below: float) -> float:
            """Return the density at the lower end less that at the upper: zero at the shortest interval."""
            ends = np.interp([below, below + prob], self.cdf, self.log_precision)
            at = np.interp(ends, self.log_precision, density)
            return float(at[0] - at[1])

        # A coarse search first: the density may have two modes, and the root between their slopes is not the shortest.
        start = np.linspace(0, 1 - prob, 201)
        best = int(np.argmin(self.quantile(start + prob) - self.quantile(start)))
        low, high = start[max(best - 1, 0)], start[min(best + 1, 200)]
        crosses = slope(low) < 0 < slope(high)
        below: Any = sp.optimize.brentq(slope, low, high) if crosses else start[best]
        ends = self.quantile(np.array([below, below + prob]))
        return float(ends[0]), float(ends[1])

    def summary(self, ci_prob: float = 0.95) -> Summary:
        """Return mean, sd, HDI and mode of Phi, and Pr(Phi > 0)."""
        mass = np.diff(self.cdf)
        middle = (self.phi[1:] + self.phi[:-1]) / 2
        mean = float(mass @ middle)
        sd = float(np.sqrt(mass @ (middle - mean) ** 2))
        mode = float(self.phi[np.argmax(self.phi_density())])
        return Summary(mean, sd, *self.hdi(ci_prob), mode, self.prob_above(0.0))

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw log p independently, shape (n,)."""
        return np.interp(rng.random(n), self.cdf, self.log_precision)


def phi_posterior(means: ItemMeans) -> PhiPosterior:
    """Return the posterior of Phi, refined until the evidence of the ratings and the interval converge.

    Raises
    ------
    ConvergenceError
        The log marginal likelihood still moves by 1e-6, or an end of the 95 % interval by 1e-4, after nine
        refinements.
    """
    centre, scale = _locate(means)
    current = _tabulate(means, centre, scale, 0)
    for level in range(1, MAX_LEVEL + 1):
        previous, current = current, _tabulate(means, centre, scale, level)
        ends, before = current.hdi(), previous.hdi()
        moved, ends_moved = abs(current.log_evidence - previous.log_evidence), np.abs(np.subtract(ends, before)).max()
        current = replace(current, level=level, log_evidence_error=moved, interval_error=float(ends_moved))
        if current.log_evidence_error < LOG_EVIDENCE_TOLERANCE and current.interval_error < INTERVAL_TOLERANCE:
            return current
    raise ConvergenceError(
        f"after {MAX_LEVEL} refinements the log marginal likelihood still moves by {current.log_evidence_error:.1e} "
        f"(allowed {LOG_EVIDENCE_TOLERANCE:g}) and the 95 % interval by {current.interval_error:.1e} "
        f"(allowed {INTERVAL_TOLERANCE:g}); use engine='nuts'"
    )


def log_posterior(means: ItemMeans, y: float, level: int) -> float:
    """Return the log density of y = log p and the ratings."""
    return means.log_evidence(float(np.exp(y)), level) + float(log_prior(y, means.prior.phi))


def log_prior(y: Floats | float, shapes: tuple[float, float]) -> Floats:
    """Return the log density of y = log p, (1 + Phi) / 2 being Beta with these shapes."""
    a, b = shapes
    below = HALF_LOG_2 * np.exp(y)  # -log (1 - Phi) / 2
    density = y + np.log(HALF_LOG_2) - b * below - sp.special.betaln(a, b)
    return density + (a - 1) * np.log(-np.expm1(-below))


def _locate(means: ItemMeans) -> tuple[float, float]:
    """Return the mode of y and the standard deviation there."""
    y = np.linspace(np.log(0.05), np.log(60), 9)
    few = means.thinned(SEARCHED)
    density = [log_posterior(few, v, SEARCH_LEVEL) for v in y]
    best = int(np.argmax(density))
    step = y[1] - y[0]
    # The mode lies within the first nine values for most data; perfect agreement and camps lie far outside.
    while best == 0 and y[0] > SEARCH[0]:
        y = np.insert(y, 0, y[0] - step)
        density.insert(0, log_posterior(few, y[0], SEARCH_LEVEL))
        best = int(np.argmax(density))
    while best == y.size - 1 and y[-1] < SEARCH[1]:
        y = np.append(y, y[-1] + step)
        density.append(log_posterior(few, y[-1], SEARCH_LEVEL))
        best = int(np.argmax(density))
    bounds = (y[best] - step, y[best] + step)
    found: Any = sp.optimize.minimize_scalar(
        lambda v: -log_posterior(means, v, SEARCH_LEVEL), bounds=bounds, method="bounded", options={"xatol": 1e-3}
    )
    centre, top = float(found.x), -float(found.fun)
    scale = 0.3
    for _ in range(12):
        sides = [log_posterior(means, centre + side * scale, SEARCH_LEVEL) for side in (-1, 1)]
        # The mean of both sides: a skewed density would give either of them alone a wrong scale.
        drop = max(top - float(np.mean(sides)), 1e-6)
        if 0.1 < drop < 2:
            return centre, float(scale / np.sqrt(2 * drop))
        scale *= float(np.clip(1 / np.sqrt(2 * drop), 0.05, 4))
    return centre, scale


def _tabulate(means: ItemMeans, centre: float, scale: float, level: int) -> PhiPosterior:
    """Return the posterior on a grid from the mode to both sides, until the density has died."""
    step = scale * refined(level)
    top = log_posterior(means, centre, level)
    found = {0: top}
    for side in (-1, 1):
        k = 0
        while found[k] > top - DROP:
            k += side
            found[k] = log_posterior(means, centre + k * step, level)
            top = max(top, found[k])
            if abs(k) > MOST_STEPS:
                raise ConvergenceError(f"the posterior of Phi does not end: log p = {centre + k * step:.3g} reached")
    k = np.array(sorted(found))
    return _normalised(centre + k * step, np.array([found[i] for i in k]))


def _normalised(y: Floats, log_density: Floats) -> PhiPosterior:
    spline = sp.interpolate.make_interp_spline(y, log_density, k=5 if y.size > 8 else 3)
    fine = np.linspace(y[0], y[-1], FINE * (y.size - 1) + 1)
    smooth = spline(fine)
    top = smooth.max()
    density = np.exp(smooth - top)
    # Cumulative Simpson would not stay monotone.
    cdf = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    coarse = float(np.log(np.exp(log_density - top).sum() * (y[1] - y[0])) + top)
    return PhiPosterior(fine, cdf / cdf[-1], smooth - coarse, coarse, np.nan, np.nan, 0)


def phi_maximum_likelihood(like: Likelihood, known: KnownMeans | None = None) -> float:
    """Return the maximum-likelihood estimate of Phi, every item mean at its own maximum (Checco et al., section 4.4).

    The maximum over an item's mean is linear and analytic in the same statistics as its log evidence, so that the
    likelihood may be a compressed one, unless truths are known. With known truths, the maximum of the joint posterior
    density of Phi and the item means (the paper's estimate). 1 where unanimous items make the likelihood grow without
    bound, -1 where it grows towards two camps.
    """

    def loss(y: float, fineness: float = 0.3) -> float:
        precision = float(np.exp(y))
        step = fineness * likelihood_step(like, precision)
        at, _ = nodes(step if known is None else min(step, 0.6 * known.sd), -30.0, 30.0)
        prior = np.zeros((1, at.size)) if known is None else _log_density_of_means(known, at)
        return -sum(
            float(block.weight @ _highest(block.table(precision, at) + prior[block.group if known else 0]))
            for block in blocks(like, at.size)
        )

    y = np.linspace(np.log(0.01), np.log(400), ML_PRECISIONS)
    value = [loss(v, 1.0) for v in y]
    best = int(np.argmin(value))
    if best == y.size - 1:
        return 1.0
    if best == 0:
        return -1.0
    bounds = (y[max(best - 1, 0)], y[best + 1])
    found: Any = sp.optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-7})
    return float(phi_of(np.exp(found.x)))


def _log_density_of_means(known: KnownMeans, at: Floats) -> Floats:
    """Return the log density of mu at nodes logit(mu), up to a constant: flat first, then each truth."""
    away = (sp.special.expit(at) - np.append(np.nan, known.truth)[:, None]) / known.sd
    return -0.5 * np.nan_to_num(away) ** 2


def _highest(table: Floats) -> Floats:
    """Return the maximum of each row: the top of the polynomial through its largest value and two on either side."""
    best = np.clip(np.argmax(table, axis=1), 2, table.shape[1] - 3)
    near = [table[np.arange(best.size), best + k] for k in range(-2, 3)]
    odd, even = near[3] - near[1], near[3] + near[1] - 2 * near[2]
    wide_odd, wide_even = near[4] - near[0], near[4] + near[0] - 2 * near[2]
    slope, bend = (8 * odd - wide_odd) / 12, (16 * even - wide_even) / 24
    third, fourth = (wide_odd - 2 * odd) / 12, (wide_even - 4 * even) / 24
    at = np.zeros(best.size)
    for _ in range(NEWTON_STEPS):
        first = slope + at * (2 * bend + at * (3 * third + at * 4 * fourth))
        second = 2 * bend + at * (6 * third + at * 12 * fourth)
        at = np.clip(at - first / np.where(second < 0, second, -np.inf), -0.5, 0.5)
    return np.maximum(near[2] + at * (slope + at * (bend + at * (third + at * fourth))), table.max(axis=1))
