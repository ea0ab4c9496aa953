"""Integrate the item means out: log Pr(ratings | precision) under flat, known or hierarchical means.

The integral over mu is a trapezoidal rule in z, logit(mu) = 2 sinh(z): the integrand is analytic there and dies doubly
exponentially, so that a few dozen nodes are exact to 1e-9 for every pattern of ratings and every prior at once.
The step follows the narrowest likelihood, and the narrowest prior.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import scipy as sp

from bayesagree._numerics.types import Floats
from bayesagree.agreement._exact.compression import CompressedByLevel, CompressedWithEnds, refined
from bayesagree.agreement._exact.likelihood import Ends, Likelihood
from bayesagree.agreement.prior import AgreementPrior
from bayesagree.errors import ConvergenceError

# Largest table of (pattern, node) held at once: 32 MB.
CELLS = 4_000_000
# Nodes at most: enough for item likelihoods with a standard deviation of 1e-4 in logit(mu).
MOST_STEPS = 200_000
# Nodes within one standard deviation of a narrow prior: the trapezoidal rule then errs by exp(-2 pi^2 1.6^2).
PER_WIDTH = 1.6
# A prior ends so many standard deviations away, or so many divided by its shape, where its tail is exponential.
WIDEST, TAIL = 7.5, 28.0
# Step in standard deviations of the narrowest item likelihood, in logit(mu).
PER_DEVIATION = 0.7
# Logit beyond which a mean has less than 1e-11 of the mass of a flat prior.
FARTHEST = 26.0


class Nodes(NamedTuple):
    """Nodes logit(mu) of the trapezoidal rule and the logarithms of their weights d logit(mu)."""

    logit: Floats
    log_weight: Floats


def steps(step: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Return the first and the last number of a lattice in z that covers logit(mu) = low to high."""
    first, last = np.floor(np.arcsinh(low / 2) / step), np.ceil(np.arcsinh(high / 2) / step)
    most = np.max(last - first)
    if most > MOST_STEPS:
        raise ConvergenceError(
            f"an item's likelihood is too narrow for the exact engine ({most:.0f} nodes); use engine='nuts'"
        )
    return first.astype(np.int64), last.astype(np.int64)


def nodes(step: float, low: float, high: float) -> Nodes:
    """Return nodes from logit(mu) = low to high."""
    first, last = steps(step, low, high)
    z = step * np.arange(first, last + 1)
    return Nodes(2 * np.sinh(z), np.log(2 * step * np.cosh(z)))


def likelihood_step(like: Likelihood, precision: float) -> float:
    """Return the step that resolves the narrowest item likelihood.

    That is `PER_DEVIATION` of its standard deviation in logit(mu), whether its mean lies in the middle or, as the
    farthest item's, so near an end that the nodes are stretched there.
    """
    n = float(like.size.max())
    stretch = np.hypot(1, np.log1p(precision * like.farthest) / 2)
    return min(0.15, PER_DEVIATION / float(np.sqrt(n * (precision + 1))), 0.45 / float(np.sqrt(n) * stretch))


