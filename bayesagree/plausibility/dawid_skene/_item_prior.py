"""The prior of an item's true label, learnt from what models predict of it: a regression inside of EM and of Gibbs.

In the place of one prevalence for all items, with covariates x_i of the predictions as in `informed_dirichlet`,

    Pr(z_i = k) = softmax(sum_f slope_f x_if + level)_k,    slope_f ~ N(0, .5^2),  level_k ~ N(0, 1.5^2).

The M step raises sum_ik Pr(z_i = k | labels) log Pr(z_i = k) plus the log prior of the slopes, by one step of Newton's
method; a Gibbs sweep draws the slopes given the true labels by a Hamiltonian trajectory. In mixed membership the
softmax is the mean of the item's plausibilities, and latent labels newly drawn from it (Antoniak 1974) are to the
slopes what true labels are elsewhere. What annotators are and what the models are worth are learnt together.

Sources: Raykar et al., "Learning from crowds", JMLR 11 (2010) 1297-1322, section 2.4, with models' outputs as features;
Neal, "MCMC using Hamiltonian dynamics" (2011), section 4.1 (whitening).
"""

import math

import numba
import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats, Rng
from bayesagree._numerics.vectors import copy_to
from bayesagree.plausibility.dawid_skene._cells import AnnotationCells
from bayesagree.plausibility.dawid_skene._gibbs_kernels import NOTHING
from bayesagree.plausibility.informed.covariates import Covariates
from bayesagree.plausibility.informed.prior import InformedPrior


class Regression:
    """Log prior of the true labels of all items, (item, category), given slopes and levels, (parameter,)."""

    def __init__(self, covariates: Covariates, annotated: NDArray[np.bool_]) -> None:
        n_items, _, n_labels = covariates.dense.shape
        hits = covariates.hit[:, :, None] == np.arange(n_labels)
        level = np.broadcast_to(np.eye(n_labels), (n_items, n_labels, n_labels))
        self.columns = np.concatenate([covariates.dense, hits, level], axis=1, dtype=np.float64)
        self.known = self.columns[annotated]
        prior, n_slopes = InformedPrior(), self.columns.shape[1] - n_labels
        self.precision = np.repeat([prior.slope_sd, prior.level_sd], (n_slopes, n_labels)) ** -2.0

    def log_prior(self, theta: Floats) -> Floats:
        """Return log Pr(z_i = k) of all items."""
        return _log_prior(theta, self.columns)

    def value(self, theta: Floats, target: Floats) -> float:
        """Return the log density of the slopes, given Pr(z_i = k | labels) of the annotated items, (item, category)."""
        return float((target * _log_prior(theta, self.known)).sum() - 0.5 * self.precision @ theta**2)

    def slope(self, theta: Floats, target: Floats) -> Floats:
        """Return the derivative of `value`."""
        share = np.exp(_log_prior(theta, self.known))
        return np.einsum("ik,ifk->f", target - share, self.known) - self.precision * theta

    def information(self, theta: Floats) -> Floats:
        """Return minus the second derivative of `value`, which the target does not enter."""
        share = np.exp(_log_prior(theta, self.known))
        mean = np.einsum("ik,ifk->if", share, self.known)
        flat = (self.known * np.sqrt(share)[:, None, :]).transpose(0, 2, 1).reshape(-1, theta.size)
        return flat.T @ flat - mean.T @ mean + np.diag(self.precision)

    def climb(self, theta: Floats, target: Floats) -> Floats:
        """Return the slopes one Newton step nearer to the maximum of `value`."""
        slope = self.slope(theta, target)
        step = np.linalg.solve(self.information(theta), slope)
        here = self.value(theta, target)
        # Far from the maximum a whole step may overshoot; near it rounding alone would halve for ever.
        while self.value(theta + step, target) < here and float(step @ slope) > 1e-12 * abs(here):
            step /= 2
        return theta + step


class LearntPrior:
    """The regression inside of EM, and the slopes it has come to."""

    def __init__(self, covariates: Covariates, annotated: NDArray[np.bool_]) -> None:
        self.regression, self.annotated = Regression(covariates, annotated), annotated
        self.theta = np.zeros(self.regression.precision.size)

    def learn(self, probability: Floats) -> tuple[Floats, float]:
        """Step towards Pr(z_i = k | labels), (item, category); return log Pr(z_i = k) and the slopes' log prior."""
        self.theta = self.regression.climb(self.theta, probability[self.annotated])
        return self.regression.log_prior(self.theta), -0.5 * float(self.regression.precision @ self.theta**2)


# Newton steps to the slopes that vote shares say; the units of the trajectories need no more than their size.
CLIMBS = 10
STEP = 0.4
# A quarter of a circle, pi / 2, makes a draw of a normal target independent; lengths at random avoid full circles.
SHORTEST, LONGEST = 0.8, 2.4


