"""Draws of the AUC against plain numpy twins, and the ceiling against quadrature."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.metrics.posterior_auc import auc_posterior, ceiling
from studies.binary_crowds import crowdsourced_binary

pytestmark = pytest.mark.filterwarnings("ignore:.*items without labels:UserWarning")

COUNTS = np.array([[3, 0], [2, 1], [1, 2], [0, 3], [1, 1], [4, 2]])
SCORES = np.array([[0.1, 0.3, 0.2, 0.9, 0.9, 0.4], [0.5, 0.4, 0.3, 0.2, 0.1, 0.6]])


def containers():
    scores = {m: np.column_stack([1 - q, q]) for m, q in zip("AB", SCORES)}
    return Labels.from_counts(COUNTS, labels=[0, 1]), Predictions.from_scores(scores, labels=[0, 1])


def assert_same_mean(ours, theirs):
    """Two samples of independent draws: equal means within 4 standard errors."""
    error = np.sqrt(np.var(ours) / np.size(ours) + np.var(theirs) / np.size(theirs))
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * error


def test_draws_are_shared_by_the_models():
    labels, predictions = containers()
    twins = Predictions.from_scores({m: predictions.scores[0] for m in "XY"}, labels=[0, 1])
    auc = auc_posterior(labels, twins, draws=50, random_seed=1)["posterior/auc"]
    np.testing.assert_array_equal(auc.sel(model="X"), auc.sel(model="Y"))


def test_one_score_for_all_items_has_an_area_of_one_half():
    """Whatever the labels: the pseudo-item that models rank right would give .53 [.50, .58] on thirty items."""
    labels, predictions = containers()
    alike = np.full((6, 2), 0.5)
    models = Predictions.from_scores({"A": predictions.scores[0], "alike": alike}, labels=[0, 1])
    auc = auc_posterior(labels, models, draws=50, random_seed=1)["posterior/auc"]
    np.testing.assert_allclose(auc.sel(model="alike"), 0.5, rtol=1e-12)
    np.testing.assert_array_equal(
        auc.sel(model="A"), auc_posterior(labels, predictions, draws=50, random_seed=1)["posterior/auc"].sel(model="A")
    )


@pytest.mark.parametrize("random_seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_label_level_equals_a_plain_dirichlet_process(random_seed):
    """Items, and pseudo-items one by one: 40 of chance on the score of an item, one on top, one at the bottom."""
    tree = auc_posterior(*containers(), draws=2000, random_seed=random_seed)
    share = COUNTS[:, 1] / COUNTS.sum(axis=1)
    chance = 0.25 + 0.5 * (COUNTS[:, 1].sum() + 1) / (COUNTS.sum() + 2)
    rng = np.random.default_rng(random_seed + 100)
    mass = rng.gamma(1.0, size=(8000, 6))
    positive, negative = np.zeros((8000, 8)), np.zeros((8000, 8))
    positive[:, :6], negative[:, :6] = mass * share, mass * (1 - share)
    for _ in range(40):
        weight, item = rng.gamma(2 / 40, size=8000), rng.integers(6, size=8000)
        drawn = rng.random(8000) < chance
        positive[np.arange(8000), item] += weight * drawn
        negative[np.arange(8000), item] += weight * ~drawn
    positive[:, 6], negative[:, 7] = rng.gamma(chance, size=8000), rng.gamma(1 - chance, size=8000)
    for m, name in enumerate("AB"):
        score = np.append(SCORES[m], [2.0, -1.0])
        wins, apart = (np.sign(score[:, None] - score) + 1) / 2, 1 - np.eye(8)
        plain = np.einsum("da,db,ab->d", positive, negative, apart * wins)
        plain /= np.einsum("da,db,ab->d", positive, negative, apart)
        ours = tree["posterior/auc"].sel(model=name).values
        assert_same_mean(ours, plain)
        assert_same_mean(ours**2, plain**2)


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.4, 1.5), (6.0, 2.0)])
def test_ceiling_is_the_area_of_the_true_probabilities(a, b):
    """With the moments of Beta(a, b), against E[p (1 - p') 1(p > p')] / (m (1 - m)) by quadrature."""
    m = a / (a + b)
    second = a * (a + 1) / ((a + b) * (a + b + 1))

    def inner(p):  # E (1 - p') 1(p' < p)
        return beta.cdf(p, a, b) - m * beta.cdf(p, a + 1, b)

    wins, _ = quad(lambda u: (p := beta.ppf(u, a, b)) * inner(p), 0, 1, epsabs=1e-10)
    # Two groups of items whose shares have that mean; `both` holds the second moment. Many items: a != b.
    n = 10**6
    found = ceiling(np.ones((1, n)), np.full(n, m), np.full(n, second)).item()
    assert found == pytest.approx(wins / (m * (1 - m)), abs=3e-6)  # 1/n enters the mean over pairs of items


def test_ceiling_is_found_in_data():
    problem = crowdsourced_binary(
        n_models=1, labels_per_item=9, labels_per_annotator=3, mean_tpr=0.9, mean_fpr=0.1, random_seed=2
    )
    posterior = auc_posterior(problem.labels, problem.predictions, draws=250, random_seed=2)["posterior"]
    share = 0.1 + 0.8 * problem.plausibility
    distance = np.abs(share[:, None] - share).mean()
    expected = 0.5 + distance / (4 * share.mean() * (1 - share.mean()))
    assert abs(posterior["ceiling"].mean() - expected) < 3 * posterior["ceiling"].std()
    # The first model scores items by their true probability: it stands at the ceiling.
    assert abs(posterior["auc"].mean() - posterior["ceiling"].mean()) < 3 * posterior["ceiling"].std()


def test_what_labels_do_not_determine_is_nan_with_its_cause():
    _, predictions = containers()
    one_each = Labels.from_counts(np.eye(2, dtype=int)[[0, 1, 0, 1, 0, 1]], labels=[0, 1])
    with pytest.warns(UserWarning, match="no ceiling"):
        posterior = auc_posterior(one_each, predictions, draws=5, random_seed=1)["posterior"]
    assert np.isnan(posterior["ceiling"]).all()
    assert np.isfinite(posterior["auc"]).all()
    same = Labels.from_counts([[2, 0]] * 6, labels=[0, 1])
    with pytest.warns(UserWarning, match="all labels are of one kind"):
        assert np.isnan(auc_posterior(same, predictions, draws=5, random_seed=1)["posterior/auc"]).all()


def test_ceiling_of_few_items_takes_pairs_of_different_items_only():
    """Three items: an item paired with itself would be a third of the mean over pairs."""
    share, both, weight = np.array([0.9, 0.5, 0.2]), np.array([0.8, 0.3, 0.05]), np.array([1.0, 2.0, 0.5])
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    mass = sum(weight[a] * weight[b] for a, b in pairs)
    mean_square = sum(weight[a] * weight[b] * share[a] * share[b] for a, b in pairs) / mass
    mean, second = (np.average(values, weights=weight) for values in (share, both))
    size = (mean - mean_square) / (second - mean_square) - 1
    a, b = mean * size, (1 - mean) * size

    def difference(p):  # E|p - p'| of a Beta variable is the integral of 2 F (1 - F)
        return 2 * beta.cdf(p, a, b) * beta.sf(p, a, b)

    expected = 0.5 + quad(difference, 0, 1)[0] / (4 * mean * (1 - mean))
    assert ceiling(weight[None], share, both).item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.filterwarnings("always:.*items without labels:UserWarning")
def test_items_without_labels_have_no_part():
    labels, predictions = containers()
    one = Labels.from_counts(np.append(COUNTS, [[0, 0]], axis=0), labels=[0, 1])
    scores = {m: np.append(p, [[0.5, 0.5]], axis=0) for m, p in zip("AB", predictions.scores)}
    with pytest.warns(UserWarning, match="1 items without labels have no part in the AUC: 6"):
        found = auc_posterior(one, Predictions.from_scores(scores, labels=[0, 1]), draws=300, random_seed=1)
    expected = auc_posterior(labels, predictions, draws=300, random_seed=1)
    for name in ("posterior/auc", "posterior/ceiling"):
        assert_same_mean(found[name].values, expected[name].values)
    with pytest.warns(UserWarning) as said:
        auc = auc_posterior(Labels.from_counts(COUNTS * [1, 0], labels=[0, 1]), predictions, draws=2, random_seed=1)
    assert np.isnan(auc["posterior/auc"]).all()
    assert "no AUC: all labels are of one kind" in [str(one.message) for one in said]
