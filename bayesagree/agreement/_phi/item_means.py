"""Integrate the item means out: log Pr(ratings of an item | precision) under flat, known or hierarchical means.

The integral over mu is a trapezoidal rule in z, logit(mu) = 2 sinh(z): the integrand is analytic there and dies doubly
exponentially. The step follows the narrowest likelihood; beyond `FARTHEST` the likelihood no longer changes, and the
last node has the mass of the tail. Through a prior narrower than the step the likelihood is interpolated.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy as sp

from bayesagree._types import Floats, Rng
from bayesagree.agreement._phi.likelihood import Likelihood
from bayesagree.errors import ConvergenceError
from bayesagree.inference.cells import row_shares

# Largest table of (parameters, pattern, node) held at once: 32 MB.
CELLS = 4_000_000
# Nodes at most: enough for item likelihoods with a standard deviation of 1e-3 in logit(mu).
MOST_NODES = 40_000
# Logit beyond which a mean has less than 1e-17 of the mass of a flat prior.
FARTHEST = 40.0
# Nodes within one standard deviation of a prior, below which the likelihood is interpolated.
PER_WIDTH = 1.6
# Places inside a narrow prior, in its standard deviations, and the points of the polynomial through the likelihood.
INSIDE, POINTS = np.linspace(-7.5, 7.5, 21), 12
BINOMIAL = sp.special.binom(POINTS - 1, np.arange(POINTS)) * (-1.0) ** np.arange(POINTS)


class Lattice(NamedTuple):
    """Step in z, nodes logit(mu) of the trapezoidal rule, their weights d logit(mu)."""

    step: float
    logit: Floats
    weight: Floats


@dataclass(frozen=True, eq=False)
class MeanPrior:
    """Prior of the item means.

    Attributes
    ----------
    hierarchical
        Whether the means share a Beta prior; otherwise they are flat, or known.
    truth, sd
        Distinct known truths on [0, 1], shape (truth,), and their standard deviation.
    of_item
        Number of each item's truth, 0 without one, shape (item,); None without truths.
    """

    hierarchical: bool
    truth: Floats = field(default_factory=lambda: np.empty(0))
    sd: float = np.nan
    of_item: Any = None

    def lattice(self, like: Likelihood, precision: float, fineness: float = 1.0) -> Lattice:
        """Return nodes that resolve the narrowest likelihood of an item, and the narrowest known truth.

        The step is .4 of its standard deviation in logit(mu), whether its mean lies in the middle or, as the
        farthest item's, so near an end that the nodes are stretched there.
        """
        n = float(like.size.max())
        stretch = np.hypot(1, np.log1p(precision * like.farthest) / 2)
        step = min(0.1, 0.4 / float(np.sqrt(n * (precision + 1))), 0.26 / float(np.sqrt(n) * stretch))
        step = fineness * (min(step, 1.2 * self.sd) if self.truth.size else step)
        number = int(np.ceil(np.arcsinh(FARTHEST / 2) / step))
        if number > MOST_NODES:
            raise ConvergenceError(
                f"an item's likelihood is too narrow for the exact engine ({number} nodes); use engine='nuts'"
            )
        z = step * np.arange(-number, number + 1)
        return Lattice(step, 2 * np.sinh(z), 2 * step * np.cosh(z))

    def log_known(self, at: Lattice) -> Floats:
        """Return the log mass of each node, shape (prior, node): flat first, then each truth."""
        flat = sp.special.log_expit(at.logit) + sp.special.log_expit(-at.logit) + np.log(at.weight)
        g, sd = self.truth[:, None], self.sd
        mass = sp.special.ndtr((1 - g) / sd) - sp.special.ndtr(-g / sd)
        normal = -0.5 * ((sp.special.expit(at.logit) - g) / sd) ** 2 - np.log(mass * sd * np.sqrt(2 * np.pi))
        return flat + np.concatenate([np.zeros((1, at.logit.size)), normal])

    def evidence(self, like: Likelihood, precision: float, hyper: Any, shares: Any) -> Floats:
        """Return log Pr(ratings of one item), shape (pattern, parameters).

        At one precision, several (m, s), shape (parameters, 2), and shares of outright ends, shape (parameters, 2);
        None where there are none.
        """
        # Sums over nodes twice as far apart err by 1e-6, unless a prior is as narrow as they are.
        at = self.lattice(like, precision, 1.0 if self.truth.size else 2.0)
        if self.hierarchical and _is_narrow(at, *hyper.T).any():
            at = self.lattice(like, precision)
        terms = like.terms(precision, at.logit)
        rows = max(1, CELLS // at.logit.size)
        found = []
        masses = np.ones((1 if shares is None else len(shares), at.logit.size))
        if self.hierarchical:
            masses = beta_masses(at, hyper[:, :1], hyper[:, 1:])
        for part in (like.of(slice(k, k + rows)) for k in range(0, like.weight.size, rows)):
            table = part.statistics @ terms
            if not self.hierarchical:  # before the maximum is taken: a truth may contradict ratings
                table += self.log_known(at)[part.group]
            if shares is None:
                found.append(_log_sums(table, masses.T))
                continue
            (counts, extra), step = part.ends(terms, at.logit, shares), max(1, CELLS // table.size)
            blocks = (slice(k, k + step) for k in range(0, len(extra), step))
            sums = [_log_sums(table + counts @ extra[some], masses[some, :, None]) for some in blocks]
            found.append(np.concatenate(sums)[..., 0].T)
        return np.concatenate(found)

    def draw(self, like: Likelihood, item: Any, y: Floats, hyper: Any, shares: Any, rng: Rng) -> Floats:
        """Draw mu of every item, given the pattern of each, for each draw of log p, (m, s) and shares: (sample, item).

        Uniformly between nodes a third of a step apart.
        """
        drawn = np.empty((y.size, item.size))
        order = np.argsort(y)
        for some in np.split(order, np.flatnonzero(np.diff(y[order]) > 0) + 1):
            precision = float(np.exp(y[some[0]]))
            at = self.lattice(like, precision, 1 / 3)
            terms = like.terms(precision, at.logit)
            table = like.statistics @ terms
            for k in some:
                own, own_terms, log_mass = at, terms, table
                if self.hierarchical and _is_narrow(at, *hyper[k]):
                    own = _around(*hyper[k])
                    own_terms = like.terms(precision, own.logit)
                    log_mass = like.statistics @ own_terms
                if shares is not None and shares[k].any():
                    counts, extra = like.ends(own_terms, own.logit, shares[[k]])
                    log_mass = log_mass + counts @ extra[0]
                if self.hierarchical:
                    log_mass = log_mass + log_beta_shape(own.logit, *hyper[k]) + np.log(own.weight)
                else:
                    log_mass = log_mass + self.log_known(own)[like.group]
                z = np.arcsinh(own.logit / 2)
                below = np.cumsum(np.exp(log_mass - log_mass.max(axis=1, keepdims=True)), axis=1)
                below /= below[:, -1:]
                # One sorted list of all rows: row r lies in (r, r + 1].
                flat = (below + np.arange(len(below))[:, None]).ravel()
                node = np.searchsorted(flat, item + rng.random(item.size)) - item * z.size
                place = z[np.clip(node, 0, z.size - 1)] + own.step * (rng.random(item.size) - 0.5)
                drawn[k] = sp.special.expit(2 * np.sinh(place))
        return drawn


def _log_sums(table: Floats, masses: Floats) -> Floats:
    """Return log(exp(table) @ masses); a sum that underflows is as small as floats are."""
    top = table.max(axis=-1, keepdims=True)
    return np.log(np.maximum(np.exp(table - top) @ masses, 1e-300)) + top


def beta_shapes(m: Any, s: Any) -> tuple[Any, Any]:
    """Return the shapes (m t, (1 - m) t) of the prior of an item mean, t = s^-2 - 1."""
    t = (1 - s) * (1 + s) / s**2
    return m * t, (1 - m) * t


def log_beta_shape(at: Floats, m: Any, s: Any) -> Floats:
    """Return the log density of logit(mu) under Beta(m t, (1 - m) t) up to a constant, exact at large t."""
    away = at - sp.special.logit(m)
    return (1 - s) * (1 + s) / s**2 * (m * away - np.log1p(m * np.expm1(away)))


def _is_narrow(at: Lattice, m: Any, s: Any) -> Any:
    """Whether a prior has fewer than `PER_WIDTH` nodes within its standard deviation."""
    return s / np.sqrt(m * (1 - m)) < PER_WIDTH * at.step * np.hypot(2, sp.special.logit(m))


def _around(m: float, s: float) -> Lattice:
    """Return nodes of a narrow prior, four for each of its standard deviations."""
    centre = sp.special.logit(m)
    step = float(s / np.sqrt(m * (1 - m)) / np.hypot(2, centre) / 4)
    z = np.arcsinh(centre / 2) + step * np.arange(-30, 31)
    return Lattice(step, 2 * np.sinh(z), 2 * step * np.cosh(z))


def beta_masses(at: Lattice, m: Floats, s: Floats) -> Floats:
    """Return the mass of each node under Beta(m t, (1 - m) t), m and s of shape (prior, 1): shape (prior, node)."""
    a, b = beta_shapes(m, s)
    density = np.exp(log_beta_shape(at.logit, m, s))
    mass = density * at.weight
    slope = at.weight[0] / at.step
    for end, shape in (
        (slice(0, 1), a),
        (slice(-1, None), b),
    ):  # the tail, and the correction of Euler and Maclaurin
        mass[:, end] += density[:, end] * (
            1 / shape - at.weight[0] / 2 + at.step**2 / 12 * slope * (shape * slope - 1)
        )
    narrow = np.flatnonzero(_is_narrow(at, m, s)[:, 0])
    if narrow.size:
        m, s = m[narrow], s[narrow]
        place = sp.special.logit(m) + s / np.sqrt(m * (1 - m)) * INSIDE
        inside = row_shares(np.exp(log_beta_shape(place, m, s)))
        node = np.arcsinh(place / 2) / at.step + at.logit.size // 2
        first = np.clip(np.floor(node).astype(int) - POINTS // 2 + 1, 0, at.logit.size - POINTS)
        # Barycentric weights of the polynomial through equally spaced points.
        basis = BINOMIAL / (node[..., None] - first[..., None] - np.arange(POINTS) + 1e-13)
        basis *= inside[..., None] / basis.sum(axis=-1, keepdims=True)
        place = np.arange(narrow.size)[:, None, None], first[..., None] + np.arange(POINTS)
        mass[narrow] = 0.0
        np.add.at(mass, (narrow[place[0]], place[1]), basis)
    return row_shares(mass)
