# ruff: noqa: E501
"""Runs of `bayesagree.judges` that take the other side of its conditions: judges who say nothing, refusals, limits."""

from typing import Any

import numpy as np
import pandas as pd

import bayesagree as ba
from _runs.judges import odd, plain, quick, result
from _runs.limits import met
from _runs.models import densities
from _runs.recipe import FEW, RUNS, add, later
from _runs.world import (
    CHANCE,
    COUNTS,
    FINE,
    HARD,
    JUDGE_GOLD,
    JUDGES,
    LABELS,
    LEVELS,
    OFFERED,
    RANKED,
    RANKED_SOFT,
    TWICE,
    TWO,
    VERDICTS,
)  # fmt: skip
from bayesagree import judges as ju

RATE: dict[str, Any] = {"n_items": 40, "n_negative": 7, "n_positive": 9}
for specificity, sensitivity, negative, positive in (
    (0.2, 0.9, 100, 1), (0.4, 0.65, 2, 1), (0.51, 0.5, 1, 1), (0.5, 0.5, 9, 9), (0.6, 0.4, 9, 9), (0.6, 0.41, 9, 9),
    (1.0, 1.0, 5, 3), (0.0, 1.0, 5, 3), (1.01, 0.9, 5, 3), (0.9, -0.01, 5, 3),
):  # fmt: skip
    add("rogan_gladen", ju.rogan_gladen, 0.37, n_items=40)(
        specificity=specificity, n_negative=negative, sensitivity=sensitivity, n_positive=positive
    )
for raw_rate in (0, 1, 0.0, 1.0, 0.001, 0.999, 1.001, -0.001):
    add("calibration_allocation", ju.calibration_allocation, 30, specificity=0.8, sensitivity=0.9)(raw_rate=raw_rate)
    add("rogan_gladen", ju.rogan_gladen, specificity=0.9, sensitivity=0.7, **RATE)(raw_rate=raw_rate)
labels, verdicts, rest = [1, 0, 1, 1], [0.9, 0.2, 0.4, 0.8], [0.7, 0.1, 0.3]
for name, given in (("tables", ([labels], [verdicts], rest)), ("one", ([1], [0.5], rest)), ("two", ([1, 0], [0.5, 0.1], rest)), ("nobody", ([], [], rest)),
                    ("no others", (labels, verdicts, [])), ("one other", (labels, verdicts, [0.4])), ("unequal", (labels, verdicts[:3], rest)),
                    ("constant verdicts", (labels, [0.5] * 4, [0.5] * 3)), ("constant labels", ([1, 1, 1], [0.5, 0.2, 0.9], rest)),
                    ("opposite", (labels, [0.1, 0.8, 0.3, 0.2], rest)), ("all alike", ([1, 1], [1, 1], [1]))):  # fmt: skip
    run = add(f"prediction_powered_mean of {name}", ju.prediction_powered_mean, *given)
    run()
    run(inclusion=[0.5, 0.2, 1.0, 0.9][: np.size(given[0])])
for chance in (
    [0.5, 1, 1, 0.2],
    [0.5, 0, 1, 0.2],
    [0.5, 1.01, 1, 0.2],
    [0.5, 0.4, 0.2],
    [[0.5, 0.4, 0.2, 0.1]],
    [0.5, np.nan, 1, 0.2],
):
    add("prediction_powered_mean", ju.prediction_powered_mean, labels, verdicts, rest)(inclusion=chance)
for shares in ((0, 0.5, 0.5), (1, 0.9, 0.8), (0.3, 1, 1), (0.3, 0, 1), (1.01, 0.5, 0.5), (0.3, 0.5, -0.01)):
    add("saving_bound", ju.saving_bound, *shares)()

for target in ("share", "truth"):
    for tune in (1, 3, 5):
        add("corrected_rate", ba.corrected_rate, VERDICTS, TWO, positive="yes", **FEW)(target=target, tune=tune)
run = add("corrected_rate", ba.corrected_rate, VERDICTS, TWO, **quick)
run(engine="exact")
run(positive="maybe")
run(target="rate")
alone = later(lambda: {i: "first" if k == 0 else "rest" for k, i in enumerate(VERDICTS().items.tolist())}, "alone")
seen = later(lambda: {i: "people" if i in set(TWO().items) else "none" for i in VERDICTS().items.tolist()}, "seen")
for system in (alone, seen):
    run(system=system)
    run(system=system, inclusion=CHANCE)
unnamed = later(lambda: ba.Labels.from_counts([[2, 1], [1, 2], [3, 0]], labels=["no", "yes"]), "unnamed")
for first, second in ((RANKED, TWO), (VERDICTS, LEVELS), (unnamed, TWO), (TWO, VERDICTS), (HARD, TWO)):
    add(f"corrected_rate {first.name} {second.name}", ba.corrected_rate, first, second, **quick)()
