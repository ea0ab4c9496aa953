"""What an annotator is: his confusion drawn given how often he gave each label to items of each true label.

Arrays of pairs have shape (category, chain, pair), the true label first; `counts` are annotations by true label and
pair.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.inference.kernel_draws import log_gammas
from bayesagree.inference.multisets import distinct
from bayesagree.plausibility._side_by_side import slice_step
from bayesagree.plausibility.dawid_skene._crowd import Crowd
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

# Width of the slices of log concentrations.
WIDTH = 0.8
# A table of counts may have so many entries for each count.
SPARSE = 4
# Least shape, of labels never given where all were; least logarithm of a mean that is drawn.
NOTHING, LEAST = 1e-12, -300.0


class Annotators(ABC):
    """Annotators of all chains."""

    def __init__(self, crowd: Crowd, prior: DawidSkenePrior, chains: int) -> None:
        self.crowd, self.prior, self.chains = crowd, prior, chains
        self.of_kappa = prior.concentration, prior.concentration_sd

    @abstractmethod
    def draw(self, rng: Rng, counts: Floats) -> Floats:
        """Draw the confusion; return the log chance of each pair."""

    @abstractmethod
    def right(self, rng: Rng) -> Floats:
        """Return the chance of the right label, (chain, annotator, category)."""

    @abstractmethod
    def matrices(self, rng: Rng) -> Floats:
        """Return whole confusion matrices, (chain, annotator, category, observed category)."""

    def population(self, rng: Rng, counts: Floats) -> None:
        """Draw what the annotators have in common, with their own confusion integrated out."""
        return

    @abstractmethod
    def gains(self, counts: Floats) -> Floats:
        """Log density of the annotations of true label k under the name n, up to a constant, (k, chain, n)."""

    def rename(self, chain: NDArray[np.bool_], a: int, b: int) -> None:
        """Exchange the names of two labels in some chains."""
        return

    def hyperparameters(self) -> dict[str, Floats]:
        """Return what the annotators have in common, (chain, ...)."""
        return {}

    def by_label(self, values: Floats) -> Floats:
        """Add up values of pairs by their label, (category, chain, observed category)."""
        flat = self.crowd.of_label @ values.reshape(-1, self.crowd.label.size).T
        return flat.T.reshape(*values.shape[:2], -1)


class Rows(Annotators):
    """Row k of an annotator ~ Dirichlet(kappa_k phi_k); kappa and phi are the prior's, or learnt."""

    def __init__(self, crowd: Crowd, prior: DawidSkenePrior, chains: int, *, learnt: bool = False) -> None:
        super().__init__(crowd, prior, chains)
        self.base, self.learnt = prior.confusion(crowd.n_labels), learnt
        total = self.base.sum(axis=1)
        kappa = np.full(crowd.n_labels, prior.concentration) if learnt else total
        self.kappa = np.repeat(kappa[:, None], chains, axis=1)
        self.phi = np.repeat((self.base / total[:, None])[:, None], chains, axis=1)
        self.shape, self.log_chance = np.empty(0), np.empty(0)
        self._spread()

    def _spread(self) -> None:
        """Compute the prior shapes of all pairs."""
        whole = self.kappa[..., None] * self.phi
        self.shape = np.take(np.append(whole, np.zeros_like(whole[..., :1]), axis=2), self.crowd.label, axis=2)
        seen = self.crowd.by_annotator(self.shape)
        self.shape[..., self.crowd.rest] = np.maximum(self.kappa[..., None] - seen, NOTHING)

    def draw(self, rng: Rng, counts: Floats) -> Floats:
        """Draw the rows."""
        crowd, drawn = self.crowd, log_gammas(rng, self.shape + counts)
        drawn -= crowd.by_annotator(drawn, np.maximum)[..., crowd.annotator]
        self.log_chance = drawn - np.log(crowd.by_annotator(np.exp(drawn)))[..., crowd.annotator]
        return self.log_chance

    def population(self, rng: Rng, counts: Floats) -> None:
        """Draw concentrations and mean rows."""
        if not self.learnt:
            return
        crowd, (n, chains) = self.crowd, self.kappa.shape
        row, seen = np.arange(n * chains), np.flatnonzero(~crowd.rest)
        place = (row[:, None] * n + crowd.label[seen]).ravel()
        given = Counts.of(place, counts[..., seen].ravel(), n * n * chains)
        of_rows = np.repeat(row, crowd.n_annotators), crowd.by_annotator(counts).ravel()
        self.kappa = concentration(rng, self.kappa, self.phi, given, Counts.of(*of_rows, row.size), self.of_kappa)
        self.phi = mean(rng, self.base[:, None], given.new(rng, self.kappa[..., None] * self.phi), axis=2)
        self._spread()

    def gains(self, counts: Floats) -> Floats:
        """Where phi is learnt it takes the new name along; else each row keeps its counts under another prior."""
        right, wrong = self.base[0, 0], self.base[0, 1]
        if self.learnt:
            return (right - wrong) * np.log(self.phi)
        steps = np.arange(int(counts.max()) + 1)
        gain = sp.special.gammaln(right + steps) - sp.special.gammaln(wrong + steps)
        return self.by_label((gain - gain[0])[counts.astype(np.int64)])

    def rename(self, chain: NDArray[np.bool_], a: int, b: int) -> None:
        """Exchange two names."""
        if self.learnt:
            exchange(self.kappa, chain, a, b)
            exchange(self.phi, chain, a, b)
            self._spread()

    def right(self, rng: Rng) -> Floats:
        """Return the diagonal; where an annotator never gave the right label, a draw from the rest of the row."""
        crowd, truth = self.crowd, np.arange(self.crowd.n_labels)
        own, rest = np.flatnonzero(~crowd.rest), crowd.rest
        known = np.full((crowd.n_labels, self.chains, crowd.n_annotators), -1.0)
        known[crowd.label[own], :, crowd.annotator[own]] = np.exp(self.log_chance[crowd.label[own], :, own])
        part, shape = (self.kappa * self.phi[truth, :, truth])[..., None], self.shape[..., rest]
        share = rng.beta(np.minimum(part, shape), np.maximum(shape - part, NOTHING))
        return np.where(known < 0, np.exp(self.log_chance[..., rest]) * share, known).transpose(1, 2, 0)

    def matrices(self, rng: Rng) -> Floats:
        """Return whole matrices; labels never given share the rest of the row."""
        crowd, given = self.crowd, ~self.crowd.rest
        whole = (self.kappa[..., None] * self.phi)[:, :, None]
        part = log_gammas(rng, np.repeat(whole, crowd.n_annotators, axis=2))
        part[:, :, crowd.annotator[given], crowd.label[given]] = -np.inf
        part = np.exp(part - np.maximum(part.max(axis=3, keepdims=True), -1e300))
        rest = np.exp(self.log_chance[..., crowd.rest]) / np.maximum(part.sum(axis=3), 1e-300)
        part *= rest[..., None]
        part[:, :, crowd.annotator[given], crowd.label[given]] = np.exp(self.log_chance[..., given])
        return part.transpose(1, 2, 0, 3)

    def hyperparameters(self) -> dict[str, Floats]:
        """Return concentration and mean row of the population, where they are learnt."""
        learnt = {"concentration": self.kappa.T, "crowd_confusion": self.phi.transpose(1, 0, 2)}
        return learnt if self.learnt else {}


