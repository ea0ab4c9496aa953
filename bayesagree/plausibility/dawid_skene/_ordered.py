"""Gibbs sampler of the ordered variant: labels stand in an order, and annotators differ in how they use the scale.

Item i has a latent truth u_i ~ N(0, 1). Annotator k says at most c where a latent response is at most tau_c,

    z_ik ~ N(alpha_k + beta_k u_i, 1 / s_k^2),    alpha_k ~ N(0, A),  beta_k ~ N(mu, B),  s_k^2 ~ Gamma(5, 5),

which is Phi(tau_kc - a_k u_i) with discrimination a_k = s_k beta_k and thresholds tau_kc = s_k tau_c - s_k alpha_k:
those of the crowd, stretched and shifted. The plausibility of a label is the share of typical annotators (alpha = 0,
beta = mu, s = 1) who would give it, so that it rises and falls once along the labels. A gold label is that of one more
typical annotator: it teaches how the others use the scale, and an item stays as ambiguous as it is.

An annotator who gives one label whatever the item would need s = infinity; the prior keeps s near 1, and the thresholds
would move instead. Such annotators are left out.

Source: Johnson, "On Bayesian analysis of multirater ordinal data", JASA 91 (1996); latent responses by Albert and Chib
(1993), thresholds without them by Cowles (1996), moves of location and scale by Liu and Sabatti (2000).
"""

from copy import copy
from typing import Any

import numpy as np
import scipy as sp

from bayesagree._types import Booleans, Floats, Integers, Rng
from bayesagree.inference.cells import cell_sums
from bayesagree.plausibility._side_by_side import slice_step
from bayesagree.plausibility.dawid_skene._crowd import Crowd, Sampler
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

# Prior: mu ~ N(1, 1) above 0; A and B ~ inverse gamma (2, 1/4); s^2 ~ Gamma(5, 5); tau ~ N(0, 1.5^2), in order.
MU, SPREAD, STRETCH, THRESHOLD_SD = 1.0, (2.0, 0.25), 5.0, 1.5
# Of so many sweeps one draws thresholds, the others move all at once; width of a slice, times the root of the number
# of annotations that a threshold divides.
EVERY, SLICE = 2, 5.0
# Least probability of a label in logarithms.
NO_CHANCE = 1e-100
# Others give an annotator's one label to his items so often with less probability than this: he does not look.
HABIT = 1e-3
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def constant_annotators(crowd: Crowd) -> Integers:
    """Return the label of each annotator who gives one label whatever the item, -1 of others, shape (annotator,).

    It is one where the others' shares of this label, multiplied over the items, are below `HABIT`.
    """
    who, label, n = crowd.annotator, crowd.label, crowd.n_labels
    others, same = crowd.sizes[crowd.item] - 1, crowd.votes[crowd.item, label] - 1
    chance = np.bincount(who, np.log((same + 0.5) / (others + 0.5 * n)) * (others > 0), crowd.n_annotators)
    given = cell_sums((crowd.n_annotators, n), who, label) > 0
    return np.where((given.sum(axis=1) == 1) & (chance < np.log(HABIT)), given.argmax(axis=1), -1)


