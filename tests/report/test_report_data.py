"""The numbers of a report are those of the package's own functions."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from sklearn.metrics import cohen_kappa_score

from bayesagree import (
    Annotators,
    Labels,
    Predictions,
    annotation_certainty,
    compare,
    dirichlet,
    evaluate,
    plackett_luce,
)
from bayesagree.annotations.groups import Groups
from bayesagree.datasets.simulate import rankings
from bayesagree.plausibility.certainty import label_certainty
from bayesagree.report.beside import group_results
from bayesagree.report.data import OPEN, report_data
from bayesagree.report.page import methods_paragraph, render, sentences
from bayesagree.report.settings import Case, ReportSettings
from bayesagree.report.tables import tables
from studies.systems import noisy_models
from studies.top_k import expected_top_k_accuracy

SHORT = ReportSettings(draws=200, chains=2)


def test_certainty_is_exact_at_every_reliability(data, test_set):
    assert data.settings.reliability == (1.0, 0.3, 3.0)
    for level in data.settings.reliability:
        tree = dirichlet(test_set.labels, reliability=level, draws=1, chains=1, random_seed=1)
        exact = annotation_certainty(tree, exact=True)
        np.testing.assert_allclose(data.certainty.sel(reliability=level), exact, rtol=1e-12)
    assert data.is_open.tolist() == (data.certainty.sel(reliability=1.0) < OPEN).values.tolist()


@pytest.fixture(scope="module")
def trace(test_set):
    """Draws of plausibilities, as a model of the user's own gives them."""
    drawn = dirichlet(test_set.labels, prior=2.0, draws=200, random_seed=3)["posterior"].to_dataset()
    return xr.DataTree.from_dict({"posterior": drawn})


def test_a_trace_of_ones_own_is_the_truth_of_the_report(trace, test_set):
    given = test_set.labels, test_set.predictions
    found = report_data(*given, plausibility=trace, random_seed=1)
    scores = evaluate(*given, plausibility=trace, random_seed=1)["posterior"]["accuracy"].mean(("chain", "draw"))
    shown = found.scores.table["score"].sel(metric="accuracy", model=scores["model"], reliability=1.0)
    np.testing.assert_allclose(shown, scores)
    np.testing.assert_allclose(found.certainty.isel(reliability=0), annotation_certainty(trace))
    first = found.open_items[0]
    at = test_set.labels.items.astype(str).tolist().index(first.item)
    best = trace["posterior"]["plausibility"].isel(item=at).argmax("category").values
    for label, chance in first.candidates:
        assert chance == pytest.approx(np.mean(best == int(label)))
    assert (found.settings.chains, found.settings.draws) == (4, 200)
    assert 0.99 < found.diagnostics["r_hat"] < 1.1
    assert "a posterior of the authors' own. Annotation certainty" in methods_paragraph(found)


def test_scores_are_those_of_evaluate_and_agree_with_the_closed_form(data, test_set):
    how = {"plausibility": "dirichlet", "reliability": [1.0, 0.3, 3.0]}
    tree = evaluate(test_set.labels, test_set.predictions, **how, draws=200, random_seed=1)
    draws = tree["posterior"]["accuracy"]
    score = data.scores.table["score"].sel(metric="accuracy")
    np.testing.assert_allclose(score.sel(model=draws["model"]), draws.mean(("chain", "draw")))
    exact = expected_top_k_accuracy(dirichlet(test_set.labels, draws=1, chains=1, random_seed=1), test_set.predictions)
    error = draws.sel(reliability=1.0).std(("chain", "draw")) / np.sqrt(800)
    assert (np.abs(score.sel(reliability=1.0) - exact) < 5 * error).all()
    pd.testing.assert_frame_equal(data.scores.ranking["accuracy"], compare(tree, "accuracy", reliability=1.0))


def test_the_least_certain_items_come_first_with_their_annotations(data, test_set):
    certainty = [item.certainty for item in data.open_items]
    assert certainty == sorted(certainty)
    assert len(data.open_items) == 50
    first = data.open_items[0]
    at = test_set.labels.items.astype(str).tolist().index(first.item)
    counts = test_set.labels.counts()[at]
    assert first.n_annotations == counts.sum()
    for label, n in zip(test_set.labels.categories, counts):
        assert (f"{label} ({n})" in first.given[0]) == (n > 0)
    assert sum(len(models) for models in first.predicted.values()) == 3


