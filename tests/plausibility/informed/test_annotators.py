"""Answers at random are found and leave the votes; strict annotators and split items cost nobody a vote.

Coverage with careless annotators is in benchmarks/informed_worlds.py.
"""

import numpy as np
import pytest

from bayesagree import Labels, Predictions
from bayesagree.plausibility.informed._problem import InformedProblem
from bayesagree.plausibility.informed.annotators import careful
from bayesagree.plausibility.informed.ordered import OrderedProblem

ITEMS = 300


def labelled(rng, shares, per_item, n_annotators):
    """Answers (item, annotator) of some annotators of each item, -1 where there is none, and their places."""
    who = rng.random((ITEMS, n_annotators)).argsort(axis=1)[:, :per_item]
    said = (rng.random((ITEMS, per_item, 1)) > shares.cumsum(axis=1)[:, None]).sum(axis=2)
    matrix = np.full((ITEMS, n_annotators), -1)
    np.put_along_axis(matrix, who, said, axis=1)
    return matrix


def problem(rng, matrix, best):
    """Votes and a model that is right in .8."""
    label = np.where(rng.random(ITEMS) < 0.8, best, rng.integers(0, 3, ITEMS))
    named = Labels.from_matrix(np.where(matrix < 0, None, matrix.astype(object)), labels=range(3))
    return named, Predictions.from_labels({"A": label}, labels=range(3))


def test_answers_at_random_are_found_and_do_not_count():
    rng = np.random.default_rng(1)
    best = rng.integers(0, 3, ITEMS)
    matrix = labelled(rng, np.where(np.eye(3)[best] > 0, 0.88, 0.06), 3, 12)
    chance = np.arange(12) < 3
    matrix = np.where((matrix >= 0) & chance, rng.integers(0, 3, matrix.shape), matrix)
    matrix[0, 3:] = -1  # an item that only they have
    labels, models = problem(rng, matrix, best)
    found = InformedProblem.of(labels, models)
    with pytest.warns(UserWarning, match="less than 30% of the answers of annotators 0, 1, 2 are about the items"):
        assert (found.weights[chance] < 0.3).all()
    assert (found.weights[~chance] == 1).all()
    counts, left = labels.counts(), found.items.counts
    without = careful(InformedProblem.of(labels, models, exclude="A"))
    assert without.annotator_index.min() == 3
    assert (without.items == labels.items).all()
    assert (left <= counts).all()
    assert left.sum() < counts.sum() - 0.5 * (matrix[:, chance] >= 0).sum()


def test_ordered_labels_are_learnt_without_answers_at_random():
    """Of five annotators of whom two answer at random: they lose their votes, whoever errs by one place keeps them."""
    rng = np.random.default_rng(3)
    place = rng.normal(size=ITEMS)
    said = np.searchsorted([-1.0, -0.3, 0.3, 1.0], place[:, None] + 0.3 * rng.normal(size=(ITEMS, 6)))
    said[:, 0] = np.minimum(said[:, 0] + 1, 4)  # lenient
    said[:, 4:] = rng.integers(0, 5, (ITEMS, 2))
    labels = Labels.from_matrix(said, labels=range(5), ordered=True)
    models = Predictions.from_labels({"A": np.clip(np.rint(place * 1.2 + 2), 0, 4).astype(int)}, labels=range(5))
    found = OrderedProblem.of(labels, models)
    with pytest.warns(UserWarning, match="annotators 4, 5 are about the items"):
        np.testing.assert_array_equal(found.weights < 0.3, [False] * 4 + [True] * 2)
    assert (found.weights[:4] == 1).all()
    alone = OrderedProblem.of(Labels.from_matrix(said[:, :4], labels=range(5), ordered=True), models)
    mixed = OrderedProblem.of(Labels.from_counts(labels.counts(), labels=range(5), ordered=True), models)
    step = [one.near_mode(one.counts)[-2] for one in (found, alone, mixed)]
    assert abs(step[0] - step[1]) < abs(step[2] - step[1]) / 2


def test_split_items_and_strict_annotators_cost_nobody_a_vote():
    """Odds of a label of one's own, ten to one here, are a view of the items, no carelessness."""
    rng = np.random.default_rng(2)
    shares = rng.dirichlet(np.full(3, 0.6), ITEMS)
    matrix = labelled(rng, shares, 3, 10)
    strict = shares * [10.0, 1.0, 1.0]
    strict /= strict.sum(axis=1, keepdims=True)
    own = (rng.random((ITEMS, 1)) > strict.cumsum(axis=1)).sum(axis=1)
    matrix[:, 0] = np.where(matrix[:, 0] >= 0, own, -1)
    found = InformedProblem.of(*problem(rng, matrix, shares.argmax(axis=1)))
    assert (found.weights == 1).all()


@pytest.mark.parametrize("answers", [14, ITEMS])
def test_two_annotators_of_fifteen_answers_are_told_apart(answers):
    rng = np.random.default_rng(6)
    best = rng.integers(0, 3, ITEMS)
    good = np.where(rng.random(ITEMS) < 0.9, best, rng.integers(0, 3, ITEMS))
    matrix = np.column_stack([good, rng.integers(0, 3, ITEMS)])
    matrix[answers:, 1] = -1
    found = InformedProblem.of(*problem(rng, matrix, best))
    if answers < 15:
        assert (found.weights == 1).all()
        return
    with pytest.warns(UserWarning, match="of the answers of annotators 1 are about the items"):
        assert found.weights[1] < 0.3
    assert found.weights[0] == 1
