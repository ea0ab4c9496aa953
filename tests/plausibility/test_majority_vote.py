import numpy as np
import pandas as pd
import pytest

from bayesagree import InputError, Labels, Predictions, majority_vote, score, vote_shares
from bayesagree.plausibility.votes import shared_wins

VOTES = Labels.from_counts([[2, 2, 0], [0, 1, 0], [0, 0, 0]], items=["p", "q", "r"], labels=["a", "b", "c"])


def test_tie_rules():
    first, none = majority_vote(VOTES), majority_vote(VOTES, ties="exclude")
    assert (first["p"], first["q"], first.isna().tolist()) == ("a", "b", [False, False, True])
    assert none.isna().tolist() == [True, False, True]
    assert first.attrs["note"] == (
        "1 of 3 items are tied: they have the first of the labels that tie; 1 items have no votes, and no label"
    )
    assert shared_wins(VOTES).values.tolist() == [[0.5, 0.5, 0], [0, 1, 0], [1 / 3, 1 / 3, 1 / 3]]
    numbers = majority_vote(Labels.from_counts([[2, 1], [0, 3]], labels=[3, 7]))
    assert (numbers.tolist(), numbers.dtype.kind, numbers.attrs["note"]) == ([3, 7], "i", "")


def test_random_ties_are_fair():
    votes = Labels.from_counts(np.tile([3, 3, 0], (20_000, 1)))
    share = majority_vote(votes, ties="random", random_seed=1).value_counts(normalize=True)
    assert set(share.index) == {0, 1}
    assert abs(share[0] - 0.5) < 4.5 * 0.5 / np.sqrt(20_000)


def test_shares_of_no_votes_do_not_exist():
    with pytest.warns(UserWarning, match="1 items have no votes, and their shares are NaN: 'r'"):
        shares = vote_shares(VOTES)
    assert shares.values[:2].tolist() == [[0.5, 0.5, 0], [0, 1, 0]]
    assert np.isnan(shares.values[2]).all()


def test_models_are_scored_against_the_vote():
    models = Predictions.from_labels({"A": ["a", "b"]}, items=["p", "q"], labels=["a", "b", "c"])
    vote = pd.Series({"q": "b", "p": "c"})
    assert score(vote, models, "accuracy").values.tolist() == [[[0.5]]]
    with pytest.raises(InputError, match="item 'p' has no label"):
        score(vote.where(vote != "c"), models, "accuracy")
    with pytest.raises(InputError, match="item 'p' has the label 'x', which is not one of"):
        score(vote.replace("c", "x"), models, "accuracy")
