"""Data at the edge: a report is written, or an error says why there is none."""

import pandas as pd
import pytest
from _report import said

from bayesagree import InputError, Labels, Predictions, Ratings
from bayesagree.report.data import report_data
from bayesagree.report.page import render
from bayesagree.report.settings import ReportSettings

QUICK = ReportSettings(draws=50)


def first_sentences(annotations, models=None, settings=QUICK):
    found = report_data(annotations, models, settings=settings)
    page = render(found)
    assert ">nan<" not in page
    return found, said(found)


@pytest.mark.parametrize("labels", [["a"], ["a", "b"]])
def test_one_item_one_annotator_one_model(labels):
    votes, model = Labels.from_matrix([["a"]], labels=labels), Predictions.from_labels({"m": ["a"]}, labels=labels)
    found, texts = first_sentences(votes, model)
    assert texts[0].startswith("How good is m, given these labels?")
    assert not any("alpha" in sentence for sentence in texts)
    if len(labels) == 1:
        assert float(found.certainty[0, 0]) == pytest.approx(1, abs=1e-12)


def test_unanimous_annotators_leave_nothing_open():
    _, texts = first_sentences(Labels.from_counts([[50, 0]] * 5))
    assert any("On every item one label is the most plausible" in text for text in texts)


def test_contradicting_annotators_leave_all_open_and_the_models_tied():
    votes = Labels.from_counts([[5, 5]] * 20)
    _, texts = first_sentences(votes, Predictions.from_labels({"m": [0] * 20, "n": [1] * 20}))
    assert "Which of the two is better stays open: " in texts[0]
    assert any("100" in text and "(20 of 20 items)" in text for text in texts)


def test_an_item_without_annotations_is_as_open_as_the_prior():
    votes = Labels.from_long(
        pd.DataFrame({"item": [1, 2], "annotator": ["a", "a"], "label": ["x", None]}), labels=["x", "y"]
    )
    found, _ = first_sentences(votes)
    first = found.open_items[0]
    assert (first.item, first.n_annotations, first.given) == ("2", 0, ())
    assert first.certainty == pytest.approx(0.5)


def test_ratings_with_models_of_the_two_sides():
    given = Ratings.from_matrix([[1, 2, 1], [5, 4, 5]], scale=(1, 5), step=1)
    models = Predictions.from_labels(
        {"right": ["below", "at_or_above"], "wrong": ["at_or_above", "below"]}, labels=["below", "at_or_above"]
    )
    _, texts = first_sentences(given, models, ReportSettings(draws=100, threshold=3.0))
    assert texts[0].startswith("Which model is best? +")
    assert "right is better than wrong with probability" in texts[0]


def test_what_cannot_be_reported_is_said():
    votes = Labels.from_counts([[2, 1]])
    with pytest.raises(InputError, match="use 'dirichlet' or 'dawid_skene'"):
        report_data(votes, settings=ReportSettings("prirn"))
    with pytest.raises(InputError, match="lists a value twice"):
        models = Predictions.from_labels({"m": [0]}, labels=[0, 1])
        report_data(votes, models, settings=ReportSettings(reliability=(1, 1)))
