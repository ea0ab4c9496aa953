"""Areas under the curve and quality of the annotators in the report, where labels and predictions allow them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bayesagree import Labels, Predictions, Ratings
from bayesagree.metrics import auc_posterior
from bayesagree.report.annotators import level_results
from bayesagree.report.data import _posterior, report_data
from bayesagree.report.page import render
from bayesagree.report.settings import Case, ReportSettings
from bayesagree.report.views import annotators, areas
from bayesagree.subjective import crowdtruth

FEW = ReportSettings(draws=300, chains=1, seed=3)
SHORT = ReportSettings(draws=40, seed=1)


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(1)
    share = rng.random(40)
    said = (rng.random((40, 6)) < share[:, None]).astype(int)
    said[:, 5] = rng.integers(0, 2, 40)
    labels = Labels.from_matrix(said, annotators=[*"uvwxy", "coin"], labels=[0, 1])
    scores = {"A": share, "B": 0.5 * share + 0.5 * rng.random(40)}
    return labels, Predictions.from_scores({m: np.column_stack([1 - s, s]) for m, s in scores.items()})


@pytest.fixture(scope="module")
def data(case):
    return report_data(*case, settings=FEW)


def test_areas_are_those_of_the_labels(case, data):
    tree = auc_posterior(*case, truth_is="labels", draws=300, chains=1, seed=3)["posterior"]
    table = data.areas.table.set_index("model")
    np.testing.assert_allclose(table.loc[["A", "B"], "auc"], tree["auc"].mean(("chain", "draw")))
    assert data.areas.table["model"].tolist() == ["A", "B"]
    assert data.areas.ceiling == pytest.approx(tree["ceiling"].mean().item())
    shown = areas(data, data.areas)
    assert shown["positive"] == "1"
    assert shown["rows"][0][1] == f"{table.loc['A', 'auc']:.3f}"


def test_the_annotator_who_throws_a_coin_comes_first(case, data):
    expected = crowdtruth(case[0])["wqs"].to_series().sort_values()
    assert data.annotators["annotator"].tolist() == expected.index.tolist()
    assert annotators(data, data.annotators)["rows"][0][0] == "coin"


def test_the_page_has_both(data):
    page = render(data)
    assert 'id="areas"' in page
    assert 'id="annotators"' in page


def test_no_section_where_there_is_nothing_to_say(case):
    labels = case[0]
    counts = report_data(Labels.from_counts(labels.counts()), settings=FEW)
    assert counts.annotators is None  # nobody is named
    assert counts.areas is None  # no models
    hard = Predictions.from_labels({"A": [0, 1] * 20}, labels=[0, 1])
    assert report_data(labels, hard, settings=FEW).areas is None  # no scores
    given = pd.DataFrame({"item": list(range(9)), "annotator": list("abc") * 3, "label": ["x", "y", "z"] * 3})
    alone = Labels.from_long(given)
    page = render(report_data(alone, settings=FEW))
    assert 'id="annotators"' not in page  # nobody to agree with


@pytest.mark.long
def test_levels_of_ratings_are_shown_where_they_matter(data, monkeypatch):
    rng = np.random.default_rng(1)
    given = np.clip(rng.integers(2, 5, (30, 1)) + np.array([-1, 0, 1]), 1, 5)
    strict = Ratings.from_matrix(given, scale=(1, 5), step=1, annotators=["ann", "bob", "eve"])
    table = level_results(Case(strict, None, SHORT))
    assert table is not None
    assert table["annotator"].tolist() == ["ann", "bob", "eve"]
    assert "Who rates lower or higher" in render(replace(data, levels=table))
    assert "Who rates lower or higher" not in render(data)
    monkeypatch.setattr("bayesagree.report.annotators.MOST_ANNOTATORS", 3)
    assert level_results(Case(strict, None, SHORT)) is not None
    monkeypatch.setattr("bayesagree.report.annotators.MOST_ANNOTATORS", 2)
    assert level_results(Case(strict, None, SHORT)) is None
    alike = Ratings.from_matrix([[1, 2, 3], [2, 3, 1], [3, 1, 2]] * 10, scale=(1, 5), step=1)
    assert level_results(Case(alike, None, SHORT)) is None


def test_plausibilities_of_a_chain_are_kept_for_models_where_they_fit(monkeypatch):
    """Twelve items, two labels, 40 draws and two chains, of eight bytes."""
    votes = np.random.default_rng(2).integers(0, 2, (12, 4))
    labels, models = (
        Labels.from_matrix(votes, labels=[0, 1]),
        Predictions.from_labels({"A": votes[:, 0]}, labels=[0, 1]),
    )
    settings = ReportSettings("dawid_skene", draws=40, chains=2, allow_unmixed=True)
    for limit, predictions, whole in ((15360, models, True), (15359, models, False), (15360, None, False)):
        monkeypatch.setattr("bayesagree.report.data.MAX_BYTES", limit)
        posterior = _posterior(Case(labels, predictions, settings), 1.0)["posterior"]
        assert ("plausibility" in posterior, "top_label" in posterior) == (whole, not whole)