constant = later(
    lambda: ba.Ratings.from_matrix(np.full((14, 2), 0.3), items=LABELS().items.tolist(), scale=(0, 1)), "constant"
)
alike = later(lambda: ba.Labels.from_matrix([[0, 1], [1, 1], [0, 0], [1, 0], [1, 0], [0, 1], [0, 0], [1, 1]] + [[0, 0], [0, 1]] * 3,
                                            items=LABELS().items.tolist(), labels=[0, 1]), "alike")  # fmt: skip
halves = later(lambda: {i: "AAAABBBBCDCDCD"[k] for k, i in enumerate(LABELS().items.tolist())}, "halves")
add("corrected_rate constant", ba.corrected_rate, constant, TWO, **quick)(system=halves)
twins = later(
    lambda: ba.Labels.from_matrix(
        np.where(np.array(TWO().counts())[:, 1:] > 1, 1, 0), items=TWO().items.tolist(), labels=[0, 1]
    ),
    "twins",
)
add("corrected_rate alike", ba.corrected_rate, alike, twins, **(quick | {"positive": 1}))(system=halves)
run = add("corrected_rate_model", densities, ba.corrected_rate_model, VERDICTS, TWO, positive="yes")
run(prior=odd)
run(target="truth", prior=odd)

for made in (result, plain):
    for value in (14, 15):
        RUNS[f"warnings_of {made.name}: FEW_VOTES = {value}"] = lambda m=made.name, v=value: met(
            "judges.tables", "FEW_VOTES", f"warnings_of {m}", v
        )
for data in (COUNTS, TWICE, FINE, RANKED, unnamed, HARD, LABELS):
    add(f"effective_judges {data.name}", lambda d: ju.effective_judges(
        d, {i: d.categories.tolist()[k % 2] for k, i in enumerate(d.items.tolist())}, **FEW), data)()  # fmt: skip
one_judge = later(lambda: ba.Labels.from_matrix([["x"], ["y"], ["x"]], annotators=["j"], labels=[*"xy"]), "one judge")
silent = later(
    lambda: ba.Labels.from_matrix([[*"xy"], ["y", None], [*"xx"]], annotators=[*"jk"], labels=[*"xy"]), "silent"
)
for data in (one_judge, silent):
    add(f"effective_judges {data.name}", ju.effective_judges, data, {0: "x", 1: "y", 2: "y"}, **FEW)()
best = later(lambda: ba.dirichlet(JUDGES(), top_labels=1, **FEW), "best")
whole = later(lambda: ba.dirichlet(JUDGES(), **FEW), "whole")
for truth in (best, whole):
    add(f"effective_judges {truth.name}", ju.effective_judges, JUDGES, truth, **FEW)()
add(
    "effective_judges of others",
    ju.effective_judges,
    JUDGES,
    later(lambda: ba.dirichlet(JUDGES().select(JUDGES().item_index > 11), **FEW)),
    **FEW,
)()
for gold in ({}, {99: 1}, {0: 7}):
    add("effective_judges", ju.effective_judges, JUDGES, gold, **FEW)()
add("effective_judges", ju.effective_judges, JUDGES, JUDGE_GOLD, **FEW)(draws=1)
add("alternative_annotator_test offered", ba.alternative_annotator_test, OFFERED, RANKED_SOFT, **FEW)(min_items=2)
fewer = later(lambda: ba.Rankings.from_long(RANKED().to_long().query("item != 'w'"), labels=[*"abcd"]), "fewer")
partly = later(
    lambda: ba.Rankings.from_long(RANKED().to_long().query("item != 'w' or annotator != 'ann'"), labels=[*"abcd"]),
    "partly",
)
some = later(
    lambda: ba.Rankings.from_long(RANKED().to_long().query("item == 'v' and annotator != 'cyn'"), labels=[*"abcd"]),
    "some",
)
for judges, people in (
    (RANKED, RANKED),
    (fewer, RANKED),
    (partly, fewer),
    (some, RANKED),
    (some, some),
    (LEVELS, FINE),
    (unnamed, TWO),
    (VERDICTS, LABELS),
    (TWO, VERDICTS),
):
    add(f"verdict_predictions {judges.name} {people.name}", ju.verdict_predictions, judges, people)()
for n in (0, 1, 29, 30):
    for design in ("random", "stratified", "doubt"):
        add("label_allocation", ju.label_allocation, VERDICTS, positive="yes", seed=4)(n=n, design=design)
add("judge_table of no result", ju.judge_table, whole)()
add("warnings_of no result", ju.warnings_of, whole)()
add(
    "best_panel of names",
    lambda: pd.DataFrame(ju.best_panel(HARD(), dict(zip(HARD().items.tolist(), [*"xyz"] * 9)), **FEW)),
)()
