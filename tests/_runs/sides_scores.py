# ruff: noqa: E501
"""Runs that take the side of a condition that the others leave out: evaluation, metrics, plans, checks, groups."""

from typing import Any

import numpy as np
import pandas as pd

import bayesagree as ba
from _runs.recipe import FEW, add, later
from _runs.subjective import posterior, quality, rated, spec
from _runs.world import (
    AGES,
    COUNTS,
    GOLD,
    GROUPS,
    HARD,
    LABELS,
    LEVELS,
    MANY,
    MANY_AGES,
    MANY_HARD,
    MANY_SOFT,
    ORDERED,
    RANKED,
    RANKED_SOFT,
    SOFT,
    TWO,
)  # fmt: skip
from bayesagree import evaluation as ev
from bayesagree import metrics as mt
from bayesagree import planning as pn
from bayesagree import predictive as pr
from bayesagree import subjective as sj
from bayesagree.annotations import Groups
from bayesagree.evaluation.scoring import scores_another_annotator
from bayesagree.evaluation.tables import given_notes
from bayesagree.plausibility.dawid_skene import DawidSkenePrior
from bayesagree.plausibility.dirichlet.posterior import Dirichlet
from bayesagree.plausibility.informed.posterior import InformedDirichlet
from bayesagree.subjective.group_truth import group_truth_tables
from bayesagree.subjective.tables import disagreement_groups

EVALUATED = {"plausibility": "dirichlet", "metrics": ["accuracy"]} | FEW


def half(value: Any) -> Any:
    """Keep the even items of annotations."""
    return value.select(value.item_index % 2 == 0)


# Evaluation: models that lack items, models that agree, a claim at its limits, gold of items that nobody annotated.
same = later(lambda: ba.Predictions.from_labels(
    {"A": [*"xyzx"], "B": [*"xyzx"], "C": [None, *"xyz"]}, items=["t00", "t01", "t02", "t03"], labels=[*"xyzw"]), "same")  # fmt: skip
few = later(lambda: ba.Labels.from_matrix(
    [["x", "y"], ["y", "y"], ["z", None], ["x", None]], items=["t00", "t01", "t02", "t03"], labels=[*"xyzw"]), "few")  # fmt: skip
for missing in ("skip", "error"):
    for predictions in (same, None):
        add(f"given_notes {getattr(predictions, 'name', None)}", given_notes, few, predictions)(missing=missing)
add("given_notes single", given_notes, later(lambda: ba.Labels.from_matrix([["x"], ["y"]], labels=["x", "y"])), None)(
    missing="skip"
)
for missing in ("skip", "wrong"):
    add("evaluate models alike", ba.evaluate, few, same, **EVALUATED)(missing=missing)
for probability in (0, 0.0001, 0.9999, 1):
    add("assert_better", ba.assert_better, LABELS, SOFT, new="top", old="low", **FEW)(probability=probability)
for margin in (-0.9, -0.05, 0.9, float("inf"), float("nan")):
    add("assert_better", ba.assert_better, LABELS, SOFT, new="top", old="low", **FEW)(margin=margin)
add("evaluate gold of others", ba.evaluate, later(lambda: half(LABELS())), HARD, gold={"t01": "x"}, **EVALUATED)()
add("evaluate gold", ba.evaluate, later(lambda: half(LABELS())), HARD, gold=GOLD, **EVALUATED)()
for name, data, models, option in (
    ("dawid_skene", LABELS, SOFT, "variant"), ("dawid_skene", LABELS, SOFT, "candidates"), ("plackett_luce", RANKED, RANKED_SOFT, "unranked"),
    ("plackett_luce", RANKED, RANKED_SOFT, "competing"), ("informed_dirichlet", MANY, MANY_SOFT, "form"), ("prirn", RANKED, RANKED_SOFT, "ties"),
):  # fmt: skip
    add(f"evaluate an option of {name}", ba.evaluate, data, models, plausibility=name, **FEW)(**{option: "none"})
for levels in ((), (1.0, 1.0), (2.0, 1.0)):
    add("evaluate levels", ba.evaluate, LABELS, SOFT, **EVALUATED)(reliability=levels)
