"""Gibbs sampler of the ordered variant: labels stand in an order, and annotators differ in how they use the scale.

Item i has a latent truth u_i ~ N(0, 1). Annotator k says at most c where a latent response is at most tau_c,

    z_ik ~ N(alpha_k + beta_k u_i, 1 / s_k^2),    alpha_k ~ N(0, A),  beta_k ~ N(mu, B),  s_k^2 ~ Gamma(5, 5),

which is Phi(tau_kc - a_k u_i) with discrimination a_k = s_k beta_k and thresholds tau_kc = s_k tau_c - s_k alpha_k:
those of the crowd, stretched and shifted. The plausibility of a label is the share of typical annotators (alpha = 0,
beta = mu, s = 1) who would give it, so that it rises and falls once along the labels.

Source: Johnson, "On Bayesian analysis of multirater ordinal data", JASA 91 (1996); latent responses by Albert and Chib
(1993), thresholds without them by Cowles (1996), moves of location and scale by Liu and Sabatti (2000).
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats, Rng
from bayesagree.annotations import Labels
from bayesagree.plausibility.dawid_skene._cells import AnnotationCells

MU, SPREAD, STRETCH, THRESHOLD_SD = 1.0, (2.0, 0.25), 5.0, 1.5
"""Prior: mu ~ N(1, 1) above 0; A and B ~ inverse gamma (2, 1/4); s^2 ~ Gamma(5, 5); tau ~ N(0, 1.5^2), in order."""
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
EVERY = 3
"""Sweeps per proposal of thresholds, which costs as much as a sweep and moves what annotators hardly depend on."""
ACCEPTED = 0.3
"""Share of proposed thresholds to accept: near the best for a handful of them at once (Roberts et al., 1997)."""


class OrderedSampler:
    """One chain."""

    def __init__(self, cells: AnnotationCells, labels: Labels, rng: Rng) -> None:
        self.cells, self.label = cells, labels.label_index.astype(np.int64)
        self.annotator = labels.annotator_index.astype(np.int64)
        n_labels, self.n_annotators = labels.categories.size, labels.annotators.size
        below = np.cumsum(np.bincount(self.label, minlength=n_labels) + 0.5)[:-1]
        start = np.array([_quantile(p) for p in below / (self.label.size + 0.5 * n_labels)]) * 1.4
        self.tau = np.concatenate([[-np.inf], start, [np.inf]])
        middle = np.bincount(labels.item_index, self.label, cells.n_items) / np.maximum(cells.sizes, 1)
        spread = middle.std() or 1.0
        self.u = (middle - middle.mean()) / spread + 0.3 * rng.standard_normal(cells.n_items)
        # Annotators: intercept, slope, precision of the latent response.
        self.people = np.stack([np.zeros(self.n_annotators), np.ones(self.n_annotators), np.ones(self.n_annotators)])
        # Population: mean slope, variances of intercepts and slopes; step of the thresholds; the sweep.
        self.crowd = np.array([1.0, 0.25, 0.25, 0.5 / math.sqrt(self.label.size), 0.0])
        self.tuning = True
        self.shares = np.empty((0, 0))
        """Shares of typical annotators who give each label, shape (item, label)."""

    @property
    def expected(self) -> Floats:
        """Plausibilities of the present draw, shape (candidate,)."""
        return self.shares.ravel()

    def plausibility(self, rng: Rng) -> Floats:
        """Return the plausibilities of the present draw."""
        return self.expected

    @property
    def prevalence(self) -> Floats:
        """Share of each label over all items."""
        return self.shares.mean(axis=0)

    def sweep(self, rng: Rng, times: int = 1) -> None:
        """Draw every unknown; the first call tunes the step of the thresholds."""
        args = self.cells.item_start, self.annotator, self.label, self.u, self.people, self.tau, self.crowd
        sweep_ordered(rng, times, *args, self.tuning)
        self.tuning, self.shares = False, chances(self.tau, self.crowd[0] * self.u, 1.0)

    def diagonal(self, rng: Rng) -> Floats:
        """Return Pr(same label as a typical annotator), given that one's label, in each confusion row."""
        rows = self._confusion()[:, np.arange(self.tau.size - 1), np.arange(self.tau.size - 1)]
        return rows[self.cells.row_annotator, self.cells.row_label]

    def expand(self, rng: Rng, right: Floats, out: NDArray[np.float32]) -> None:
        """Write the probability of each label given that of a typical annotator."""
        out[...] = self._confusion()

    def _confusion(self) -> Floats:
        """Return Pr(label | label of a typical annotator) on a random item, shape (annotator, label, label)."""
        typical = chances(self.tau, self.crowd[0] * NODES, 1.0) * WEIGHTS[:, None]
        alpha, beta, precision = self.people
        at = (alpha[:, None] + beta[:, None] * NODES).ravel()
        own = chances(self.tau, at, np.repeat(np.sqrt(precision), NODES.size)).reshape(
            self.n_annotators, NODES.size, -1
        )
        return np.einsum("nc,anl->acl", typical, own) / typical.sum(axis=0)[:, None]

    def hyperparameters(self) -> dict[str, Floats]:
        """Return thresholds, latent truths, and how each annotator uses the scale."""
        alpha, beta, precision = self.people
        stretch = np.sqrt(precision)
        return {
            "threshold": self.tau[1:-1].copy(), "latent_truth": self.u.copy(), "discrimination": beta * stretch,
            "severity": -alpha * stretch, "stretch": stretch,
        }  # fmt: skip


