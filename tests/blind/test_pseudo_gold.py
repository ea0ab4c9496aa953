"""Pseudo-gold from the systems alone: closed forms, thresholds, ties, and systems left out."""

import numpy as np
import pytest
from _errors_of_draws import SIGMAS
from blind._crowds import METRICS, simulated

from bayesagree.annotations.predictions import Predictions
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


def test_ties_of_the_majority_fall_evenly():
    systems = Predictions.from_labels({"a": np.zeros(4000, int), "b": np.ones(4000, int)})
    share = majority(Systems.of(systems, None, None, 0), random_seed=1).mean()
    assert abs(share - 0.5) < SIGMAS * 0.5 / np.sqrt(4000)
