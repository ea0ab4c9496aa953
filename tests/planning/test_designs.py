"""Plans: widths against studies that are really made, costs and the cheapest design."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesagree import agreement_table, plan
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.planning._worlds import LabelWorld, Studies


def crowd(rng, n_items, n_votes):
    truth = rng.dirichlet([0.5, 0.3], n_items)
    return truth, Labels.from_counts(rng.multinomial(n_votes, truth))


@pytest.mark.long
def test_widths_of_kappa_are_those_of_real_studies():
    rng = np.random.default_rng(1)
    _, pilot = crowd(rng, 300, 4)
    how = {"metric": "fleiss_kappa", "replicates": 8, "random_seed": 1}
    found = plan(pilot, items=[100, 400], annotators=[2, 6], **how)["width"]
    for n_items in (100, 400):
        for n_votes in (2, 6):
            studies = [agreement_table(crowd(rng, n_items, n_votes)[1], random_seed=s) for s in range(10)]
            widths = [(t["upper"] - t["lower"])[t["coefficient"] == "fleiss_kappa"].item() for t in studies]
            assert found.sel(items=n_items, annotators=n_votes) == pytest.approx(np.mean(widths), rel=0.2)


def variance_by_rows_and_columns(table):
    """Analysis of variance of a table (design, world): variance of the worlds' own shifts, and of the rest."""
    n_designs, n_worlds = table.shape
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    within = (rest**2).sum() / ((n_designs - 1) * (n_worlds - 1))
    between = n_designs * ((table.mean(axis=0) - table.mean()) ** 2).sum() / (n_worlds - 1)
    return max((between - within) / n_designs, 0), within, between / n_designs


@pytest.mark.parametrize("spread", [0.02, 0.3])
def test_widths_of_other_designs_follow_the_laws_that_simulated_ones_obey(spread):
    """One annotator: a power of the items. More: a variance of a / n + b / (n k) + c / (n k^2), which fits exactly."""
    items, annotators = np.array([40, 160, 50, 50, 200, 80]), np.array([1, 1, 2, 3, 5, 9])
    a, b, c = 0.3, 1.7, 0.9
    exact = np.sqrt((a + b / annotators + c / annotators**2) / items)
    exact[:2] = 1.3 * items[:2] ** -0.3
    # Worlds differ by a common factor and a factor of their own; their logarithms sum to zero in each design.
    rng = np.random.default_rng(3)
    noise = 0.1 * rng.normal(size=(6, 7))
    noise += spread * rng.normal(size=7) - noise.mean(axis=0)
    noise -= noise.mean(axis=1, keepdims=True)
    studies = Studies(
        items, annotators, exact[:, None] * np.exp(noise), np.empty((6, 0, 0)), np.empty((7, 0)), *np.empty((2, 0))
    )
    sizes, votes = np.array([30, 90, 700]), np.array([1, 2, 3, 5, 9])
    width, reach = studies.widths(sizes, votes)
    np.testing.assert_allclose(width[:, 0], 1.3 * sizes**-0.3)
    expected = np.sqrt((a + b / votes[1:] + c / votes[1:] ** 2) / sizes[:, None])
    np.testing.assert_allclose(width[:, 1:], expected, rtol=1e-6)
    world, own, mean = variance_by_rows_and_columns(noise)
    assert (world > 0) == (spread > 0.1)
    variance = world + own * items[-1] / sizes + mean / 7
    np.testing.assert_allclose(reach, 2.446911851 * np.sqrt(variance)[:, None], rtol=1e-8)
    alone = studies._replace(items=items[:1], annotators=annotators[:1], width=studies.width[:1])
    np.testing.assert_allclose(alone.widths(sizes, votes[:1])[0], np.full((3, 1), exact[0]))


def test_more_items_narrow_and_cost_more():
    rng = np.random.default_rng(2)
    truth, pilot = crowd(rng, 60, 3)
    scores = {name: np.abs(truth + rng.normal(0, sd, truth.shape)) + 0.01 for name, sd in (("A", 0.1), ("B", 0.8))}
    models = Predictions.from_scores(scores)
    options = {"items": [50, 200], "annotators": [2, 4], "replicates": 2, "study_draws": 40, "random_seed": 3}
    options |= {"plausibility": "dirichlet", "cost": (2, 0.5), "target": 0.2}
    found = plan(pilot, models, **options)
    assert (found["width"].sel(items=200) < found["width"].sel(items=50)).all()
    assert found["cost"].values.tolist() == [[150, 200], [600, 800]]
    assert (found["prob_right"] >= 0.5).all()
    chosen = found.sel(items=found.attrs["best_items"], annotators=found.attrs["best_annotators"])
    assert chosen["width"] <= 0.2
    assert chosen["cost"] == found["cost"].where(found["width"] <= 0.2).min()
    again = plan(pilot, models, **options)
    assert found.identical(again)
    few = plan(pilot, models, **options | {"items": [2], "annotators": [2]})  # an accuracy is from 0 to 1
    assert few["width_lower"] <= few["width"] <= few["width_upper"] <= 1