def chances(tau: Floats, at: Floats, stretch: float | Floats) -> Floats:
    """Return the probability of each label, shape (place, label), of responses around `at` with sd 1 / stretch."""
    from scipy.special import ndtr

    below = ndtr((tau - at[:, None]) * np.broadcast_to(stretch, at.shape)[:, None])
    return np.diff(below, axis=1)


def _quantile(p: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(p))


@numba.njit(cache=True, nogil=True)
def interval_chance(low, high):
    """Return Phi(high) - Phi(low) to full precision in either tail."""
    root = 0.7071067811865476
    if low > 0:
        return 0.5 * (math.erfc(low * root) - math.erfc(high * root))
    return 0.5 * (math.erfc(-high * root) - math.erfc(-low * root))


@numba.njit(cache=True, nogil=True)
def truncated_normal(rng, low, high):
    """Draw a standard normal number between two ends (Robert, 1995)."""
    if high < 0:
        return -truncated_normal_above(rng, -high, -low)
    if low > 0:
        return truncated_normal_above(rng, low, high)
    if high - low > 2.5:
        while True:
            x = rng.standard_normal()
            if low <= x <= high:
                return x
    while True:
        x = low + (high - low) * rng.random()
        if 2 * rng.standard_exponential() >= x * x:
            return x


@numba.njit(cache=True, nogil=True)
def truncated_normal_above(rng, low, high):
    """Draw a standard normal number between two positive ends."""
    rate = 0.5 * (low + math.sqrt(low * low + 4))
    if (high - low) * rate < 1:
        while True:
            x = low + (high - low) * rng.random()
            if 2 * rng.standard_exponential() >= x * x - low * low:
                return x
    while True:
        x = low + rng.standard_exponential() / rate
        if x <= high and 2 * rng.standard_exponential() >= (x - rate) ** 2:
            return x


@numba.njit(cache=True, nogil=True)
def log_ratio(item_start, annotator, label, u, people, stretch, tau, proposal):
    """Return the log of how much more probable all labels are under the proposed thresholds."""
    total, product = 0.0, 1.0
    for i in range(u.size):
        for t in range(item_start[i], item_start[i + 1]):
            k, c = annotator[t], label[t]
            at, s = people[0, k] + people[1, k] * u[i], stretch[k]
            new = interval_chance((proposal[c] - at) * s, (proposal[c + 1] - at) * s)
            old = interval_chance((tau[c] - at) * s, (tau[c + 1] - at) * s)
            product *= max(new, 1e-100) / max(old, 1e-100)
            if not 1e-100 < product < 1e100:  # one logarithm for many factors
                total += math.log(product)
                product = 1.0
    return total + math.log(product)


@numba.njit(cache=True, nogil=True)
def inverse_gamma(rng, shape, scale):
    """Draw an inverse gamma number."""
    return scale / rng.standard_gamma(shape)


@numba.njit(cache=True, nogil=True)
def sweep_ordered(rng, times, item_start, annotator, label, u, people, tau, crowd, tuning):
    """Draw thresholds, responses with latent truths, annotators and their population, and move all at once."""
    n_people, n_labels = people.shape[1], tau.size - 1
    sums, proposal = np.empty((6, n_people)), tau.copy()
    for _ in range(times):
        stretch = np.sqrt(people[2])
        crowd[4] += 1
        if crowd[4] % EVERY == 0:  # thresholds, responses integrated out
            gain, ordered = 0.0, True
            for c in range(1, n_labels):
                proposal[c] = tau[c] + crowd[3] * rng.standard_normal()
                ordered = ordered and proposal[c] > proposal[c - 1]
                gain += (tau[c] ** 2 - proposal[c] ** 2) / (2 * THRESHOLD_SD**2)
            accepted = False
            if ordered:
                gain += log_ratio(item_start, annotator, label, u, people, stretch, tau, proposal)
                accepted = -rng.standard_exponential() < gain
            if accepted:
                tau[:] = proposal
            if tuning:
                crowd[3] *= math.exp((accepted - ACCEPTED) / math.sqrt(1 + 0.1 * crowd[4]))
        # Responses given latent truths, then latent truths given responses.
        sums[:] = 0.0
        for i in range(u.size):
            precision, score = 1.0, 0.0
            response = np.empty(item_start[i + 1] - item_start[i])
            for t in range(item_start[i], item_start[i + 1]):
                k, c = annotator[t], label[t]
                at, s = people[0, k] + people[1, k] * u[i], stretch[k]
                response[t - item_start[i]] = at + truncated_normal(rng, (tau[c] - at) * s, (tau[c + 1] - at) * s) / s
                precision += people[2, k] * people[1, k] ** 2
                score += people[2, k] * people[1, k] * (response[t - item_start[i]] - people[0, k])
            u[i] = score / precision + rng.standard_normal() / math.sqrt(precision)
            for t in range(item_start[i], item_start[i + 1]):
                k, z = annotator[t], response[t - item_start[i]]
                sums[0, k] += 1
                sums[1, k] += u[i]
                sums[2, k] += u[i] * u[i]
                sums[3, k] += z
                sums[4, k] += z * u[i]
                sums[5, k] += z * z
        draw_people(rng, sums, people, crowd)
        move_together(rng, u, people, tau, crowd)


