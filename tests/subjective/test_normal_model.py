"""The posterior of groups under any metric: brute force, NUTS, and refusals."""

import json

import numpy as np
import pytest
import xarray as xr
from _paths import ROOT

from bayesagree import InputError
from bayesagree._inference.nuts import sample_nuts
from bayesagree.subjective.group_model import group_summary, prob_worse
from bayesagree.subjective.normal_model import group_values, normal_group_model, normal_group_posterior, sufficient


def test_any_metric_has_a_posterior(errors):
    tree = normal_group_posterior(errors, seed=1)
    assert prob_worse(tree).shape == (2, 3, 3)
    assert float((group_summary(tree)["mean"] - errors["performance"]).max()) < 0.2
    with pytest.raises(InputError, match="at least two"):
        normal_group_posterior(errors.assign(group_of=("annotator", np.zeros(24, int))))
    with pytest.raises(InputError, match="do not differ"):
        normal_group_posterior(errors.assign(annotator_performance=errors["annotator_performance"] * 0 + 1))


def test_annotators_count_where_every_model_has_a_value_for_them(errors):
    values = errors["annotator_performance"].copy()
    values[0, 2] = np.nan
    partly = errors.assign(annotator_performance=values)
    found = group_values(partly)
    kept = np.delete(np.arange(24), 2)
    np.testing.assert_array_equal(found.values, errors["annotator_performance"].values[:, kept])
    np.testing.assert_array_equal(found.group, errors["group_of"].values[kept])
    assert found.used.tolist() == [0, 1, 2]


@pytest.mark.slow
def test_nuts_equals_the_exact_engine_for_any_metric(errors):
    value, group = errors["annotator_performance"].sel(model="A").to_numpy(), errors["group_of"].to_numpy()
    graph = normal_group_model(value, group.astype(np.int64))
    nuts = sample_nuts(graph, draws=2000, chains=4, seed=1)["posterior"]["performance"]
    exact = normal_group_posterior(errors, seed=1)["posterior"]["performance"].sel(model="A")
    error = np.hypot(
        nuts.std(("chain", "draw")).values / np.sqrt(800), exact.std(("chain", "draw")).values / np.sqrt(4000)
    )
    gap = np.abs(nuts.mean(("chain", "draw")).values - exact.mean(("chain", "draw")).values)
    assert (gap < 4.5 * error).all()


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_any_metric_equals_brute_force(seed):
    record = json.loads((ROOT / "models" / "group_performance_normal.json").read_text())
    values, group = record["data"]["value"], record["data"]["group"]
    result = xr.Dataset(
        {"annotator_performance": (("model", "annotator"), [values]), "group_of": ("annotator", group)},
        {"model": ["A"], "group": list("xyz")},
    )
    posterior = normal_group_posterior(result, seed=seed)["posterior"].to_dataset()
    for name in ("performance", "between_share"):
        draws = posterior[name].sel(model="A").values.reshape(4000, -1)
        known = record["posterior"][name]
        error = draws.std(axis=0) / np.sqrt(4000) + np.array(known["error"])
        assert (np.abs(draws.mean(axis=0) - known["mean"]) < 4.5 * error).all()


def test_larger_errors_are_worse(errors):
    tree = normal_group_posterior(errors, seed=1)
    mean = group_summary(tree)["mean"].sel(model="A")
    worst, best = mean.idxmax().item(), mean.idxmin().item()
    assert float(prob_worse(tree).sel(model="A", group=worst, other_group=best)) > 0.5


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e6])
def test_annotators_who_differ_are_told_from_rounding_in_any_unit(unit):
    group = np.array([0, 0, 0, 1, 1])
    value = unit * np.array([1.0, 1.1, 1.3, 2.0, 2.1])
    found = sufficient(value, group)
    assert found.within == pytest.approx(unit**2 * (0.14 / 3 + 0.005), rel=1e-9, abs=0)
    for alike in (np.array([1.0, 1.0, 1.0, 2.0, 2.0]), np.array([1.0, 1.0, 1 + 1e-8, 2.0, 2.0])):
        with pytest.raises(InputError, match="annotators of a group do not differ"):
            sufficient(unit * alike, group)
