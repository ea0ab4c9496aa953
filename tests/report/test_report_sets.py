"""Prediction sets in the report: shown where predictions are probabilities, with the numbers of `set_coverage`."""

import _conformal as cases
import numpy as np
import pytest

from bayesagree import Labels, Predictions
from bayesagree.conformal import cross_sets, set_coverage
from bayesagree.report.data import report_data
from bayesagree.report.page import methods_paragraph, references, render
from bayesagree.report.settings import ReportSettings
from bayesagree.report.views import sets as view

FEW = ReportSettings(draws=50, chains=2, seed=3)


@pytest.fixture(scope="module")
def case():
    truth, predictions = cases.items(60, n_labels=3)
    shares = truth.values / truth.values.sum(axis=1, keepdims=True)
    return Labels.from_counts(np.random.default_rng(1).multinomial(5, shares)), predictions


def test_the_section_has_the_numbers_of_the_table(case):
    labels, predictions = case
    data = report_data(labels, predictions, settings=FEW)
    assert data.sets is not None
    sets = cross_sets(labels, predictions, seed=3)
    assert data.sets.table.equals(set_coverage(labels, sets))
    [(model, *cells)] = view(data, data.sets)["rows"]
    assert model == "A"
    assert cells[4] == f"{sets.sum('category').mean().item():.3f}"
    page = render(data)
    assert 'id="sets"' in page
    assert "Holds an annotator" in page
    assert "TMLR 2023" in methods_paragraph(data)
    assert any("ambiguous ground truth" in reference.text for reference in references(data))


def test_no_section_without_probabilities_or_with_few_items(case):
    labels, predictions = case
    for models in (
        Predictions.from_scores({"A": 2 * predictions.scores[0]}),
        Predictions.from_labels({"A": predictions.hard_labels()[0].tolist()}, labels=[0, 1, 2]),
    ):
        data = report_data(labels, models, settings=FEW)
        assert data.sets is None
        assert 'id="sets"' not in render(data)
    few = labels.select(labels.item_index < 30)
    models = Predictions.from_scores({"A": predictions.scores[0, :30]})
    assert report_data(few, models, settings=FEW).sets is None


def test_items_without_annotations_are_left_out(case):
    labels, predictions = case
    counts = labels.counts()
    counts[7] = 0
    data = report_data(Labels.from_counts(counts), predictions, settings=FEW)
    assert data.sets is not None
    assert data.sets.table["n_items"].unique().tolist() == [59]
