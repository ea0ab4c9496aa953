"""The finite-sample guarantee: mean coverage of new items over many calibration sets, small ones too."""

import _conformal as cases
import numpy as np
import pytest

from bayesagree.conformal.sets import WeightedScores

RUNS = {9: 1500, 50: 1500, 500: 300}
ALPHA = 0.1


def world(rng, n):
    logits = 2 * rng.standard_normal((n, 4))
    return cases.softmax(logits), cases.softmax(logits + rng.standard_normal((n, 4)))


def coverage(score, weight, at):
    """Return the mean weight of labels that conform at least as `at`, each of many thresholds."""
    order = np.argsort(score.ravel())
    above = np.append(np.cumsum(weight.ravel()[order][::-1])[::-1], 0) / len(score)
    return above[np.searchsorted(score.ravel()[order], at, side="left")]


def error(values):
    return np.std(values, ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize("votes", [None, 1, 3])
@pytest.mark.parametrize("n", RUNS)
def test_exact_sets_cover_what_annotators_say(n, votes):
    rng = np.random.default_rng(n)
    truth, p = world(rng, 50_000)
    found = []
    for _ in range(RUNS[n]):
        own_truth, own = world(rng, n)
        weight = own_truth if votes is None else rng.multinomial(votes, own_truth) / votes
        found.append(WeightedScores.of(own, weight, n).threshold(ALPHA))
    reached = coverage(p, truth, found)
    assert reached.mean() > 1 - ALPHA - 4.5 * error(reached)
    if n == 500:  # the weight of the last item is all that the promise is exceeded by
        assert reached.mean() < 1 - ALPHA + 1 / n + 4.5 * error(reached)


@pytest.mark.parametrize("n", RUNS)
def test_sets_of_vote_winners_cover_them_as_order_statistics_say(n):
    rng = np.random.default_rng(n + 1)
    truth, p = world(rng, 50_000)
    found = []
    for _ in range(RUNS[n]):
        own_truth, own = world(rng, n)
        found.append(WeightedScores.of(own, np.eye(4)[own_truth.argmax(axis=1)], n).threshold(ALPHA))
    reached = coverage(p, np.eye(4)[truth.argmax(axis=1)], found)
    expected = 1 - np.floor(ALPHA * (n + 1) + 1e-9) / (n + 1)
    # The new items are a sample, too: its standard deviation is below .0014.
    assert abs(reached.mean() - expected) < 4.5 * np.hypot(error(reached), 0.0014)