class Accuracies(Annotators):
    """One accuracy per annotator, or per annotator and true label; wrong answers are uniform.

    Accuracies ~ Beta(kappa m, kappa (1 - m)); kappa and m are the prior's, or learnt.
    """

    def __init__(
        self, crowd: Crowd, prior: DawidSkenePrior, chains: int, *, one_coin: bool, learnt: bool = False
    ) -> None:
        super().__init__(crowd, prior, chains)
        self.one_coin, self.learnt, self.wrong_labels = one_coin, learnt, max(crowd.n_labels - 1, 1)
        self.base = np.array([[prior.strength * prior.accuracy], [prior.strength * (1 - prior.accuracy)]])
        self.kappa = np.full(chains, prior.concentration if learnt else prior.strength)
        self.share = np.repeat(self.base / prior.strength, chains, axis=1)
        self.accuracy = np.empty(0)

    @property
    def shapes(self) -> Floats:
        """Prior counts of right and wrong answers, (2, chain, 1)."""
        return (self.kappa * self.share)[..., None]

    def hits(self, counts: Floats) -> tuple[Floats, Floats]:
        """Count right answers and all, (category, chain, annotator); of one coin those to all labels."""
        right, total = (self.crowd.by_annotator(n) for n in (counts * self.crowd.right, counts))
        return (right.sum(axis=0)[None], total.sum(axis=0)[None]) if self.one_coin else (right, total)

    def draw(self, rng: Rng, counts: Floats) -> Floats:
        """Draw the accuracies."""
        right, total = self.hits(counts)
        self.accuracy = rng.beta(self.shapes[0] + right, self.shapes[1] + total - right)
        chance = self.accuracy[..., self.crowd.annotator]
        return np.log(np.maximum(np.where(self.crowd.right, chance, (1 - chance) / self.wrong_labels), 1e-300))

    def population(self, rng: Rng, counts: Floats) -> None:
        """Draw concentration and mean of the accuracies."""
        if not self.learnt:
            return
        (right, total), chain = self.hits(counts), np.arange(self.chains)
        number = np.stack([right[0], total[0] - right[0]], axis=1)
        given = Counts.of(np.repeat(np.arange(2 * chain.size), number.shape[2]), number.ravel(), 2 * chain.size)
        sizes = Counts.of(np.repeat(chain, number.shape[2]), total.ravel(), chain.size)
        self.kappa = concentration(rng, self.kappa, self.share.T, given, sizes, self.of_kappa)
        new = given.new(rng, self.kappa[:, None] * self.share.T).T
        self.share = mean(rng, self.base, new, axis=0)

    def gains(self, counts: Floats) -> Floats:
        """One accuracy for all labels: only with two labels do other names suit the same answers."""
        (right, total), n = self.hits(counts), self.crowd.n_labels
        if self.one_coin:
            gain = np.full((n, self.chains, n), -np.inf)
            gain[np.arange(n), :, np.arange(n)] = 0.0
            if n == 2:
                gain[1, :, 0] = 0.0
                gain[0, :, 1] = (self._density(total - right, total) - self._density(right, total))[0].sum(axis=1)
            return gain
        each = total[..., self.crowd.annotator]
        return self.by_label(self._density(counts, each) - self._density(np.zeros_like(each), each))

    def _density(self, right: Floats, total: Floats) -> Floats:
        wrong = total - right
        return sp.special.betaln(self.shapes[0] + right, self.shapes[1] + wrong) - wrong * np.log(self.wrong_labels)

    def right(self, rng: Rng) -> Floats:
        """Return the accuracies."""
        whole = np.broadcast_to(self.accuracy, (self.crowd.n_labels, *self.accuracy.shape[1:]))
        return whole.transpose(1, 2, 0)

    def matrices(self, rng: Rng) -> Floats:
        """Return whole matrices."""
        right = self.right(rng)[..., None]
        return np.where(np.eye(self.crowd.n_labels, dtype=bool), right, (1 - right) / self.wrong_labels)


