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

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats, Rng
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
    times
        How many items have these labels, shape (annotation,).
    """

    panel: NDArray[np.int64]
    annotator: NDArray[np.int64]
    label: NDArray[np.int64]
    chance: Floats
    times: Floats


def stacking_weights(held_out: HeldOut, n_annotators: int, n_labels: int) -> Floats:
    """Return the weight of each candidate, shape (candidate,), by EM.

    Examples
    --------
    >>> chance = np.tile([[0.9, 0.4], [0.2, 0.5]], (20, 1))  # the first is right where the second does not know
    >>> label = np.tile([0, 1], 20)
    >>> held_out = HeldOut(np.arange(40), np.repeat([0, 1], 20), label, chance, np.ones(40))
    >>> stacking_weights(held_out, 2, 2).round(2).tolist()
    [1.0, 0.0]
    """
    panel, annotator, label, chance, times = held_out
    weight = np.full(chance.shape[1], 1 / chance.shape[1])
    # Labels of a panel that agree speak of one possible truth.
    pair, place, same = np.unique(panel * n_labels + label, return_index=True, return_inverse=True)
    _, start = np.unique(pair // n_labels, return_index=True)
    given, of_pair = chance[place], np.repeat(np.arange(start.size), np.diff(np.append(start, pair.size)))
    panels = times[place][start]
    # Habits exist only for the labels that an annotator gave: thousands of labels cost nothing.
    own, first, which = np.unique(annotator * n_labels + label, return_index=True, return_inverse=True)
    owner, number = annotator[first], np.bincount(annotator, times, n_annotators)
    share = ((np.bincount(label, times, n_labels) + 1) / (times.sum() + n_labels))[label[first]]
    accuracy, habit = np.full(n_annotators, 0.5), share
    for _ in range(STEPS):
        guessed = (1 - accuracy[annotator]) * habit[which]
        knows = accuracy[annotator] / (accuracy[annotator] + guessed)
        # Probability of a panel's labels if this one is true, over that if the truth is one that nobody gave.
        gain = np.exp(np.bincount(same, -np.log1p(-knows), minlength=pair.size).clip(max=MOST_GAIN))
        likelihood = 1 + np.add.reduceat(given * (gain - 1)[:, None], start)
        total = likelihood @ weight
        before, weight = weight, weight * np.average(likelihood / total[:, None], axis=0, weights=panels)
        right = (knows * (given @ before * gain / total[of_pair])[same]).clip(0, 1)
        hits = np.bincount(annotator, times * right, n_annotators)
        accuracy = ((hits + HABIT * hits.sum() / times.sum()) / (number + HABIT)).clip(1e-6, 1 - 1e-6)
        habit = (HABIT * share + np.bincount(which, times * (1 - right), own.size)) / (HABIT + number - hits)[owner]
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


def folds_of_patterns(labels: Labels, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the part in which each label of patterns is held out, `FOLDS` of which in turn have the same votes."""
    return (rng.permutation(labels.annotators.size)[labels.annotator_index] + labels.item_index) % FOLDS


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
