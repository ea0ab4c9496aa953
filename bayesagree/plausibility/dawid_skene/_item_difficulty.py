"""Gibbs sampler of Dawid-Skene with item difficulty: logit Pr(right) = ability_j - difficulty_i.

Wrong labels are uniform over the other labels. The conditional density of one ability or one difficulty is a product
of logistic terms and a normal prior, hence log-concave: slice sampling needs no tuning and rejects little.

Source: Whitehill et al., "Whose vote should count more", NIPS 2009 (GLAD); Paun et al., TACL 6 (2018), section 4.3.
"""

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.draws import slice_step
from bayesagree._numerics.types import Floats, Rng
from bayesagree.plausibility.dawid_skene._confusion import write_accuracies
from bayesagree.plausibility.dawid_skene._gibbs import Start, TruthSampler
from bayesagree.plausibility.dawid_skene._gibbs_kernels import count_truth, draw_candidate
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior


class ItemDifficultySampler(TruthSampler):
    """One chain: prevalence, truth, difficulties and abilities are drawn in turn."""

    def __init__(
        self,
        start: Start,
        annotator: NDArray[np.integer[Any]],
        label: NDArray[np.integer[Any]],
        n_annotators: int,
        prior: DawidSkenePrior,
    ) -> None:
        self.ability = start.rng.normal(prior.ability, prior.ability_sd / 4, n_annotators)
        super().__init__(start)
        cells, self.n_labels = start.cells, start.n_labels
        self.prior, self.annotator, self.label = prior, annotator, label
        self.difficulty = np.zeros(cells.n_items)
        self.item = np.repeat(np.arange(cells.n_items, dtype=np.int32), cells.sizes)
        self.by_annotator = np.argsort(annotator, kind="stable")
        self.annotator_start = np.searchsorted(annotator[self.by_annotator], np.arange(n_annotators + 1))

    def sweep(self, rng: Rng, times: int = 1) -> None:
        """Draw prevalence, difficulties and abilities given the truth, then the truth."""
        cells, prior = self.cells, self.prior
        for _ in range(times):
            self.swap_labels(rng)
            log_prevalence = self.draw_prevalence(rng)
            position = cells.candidate_start[:-1] + self.truth
            right = self.label == cells.candidate[position][self.item]
            order = np.arange(self.item.size)
            given = order, cells.item_start, right, self.annotator, self.ability
            draw_logits(rng, *given, self.difficulty, -1.0, 0.0, prior.difficulty_sd)
            given = self.by_annotator, self.annotator_start, right, self.item, self.difficulty
            draw_logits(rng, *given, self.ability, 1.0, prior.ability, prior.ability_sd)
            logits = log_prevalence, self.log_prior, self.ability, self.difficulty, prior.difficulty_sd
            draw_truth(rng, cells, self.annotator, self.label, *logits, self.truth, self.expected)
            count_truth(cells, self.truth, self.weights, self.count)

    def swap_labels(self, rng: Rng) -> None:
        """Offer two labels each other's name: abilities and difficulties change sign, and who was right was wrong."""
        prior = self.prior
        if self.item_prior is not None or self.n_labels != 2 or (np.diff(self.cells.candidate_start) != 2).any():
            return
        gain = -2 * prior.ability * self.ability.sum() / prior.ability_sd**2
        if -rng.standard_exponential() < gain:
            self.truth, self.ability, self.difficulty = 1 - self.truth, -self.ability, -self.difficulty
            count_truth(self.cells, self.truth, self.weights, self.count)

    def write_annotators(self, rng: Rng, accuracy: Floats, confusion: NDArray[np.float32]) -> None:
        """Write accuracies and whole confusion matrices for items of difficulty 0."""
        right = 1 / (1 + np.exp(-self.ability))
        write_accuracies(self.cells, right[self.cells.row_annotator], self.prevalence, accuracy)
        if confusion.size:
            confusion[...] = ((1 - right) / max(self.n_labels - 1, 1))[:, None, None]
            diagonal = np.arange(self.n_labels)
            confusion[:, diagonal, diagonal] = right[:, None]

    def hyperparameters(self) -> dict[str, Floats]:
        """Return the difficulties of the items."""
        return {"difficulty": self.difficulty.copy()}


