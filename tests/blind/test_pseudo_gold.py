"""Pseudo-gold from the systems alone: closed forms, thresholds, ties, and systems left out."""

import numpy as np
import pytest
from _errors_of_draws import SIGMAS
from blind._crowds import METRICS, simulated

from bayesagree import InputError
from bayesagree.annotations.predictions import Predictions
from bayesagree.blind import pseudo_gold
from bayesagree.blind.pseudo_gold import majority, round_robin
from bayesagree.blind.scores import blind_scores
from bayesagree.blind.systems import Systems
from bayesagree.metrics.hard_labels import hard_label_scores


def expected_by_sampling(systems, metric, positive=1):
    """Return accuracy and precision in expectation: means of the share of votes, which need no sampling."""
    codes = systems.hard_labels()
    agree = (codes[:, None] == codes[None]) & (codes[None] >= 0)
    share = agree.sum(axis=1) / np.maximum((codes >= 0).sum(axis=0), 1)
    counts = codes >= 0 if metric == "accuracy" else codes == positive
    return np.array([share[m, counts[m]].mean() for m in range(codes.shape[0])])


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("metric", ["accuracy", "precision"])
def test_sampling_equals_its_closed_form(metric, missing):
    systems, _, _ = simulated(missing=missing)
    sets = 2000
    scores = blind_scores(systems, method="sampling", metric=metric, sets=sets, random_seed=3)
    codes = systems.hard_labels()
    n = np.array([(row >= 0).sum() if metric == "accuracy" else (row == 1).sum() for row in codes])
    error = 0.5 / np.sqrt(n * sets)  # largest possible: every item is a fair coin
    assert (np.abs(scores.values - expected_by_sampling(systems, metric)) < SIGMAS * error).all()


def test_sampling_without_the_system_itself_equals_its_closed_form():
    systems, _, _ = simulated(missing=0.3)
    codes, sets = systems.hard_labels(), 2000
    scores = blind_scores(systems, method="sampling", leave_one_out=True, sets=sets, random_seed=4).values
    for m in range(4):
        others = np.delete(codes, m, axis=0)
        judged = (codes[m] >= 0) & (others >= 0).any(axis=0)
        votes = ((others == codes[m]) & (others >= 0)).sum(axis=0)[judged] / (others >= 0).sum(axis=0)[judged]
        assert abs(scores[m] - votes.mean()) < SIGMAS * 0.5 / np.sqrt(judged.sum() * sets)


@pytest.mark.parametrize("metric", METRICS)
def test_round_robin_is_the_mean_over_the_others(metric):
    systems, _, _ = simulated(missing=0.2)
    codes = systems.hard_labels()
    expected = []
    for m in range(4):
        scores = []
        for g in set(range(4)) - {m}:
            gold = {i: int(k) for i, k in enumerate(codes[g]) if k >= 0}
            scores.append(hard_label_scores(systems, gold, metric=metric).values[m])
        expected.append(np.mean(scores))
    np.testing.assert_allclose(blind_scores(systems, method="round_robin", metric=metric).values, expected)
    assert round_robin(Systems.of(systems, None, None, 0)).shape == (4, 4, 300)


def test_majority_by_threshold():
    systems = Systems.of(simulated(missing=0.2)[0], None, None, 0)
    assert (majority(systems, threshold=0)[0, (systems.predicted >= 0).any(axis=0)] == 1).all()
    assert (majority(systems, threshold=1.01) <= 0).all()


@pytest.mark.parametrize("threshold", [0.25, 0.75])
def test_a_threshold_that_is_the_share_of_the_votes_is_reached(threshold):
    votes = {"a": [0, 1, 0, 1, None], "b": [0, 0, 1, 1, None], "c": [0, 0, 1, 1, None], "d": [0, 0, 1, 1, None]}
    systems = Systems.of(Predictions.from_labels(votes, labels=[0, 1]), None, None, 0)
    expected = [int(share >= threshold) for share in (0, 0.25, 0.75, 1)]
    assert majority(systems, threshold=threshold).tolist() == [[*expected, -1]]


def test_a_threshold_needs_two_labels():
    systems = Predictions.from_labels({"a": [0, 1], "b": [0, 2]}, labels=[0, 1, 2])
    with pytest.raises(InputError, match="a vote threshold needs two labels, here are 3"):
        majority(Systems.of(systems, None, None, 0), threshold=0.3)


def test_ties_of_the_majority_fall_evenly():
    systems = Predictions.from_labels({"a": np.zeros(4000, int), "b": np.ones(4000, int)})
    share = majority(Systems.of(systems, None, None, 0), random_seed=1).mean()
    assert abs(share - 0.5) < SIGMAS * 0.5 / np.sqrt(4000)


def test_many_patterns_of_labels_have_independent_errors_and_say_so(monkeypatch):
    """Good systems: the most frequent set is the truth; an item without labels has none."""
    monkeypatch.setattr(pseudo_gold, "MOST_CELLS", 20)
    predictions, _, truth = simulated(n_items=60, accuracies=(0.9, 0.92, 0.94, 0.96), n_labels=3, missing=0.05)
    systems = Systems.of(predictions, None, None, 0)
    systems.predicted[:, 7] = -1
    with pytest.warns(UserWarning, match=r"3 labels in \d+ patterns are more than 20 cells"):
        sets = pseudo_gold.posterior(systems, sets=5, chains=2, random_seed=1)
    assert sets.shape == (5, 60)
    assert (sets[:, 7] == -1).all()
    known = np.delete(np.arange(60), 7)
    assert (sets[:, known] == np.array([truth[i] for i in known])).mean() > 0.9
