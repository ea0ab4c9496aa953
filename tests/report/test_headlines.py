"""Every number and name in the first sentences is the right one: each test tells apart what an exchange would give."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesagree import Predictions, Ratings
from bayesagree.evaluation.tables import OPEN
from bayesagree.report.annotators import GroupResults
from bayesagree.report.data import report_data
from bayesagree.report.headlines import headlines
from bayesagree.report.page import render
from bayesagree.report.settings import ReportSettings
from bayesagree.report.wording import number
from bayesagree.simulate import labelled_test_set

METRIC = "top_1_accuracy"


@pytest.fixture(scope="module")
def data():
    """Models in an order that is not that of their scores: the best one comes neither first nor last."""
    test_set = labelled_test_set(n_items=60, seed=1)
    given = test_set.predictions
    said = dict(zip(given.models.tolist(), given.categories[given.hard_labels()].tolist()))
    shuffled = Predictions.from_labels(
        {model: said[model] for model in "BAC"}, items=given.items.tolist(), labels=given.categories.tolist()
    )
    found = report_data(test_set.labels, shuffled, settings=ReportSettings(draws=200))
    assert found.scores.comparison[METRIC]["model"].values.tolist() == list("ABC")
    assert found.scores.table["model"].values.tolist() == list("BAC")
    return found


def with_plug_in(data, **scores):
    """Return the data with other scores against the majority vote, by model."""
    table = data.scores.table.copy(deep=True)
    for model, score in scores.items():
        table["plug_in"].loc[{"metric": METRIC, "model": model}] = score
    return replace(data, scores=replace(data.scores, table=table))


def sentence(data, part):
    [found] = [text for text in headlines(data) if part in text]
    return found


def test_score_and_interval_are_those_of_the_best_model(data):
    best = data.scores.comparison[METRIC]["model"].values[0]
    row = data.scores.table.sel(metric=METRIC, model=best).sel(reliability=data.settings.reference)
    text = sentence(data, "when the annotators' uncertainty is taken into account")
    ends = f"{float(row['lower']):.3f} to {float(row['upper']):.3f}"
    assert f"of {best} is {number(float(row['score']))} (95 % interval {ends})" in text
    others = data.scores.table.drop_sel(model=best).sel(metric=METRIC, reliability=data.settings.reference)
    assert number(float(row["lower"])) not in map(number, others["lower"].values)


def test_another_annotator_is_neither_a_model_nor_another_metric(data):
    line = data.scores.ceiling["posterior"].sel(metric=METRIC, reliability=data.settings.reference).isel(model=0)
    ends = f"{float(line['lower']):.3f} to {float(line['upper']):.3f}"
    said = sentence(data, "Another annotator")
    assert said.endswith(f"would have {float(line['score']):.3f} (95 % interval {ends}).")
    assert "a further annotator" not in data.scores.comparison[METRIC]["model"]
    assert render(data).count('scope="row">Another annotator</th>') == 1
    none = replace(data, scores=replace(data.scores, ceiling={}))
    assert not any("nother annotator" in text for text in headlines(none))
    assert "nother annotator" not in re.sub(r"<script.*", "", render(none), flags=re.DOTALL)


def test_the_plug_in_score_is_that_of_the_best_model(data):
    best = data.scores.comparison[METRIC]["model"].values[0]
    scores = dict(zip(data.scores.table["model"].values.tolist(), (0.111, 0.222, 0.333)))
    changed = with_plug_in(data, **scores)
    text = sentence(changed, "when the annotators' uncertainty is taken into account")
    assert f"it is {scores[best]:.3f}." in text


def test_the_model_that_the_plug_in_metric_puts_first_is_named(data):
    names = data.scores.comparison[METRIC]["model"].values.tolist()
    changed = with_plug_in(data, **dict(zip(names, (0.5, 0.9, 0.1))))
    assert sentence(changed, "would have put").split()[-2] == names[1]
    same = with_plug_in(data, **dict(zip(names, (0.9, 0.5, 0.1))))
    assert not any("would have put" in text for text in headlines(same))


def test_open_items_are_counted_at_the_reference_reliability(data):
    counts = (np.asarray(data.certainty) < OPEN).sum(axis=1).tolist()
    assert data.certainty["reliability"].values[0] == data.settings.reference
    assert counts[0] not in counts[1:]
    assert f"({counts[0]} of 60)" in sentence(data, "leave the answer open")


def test_the_group_served_worst_is_named_first(data):
    rows = [("A", "old", "young", 0.99, 0.01), ("B", "young", "old", 0.97, 0.02), ("C", "old", "young", 0.6, 0.5)]
    worst = pd.DataFrame(rows, columns=["model", "worst", "best", "probability", "p_value"])
    groups = GroupResults("age", pd.DataFrame(), xr.Dataset(), worst)
    said = [text for text in headlines(replace(data, groups=groups)) if "serves the group" in text]
    assert said == [
        "A serves the group old worse than young with probability 0.99 (groups by age).",
        "B serves the group young worse than old with probability 0.97 (groups by age).",
    ]


def test_the_first_sentence_states_which_items_it_is_about(data):
    other = "The question is which model is better on these items; for items like these, use --items bootstrap."
    assert "on these items" in headlines(data)[0]
    assert headlines(data)[1] == other
    sampled = replace(data, settings=replace(data.settings, items="bootstrap"))
    assert "on items like these" in headlines(sampled)[0]
    assert other not in headlines(sampled)


def test_phi_of_random_answers_that_are_rounded_is_stated_with_the_note_of_its_table():
    answers = np.random.default_rng(1).uniform(1, 7, (300, 4)).round()
    ratings = Ratings.from_matrix(answers, scale=(1, 7), step=1)
    found = report_data(ratings, None, settings=ReportSettings(draws=50, threshold=4))
    text = sentence(found, "Common agreement Phi")
    assert "random answers already have Phi = 0.29" in text
    assert text.endswith(found.agreement.set_index("coefficient").loc["phi", "note"] + ".")
    plain = replace(found, agreement=found.agreement.assign(note=""))
    assert sentence(plain, "Common agreement Phi").endswith("-1 is two camps.")
