"""People scored as models are: known skills are held, and nobody's own vote is in the truth that scores them."""

import numpy as np
import pytest

from bayesagree import InputError, Labels, Predictions
from bayesagree.evaluation.humans import human_baseline


@pytest.fixture(scope="module")
def case():
    """Three annotators of 200 items: two who answer as readers do, and one who guesses."""
    rng = np.random.default_rng(3)
    share = rng.dirichlet(np.full(3, 0.3), 200)
    votes = (rng.random((200, 3, 1)) > share.cumsum(axis=1)[:, None, :2]).sum(axis=2)
    votes[:, 2] = rng.integers(3, size=200)
    seen = np.log(share + 1e-6) + 0.5 * rng.gumbel(size=share.shape)
    return share.argmax(axis=1), votes, Predictions.from_labels({"model": seen.argmax(axis=1)}, labels=[0, 1, 2])


def test_scores_of_annotators_hold_what_is_true(case):
    best, votes, models = case
    labels = Labels.from_matrix(votes, annotators=["ann", "bob", "guess"])
    with pytest.warns(UserWarning, match="annotators 'guess' are about the items"):
        table = human_baseline(labels, models, draws=100, chains=2, random_seed=1)
    right = dict(zip(labels.annotators, (votes == best[:, None]).mean(axis=0)))
    right |= {"model": (models.hard_labels()[0] == best).mean(), "a person": (votes == best[:, None]).mean()}
    assert table.index[0] == "a person" and table.index[-2:].tolist() == ["guess", "model"]
    assert table["n_items"].to_dict() == dict.fromkeys(labels.annotators, 200) | {"a person": 600, "model": 600}
    for name in ("ann", "bob", "guess", "a person"):
        assert table["lower"][name] - 0.02 < right[name] < table["upper"][name] + 0.02
    assert table["upper"]["guess"] < table["lower"]["bob"]


def test_nobody_is_scored_by_their_own_vote(case):
    """A guesser among three voters would be right in nearly all items as a model of these votes."""
    _, votes, _ = case
    labels = Labels.from_counts(np.stack([(votes == k).sum(axis=1) for k in range(3)], axis=1))
    table = human_baseline(labels, draws=100, chains=2, random_seed=1)
    assert table.index.tolist() == ["a person"] and table["score"].iloc[0] < 0.75


def test_too_few_items_are_refused(case):
    with pytest.raises(InputError, match="20 items have two labels or more; 30 are needed"):
        human_baseline(Labels.from_matrix(case[1][:20]))
