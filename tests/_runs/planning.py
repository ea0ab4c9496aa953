# ruff: noqa: E501
"""Runs of `bayesagree.planning`."""

import bayesagree as ba
from _runs.recipe import add, later
from _runs.world import COUNTS, FINE, GAMES, HARD, LABELS, LEVELS, MANY, MANY_HARD, MANY_SOFT, ORDERED, SOFT
from bayesagree import planning as pn
from bayesagree.comparisons import DavidsonPrior

SMALL = {"items": [10, 25], "annotators": [2, 4], "replicates": 3, "study_draws": 12, "seed": 2}
run = add("plan", ba.plan, LABELS, **SMALL)
run(metric="alpha_nominal")
run(metric="alpha_nominal", target=0.4, cost=(2.0, 0.5))
for metric in ("fleiss_kappa", "gwet_ac1", "brennan_prediger"):
    run(metric=metric)
    run(metric=metric)
wide = SMALL | {"annotators": [4, 6]}
for metric in ("alpha_nominal", "fleiss_kappa", "gwet_ac1", "brennan_prediger"):
    add("plan crossed", ba.plan, LABELS, **wide)(metric=metric, crossed=True)
run = add("plan models", ba.plan, LABELS, SOFT, **SMALL)
run()
run(metric="brier", target=0.2, cost=(1.0, 0.3))
run(plausibility="dirichlet", metric="f1_macro")
add("plan hard", ba.plan, LABELS, HARD, **SMALL)()
add("plan MANY", ba.plan, MANY, MANY_SOFT, **SMALL)()
add("plan MANY", ba.plan, MANY, MANY_SOFT, **SMALL)(plausibility="informed_dirichlet")
add("plan MANY hard", ba.plan, MANY, MANY_HARD, **SMALL)(metric="f1_macro")
for data in (LEVELS, FINE):
    run = add(f"plan {data.name}", ba.plan, data, **SMALL)
    for metric in ("phi", "alpha_interval", "icc_one_way"):
        run(metric=metric)
        if metric != "phi":
            run(metric=metric, target=0.5)

for goal in ("decision", "metric", "certainty"):
    for data, models in ((LABELS, SOFT), (LABELS, HARD), (MANY, MANY_SOFT)):
        run = add(f"annotate_next {data.name} {models.name}", ba.annotate_next, data, models, n=6, seed=1)
        run(goal=goal)
        run(goal=goal, plausibility="dirichlet", prior=0.4)
run = add("annotate_next alone", ba.annotate_next, LABELS, n=5, seed=1)
run()
run(prior=[0.2, 0.5, 1.5])
add("annotate_next counts", ba.annotate_next, COUNTS, n=3, seed=1)()
add("annotate_next informed", ba.annotate_next, MANY, MANY_SOFT, n=5, seed=1)(plausibility="informed_dirichlet")
add("annotate_next ordered", ba.annotate_next, ORDERED, SOFT, n=5, seed=1)()
prior = DavidsonPrior(strength_sd=0.8, tie_mean=-0.3, tie_sd=0.7, order_sd=0.4)
run = add("annotate_next games", ba.annotate_next, GAMES, n=4, seed=1)
run()
run(prior=prior)
run(models=["A", "C"])
for data, models in ((LABELS, SOFT), (LABELS, HARD), (MANY, MANY_SOFT)):
    run = add(f"value_of_votes {data.name} {models.name}", pn.value_of_votes, data, models, seed=1)
    run()
    run(plausibility="dirichlet", prior=0.4)
add("value_of_votes games", pn.value_of_votes, GAMES, seed=1)()
add("value_of_votes games", pn.value_of_votes, GAMES, seed=1)(prior=prior, models=["A", "B", "D"])
add("two_stage_variance", pn.two_stage_variance, [1.0, 3.0, 0.0, 2.0, 4.0], [2, 4, 3, 3, 5])()
add("best_annotators_per_item", pn.best_annotators_per_item, later(
    lambda: pn.two_stage_variance([1.0, 3.0, 0.0, 2.0, 4.0], [2, 4, 3, 3, 5])), item_cost=2.0)(label_cost=0.3)  # fmt: skip
for ratio in (0.3, 0.75):
    add("items_for_icc", pn.items_for_icc, ratio, 3, 0.25)()
    add("items_for_icc", pn.items_for_icc, ratio, 5, 0.1)(ci_prob=0.8)
    add("raters_for_reliability", pn.raters_for_reliability, ratio)(target=0.9)
