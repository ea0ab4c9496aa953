"""Metrics of predicted numbers beside their oracle: distributions, weights, samples of a truth, missing numbers."""

import numpy as np
import pytest
from scipy import stats

from bayesagree import InputError, Predictions, Ratings, compare, evaluate, normal_inverse_gamma, score
from bayesagree.metrics.curves import midranks
from bayesagree.metrics.values import crps

RNG = np.random.default_rng(5)
TRUTH = RNG.normal(50, 1, 70)
RATINGS = Ratings.from_matrix(TRUTH[:, None] + RNG.normal(0, 0.7, (70, 3)), scale=(0, 100))
MODELS = Predictions.from_numbers({"A": TRUTH + RNG.normal(0.2, 0.8, 70), "B": TRUTH + RNG.normal(-1, 0.9, 70)})


def test_crps_of_fine_quantiles_is_that_of_the_normal_distribution():
    """Gneiting and Raftery, equation 21."""
    levels = (np.arange(4000) + 0.5) / 4000
    z = np.array([-1.3, 0.0, 2.0])
    exact = z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi)
    np.testing.assert_allclose(crps(stats.norm.ppf(levels)[None], levels, z[None])[0], exact, atol=2e-4)


def test_spearman_with_weights_is_that_of_repeated_items():
    values, times = RNG.integers(0, 5, 30).astype(float), RNG.integers(1, 4, 30)
    ranks = stats.rankdata(np.repeat(values, times))
    found = np.repeat(midranks(values, times.astype(float)), times)
    np.testing.assert_allclose(found, ranks - ranks.mean(), atol=1e-12)


def test_a_sampled_truth_is_one_more_rating():
    truth = normal_inverse_gamma(RATINGS, draws=2000, random_seed=1)
    posterior = truth["posterior"].to_dataset()
    found = score(truth, MODELS, "rmse", truth_is="sampled", random_seed=1)
    squared = (posterior["mean"].values[..., None] - MODELS.points().T[None, None]) ** 2
    expected = squared.mean(axis=(0, 1, 2)) + posterior["variance"].values.mean()
    np.testing.assert_allclose((found**2).mean(("chain", "draw")), expected, rtol=0.01)


@pytest.mark.parametrize(
    ("plausibility", "tiers"),
    [("normal_inverse_gamma", [1, 1, 1]), pytest.param("auto", [1, 2, 3], marks=pytest.mark.long)],
)
def test_nearest_to_zero_is_the_better_bias(plausibility, tiers):
    models = Predictions.from_numbers({"low": TRUTH - 2, "near": TRUTH + 0.1, "high": TRUTH + 1})
    how = {"plausibility": plausibility, "metrics": ["bias"], "draws": 50, "random_seed": 1}
    found = compare(evaluate(RATINGS, models, **how))
    assert found.index.tolist() == ["near", "high", "low"] and found["tier"].tolist() == tiers
    assert found["score"]["low"] < 0 < found["score"]["high"]


def test_missing_numbers():
    points = TRUTH.copy()
    points[3] = np.nan
    models = Predictions.from_numbers({"A": points})
    how = {"plausibility": "normal_inverse_gamma", "metrics": ["mae"], "draws": 5}
    with pytest.raises(InputError, match="no prediction for 1 of 70 items: 3"):
        evaluate(RATINGS, models, **how)
    assert evaluate(RATINGS, models, missing="skip", **how)["certainty"].sizes["item"] == 69


def test_wrong_kinds_are_refused():
    sides = Predictions.from_labels({"A": ["below"] * 70}, labels=["below", "at_or_above"])
    with pytest.raises(InputError, match=r"mae needs numbers \(Predictions.from_numbers\)"):
        evaluate(RATINGS, sides, metrics=["mae"], threshold=50)
    with pytest.raises(InputError, match="accuracy needs labels"):
        evaluate(RATINGS, MODELS, metrics=["accuracy"])
    with pytest.raises(InputError, match="the posterior has plausibility"):
        from bayesagree import Labels, dirichlet

        score(dirichlet(Labels.from_counts([[1, 2]] * 70), draws=2), MODELS, "mae")
