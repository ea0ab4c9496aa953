"""The numbers of a report are those of the package's own functions."""

import re
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
from bayesagree.report.beside import GroupResults, group_results
from bayesagree.report.data import OPEN, report_data
from bayesagree.report.page import methods_paragraph, render, sentences
from bayesagree.report.settings import Case, ReportSettings
from bayesagree.report.tables import tables
from bayesagree.report.wording import count, interval, number, percent, probability
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


def plain(cell):
    return re.sub("<.*?>", "", str(cell))


@pytest.fixture(scope="module")
def shown(data):
    return tables(data)


def test_scores_stand_best_first_at_every_reliability_with_the_plug_in_last(data, shown):
    table, ranking = shown["scores-accuracy"], data.scores.ranking["accuracy"]
    levels = [f"Reliability {level:g}" for level in (1.0, 0.3, 3.0)]
    assert table.columns == ("Model", "Tier", "", *levels, "Best", "Better than the next", "Majority vote")
    assert [row[0] for row in table.rows] == ranking.index.tolist()
    for row, (model, known) in zip(table.rows, ranking.iterrows()):
        assert row[1] == f"{known['tier']} (place {known['rank_lower']} to {known['rank_upper']})"
        at = data.scores.table.sel(metric="accuracy", model=model)
        expected = [
            f"{number(float(one['score']))} ({interval(float(one['lower']), float(one['upper']))})"
            for one in (at.sel(reliability=level) for level in (1.0, 0.3, 3.0))
        ]
        assert [*row[3:6]] == expected
        assert row[6:8] == (probability(known["prob_best"]), probability(known["prob_better"]))
        assert row[8] == number(float(data.scores.plug_in.sel(metric="accuracy", model=model)))
    assert not table.numeric(0) and table.numeric(8)


def test_the_share_of_open_items_is_counted_at_every_reliability(data, shown):
    rows = shown["certainty-table"].rows
    assert [row[0] for row in rows] == ["1", "0.3", "3"]
    for row, values in zip(rows, data.certainty.values):
        assert row[2:] == (number(values.mean()), percent((values < OPEN).mean()))
    assert len(shown["open-items"].rows) == len(data.open_items) and len(shown["open-items"].columns) == 6
    for row, item in zip(shown["open-items"].rows, data.open_items):
        assert plain(row[0]) == item.item and row[3] == str(item.n_annotations)
        assert row[1] == probability(item.candidates[0][1])
        assert all(name in plain(row[5]) for names in item.predicted.values() for name in names)


def test_pairs_of_annotators_stand_with_the_lowest_first(data):
    """Too many values have no kappa with the others: it is the mean of the pairs."""
    pairs = pd.DataFrame({"annotator": [*"aab"], "other_annotator": [*"bcc"], "estimate": [0.5, -0.25, 0.75]})
    people = pd.DataFrame({"annotator": [*"abc"], "estimate": [0.25, 0.75, np.nan], "lower": 0.0, "upper": 1.0})
    table = tables(replace(data, people={"annotators": people, "annotator_pairs": pairs}))["pairs-table"]
    assert table.columns == ("Annotator", "", "All others", "a", "c", "b")
    assert [[plain(cell) for cell in (row[0], *row[2:])] for row in table.rows] == [
        ["a", "0.250 (0.000 to 1.000)", "", "-0.250", "0.500"],
        ["c", "0.250 (0.000 to 1.000)", "-0.250", "", "0.750"],
        ["b", "0.750 (0.000 to 1.000)", "0.500", "0.750", ""],
    ]
    assert "--share:0.000" in table.rows[0][4] and "--share:0.500" in table.rows[0][5]


def test_accuracy_of_each_group_stands_by_its_model(data):
    dims, names = ("model", "group"), {"model": ["A", "B"], "group": ["old", "young"]}
    values = np.array([[0.25, 0.5], [0.75, 1.0]])
    accuracy = xr.Dataset(
        {name: (dims, values + shift) for name, shift in zip(("mean", "lower", "upper"), (0, -0.1, 0))}, names
    )
    sizes = pd.DataFrame({"annotators": [2, 1], "annotations": [1200, 3], "items": [7, 3]}, index=["old", "young"])
    found = tables(replace(data, groups=GroupResults("age", sizes, accuracy)))
    scores, who = found["group-scores"], found["group-sizes"]
    assert scores.columns == ("Group", "A", "B")
    assert [[plain(cell) for cell in row] for row in scores.rows] == [
        ["old", "0.250 (0.150 to 0.250)", "0.750 (0.650 to 0.750)"],
        ["young", "0.500 (0.400 to 0.500)", "1.000 (0.900 to 1.000)"],
    ]
    assert who.rows == [("old", "2", count(1200), "7"), ("young", "1", "3", "3")]
    assert "group-scores" not in tables(replace(data, groups=GroupResults("age", sizes, None)))