class Counts(NamedTuple):
    """Numbers of draws: `times` vectors had more than `r` draws of the place `at` of an array of shares."""

    at: NDArray[np.int64]
    r: NDArray[np.int64]
    times: NDArray[np.int64]

    @classmethod
    def of(cls, at: NDArray[np.int64], n: NDArray[Any], places: int) -> "Counts":
        """Count from the number n of draws of each vector at a place."""
        some = np.flatnonzero(n)
        n, most, at = n[some].astype(np.int64), int(n.max(initial=0)), at[some]
        known, place = (np.arange(places), at) if places * most < SPARSE * at.size else distinct(at, places)
        number = np.bincount(place * most + n - 1, minlength=known.size * most).reshape(known.size, most)
        above = np.cumsum(number[:, ::-1], axis=1)[:, ::-1]
        row, r = np.nonzero(above)
        return cls(known[row], r, above[row, r])

    def new(self, rng: Rng, shape: Floats) -> Floats:
        """Draw how many draws of each place are new ones from the mean, given shapes a (Antoniak 1974).

        For each vector a sum of Bernoulli(a / (a + r)), r = 0, ..., n - 1.
        """
        a = shape.ravel()[self.at]
        drawn = rng.binomial(self.times, a / (a + self.r))
        return np.bincount(self.at, drawn, shape.size).reshape(shape.shape)

    def log_density(self, shape: Floats, group: NDArray[np.int64], n_groups: int) -> Floats:
        """Return the log of a (a + 1) ... (a + n - 1) of all vectors, added up by the group of each place."""
        return np.bincount(group[self.at], self.times * np.log(shape.ravel()[self.at] + self.r), n_groups)


def concentration(
    rng: Rng, now: Floats, share: Floats, given: Counts, sizes: Counts, prior: tuple[float, float]
) -> Floats:
    """Draw concentrations x of Dirichlet vectors of known mean by slice sampling, log x ~ N(log centre, sd).

    The vectors are integrated out: `given` are their draws, `sizes` how many each has. `share` has one axis more.
    """
    same, group = np.arange(now.size), np.repeat(np.arange(now.size), share.shape[-1])

    def density(u: Floats) -> Floats:
        x = np.exp(u)
        value = given.log_density(x[:, None] * share.reshape(now.size, -1), group, now.size)
        return value - sizes.log_density(x, same, now.size) - 0.5 * ((u - np.log(prior[0])) / prior[1]) ** 2

    return np.exp(slice_step(rng, density, np.log(now.ravel()), WIDTH)).reshape(now.shape)


def mean(rng: Rng, prior: Any, new: Floats, axis: int) -> Floats:
    """Draw the mean of Dirichlet vectors given its prior shapes and how many draws were new ones from it."""
    drawn = log_gammas(rng, prior + new)
    drawn -= np.logaddexp.reduce(drawn, axis=axis, keepdims=True)
    return np.exp(np.maximum(drawn, LEAST))


def exchange(values: NDArray[Any], chain: NDArray[np.bool_], a: int, b: int) -> None:
    """Exchange two labels along the first axis, in some chains, the second axis."""
    values[a, chain], values[b, chain] = values[b, chain], values[a, chain].copy()
