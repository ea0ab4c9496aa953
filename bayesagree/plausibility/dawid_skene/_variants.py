"""The samplers by name, and the average of several that is the default.

For the average a fifth of the annotators is held out; every candidate gives the label probabilities lambda_i of the
items from the others. An annotator held out either gives the true label of the item or a label of a habit (Hovy et al.,
"Learning whom to trust with MACE", NAACL 2013), whatever the candidate:

    z_i ~ sum over candidates m of w_m lambda_mi,    Pr(l_ij = l) = a_j [l = z_i] + (1 - a_j) u_jl

The weights w maximise the probability of the labels held out: stacking of predictive distributions (Yao et al.,
Bayesian Analysis 13, 2018). All candidates answer through the same a_j and u_j: a model that predicted labels by the
confusion it learnt would predict them well even where its truth has parted from what the labels say. Careless
annotators, a_j near 0, say nothing of the weights.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from bayesagree._types import Floats, Integers, Rng
from bayesagree.inference.cells import cell_sums
from bayesagree.plausibility.dawid_skene._crowd import VARIANTS, Crowd
from bayesagree.plausibility.dawid_skene._labels import LabelSampler, VotesSampler
from bayesagree.plausibility.dawid_skene._ordered import OrderedSampler
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

# How chains of a variant start: (crowd, prior, chains, rng, held) -> sampler.
SAMPLERS: dict[str, Any] = {
    **{name: partial(LabelSampler, variant) for name, variant in VARIANTS.items()},
    "ordered": OrderedSampler,
    "votes": partial(VotesSampler, VARIANTS["full"]),
}
# Parts whose annotators each read a label from the item's plausibilities; by others an item has one true label.
READ_PLAUSIBILITIES = (*(name for name, of in VARIANTS.items() if of.mixed), "votes", "accurate_annotators")
# By this prior a rare label does not become the name of all items on which annotators disagree.
ACCURATE = DawidSkenePrior(accuracy=0.85, strength=40.0)
# Parts of the annotators, each held out once: items keep four fifths of their labels.
FOLDS = 5
# Chains of each part, sweeps before the first draw and draws: a score is a mean over many labels.
HELD_OUT_CHAINS, TUNE, DRAWS = 2, 100, 50
# From so many on whole annotators are held out: the others then still show who is good.
MANY_ANNOTATORS = 20
# Candidates of less weight are left out: they move no probability by more, and would cost a whole warm-up.
LEAST_WEIGHT = 0.02
# Steps of EM for the weights, at most, and the largest change of a weight after which they end.
STEPS, ENOUGH = 500, 1e-5
# Labels that the crowd's mean accuracy and label shares are worth in those of one annotator.
HABIT = 2.0


def candidates(
    n_labels: int, prior: DawidSkenePrior | None, *, ordered: bool
) -> dict[str, tuple[str, DawidSkenePrior]]:
    """Return what the default averages: variant and prior by name.

    Beside a prior of the user's own there is none of accurate annotators. Of two labels one accuracy per annotator
    takes its place: which label is which would follow from the prior alone.
    """
    names = ["mixed_membership", "votes"] + ["mixed_one_coin"] * (n_labels == 2) + ["ordered"] * ordered
    found = {name: (name, prior or DawidSkenePrior()) for name in names}
    accurate = n_labels > 2 and prior is None
    return found | ({"accurate_annotators": ("mixed_membership", ACCURATE)} if accurate else {})


def weights(
    crowd: Crowd, averaged: Mapping[str, tuple[str, DawidSkenePrior]], rng: Rng, tune: int | None
) -> dict[str, float]:
    """Weigh the candidates by their predictions of annotators held out, the chains of all parts side by side."""
    fold, n = folds(crowd, rng), crowd.n_labels
    held = fold == np.arange(FOLDS)[:, None]
    at = np.flatnonzero(crowd.known[crowd.item] < 0)
    # Votes of each item that a part keeps, (part, item, category).
    part, seen = np.nonzero(~held)
    kept = cell_sums((FOLDS, crowd.n_items, n), part, crowd.item[seen], crowd.label[seen])
    at = at[kept[fold[at], crowd.item[at]].any(axis=1)]
    if not at.size:  # no item has a second label
        return dict.fromkeys(averaged, 1 / len(averaged))
    chance = []
    for variant, prior in averaged.values():
        expected = kept + 1 / n
        if variant != "votes":
            of_chains = np.repeat(held, HELD_OUT_CHAINS, axis=0)
            sampler = SAMPLERS[variant](crowd, prior, len(of_chains), rng, of_chains)
            sampler.draw(rng, TUNE if tune is None else min(tune, TUNE))
            total = np.zeros(1)
            for _ in range(DRAWS):
                sampler.draw(rng, 1)
                total = total + sampler.expected
            expected = total.reshape(FOLDS, HELD_OUT_CHAINS, -1, n).sum(axis=1)
        found = expected[fold[at], crowd.item[at]]
        chance.append(found[np.arange(at.size), crowd.label[at]] / found.sum(axis=1))
    panel = fold[at] * crowd.n_items + crowd.item[at]
    given: Any = panel, crowd.annotator[at], crowd.label[at], np.column_stack(chance)
    # Parts of other annotators differ as another crowd would, and no prolific one decides alone.
    apart = np.unique(given[1]).size >= MANY_ANNOTATORS
    rows = [np.flatnonzero(fold[at] == part) for part in range(FOLDS)] if apart else [np.arange(at.size)]
    size = crowd.n_annotators, n
    of_parts = [stacking_weights(size, *(values[own] for values in given)) for own in rows if own.size]
    weight = np.mean(of_parts, axis=0)
    weight = np.where(weight < LEAST_WEIGHT, 0.0, weight) / weight[weight >= LEAST_WEIGHT].sum()
    return {name: float(w) for name, w in zip(averaged, weight) if w}


def stacking_weights(
    size: tuple[int, int],
    panel: Integers,
    annotator: Integers,
    label: Integers,
    chance: Floats,
) -> Floats:
    """Return the weight of each candidate, shape (candidate,), by EM, from labels held out.

    Of each label, shape (annotation,): its panel (one item and one part of the labels), its annotator, its code, and
    `chance`, shape (annotation, candidate), the probability that it is true, from the labels of the others. `size`:
    numbers of annotators and labels.

    Examples
    --------
    >>> chance = np.tile([[0.9, 0.4], [0.2, 0.5]], (20, 1))  # the first is right where the second does not know
    >>> label = np.tile([0, 1], 20)
    >>> stacking_weights((2, 2), np.arange(40), np.repeat([0, 1], 20), label, chance).round(2).tolist()
    [1.0, 0.0]
    """
    n_annotators, n_labels = size
    # Labels of a panel that agree speak of one possible truth.
    pair, place, same = np.unique(panel * n_labels + label, return_index=True, return_inverse=True)
    _, start, of_pair = np.unique(pair // n_labels, return_index=True, return_inverse=True)
    # Habits exist only for the labels that an annotator gave: thousands of labels cost nothing.
    _, first, which = np.unique(annotator * n_labels + label, return_index=True, return_inverse=True)
    usual = ((np.bincount(label, minlength=n_labels) + 1) / (label.size + n_labels))[label[first]]
    given = chance[place]
    owner = annotator[first]
    number = np.bincount(annotator, minlength=n_annotators)
    weight = np.full(chance.shape[1], 1 / chance.shape[1])
    accuracy, habit = np.full(n_annotators, 0.5), usual
    for _ in range(STEPS):
        right = accuracy[annotator]
        knows = right / (right + (1 - right) * habit[which])
        # Of hundreds e^709 would overflow.
        gain = np.exp(np.minimum(np.bincount(same, -np.log1p(-knows)), 500.0))
        # Probability of a panel's labels if each candidate is right, over that if the truth is one nobody gave.
        likelihood = 1 + np.add.reduceat(given * (gain - 1)[:, None], start)
        total = likelihood @ weight
        hits = np.clip(knows * (gain * (given @ weight) / total[of_pair])[same], 0.0, 1.0)
        before = weight
        weight = weight * (likelihood / total[:, None]).mean(axis=0)
        by_annotator = np.bincount(annotator, hits, n_annotators)
        accuracy = np.clip((by_annotator + HABIT * hits.mean()) / (number + HABIT), 1e-6, 1 - 1e-6)
        wrong = np.bincount(which, 1 - hits)
        habit = (HABIT * usual + wrong) / (HABIT + (number - by_annotator)[owner])
        if np.abs(weight - before).max() < ENOUGH:
            break
    return weight


def folds(crowd: Crowd, rng: Rng) -> Integers:
    """Return the part in which each label is held out, shape (annotation,).

    Whole annotators are held out. Of few annotators labels are: without one of two good annotators no model knows whom
    to believe. Those of one annotator for one item, who may repeat himself, stay together.
    """
    unit = crowd.annotator
    if np.unique(unit).size < MANY_ANNOTATORS:
        unit = unit + crowd.item * crowd.n_annotators
    held, which = np.unique(unit, return_inverse=True)
    return (rng.permutation(held.size) % FOLDS)[which]


def positions(weight: Sequence[float], draws: int) -> list[Integers]:
    """Share draws out by weight: positions of each candidate's, whose number differs from weight x draws by under one.

    Examples
    --------
    >>> [at.tolist() for at in positions([0.5, 0.3, 0.2], 9)]
    [[0, 3, 5, 8], [1, 4, 7], [2, 6]]
    """
    exact = np.array(weight) * draws
    number = np.floor(exact).astype(np.int64)
    number[np.argsort(number - exact, kind="stable")[: draws - number.sum()]] += 1
    order = np.argsort(np.concatenate([(np.arange(n) + 0.5) / n for n in number]), kind="stable")
    return np.split(np.argsort(order), np.cumsum(number)[:-1])
