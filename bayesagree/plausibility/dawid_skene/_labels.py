"""Likelihoods of labels by name: each annotation answers for a latent label, the item's own or one of its own."""

from copy import copy
from typing import Any

import numpy as np
import scipy as sp

from bayesagree._types import Booleans, Floats, Rng
from bayesagree.inference.cells import cell_sums, row_shares
from bayesagree.inference.kernel_draws import categories, log_dirichlets
from bayesagree.plausibility._side_by_side import mean
from bayesagree.plausibility.dawid_skene._crowd import Crowd, Rows, Sampler, Variant
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

# Mixing weight of the conditional probabilities in a draw's plausibility; the drawn truth has the rest. The mean over
# draws is the posterior probability whatever the share; this one only orders the labels that were not drawn.
CONDITIONAL_SHARE = 2.0**-10
# Sweeps after which what annotators share is drawn, names are exchanged, and equal labels of mixed membership move
# together: each costs as much as a sweep.
SHARED, NAMES, TOGETHER = 3, 9, 2


class LabelSampler(Sampler):
    """Items of one true label, or of mixed membership: each annotation answers for a latent label c of its own.

        c ~ lambda_i,    lambda_i ~ Dirichlet(alpha prevalence)      alpha -> 0: one truth per item, Dawid-Skene

    lambda and the annotators' rows are integrated out. The prevalence depends on the latent labels through how many of
    them are new draws from it (Antoniak 1974): of one truth, one per item. A gold label of mixed membership is an
    expert's: one more draw from lambda_i, given without error. It teaches the annotators' confusion and makes the label
    plausible; it does not make an ambiguous item certain.

    `held` are annotations that a chain does not see, (chain, annotation).
    """

    def __init__(
        self,
        variant: Variant,
        crowd: Crowd,
        prior: DawidSkenePrior,
        chains: int,
        rng: Rng,
        held: Booleans | None = None,
    ) -> None:
        self.variant, self.crowd, self.prior, self.turn = variant, crowd, prior, 0
        self.thin = 2 if variant.learnt else 1
        self.rows = Rows.of(variant, crowd.n_labels, prior)
        total = self.rows.base.sum(axis=1)
        self.kappa = np.tile(total * 0 + prior.concentration if variant.learnt else total, (chains, 1))
        self.phi = np.tile(self.rows.base / total[:, None], (chains, 1, 1))
        self.alpha = np.full(chains, prior.ambiguity)
        self.prevalence = np.full((chains, crowd.n_labels), 1 / crowd.n_labels)
        self.start, self.most = np.append(0, np.cumsum(crowd.sizes)), crowd.sizes.max()
        self.cell = np.ascontiguousarray((self.rows.row[:, None] * self.rows.share.size + self.rows.column).T)
        self.step = np.tile(self.rows.share, len(self.rows.base))
        # All annotations of an item start with one label, drawn from its votes: chains start apart.
        truth = categories(rng, np.broadcast_to(crowd.shares, (chains, *crowd.shares.shape)))
        self.choice = truth[:, crowd.item]
        if held is not None:
            self.choice[held] = -1
        self.count()
        self.expected = self.n / np.maximum(self.n.sum(axis=2, keepdims=True), 1)

    def count(self) -> None:
        """Count annotations by latent label: those of each item, `n`, and the answers of each annotator."""
        crowd, (chain, seen) = self.crowd, np.nonzero(self.choice >= 0)
        latent, answer = self.choice[chain, seen], crowd.label[seen]
        shape = len(self.choice), crowd.n_items, crowd.n_labels
        self.n: Any = cell_sums(shape, chain, crowd.item[seen], latent) + crowd.gold.astype(float)
        place = chain, crowd.annotator[seen], self.rows.row[latent], self.rows.column[latent, answer]
        self.counts: Any = 1.0 * cell_sums(
            (len(self.choice), crowd.n_annotators, *self.rows.base.shape), *place
        )
        self.sums = self.counts.sum(axis=3)

    @property
    def shape(self) -> Floats:
        """Prior counts of every annotator's rows, (chain, row, column)."""
        return self.kappa[..., None] * self.phi

    def sweep(self, rng: Rng) -> None:
        """Draw what the annotators share, names, and the prevalence, then the latent labels."""
        self.turn += 1
        if self.variant.learnt and self.turn % SHARED == 0:
            self.draw_population(rng)
        if self.turn % NAMES == 0 and not self.crowd.gold.any():
            self.exchange_names(rng)
        self.draw_prevalence(rng)
        crowd, rows, chains = self.crowd, self.rows, len(self.choice)
        urn = self.alpha[:, None] * self.prevalence
        together = not self.variant.mixed or self.turn % TOGETHER == 0
        head = np.repeat(self.prevalence[..., None], self.most, axis=2)
        if self.variant.mixed and together:
            rising = np.cumsum(np.log(urn[..., None] + np.arange(self.most)), axis=2)
            head = np.exp(rising - rising.max(axis=1, keepdims=True))
        # numba is loaded by who draws alone.
        from bayesagree.plausibility.dawid_skene._latent import draw_latent

        of_votes = rng.random((chains, crowd.item.size * self.variant.mixed))
        of_items = rng.random((chains, crowd.n_items * together, 2))
        shape, inverse = self.shape[:, None], 1 / (self.kappa[:, None] + self.sums)
        answers = ((shape + self.counts) * rows.share).reshape(chains, crowd.n_annotators, -1)
        given = self.start, crowd.annotator, crowd.label, self.cell, rows.row, self.step, urn, head, crowd.known
        draw_latent(of_votes, of_items, *given, self.choice, self.n, answers, inverse, self.expected)
        self.counts = np.rint(answers.reshape(self.counts.shape) / rows.share - shape)
        self.sums = self.counts.sum(axis=3)

    def draw_prevalence(self, rng: Rng) -> None:
        """Draw alpha, then the prevalence given the latent labels that are new draws from it."""
        new = (self.n > 0).sum(axis=1)
        if self.variant.mixed:
            x, share, prior = self.alpha[:, None], self.prevalence[:, None], self.prior
            new = draw_shared(rng, self.n[:, :, None], x, share, prior.ambiguity, prior.ambiguity_sd)[:, 0]
        self.prevalence = mean(rng, self.prior.prevalence + new)

    def draw_population(self, rng: Rng) -> None:
        """Draw concentrations and mean rows of the annotators."""
        prior = self.prior.concentration, self.prior.concentration_sd
        self.phi = mean(rng, self.rows.base + draw_shared(rng, self.counts, self.kappa, self.phi, *prior))

    def exchange_names(self, rng: Rng) -> None:
        """Exchange the names of two labels: the rest of a sweep moves item by item, and cannot."""
        other, name = copy(self), np.arange(self.crowd.n_labels)
        a, b = rng.choice(name, 2, replace=False)
        name[[a, b]] = b, a
        other.choice = np.where(self.choice < 0, -1, name[self.choice])
        other.prevalence = self.prevalence[:, name]
        if self.variant.learnt and len(self.rows.base) > 1:
            other.kappa, other.phi = self.kappa[:, name], self.phi[:, name]
        other.count()
        gain = other.log_density() - self.log_density()
        taken = np.flatnonzero(-rng.standard_exponential(gain.size) < gain)
        for of in ("choice", "kappa", "phi", "prevalence", "n", "counts", "sums"):
            getattr(self, of)[taken] = getattr(other, of)[taken]

    def log_density(self) -> Floats:
        """Return the log density of what annotators say, and of their mean if it is learnt, (chain,)."""
        shape, total, gammaln = self.shape[:, None], self.kappa[:, None], sp.special.gammaln
        value = gammaln(shape + self.counts) - gammaln(shape) + self.counts * np.log(self.rows.share)
        whole = gammaln(total) - gammaln(total + self.sums)
        of_mean = ((self.rows.base - 1) * np.log(self.phi)).sum(axis=(1, 2))
        return value.sum(axis=(1, 2, 3)) + whole.sum(axis=(1, 2)) + of_mean * self.variant.learnt

    def plausibility(self, rng: Rng) -> Floats:
        """Draw lambda of each item; of one truth nearly all is on the truth, the rest by conditional probabilities."""
        if self.variant.mixed:
            shape = self.n + (self.alpha[:, None] * self.prevalence)[:, None]
            self.expected = row_shares(shape)
            return np.exp(log_dirichlets(rng, shape))
        without = ~self.n.any(axis=(0, 2))
        self.expected[:, without] = self.prevalence[:, None]
        truth = self.n.argmax(axis=2)
        truth[:, without] = categories(rng, self.expected[:, without])
        drawn = truth[..., None] == np.arange(self.crowd.n_labels)
        return drawn + CONDITIONAL_SHARE * (self.expected - drawn)

    def confusion(self, rng: Rng) -> Floats:
        """Draw whole confusion matrices given the latent labels."""
        return self.rows.matrices(np.exp(log_dirichlets(rng, self.shape[:, None] + self.counts)))

    def right(self, rng: Rng) -> Floats:
        """Draw the chances of the right label given the latent labels."""
        rows = self.rows.row[: len(self.rows.base)]
        shape = self.shape[:, None] + self.counts
        own = np.diagonal(self.rows.column)[: rows.size]
        hits = shape[..., rows, own]
        misses = np.maximum(shape.sum(axis=3) - hits, 1e-12)
        return rng.beta(np.maximum(hits, 1e-12), misses)[..., self.rows.row]

    def hyperparameters(self) -> dict[str, Floats]:
        """Return alpha, and concentrations and mean rows of learnt confusion matrices."""
        found = {"ambiguity": self.alpha} if self.variant.mixed else {}
        matrices = self.variant.learnt and self.variant.annotator == "matrix"
        return found | ({"concentration": self.kappa, "crowd_confusion": self.phi} if matrices else {})