@numba.njit(cache=True, nogil=True)
def logit_density(x, sign, terms, right, mean, sd):
    """Log density of an ability (sign 1) or a difficulty (sign -1), given the other one of each annotation."""
    value = -0.5 * ((x - mean) / sd) ** 2
    for t in range(terms.size):
        logit = sign * (x - terms[t])
        if not right[t]:
            logit = -logit
        value -= math.log1p(math.exp(-logit)) if logit > 0 else math.log1p(math.exp(logit)) - logit
    return value


@numba.njit(cache=True, nogil=True)
def draw_logits(rng, order, start, right, other_index, other, value, sign, mean, sd):
    """Draw every ability or difficulty by slice sampling.

    Annotations of the g-th value are ``order[start[g]:start[g + 1]]``; `right` says which name the truth.
    """
    for g in range(start.size - 1):
        own = order[start[g] : start[g + 1]]
        if own.size == 0:
            value[g] = mean + sd * rng.standard_normal()
            continue
        terms = other[other_index[own]]
        # The prior's width: a conditional density is at most as wide.
        value[g] = slice_step(rng, logit_density, value[g], sd, (sign, terms, right[own], mean, sd))


@numba.njit(cache=True, nogil=True)
def difficulty_density(d, ability, n_right, sd):
    """Log density of an item's difficulty, up to a constant of who was right; its slope and minus its curvature.

    log sigmoid(x) = x + log sigmoid(-x): of the annotators who named the truth only the number remains.
    """
    value, slope, precision = -0.5 * (d / sd) ** 2 - n_right * d, -d / sd**2 - n_right, sd**-2.0
    for a in ability:
        odds = math.exp(a - d)
        chance = odds / (1 + odds)
        value -= math.log1p(odds)
        slope += chance
        precision += chance * (1 - chance)
    return value, slope, precision


@numba.njit(cache=True, nogil=True)
def normal_difficulty(ability, n_right, sd):
    """Mode, density there and sd of the normal approximation to a difficulty; Newton steps of at most 2."""
    mode = 0.0
    value, slope, precision = difficulty_density(mode, ability, n_right, sd)
    for _ in range(30):
        step = min(max(slope / precision, -2.0), 2.0)
        if abs(step) < 1e-4:
            break
        mode += step
        value, slope, precision = difficulty_density(mode, ability, n_right, sd)
    return mode, value, precision**-0.5


@numba.njit(cache=True, nogil=True)
def draw_truth(rng, cells, annotator, label, log_prevalence, log_prior, ability, difficulty, sd, truth, probability):
    """Draw every item's true label, with its difficulty and then given it.

    Pr(right) / Pr(one wrong label) = (K - 1) exp(ability - difficulty), K labels.
    An item that most annotators get wrong is difficult or has another truth, and neither changes without the other. So
    both are proposed at once, the label with its difficulty integrated out by Laplace's method, and taken as Metropolis
    and Hastings have it.
    """
    log_wrong_labels = math.log(max(log_prevalence.size - 1, 1))
    logs, n_right, weight = np.empty((3, log_prevalence.size))
    mode, top, width = np.empty((3, log_prevalence.size))
    for i in range(cells.item_start.size - 1):
        first = cells.candidate_start[i]
        m = cells.candidate_start[i + 1] - first
        start, stop = cells.item_start[i], cells.item_start[i + 1]
        own = ability[annotator[start:stop]]
        for c in range(m):
            logs[c], n_right[c] = log_prevalence[cells.candidate[first + c]], 0.0
            if log_prior.size > 0:
                logs[c] += log_prior[first + c]
            for t in range(start, stop):
                if label[t] == cells.candidate[first + c]:
                    logs[c] += ability[annotator[t]] + log_wrong_labels
                    n_right[c] += 1.0
            mode[c], top[c], width[c] = normal_difficulty(own, n_right[c], sd)
            weight[c] = logs[c] + top[c] + math.log(width[c])
        old, at = truth[i], difficulty[i]
        new = draw_candidate(rng, weight[:m], probability, first)
        d = mode[new] + width[new] * rng.standard_normal()
        gain = difficulty_density(d, own, n_right[new], sd)[0] - top[new] + 0.5 * ((d - mode[new]) / width[new]) ** 2
        gain -= difficulty_density(at, own, n_right[old], sd)[0] - top[old] + 0.5 * ((at - mode[old]) / width[old]) ** 2
        if -rng.standard_exponential() < gain:
            difficulty[i] = d
        for c in range(m):
            weight[c] = logs[c] - n_right[c] * difficulty[i]
        truth[i] = draw_candidate(rng, weight[:m], probability, first)
