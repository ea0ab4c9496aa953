"""Conformity scores beside their definitions, label by label."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesagree import InputError
from bayesagree.conformal.scores import aps, margin, probability, raps

TABLES = st.integers(0, 10_000).map(
    # Sixths, so that labels tie.
    lambda seed: np.random.default_rng(seed).multinomial(6, [0.3, 0.3, 0.2, 0.2], 5) / 6
)


@given(TABLES)
def test_aps_is_minus_the_mass_of_labels_at_least_as_probable(p):
    expected = [[-sum(q for q in row if q >= own) for own in row] for row in p]
    np.testing.assert_allclose(aps(p), expected, atol=1e-12)


@given(TABLES, st.floats(0, 1), st.integers(1, 4))
def test_raps_subtracts_a_price_for_each_label_beyond_the_free_ones(p, penalty, free):
    price = [[penalty * max(sum(q >= own for q in row) - free, 0) for own in row] for row in p]
    np.testing.assert_allclose(raps(p, penalty=penalty, free=free), aps(p) - price, atol=1e-12)


@given(TABLES)
def test_margin_is_the_lead_over_the_best_other_label(p):
    expected = [[own - max(np.delete(row, k)) for k, own in enumerate(row)] for row in p]
    np.testing.assert_allclose(margin(p), expected, atol=1e-12)


@given(TABLES, st.permutations(range(4)))
def test_the_order_of_labels_changes_nothing(p, order):
    for score in (aps, raps, margin):
        np.testing.assert_allclose(score(p[:, order]), score(p)[:, order], atol=1e-12)


def test_a_margin_needs_two_labels():
    with pytest.raises(InputError, match="there is one label"):
        margin(np.ones((3, 1)))


def test_margin_is_to_the_best_of_the_others():
    scores = np.random.default_rng(1).dirichlet(np.ones(600), 3)
    others = [[max(np.delete(row, k)) for k in range(600)] for row in scores]
    np.testing.assert_allclose(margin(scores), scores - others)


@pytest.mark.parametrize("score", [probability, aps, raps, margin])
@pytest.mark.parametrize("scores", [np.array([0.2, 0.8]), np.ones((2, 2, 2))])
def test_scores_are_numbers_of_items_and_labels(score, scores):
    with pytest.raises(InputError, match=r"pass numbers \(item, category\)"):
        score(scores)
