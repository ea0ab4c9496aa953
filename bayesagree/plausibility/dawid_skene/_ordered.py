"""Sampler of the ordered variant: labels stand in an order, and annotators differ in how they use the scale.

Item i has a latent truth u_i ~ N(0, 1). Annotator k says at most c where a latent response is at most tau_c,

    z_ik ~ N(alpha_k + beta_k u_i, 1 / s_k^2),    alpha_k ~ N(0, A),  beta_k ~ N(mu, B),  s_k^2 ~ Gamma(5, 5),

which is Phi(tau_kc - a_k u_i) with discrimination a_k = s_k beta_k and thresholds tau_kc = s_k tau_c - s_k alpha_k:
those of the crowd, stretched and shifted. The plausibility of a label is the share of typical annotators (alpha = 0,
beta = mu, s = 1) who would give it, so that it rises and falls once along the labels. A gold label is that of one more
typical annotator: it teaches how the others use the scale, and an item stays as ambiguous as it is.

An annotator who gives one label whatever the item would need s = infinity; the prior keeps s near 1, and the thresholds
would move instead. Such annotators are left out.

Latent truths, annotators and thresholds move by random walks, each part given the others, all items and all annotators
at once. Walks of parts go slowly where thresholds and annotators could move together; these moves are slices.

Source: Johnson, "On Bayesian analysis of multirater ordinal data", JASA 91 (1996); moves of location and scale by Liu
and Sabatti, "Generalised Gibbs sampler", Biometrika 87 (2000); steps of a walk that learns its length by Andrieu and
Thoms, "A tutorial on adaptive MCMC", Statistics and Computing 18 (2008).
"""

from typing import Any

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.plausibility._side_by_side import slice_step
from bayesagree.plausibility.dawid_skene._crowd import Crowd, Sampler
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

# Prior: mu ~ N(1, 1) above 0; A and B ~ inverse gamma (2, 1/4); s^2 ~ Gamma(5, 5); tau ~ N(0, 1.5^2), in order.
MU, SPREAD, STRETCH, THRESHOLD_SD = 1.0, (2.0, 0.25), 5.0, 1.5
# Walks of a sweep, the share of their steps that is to be taken, and how slowly they learn their length.
WALKS, TAKEN, SLOWLY = 3, 0.35, 10
# Least probability of a label in logarithms.
NO_CHANCE = 1e-100
# Others give an annotator's one label to his items so often with less probability than this: he does not look.
HABIT = 1e-3
# Places of a standard normal variable, with weights.
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)


def constant_annotators(crowd: Crowd) -> NDArray[np.int64]:
    """Return the label of each annotator who gives one label whatever the item, -1 of others, shape (annotator,).

    It is one where the others' shares of this label, multiplied over the items, are below `HABIT`.
    """
    who, label, n = crowd.annotator, crowd.label, crowd.n_labels
    others, same = crowd.sizes[crowd.item] - 1, crowd.votes[crowd.item, label] - 1
    chance = np.bincount(who, np.log((same + 0.5) / (others + 0.5 * n)) * (others > 0), crowd.n_annotators)
    least, most = np.full(crowd.n_annotators, n), np.full(crowd.n_annotators, -1)
    np.minimum.at(least, who, label)
    np.maximum.at(most, who, label)
    return np.where((least == most) & (chance < np.log(HABIT)), most, -1)


