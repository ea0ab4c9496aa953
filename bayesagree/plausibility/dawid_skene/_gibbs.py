"""Gibbs samplers of the items, for any model of the annotators, and how their chains are run and kept.

All chains move side by side. Arrays of items have shape (category, chain, item).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.inference.blocks import best_labels
from bayesagree.inference.kernel_draws import log_gammas
from bayesagree.plausibility._side_by_side import choose
from bayesagree.plausibility.dawid_skene._annotators import Annotators, Counts, Rows, concentration, exchange, mean
from bayesagree.plausibility.dawid_skene._crowd import Crowd
from bayesagree.plausibility.dawid_skene._latent import draw_latent, draw_truth
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

# Mixing weight of the conditional probabilities in a draw's plausibility; the drawn truth has the rest. The mean over
# draws is the posterior probability whatever the share; this one only orders the labels that were not drawn.
CONDITIONAL_SHARE = 2.0**-10
# Sweeps after which what annotators share is drawn: it costs as much as a sweep.
SHARED = 3


class CrowdSampler(ABC):
    """Chains of one variant.

    Attributes
    ----------
    prevalence
        Share of each label, (category, chain).
    expected
        Expectation of the plausibilities given the other unknowns, (category, chain, item).
    """

    crowd: Crowd
    prevalence: Floats
    expected: Floats

    @abstractmethod
    def sweep(self, rng: Rng) -> None:
        """Draw every unknown."""

    @abstractmethod
    def plausibility(self, rng: Rng) -> Floats:
        """Return the present draw of the plausibilities; bring `expected` up to date."""

    @abstractmethod
    def right(self, rng: Rng) -> Floats:
        """Return the chance of the right label, (chain, annotator, category)."""

    @abstractmethod
    def confusion(self, rng: Rng) -> Floats:
        """Return whole confusion matrices, (chain, annotator, category, observed category)."""

    def hyperparameters(self) -> dict[str, Floats]:
        """Return what items or annotators share, and parameters of items, (chain, ...)."""
        return {}


class LabelSampler(CrowdSampler):
    """Every annotation answers for a label: the true one of its item, or one of its own."""

    def __init__(self, crowd: Crowd, annotators: Annotators, prior: DawidSkenePrior, rng: Rng) -> None:
        self.crowd, self.annotators, self.prior = crowd, annotators, prior
        self.labels = np.arange(crowd.n_labels)[:, None, None]
        self.prevalence = np.full((crowd.n_labels, annotators.chains), 1 / crowd.n_labels)
        # Each item starts with a label drawn from its votes: chains start apart.
        self.truth = choose(rng, np.repeat(crowd.shares[:, None], annotators.chains, axis=1))
        self.exchangeable = bool((crowd.known < 0).all())
        self.counts, self.turn = np.empty(0), 0
        self.first = np.append(0, np.cumsum(crowd.sizes))

    def draw_shared(self, rng: Rng, labels: NDArray[Any]) -> NDArray[Any] | None:
        """Draw what annotators share, and names of the true labels; return `labels` (chain, ...) if any has a new name.

        Two names are exchanged with the density of the annotations: the rest of a sweep moves item by item, and cannot.
        """
        self.annotators.population(rng, self.counts)
        if not self.exchangeable:
            return None
        n, chains = self.prevalence.shape
        gain, (a, b) = self.annotators.gains(self.counts), rng.choice(n, 2, replace=False)
        log_odds = gain[a, :, b] + gain[b, :, a] - gain[a, :, a] - gain[b, :, b]
        chain = -rng.standard_exponential(chains) < log_odds
        if not chain.any():
            return None
        exchange(self.prevalence, chain, a, b)
        self.annotators.rename(chain, a, b)
        new = np.where(labels == a, b, np.where(labels == b, a, labels)).astype(labels.dtype)
        return np.where(chain[:, None], new, labels)

    def right(self, rng: Rng) -> Floats:
        """Return the chance of the right label."""
        return self.annotators.right(rng)

    def confusion(self, rng: Rng) -> Floats:
        """Return whole confusion matrices."""
        return self.annotators.matrices(rng)

    def hyperparameters(self) -> dict[str, Floats]:
        """Return what the annotators share."""
        return self.annotators.hyperparameters()


class OneTruth(LabelSampler):
    """One true label per item."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        known = self.crowd.known
        self.possible = np.where((known < 0) | (known == self.labels), 0.0, -np.inf)
        self.number = np.empty(0)
        self.count()

    def count(self) -> None:
        """Count annotations by true label and pair, and items by true label."""
        chosen = (self.truth == self.labels).astype(float)
        self.counts, self.number = self.crowd.pairs_of_items(chosen), chosen @ self.crowd.counted

    def draw_population(self, rng: Rng) -> None:
        """Draw names and the annotators' population, every `SHARED` sweeps, and prevalence given the truth."""
        self.turn += 1
        if self.turn % SHARED == 0 and (renamed := self.draw_shared(rng, self.truth)) is not None:
            self.truth = renamed
            self.count()
        self.prevalence = mean(rng, self.prior.prevalence, self.number, axis=0)

    def sweep(self, rng: Rng) -> None:
        """Draw names, the annotators' population and confusion, and prevalence given the truth, then the truth."""
        self.draw_population(rng)
        joint = self.crowd.items_of_pairs(self.annotators.draw(rng, self.counts))
        joint += np.log(self.prevalence)[..., None] + self.possible
        joint = np.exp(joint - joint.max(axis=0))
        self.expected = joint / joint.sum(axis=0)
        self.truth = choose(rng, joint)
        self.count()

    def plausibility(self, rng: Rng) -> Floats:
        """Nearly all on the drawn truth, the rest as the conditional probabilities have it."""
        return CONDITIONAL_SHARE * self.expected + (1 - CONDITIONAL_SHARE) * (self.truth == self.labels)