for measure in ("pearson", "spearman", "kendall", "swap_rate"):
    for a, b in (([0.3], [0.2]), ([0.3, 0.1], [0.2, 0.4]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 4], [2, 2, 2]), ([1, 2], [1, 2, 3]),
                 ([1, 3, 3, 2], [2, 5, 4, 4]), ([float("nan"), 2, 3, 1], [1, 2, 4, 3]), ([[1, 2]], [[2, 1]])):  # fmt: skip
        add(f"correlation of {a} and {b}", ev.correlation, a, b)(measure=measure)
add("copeland_rank", ev.copeland_rank, [[0.1, 0.2]])()
add("copeland_rank", lambda: [ev.copeland_rank([0.4, 0.1, 0.4, 0.3]), ev.copeland_rank(ba.score(
    ba.dirichlet(LABELS(), **FEW), SOFT(), "accuracy", seed=1).mean(("chain", "draw")))])()  # fmt: skip

# Metrics: their limits, functions of the user, rankings against hard labels, one label only.
drawn = later(lambda: ba.dirichlet(LABELS(), **FEW), "drawn")
best = later(lambda: ba.dirichlet(LABELS(), top_labels=1, **FEW), "best")
for k, m in ((1, 3), (3, 1), (2, 4), (4, 2)):
    add("top_k_in_top_m", mt.top_k_in_top_m, drawn, SOFT)(k=k, m=m)
constant = later(lambda: ba.Predictions.from_scores(
    {m: pd.DataFrame([p] * 14, LABELS().items, ["x", "y", "z"]) for m, p in (("A", [0.5, 0.3, 0.2]), ("B", [1.0, 0, 0]))}), "constant")  # fmt: skip
for models in (constant, SOFT):
    add(f"entropy_rank_correlation {models.name}", ba.score, drawn, models, "entropy_rank_correlation", seed=1)()


def matches(truth: Any, predicted: Any) -> float:
    """Weigh the label x twice."""
    return float(np.average(np.asarray(truth) == np.asarray(predicted), weights=1 + (np.asarray(truth) == "x")))


def shares(truth: Any, predicted: Any) -> Any:
    """Return more than one number."""
    return np.array([0.5, 0.25])


lacking = later(lambda: ba.Predictions.from_labels(
    {"A": [None, *"xyzxyzxyzxyzx"], "B": [*"zyxzyxzyxzyxzy"]}, items=LABELS().items.tolist(), labels=[*"xyz"]), "lacking")  # fmt: skip
for models in (HARD, lacking):
    for function in (matches, shares):
        add(f"score by {function.__name__} {models.name}", ba.score, drawn, models, function, seed=1)(missing="wrong")
for scores, truth in (([0.1, 0.4, 0.3], [0, 1, 1]), ([[0.1, 0.4, 0.3], [0.4, 0.2, 0.3]], [0.2, 0.9, 0.9]), ([0.1, 0.4], [0, 1, 1]),
                      ([0.1, 0.4], [[0, 1]]), ([[[0.1, 0.4]]], [0, 1]), ([0.3, 0.3, 0.1], [1, 1, 1])):  # fmt: skip
    add(f"concordance of {scores} and {truth}", mt.concordance, scores, truth)()
ranked_hard = later(
    lambda: ba.Predictions.from_labels({"A": [*"abcda"], "B": [*"bdcca"]}, items=[*"vwxyz"], labels=[*"abcd"]), "hard"
)
for k in (1, 3, 4, 5):
    add("partial_average_overlap of labels", mt.partial_average_overlap, RANKED, ranked_hard)(k=k)
for resample in ((), ("item",), ("annotator",), ("item", "annotator"), ("items",)):
    add("auc_posterior", mt.auc_posterior, TWO, later(lambda: ba.Predictions.from_scores(
        {m: pd.Series(np.random.default_rng(s).random(14), TWO().items) for m, s in (("A", 1), ("B", 5))}, labels=["no", "yes"])),
        draws=12, seed=1)(resample=resample)  # fmt: skip