@numba.njit(cache=True, nogil=True)
def draw_people(rng, sums, people, crowd):
    """Draw line and precision of every annotator's responses, then the population."""
    n_people = people.shape[1]
    for k in range(n_people):
        n, x, xx, z, xz, zz = sums[:, k]
        p = people[2, k]
        # Precision matrix of (intercept, slope) and its Cholesky root.
        a, b, d = p * n + 1 / crowd[1], p * x, p * xx + 1 / crowd[2]
        one, two = p * z, p * xz + crowd[0] / crowd[2]
        det = a * d - b * b
        root = math.sqrt(a)
        off, last = b / root, math.sqrt(det / a)
        second = rng.standard_normal() / last
        first = (rng.standard_normal() - off * second) / root
        people[0, k] = (d * one - b * two) / det + first
        people[1, k] = (a * two - b * one) / det + second
        i, s = people[0, k], people[1, k]
        residual = zz - 2 * i * z - 2 * s * xz + n * i * i + 2 * i * s * x + s * s * xx
        people[2, k] = rng.standard_gamma(STRETCH + n / 2) / (STRETCH + max(residual, 0.0) / 2)
    crowd[1] = inverse_gamma(rng, SPREAD[0] + n_people / 2, SPREAD[1] + (people[0] ** 2).sum() / 2)
    crowd[2] = inverse_gamma(rng, SPREAD[0] + n_people / 2, SPREAD[1] + ((people[1] - crowd[0]) ** 2).sum() / 2)
    precision = 1.0 + n_people / crowd[2]
    centre, sd = (MU + people[1].sum() / crowd[2]) / precision, 1 / math.sqrt(precision)
    crowd[0] = centre + sd * truncated_normal(rng, -centre / sd, np.inf)


@numba.njit(cache=True, nogil=True)
def move_together(rng, u, people, tau, crowd):
    """Shift thresholds and annotators together, rescale both, and rescale latent truths against slopes.

    The labels stay as probable as they were, so that only priors and the Jacobian decide.
    """
    n_people, inner = people.shape[1], tau[1:-1]
    precision = n_people / crowd[1] + inner.size / THRESHOLD_SD**2
    shift = -(people[0].sum() / crowd[1] + inner.sum() / THRESHOLD_SD**2) / precision
    shift += rng.standard_normal() / math.sqrt(precision)
    people[0] += shift
    inner += shift
    # tau, alpha, beta and mu times g, s^2 over g^2.
    log_g = rng.standard_normal() / math.sqrt(n_people + 1.0)
    g = math.exp(log_g)
    gain = (1 - g * g) * ((inner**2).sum() / THRESHOLD_SD**2 + (people[0] ** 2).sum() / crowd[1]) / 2
    gain += (1 - g * g) * ((people[1] - crowd[0]) ** 2).sum() / crowd[2] / 2
    gain += ((crowd[0] - MU) ** 2 - (g * crowd[0] - MU) ** 2) / 2
    gain += STRETCH * people[2].sum() * (1 - g**-2) - 2 * log_g * n_people * (STRETCH - 1)
    gain += log_g * (inner.size + 2 * n_people + 1 - 2 * n_people)
    if -rng.standard_exponential() < gain:
        inner *= g
        people[0] *= g
        people[1] *= g
        people[2] /= g * g
        crowd[0] *= g
    # Latent truths times g, beta and mu over g.
    log_g = rng.standard_normal() / math.sqrt(u.size + n_people + 1.0)
    g = math.exp(log_g)
    gain = (1 - g * g) * (u**2).sum() / 2 + (1 - g**-2) * ((people[1] - crowd[0]) ** 2).sum() / crowd[2] / 2
    gain += ((crowd[0] - MU) ** 2 - (crowd[0] / g - MU) ** 2) / 2 + log_g * (u.size - n_people - 1)
    if -rng.standard_exponential() < gain:
        u *= g
        people[1] /= g
        crowd[0] /= g
