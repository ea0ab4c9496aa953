"""Data at the edge: a report is written, or an error says why there is none."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesagree import Labels, Predictions, Ratings
from bayesagree.report.data import report_data
from bayesagree.report.page import render, sentences
from bayesagree.report.scores import ModelScores


def first_sentences(annotations, models=None):
    found = report_data(annotations, models, draws=50)
    page = render(found)
    assert ">nan<" not in page
    return found, sentences(found)


@pytest.mark.parametrize("labels", [["a"], ["a", "b"]])
def test_one_item_one_annotator_one_model(labels):
    votes, model = Labels.from_matrix([["a"]], labels=labels), Predictions.from_labels({"m": ["a"]}, labels=labels)
    found, texts = first_sentences(votes, model)
    assert not any("alpha" in sentence for sentence in texts)
    if len(labels) == 1:
        assert float(found.certainty[0, 0]) == pytest.approx(1, abs=1e-12)


def test_names_of_models_are_numbers():
    votes = Labels.from_matrix([[0, 1], [1, 1], [0, 0]] * 2)
    _, texts = first_sentences(votes, Predictions.from_labels({7: [0, 1, 1] * 2, 10: [0, 1, 0] * 2}))
    assert any("10" in sentence for sentence in texts)


def test_an_item_without_annotations_is_as_open_as_the_prior():
    rows = pd.DataFrame({"item": [1, 2], "annotator": ["a", "a"], "label": ["x", None]})
    found, _ = first_sentences(Labels.from_long(rows, labels=["x", "y"]))
    first = found.open_items[0]
    assert (first.item, first.n_annotations, first.given) == ("2", 0, ())
    assert first.certainty == pytest.approx(0.5)


def test_the_first_model_by_bias_is_nearest_to_none():
    """It was the one furthest below, by the plug-in and at each reliability."""
    ratings = Ratings.from_matrix(np.tile([1.0, 2, 3, 4], (3, 1)).T, scale=(0, 5))
    far, near = {"far": [0.0, 1, 2, 3]}, {"near": [1.2, 2.2, 3.2, 4.2]}
    scores = report_data(ratings, Predictions.from_numbers(far | near), draws=50, metrics=("bias",)).scores
    assert {scores.first_by_plug_in(), *scores.first_at().values(), scores.ranking["bias"].index[0]} == {"near"}


def test_the_first_model_is_nearest_to_the_best_value_or_has_the_most_or_the_least():
    """Of a score whose best value is .9, and of others, by the plug-in and at each reliability."""
    scores = xr.DataArray([[0.95, 0.5, 1.0]], {"metric": ["m"], "model": [*"abc"]}, ("metric", "model"))
    table = xr.Dataset({"score": scores.expand_dims(reliability=[1.0, 3.0])})
    for attrs, first in (
        ({"higher_is_better": 1, "best": 0.9}, "a"), ({"higher_is_better": 1}, "c"), ({"higher_is_better": 0}, "b"),
    ):  # fmt: skip
        ranking = pd.DataFrame(index=[*"abc"])
        ranking.attrs |= attrs
        found = ModelScores(table, None, scores, {"m": ranking}, {})
        assert found.first_by_plug_in() == first
        assert found.first_at() == {1.0: first, 3.0: first}


def test_items_without_annotations_are_not_said_to_have_some():
    votes = Labels.from_matrix([[0, 1], [1, 1], [0, 0]] * 4)
    models = Predictions.from_labels({"A": [0, 1, 1] * 5, "B": [0, 1, 0] * 5})
    page = " ".join(render(report_data(votes, models, draws=50)).split())
    assert "24 annotations by 2 annotators of 12 of 15 items (2.0 per annotated item)" in page
    assert "The 15 items, 3 of them without, have 24 annotations" in page
