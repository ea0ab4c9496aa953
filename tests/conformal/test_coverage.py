"""Coverage and size of sets by plain sums; intervals; sets of other folds; the widest."""

import json

import _conformal as cases
import numpy as np
import pytest
import scipy as sp
import xarray as xr
from _paths import ROOT

import bayesagree as ba
from bayesagree import InputError, conformalize
from bayesagree.conformal import cross_sets, set_coverage
from bayesagree.conformal.coverage import _mean_interval
from bayesagree.plots import plot_set_size

GOLDEN = json.loads((ROOT / "tests" / "golden" / "conformal.json").read_text())


def test_the_table_is_that_of_plain_sums():
    truth, predictions = cases.items(50)
    sets = conformalize(truth, predictions).predict_set(predictions)
    found = set_coverage(truth, sets, mass=0.8).set_index("quantity")
    inside, values = sets.values[0], truth.values
    held = [sum(row[chosen]) for row, chosen in zip(values, inside)]
    assert found["value"].to_dict() == pytest.approx(
        {
            "coverage": np.mean(held),
            "majority_coverage": np.mean([chosen[row.argmax()] for row, chosen in zip(values, inside)]),
            "mass_coverage": np.mean([h >= 0.8 for h in held]),
            "size": inside.sum(axis=1).mean(),
        }
    )
    assert (found["lower"] < found["value"]).all()
    assert (found["value"] < found["upper"]).all()


def test_the_mass_is_held_in_draws():
    votes = ba.Labels.from_counts([[3, 2], [5, 0]])
    tree = ba.dirichlet(votes, draws=400, random_seed=1)
    sets = xr.DataArray(
        np.array([[[True, False], [True, False]]]), {"model": ["A"], "item": [0, 1], "category": [0, 1]},
        ("model", "item", "category"),
    )  # fmt: skip
    found = set_coverage(tree, sets, mass=0.5).set_index("quantity")["value"]
    draws = tree["posterior"]["plausibility"].values[..., 0]
    assert found["mass_coverage"] == pytest.approx((draws >= 0.5).mean())


def test_the_interval_of_a_share_is_that_of_jeffreys():
    values = np.array([1.0] * 18 + [0.0] * 2)
    lower, upper = _mean_interval(values, 0.9)
    jeffreys = sp.stats.beta(18.5, 2.5)
    assert jeffreys.cdf([lower, upper]) == pytest.approx([0.05, 0.95])
    assert _mean_interval(np.ones(20), 0.9)[1] == 1  # sets that held everything
    narrow = _mean_interval(np.full(20, 0.9), 0.9)
    assert narrow[1] - narrow[0] < upper - lower


def test_groups_are_rows():
    truth, predictions = cases.items(60)
    sets = conformalize(truth, predictions).predict_set(predictions)
    group = np.digitize(truth.max("category"), [0.6, 0.9])
    found = set_coverage(truth, sets, by=group)
    assert found["group"].unique().tolist() == [0, 1, 2]
    whole = set_coverage(truth, sets).set_index("quantity").loc["coverage", "value"]
    parts = found[found["quantity"] == "coverage"]
    assert (parts["value"] * parts["n_items"]).sum() / 60 == pytest.approx(whole)


def test_sets_of_another_order_and_with_more_items():
    truth, predictions = cases.items(40)
    sets = conformalize(truth, predictions).predict_set(predictions)
    moved = sets.transpose("category", "item", "model")[::-1, ::-1]
    assert set_coverage(truth, moved).equals(set_coverage(truth, sets))
    assert set_coverage(truth[:30], sets)["n_items"].unique().tolist() == [30]
    with pytest.raises(InputError, match="10 items have a truth and no set"):
        set_coverage(truth, sets[:, :30])
    with pytest.raises(InputError, match="sets are bool"):
        set_coverage(truth, sets.astype(float))


def test_folds_calibrate_each_other():
    truth, predictions = cases.items(101)
    found = cross_sets(truth, predictions, folds=3, random_seed=5, coverage=0.8)
    assert found.dims == ("model", "item", "category")
    assert found.equals(cross_sets(truth, predictions, folds=3, random_seed=5, coverage=0.8))
    of_folds = np.random.SeedSequence(5).spawn(2)[0]
    fold = np.random.default_rng(of_folds).permutation(101) % 3
    for f in range(3):
        alone = conformalize(truth[fold != f], predictions, coverage=0.8).predict_set(predictions)
        np.testing.assert_array_equal(found[:, fold == f], alone[:, fold == f])


@pytest.mark.long
def test_chaosnli(public_data):
    """Sets of vote winners leave out one opinion in six, exact sets one in ten, as computed independently."""
    data = ba.datasets.load("chaosnli-snli")
    counts = data.annotations.counts()
    names = {"item": data.annotations.items, "category": data.annotations.categories}
    truth = xr.DataArray(counts / counts.sum(axis=1, keepdims=True), names, ("item", "category"))
    rng, halves = np.random.default_rng(1), 40
    splits = [np.sort(rng.permutation(len(counts))[: len(counts) // 2]) for _ in range(halves)]
    for row in GOLDEN["chaosnli_halves"]["rows"]:
        for method in ("majority", "exact"):
            found = []
            for half in splits:
                sets = conformalize(truth[half], data.predictions, coverage=row["coverage"], method=method)
                new = np.setdiff1d(np.arange(len(counts)), half)
                of_new = sets.predict_set(data.predictions).sel(model=[row["model"]])
                found.append(set_coverage(truth[new], of_new)["value"].to_numpy())
            error = np.std(found, axis=0) / np.sqrt(halves)
            # The published side has the error of 200 halves and is rounded to three digits.
            gap = np.abs(np.mean(found, axis=0)[[0, 1, 3, 2]] - row[method])
            assert (gap < 4.5 * np.sqrt(1 + halves / 200) * error[[0, 1, 3, 2]] + 0.0005).all(), (row, method, gap)


def test_the_figure_shows_the_mean_size_of_each_group():
    truth, predictions = cases.items(64)
    sets = conformalize(truth, predictions).predict_set(predictions)
    certainty = truth.max("category")
    panel = plot_set_size(sets, certainty, bins=4)
    line = panel.containers[0][0]
    order = np.argsort(certainty.values)
    expected = [sets.values[0][part].sum(axis=1).mean() for part in np.array_split(order, 4)]
    np.testing.assert_allclose(np.asarray(line.get_ydata(), float), expected)