quantiles = np.linspace(1.3, 4.6, 12)[:, None] + np.array([-0.9, -0.2, 0.1, 0.7])
numbers = later(lambda: ba.Predictions.from_numbers(
    {m: pd.DataFrame(q, LEVELS().items, [0.1, 0.4, 0.6, 0.9]) for m, q in (("A", quantiles), ("B", 5.5 - quantiles[:, ::-1]))}),
    "numbers")  # fmt: skip
for percent in (10, 20, 50, 80, 81, 90, 100):
    add(f"score by interval_coverage_{percent}", ba.score, later(lambda: ba.normal_inverse_gamma(LEVELS(), **FEW)), numbers,
        f"interval_coverage_{percent}", seed=1)()  # fmt: skip
for voted in (1, 2, 3, 14):
    some = later(lambda voted=voted: LABELS().select(LABELS().item_index < voted), f"{voted} items")
    for metric in ("accuracy", "agreement", "brier"):
        add(
            f"evaluate votes alone {some.name}",
            ba.evaluate,
            some,
            SOFT,
            metrics=[metric],
            another_annotator=True,
            **FEW,
        )()

# Plans: sizes at their limits, a target that nothing meets, two models too few.
for icc, k, width in (
    (0.0, 2, 1.9),
    (1.0, 3, 0.2),
    (-0.1, 3, 0.2),
    (0.5, 1, 0.2),
    (0.5, 3, 0.0),
    (0.5, 3, 2.0),
    (0.999, 7, 0.01),
):
    add(f"items_for_icc of {icc}, {k}, {width}", pn.items_for_icc, icc, k, width)()
for sums, votes in (
    ([1.0], [2]),
    ([1.0, 2.0], [1, 1]),
    ([1.0, 0.0], [2, 0]),
    ([1.0, 2.0, 1.0], [1, 3, 1]),
    ([0.0, 5.0], [4, 5]),
):
    add(f"two_stage_variance of {sums}, {votes}", pn.two_stage_variance, sums, votes)()
one = later(
    lambda: ba.Predictions.from_labels(
        {"A": HARD().hard_labels()[0].tolist()}, items=HARD().items.tolist(), labels=[0, 1, 2]
    ),
    "one",
)
top = later(
    lambda: ba.Predictions.from_scores({"A": pd.DataFrame(SOFT().scores[0], SOFT().items, SOFT().categories)}),
    "one model",
)
for goal in ("decision", "metric", "certainty", None):
    for models in (top, None):
        add(f"annotate_next {getattr(models, 'name', None)}", ba.annotate_next, LABELS, models, n=3, seed=1)(goal=goal)
add("value_of_votes one model", pn.value_of_votes, LABELS, top, seed=1)()
add("value_of_votes no model", pn.value_of_votes, LABELS, seed=1)()
SMALL = {"items": [10, 25], "replicates": 3, "study_draws": 12, "seed": 2}
for metric in ("alpha_nominal", "fleiss_kappa", "accuracy", "phi"):
    for annotators in ([1, 3], [2], [3], [4], [4, 5]):
        for crossed in (False, True):
            add("plan at limits", ba.plan, LABELS, **SMALL)(metric=metric, annotators=annotators, crossed=crossed)
for items in ([], [10, 10], [25, 10], [np.int64(12)], [0], [7.5]):
    add(f"plan items={items}", ba.plan, LABELS, annotators=[3], replicates=3, seed=2)(
        items=items, metric="alpha_nominal"
    )
for target in (0.9, 0.0001):
    add("plan target", ba.plan, LABELS, annotators=[2, 3], **SMALL)(metric="alpha_nominal", target=target)
even = later(lambda: ba.Comparisons.from_long(pd.DataFrame(
    {"left": [*"ABCABC"], "right": [*"BCACAB"], "winner": ["left", "right", "tie", "right", "left", "left"]})), "even")  # fmt: skip
add("value_of_votes even", pn.value_of_votes, even, seed=1)()
add("annotate_next even", ba.annotate_next, even, n=3, seed=1)(goal="certainty")