class OneTruthOfRows(OneTruth):
    """One true label per item, with the confusion rows of the annotators integrated out."""

    annotators: Rows

    def sweep(self, rng: Rng) -> None:
        """Draw names, the annotators' population and prevalence given the truth, then the truth."""
        self.draw_population(rng)
        crowd, own = self.crowd, self.annotators
        ours = self.counts, crowd.by_annotator(self.counts), own.shape
        counts, rows, shape = (np.ascontiguousarray(one.transpose(1, 2, 0)) for one in ours)
        given = self.first, crowd.pair, crowd.annotator, np.log(self.prevalence.T), shape, own.kappa.T, crowd.known
        expected = np.empty((*self.truth.shape, crowd.n_labels))
        draw_truth(rng.random(self.truth.shape), *given, self.truth, counts, rows, expected)
        self.counts, self.expected = counts.transpose(2, 0, 1), expected.transpose(2, 0, 1)
        self.number = (self.truth == self.labels).astype(float) @ crowd.counted

    def plausibility(self, rng: Rng) -> Floats:
        """Draw the confusion beside the plausibilities."""
        self.annotators.draw(rng, self.counts)
        return super().plausibility(rng)


class VotesOnly(OneTruth):
    """Plausibilities ~ Dirichlet(votes + 1/K), as `dirichlet`; annotators are compared with a truth drawn from them.

    What is learnt about annotators does not change the truth.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        shape = self.crowd.shares * self.crowd.sizes + 1 / self.crowd.n_labels
        self.shape = np.repeat(shape[:, None], self.annotators.chains, axis=1)
        self.expected, self.drawn = self.shape / self.shape.sum(axis=0), np.empty(0)

    def sweep(self, rng: Rng) -> None:
        """Draw plausibilities, a true label of each item, prevalence and confusion; draws are independent."""
        self.drawn = mean(rng, self.shape, 0.0, axis=0)  # type: ignore[arg-type]
        self.truth = choose(rng, self.drawn)
        self.count()
        self.prevalence = mean(rng, self.prior.prevalence, self.number, axis=0)
        self.annotators.draw(rng, self.counts)

    def plausibility(self, rng: Rng) -> Floats:
        """Return the drawn plausibilities."""
        return self.drawn


class Mixed(LabelSampler):
    """Items of mixed membership: each annotation answers for a latent label c ~ lambda_i of its own.

        lambda_i ~ Dirichlet(alpha prevalence)      alpha -> 0: one truth per item, Dawid-Skene

    lambda is integrated out. The prevalence depends on the latent labels through how many of them are new draws from
    it (Antoniak 1974). A gold label is an expert's: one more draw from lambda_i, given without error. It teaches the
    annotators' confusion and makes the label plausible; it does not make an ambiguous item certain.

    `held` are annotations that a chain does not see, (chain, annotation).
    """

    def __init__(
        self,
        crowd: Crowd,
        annotators: Annotators,
        prior: DawidSkenePrior,
        rng: Rng,
        held: NDArray[np.bool_] | None = None,
    ) -> None:
        super().__init__(crowd, annotators, prior, rng)
        chains = annotators.chains
        # All annotations of an item start with one latent label, as under Dawid-Skene.
        self.choice = np.ascontiguousarray(self.truth[:, crowd.item])
        if held is not None:
            self.choice[held] = -1
        self.alpha = np.full(chains, prior.ambiguity)
        self.of_pair = self.of_item = self.n = np.empty(0)
        self.count()
        sizes = self.of_item.sum(axis=2).ravel()
        self.most = int(sizes.max())
        self.sizes = Counts.of(np.repeat(np.arange(chains), crowd.n_items), sizes, chains)

    def count(self) -> None:
        """Count annotations by latent label and pair, and by latent label and item, (chain, place, category)."""
        (n, chains), crowd = self.prevalence.shape, self.crowd

        def number(place: NDArray[np.int64], size: int) -> Floats:
            code = (np.arange(chains)[:, None] * size + place) * (n + 1) + self.choice + 1
            found = np.bincount(code.ravel(), minlength=chains * size * (n + 1)).reshape(chains, size, n + 1)
            return np.array(found[..., 1:], dtype=float, order="C")

        self.of_pair = number(crowd.pair, crowd.label.size)
        self.of_item = number(crowd.item, crowd.n_items) + (crowd.known[:, None] == np.arange(n))
        self.counts, self.n = (one.transpose(2, 0, 1) for one in (self.of_pair, self.of_item))

    def sweep(self, rng: Rng) -> None:
        """Draw names, hyperparameters and confusion given the latent labels, then these."""
        self.turn += 1
        if self.turn % SHARED == 0 and (renamed := self.draw_shared(rng, self.choice)) is not None:
            self.choice = renamed
            self.count()
        self.draw_prevalence(rng)
        crowd, shape = self.crowd, self.alpha[:, None] * self.prevalence.T
        log_chance = np.ascontiguousarray(self.annotators.draw(rng, self.counts).transpose(1, 2, 0))
        uniform = rng.random((len(shape), crowd.item.size + 2 * crowd.n_items))
        steps = np.log(shape[..., None] + np.arange(self.most))
        rising = np.concatenate([np.zeros_like(steps[..., :1]), np.cumsum(steps, axis=2)], axis=2)
        chances = log_chance, np.exp(log_chance), shape, rising
        draw_latent(uniform, self.first, crowd.pair, *chances, crowd.known, self.choice, self.of_item, self.of_pair)

    def draw_prevalence(self, rng: Rng) -> None:
        """Draw alpha by slice sampling, then the prevalence given the latent labels that are new draws from it."""
        (n, chains), prior, share = self.prevalence.shape, self.prior, self.prevalence.T
        given = Counts.of(
            np.tile(np.arange(n * chains).reshape(chains, 1, n), (1, self.crowd.n_items, 1)).ravel(),
            self.of_item.ravel(),
            n * chains,
        )
        self.alpha = concentration(rng, self.alpha, share, given, self.sizes, (prior.ambiguity, prior.ambiguity_sd))
        self.prevalence = mean(rng, prior.prevalence, given.new(rng, self.alpha[:, None] * share).T, axis=0)

    def plausibility(self, rng: Rng) -> Floats:
        """Draw lambda of each item."""
        shape = self.n + (self.alpha * self.prevalence)[..., None]
        self.expected = shape / shape.sum(axis=0)
        drawn = log_gammas(rng, shape)
        drawn = np.exp(drawn - drawn.max(axis=0))
        return drawn / drawn.sum(axis=0)

    def hyperparameters(self) -> dict[str, Floats]:
        """Return alpha and what the annotators share."""
        return {"ambiguity": self.alpha} | super().hyperparameters()


class Chains:
    """Kept draws of all chains.

    Attributes
    ----------
    variables
        Draws by their name in the result, (chain, draw, ...).
    expected, spread
        Mean and variance over draws of the conditional expectations, (category, chain, item).
    monitored
        Conditional expectations of the label with most votes of a few items, (chain, draw, item).
    """

    def __init__(self, sampler: CrowdSampler, draws: int, items: NDArray[np.int64]) -> None:
        self.draws, self.variables, self.items = draws, {}, items
        self.best = sampler.crowd.shares[:, items].argmax(axis=0)
        shape = sampler.crowd.n_labels, sampler.prevalence.shape[1], sampler.crowd.n_items
        self.expected, self.spread = np.zeros(shape), np.zeros(shape)
        self.monitored = np.empty((shape[1], draws, items.size))

    def add(self, draw: int, expected: Floats, values: dict[str, NDArray[Any]]) -> None:
        """Add one draw of each chain."""
        self.expected += expected / self.draws
        self.spread += expected**2 / self.draws
        self.monitored[:, draw] = expected[self.best, :, self.items].T
        for name, value in values.items():
            if draw == 0:
                self.variables[name] = np.empty((len(value), self.draws, *value.shape[1:]), value.dtype)
            self.variables[name][:, draw] = value


def run_chains(
    sampler: CrowdSampler,
    rng: Rng,
    items: NDArray[np.int64],
    *,
    tune: int,
    draws: int,
    thin: int = 1,
    top_labels: int | None = None,
    confusion: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Chains:
    """Run the chains and keep plausibilities or the best labels, accuracies or confusion, and hyperparameters."""
    kept, apart = Chains(sampler, draws, items), rng.spawn(1)[0]  # what is kept does not change the draws
    for _ in range(tune):
        sampler.sweep(rng)
    for draw in range(draws):
        for _ in range(thin):
            sampler.sweep(rng)
        drawn = sampler.plausibility(rng).transpose(1, 2, 0)
        values: dict[str, Any] = (
            {"top_label": best_labels(drawn, top_labels)} if top_labels else {"plausibility": drawn}
        )
        values["prevalence"] = sampler.prevalence.T
        if confusion:
            matrices = sampler.confusion(apart)
            right, values["confusion"] = np.diagonal(matrices, axis1=2, axis2=3), matrices.astype(np.float32)
        else:
            right = sampler.right(apart)
        values["accuracy"] = np.einsum("cjk,kc->cj", right, sampler.prevalence)
        kept.add(draw, sampler.expected, values | sampler.hyperparameters())
        if progress is not None:
            progress(len(drawn))
    kept.spread = np.maximum(kept.spread - kept.expected**2, 0.0)
    return kept
