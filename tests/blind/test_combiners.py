"""Pseudo-gold that crowd labels supervise."""

import numpy as np
import pytest
from _errors_of_draws import SIGMAS
from blind._crowds import METRICS, simulated

from bayesagree import InputError
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.blind.combiners import FOLDS, best_threshold
from bayesagree.blind.scores import WITH_CROWD, blind_scores, make_pseudo_gold
from bayesagree.blind.systems import Systems
from bayesagree.metrics.hard_labels import hard_label_scores


def test_threshold_that_scores_best_by_brute_force():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 200)
    positive_votes = rng.binomial(5, np.where(truth == 1, 0.9, 0.5))  # biased to the positive label
    counts = np.stack([5 - positive_votes, positive_votes], axis=1)
    accuracy = {t: ((positive_votes >= t) == truth).mean() for t in range(1, 6)}
    assert best_threshold(counts, truth, "accuracy", 1) == max(accuracy, key=accuracy.get) / 5
    for metric in METRICS:
        chosen = positive_votes >= 5 * best_threshold(counts, truth, metric, 1) - 1e-9
        assert 0 < chosen.mean() < 1


def test_direct_evaluation_is_the_score_against_the_crowd():
    systems, crowd, _ = simulated()
    majority_of_crowd = dict(enumerate(crowd.counts().argmax(axis=1)))
    for metric in METRICS:
        direct = blind_scores(systems, method="direct", metric=metric, crowd=crowd)
        np.testing.assert_array_equal(direct, hard_label_scores(systems, majority_of_crowd, metric=metric))


@pytest.mark.parametrize("method", WITH_CROWD[:-1])
def test_combiners_never_see_the_crowd_label_of_the_item_they_label(method):
    """Systems that know nothing and a random crowd: a combiner that saw its own test set would agree with it."""
    rng = np.random.default_rng(9)
    systems = Predictions.from_labels({f"s{j:02}": rng.integers(0, 2, 200) for j in range(20)})
    crowd = Labels.from_matrix(rng.integers(0, 2, (200, 1)))
    gold = make_pseudo_gold(Systems.of(systems, crowd, None, 1), method, random_seed=1).sets[0]
    agreement = (gold == crowd.label_index).mean()
    assert abs(agreement - 0.5) < SIGMAS * 0.5 / np.sqrt(200)


def test_a_combiner_needs_two_items_for_each_fold():
    """Items that no system labelled do not count."""
    rng = np.random.default_rng(2)
    said = [*rng.integers(0, 2, 2 * FOLDS).tolist(), None]
    systems = Predictions.from_labels({"a": said, "b": said}, labels=[0, 1])
    crowd = Labels.from_matrix(np.array([*said[:-1], 1])[:, None], labels=[0, 1])
    found = blind_scores(systems, method="naive_bayes", crowd=crowd, random_seed=1)
    assert found.shape == (2,)
    few = Labels.from_matrix(np.array([*said[1:-1], 1])[:, None], items=range(1, 2 * FOLDS + 1), labels=[0, 1])
    with pytest.raises(InputError, match=f"{2 * FOLDS - 1} items have both .* needs at least {2 * FOLDS} to learn"):
        blind_scores(systems, method="naive_bayes", crowd=few, random_seed=1)