# Checks: refusals, and results of other functions.
crowd = later(lambda: ba.dawid_skene(LABELS(), variant="full", tune=4, **FEW), "crowd")
bare = later(lambda: ba.dawid_skene(LABELS(), variant="full", tune=4, confusion=False, **FEW), "bare")
ends = later(lambda: ba.dawid_skene(LABELS(), variant="full", tune=4, top_labels=1, **FEW), "ends")
golden = later(lambda: ba.dawid_skene(LABELS(), variant="full", tune=4, gold=GOLD(), **FEW), "golden")
for tree in (crowd, bare, ends, golden, drawn, best, posterior):
    add(f"agreement_check {tree.name}", pr.agreement_check, LABELS, tree, seed=1)(replicates=2)
    add(f"with_log_likelihood {tree.name}", pr.with_log_likelihood, tree, LABELS, seed=1)(draws=5)
    add(f"with_posterior_predictive {tree.name}", pr.with_posterior_predictive, tree, LABELS, seed=1)()
    add(f"item_loo {tree.name}", pr.item_loo, tree)()
    add(f"calibrate {tree.name}", ba.calibrate, tree, GOLD, seed=1)()
add("agreement_check", pr.agreement_check, LABELS, crowd, seed=1)(replicates=1)
counts = later(lambda: sj.group_counts(MANY(), MANY_HARD(), Groups.by_features(MANY(), MANY_AGES(), ["age"])), "counts")
for model in (None, "low", "top", "none"):
    add("with_log_likelihood of groups", pr.with_log_likelihood, posterior, counts, seed=1)(model=model, draws=5)
    add("with_posterior_predictive of groups", pr.with_posterior_predictive, posterior, counts, seed=1)(model=model)
for reliabilities in ([], [1.0], [1.0, 1.0], [[1.0, 2.0]], [0.5, 2.0, 8.0]):
    add(f"reliability_curve of {reliabilities}", pr.reliability_curve, LABELS, seed=1)(
        reliabilities=reliabilities, replicates=5
    )
for name in ("dirichlet", "dawid_skene", "prirn", "informed_dirichlet", "normal_inverse_gamma"):
    add("reliability_curve by name", pr.reliability_curve, RANKED, [1, 2], seed=1)(plausibility=name, replicates=5)
for strength in (0.5, 8):
    add("prior_sensitivity", pr.prior_sensitivity, LABELS, draws=12, seed=1)(
        variant="full", prior=DawidSkenePrior(strength=strength)
    )

# Groups: shares at their limits, targets that are met or missed, groups that are empty.
for probability in (0.0, 1.0, -0.01, 1.01):
    add("spammers", sj.spammers, quality)(probability=probability)
for half_width in (0.0, 1.0, 0.03, 0.2):
    add("minimum_group_size", sj.minimum_group_size, posterior)(half_width=half_width)
for share in (0.0, 1.0, 0.02, 0.5, 0.98, None):
    add("disagreement_groups", disagreement_groups, MANY, seed=1)(rate_share=share, bins=2)
add("group_performance of groups by", sj.group_performance, LABELS, HARD, GROUPS)(by=["age"])
add("group_performance of labels", sj.group_performance, LEVELS, HARD, AGES)(by=["age"])
add(
    "individual_unfairness of nothing",
    sj.individual_unfairness,
    AGES,
    later(lambda: sj.annotator_performance(LABELS(), HARD())),
)(similarity=[])
add("dividing_items of another", sj.dividing_items, drawn)()
add(
    "dispersion_null of one table",
    sj.dispersion_null,
    later(lambda: rated().isel(model=0, drop=True)),
    permutations=20,
    seed=1,
)()
apart = later(lambda: Groups.by_features(LABELS(), ba.Annotators.from_table(pd.DataFrame(
    {"annotator": LABELS().annotators.tolist(), "own": [f"g{k}" for k in range(LABELS().annotators.size)]})), ["own"]), "apart")  # fmt: skip
