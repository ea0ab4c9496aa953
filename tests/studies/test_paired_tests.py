import json

import numpy as np
import pytest
from _paths import ROOT
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayesagree.errors import InputError
from studies.paired_tests import adjusted, bootstrap_p_values, copeland_rank, paired_t_test, paired_terms

GOLDEN = json.loads((ROOT / "tests" / "golden" / "blind.json").read_text())


def test_t_test_equals_scipy_on_common_items():
    rng = np.random.default_rng(1)
    terms = rng.integers(0, 2, (3, 40)).astype(float)
    terms[0, :5] = terms[2, 10:12] = np.nan
    difference, p = paired_t_test(terms)
    both = np.isfinite(terms[0]) & np.isfinite(terms[2])
    expected = stats.ttest_rel(terms[0, both], terms[2, both])
    assert p[0, 2] == pytest.approx(expected.pvalue)
    assert difference[0, 2] == pytest.approx(np.mean(terms[0, both] - terms[2, both]))
    np.testing.assert_allclose(p, p.T)


def test_t_test_without_variance():
    _, p = paired_t_test(np.array([[1.0, 1, 1], [0, 0, 0], [1, 1, 1]]))
    assert p[0, 1] == 0
    assert p[0, 2] == 1
    assert np.isnan(paired_t_test(np.array([[1.0, np.nan], [0, 1.0]]))[1][0, 1])


@pytest.mark.parametrize(("metric", "mean"), [("accuracy", 0.5), ("recall", 2 / 3), ("specificity", 1 / 3)])
def test_terms_average_to_the_score(metric, mean):
    truth, said = np.array([1, 1, 1, 0, 0, 0, -1]), np.array([[1, 1, 0, 0, 1, 1, 1]])
    assert np.nanmean(paired_terms(truth, said, metric, 1)) == pytest.approx(mean)


def test_bootstrap_agrees_with_the_t_test():
    rng = np.random.default_rng(2)
    terms = (rng.random((2, 400)) < np.array([[0.7], [0.63]])).astype(float)
    rows = rng.integers(400, size=(4000, 400))
    p_boot = bootstrap_p_values(terms[:, rows].mean(axis=2).T)[0, 1]
    p_t = paired_t_test(terms)[1][0, 1]
    # Monte-Carlo error of a share of 4000, plus the grain of scores that are multiples of 1/400.
    assert abs(p_boot - p_t) < 4.5 * 2 * np.sqrt(p_t / 2 / 4000) + 0.2 * p_t


def test_adjusted_p_values():
    p = np.array([0.001, 0.01, 0.02, 0.04, 0.3, 0.6])
    matrix = np.ones((4, 4))
    upper = np.triu_indices(4, 1)
    matrix[upper] = p
    matrix.T[upper] = p
    expected = {
        "none": p,
        "bonferroni": np.minimum(6 * p, 1),
        "holm": [0.006, 0.05, 0.08, 0.12, 0.6, 0.6],
        "benjamini_hochberg": stats.false_discovery_control(p),
    }
    for name, values in expected.items():
        result = adjusted(matrix, name)
        np.testing.assert_allclose(result[upper], values)
        np.testing.assert_allclose(result, result.T)
    matrix[0, 1] = matrix[1, 0] = np.nan
    assert np.isnan(adjusted(matrix, "holm")[0, 1])
    assert adjusted(matrix, "bonferroni")[0, 2] == pytest.approx(0.05)
    with pytest.raises(InputError, match="multiplicity"):
        adjusted(matrix, "sidak")


def test_copeland_gives_the_order_of_the_paper():
    case = GOLDEN["copeland"]
    assert copeland_rank(case["scores"], case["different"]).values.tolist() == case["rank"]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_copeland_without_tests_is_the_ranking_of_the_scores(scores):
    expected = stats.rankdata(-np.array(scores), method="min")
    assert copeland_rank(scores).values.tolist() == expected.tolist()
    assert set(copeland_rank(scores, np.zeros((len(scores),) * 2)).values.tolist()) == {1}


def test_a_model_without_a_score_has_no_place():
    """The last of three was the fourth, below the model that nobody judged."""
    np.testing.assert_array_equal(copeland_rank([0.9, 0.8, float("nan"), 0.7]), [1, 2, np.nan, 3])
    different = ~np.eye(5, dtype=bool)
    np.testing.assert_array_equal(copeland_rank([0.9, 0.9, 0.8, np.nan, 0.1], different), [1, 1, 3, np.nan, 4])
