"""Certainty across reliabilities, the toy problem, sets of different sizes (Stutz et al.)."""

import numpy as np
import pytest

from bayesagree import InputError, Labels, Predictions, annotation_certainty, dirichlet, score
from bayesagree.datasets.simulate import labelled_test_set
from studies.certainty import certainty_by_reliability
from studies.top_k import top_k_in_top_m


def test_certainty_is_that_of_the_posterior_at_each_reliability():
    votes = Labels.from_counts([[4, 1, 0], [2, 2, 1], [0, 0, 5]])
    found = certainty_by_reliability(votes, reliability=(1, 5), gold={0: 0, 2: 1}, draws=300, random_seed=1)
    tree = dirichlet(votes, reliability=5, draws=300, random_seed=1)
    np.testing.assert_allclose(found["certainty"].sel(reliability=5), annotation_certainty(tree), atol=0.04)
    gold = found["gold_certainty"].sel(reliability=5).values
    assert gold[0] > 0.9
    assert gold[2] < 0.05
    assert np.isnan(gold[1])


@pytest.fixture(scope="module")
def problem():
    given = labelled_test_set(n_items=15, random_seed=1)
    return dirichlet(given.labels, draws=50, chains=2, random_seed=1), given.predictions


def test_sets_of_different_sizes_equal_a_direct_count(problem):
    truth, models = problem
    drawn = truth["posterior"]["plausibility"].transpose("chain", "draw", "item", "category").values
    wanted = np.argsort(-drawn, axis=-1)[..., :2]
    for m in (1, 2, 3):
        shares = np.stack([np.isin(wanted, []) for _ in models.models], axis=-2).astype(float).mean(axis=-1)
        for j, sets in enumerate(models.top_labels(m)):
            inside = np.stack([np.isin(wanted[:, :, i], sets[i]) for i in range(15)], axis=2)
            shares[..., j] = inside.mean(axis=-1)
        np.testing.assert_allclose(top_k_in_top_m(truth, models, k=2, m=m), shares.mean(axis=2))


def test_special_cases_have_names_of_their_own(problem):
    truth, models = problem
    np.testing.assert_allclose(top_k_in_top_m(truth, models, k=1, m=2), score(truth, models, "top_2_accuracy"))
    np.testing.assert_allclose(top_k_in_top_m(truth, models, k=2, m=2), score(truth, models, "overlap_2"))
    np.testing.assert_allclose(
        top_k_in_top_m(truth, models, k=2, m=2, whole=True), score(truth, models, "set_2_accuracy")
    )
    with pytest.raises(InputError):
        top_k_in_top_m(truth, Predictions.from_labels({"A": [0] * 15}), k=9)
