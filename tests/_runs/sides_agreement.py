# ruff: noqa: E501
"""Runs of `bayesagree.agreement` that take the other side of its conditions: rare data, refusals, limits that are met."""

from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

import bayesagree as ba
from _runs.agreement import PRIOR
from _runs.branches import opposed, poles, same
from _runs.limits import met
from _runs.models import densities
from _runs.recipe import FEW, RUNS, add, later, within
from _runs.world import ENDS, FINE, FULL, LABELS, LEVELS, RANKED, TWICE
from bayesagree import agreement as ag
from bayesagree import predictive as pr

rated_twice = later(
    lambda: ba.Ratings.from_long(
        pd.DataFrame({"item": [*"ppqqrr"], "annotator": [*"aabbbb"], "rating": [1, 2, 5, 3, 2, 4]}),
        scale=(1, 5), step=1, duplicates="keep",
    ),
    "rated twice",
)  # fmt: skip
said_twice = later(
    lambda: ba.Labels.from_long(
        pd.DataFrame({"item": [*"ppqqqr"], "annotator": [*"ababba"], "label": [*"xyxyxx"]}), duplicates="keep"
    ),
    "said twice",
)
one_item = later(lambda: ba.Ratings.from_matrix([[1, 2, 4]], scale=(1, 5), step=1), "one item")
rows_of_x: Any = [["x"] * 5, ["x"] * 5, ["x", "x", None, None, None]]
one_label = later(lambda: ba.Labels.from_matrix(rows_of_x), "one label")
for data in (rated_twice, said_twice, one_item, one_label):
    for options in ({}, {"weights": "linear"}) if data is not one_item else ({},):
        add(f"agreement_table {data.name}", ag.agreement_table, data, seed=3)(**options)
for data in (rated_twice, TWICE, one_label, same, RANKED, FINE, FULL):
    add(f"agreement_table of a sample {data.name}", ag.agreement_table, data, seed=3)(annotators="sample")
for options in ({"level": "cardinal"}, {"level": "interval"}, {"weights": "cubic"}, {"annotators": "drawn"}):
    add("agreement_table", ag.agreement_table, LABELS, seed=3)(**options)


def distances(kind: str) -> Any:
    """Return a function of two sets that breaks one of the rules of a distance, or none."""
    found = {"uneven": lambda a, b: len(a - b) / 2, "negative": lambda a, b: -1.0 * (a != b), "own": lambda a, b: 0.5,
             "infinite": lambda a, b: np.inf * (a != b) if a != b else 0, "sound": lambda a, b: len(a ^ b) / 2}  # fmt: skip
    return found[kind]


for kind in ("uneven", "negative", "own", "infinite", "sound"):
    add(f"distance of sets {kind}", lambda data, k=kind: ag.krippendorff_alpha(data, distance=distances(k)), TWICE)()
for given in ("cosine", 3):
    add("agreement_table", ag.agreement_table, TWICE, seed=3)(distance=given)
few = [
    later(lambda r=rows: ba.Ratings.from_matrix(r, items=[*"pqrs"], scale=(1, 3), step=1))
    for rows in ([[1, 2], [3, 3], [2, 2], [1, 3]], [[1, 1], [3, 2], [2, 3], [2, 2]])
]
add("agreement_difference of clusters", ag.agreement_difference, *few, seed=3)(cluster={"p": 0, "q": 0, "r": 1, "s": 1})
add("agreement_difference of one label", ag.agreement_difference, one_label, same, seed=3)()
many_values = later(lambda: ba.Ratings.from_matrix(np.random.default_rng(9).random((51, 4)) * 4 + 1, scale=(1, 5)))
add("agreement_table sample of many values", ag.agreement_table, many_values, seed=3)(annotators="sample")
from bayesagree.agreement._polychoric import polychoric  # noqa: E402

for weight, counts in (([[1, 0]], [[2, 0], [1, 0]]), ([[0, 0]], [[1, 1], [2, 0]]), ([[1, 2]], [[1, 1], [2, 0]]),
                       ([[1, 2], [0, 0]], [[1, 1], [0, 2]]), ([[3, 2, 4], [1, 0, 2]], [[1, 1], [0, 2], [3, 0]])):  # fmt: skip
    add(f"polychoric {weight}", lambda w, c: polychoric(np.array(w, float), np.array(c, float)), weight, counts)()

for rows in ([[1, 5]], [[2], [4]], [[1, None], [None, 4]], [[2, 2], [2, 2]], [[1, 2], [2, None]]):
    add("icc of few", lambda rows: ag.icc(ba.Ratings.from_matrix(rows, scale=(1, 5)), seed=3), rows)()
add("icc", ag.icc, FULL)(kind="3")
for name, values in (("agreement_table FULL", (2, 3)),):
    for value in values:
        RUNS[f"{name}: MOST_ANNOTATORS = {value}"] = lambda n=name, v=value: met(
            "agreement.intraclass", "MOST_ANNOTATORS", n, v
        )