def blocks(like: Likelihood, n_nodes: int) -> Iterator[Likelihood]:
    """Yield the patterns in parts whose table does not exceed `CELLS`."""
    rows = max(1, CELLS // n_nodes)
    if like.weight.size <= rows:
        yield like
        return
    for start in range(0, like.weight.size, rows):
        yield like.of(slice(start, start + rows))


def scaled(table: Floats) -> tuple[Floats, Floats]:
    """Return exp(table - row maximum), in place of the table, and the row maxima."""
    top = table.max(axis=1)
    np.subtract(table, top[:, None], out=table)
    return np.exp(table, out=table), top


@dataclass(eq=False)
class ItemMeans(ABC):
    """Prior of the item means of some ratings.

    Attributes
    ----------
    like
        Likelihood of the ratings.
    prior
        Priors of Phi and of (m, s).
    """

    like: Likelihood
    prior: AgreementPrior = field(default=AgreementPrior(), kw_only=True)

    @cached_property
    def compressed(self) -> CompressedByLevel | CompressedWithEnds:
        """The likelihood on fewer patterns."""
        return CompressedByLevel(self.like)

    def with_ends(self, ends: Ends) -> Self:
        """Return the same prior and ratings with other shares of outright answers at the ends."""
        other = copy(self)
        other.like, other.compressed = self.like.with_ends(ends), CompressedWithEnds(self.compressed, ends)
        return other

    def thinned(self, n: int) -> Self:
        """Return the same prior of at most so many patterns, evenly chosen."""
        size, other = self.like.weight.size, copy(self)
        if size <= n:
            return self
        other.like = self.like.of(np.linspace(0, size - 1, n).astype(np.int64))
        other.compressed = CompressedByLevel(other.like)
        return other

    @abstractmethod
    def log_evidence(self, precision: float, level: int) -> float:
        """Return log Pr(ratings | precision); every level shortens all steps to 0.8."""

    @abstractmethod
    def log_prior(self, precision: float, hyper: tuple[float, float] | None, fineness: float) -> tuple[Floats, Floats]:
        """Return nodes logit(mu) and the log prior mass at each, shape (group of items, node), given (m, s)."""

    def pattern_evidence(self, precision: float, hyper: tuple[float, float] | None = None) -> Floats:
        """Return log Pr(ratings of one item | precision, m, s) for every pattern, shape (pattern,)."""
        return self.integrated(self.like, precision, *self.log_prior(precision, hyper, 1.0))

    @staticmethod
    def integrated(like: Likelihood, precision: float, at: Floats, log_prior: Floats) -> Floats:
        """Return log Pr(ratings of one item | precision) for every pattern, shape (pattern,)."""
        parts = []
        for block in blocks(like, at.size):
            # The prior counts before the maximum is taken: a truth may contradict the ratings.
            relative, top = scaled(block.table(precision, at) + log_prior[block.group])
            parts.append(np.log(relative.sum(axis=1)) + top)
        return np.concatenate(parts)


@dataclass(eq=False)
class KnownMeans(ItemMeans):
    """mu_i ~ U(0, 1) (the paper's flat prior), or N(g_i, sd) on (0, 1) around a known truth g_i.

    Attributes
    ----------
    like
        Its `group` gives the prior of a pattern: 0 flat, k the truth ``truth[k - 1]``.
    truth
        Distinct known truths on [0, 1], shape (truth,).
    sd
        Their common standard deviation.
    """

    truth: Floats
    sd: float

    def log_evidence(self, precision: float, level: int) -> float:
        """Return log Pr(ratings | precision)."""
        like = self.compressed[level]
        evidence = self.integrated(like, precision, *self.log_prior(precision, None, refined(level)))
        return float(like.weight @ evidence) + like.log_width

    def log_prior(self, precision: float, hyper: tuple[float, float] | None, fineness: float) -> tuple[Floats, Floats]:
        """Return nodes logit(mu) and the log prior mass at each, shape (prior, node): flat first, then each truth."""
        step = likelihood_step(self.like, precision)
        if self.truth.size:
            step = min(step, 1.2 * self.sd)
        at, log_weight = nodes(fineness * step, -FARTHEST, FARTHEST)
        log_slope = sp.special.log_expit(at) + sp.special.log_expit(-at) + log_weight
        rows = [log_slope]
        for g in self.truth:
            mass = sp.special.ndtr((1 - g) / self.sd) - sp.special.ndtr(-g / self.sd)
            density = -0.5 * ((sp.special.expit(at) - g) / self.sd) ** 2
            density -= np.log(mass * self.sd * np.sqrt(2 * np.pi))
            rows.append(log_slope + density)
        return at, np.stack(rows)


def beta_shapes(m: Floats, s: Floats) -> tuple[Floats, Floats]:
    """Return the shapes (m t, (1 - m) t) of the prior of an item mean, t = s^-2 - 1."""
    t = (1 - s) * (1 + s) / s**2
    return m * t, (1 - m) * t


class PriorWindow(NamedTuple):
    """Centre and width of the prior of an item mean in logit(mu), and both ends of its mass."""

    centre: Floats
    width: Floats
    low: Floats
    high: Floats


def prior_window(m: Floats, s: Floats) -> PriorWindow:
    """Return the place of Beta(m t, (1 - m) t), of whose mass less than 1e-12 lies outside."""
    a, b = beta_shapes(m, s)
    centre, width = np.log(m) - np.log1p(-m), np.minimum(s / np.sqrt(m * (1 - m)), 2.0)
    return PriorWindow(centre, width, centre - WIDEST * width - TAIL / a, centre + WIDEST * width + TAIL / b)


def prior_step(window: PriorWindow) -> Floats:
    """Return the step that resolves a prior: `PER_WIDTH` nodes per standard deviation at its centre."""
    return window.width / (PER_WIDTH * np.hypot(2, window.centre))


def log_beta_shape(at: Floats, m: Floats, s: Floats) -> Floats:
    """Return the log density of logit(mu) under Beta(m t, (1 - m) t) up to a constant, exact at large t."""
    t = (1 - s) * (1 + s) / s**2
    away = at - sp.special.logit(m)
    far = np.maximum(away - 600, 0) if at.max() - sp.special.logit(m).min() > 600 else 0.0
    log_mix = np.expm1(np.minimum(away, 600.0))
    log_mix *= m
    np.log1p(log_mix, out=log_mix)
    away *= m
    away -= log_mix
    away -= far
    away *= t
    return away