class DrawnPrior:
    """The regression inside of one Gibbs chain: slopes drawn given labels of the items with annotations or gold."""

    def __init__(self, regression: Regression, cells: AnnotationCells, shares: Floats) -> None:
        self.regression, self.cells = regression, cells
        self.theta, self.log_prior = np.zeros(regression.precision.size), np.empty(cells.candidate.size)
        target = cells.expand(shares, regression.columns.shape[2])[cells.counted]
        for _ in range(CLIMBS):
            self.theta = regression.climb(self.theta, target)
        # theta = root z: the information at the vote shares is that of the labels apart from their certainty.
        lower = np.linalg.cholesky(regression.information(self.theta))
        self.root = np.ascontiguousarray(sp.linalg.solve_triangular(lower.T, np.eye(self.theta.size)))
        write_log_prior(self.theta, regression.columns, cells, self.log_prior)

    def draw(self, rng: Rng, new_labels: Floats) -> Floats:
        """Move the slopes given how many labels of each candidate came from the prior; return log Pr(candidate)."""
        regression, cells = self.regression, self.cells
        known = cells.expand(new_labels, regression.columns.shape[2])[cells.counted]
        move_slopes(rng, self.theta, self.root, regression.known, known, regression.precision)
        write_log_prior(self.theta, regression.columns, cells, self.log_prior)
        return self.log_prior

    @property
    def mean(self) -> Floats:
        """Prior of each candidate, shape (candidate,), with a little for labels that underflowed."""
        return np.maximum(np.exp(self.log_prior), NOTHING)

    def prevalence(self) -> Floats:
        """Return the mean prior of all items, (category,)."""
        total = np.bincount(self.cells.candidate, np.exp(self.log_prior), self.regression.columns.shape[2])
        return total / total.sum()


@numba.njit(cache=True, nogil=True)
def item_log_prior(theta, x, out):
    """Write log softmax(theta x) of one item; x has shape (parameter, category)."""
    for k in range(out.size):
        out[k] = 0.0
        for f in range(theta.size):
            out[k] += theta[f] * x[f, k]
    top = out.max()
    total = 0.0
    for k in range(out.size):
        total += math.exp(out[k] - top)
    log_total = top + math.log(total)
    for k in range(out.size):
        out[k] -= log_total


@numba.njit(cache=True, nogil=True)
def write_log_prior(theta, columns, cells, log_prior):
    """Write log Pr(candidate) of all items, shape (candidate,)."""
    own = np.empty(columns.shape[2])
    for i in range(columns.shape[0]):
        item_log_prior(theta, columns[i], own)
        for c in range(cells.candidate_start[i], cells.candidate_start[i + 1]):
            log_prior[c] = own[cells.candidate[c]]


@numba.njit(cache=True, nogil=True)
def label_density(theta, known, new_labels, precision, slope):
    """Return the log density of the slopes given labels that came from each item's prior, (item, category).

    Its derivative is written to `slope`, shape (parameter,).
    """
    value, own = 0.0, np.empty(known.shape[2])
    for f in range(theta.size):
        slope[f] = -precision[f] * theta[f]
        value += 0.5 * slope[f] * theta[f]
    for i in range(known.shape[0]):
        item_log_prior(theta, known[i], own)
        total = new_labels[i].sum()
        for k in range(own.size):
            if new_labels[i, k] > 0.0:
                value += new_labels[i, k] * own[k]
            own[k] = new_labels[i, k] - total * math.exp(own[k])
        for f in range(theta.size):
            for k in range(own.size):
                slope[f] += own[k] * known[i, f, k]
    return value


@numba.njit(cache=True, nogil=True)
def move_slopes(rng, theta, root, known, new_labels, precision):
    """Move the slopes in place by one Hamiltonian trajectory in the units of ``root``, of random length."""
    momentum, slope, new = np.empty(theta.size), np.empty(theta.size), theta.copy()
    for f in range(theta.size):
        momentum[f] = rng.standard_normal()
    energy = label_density(theta, known, new_labels, precision, slope) - 0.5 * (momentum @ momentum)
    n_steps, value = round(rng.uniform(SHORTEST, LONGEST) / STEP), 0.0
    momentum += 0.5 * STEP * (root.T @ slope)
    for step in range(n_steps):
        new += STEP * (root @ momentum)
        value = label_density(new, known, new_labels, precision, slope)
        momentum += (0.5 if step == n_steps - 1 else 1.0) * STEP * (root.T @ slope)
    if -rng.standard_exponential() < value - 0.5 * (momentum @ momentum) - energy:
        copy_to(theta, new)


def _log_prior(theta: Floats, x: Floats) -> Floats:
    return sp.special.log_softmax(np.einsum("f,ifk->ik", theta, x), axis=1)
