"""Calibration against gold: recovers a known exponent, keeps its own uncertainty, and refuses what cannot work."""

from collections.abc import Sequence

import numpy as np
import pytest
import xarray as xr
from scipy import special, stats

from bayesagree.datasets.simulate import crowd_labels
from bayesagree.errors import InputError
from bayesagree.plausibility.calibration import calibrate, calibration_scores, draw_parameters, label_probability
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene


def claims(n_items: int, eta: float, random_seed: int, offset: Sequence[float] = (0, 0, 0)) -> tuple[xr.DataTree, dict]:
    """Return a posterior whose probabilities are right once raised to the power eta and weighed, and all gold."""
    rng = np.random.default_rng(random_seed)
    earned = rng.dirichlet([0.7, 0.4, 0.2], n_items)
    claimed = special.softmax((np.log(np.maximum(earned, 1e-9)) - offset) / eta, axis=1)
    truth = (np.cumsum(earned, axis=1) < rng.random((n_items, 1))).sum(axis=1)
    probability = xr.DataArray(
        claimed, dims=("item", "category"), coords={"item": np.arange(n_items), "category": np.arange(3)}
    )
    draws = probability.expand_dims(chain=2, draw=100).transpose("chain", "draw", "item", "category")
    tree = xr.DataTree.from_dict({"/posterior": xr.Dataset({"plausibility": draws})})
    return tree, dict(enumerate(np.minimum(truth, 2).tolist()))


@pytest.mark.parametrize("eta", [0.2, 0.6, 1.0])
def test_the_exponent_is_recovered_within_its_own_uncertainty(eta):
    tree, gold = claims(2000, eta, random_seed=1)
    done: list[int] = []
    known = {i: gold[i] for i in range(300)}
    calibrated = calibrate(tree, known, random_seed=2, progress=done.append)
    exponent = calibrated["posterior"]["exponent"].values
    assert sum(done) == exponent.size
    # A draw has one true label of each item, as often as its probability says.
    shares, expected = calibrated["posterior"]["plausibility"].values, calibrated["derived"]["label_probability"].values
    np.testing.assert_allclose(shares.sum(axis=3), 1, rtol=1e-6)
    assert shares.max(axis=3).min() > 0.99
    often, n = (shares > 0.5).sum(axis=(0, 1)), exponent.size
    assert np.minimum(stats.binom.cdf(often, n, expected), stats.binom.sf(often - 1, n, expected)).min() > 1e-8
    assert calibrated["constant_data"]["is_gold"].values.tolist() == [i < 300 for i in range(2000)]
    assert abs(exponent.mean() - eta) < 4 * exponent.std()
    assert exponent.std() < 0.25 * eta


@pytest.mark.long
def test_the_exponent_covers_the_truth_as_often_as_it_says():
    """Equal-tailed 80 % intervals of eta drawn from its prior cover it in 80 % of 40 repetitions (binomial 4 sd)."""
    rng, inside = np.random.default_rng(3), 0
    for random_seed in range(40):
        eta = float(np.exp(rng.normal(-0.7, 1.0)))
        tree, gold = claims(80, eta, random_seed=random_seed, offset=rng.normal(0, 0.5, 3).tolist())
        low, high = np.quantile(calibrate(tree, gold, random_seed=random_seed)["posterior"]["exponent"], [0.1, 0.9])
        inside += low < eta < high
    assert abs(inside / 40 - 0.8) < 4 * np.sqrt(0.8 * 0.2 / 40)


def test_offsets_of_labels_are_recovered_and_may_change_the_best_label():
    tree, gold = claims(3000, 0.5, random_seed=8, offset=(0.8, -0.4, -0.4))
    used, rest = {i: gold[i] for i in range(300)}, {i: gold[i] for i in range(300, 3000)}
    calibrated = calibrate(tree, used, random_seed=1)
    offset = calibrated["posterior"].to_dataset()["offset"].transpose("chain", "draw", "category").values.reshape(-1, 3)
    gain = offset[:, 0] - offset[:, 1]
    assert abs(gain.mean() - 1.2) < 4 * gain.std()
    before = calibration_scores(label_probability(tree), rest)
    after = calibration_scores(label_probability(calibrated), rest)
    assert after["mean_accuracy"] > before["mean_accuracy"]


