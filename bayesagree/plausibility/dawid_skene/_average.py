"""The average of several posteriors, weighted by how well each predicts annotators held out; the votes are one of them.

A fifth of the annotators is held out; every candidate gives the label probabilities lambda_i of the items from the
others. An annotator held out either gives the true label of the item or a label of a habit (Hovy et al., "Learning whom
to trust with MACE", NAACL 2013), whatever the candidate:

    z_i ~ sum over candidates m of w_m lambda_mi,    Pr(l_ij = l) = a_j [l = z_i] + (1 - a_j) u_jl

The weights w maximise the probability of the labels held out: stacking of predictive distributions (Yao et al.,
Bayesian Analysis 13, 2018). All candidates answer through the same a_j and u_j: a model that predicted labels by the
confusion it learnt would predict them well even where its truth has parted from what the labels say. Careless
annotators, a_j near 0, say nothing of the weights.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.annotations import Labels
from bayesagree.plausibility.dawid_skene._confusion import ConfusionRows
from bayesagree.plausibility.dawid_skene._gibbs import RowSampler, Start, start_truth
from bayesagree.plausibility.dawid_skene._gibbs_kernels import count_truth
from bayesagree.plausibility.dawid_skene._mixed_membership_kernels import draw_plausibility

# Parts of the annotators, each held out once: items keep four fifths of their labels.
FOLDS = 5
# From so many on whole annotators are held out: the others then still show who is good.
MANY_ANNOTATORS = 20
# Candidates of less weight are left out: they move no probability by more, and would cost a whole warm-up.
LEAST_WEIGHT = 0.02
# Steps of EM for the weights, at most, and the largest change of a weight after which they end.
STEPS, ENOUGH = 500, 1e-5
# Log of the most that a panel of hundreds may add to the odds of its label: e^709 would overflow.
MOST_GAIN = 500.0
# Labels that the crowd's mean accuracy and label shares are worth in those of one annotator.
HABIT = 2.0


class VotesSampler(RowSampler):
    """Plausibilities ~ Dirichlet(votes + 1/K), as `dirichlet`; annotators are compared with a truth drawn from them.

    What is learnt about annotators does not change the truth.
    """

    def __init__(self, start: Start, confusion: ConfusionRows) -> None:
        super().__init__(start, confusion)
        cells, per_item = start.cells, np.diff(start.cells.candidate_start)
        self.shape = start.shares * np.repeat(cells.sizes, per_item) + 1 / start.n_labels
        self.expected = self.shape / np.repeat(np.add.reduceat(self.shape, cells.candidate_start[:-1]), per_item)
        self.drawn = np.empty_like(self.shape)
        self.sweep(start.rng)

    def sweep(self, rng: Rng, times: int = 1) -> None:
        """Draw plausibilities, a true label of each item, and the prevalence; draws are independent."""
        draw_plausibility(rng, self.cells, self.shape, self.drawn)
        self.truth = start_truth(self.cells, self.drawn, rng)
        count_truth(self.cells, self.truth, self.weights, self.count)
        self.draw_prevalence(rng)

    def plausibility(self, rng: Rng) -> Floats:
        """Return the drawn plausibilities."""
        return self.drawn


class HeldOut(NamedTuple):
    """Labels held out, of items that have others; a panel is one item and one part of the labels.

    Attributes
    ----------
    panel, annotator, label
        Of each label held out, shape (annotation,).
    chance
        Probability that this label is true, from the labels of the others, shape (annotation, candidate).
    """

    panel: NDArray[np.int64]
    annotator: NDArray[np.int64]
    label: NDArray[np.int64]
    chance: Floats


def stacking_weights(held_out: HeldOut, n_annotators: int, n_labels: int) -> Floats:
    """Return the weight of each candidate, shape (candidate,), by EM.

    Examples
    --------
    >>> chance = np.tile([[0.9, 0.4], [0.2, 0.5]], (20, 1))  # the first is right where the second does not know
    >>> label = np.tile([0, 1], 20)
    >>> held_out = HeldOut(np.arange(40), np.repeat([0, 1], 20), label, chance)
    >>> stacking_weights(held_out, 2, 2).round(2).tolist()
    [1.0, 0.0]
    """
    panel, annotator, label, chance = held_out
    # Labels of a panel that agree speak of one possible truth.
    pair, place, same = np.unique(panel * n_labels + label, return_index=True, return_inverse=True)
    _, start = np.unique(pair // n_labels, return_index=True)
    # Habits exist only for the labels that an annotator gave: thousands of labels cost nothing.
    _, first, which = np.unique(annotator * n_labels + label, return_index=True, return_inverse=True)
    share = ((np.bincount(label, minlength=n_labels) + 1) / (label.size + n_labels))[label[first]]
    labels = annotator, same, which, np.bincount(annotator, minlength=n_annotators)
    return _stack(*labels, chance[place], np.append(start, pair.size), annotator[first], share)


@numba.njit(cache=True, nogil=True)
def _stack(annotator, same, which, number, given, start, owner, share):
    """Return the weights from labels (annotation,), distinct ones of panels (pair, candidate), and habits (own,)."""
    n_candidates, n_panels = given.shape[1], start.size - 1
    weight = np.full(n_candidates, 1 / n_candidates)
    accuracy, habit, knows = np.full(number.size, 0.5), share.copy(), np.empty(annotator.size)
    for _ in range(STEPS):
        gain, gained = np.zeros(len(given)), np.zeros(n_candidates)
        for t in range(annotator.size):
            right = accuracy[annotator[t]]
            knows[t] = right / (right + (1 - right) * habit[which[t]])
            gain[same[t]] -= math.log1p(-knows[t])
        for p in range(n_panels):
            # Probability of a panel's labels if each candidate is right, over that if the truth is one nobody gave.
            likelihood = np.ones(n_candidates)
            for k in range(start[p], start[p + 1]):
                gain[k] = math.exp(min(gain[k], MOST_GAIN))
                likelihood += given[k] * (gain[k] - 1)
            total = (likelihood * weight).sum()
            gained += likelihood / total
            for k in range(start[p], start[p + 1]):
                gain[k] *= (given[k] * weight).sum() / total
        before, weight = weight, weight * gained / n_panels
        hits, wrong = np.zeros(number.size), np.zeros(share.size)
        for t in range(annotator.size):
            right = min(max(knows[t] * gain[same[t]], 0.0), 1.0)
            hits[annotator[t]] += right
            wrong[which[t]] += 1 - right
        typical = HABIT * hits.sum() / annotator.size
        for j in range(number.size):
            accuracy[j] = min(max((hits[j] + typical) / (number[j] + HABIT), 1e-6), 1 - 1e-6)
        for h in range(share.size):
            habit[h] = (HABIT * share[h] + wrong[h]) / (HABIT + number[owner[h]] - hits[owner[h]])
        if np.abs(weight - before).max() < ENOUGH:
            break
    return weight


def mean_weights(parts: Sequence[HeldOut], n_annotators: int, n_labels: int) -> Floats:
    """Return the weight of each candidate, shape (candidate,): the mean of those of the parts.

    Parts of other annotators differ as another crowd would, so that the mean allows for the few annotators there are,
    and no prolific one decides alone. Parts that share their annotators are one.
    """
    if len(np.unique(np.concatenate([np.unique(part.annotator) for part in parts]))) < MANY_ANNOTATORS:
        parts = [HeldOut(*map(np.concatenate, zip(*parts)))]
    weight = np.mean([stacking_weights(part, n_annotators, n_labels) for part in parts], axis=0)
    kept = np.where(weight < LEAST_WEIGHT, 0.0, weight)
    return kept / kept.sum()


def folds(labels: Labels, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the part in which each label is held out, shape (annotation,).

    Whole annotators are held out. Of few annotators labels are: without one of two good annotators no model knows whom
    to believe. Labels of an item are then spread over the parts; those of one annotator, who may repeat himself, stay
    together.
    """
    present, size = np.unique(labels.annotator_index), labels.annotators.size
    if present.size >= MANY_ANNOTATORS:
        fold = np.empty(size, np.int64)
        fold[rng.permutation(present)] = np.arange(present.size) % FOLDS
        return fold[labels.annotator_index]
    pair, which = np.unique(labels.item_index.astype(np.int64) * size + labels.annotator_index, return_inverse=True)
    order = rng.permutation(pair.size)
    order = order[np.argsort(pair[order] // size, kind="stable")]
    item, fold = pair[order] // size, np.empty(pair.size, np.int64)
    first = rng.integers(FOLDS, size=labels.items.size)[item]
    fold[order] = (np.arange(pair.size) - np.searchsorted(item, item) + first) % FOLDS
    return fold[which]


def draws_of_each(weight: Floats, draws: int) -> NDArray[np.int64]:
    """Share draws out by weight, shape (candidate,): whole numbers that differ from weight x draws by less than one.

    Examples
    --------
    >>> draws_of_each(np.array([0.5, 0.3, 0.2]), 9).tolist()
    [4, 3, 2]
    """
    exact = weight * draws
    whole = np.floor(exact).astype(np.int64)
    whole[np.argsort(whole - exact, kind="stable")[: draws - whole.sum()]] += 1
    return whole