def test_rankings_are_read_with_plackett_luce_draws_for_the_items_shown():
    given = rankings(n_items=30, n_labels=6, random_seed=1).rankings
    models = noisy_models(given, n_models=2, random_seed=1)
    settings = ReportSettings(plausibility="plackett_luce", reliability=(1.0,), draws=100, least_certain=25)
    found = report_data(given, models, **vars(settings))
    assert found.settings.metrics == ("top_3_accuracy", "average_overlap_3")
    assert found.diagnostics["r_hat"] < 1.2
    certainty = label_certainty(plackett_luce(given, draws=100, random_seed=1, top_labels=1)).max("category")
    np.testing.assert_allclose(found.certainty.isel(reliability=0), certainty)
    for item in found.open_items[:3]:
        at = given.items.astype(str).tolist().index(item.item)
        assert item.n_annotations == len(given.of_item(at)) == len(item.given)
    row = found.agreement.set_index("coefficient").loc["tau_b"]
    assert any(f"agree? {row['estimate']:.3f} ({row['lower']:.3f} to" in text for text in sentences(found))
    assert data_of(found, "average_overlap_3").shape == (1, 2)
    page = render(found)
    assert [page.count(f'id="scores-{metric}"') for metric in found.settings.metrics] == [1, 1]


def data_of(found, metric):
    return found.scores.table["score"].sel(metric=metric).values


@pytest.fixture(scope="module")
def unequal():
    """Twelve annotators, half of whom answer at random; a model that says 1."""
    rng = np.random.default_rng(1)
    said = (rng.random((40, 12)) < np.where(np.arange(12) < 6, 0.95, 0.5)).astype(int)
    votes = Labels.from_matrix(said, annotators=[f"w{j}" for j in range(12)], labels=[0, 1])
    people = pd.DataFrame({"annotator": votes.annotators, "gender": ["f"] * 6 + ["m"] * 5 + [None]})
    return votes, Annotators.from_table(people), Predictions.from_labels({"ones": [1] * 40}, labels=[0, 1])


def test_groups_show_whom_a_model_serves_worst(unequal):
    votes, people, model = unequal
    groups = Groups.by_features(votes, people, ["gender"])
    found = group_results(Case(votes, model, SHORT), groups)
    assert found.accuracy["prob_worse"].sel(group="m", other_group="f").item() > 0.95
    assert found.composition["annotators"].to_dict() == {"f": 6, "m": 5, "unknown": 1}
    assert group_results(Case(votes, None, SHORT), groups).accuracy is None
    shown = replace(report_data(votes, None, plausibility="dirichlet"), groups=found)
    assert [row[0] for row in tables(shown)["group-scores"].rows] == ["f", "m", "unknown"]


def test_the_annotator_who_agrees_least_is_named_above_the_pairs():
    rng, truth = np.random.default_rng(1), np.arange(40) % 2
    said = {f"w{j}": np.where(rng.random(40) < 0.9, truth, 1 - truth) ^ (j == 3) for j in range(6)}
    data = report_data(Labels.from_matrix(pd.DataFrame(said)))
    table = tables(data)["pairs-table"]
    assert [row[0] for row in table.rows] == list(table.columns[3:])
    first = table.rows[0]
    assert (first[0], first[2].startswith("-0.")) == ("w3", True)
    assert f"w3</span> agrees least with the others: Cohen's kappa {first[2]}." in render(data)
    shown = first[3 + table.columns[3:].index("w5")].striptags()
    assert float(shown) == pytest.approx(cohen_kappa_score(said["w3"], said["w5"]), abs=5e-4)


def test_certainty_without_a_closed_form_is_drawn_at_each_reliability():
    given = rankings(n_items=12, n_labels=4, random_seed=2).rankings
    how = {"draws": 300, "random_seed": 1}
    found = report_data(given, plausibility="plackett_luce", reliability=(1.0, 3.0), **how)
    known = annotation_certainty(plackett_luce(given, reliability=3, top_labels=1, **how))
    np.testing.assert_array_equal(found.certainty.sel(reliability=3.0), known)
