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
(1993), thresholds without them by Cowles (1996), moves of location and scale by Liu and Sabatti (2000), steps of
thresholds by their slope and curvature by Girolami and Calderhead, JRSS B 73 (2011).
"""

from dataclasses import replace

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.plausibility.dawid_skene._crowd import Crowd
from bayesagree.plausibility.dawid_skene._gibbs import CrowdSampler

# Prior: mu ~ N(1, 1) above 0; A and B ~ inverse gamma (2, 1/4); s^2 ~ Gamma(5, 5); tau ~ N(0, 1.5^2), in order.
MU, SPREAD, STRETCH, THRESHOLD_SD = 1.0, (2.0, 0.25), 5.0, 1.5
# Sweeps per proposal of thresholds; sds of a walk's step times the root of its dimension (Roberts et al. 1997).
EVERY, WALK = 2, 2.4
# Least probability of a label in logarithms.
NO_CHANCE = 1e-100
# Others give an annotator's one label to his items so often with less probability than this: he does not look.
HABIT = 1e-3
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def constant_annotators(crowd: Crowd) -> NDArray[np.int64]:
    """Return the label of each annotator who gives one label whatever the item, -1 of others, shape (annotator,).

    It is one where the others' shares of this label, multiplied over the items, are below `HABIT`.
    """
    who, label = crowd.annotator[crowd.pair], crowd.label[crowd.pair]
    given = np.bincount(crowd.annotator, minlength=crowd.n_annotators) - 1
    own, n = crowd.sizes[crowd.item] - 1, crowd.n_labels
    votes = np.bincount(crowd.item * n + label, minlength=crowd.n_items * n)[crowd.item * n + label] - 1
    chance = np.bincount(who, np.log((votes + 0.5) / (own + 0.5 * n)) * (own > 0), crowd.n_annotators)
    first = np.zeros(crowd.n_annotators, np.int64)
    first[who] = label
    return np.where((given == 1) & (chance < np.log(HABIT)), first, -1)


class OrderedSampler(CrowdSampler):
    """Chains of the ordered variant; `held` are annotations that a chain does not see, (chain, annotation)."""

    def __init__(self, crowd: Crowd, chains: int, rng: Rng, held: NDArray[np.bool_] | None = None) -> None:
        self.constant = constant_annotators(crowd)
        self.crowd, self.chains = crowd, chains
        kept = self.constant[crowd.annotator[crowd.pair]] < 0
        seen = replace(crowd, item=crowd.item[kept], pair=crowd.pair[kept])
        known = np.flatnonzero(crowd.known >= 0)
        self.gold = known, crowd.known[known]
        self.item, self.label, self.annotator = (
            np.append(one, more)
            for one, more in (
                (seen.item, known),
                (crowd.label[seen.pair], self.gold[1]),
                (crowd.annotator[seen.pair], np.full(known.size, crowd.n_annotators)),
            )
        )
        self.weight = np.ones((chains, self.item.size))
        if held is not None:
            self.weight[:, : seen.item.size] = ~held[:, kept]
        self.n_people, n = crowd.n_annotators, crowd.n_labels
        below = np.cumsum(np.bincount(self.label, minlength=n) + 0.5)[:-1] / (self.label.size + 0.5 * n)
        self.tau = np.tile(sp.special.ndtri(below) * 1.4, (chains, 1))
        middle = self.by_item(self.weight * self.label) / np.maximum(self.by_item(self.weight), 1)
        middle -= middle.mean(axis=1, keepdims=True)
        self.u = middle / np.maximum(middle.std(axis=1, keepdims=True), 1e-9)
        self.u += 0.3 * rng.standard_normal(self.u.shape)
        # Annotators, and a typical one who gives the gold: intercept, slope, precision of the latent response.
        self.alpha = np.zeros((chains, self.n_people + 1))
        self.beta, self.precision = np.ones_like(self.alpha), np.ones_like(self.alpha)
        # Population: mean slope, variances of intercepts and slopes.
        self.mu, self.spread, self.turn = np.ones(chains), np.full((2, chains), 0.25), 0
        self.prevalence = np.full((n, chains), 1 / n)

    def by_item(self, values: Floats) -> Floats:
        """Add up values of annotations, (chain, annotation), by item."""
        return self._by(self.item, values, self.crowd.n_items)

    def _by(self, place: NDArray[np.int64], values: Floats, n: int) -> Floats:
        code = np.arange(self.chains)[:, None] * n + place
        return np.bincount(code.ravel(), values.ravel(), self.chains * n).reshape(self.chains, n)

    def limits(self, tau: Floats) -> tuple[Floats, Floats]:
        """Return the thresholds below and above each annotation in standard deviations of its response."""
        at = self.alpha[:, self.annotator] + self.beta[:, self.annotator] * self.u[:, self.item]
        scale = np.sqrt(self.precision)[:, self.annotator]
        full = with_ends(tau)
        return (full[:, self.label] - at) * scale, (full[:, self.label + 1] - at) * scale

    def sweep(self, rng: Rng) -> None:
        """Draw thresholds, responses, latent truths, annotators and their population, and move all at once."""
        self.turn += 1
        if self.turn % EVERY == 0:
            self.move_thresholds(rng, self.turn % (3 * EVERY) == 0)
        low, high = self.limits(self.tau)
        who, own = self.annotator, self.beta[:, self.annotator]
        scale = np.sqrt(self.precision)[:, who]
        at = self.alpha[:, who] + own * self.u[:, self.item]
        response = at + truncated_normal(rng, low, high) / scale
        precision = self.weight * scale**2
        total = 1 + self.by_item(precision * own**2)
        centre = self.by_item(precision * own * (response - self.alpha[:, who])) / total
        self.u = centre + rng.standard_normal(centre.shape) / np.sqrt(total)
        u, w = self.u[:, self.item], self.weight
        moments = w, w * u, w * u**2, w * response, w * response * u, w * response**2
        sums = (self._by(who, values, self.n_people + 1) for values in moments)
        self.draw_people(rng, *sums)
        self.move_together(rng)

    def draw_people(self, rng: Rng, n: Floats, x: Floats, xx: Floats, z: Floats, xz: Floats, zz: Floats) -> None:
        """Draw line and precision of every annotator's responses from their sums, then the population."""
        (a_var, b_var), own = self.spread[..., None], slice(self.n_people)
        p = self.precision
        # Precision matrix of (intercept, slope) and its Cholesky root.
        a, b, d = p * n + 1 / a_var, p * x, p * xx + 1 / b_var
        one, two = p * z, p * xz + self.mu[:, None] / b_var
        det, root = a * d - b * b, np.sqrt(a)
        second = rng.standard_normal(p.shape) / np.sqrt(det / a)
        first = (rng.standard_normal(p.shape) - b / root * second) / root
        i, s = (d * one - b * two) / det + first, (a * two - b * one) / det + second
        residual = zz - 2 * i * z - 2 * s * xz + n * i * i + 2 * i * s * x + s * s * xx
        drawn = rng.standard_gamma(STRETCH + n / 2) / (STRETCH + np.maximum(residual, 0.0) / 2)
        self.alpha[:, own], self.beta[:, own], self.precision[:, own] = i[:, own], s[:, own], drawn[:, own]
        alpha, beta, mu = self.alpha[:, own], self.beta[:, own], self.mu[:, None]
        rate = SPREAD[1] + np.stack([(alpha**2).sum(axis=1), ((beta - mu) ** 2).sum(axis=1)]) / 2
        self.spread = rate / rng.standard_gamma(SPREAD[0] + self.n_people / 2, rate.shape)
        # The typical annotator's slope is mu itself.
        precision = 1.0 + self.n_people / self.spread[1] + xx[:, -1]
        centre, sd = (MU + beta.sum(axis=1) / self.spread[1] + xz[:, -1]) / precision, precision**-0.5
        self.mu = centre + sd * truncated_normal(rng, -centre / sd, np.full_like(sd, np.inf))
        self.beta[:, -1] = self.mu

    def threshold_density(self, tau: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the log density of thresholds given latent truths and annotators, its slope, and minus its curvature.

        Shapes (chain,), (chain, threshold), (chain, threshold, threshold).
        """
        (low, high), n = self.limits(tau), self.crowd.n_labels
        chance, scale = interval_chance(low, high), np.sqrt(self.precision)[:, self.annotator]
        value = (self.weight * np.log(np.maximum(chance, NO_CHANCE))).sum(axis=1)
        scale = self.weight * np.where(chance > NO_CHANCE, scale / np.maximum(chance, NO_CHANCE), 0.0)
        density = [scale * np.exp(-0.5 * end**2) / np.sqrt(2 * np.pi) for end in (low, high)]
        steep = np.sqrt(self.precision)[:, self.annotator]
        ends = [np.where(np.isfinite(end), end, 0.0) for end in (low, high)]
        below, above = density
        bends = below * (below - steep * ends[0]), above * (above + steep * ends[1]), below * above
        sums = [self._by(self.label, values, n) for values in (below, above, *bends)]
        prior = THRESHOLD_SD**-2
        slope = sums[1][:, :-1] - sums[0][:, 1:] - prior * tau
        curvature = np.zeros((self.chains, n - 1, n - 1))
        place = np.arange(n - 1)
        curvature[:, place, place] = sums[3][:, :-1] + sums[2][:, 1:] + prior
        curvature[:, place[1:], place[:-1]] = curvature[:, place[:-1], place[1:]] = -sums[4][:, 1:-1]
        return value - 0.5 * prior * (tau**2).sum(axis=1), slope, curvature

    def move_thresholds(self, rng: Rng, walk: bool) -> None:
        """Move the thresholds, responses integrated out, by one step of Newton's method with noise.

        Or by noise of the same shape alone (`walk`): around a label that nobody gave, thresholds press upon one
        another, and most of Newton's steps would cross them.
        """

        def proposal(slope: Floats, curvature: Floats) -> tuple[Floats, Floats]:
            if walk:
                slope, curvature = np.zeros_like(slope), curvature * slope.shape[1] / WALK**2
            return np.linalg.cholesky(curvature), np.linalg.solve(curvature, slope[..., None])

        def log_density(root: Floats, step: Floats, move: Floats) -> Floats:
            z = root.transpose(0, 2, 1) @ (move[..., None] - step)
            return np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1) - 0.5 * (z**2).sum(axis=(1, 2))

        now, *shape = self.threshold_density(self.tau)
        root, step = proposal(*shape)
        noise = rng.standard_normal((*self.tau.shape, 1))
        move = (step + np.linalg.solve(root.transpose(0, 2, 1), noise))[..., 0]
        tau = self.tau + move
        inside = (np.diff(tau, axis=1) > 0).all(axis=1)
        tau = np.where(inside[:, None], tau, self.tau)
        new, *shape = self.threshold_density(tau)
        gain = new - now + log_density(*proposal(*shape), -move) - log_density(root, step, move)
        kept = inside & (-rng.standard_exponential(self.chains) < gain)
        self.tau = np.where(kept[:, None], tau, self.tau)

    def gold_density(self, tau: Floats, mu: Floats) -> Floats:
        """Return the log probability of the gold labels, (chain,)."""
        (known, label), full = self.gold, with_ends(tau)
        at = mu[:, None] * self.u[:, known]
        chance = interval_chance(full[:, label] - at, full[:, label + 1] - at)
        return np.log(np.maximum(chance, NO_CHANCE)).sum(axis=1)

    def move_together(self, rng: Rng) -> None:
        """Shift thresholds and annotators together, rescale both, and rescale latent truths against them.

        The annotators' labels stay as probable as they were, so that only priors, the Jacobian and gold decide.
        """
        own, n_gold, chains, (a, b) = slice(self.n_people), self.gold[0].size, self.chains, self.spread
        alpha, beta, precision = self.alpha[:, own], self.beta[:, own], self.precision[:, own]
        total = self.n_people / a + self.tau.shape[1] / THRESHOLD_SD**2
        centre = -(alpha.sum(axis=1) / a + self.tau.sum(axis=1) / THRESHOLD_SD**2) / total
        known = self.gold_density(self.tau, self.mu)
        if n_gold:
            shift = rng.standard_normal(chains) / np.sqrt(total + n_gold)
            gain = (
                total * shift * (centre - 0.5 * shift)
                + self.gold_density(self.tau + shift[:, None], self.mu)
                - known
            )
            shift *= -rng.standard_exponential(chains) < gain
        else:  # a draw given all that it moves
            shift = centre + rng.standard_normal(chains) / np.sqrt(total)
        alpha += shift[:, None]
        self.tau = self.tau + shift[:, None]
        known = self.gold_density(self.tau, self.mu)
        # tau, alpha, beta and mu times g, s^2 over g^2.
        log_g = rng.standard_normal(chains) / np.sqrt(self.n_people + 1.0 + n_gold)
        g = np.exp(log_g)
        squares = (self.tau**2).sum(axis=1) / THRESHOLD_SD**2 + (alpha**2).sum(axis=1) / a
        apart = ((beta - self.mu[:, None]) ** 2).sum(axis=1) / b
        gain = (1 - g * g) * (squares + apart) / 2 + ((self.mu - MU) ** 2 - (g * self.mu - MU) ** 2) / 2
        gain += STRETCH * precision.sum(axis=1) * (1 - g**-2) - 2 * log_g * self.n_people * (STRETCH - 1)
        gain += log_g * (self.tau.shape[1] + 1) + self.gold_density(g[:, None] * self.tau, g * self.mu) - known
        g = np.where(-rng.standard_exponential(chains) < gain, g, 1.0)[:, None]
        self.tau = self.tau * g
        alpha *= g
        precision /= g * g
        self.mu = self.mu * g[:, 0]
        self.beta *= g
        # Latent truths times g, beta and mu over g.
        log_g = rng.standard_normal(chains) / np.sqrt(self.u.shape[1] + self.n_people + 1.0)
        g = np.exp(log_g)
        apart = ((self.beta[:, own] - self.mu[:, None]) ** 2).sum(axis=1) / b
        gain = (1 - g * g) * (self.u**2).sum(axis=1) / 2 + (1 - g**-2) * apart / 2
        gain += ((self.mu - MU) ** 2 - (self.mu / g - MU) ** 2) / 2 + log_g * (self.u.shape[1] - self.n_people - 1)
        g = np.where(-rng.standard_exponential(chains) < gain, g, 1.0)[:, None]
        self.u, self.beta, self.mu = self.u * g, self.beta / g, self.mu / g[:, 0]

    def plausibility(self, rng: Rng) -> Floats:
        """Return the shares of typical annotators who give each label."""
        shares = chances(self.tau, self.mu[:, None] * self.u, np.ones(1))
        self.prevalence = shares.mean(axis=1).T
        self.expected = shares.transpose(2, 0, 1)
        return self.expected

    def right(self, rng: Rng) -> Floats:
        """Return Pr(same label as a typical annotator)."""
        return np.diagonal(self.confusion(rng), axis1=2, axis2=3)

    def confusion(self, rng: Rng) -> Floats:
        """Return Pr(label | label of a typical annotator) on a random item."""
        own = slice(self.n_people)
        typical = chances(self.tau, self.mu[:, None] * NODES, np.ones(1)) * WEIGHTS[:, None]
        at = self.alpha[:, own, None] + self.beta[:, own, None] * NODES
        said = chances(self.tau[:, None], at, np.sqrt(self.precision)[:, own, None])
        found = np.einsum("cnk,cjnl->cjkl", typical, said) / typical.sum(axis=1)[:, None, :, None]
        always = np.flatnonzero(self.constant >= 0)
        found[:, always] = np.eye(self.crowd.n_labels)[self.constant[always], None]
        return found

    def hyperparameters(self) -> dict[str, Floats]:
        """Return thresholds, latent truths, and how each annotator uses the scale, NaN of those left out."""
        left_out = np.where(self.constant < 0, 1.0, np.nan)
        alpha, beta, precision = (
            one[:, : self.n_people] * left_out for one in (self.alpha, self.beta, self.precision)
        )
        stretch, latent = np.sqrt(precision), self.u.astype(np.float32)
        found = {"threshold": self.tau, "latent_truth": latent, "stretch": stretch}
        return found | {"discrimination": beta * stretch, "severity": -alpha * stretch}


def with_ends(tau: Floats) -> Floats:
    """Return thresholds with those below the first and above the last label."""
    end = np.full((*tau.shape[:-1], 1), np.inf)
    return np.concatenate([-end, tau, end], axis=-1)


def chances(tau: Floats, at: Floats, stretch: Floats) -> Floats:
    """Return the probability of each label, (..., place, label), of responses around `at` with sds 1 / `stretch`."""
    return np.diff(sp.special.ndtr((with_ends(tau)[..., None, :] - at[..., None]) * stretch[..., None]), axis=-1)


def interval_chance(low: Floats, high: Floats) -> Floats:
    """Return Phi(high) - Phi(low) to full precision in either tail."""
    upper = low > 0
    one, other = np.where(upper, -high, low), np.where(upper, -low, high)
    return sp.special.ndtr(other) - sp.special.ndtr(one)


def truncated_normal(rng: Rng, low: Floats, high: Floats) -> Floats:
    """Draw standard normal numbers between two ends, by the inverse of the distribution in its lower tail."""
    upper = low > 0
    one, other = np.where(upper, -high, low), np.where(upper, -low, high)
    start = sp.special.ndtr(one)
    drawn = sp.special.ndtri(start + rng.random(low.shape) * (sp.special.ndtr(other) - start))
    drawn = np.clip(np.where(np.isfinite(drawn), drawn, other), one, other)
    return np.where(upper, -drawn, drawn)