def test_parameters_have_their_posterior_means():
    """Two labels, thirty gold items: means and variances against quadrature over log eta and both offsets."""
    from arviz_stats.base.array import array_stats

    tree, gold = claims(30, 0.4, random_seed=9)
    log_p = np.log(np.maximum(label_probability(tree).values[:, :2], 1e-12))
    codes = np.minimum(np.array([gold[i] for i in range(30)]), 1)
    axes = [np.linspace(-6, 3, 46), np.linspace(-2.4, 2.4, 25), np.linspace(-2.4, 2.4, 25)]
    grid = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
    logits = np.exp(grid[:, :1, None]) * log_p + grid[:, None, 1:]
    log_posterior = special.log_softmax(logits, axis=2)[:, np.arange(30), codes].sum(axis=1)
    log_posterior -= 0.5 * ((grid[:, 0] + 0.7) ** 2 + (grid[:, 1:] ** 2).sum(axis=1) / 0.25)
    mass = special.softmax(log_posterior)
    mean = mass @ grid
    draws = draw_parameters(log_p, codes, 500, 4, np.random.default_rng(1))
    for moment, expected in ((draws, mean), ((draws - mean) ** 2, mass @ (grid - mean) ** 2)):
        error = array_stats.mcse(moment, chain_axis=0, draw_axis=1, method="mean")
        assert (np.abs(moment.mean(axis=(0, 1)) - expected) < 4.5 * error).all()


def test_calibrated_confidence_meets_accuracy_on_other_items():
    tree, gold = claims(4000, 0.4, random_seed=4)
    used, rest = {i: gold[i] for i in range(200)}, {i: gold[i] for i in range(200, 4000)}
    before = calibration_scores(label_probability(tree), rest)
    calibrated = calibrate(tree, used, random_seed=1)
    after = calibration_scores(label_probability(calibrated), rest)
    assert before["gap"] > 0.08
    mean = calibrated["posterior"]["mean_confidence"]
    assert abs(after["gap"]) < 4 * np.hypot(float(mean.std()), 0.5 / np.sqrt(3800))
    assert after["log_score"] > before["log_score"]
    np.testing.assert_allclose(label_probability(calibrated).sum("category"), 1, atol=1e-12)


def test_the_error_of_ten_bins_is_their_weighted_gap():
    tree, gold = claims(500, 0.5, random_seed=6)
    probability, names = label_probability(tree), range(500)
    sure, right = probability.max("category").values, probability.argmax("category").values == [gold[i] for i in names]
    bins = [(sure > k / 10) & (sure <= (k + 1) / 10) for k in range(10)]
    error = sum(one.sum() * abs(sure[one].mean() - right[one].mean()) for one in bins if one.any()) / 500
    assert calibration_scores(probability, gold)["calibration_error"] == pytest.approx(error)


def test_inputs_that_cannot_calibrate_are_refused():
    tree, _ = claims(20, 0.5, random_seed=7)
    with pytest.raises(InputError, match="gold is empty"):
        calibrate(tree, {})
    with pytest.raises(InputError, match="gold item 99"):
        calibrate(tree, {99: 0})
    with pytest.raises(InputError, match="label 7"):
        calibrate(tree, {0: 7})
    crowd = crowd_labels(n_items=20, n_annotators=5, random_seed=1)
    taught = dawid_skene(crowd.labels, gold={0: 1}, draws=20, chains=1, random_seed=1)
    with pytest.raises(InputError, match="fitted with gold"):
        calibrate(taught, {1: 1})
