"""Metrics of predicted numbers, each draw by scipy or scikit-learn."""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk

from bayesagree import InputError, Predictions, Ratings, compare, evaluate, normal_inverse_gamma, score
from bayesagree.metrics._whole_parts import crps
from bayesagree.metrics.registry import Metric

RNG = np.random.default_rng(5)
TRUTH = RNG.normal(50, 1, 70)  # spread over two blocks of items, far from 0
RATINGS = Ratings.from_matrix(TRUTH[:, None] + RNG.normal(0, 0.7, (70, 3)), scale=(0, 100))
SAMPLES = (TRUTH + RNG.normal(0, 0.5, 70))[:, None] + RNG.normal(0, 0.4, (70, 21))
MODELS = Predictions.from_numbers({"points": TRUTH.round() + 0.2, "samples": SAMPLES})
POSTERIOR = normal_inverse_gamma(RATINGS, draws=5, chains=2, seed=1)
MEANS = POSTERIOR["posterior"]["mean"].values.reshape(10, 70)


def lin(m, y):
    return 2 * np.cov(m, y, ddof=0)[0, 1] / (m.var() + y.var() + (m.mean() - y.mean()) ** 2)


def energy(m, samples):
    """CRPS of samples by its definition with expected distances."""
    away = np.abs(samples - m[:, None]).mean(axis=1)
    return (away - np.abs(samples[:, :, None] - samples[:, None, :]).mean(axis=(1, 2)) / 2).mean()


PLAIN = {
    "mae": sk.mean_absolute_error,
    "rmse": lambda m, y: sk.mean_squared_error(m, y) ** 0.5,
    "bias": lambda m, y: (y - m).mean(),
    "pearson": lambda m, y: stats.pearsonr(m, y).statistic,
    "spearman": lambda m, y: stats.spearmanr(m, y).statistic,
    "concordance": lin,
}


@pytest.mark.parametrize("name", PLAIN)
def test_every_draw_equals_the_plain_function(name):
    found = score(POSTERIOR, MODELS, name).values.reshape(10, 2)
    expected = [[PLAIN[name](m, y) for y in MODELS.points()] for m in MEANS]
    np.testing.assert_allclose(found, expected, atol=1e-10)
    tree = evaluate(RATINGS, MODELS, plausibility="normal_inverse_gamma", metrics=[name], draws=5, chains=2, seed=1)
    np.testing.assert_allclose(tree["posterior"][name].values.reshape(10, 2), found, atol=1e-6)


def test_crps_is_that_of_the_samples():
    found = score(POSTERIOR, MODELS, "crps").values.reshape(10, 2)
    np.testing.assert_allclose(found[:, 1], [energy(m, SAMPLES) for m in MEANS], atol=1e-10)
    np.testing.assert_allclose(found[:, 0], score(POSTERIOR, MODELS, "mae").values.reshape(10, 2)[:, 0], atol=1e-10)


def test_crps_of_fine_quantiles_is_that_of_the_normal_distribution():
    """Gneiting and Raftery, equation 21."""
    levels = (np.arange(4000) + 0.5) / 4000
    z = np.array([-1.3, 0.0, 2.0])
    exact = z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi)
    np.testing.assert_allclose(crps(stats.norm.ppf(levels)[None], levels, z[None])[0], exact, atol=2e-4)


def test_interval_coverage_counts_truths_between_quantiles():
    import pandas as pd

    quantiles = pd.DataFrame({0.05: TRUTH - 0.5, 0.5: TRUTH, 0.95: TRUTH + 0.3})
    models = Predictions.from_numbers({"A": quantiles})
    inside = ((MEANS >= TRUTH - 0.5) & (MEANS <= TRUTH + 0.3)).mean(axis=1)
    np.testing.assert_allclose(score(POSTERIOR, models, "interval_coverage_90").values.ravel(), inside, atol=1e-12)
    with pytest.raises(InputError, match=r"needs quantiles at 0\.01 and 0\.99"):
        score(POSTERIOR, models, "interval_coverage_98")


def test_spearman_with_weights_is_that_of_repeated_items():
    from bayesagree.metrics._whole_parts import _midranks

    values, times = RNG.integers(0, 5, 30).astype(float), RNG.integers(1, 4, 30)
    ranks = stats.rankdata(np.repeat(values, times))
    found = np.repeat(_midranks(values, times.astype(float)), times)
    np.testing.assert_allclose(found, ranks - ranks.mean(), atol=1e-12)


