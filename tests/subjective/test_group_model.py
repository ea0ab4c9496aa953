"""The hierarchical posterior of agreement by group: brute force, NUTS, quadrature, and what follows from it."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from _paths import ROOT
from scipy.stats import beta, betabinom

from bayesagree import InputError, Labels, Predictions
from bayesagree.annotations.annotators import Annotators
from bayesagree.annotations.groups import Groups
from bayesagree.subjective._beta_binomial import group_draws
from bayesagree.subjective.group_model import group_counts, group_performance_model, group_posterior, group_summary


def reference():
    return json.loads((ROOT / "models" / "group_performance.json").read_text())


def as_annotations(agree, total, group):
    """Turn agreements into labels: one item per label, the model always says 1."""
    rows = [(f"{j}-{k}", j, int(k < s)) for j, (s, n) in enumerate(zip(agree, total)) for k in range(n)]
    labels = Labels.from_long(pd.DataFrame(rows, columns=["item", "annotator", "label"]), labels=[0, 1])
    people = Annotators.from_table(pd.DataFrame({"annotator": range(len(group)), "g": group}))
    return labels, Predictions.from_labels({"A": pd.Series(1, index=labels.items)}, labels=[0, 1]), people


def test_exact_engine_equals_brute_force():
    record = reference()
    posterior = group_posterior(*as_annotations(**record["data"]), ["g"], random_seed=1)["posterior"].to_dataset()
    for name in ("performance", "within_spread", "between_spread"):
        draws = posterior[name].sel(model="A").values.reshape(4000, -1)
        known = record["posterior"][name]
        assert max(known["error"]) < 1e-4
        # The cells of the engine are about a thousandth wide at most where a group's mean lies.
        error = draws.std(axis=0) / np.sqrt(4000) + 1e-3
        assert (np.abs(draws.mean(axis=0) - known["mean"]) < 4.5 * error).all()
        if name == "performance":
            sd = np.array(record["posterior"]["performance_sd"]["mean"])
            assert np.abs(draws.std(axis=0) / sd - 1).max() < 4.5 / np.sqrt(2 * 4000) * 1.5


def test_pymc_twin_has_the_density_of_the_definition():
    record = reference()["data"]
    labels, models, people = as_annotations(**record)
    counts = group_counts(labels, models, Groups.by_features(labels, people, ["g"]))
    graph = group_performance_model(counts)
    density = graph.compile_logp(jacobian=False)
    rng = np.random.default_rng(1)
    agree, total, group = (np.array(record[k]) for k in ("agree", "total", "group"))
    for _ in range(20):
        m, b, w, mu = rng.random(), rng.random(), rng.random(), rng.random(3)
        logit = {
            "location_logodds__": m, "between_spread_logodds__": b, "within_spread_logodds__": w,
            "performance_logodds__": mu,
        }  # fmt: skip
        point = {name: np.log(value) - np.log1p(-value) for name, value in logit.items()}
        kappa, phi = b**-2 - 1, w**-2 - 1
        expected = beta.logpdf(mu, m * kappa, (1 - m) * kappa).sum()
        expected += betabinom.logpmf(agree, total, mu[group] * phi, (1 - mu[group]) * phi).sum()
        assert float(density(point)) == pytest.approx(expected, rel=1e-9)


def test_one_group_equals_quadrature():
    """One annotator: integrate the definition by brute force over w, m, b and mu."""
    agree, total = 7, 9
    one = np.array([agree]), np.array([total]), np.array([0]), 1
    draws = group_draws(*one, 40_000, np.random.default_rng(1))["performance"][:, 0]
    # Without other groups mu has density p(mu) = E over (m, b) of the Beta density.
    grid = (np.arange(300) + 0.5) / 300
    middle = (np.arange(40) + 0.5) / 40
    m, b = (x.ravel()[:, None] for x in np.meshgrid(middle, middle))
    kappa = b**-2 - 1
    of_mean = np.diff(beta.cdf(np.linspace(0, 1, 301), m * kappa, (1 - m) * kappa), axis=1).sum(axis=0)
    phi = middle**-2 - 1
    likelihood = betabinom.pmf(agree, total, grid[:, None] * phi, (1 - grid[:, None]) * phi)
    density = of_mean * likelihood.sum(axis=1)
    mean = (grid * density).sum() / density.sum()
    # Both sides have cells: their width is the accuracy of the quadrature.
    assert abs(draws.mean() - mean) < 4.5 * draws.std() / 200 + 1 / 300


def test_probabilities_of_being_served_worse(uneven):
    tree = group_posterior(*uneven, by=["gender"], random_seed=1)
    summary = group_summary(tree, ci_prob=0.5)
    worse, inside = summary["prob_worse"], tree["posterior"]["performance"]
    inside = ((inside >= summary["lower"]) & (inside <= summary["upper"])).mean(("chain", "draw"))
    assert summary.attrs["ci_prob"] == 0.5
    np.testing.assert_allclose(inside, 0.5, atol=0.01)
    assert float(worse.sel(model="A", group="m", other_group="f")) > 0.999
    assert float(worse.sel(model="B", group="f", other_group="m")) > 0.999
    assert float(group_summary(tree, margin=0.5)["prob_worse"].sel(model="A", group="m", other_group="f")) < 0.01
    f, m = (tree["posterior"]["performance"].sel(model="A", group=group).values for group in "fm")
    assert worse.sel(model="A", group="f", other_group="m").item() == np.mean(m > f)
    middle = float(np.median(f - m))
    found = group_summary(tree, margin=middle)["prob_worse"].sel(model="A", group="m", other_group="f")
    assert found.item() == np.mean(f - m > middle) == pytest.approx(0.5, abs=0.01)
    dispersion = tree["posterior"]["dispersion"].sel(model="A")
    assert abs(float(dispersion.mean()) - 0.85) < 4.5 * float(dispersion.std())


def test_groups_without_a_prediction_of_every_model_are_left_out():
    """Of the others the agreements of each annotator, by hand."""
    labels = Labels.from_matrix([["a", "a", None], ["b", "a", None], [None, None, "a"]], annotators=[*"xyz"])
    groups = Groups(labels.annotators, np.array(["f", "m", "n"]), np.array([0, -1, 2], np.int32), "g")
    models = Predictions.from_labels({"A": ["a", "a", "a"], "B": ["b", "b", None]})
    counts = group_counts(labels, models, groups)
    assert (counts.groups.tolist(), counts.group.tolist()) == (["f"], [0])
    assert (counts.agree.tolist(), counts.total.tolist()) == ([[1], [1]], [[2], [2]])
    alone = Groups(labels.annotators, np.array(["n"]), np.array([-1, -1, 0], np.int32), "g")
    with pytest.raises(
        InputError, match="no group has an annotator with both annotations and predictions of every mod"
    ):
        group_counts(labels, models, alone)


def test_a_summary_of_groups_is_that_of_its_draws():
    """By hand: chances of being served worse by a margin, and annotators of ten labels for an interval of .1."""
    drawn = np.random.default_rng(1).beta(8, 2, (2, 300, 1, 2))
    drawn[..., 1] -= 0.3
    within = np.full((2, 300, 1), 0.5)
    variables = {
        "performance": (("chain", "draw", "model", "group"), drawn),
        "within_spread": (("chain", "draw", "model"), within),
    }
    tree = xr.DataTree.from_dict({"/posterior": xr.Dataset(variables, {"model": ["A"], "group": ["f", "m"]})})
    tree.attrs["model"] = "group_performance"
    found = group_summary(tree, margin=0.2, half_width=0.1, labels_per_annotator=10).sel(model="A")
    f, m = drawn[..., 0, 0].ravel(), drawn[..., 0, 1].ravel()
    assert float(found["prob_worse"].sel(group="m", other_group="f")) == (f - m > 0.2).mean()
    assert float(found["prob_worse"].sel(group="f", other_group="m")) == (m - f > 0.2).mean()
    for name, values in (("f", f), ("m", m)):
        variance = (values * (1 - values) * (1 + 9 * 0.25) / 10).mean()
        here = found.sel(group=name)
        assert int(here["annotators_needed"]) == np.ceil(variance * (1.959964 / 0.1) ** 2)
        inside = (values >= float(here["lower"])) & (values <= float(here["upper"]))
        assert inside.mean() == pytest.approx(0.95, abs=0.005) and float(here["mean"]) == pytest.approx(values.mean())
    with pytest.raises(InputError, match="half_width=1 must lie between 0 and 1"):
        group_summary(tree, half_width=1)