class OrderedSampler(Sampler):
    """Chains of the ordered variant; `held` are annotations that a chain does not see, (chain, annotation).

    Arrays of annotators have a last one, a typical one, who gives the gold labels: alpha = 0, beta = mu, s = 1.
    """

    tune = 300

    def __init__(
        self, crowd: Crowd, prior: DawidSkenePrior, chains: int, rng: Rng, held: Booleans | None = None
    ) -> None:
        self.crowd, self.people = crowd, slice(crowd.n_annotators)
        self.constant = constant_annotators(crowd)
        kept, (item, label) = self.constant[crowd.annotator] < 0, np.nonzero(crowd.gold)
        self.item, self.label = np.append(crowd.item[kept], item), np.append(crowd.label[kept], label)
        self.annotator = np.append(crowd.annotator[kept], np.full(item.size, crowd.n_annotators))
        self.gold, n = slice(int(kept.sum()), None), crowd.n_labels
        self.weight = np.ones((chains, self.item.size))
        if held is not None:
            self.weight[:, : kept.sum()] = ~held[:, kept]
        below = np.cumsum(np.bincount(self.label, minlength=n) + 0.5)[:-1] / (self.label.size + 0.5 * n)
        self.tau = np.tile(sp.special.ndtri(below) * 1.4, (chains, 1))
        weight = _by(self.item, self.weight, crowd.n_items)
        middle = _by(self.item, self.weight * self.label, crowd.n_items) / np.maximum(weight, 1)
        middle -= middle.mean(axis=1, keepdims=True)
        self.u = middle / np.maximum(middle.std(axis=1, keepdims=True), 1e-9)
        self.u += 0.3 * rng.standard_normal(middle.shape)
        # Intercept, slope, precision of the latent response; variances of intercepts and slopes.
        self.alpha = np.zeros((chains, crowd.n_annotators + 1))
        self.beta, self.precision = np.ones_like(self.alpha), np.ones_like(self.alpha)
        self.spread, self.turn = np.full((2, chains), 0.25), 0

    @property
    def mu(self) -> Floats:
        """The mean slope, (chain, 1)."""
        return self.beta[:, -1:]

    def responses(self, rows: Any = slice(None)) -> tuple[Floats, Floats]:
        """Return centre and 1 / sd of the responses behind some annotations."""
        who = self.annotator[rows]
        centre = self.alpha[:, who] + self.beta[:, who] * self.u[:, self.item[rows]]
        return centre, self.precision[:, who] ** 0.5

    def sweep(self, rng: Rng) -> None:
        """Draw responses, latent truths, annotators and their population; in turn move thresholds, or all at once."""
        self.turn += 1
        if self.turn % EVERY == 0:
            self.move_thresholds(rng)
        at, scale = self.responses()
        response = at + truncated_normal(rng, *limits(self.tau, self.label, at, scale)) / scale
        slope = self.beta[:, self.annotator]
        precision, off = self.weight * scale**2 * slope, self.alpha[:, self.annotator]
        total = 1 + _by(self.item, precision * slope, self.crowd.n_items)
        centre = _by(self.item, precision * (response - off), self.crowd.n_items) / total
        self.u = centre + rng.standard_normal(centre.shape) / np.sqrt(total)
        self.draw_people(rng, response)
        if self.turn % EVERY:
            self.move_together(rng)

    def draw_people(self, rng: Rng, response: Floats) -> None:
        """Draw intercept, slope and precision of every annotator's responses, then the population."""
        (a, b), people, who, n = self.spread[..., None], self.people, self.annotator, self.crowd.n_annotators
        u, p = self.u[:, self.item], self.precision[:, people]

        def added(values: Floats) -> Floats:
            return _by(who, self.weight * values, n + 1)[:, people]

        def normal(total: Floats, first: Floats) -> Floats:
            return first / total + rng.standard_normal(total.shape) / np.sqrt(total)

        number = added(np.ones_like(u))
        alpha = normal(1 / a + p * number, p * added(response - self.beta[:, who] * u))
        self.alpha[:, people] = alpha
        rest = response - self.alpha[:, who]
        beta = normal(1 / b + p * added(u**2), self.mu / b + p * added(u * rest))
        self.beta[:, people] = beta
        residual = added((rest - self.beta[:, who] * u) ** 2)
        self.precision[:, people] = rng.standard_gamma(STRETCH + number / 2) / (STRETCH + residual / 2)
        squares = np.stack([alpha**2, (beta - self.mu) ** 2]).sum(axis=2)
        self.spread = (SPREAD[1] + squares / 2) / rng.standard_gamma(SPREAD[0] + n / 2, squares.shape)
        of_gold = u[:, self.gold]
        total = 1.0 + n / self.spread[1] + (of_gold**2).sum(axis=1)
        first = MU + beta.sum(axis=1) / self.spread[1] + (of_gold * response[:, self.gold]).sum(axis=1)
        centre, sd = first / total, total**-0.5
        self.beta[:, -1] = centre + sd * truncated_normal(rng, -centre / sd, np.full_like(sd, np.inf))

    def move_thresholds(self, rng: Rng) -> None:
        """Draw each threshold between its neighbours by slices, responses integrated out."""
        for b in range(self.tau.shape[1]):
            beside = np.flatnonzero((self.label == b) | (self.label == b + 1))
            label, weight, given = self.label[beside], self.weight[:, beside], self.responses(beside)

            def density(
                at: Floats, b: int = b, label: Any = label, weight: Any = weight, given: Any = given
            ) -> Any:
                tau = self.tau.copy()
                tau[:, b] = at
                chance = np.maximum(interval_chance(*limits(tau, label, *given)), NO_CHANCE)
                value = (weight * np.log(chance)).sum(axis=1) - 0.5 * (at / THRESHOLD_SD) ** 2
                return np.where((np.diff(tau, axis=1) > 0).all(axis=1), value, -np.inf)

            self.tau[:, b] = slice_step(rng, density, self.tau[:, b], SLICE / np.sqrt(1 + beside.size))

    def move_together(self, rng: Rng) -> None:
        """Shift thresholds and annotators together, rescale both, and rescale latent truths against them.

        The annotators' labels stay as probable as they were, so that only priors, the Jacobian and gold decide.
        """
        n = self.crowd.n_annotators + self.label[self.gold].size
        for powers in ({}, {"tau": 1, "alpha": 1, "beta": 1, "precision": -2}, {"u": 1, "beta": -1}):
            # The typical annotator's intercept and precision stay where they are.
            free = {name: getattr(self, name).shape[1] - (name in ("alpha", "precision")) for name in powers}
            jacobian = sum(power * free[name] for name, power in powers.items())

            def density(far: Floats, powers: Any = powers, jacobian: int = jacobian) -> Floats:
                return self.moved(powers, far).log_prior() + jacobian * far

            width = 3 / np.sqrt(1 + n + free.get("u", 0))
            far = slice_step(rng, density, np.zeros(len(self.tau)), width)
            vars(self).update(vars(self.moved(powers, far)))

    def moved(self, powers: dict[str, int], far: Floats) -> "OrderedSampler":
        """Return the chains with arrays that grew by powers of e^far, or, without any, shifted by it."""
        other, far = copy(self), far[:, None]
        people = far * (np.arange(self.alpha.shape[1]) < self.crowd.n_annotators)
        if not powers:
            other.tau, other.alpha = self.tau + far, self.alpha + people
        for name, power in powers.items():
            grown = np.exp(power * (people if name == "precision" else far))
            setattr(other, name, getattr(self, name) * grown)
        return other

    def log_prior(self) -> Floats:
        """Return the log density of what moves together and of gold, (chain,)."""
        (a, b), mu, s = self.spread[..., None], self.mu, self.precision[:, self.people]
        squares = (self.tau / THRESHOLD_SD) ** 2, self.alpha**2 / a, (self.beta - mu) ** 2 / b
        value = ((STRETCH - 1) * np.log(s) - STRETCH * s).sum(axis=1)
        value -= sum(of.sum(axis=1) for of in (*squares, (mu - MU) ** 2, self.u**2)) / 2
        chance = interval_chance(*limits(self.tau, self.label[self.gold], *self.responses(self.gold)))
        return value + np.log(np.maximum(chance, NO_CHANCE)).sum(axis=1)

    def plausibility(self, rng: Rng) -> Floats:
        """Return the shares of typical annotators who give each label."""
        self.expected = chances(self.tau, self.mu * self.u)
        self.prevalence = self.expected.mean(axis=1)
        return self.expected

    def confusion(self, rng: Rng) -> Floats:
        """Return Pr(label | label of a typical annotator) on a random item."""
        typical = chances(self.tau, self.mu * NODES) * WEIGHTS[:, None]
        alpha, beta, precision = (of[:, self.people, None] for of in (self.alpha, self.beta, self.precision))
        said = chances(self.tau[:, None], alpha + beta * NODES, np.sqrt(precision)[..., None])
        found = np.einsum("cnk,cjnl->cjkl", typical, said) / typical.sum(axis=1)[:, None, :, None]
        always = np.flatnonzero(self.constant >= 0)
        found[:, always] = np.eye(self.crowd.n_labels)[self.constant[always], None]
        return found

    def hyperparameters(self) -> dict[str, Floats]:
        """Return thresholds, latent truths, and how each annotator uses the scale, NaN of those left out."""
        alpha, beta, precision = (of[:, self.people] for of in (self.alpha, self.beta, self.precision))
        s = np.where(self.constant < 0, np.sqrt(precision), np.nan)
        shared = {"threshold": self.tau, "latent_truth": self.u.astype(np.float32)}
        return shared | {"stretch": s, "discrimination": beta * s, "severity": -alpha * s}