add("limits_of_agreement rated twice", ag.limits_of_agreement, rated_twice)()
add("icc rated twice", ag.icc, rated_twice, seed=3)()
spans = pd.DataFrame(
    [("d1", "ann", 0, 4, "P"), ("d1", "bob", 0, 4, "P"), ("d1", "cyn", None, None, None), ("d2", "ann", 2, 8, "P"),
     ("d2", "bob", 2, 7, "P"), ("d3", "cyn", None, None, None), ("d3", "dan", None, None, None)],
    columns=["document", "annotator", "start", "end", "label"],
)  # fmt: skip
add("span_f1 of some", ag.span_f1, spans, seed=3)()
add("span_f1 of some", ag.span_f1, spans.iloc[2:], seed=3)(match="overlap")
add("span_f1 of nothing", ag.span_f1, spans.iloc[5:], seed=3)()

for options in ({"folds": 1}, {"folds": 2}, {"n_clusters": ()}, {"n_clusters": (3,)}, {"n_clusters": (1, 0)}):
    add("phi_clusters", ag.phi_clusters, LEVELS, seed=1)(**({"n_clusters": (1,), "folds": 2} | options))
alike = later(lambda: ba.Ratings.from_matrix([[2, 3, 3]] * 4 + [[3, 2, 3]] * 3, scale=(1, 5), step=1))
for n in (2, 3):
    add("phi_clusters of items alike", ag.phi_clusters, alike, seed=1)(n_clusters=(1, n), folds=2)
add("phi_difference of other draws", lambda: ag.phi_difference(
    *(ba.common_agreement(poles(), item_mean="flat", likelihood="binned", draws=n, chains=2, seed=3) for n in (6, 7))))()  # fmt: skip
for options in (
    {"phi": 3},
    {"phi": (1, 2, 3)},
    {"phi": [1.5, 2]},
    {"mean_spread": (1, 0)},
    {"mean_location": "ab"},
    {"annotator_spread": 0},
):
    add("AgreementPrior", lambda **o: ag.AgreementPrior(**o))(**options)

run = add("common_agreement levels", ag.common_agreement, LEVELS, **FEW)
for key, values in (("item_mean", ("round", {"r00": 5.0}, {"r00": 5.01}, {"r01": 1}, {"r01": 0.99}, {"none": 3})),
                    ("likelihood", ("exact", "density")), ("annotator_effects", ("scale",)), ("engine", ("gibbs",))):  # fmt: skip
    for value in values:
        run(**{key: value})
for sd in (0.004, 0.00399, 0):
    run(item_mean={"r00": 3.0}, truth_sd=sd, likelihood="binned")
run(truth_sd=0.3)
run(annotator_effects="shift", likelihood="inflated")
run(annotator_effects="shift", item_mean="flat")
run(annotator_effects="shift", item_mean={"r00": 2.0, "r05": 3.5})
add("common_agreement rated twice", ag.common_agreement, rated_twice, **FEW)()
only_ends = later(lambda: ba.Ratings.from_matrix([[1, 5, 1], [5, 5, 1], [5, 1, 5], [1, 1, 5]], scale=(1, 5), step=1))
add("common_agreement of ends alone", ag.common_agreement, only_ends, **FEW)(item_mean={i: 2.0 for i in range(3)})
fine = add("common_agreement fine", ag.common_agreement, FINE, item_mean="flat", **FEW)
for likelihood in ("squeezed", "density"):
    fine(annotator_effects="shift", likelihood=likelihood)
run = add("common_agreement opposed", ag.common_agreement, opposed, item_mean="flat", annotator_effects="shift", **FEW)
for likelihood in ("squeezed", "binned"):
    run(likelihood=likelihood)
inner = later(
    lambda: ba.Ratings.from_matrix([[2, 4], [4, 2], [2, 4], [4, 2], [2, 4], [4, 2]] * 3, scale=(1, 5), step=1)
)
run = add("common_agreement of inner levels", ag.common_agreement, inner, item_mean="flat", **FEW)
for likelihood in ("squeezed", "binned"):
    run(likelihood=likelihood)
    run(likelihood=likelihood, annotator_effects="shift")
shifted = later(lambda: ba.common_agreement(
    LEVELS(), annotator_effects="shift", item_mean="flat", likelihood="binned", keep_item_means=True, **FEW))  # fmt: skip
add("annotator_levels of shifts", ag.annotator_levels, shifted)()
add(
    "with_log_likelihood of shifts",
    lambda t, d: pr.with_log_likelihood(t, d, seed=1, draws=8)["log_likelihood"],
    shifted,
    LEVELS,
)()
add(
    "annotator_levels of none",
    ag.annotator_levels,
    later(lambda: ba.common_agreement(LEVELS(), item_mean="flat", likelihood="binned", **FEW)),
)()

