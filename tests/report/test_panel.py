"""Every number and name of the panel is the right one: each test tells apart what an exchange would give."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from _report import first_screen, sentence

from bayesagree import agreement_table, annotation_certainty, compare, dirichlet, evaluate, pairwise
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.evaluation.tables import OPEN
from bayesagree.planning import value_of_votes
from bayesagree.report import wording
from bayesagree.report.data import report_data
from bayesagree.report.page import render, sentences

METRIC = "accuracy"


@pytest.fixture(scope="module")
def data(informed):
    """The best model comes neither first nor last."""
    _, _, found = informed
    assert found.scores.ranking[METRIC].index.tolist() == list("ABC")
    assert found.scores.plug_in["model"].values.tolist() == list("BAC")
    return found


def with_plug_in(data, **scores):
    """Return the data with other scores against the majority vote, by model."""
    table = data.scores.plug_in.copy(deep=True)
    for model, score in scores.items():
        table.loc[{"metric": METRIC, "model": model}] = score
    return replace(data, scores=replace(data.scores, plug_in=table))


def test_another_annotator_is_neither_a_model_nor_another_metric(data):
    table = data.scores.table
    line = table.sel(metric=METRIC, model="another annotator").isel(reliability=0)
    assert f"Another annotator {float(line['score']):.3f} (" in " ".join(first_screen(render(data)).split())
    assert "another annotator" not in data.scores.ranking[METRIC].index
    none = replace(data, scores=replace(data.scores, table=table.drop_sel(model="another annotator")))
    assert "nother annotator" not in re.sub(r"<script.*", "", render(none), flags=re.DOTALL)


def test_the_model_that_the_plug_in_metric_puts_first_is_named(data):
    names = data.scores.ranking[METRIC].index.tolist()
    changed = with_plug_in(data, **dict(zip(names, (0.5, 0.9, 0.1))))
    assert f"Against the majority vote alone {names[1]} would come first." in sentence(changed, "would come first")
    same = with_plug_in(data, **dict(zip(names, (0.9, 0.5, 0.1))))
    assert not any("would come first" in text for text in sentences(same))


QUESTIONS = json.loads((Path(__file__).parent / "questions.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def asked():
    """Return the first screen of a report and the numbers that answer the questions, computed by other functions."""
    case = labelled_test_set(n_items=80, per_item=4, spread=0.5, random_seed=6)
    how = {"draws": 50, "chains": 2, "random_seed": 1, "plausibility": "dirichlet"}
    labels, models = case.labels, case.predictions
    page = render(report_data(labels, models, reliability=(1.0,), **how))
    tree = evaluate(labels, models, **how)
    found = pairwise(tree, METRIC)
    chance = found["rank_probability"].sel(rank=1)
    best, second, third = (str(found["model"].values[k]) for k in np.argsort(-chance.values))
    pair = found.sel(model=best, other_model=second)
    n_open = int((annotation_certainty(dirichlet(labels, random_seed=1), exact=True) < OPEN).sum())
    table = agreement_table(labels, random_seed=1).set_index("coefficient")
    worth = value_of_votes(labels, models, plausibility="dirichlet", random_seed=1)
    ranked = compare(tree, METRIC)
    numbers = ranked.loc[best, ["score", "lower", "upper"]].to_dict() | {"next_score": ranked["score"][second]}
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
    text |= {name: str(ranked.loc[best, name]) for name in ("tier", "rank_lower", "rank_upper")}
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
