"""Data at the edge: a report is written, or an error says why there is none."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from _report import said

from bayesagree import InputError, Labels, Predictions, Rankings, Ratings
from bayesagree.datasets.simulate import labelled_test_set
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


def test_models_without_a_label_are_shown_as_such():
    models = Predictions.from_labels({"m": [0, None, 1], "n": [None] * 3}, labels=[0, 1])
    found, _ = first_sentences(Labels.from_counts([[5, 4]] * 3), models, replace(QUICK, missing="wrong"))
    assert any(label == "no label" for item in found.open_items for label, _ in item.predicted)


def test_an_item_without_annotations_is_as_open_as_the_prior():
    votes = Labels.from_long(
        pd.DataFrame({"item": [1, 2], "annotator": ["a", "a"], "label": ["x", None]}), labels=["x", "y"]
    )
    found, _ = first_sentences(votes)
    first = found.open_items[0]
    assert (first.item, first.n_annotations, first.given) == ("2", 0, ())
    assert first.certainty == pytest.approx(0.5)


@pytest.mark.parametrize("level", [0.0, 1e9])
def test_reliability_from_none_to_full(level):
    votes = Labels.from_counts([[5, 1]] * 30)
    found, _ = first_sentences(
        votes, Predictions.from_labels({"m": [0] * 30, "n": [1] * 30}), ReportSettings(reliability=(level,), draws=250)
    )
    score = found.scores.table["score"].sel(metric="top_1_accuracy", model="m").item()
    assert score == pytest.approx(0.5 if level == 0 else 1.0, abs=5 * np.sqrt(0.25 / 30_000))


def test_ratings_with_models_of_the_two_sides():
    given = Ratings.from_matrix([[1, 2, 1], [5, 4, 5]], scale=(1, 5), step=1)
    models = Predictions.from_labels(
        {"right": ["below", "at_or_above"], "wrong": ["at_or_above", "below"]}, labels=["below", "at_or_above"]
    )
    _, texts = first_sentences(given, models, ReportSettings(draws=100, threshold=3.0))
    assert texts[0].startswith("Which model is best? +")
    assert "right is better than wrong with probability" in texts[0]


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c"]])
def test_rankings_of_few_labels_are_scored_by_the_first_place(labels):
    given = Rankings.from_blocks([[[["a"], ["b"]]]], labels=labels)
    scores = Predictions.from_scores({"m": [np.linspace(1, 0, len(labels))]}, items=[0], labels=labels)
    assert report_data(given, scores, settings=QUICK).settings.metrics == ("top_1_accuracy",)


def test_a_sample_of_items_says_where_the_variance_comes_from():
    test_set = labelled_test_set(n_items=40, seed=1)
    found, texts = first_sentences(test_set.labels, test_set.predictions, ReportSettings(draws=100, items="bootstrap"))
    share = found.scores.table["annotation_share"]
    # Of the variance p (1 - p) / n of a share of 40 items, a tenth and more is that of their truth.
    assert ((share > 0.05) & (share < 1)).all()
    assert any("of the variance of the score comes from the annotations" in sentence for sentence in texts)


def test_many_models_with_endless_names_stay_on_a_phone(browser, tmp_path):
    rng, endless = np.random.default_rng(1), "W" * 300
    votes = Labels.from_matrix(
        rng.choice(["a", endless], (12, 4)), items=[f"{endless}{i}" for i in range(12)], labels=["a", endless]
    )
    predicted = {f"model {endless} {k}": rng.choice(["a", endless], 12).tolist() for k in range(40)}
    models = Predictions.from_labels(predicted, items=votes.items.tolist(), labels=votes.categories.tolist())
    found, _ = first_sentences(votes, models)
    path = tmp_path / "page.html"
    path.write_text(render(found), encoding="utf-8")
    for width in (400, 1000):
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("#scores-top_1_accuracy tbody tr").count() == 41  # and another annotator
        assert page.locator("#pairs-top_1_accuracy tbody tr").count() == 12 * 11 // 2
        page.close()


def test_metrics_without_their_depth_and_metrics_named_twice():
    test_set = labelled_test_set(n_items=10, seed=1)
    asked = ReportSettings(metrics=("average_overlap", "average_overlap_3"), draws=20)
    found, _ = first_sentences(test_set.labels, test_set.predictions, asked)
    assert found.settings.metrics == ("average_overlap_3",)


def test_what_cannot_be_reported_is_said():
    votes = Labels.from_counts([[2, 1]])
    with pytest.raises(InputError, match="use 'dirichlet' or 'dawid_skene'"):
        report_data(votes, settings=ReportSettings("prirn"))
    with pytest.raises(InputError, match="lists a value twice"):
        models = Predictions.from_labels({"m": [0]}, labels=[0, 1])
        report_data(votes, models, settings=ReportSettings(reliability=(1, 1)))