class OrderedSampler(Sampler):
    """Chains of the ordered variant; `held` are annotations that a chain does not see, (chain, annotation).

    `u` (chain, item, 1), `tau` (chain, 1, boundary), and `people`, (chain, annotator, 3): alpha, beta and log s, last
    those of a typical annotator, who gives the gold labels: 0, mu and 0.
    """

    tune = 300

    def __init__(
        self, crowd: Crowd, prior: DawidSkenePrior, chains: int, rng: Rng, held: NDArray[np.bool_] | None = None
    ) -> None:
        self.crowd, self.turn = crowd, 0
        self.constant = constant_annotators(crowd)
        n, size = crowd.n_labels, crowd.n_annotators + 1
        kept, (item, label) = self.constant[crowd.annotator] < 0, np.nonzero(crowd.gold)
        self.label, who = (
            np.append(crowd.label[kept], label),
            np.append(crowd.annotator[kept], np.full(item.size, size - 1)),
        )
        self.gold, self.seen = slice(int(kept.sum()), None), np.ones((chains, who.size))
        if held is not None:
            self.seen[:, : kept.sum()] = ~held[:, kept]
        # Whose each annotation is, of the parts of u, people and tau.
        self.owner = {"u": np.append(crowd.item[kept], item), "people": who, "tau": np.zeros_like(who)}
        below = np.cumsum(np.bincount(self.label, minlength=n) + 0.5)[:-1] / (who.size + 0.5 * n)
        self.tau = np.tile(sp.special.ndtri(below) * 1.4, (chains, 1, 1))
        self.u = rng.standard_normal((chains, crowd.n_items, 1))
        self.people, self.spread = (
            np.tile([0.0, 1.0, 0.0], (chains, size, 1)),
            np.full((2, chains, 1), SPREAD[1]),
        )
        self.said = self.log_chance(self.u, self.people, self.tau)
        self.length = {
            of: np.tile(1.5 / np.sqrt(2 + np.bincount(own, minlength=getattr(self, of).shape[1])), (chains, 1))
            for of, own in self.owner.items()
        }

    def log_chance(self, u: Floats, people: Floats, tau: Floats, rows: slice = slice(None)) -> Floats:
        """Return the log probability of annotations, (chain, annotation)."""
        alpha, beta, log_s = np.moveaxis(people[:, self.owner["people"][rows]], 2, 0)
        at = alpha + beta * u[:, self.owner["u"][rows], 0]
        s, edge = np.exp(log_s), with_ends(tau[:, 0])
        low, high = ((edge[:, self.label[rows] + k] - at) * s for k in (0, 1))
        tail = np.where(low > 0, -1.0, 1.0)  # differences in the lower tail keep their digits
        chance = np.abs(sp.special.ndtr(tail * high) - sp.special.ndtr(tail * low))
        return self.seen[:, rows] * np.log(np.maximum(chance, NO_CHANCE))

    def log_prior(self, of: str, at: Floats) -> Floats:
        """Return the log prior density of the parts of u, people or tau, (chain, part)."""
        if of != "people":
            value = -0.5 * np.square(at / (THRESHOLD_SD if of == "tau" else 1.0)).sum(axis=2)
            return np.where((np.diff(at, axis=2) > 0).all(axis=2), value, -np.inf)
        (a, b), mu = self.spread, at[:, -1:, 1]
        alpha, beta, log_s = np.moveaxis(at, 2, 0)
        value = STRETCH * (2 * log_s - np.exp(2 * log_s)) - 0.5 * (alpha**2 / a + (beta - mu) ** 2 / b)
        value[:, -1:] = np.where(mu > 0, -0.5 * (mu - MU) ** 2, -np.inf)
        return value

    def sweep(self, rng: Rng) -> None:
        """Walk with items, annotators and thresholds; draw the population, and move all at once."""
        self.turn += 1
        for of in ("u", "people", "tau") * WALKS:
            self.walk(rng, of)
        self.draw_population(rng)
        self.move_together(rng)

    def walk(self, rng: Rng, of: str) -> None:
        """Take a step with each part of one kind, but not with the typical annotator."""
        now, length, owner = getattr(self, of), self.length[of], self.owner[of]
        to = now + length[..., None] * rng.standard_normal(now.shape)
        if of == "people":
            to[:, -1] = now[:, -1]
        found = self.log_chance(**{"u": self.u, "people": self.people, "tau": self.tau} | {of: to})
        code = np.arange(len(now))[:, None] * length.shape[1] + owner
        gain = np.bincount(code.ravel(), (found - self.said).ravel(), length.size).reshape(length.shape)
        gain += self.log_prior(of, to) - self.log_prior(of, now)
        taken = -rng.standard_exponential(gain.shape) < gain
        now[taken] = to[taken]
        self.said = np.where(taken[:, owner], found, self.said)
        length *= np.exp((taken - TAKEN) / (SLOWLY + self.turn) ** 0.6)

    def draw_population(self, rng: Rng) -> None:
        """Draw variances of intercepts and slopes, and the mean slope."""
        own, n = self.people[:, :-1], self.crowd.n_annotators
        squares = np.stack([own[..., 0] ** 2, (own[..., 1] - self.people[:, -1:, 1]) ** 2]).sum(
            axis=2, keepdims=True
        )
        self.spread = (SPREAD[1] + squares / 2) / rng.standard_gamma(SPREAD[0] + n / 2, squares.shape)

        def moved(mu: Floats) -> tuple[Floats, Floats]:
            people = self.people.copy()
            people[:, -1, 1] = mu
            return people, self.tau

        self.slice(rng, moved, self.people[:, -1, 1], 3 / np.sqrt(1 + n))

    def move_together(self, rng: Rng) -> None:
        """Shift thresholds and annotators together, and rescale both.

        The annotators' labels stay as probable as they were, so that only priors, the Jacobian and gold decide.
        """
        number = self.tau.shape[2] + 2 * self.crowd.n_annotators + 1

        def shifted(far: Floats) -> tuple[Floats, Floats]:
            people, far = self.people.copy(), far[:, None]
            people[:, :-1, 0] += far
            return people, self.tau + far[..., None]

        def scaled(far: Floats) -> tuple[Floats, Floats]:
            people, far = self.people.copy(), far[:, None]
            people[..., :2] *= np.exp(far)[..., None]
            people[:, :-1, 2] -= far
            return people, self.tau * np.exp(far)[..., None]

        for moved, jacobian in ((shifted, 0), (scaled, number)):
            self.slice(rng, moved, np.zeros(len(self.tau)), 3 / np.sqrt(number), jacobian)

    def slice(self, rng: Rng, moved: Any, start: Floats, width: float, jacobian: int = 0) -> None:
        """Move annotators and thresholds by slices, where only priors and gold change."""

        def density(far: Floats) -> Floats:
            people, tau = moved(far)
            value = self.log_chance(self.u, people, tau, self.gold).sum(axis=1) + jacobian * far
            return value + self.log_prior("people", people).sum(axis=1) + self.log_prior("tau", tau)[:, 0]

        self.people, self.tau = moved(slice_step(rng, density, start, width))
        self.said[:, self.gold] = self.log_chance(self.u, self.people, self.tau, self.gold)

    def plausibility(self, rng: Rng) -> Floats:
        """Return the shares of typical annotators who give each label."""
        mu = self.people[:, -1:, 1]
        self.expected = chances(self.tau[:, 0], mu * self.u[..., 0], np.ones(1))
        self.prevalence = self.expected.mean(axis=1)
        return self.expected

    def confusion(self, rng: Rng) -> Floats:
        """Return Pr(label | label of a typical annotator) on a random item."""
        alpha, beta, log_s = np.moveaxis(self.people, 2, 0)[..., None]
        said = chances(self.tau, alpha + beta * NODES, np.exp(log_s))
        typical = said[:, -1] * WEIGHTS[:, None]
        found = np.einsum("cnk,cjnl->cjkl", typical, said[:, :-1]) / typical.sum(axis=1)[:, None, :, None]
        always = np.flatnonzero(self.constant >= 0)
        found[:, always] = np.eye(self.crowd.n_labels)[self.constant[always], None]
        return found

    def hyperparameters(self) -> dict[str, Floats]:
        """Return thresholds, latent truths, and how each annotator uses the scale, NaN of those left out."""
        alpha, beta, log_s = np.moveaxis(self.people[:, :-1], 2, 0)
        s = np.where(self.constant < 0, np.exp(log_s), np.nan)
        shared = {"threshold": self.tau[:, 0], "latent_truth": self.u[..., 0].astype(np.float32)}
        return shared | {"stretch": s, "discrimination": beta * s, "severity": -alpha * s}


def with_ends(tau: Floats) -> Floats:
    """Return thresholds with those below the first and above the last label."""
    end = np.full((*tau.shape[:-1], 1), np.inf)
    return np.concatenate([-end, tau, end], axis=-1)


def chances(tau: Floats, at: Floats, stretch: Floats) -> Floats:
    """Return the probability of each label, (..., place, label), of responses around `at` with sds 1 / `stretch`."""
    below = sp.special.ndtr((with_ends(tau)[..., None, :] - at[..., None]) * stretch[..., None])
    return np.diff(below, axis=-1)
