"""DGT, SGT, PGT and their multi-label forms against a plain reading of the paper's algorithms."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.metrics.concordant_pairs import concordance
from bayesagree.metrics.crowd_auc import auc
from studies.binary_crowds import crowdsourced_binary

pytestmark = pytest.mark.filterwarnings("ignore:.*(items without|annotators used one label):UserWarning")


@pytest.fixture(scope="module")
def problem():
    """One problem with every oddity: unlabelled items, tied votes, annotators with one kind of label."""
    return crowdsourced_binary(n_items=150, n_models=4, labels_per_item=3, labels_per_annotator=6, random_seed=5)


def matrix_of(problem):
    matrix = np.full((problem.plausibility.size, problem.tpr.size), np.nan)
    matrix[problem.item_index, problem.annotator_index] = problem.positive
    return matrix


def test_pgt_is_algorithm_3(problem):
    matrix = matrix_of(problem)
    share = (np.nansum(matrix, axis=1) + 0.5) / ((~np.isnan(matrix)).sum(axis=1) + 1)
    found = auc(problem.labels, problem.predictions)
    np.testing.assert_allclose(found, concordance(problem.scores, share), rtol=1e-12)
    laplace = (np.nansum(matrix, axis=1) + 1) / ((~np.isnan(matrix)).sum(axis=1) + 2)
    found = auc(problem.labels, problem.predictions, prior=1)
    np.testing.assert_allclose(found, concordance(problem.scores, laplace), rtol=1e-12)


def test_sgt_is_algorithm_2(problem):
    matrix, total, expected = matrix_of(problem), 0, np.zeros(4)
    for column in matrix.T:
        own = ~np.isnan(column)
        if 0 < np.nansum(column) < own.sum():
            total += own.sum()
            expected += own.sum() * np.array([roc_auc_score(column[own], q[own]) for q in problem.scores])
    found = auc(problem.labels, problem.predictions, method="sgt")
    np.testing.assert_allclose(found, expected / total, rtol=1e-12)


def test_dgt_is_algorithm_1_on_the_items_without_ties(problem):
    matrix = matrix_of(problem)
    lead = np.nansum(2 * matrix - 1, axis=1)
    decided = lead != 0
    with pytest.warns(UserWarning, match=rf"\b{(~decided).sum()} items without informative labels"):
        found = auc(problem.labels, problem.predictions, method="dgt", ties="exclude")
    expected = [roc_auc_score(lead[decided] > 0, q[decided]) for q in problem.scores]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_dgt_throws_one_coin_per_tie_for_all_models():
    labels = Labels.from_counts([[1, 1]] * 30 + [[2, 0], [0, 2]], labels=[0, 1])
    same = {f"m{k}": np.column_stack([np.arange(32), -np.arange(32)]).astype(float) for k in range(6)}
    predictions = Predictions.from_scores(same, labels=[0, 1])
    assert np.ptp(auc(labels, predictions, method="dgt", random_seed=1).values) == 0
    coins = [float(auc(labels, predictions, method="dgt", random_seed=s)[0]) for s in range(40)]
    spread = np.std(coins)
    assert 0.02 < spread < 0.3  # a coin is thrown, and moves the area of 32 items by about one standard error
    np.testing.assert_array_equal(
        auc(labels, predictions, method="dgt", random_seed=3), auc(labels, predictions, method="dgt", random_seed=3)
    )


def three_labels():
    rng = np.random.default_rng(8)
    matrix = rng.integers(0, 3, (60, 5)).astype(float)
    matrix[rng.random(matrix.shape) < 0.2] = np.nan
    scores = rng.dirichlet(np.ones(3), (2, 60))
    labels = Labels.from_matrix(matrix, labels=[0, 1, 2])
    return labels, Predictions.from_scores(dict(zip("AB", scores)), labels=[0, 1, 2]), matrix, scores


def test_one_vs_rest_is_auc_of_relabelled_annotations():
    labels, predictions, matrix, scores = three_labels()
    for method in ("sgt", "pgt"):
        found = auc(labels, predictions, method=method)
        for k in range(3):
            binary = Labels.from_matrix(np.where(np.isnan(matrix), np.nan, matrix == k))
            pairs = {m: np.stack([-s[:, k], s[:, k]], axis=-1) for m, s in zip("AB", scores)}
            expected = auc(binary, Predictions.from_scores(pairs, labels=[0, 1]), method=method)
            np.testing.assert_allclose(found.sel(category=k), expected, rtol=1e-12)


def test_known_labels_equal_sklearn():
    rng = np.random.default_rng(3)
    truth, scores = rng.integers(0, 4, 200), rng.dirichlet(np.ones(4), 200)
    labels = Labels.from_matrix(truth[:, None], labels=range(4))
    predictions = Predictions.from_scores({"A": scores})
    for method in ("dgt", "sgt"):
        found = auc(labels, predictions, method=method, random_seed=0)
        assert found.mean().item() == pytest.approx(roc_auc_score(truth, scores, multi_class="ovr"), abs=1e-12)


def test_uninformative_items_and_annotators_are_named():
    labels = Labels.from_matrix([[0, 0], [1, 0], [np.nan, np.nan]], items=["x", "y", "z"], annotators=["p", "q"])
    predictions = Predictions.from_labels({"A": [0, 1, 1]}, items=["x", "y", "z"], labels=[0, 1])
    with pytest.warns(UserWarning, match=r"1 annotators used one label.*'q'"):
        assert auc(labels, predictions, method="sgt").item() == 1
    with pytest.warns(UserWarning, match=r"1 items.*stay at one half.*'z'"):
        auc(labels, predictions)
    with pytest.warns(UserWarning, match=r"items.*have no part.*'z'"):
        auc(labels, predictions, prior=0)


def test_an_area_that_does_not_exist_is_nan_with_its_cause():
    labels = Labels.from_counts([[3, 0], [2, 0]], labels=[0, 1])
    predictions = Predictions.from_labels({"A": [0, 1]}, labels=[0, 1])
    for method in ("dgt", "pgt"):
        with pytest.warns(UserWarning, match="no AUC: nobody used both labels"):
            assert np.isnan(auc(labels, predictions, method=method, random_seed=0)).all()


def test_generator_has_the_moments_of_the_paper():
    problem = crowdsourced_binary(n_items=4000, n_models=3, labels_per_item=20, labels_per_annotator=40, random_seed=11)
    n = problem.positive.size
    assert problem.tpr.size == 2000
    assert abs(n - 80_000) < 4 * np.sqrt(80_000)
    for values, mean in ((problem.tpr, 0.7), (problem.fpr, 0.3), (problem.plausibility, 0.5)):
        assert abs(values.mean() - mean) < 4 * values.std() / np.sqrt(values.size)
    p, j = problem.plausibility[problem.item_index], problem.annotator_index
    expected = p * problem.tpr[j] + (1 - p) * problem.fpr[j]
    assert abs((problem.positive - expected).mean()) < 4 * 0.5 / np.sqrt(n)
    cells = problem.item_index.astype(np.int64) * 2000 + j
    assert (np.diff(cells) > 0).all()  # sorted by item, then annotator; nobody labels an item twice
    np.testing.assert_array_equal(problem.scores[0], problem.plausibility)
    # E q - p = h (1 - 2 p) / 2 for the most disturbed model, h = .45
    residual = problem.scores[2] - problem.plausibility - 0.45 * (1 - 2 * problem.plausibility) / 2
    assert abs(residual.mean()) < 4 * residual.std() / np.sqrt(4000)


def test_a_missing_label_is_refused_without_naming_options_that_auc_lacks():
    models = Predictions.from_labels({"A": ["x", "y"], "B": ["x", None]}, labels=["x", "y"])
    with pytest.raises(InputError, match="model 'B', item 1: no label; the AUC needs a score or a label"):
        auc(Labels.from_matrix([["x", "y"], ["y", "y"]]), models)
