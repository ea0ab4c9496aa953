"""Regions of plausibilities: the reference's values, brute force over the simplex, and the guarantee."""

import json

import _conformal as cases
import numpy as np
import pytest
import scipy as sp
from _paths import ROOT

import bayesagree as ba
from bayesagree import InputError, Labels, Predictions
from bayesagree.conformal import plausibility_regions
from bayesagree.conformal.regions import DISTANCES

GOLDEN = json.loads((ROOT / "tests" / "golden" / "conformal.json").read_text())
STEP = 30
GRID = np.array([(i, j, STEP - i - j) for i in range(STEP + 1) for j in range(STEP + 1 - i)]) / STEP


def test_expected_conformity_of_the_reference():
    golden = GOLDEN["expected_conformity"]
    for plausibility, expected in zip(golden["plausibility"], golden["expected"]):
        found = DISTANCES["inner"].between(np.array([plausibility]), np.array(golden["conformity"]))
        np.testing.assert_allclose(1 - found[0], expected)


def test_regions_of_the_reference():
    golden = GOLDEN["region_grid"]
    draws = np.repeat(np.array(golden["plausibility"])[:, None], 3, axis=1)
    conformity = 1 - DISTANCES["inner"].between(draws, np.array(golden["conformity"], dtype=float))
    for threshold, inside in zip(golden["threshold"], golden["inside"]):
        np.testing.assert_array_equal(threshold <= conformity.T, np.array(inside, dtype=bool))


@pytest.mark.parametrize("name", DISTANCES)
def test_distances_beside_scipy(name):
    rng = np.random.default_rng(1)
    draws, p = rng.dirichlet([1, 1, 1, 1], (3, 5)), rng.dirichlet([1, 1, 1, 1], 5)
    expected = {
        "tv": lambda a, b: sp.spatial.distance.cityblock(a, b) / 2,
        "kl": lambda a, b: sp.stats.entropy(a, b),
        "wasserstein": lambda a, b: sp.stats.wasserstein_distance(range(4), range(4), a, b),
        "inner": lambda a, b: 1 - np.dot(a, b),
    }[name]
    found = DISTANCES[name].between(draws, p)
    np.testing.assert_allclose(found, [[expected(d, q) for d, q in zip(row, p)] for row in draws], atol=1e-12)


@pytest.mark.parametrize("name", DISTANCES)
def test_the_shortest_way_to_another_top_label_is_the_shortest_of_a_grid(name):
    """Every grid point with the label on top is at least so far, and some grid point is hardly farther."""
    p = np.random.default_rng(2).dirichlet([0.8, 0.8, 0.8], 20)
    p[0], p[1] = [1, 0, 0], [0.5, 0.5, 0]
    found = DISTANCES[name].to_top(p)
    apart = DISTANCES[name].between(np.repeat(GRID[:, None], 20, axis=1), p)
    for k in range(3):
        best = apart[GRID[:, k] >= GRID.max(axis=1)].min(axis=0)
        assert (found[:, k] <= best + 1e-9).all()
        near = np.isfinite(best)
        # Corners of the region of label k lie on the grid: (1, 0, 0), (1/2, 1/2, 0), (1/3, 1/3, 1/3).
        assert (best[near] - found[near, k] < (1e-9 if name == "inner" else 2.5 / STEP)).all()
        assert (np.isinf(found[~near, k])).all()


@pytest.mark.parametrize("name", ["tv", "kl", "wasserstein"])
def test_the_nearest_plausibilities_with_a_label_on_top_by_an_optimiser(name):
    p = np.random.default_rng(3).dirichlet(np.ones(5), 6)
    found = DISTANCES[name].to_top(p)
    for own, row in zip(p, found):
        for k in range(5):
            on_top = [{"type": "ineq", "fun": lambda q, j=j, k=k: q[k] - q[j]} for j in range(5) if j != k]

            # Distances other than the divergence have kinks: their sums of absolute values are smoothed.
            def distance(q, own=own):
                if name == "kl":
                    return sp.special.rel_entr(np.maximum(q, 1e-15), own).sum()
                step = q - own if name == "tv" else np.cumsum(q - own)
                return np.sqrt(step**2 + 1e-10).sum() / (2 if name == "tv" else 1)

            best = min(
                sp.optimize.minimize(
                    distance, start, bounds=[(0, 1)] * 5, method="SLSQP", options={"maxiter": 500, "ftol": 1e-12},
                    constraints=[{"type": "eq", "fun": lambda q: q.sum() - 1}, *on_top],
                ).fun
                for start in (np.full(5, 0.2), 0.5 * own + 0.5 * np.eye(5)[k])
            )  # fmt: skip
            assert row[k] <= best + 1e-4
            assert row[k] >= best - 1e-3


@pytest.mark.parametrize("name", DISTANCES)
def test_regions_hold_the_plausibilities_of_new_items(name):
    truth, predictions = cases.items(600, n_labels=3)
    regions = plausibility_regions(truth[:300], predictions, distance=name)
    inside = regions.contains(predictions, truth[300:]).mean()
    # Given the calibration the coverage is Beta(271, 30), the mean of 300 items adds binomial error: sd .025 in all.
    assert abs(float(inside) - 0.9) < 4.5 * 0.025


def test_the_labels_are_those_of_the_plausibilities_inside():
    truth, predictions = cases.items(200, n_labels=3)
    for name in DISTANCES:
        regions = plausibility_regions(truth, predictions, distance=name, coverage=0.8)
        labels = regions.labels(predictions).values[0]
        p = predictions.scores[0]
        apart = DISTANCES[name].between(np.repeat(GRID[:, None], 200, axis=1), p)
        for k in range(3):
            on_top = GRID[:, k] >= GRID.max(axis=1)
            seen = (apart[on_top] <= float(regions.radius[0])).any(axis=0)
            assert (labels[:, k] >= seen).all()
            assert (labels[:, k] != seen).mean() < 0.1  # the grid misses narrow corners


def test_all_draws_calibrate():
    truth, predictions = cases.items(80, n_labels=3)
    counts = np.random.default_rng(1).multinomial(5, truth.values / truth.values.sum(axis=1, keepdims=True))
    tree = ba.dirichlet(Labels.from_counts(counts), prior=1.0, draws=50, chains=2, seed=1)
    regions = plausibility_regions(tree, predictions, coverage=0.8)
    draws = tree["posterior"]["plausibility"].values.reshape(100, 80, 3).astype(np.float64)
    apart = DISTANCES["tv"].between(draws, predictions.scores[0])
    least = np.sort(apart.ravel())[::-1]
    # The radius is the smallest distance that at most alpha (n + 1) - 1 items' worth of draws exceed.
    assert float(regions.radius[0]) == pytest.approx(least[int((0.2 * 81 - 1) * 100 + 1e-6)], abs=1e-12)


def test_bad_input():
    truth, predictions = cases.items(30, n_labels=3)
    with pytest.raises(InputError, match="distance='hellinger'"):
        plausibility_regions(truth, predictions, distance="hellinger")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="compares probabilities"):
        plausibility_regions(truth, Predictions.from_scores({"A": predictions.scores[0] * 3}))
    regions = plausibility_regions(truth, predictions)
    with pytest.raises(InputError, match="other categories"):
        regions.contains(predictions, truth[:, ::-1])
    with pytest.raises(InputError, match="model 'B' was not calibrated"):
        regions.labels(Predictions.from_scores({"B": predictions.scores[0]}))
