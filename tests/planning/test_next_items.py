"""The next label: gains against brute force over draws, and what must not matter."""

import numpy as np
import pytest

from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.planning import annotate_next

VOTES = [[3, 0, 0], [2, 1, 0], [1, 1, 1], [0, 0, 0], [0, 4, 1]]
MODELS = Predictions.from_labels({"A": [0, 0, 1, 2, 1], "B": [0, 1, 1, 0, 2]}, labels=[0, 1, 2])


def by_draws(counts, score):
    """Drop of the variance of score(top label) by one vote: outer draws of the vote, inner ones of the truth."""
    rng = np.random.default_rng(1)
    shape = np.asarray(counts) + 1 / 3
    now = score(rng.dirichlet(shape, 200_000).argmax(axis=1)).mean()
    after = [score(rng.dirichlet(shape + vote, 200_000).argmax(axis=1)).mean() for vote in np.eye(3)]
    return (shape / shape.sum() * np.square(after)).sum() - now**2


def test_gain_of_a_decision_is_the_drop_of_the_variance():
    found = annotate_next(Labels.from_counts(VOTES), MODELS, n=5, seed=1).set_index("item")["gain"]
    predicted = MODELS.hard_labels()
    for item, counts in enumerate(VOTES):
        a, b = predicted[:, item]
        expected = by_draws(counts, lambda top, a=a, b=b: (top == a).astype(float) - (top == b))
        assert found[item] == pytest.approx(expected, abs=0.006)  # four Monte-Carlo errors of a mean of 200,000
    assert found[0] == found[2] == 0


def test_gain_of_a_metric_is_the_mean_over_models():
    found = annotate_next(Labels.from_counts(VOTES), MODELS, n=5, goal="metric", seed=1).set_index("item")["gain"]
    for item, counts in enumerate(VOTES):
        gains = [by_draws(counts, lambda top, a=a: (top == a).astype(float)) for a in MODELS.hard_labels()[:, item]]
        assert found[item] == pytest.approx(np.mean(gains), abs=0.006)


def test_certainty_rises_most_where_votes_are_split_or_absent():
    order = annotate_next(Labels.from_counts(VOTES), n=5, seed=1)["item"].tolist()
    assert order[0] == 3
    assert order.index(2) < order.index(0)


def test_order_of_rows_and_labels_does_not_matter():
    turned = [row[::-1] for row in VOTES][::-1]
    models = Predictions.from_labels({n: 2 - r[::-1] for n, r in zip("AB", MODELS.hard_labels())}, labels=[0, 1, 2])
    one = annotate_next(Labels.from_counts(VOTES), MODELS, n=5, seed=1)
    other = annotate_next(Labels.from_counts(turned), models, n=5, seed=1)
    np.testing.assert_allclose(np.sort(one["gain"]), np.sort(other["gain"]), atol=1e-12)


def test_one_item_and_one_label():
    assert annotate_next(Labels.from_counts([[2]], labels=["x"]), n=3, seed=1)["gain"].tolist() == [0.0]


def test_a_goal_without_its_models_is_refused():
    with pytest.raises(InputError, match="needs 2 models, there are 0"):
        annotate_next(Labels.from_counts(VOTES), n=1, goal="decision")
    with pytest.raises(InputError, match="is not one of certainty, metric, decision"):
        annotate_next(Labels.from_counts(VOTES), n=1, goal="fun")  # type: ignore[arg-type]