def test_runs_narrow_as_their_variance_within_items_says():
    """Runs 1010, 1111 and 0000 of three items: (1 / 3 + 0 + 0) / 3 by hand; the variance of their means is 1 / 6."""
    right = np.tile([[1, 1, 0], [0, 1, 0], [1, 1, 0], [0, 1, 0]], 20)
    rows = [("m", item, run, right[run, item]) for run in range(4) for item in range(60)]
    runs = Predictions.from_long(pd.DataFrame(rows, columns=["model", "item", "run", "label"]), run="run")
    truth = xr.DataArray(np.tile([0.0, 1.0], (60, 1)), {"item": range(60), "category": [0, 1]}, ("item", "category"))
    world, rng = LabelWorld(truth, runs), np.random.default_rng(1)
    found = np.mean([world.run_variance("accuracy", rng) for _ in range(5)])
    assert found == pytest.approx(1 / 9, rel=4 * np.sqrt(2 / 3 / 160))
    one = np.ones((1, 1))
    studies = Studies(np.array([50]), np.array([3]), 0.2 * one, 0.002 * one[None], one, found * one[0], 4 * one[0])
    after = 0.002 + found * (1 / 2 - 1 / 4) / 50
    assert studies.of_runs(2).width.item() == pytest.approx(0.2 * np.sqrt(after / 0.002))
    # Eight studies: of two the worth is 1.4 to 1.8 by the seed.
    how = {"annotators": [9], "runs": [1, 4], "plausibility": "dirichlet", "replicates": 8, "study_draws": 50}
    plans = plan(Labels.from_counts([[0, 9]] * 60), runs, items=[50], cost=(0, 1, 2), random_seed=1, **how)
    assert plans["cost"].values.tolist() == [[[50 * 11, 50 * 17]]]
    assert plans["worth"].values[0, 0] == pytest.approx([1, (1 / 6 + 1 / 12) / (1 / 6)], rel=0.2)


def test_runs_change_the_variances_of_models_and_not_their_covariances():
    """Two models with run variances 0.5 and 3 of an item, two runs each; of the second hardly any variance is left."""
    covariance = np.array([[[0.02, 0.01], [0.01, 0.03]], [[0.01, -0.002], [-0.002, 0.02]]])
    width, sizes = np.array([[0.4, 0.5, 0.6], [0.2, 0.3, 0.25]]), np.array([50, 100])
    runs = np.array([0.5, 3.0]), np.array([2, 2])
    studies = Studies(sizes, np.array([3, 3]), width, covariance, np.zeros((3, 2)), *runs)
    found = studies.of_runs(4)
    for d in range(2):
        before = np.diag(covariance[d])
        after = np.maximum(before + np.array([0.5, 3.0]) * (1 / 4 - 1 / 2) / sizes[d], 0.01 * before)
        np.testing.assert_allclose(np.diag(found.covariance[d]), after)
        assert found.covariance[d, 0, 1] == found.covariance[d, 1, 0] == covariance[d, 0, 1]
        np.testing.assert_allclose(found.width[d], width[d] * np.sqrt(after).mean() / np.sqrt(before).mean())


def test_what_cannot_be_planned_is_refused():
    _, pilot = crowd(np.random.default_rng(1), 20, 3)
    with pytest.raises(InputError, match="needs predictions; without them"):
        plan(pilot, items=[10], annotators=[3])
    for words, how in {
        "leave the 1 out": {"annotators": [1, 3]},
        "runs= needs a pilot with several": {"annotators": [3], "runs": [2]},
        "pass 2 or more": {"annotators": [3], "replicates": 1},
        r"cost=\(1,\) must be of an item, a vote": {"annotators": [3], "cost": (1,)},
    }.items():
        with pytest.raises(InputError, match=words):
            plan(pilot, items=[10], metric="fleiss_kappa", **how)
    with pytest.raises(InputError, match="a pilot of one item does not show how items differ"):
        plan(Labels.from_counts([[2, 1]]), items=[10], annotators=[3], metric="fleiss_kappa")


def test_the_right_choice_is_of_the_best_models_and_not_of_the_worst():
    """Two good models can hardly be told apart, one bad model easily: Pr(right) is near one half and not near one."""
    rng = np.random.default_rng(4)
    truth, pilot = crowd(rng, 150, 4)
    good = np.clip(truth + rng.normal(0, 0.05, (2, *truth.shape)), 0.02, 0.98)
    scores = {"A": good[0], "B": good[1], "bad": 1 - truth}
    models = Predictions.from_scores({name: s / s.sum(axis=1, keepdims=True) for name, s in scores.items()})
    options = {"items": [60], "annotators": [3], "replicates": 3, "study_draws": 50, "plausibility": "dirichlet"}
    assert 0.3 < plan(pilot, models, random_seed=1, **options)["prob_right"].item() < 0.9


def test_power_is_that_of_normal_estimates():
    """By 100,000 estimates around a true difference, whose intervals lie above 0."""
    rng = np.random.default_rng(1)
    truth = rng.dirichlet([0.5, 0.5], 50)
    pilot = Labels.from_counts(rng.multinomial(3, truth))
    noise = np.log(truth) + rng.normal(size=(2, 50, 2)) * np.array([1.0, 2.0])[:, None, None]
    models = Predictions.from_scores({"A": noise[0], "B": noise[1]}, labels=[0, 1])
    design = {"items": [100, 103, 106, 400], "annotators": [3], "replicates": 2, "study_draws": 100, "random_seed": 1}
    found = plan(pilot, models, plausibility="dirichlet", **design, power=0.8, difference=0.05)
    assert (found["smallest_difference"].diff("items") < 0).all()
    assert (found["prob_right"].diff("items") >= 0).all()
    sd = found["smallest_difference"].values / (1.959964 + 0.841621)
    estimates = 0.05 + sd[..., None] * rng.standard_normal((4, 1, 100_000))
    np.testing.assert_allclose(found["power"], (estimates > 1.959964 * sd[..., None]).mean(axis=-1), atol=0.01)
    with pytest.raises(InputError, match="difference= and power= are of two models"):
        plan(pilot, **design, metric="fleiss_kappa", power=0.8)
    twins = Predictions.from_scores({"A": noise[0], "B": noise[0]}, labels=[0, 1])
    with pytest.raises(InputError, match="the best two are alike"):  # not: a power of 1 for any difference
        plan(pilot, twins, plausibility="dirichlet", **design, difference=0.05)
