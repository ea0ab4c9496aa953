import numpy as np

from bayesagree import Labels, majority_vote

VOTES = Labels.from_counts([[2, 2, 0], [0, 1, 0], [0, 0, 0]])


def test_tie_rules():
    assert majority_vote(VOTES).values.tolist() == [[0.5, 0.5, 0], [0, 1, 0], [1 / 3, 1 / 3, 1 / 3]]
    assert majority_vote(VOTES, ties="first").values.tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert np.isnan(majority_vote(VOTES, ties="exclude").values).all(axis=1).tolist() == [True, False, True]


def test_random_ties_are_fair():
    votes = Labels.from_counts(np.tile([3, 3, 0], (20_000, 1)))
    share = majority_vote(votes, ties="random", random_seed=1).mean("item").values
    assert share[2] == 0
    assert abs(share[0] - 0.5) < 4.5 * 0.5 / np.sqrt(20_000)