class VotesSampler(LabelSampler):
    """Plausibilities ~ Dirichlet(votes + 1/K), as `dirichlet`; annotators are compared with a truth drawn from them.

    What is learnt about annotators does not change the truth.
    """

    tune = 0

    def sweep(self, rng: Rng) -> None:
        """Draw plausibilities, a true label of each item, and prevalence; draws are independent."""
        shape = self.crowd.shares * self.crowd.sizes[:, None] + 1 / self.crowd.n_labels
        self.expected = np.tile(row_shares(shape), (len(self.choice), 1, 1))
        self.drawn = mean(rng, np.broadcast_to(shape, self.expected.shape))
        self.choice = categories(rng, self.drawn)[:, self.crowd.item]
        self.count()
        self.prevalence = mean(rng, self.prior.prevalence + (self.n > 0).sum(axis=1))

    def plausibility(self, rng: Rng) -> Floats:
        """Return the drawn plausibilities."""
        return self.drawn


def draw_shared(rng: Rng, counts: Floats, x: Floats, share: Floats, centre: float, sd: float) -> Floats:
    """Draw concentrations x in place, log x ~ N(log centre, sd); return how many draws are new, (chain, row, column).

    They are those of Dirichlet vectors of mean `share`, integrated out: `counts` (chain, vector, row, column).
    """
    from bayesagree.plausibility.dawid_skene._latent import draw_concentration

    sizes, new, prior = counts.sum(axis=3), np.zeros(share.shape), (np.log(centre), sd**-2.0)
    above = np.zeros((share.shape[2] + 1, int(sizes.max()) + 1))
    most = int(sizes.sum(axis=(1, 2)).max())
    of_slices, of_counts = rng.random((*x.shape, 60)), rng.random((len(x), most))
    draw_concentration(counts, x, share, prior, above, of_slices, of_counts, new)
    return new
