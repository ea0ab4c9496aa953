"""Every number and name of the panel is the right one: each test tells apart what an exchange would give."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from _report import Text, first_screen, said, sentence

from bayesagree import (
    Annotators,
    Predictions,
    Ratings,
    agreement_table,
    compare,
    evaluate,
    informed_dirichlet,
    label_certainty,
    majority_vote,
)
from bayesagree.annotations.groups import Groups
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.evaluation.tables import OPEN
from bayesagree.planning import value_of_votes
from bayesagree.report import wording
from bayesagree.report.annotators import GroupResults
from bayesagree.report.data import report_data
from bayesagree.report.page import render
from bayesagree.report.panel import contenders, panel
from bayesagree.report.settings import ReportSettings
from bayesagree.report.wording import number
from bayesagree.subjective import EvaluationSpecification

METRIC = "top_1_accuracy"
MODELS = labelled_test_set(n_items=60, seed=1).predictions


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


def test_score_and_interval_are_those_of_the_best_model(data):
    best = data.scores.comparison[METRIC]["model"].values[0]
    row = data.scores.table.sel(metric=METRIC, model=best).sel(reliability=data.settings.reference)
    ends = f"{float(row['lower']):.3f} to {float(row['upper']):.3f}"
    start = f"How good is {best} against many annotators? {number(float(row['score']))} ({ends})."
    assert sentence(data, "How good").startswith(start)
    others = data.scores.table.drop_sel(model=best).sel(metric=METRIC, reliability=data.settings.reference)
    assert number(float(row["lower"])) not in map(number, others["lower"].values)


def test_another_annotator_is_neither_a_model_nor_another_metric(data):
    line = data.scores.ceiling[0].sel(metric=METRIC, reliability=data.settings.reference).isel(model=0)
    assert f"would score {float(line['score']):.3f} against" in sentence(data, "Another annotator")
    assert "another annotator" not in data.scores.comparison[METRIC]["model"]
    assert render(data).count(">Another annotator</span></th>") == 1
    none = replace(data, scores=replace(data.scores, ceiling=None))
    assert not any("nother annotator" in text for text in said(none))
    assert "nother annotator" not in re.sub(r"<script.*", "", render(none), flags=re.DOTALL)


def test_the_plug_in_score_is_that_of_the_best_model(data):
    best = data.scores.comparison[METRIC]["model"].values[0]
    scores = dict(zip(data.scores.table["model"].values.tolist(), (0.111, 0.222, 0.333)))
    changed = with_plug_in(data, **scores)
    assert f"Against the majority vote: {scores[best]:.3f}." in sentence(changed, "How good")


def test_the_model_that_the_plug_in_metric_puts_first_is_named(data):
    names = data.scores.comparison[METRIC]["model"].values.tolist()
    changed = with_plug_in(data, **dict(zip(names, (0.5, 0.9, 0.1))))
    assert f"Against the majority vote alone {names[1]} would come first." in sentence(changed, "would come first")
    same = with_plug_in(data, **dict(zip(names, (0.9, 0.5, 0.1))))
    assert not any("would come first" in text for text in said(same))


def test_open_items_are_counted_at_the_reference_reliability(data):
    counts = (np.asarray(data.certainty) < OPEN).sum(axis=1).tolist()
    assert data.certainty["reliability"].values[0] == data.settings.reference
    assert counts[0] not in counts[1:]
    assert f"({counts[0]} of 60 items)" in sentence(data, "What stays open?")


def test_the_group_served_worst_is_named_first(data):
    rows = [("A", "old", "young", 0.99), ("B", "young", "old", 0.97), ("C", "old", "young", 0.6)]
    worst = pd.DataFrame(rows, columns=["model", "worst", "best", "probability"])
    mean = xr.DataArray([[0.1, 0.2]] * 3, coords={"model": list("ABC"), "group": ["old", "young"]})
    accuracy = xr.Dataset({"mean": mean, "lower": mean - 0.05, "upper": mean + 0.05})
    groups = GroupResults("age", pd.DataFrame(), accuracy, worst)
    changed = replace(data, groups=groups)
    assert [text for text in said(changed) if text.startswith(("A serves", "B serves"))] == [
        "A serves old worse than young with probability 0.99.",
        "B serves young worse than old with probability 0.97.",
    ]
    answer = sentence(changed, "How good is A")
    assert "A serves old worse than young with probability 0.99." in answer
    assert "B serves" not in answer
    assert answer.endswith("Accuracy for old: 0.100 (0.050 to 0.150). Accuracy for young: 0.200 (0.150 to 0.250).")


def test_the_first_answer_states_which_items_it_is_about(data):
    other = "The panel is about these items. For items like these, use --items bootstrap."
    assert "on these items" in panel(data)[0].method
    assert other in said(data)
    sampled = replace(data, settings=replace(data.settings, items="bootstrap"))
    assert "on items like these" in panel(sampled)[0].method
    assert other not in said(sampled)


def test_phi_of_random_answers_that_are_rounded_is_stated_with_the_note_of_its_table():
    answers = np.random.default_rng(1).uniform(1, 7, (300, 4)).round()
    ratings = Ratings.from_matrix(answers, scale=(1, 7), step=1)
    found = report_data(ratings, None, settings=ReportSettings(draws=50, threshold=4))
    answer = panel(found)[0]
    assert "random answers already have Phi = 0.29" in answer.method
    assert answer.method.endswith(found.agreement.set_index("coefficient").loc["phi", "note"] + ".")
    plain = replace(found, agreement=found.agreement.assign(note=""))
    assert panel(plain)[0].method == "Common agreement Phi."


QUESTIONS = json.loads((Path(__file__).parent / "questions.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def asked():
    """Return the first screen of a report and the numbers that answer the questions, computed by other functions."""
    case = labelled_test_set(n_items=80, per_item=4, spread=0.5, seed=6)
    labels, models, how = case.labels, case.predictions, {"draws": 100, "chains": 2, "seed": 1}
    page = render(report_data(labels, models, settings=ReportSettings(draws=100, chains=2)))
    tree = evaluate(labels, models, another_annotator=True, **how)
    scores = tree["posterior"][METRIC].isel(reliability=0)
    found = compare(tree.sel(model=models.models), metric=METRIC)
    chance = found["rank_probability"].sel(rank=1)
    best, second, third = (str(found["model"].values[k]) for k in np.argsort(-chance.values))
    pair = found.sel(model=best, other_model=second)
    truth = informed_dirichlet(labels, models, top_labels=1, **how)
    n_open = int((label_certainty(truth).max("category") < OPEN).sum())
    table = agreement_table(labels, seed=1).set_index("coefficient")
    worth = value_of_votes(labels, models, plausibility="dirichlet")
    numbers = {name: float(found.sel(model=best)[f"score{ending}"]) for name, ending in
               {"score": "", "lower": "_lower", "upper": "_upper"}.items()}  # fmt: skip
    numbers |= {"next_score": float(found["score"].sel(model=second))}
    numbers |= {"annotator": float(scores.sel(model="another annotator").mean())}
    numbers |= {f"agreement{ending}": table.loc["alpha_nominal", name] for ending, name in
                {"": "estimate", "_lower": "lower", "_upper": "upper"}.items()}  # fmt: skip
    numbers |= {"percent_agreement": table.loc["percent_agreement", "estimate"]}
    numbers |= {f"difference_{end}": float(pair[end]) for end in ("lower", "upper")}
    chances = {
        "probability": pair["prob_better"],
        "other_probability": found["prob_better"].sel(model=best, other_model=third),
    }
    chances |= {"now": worth["prob_right"].iloc[0], "then": worth["prob_right"].iloc[-1]}
    text = {"best": best, "next": second, "difference": f"{float(pair['difference']):+.3f}"}
    text |= {name: f"{value:.3f}" for name, value in numbers.items()}
    text |= {name: wording.probability(float(value)) for name, value in chances.items()}
    text |= {
        "n_open": str(n_open),
        "n_settled": str(80 - n_open),
        "n_items": "80",
        "votes": str(worth["votes"].iloc[-1]),
    }
    return " ".join(first_screen(page).split()), text


@pytest.mark.parametrize("question", QUESTIONS, ids=[one["question"] for one in QUESTIONS])
def test_the_first_screen_answers(question, asked):
    screen, values = asked
    answer, wrong = (" ".join(question[key].format(**values).split()) for key in ("answer", "wrong"))
    assert answer in screen
    assert wrong not in screen


def test_there_are_eight_questions():
    assert len({one["question"] for one in QUESTIONS}) == 8


@pytest.mark.long
def test_sentences_are_short_and_paragraphs_have_three(data):
    """Texts of the data, of warnings and of the methods to paste have their own length."""
    people = Annotators.from_table(
        pd.DataFrame({"annotator": data.annotations.annotators, "age": ["old", "young"] * 6})
    )
    groups = Groups.by_features(data.annotations, people, ["age"])
    declared = EvaluationSpecification("unequal accuracy", protected=["age"])
    for settings in (ReportSettings(draws=40), ReportSettings("dirichlet", draws=40, items="bootstrap")):
        whole = report_data(
            data.annotations, MODELS, settings=settings, groups=groups, annotators=people, specification=declared
        )
        for tag, text in Text(render(whole)).outside("methods-text", "warning", "open-items"):
            sentences = re.split(r"(?<=[.?!])\s+", text)
            assert tag != "p" or len(sentences) <= 3, text
            assert max(len(one.split()) for one in sentences) <= 25, text


def test_gold_is_beside_the_score_of_the_best_model():
    case = labelled_test_set(n_items=80, per_item=4, spread=0.5, seed=6)
    truth = case.plausibility.argmax(axis=1)
    gold = dict(zip(case.labels.items[::2].tolist(), case.labels.categories[truth[::2]].tolist()))
    how = {"draws": 50, "chains": 2}
    found = report_data(case.labels, case.predictions, gold=gold, settings=ReportSettings(**how))
    best = contenders(found.scores.comparison[METRIC])[0]
    scores = evaluate(case.labels, case.predictions, gold=gold, seed=1, **how)["posterior"][METRIC].sel(model=best)
    answer = sentence(found, "How good is")
    assert f"Against gold (40 items): {float(scores.mean()):.3f} (" in answer
    vote = majority_vote(case.labels).values[::2][np.arange(40), truth[::2]].mean()  # tied labels share
    assert " ".join(wording.percent(vote).split()) in sentence(found, "The majority vote is gold")
    assert render(found).count('id="gold-table"') == 1
