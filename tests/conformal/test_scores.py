"""Conformity scores beside their definitions, label by label."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayesagree import Labels, Predictions, conformalize
from bayesagree.conformal.scores import aps, margin

TABLES = st.integers(0, 10_000).map(
    # Sixths, so that labels tie.
    lambda random_seed: np.random.default_rng(random_seed).multinomial(6, [0.3, 0.3, 0.2, 0.2], 5) / 6
)


@given(TABLES)
def test_aps_is_minus_the_mass_of_labels_at_least_as_probable(p):
    expected = [[-sum(q for q in row if q >= own) if own else -np.inf for own in row] for row in p]
    np.testing.assert_allclose(aps(p), expected, atol=1e-12)


def test_a_certain_item_has_one_label_and_a_label_of_probability_0_adds_nothing():
    certain, split = [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]
    votes = Labels.from_counts([[4, 0, 0], [2, 2, 0], [0, 0, 4]] * 20)
    models = Predictions.from_scores({"A": [certain, split, certain[::-1]] * 20}, labels=[0, 1, 2])
    sets = conformalize(votes, models, score="aps").predict_set(models).values[0]
    assert sets[:2].tolist() == [[True, False, False], [True, True, False]]
    softmax = Predictions.from_scores({"A": [[1 - 2e-16, 1e-16, 1e-16], split, certain[::-1]] * 20}, labels=[0, 1, 2])
    assert conformalize(votes, softmax, score="aps").predict_set(softmax).values[0, 0].tolist() == [True, False, False]


@given(TABLES)
def test_margin_is_the_lead_over_the_best_other_label(p):
    expected = [[own - max(np.delete(row, k)) for k, own in enumerate(row)] for row in p]
    np.testing.assert_allclose(margin(p), expected, atol=1e-12)


def test_no_mass_exceeds_one():
    """Ten tenths add up to more: half of the items certain, the threshold is -1, and no label is lost."""
    found = aps(np.array([[0.3, 0.29, 0.21, 0.1 + 2e-16, 0.1]]))
    assert found.min() == -1
