# ruff: noqa: E501
"""Runs of `bayesagree.judges`."""

import numpy as np

import bayesagree as ba
from _runs.recipe import FEW, add, later
from _runs.world import (
    CHANCE,
    FULL,
    HARD,
    JUDGE_GOLD,
    JUDGES,
    KIND,
    LABELS,
    OF_SYSTEM,
    RANKED,
    RANKED_SOFT,
    TWO,
    VERDICTS,
)
from bayesagree import judges as ju

odd = ju.CorrectedRatePrior(
    intercept_sd=0.8, slope_sd=1.2, system_sd=0.7, leniency_sd=0.4, people_right=6.0, people_wrong=2.5
)
quick = {"positive": "yes", "tune": 4, **FEW}
run = add("corrected_rate", ba.corrected_rate, VERDICTS, TWO, **quick)
for target in ("share", "truth"):
    run(target=target)
    run(target=target, system=OF_SYSTEM)
    run(target=target, system=OF_SYSTEM, prior=odd, thin=1)
    run(target=target, by=KIND)
    run(target=target, inclusion=CHANCE)
    run(target=target, system=OF_SYSTEM, inclusion=CHANCE, by=KIND, ci_prob=0.8)
    run(target=target, chains=3, seed=8)
scored = later(
    lambda: ba.Ratings.from_matrix(np.random.default_rng(7).random((30, 2)) * 4 + 1, items=[*LABELS().items.tolist(), *(f"w{k}" for k in range(16))],
                                   scale=(1, 5)), "scored")  # fmt: skip
run = add("corrected_rate scores", ba.corrected_rate, scored, TWO, **quick)
run()
run(target="truth")
result = later(lambda: ba.corrected_rate(VERDICTS(), TWO(), system=OF_SYSTEM(), **quick), "result")
plain = later(lambda: ba.corrected_rate(VERDICTS(), TWO(), target="truth", **quick), "plain")
for tree in (result, plain):
    add(f"judge_table {tree.name}", ju.judge_table, tree)()
    add(f"warnings_of {tree.name}", ju.warnings_of, tree)()
add("system_pairs", ju.system_pairs, result)()
for design in ("random", "stratified", "doubt"):
    run = add("label_allocation", ju.label_allocation, VERDICTS, positive="yes", n=11, seed=4)
    run(design=design)
    run(design=design, system=OF_SYSTEM)
add("label_allocation", ju.label_allocation, VERDICTS, positive="yes", n=11, seed=4)(design="doubt", expected=CHANCE)
add("calibration_allocation", ju.calibration_allocation, 60)(raw_rate=0.37, specificity=0.9, sensitivity=0.7)
add("calibration_allocation", ju.calibration_allocation, 60)(raw_rate=0.7, specificity=0.6, sensitivity=0.85, n_pilot=4)
add("rogan_gladen", ju.rogan_gladen, 0.37, 120)(specificity=0.9, n_negative=31, sensitivity=0.7, n_positive=23)
add("rogan_gladen", ju.rogan_gladen, 0.02, 120)(
    specificity=0.9, n_negative=31, sensitivity=0.7, n_positive=23, ci_prob=0.8
)
add("n_effective", ju.n_effective, 7, 0.23)()
add("saving_bound", ju.saving_bound, 0.3, 0.8, 0.9)()
labels = [1, 0, 1, 1, 0, 1, 0]
verdicts = [1, 0.3, 0.8, 0.2, 0.1, 0.9, 0.6]
rest = [0.9, 0.4, 0.2, 0.7, 0.1, 0.3, 0.8, 0.6, 0.5, 0.05]
run = add("prediction_powered_mean", ju.prediction_powered_mean, labels, verdicts, rest)
run()
run(power=1.0)
run(power=0.4, ci_prob=0.7)
run(inclusion=[0.3, 0.5, 0.9, 0.4, 0.6, 0.8, 0.35])
run = add("effective_judges", ju.effective_judges, JUDGES, JUDGE_GOLD, **FEW)
run()
trace = later(lambda: ba.dirichlet(ba.Labels.from_matrix(
    np.random.default_rng(3).integers(0, 3, (20, 3)), labels=[0, 1, 2]), **FEW), "trace")  # fmt: skip
add("effective_judges trace", ju.effective_judges, JUDGES, trace, **FEW)()
run = add("best_panel", ju.best_panel, JUDGES, JUDGE_GOLD, **FEW)
run()
run(cost={"j1": 2.0, "j2": 1.0, "j3": 0.3, "j4": 0.5}, budget=2.4)
run(ci_prob=0.5)
add("best_panel trace", ju.best_panel, JUDGES, trace, **FEW)()
add("best_panel models", ju.best_panel, HARD, later(lambda: ba.dirichlet(LABELS(), **FEW)), **FEW)()
run = add("alternative_annotator_test", ba.alternative_annotator_test, LABELS, HARD, **FEW)
run(min_items=2)
run(min_items=3, epsilon=0.05, ci_prob=0.7)
run()
numbers = later(lambda: ba.Predictions.from_numbers({"A": np.linspace(1, 5, 9), "B": np.linspace(4, 2, 9)}), "numbers")
add("alternative_annotator_test ratings", ba.alternative_annotator_test, FULL, numbers, **FEW)(min_items=2)
add("alternative_annotator_test rankings", ba.alternative_annotator_test, RANKED, RANKED_SOFT, **FEW)(min_items=2)
add("verdict_predictions", ju.verdict_predictions, VERDICTS, TWO)()
