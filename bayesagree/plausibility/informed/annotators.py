"""Whose votes are about the items: each named annotator has a share of answers that are habit or chance.

An answer of annotator a to item i is about the item with probability w_a, and then a draw of its plausibilities with
odds of the annotator's own, or else one by the annotator's own shares of the labels. Given the learnt prior the
probability of an answer follows from the other answers to its item and the predictions, and w_a from its answers by EM,
under a Beta prior. Answers that are drawn not to be about their items leave the votes, and the prior is learnt anew,
until no weight moves. Weights that the answers do not ask for (`ASKED`) are one, so that careful annotators keep all of
their votes, however their items divide them.
"""

from typing import Any

import numpy as np

from bayesagree._types import Codes, Floats, Integers
from bayesagree.annotations import Labels
from bayesagree.errors import shorten, warn
from bayesagree.inference.cells import cell_sums, row_shares
from bayesagree.inference.streams import one_blas_thread
from bayesagree.plausibility.informed.covariates import on_items_of

# Fewest answers that tell anything of an annotator; gain of log likelihood from which a weight is below one; prior of
# 1 - w as answers (for, against); rounds of learning the prior, and of EM within each.
FEWEST, ASKED, PRIOR, ROUNDS, STEPS = 15, 4.0, (0.0, 3.0), 5, 50
# Weight below which an annotator is named.
NAMED = 0.3


def weights(problem: Any) -> tuple[Floats, Integers]:
    """Return the weight of each annotator, and the votes (item, label) that are about their items.

    The problem, a `VoteFrame`, learns parameters from votes, and gives these their probability.
    """
    labels = problem.annotations
    rows = np.repeat(np.arange(labels.count.size), np.where(labels.annotator_index < 0, 0, labels.count))
    item, who, label = (part[rows] for part in (labels.item_index, labels.annotator_index, labels.label_index))
    size = np.bincount(who, minlength=labels.annotators.size)
    counts = labels.counts()
    weight, every, kept = np.ones(size.size), counts, np.ones(item.size, bool)
    if (size >= FEWEST).sum() < 2:
        return weight, counts
    rng = np.random.default_rng(0)
    given = 0.5 + cell_sums((size.size, counts.shape[1]), who, label)
    chance = row_shares(given)[who, label]
    for _ in range(ROUNDS):
        others = counts[item]
        others[np.arange(item.size), label] -= kept
        about = _leaning(_answers(problem, others, item, counts), who, label, given)
        is_about, new = np.ones(item.size), np.full(size.size, 0.9)
        for _ in range(STEPS):
            is_about = new[who] * about / (new[who] * about + (1 - new[who]) * chance)
            new = (np.bincount(who, is_about, size.size) + PRIOR[1]) / (size + sum(PRIOR))
        gain = np.bincount(who, np.log(new[who] + (1 - new[who]) * chance / about), size.size)
        new = np.where((gain > ASKED) & (size >= FEWEST), new, 1.0)
        kept = (new[who] == 1) | (rng.random(item.size) < is_about)
        moved, weight = np.abs(new - weight).max(), new
        counts = every - cell_sums(every.shape, item[~kept], label[~kept])
        if moved < 0.05:
            break
    return weight, counts


def _answers(problem: Any, others: Integers, item: Codes, counts: Integers) -> Floats:
    """Return the probability of each label as an answer, given the other ones to its item, shape (answer, label)."""
    key, first, row = np.unique(np.column_stack([item, others]), axis=0, return_index=True, return_inverse=True)
    mode = problem.near_mode(counts)
    every = np.eye(counts.shape[1], dtype=np.int64)
    logs = np.hstack([problem.of_votes(item[first], key[:, 1:] + one)(mode[None]) for one in every])
    p = np.exp(logs - logs.max(axis=1, keepdims=True))
    return row_shares(p)[row.ravel()]


def _leaning(p: Floats, who: Codes, label: Codes, given: Floats) -> Floats:
    """Return the probability of each answer where it is about the item, each annotator leaning to labels at will.

    Who is strict, or calls little a fault, gives some labels more often than others do, and to the items that ask for
    them: odds of labels that make an annotator's shares as expected are no carelessness.
    """
    lean, at = np.ones(given.shape), np.arange(who.size)
    for _ in range(STEPS):
        q = row_shares(p * lean[who])
        expected = np.full(given.shape, 0.5)
        np.add.at(expected, who, q)
        lean *= given / expected
    return row_shares(p * lean[who])[at, label]


def careful(problem: Any) -> Labels:
    """Return the labels without those of annotators few of whose answers are about the items; all items stay."""
    with one_blas_thread():
        low = np.append(weights(problem)[0] < NAMED, False)  # the last place is that of unknown annotators, -1
    labels = problem.annotations
    return on_items_of(labels.select(~low[labels.annotator_index]), problem.predictions)


def warn_of_careless(labels: Labels, weight: Floats) -> None:
    """Name the annotators few of whose answers are about the items."""
    low = np.flatnonzero(weight < NAMED)
    if low.size:
        warn(
            f"less than {NAMED:.0%} of the answers of annotators {shorten(labels.annotators[low])} are about the items "
            "and count; the others are habit or chance. Look at these answers, or leave the annotators out"
        )