EXACT = (
    ("agreement._exact.hyper_grid", {"ZOOMS": 1}, {}), ("agreement._exact.hyper_grid", {"GROWTHS": 0}, {}), ("agreement._exact.item_means", {"CELLS": 1500}, {"item_mean": "flat"}),
    ("agreement._exact.posterior", {"SEARCHED": 5}, {}), ("agreement._exact.posterior", {"SEARCHED": 5}, {"item_mean": "flat"}),
    ("agreement._exact.posterior", {"MAX_LEVEL": 1}, {}), ("agreement._exact.posterior", {"MOST_STEPS": 3}, {}),
    ("agreement._exact.posterior", {"DROP": 1.5}, {"item_mean": "flat"}),
)  # fmt: skip
for module, limits, options in EXACT:
    RUNS[f"common_agreement levels {options}: {module} {limits}"] = lambda m=module, n=limits, o=options: within(
        import_module(f"bayesagree.{m}"), n,
        lambda: ba.common_agreement(LEVELS(), **{"likelihood": "binned", **o}, **FEW),
    )  # fmt: skip
ends = import_module("bayesagree.agreement._exact.outright_ends")
for likelihood in ("inflated", "averaged"):
    for limits in ({"ENOUGH": 40, "MORE_ROUNDS": 0, "MOST_ROUNDS": 2}, {"FEWEST": 41}, {"NEGLIGIBLE": -200.0}):
        RUNS[f"common_agreement ends {likelihood}: {limits}"] = lambda k=likelihood, n=limits: within(
            ends, n, lambda: ba.common_agreement(ENDS(), item_mean="flat", likelihood=k, **FEW)
        )
limits_of = import_module("bayesagree.agreement.limits")
for likelihood in ("binned", "inflated"):
    for limits in ({"ENDS_THRESHOLD": 2.0}, {"ENDS_THRESHOLD": -1.0, "THRESHOLD": 2.0}, {"THRESHOLD": -1.0}):
        RUNS[f"common_agreement misfits {likelihood}: {limits}"] = lambda k=likelihood, n=limits: within(
            limits_of, n | {"FEWEST_ITEMS": 6}, lambda: ba.common_agreement(LEVELS(), likelihood=k, **FEW)
        )
piled = {"unsure": [[3, 3, 3, 3], [3, 3, 3, 4], [3, 3, 1, 3], [3, 3, 3, 5], [5, 3, 3, 2]],
         "sure": [[1, 3, 1, 1], [2, 3, 3, 2], [5, 3, 5, 5], [3, 3, 4, 4], [1, 1, 3, 3]]}  # fmt: skip
for name, rows in piled.items():
    for least in (15, 16):
        RUNS[f"common_agreement of a pile {name} {least}"] = lambda r=rows, n=least: within(
            limits_of, {"FEWEST_FOR_PILE": n},
            lambda: ba.common_agreement(ba.Ratings.from_matrix(r * 3, scale=(1, 5), step=1), likelihood="binned", **FEW),
        )  # fmt: skip

add("common_agreement_model", densities, ba.common_agreement_model, LEVELS)(likelihood="averaged")
run = add("common_agreement_model", densities, ba.common_agreement_model, LEVELS, collapsed=True)
run(item_mean="flat")
run(likelihood="inflated")
run(prior=PRIOR)
run(annotator_effects="shift")
run(item_mean={"r00": 2.0})
run(phi=abs)
run(item_mean=abs)
add("common_agreement_model fine", densities, ba.common_agreement_model, FINE)(collapsed=True)
add("common_agreement_model", densities, ba.common_agreement_model, LEVELS)(prior=PRIOR)
add("common_agreement_model", densities, ba.common_agreement_model, LEVELS)(likelihood="squeezed", item_mean="flat")
for rows in ([[2, 5], [3, 4.5]], [[1, 4], [2, 3]], [[2, 4], [3, 4.5]]):
    for likelihood in ("binned",) if rows[0][0] == 2 else ("squeezed", "density"):
        add(f"common_agreement_model of {rows}", lambda r=rows, **o: densities(
            ba.common_agreement_model, ba.Ratings.from_matrix(r, scale=(1, 5)), item_mean="flat", **o))(likelihood=likelihood)  # fmt: skip
for edges in ([[0, 1]], [0, 1], [0.1, 0.5, 1], [0, 0.5, 0.9], [0, 0.5, 0.5, 1], [0, 0.5, 0.4, 1]):
    add("BinnedBeta", lambda e: ag.BinnedBeta.dist(1.5, 2.5, e), edges)()


def replicated(data: Any, likelihood: Any) -> Any:
    """Give replicates of continuous ratings, and the log density of the prior."""
    made = ba.common_agreement(data, item_mean="flat", likelihood=likelihood, keep_item_means=True, **FEW)
    return [pr.with_posterior_predictive(made, data, seed=1)["posterior_predictive"],
            pr.with_log_likelihood(made, data, seed=1, draws=8).get("log_prior")]  # fmt: skip


for data, likelihood in ((ENDS, "inflated"), (FINE, "inflated"), (FINE, "binned"), (LEVELS, "inflated")):
    add(f"replicates {data.name} {likelihood}", replicated, data, likelihood)()