def test_a_sampled_truth_is_one_more_rating():
    truth = normal_inverse_gamma(RATINGS, draws=2000, seed=1)
    posterior = truth["posterior"].to_dataset()
    found = score(truth, MODELS, "rmse", truth_is="sampled", seed=1)
    squared = (posterior["mean"].values[..., None] - MODELS.points().T[None, None]) ** 2
    expected = squared.mean(axis=(0, 1, 2)) + posterior["variance"].values.mean()
    np.testing.assert_allclose((found**2).mean(("chain", "draw")), expected, rtol=0.01)


def test_nearest_to_zero_is_the_better_bias():
    models = Predictions.from_numbers({"low": TRUTH - 2, "near": TRUTH + 0.1, "high": TRUTH + 1})
    found = compare(evaluate(RATINGS, models, metrics=["bias"], draws=50, seed=1), metric="bias")
    assert found["rank_probability"].values.argmax(axis=1).tolist() == [2, 0, 1]


def test_functions_slices_and_bootstrap_take_numbers():
    how = {"plausibility": "normal_inverse_gamma", "draws": 5, "chains": 2, "seed": 1}
    tree = evaluate(RATINGS, MODELS, metrics=[sk.median_absolute_error, "mae"], **how)
    expected = [[sk.median_absolute_error(m, y) for y in MODELS.points()] for m in MEANS]
    np.testing.assert_allclose(tree["posterior"]["median_absolute_error"].values.reshape(10, 2), expected, atol=1e-5)
    names = ["mae", "spearman", "concordance"]
    both = evaluate(RATINGS, MODELS, metrics=names, items="bootstrap", by=np.arange(70) % 2, **how)
    assert both["slices"].to_dataset().notnull().all().to_dataarray().all()
    assert (both["variance"]["mae"].sel(part="test_set") > 0).all()


def test_missing_numbers():
    points = TRUTH.copy()
    points[3] = np.nan
    models = Predictions.from_numbers({"A": points})
    with pytest.raises(InputError, match="no prediction for 1 of 70 items: 3"):
        evaluate(RATINGS, models, metrics=["mae"])
    assert evaluate(RATINGS, models, metrics=["mae"], missing="skip", draws=5)["certainty"].sizes["item"] == 69


def test_wrong_kinds_are_refused():
    sides = Predictions.from_labels({"A": ["below"] * 70}, labels=["below", "at_or_above"])
    with pytest.raises(InputError, match=r"mae needs numbers \(Predictions.from_numbers\)"):
        evaluate(RATINGS, sides, metrics=["mae"], threshold=50)
    with pytest.raises(InputError, match="accuracy needs labels"):
        evaluate(RATINGS, MODELS, metrics=["accuracy"])
    with pytest.raises(InputError, match="the posterior has plausibility"):
        from bayesagree import Labels, dirichlet

        score(dirichlet(Labels.from_counts([[1, 2]] * 70), draws=2), MODELS, "mae")


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({}, "there is no model"),
        ({"A": [1.0, np.inf]}, "infinite number"),
        ({"A": [[1, 2], [3, 4]], "B": [[1, 2, 3], [3, 4, 5]]}, "the same number of samples"),
        ({"A": ["x", 1]}, "is not a number"),
    ],
)
def test_bad_numbers(numbers, message):
    with pytest.raises(InputError, match=message):
        Predictions.from_numbers(numbers)


def test_falling_quantiles_are_refused():
    import pandas as pd

    with pytest.raises(InputError, match="the quantiles fall"):
        Predictions.from_numbers({"A": pd.DataFrame({0.1: [1.0], 0.9: [0.5]})})


@pytest.mark.parametrize(
    ("name", "attrs"),
    [
        ("interval_coverage_80", {"higher_is_better": 0, "best": 0.8}),
        ("interval_coverage", {"higher_is_better": 0, "best": 0.9}),
        ("bias", {"best": 0.0}), ("mae", {"higher_is_better": 0}), ("top_1_accuracy", {"higher_is_better": 1}),
    ],
)  # fmt: skip
def test_attributes_say_which_scores_are_best(name, attrs):
    found = Metric.of(name).attrs
    assert {key: found.get(key) for key in attrs} == attrs
    assert ("best" in found) == ("best" in attrs)


def test_items_without_a_number_are_skipped_by_a_posterior_too():
    numbers = np.linspace(1, 5, RATINGS.items.size)
    given = {"all": numbers, "none of the first": np.append(np.nan, numbers[1:])}
    skipped = score(POSTERIOR, Predictions.from_numbers(given), "mae", missing="skip")
    rest = Predictions.from_numbers({name: values[1:] for name, values in given.items()}, items=RATINGS.items[1:])
    np.testing.assert_allclose(skipped, score(POSTERIOR.isel(item=slice(1, None)), rest, "mae"))