add("group_agreement apart", sj.group_agreement, LABELS, apart, seed=1)()
add("group_posterior apart", ba.group_posterior, LABELS, HARD, apart, **FEW)()
add(
    "normal_group_posterior apart",
    sj.normal_group_posterior,
    later(lambda: sj.group_performance(LABELS(), HARD(), apart())),
    **FEW,
)()
attributes = later(
    lambda: pd.DataFrame({"kind": [*"uvuuvwuvuuvu", None, "w"], "length": range(14)}, LABELS().items), "attributes"
)
met = {"annotators": {"age": {"old": 0.4, "young": 0.6}}, "items": {"kind": {"u": 0.5, "v": 0.3, "w": 0.2}}}
missed = {
    "annotators": {"age": {"old": 0.95, "young": 0.0, "middle": 0.05}},
    "items": {"kind": {"u": 0.02, "q": 0.98}},
    "labels": {"x": 1.0},
}
wrong: tuple[Any, ...] = (
    {"x": 1.2, "y": -0.2},
    {"x": 0.5, "y": "0.5"},
    {"x": 0.5, "y": 0.4},
    {},
    {"x": 0.6, "y": 0.4 + 1e-5},
    [0.5, 0.5],
)
for shares_of in wrong:
    add(
        f"EvaluationSpecification of {shares_of}",
        lambda s=shares_of: sj.EvaluationSpecification("alike", annotators={"age": s}),
    )()
more = {"labels_per_item": 3, "labels_per_group_and_item": 2, "smallest_group": 3, "protected": ("age", "sex")}
for name, targets in (
    ("met", met), ("missed", missed), ("of a size", {"items": {"size": {"big": 1.0}}}), ("of labels", {"labels": {"x": 0.3, "y": 0.3, "z": 0.4}})
):  # fmt: skip
    for data, given in ((LABELS, attributes), (LABELS, None), (LEVELS, None)):
        for least in ({}, more):
            add(f"check_specification {name} {data.name} {len(least)}", lambda d, g, t=targets, m=least: sj.check_specification(
                sj.EvaluationSpecification("alike", **(t | m)), d, AGES(), items=g), data, given)()  # fmt: skip
add("check_specification spec", lambda: sj.check_specification(spec, LABELS(), AGES(), items=attributes()))()
for data, predictions in ((LABELS, SOFT), (MANY, MANY_SOFT), (COUNTS, SOFT), (ORDERED, SOFT)):
    who = MANY_AGES if data is MANY else AGES
    add(f"group_truth {data.name}", lambda d, p, a: group_truth_tables(
        d, p, Groups.by_features(d, a, ["age"]), draws=12, seed=1), data, predictions, who)()  # fmt: skip
for metrics in (["accuracy"], ["roc_auc_ovr", "accuracy"], ["brier", "entropy_rank_correlation"], ["mae"], []):
    for kind in (InformedDirichlet, Dirichlet):
        add(f"scores_another_annotator {kind.__name__} {metrics}", scores_another_annotator, kind(), metrics)()
for n in (3, 4, 5, 6):
    add(
        f"common_agreement of {n} labels",
        lambda n=n: ba.common_agreement(ba.Labels.from_counts(np.eye(n, dtype=int)), seed=1),
    )()  # pyright: ignore[reportArgumentType]
said = later(lambda: pd.Series(np.where(LABELS().item_index % 4 == 0, None, LABELS().text()), pd.MultiIndex.from_arrays(
    [LABELS().items[LABELS().item_index], LABELS().annotators[LABELS().annotator_index]])), "said")  # fmt: skip
for other in ("x", "q"):
    add(f"group_performance of {other} for some", lambda o=other: sj.group_performance(
        LABELS(), {"A": said(), "B": said().replace("x", o)}, AGES(), ["age"]))()  # fmt: skip
for metrics in (["accuracy", "brier"], ["accuracy", "f1_macro"], ["f1_macro", "accuracy"]):
    add(
        "evaluate batches",
        lambda m=metrics: ba.evaluate(iter([(LABELS(), SOFT())]), metrics=m, plausibility="dirichlet", **FEW),
    )()
for annotators in ([1], [1, 3]):
    add("plan models of one vote", ba.plan, LABELS, SOFT, **SMALL)(annotators=annotators)