def _by(place: Integers, values: Floats, n: int) -> Floats:
    """Add up values (chain, annotation) by place."""
    code = np.arange(len(values))[:, None] * n + place
    return np.bincount(code.ravel(), values.ravel(), len(values) * n).reshape(-1, n)


def limits(tau: Floats, label: Integers, at: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """Return the thresholds below and above labels in sds of their responses."""
    ends = with_ends(tau)
    return (ends[:, label] - at) * scale, (ends[:, label + 1] - at) * scale


def with_ends(tau: Floats) -> Floats:
    """Return thresholds with those below the first and above the last label."""
    end = np.full((*tau.shape[:-1], 1), np.inf)
    return np.concatenate([-end, tau, end], axis=-1)


def chances(tau: Floats, at: Floats, stretch: Any = 1.0) -> Floats:
    """Return the probability of each label, (..., place, label), of responses around `at` with sds 1 / `stretch`."""
    return np.diff(sp.special.ndtr((with_ends(tau)[..., None, :] - at[..., None]) * stretch), axis=-1)


def _lower_tail(low: Floats, high: Floats) -> tuple[Floats, Floats, Booleans]:
    """Return two ends, mirrored where both are above 0, and where that is."""
    upper = low > 0
    return np.where(upper, -high, low), np.where(upper, -low, high), upper


def interval_chance(low: Floats, high: Floats) -> Floats:
    """Return Phi(high) - Phi(low) to full precision in either tail."""
    one, other, _ = _lower_tail(low, high)
    return sp.special.ndtr(other) - sp.special.ndtr(one)


def truncated_normal(rng: Rng, low: Floats, high: Floats) -> Floats:
    """Draw standard normal numbers between two ends, by the inverse of the distribution in its lower tail."""
    one, other, upper = _lower_tail(low, high)
    start = sp.special.ndtr(one)
    drawn = sp.special.ndtri(start + rng.random(low.shape) * (sp.special.ndtr(other) - start))
    drawn = np.clip(np.where(np.isfinite(drawn), drawn, other), one, other)
    return np.where(upper, -drawn, drawn)
