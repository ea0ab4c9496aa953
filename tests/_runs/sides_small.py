# ruff: noqa: E501
"""Runs of comparisons, conformal, blind and how arguments are read that take the other side of their conditions."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import bayesagree as ba
from _runs.models import densities
from _runs.recipe import FEW, RUNS, add, later, within
from _runs.world import (
    ALL_GAMES,
    CROWD,
    GAMES,
    HARD,
    LABELS,
    LEVELS,
    MANY,
    MANY_SOFT,
    PARTS,
    PLAIN_GAMES,
    SOFT,
    SYSTEM_GOLD,
    SYSTEMS,
    VERDICTS,
)
from bayesagree import blind as bl
from bayesagree import comparisons as co
from bayesagree import conformal as cf
from bayesagree.blind import pseudo_gold

for option in ("ties", "order", "discrimination"):
    for value in ("common", None, "none", 1):
        add("davidson", ba.davidson, ALL_GAMES, **FEW)(**{option: value})
run = add("davidson_model", densities, ba.davidson_model, GAMES)
run(ties=None)
run(order=None, ties="common")
add("davidson_model PLAIN", densities, ba.davidson_model, PLAIN_GAMES)(ties=None)
add("davidson_model PLAIN", densities, ba.davidson_model, PLAIN_GAMES)(ties="common")
games = later(lambda: ba.davidson(GAMES(), ties="common", order="common", **FEW), "games")
plain = later(lambda: ba.davidson(PLAIN_GAMES(), ties=None, order=None, **FEW), "plain")
no_ties = later(lambda: ba.Comparisons.from_long(
    pd.DataFrame({"left": [*"ABCABCAB"], "right": [*"BCABCABC"], "winner": [*"ABCBBAAC"]})), "no ties")  # fmt: skip
placed = later(lambda: ba.davidson(no_ties(), ties=None, order="common", **FEW), "placed")
drawn = later(lambda: ba.dirichlet(LABELS(), **FEW), "drawn")
for made in (games, plain, placed, drawn):
    for scale in ("strength", "win_rate", "elo"):
        add(f"preference_table {made.name}", co.preference_table, made)(scale=scale)
    add(f"effect_table {made.name}", co.effect_table, made)()

best = later(lambda: ba.dirichlet(LABELS(), top_labels=1, **FEW), "best")
means = later(lambda: ba.normal_inverse_gamma(LEVELS(), **FEW), "means")
empty = later(lambda: xr.DataTree.from_dict({"constant_data": xr.Dataset({"a": 1.0})}), "empty")
names = {"item": [*"pqr"], "category": [*"xy"]}


def estimate(rows: Any) -> Any:
    """Return a point estimate of three items."""
    return xr.DataArray(rows, names, ("item", "category"))


three = ba.Predictions.from_scores({"A": [[0.7, 0.3], [0.2, 0.8], [0.55, 0.45]]}, items=[*"pqr"], labels=[*"xy"])
for name, truth in (("best", best), ("means", means), ("empty", empty), ("drawn", drawn)):
    add(f"conformalize {name}", lambda t: cf.conformalize(t, SOFT(), seed=1).threshold, truth)()
for rows in ([[0.5, 0.5], [1, 0], [0.3, 0.7]], [[1.5, -0.5], [1, 0], [0.3, 0.7]], [[0.5, 0.5], [1, 0.1], [0.3, 0.7]], [[0.5, 0.5], [np.nan, 0], [0.3, 0.7]],
             [[0.5, 0.5], [1 + 1e-6, 0], [0.3, 0.7]], [[0.5, 0.5], [1 + 2e-6, 0], [0.3, 0.7]]):  # fmt: skip
    add(
        "conformalize an estimate", lambda r: cf.conformalize(estimate(r), three, coverage=0.6, seed=1).threshold, rows
    )()
add("conformalize an estimate", lambda: cf.conformalize(estimate(np.eye(3)[:, :2] + [0, 0]).isel(category=0), three))()
for coverage in (0.7, 0.75, 0.76, 0.05, 0.01):
    add(
        "conformalize few",
        lambda c: cf.conformalize(estimate([[0.5, 0.5], [1, 0], [0.3, 0.7]]), three, coverage=c, seed=1).threshold,
        coverage,
    )()
for by in (PARTS, [0.5] * 14, [float(k // 5) for k in range(14)], [k // 7 for k in range(14)], [True, False] * 7):
    add("conformalize by", lambda b: cf.conformalize(LABELS(), SOFT(), by=b, seed=1, coverage=0.6).threshold, by)()
certain = xr.DataArray([0.2, 0.5, 0.9, 0.95, 1.0], {"item": [*"abcde"]}, ("item",))
for edges in ((), (0.5,), (0.5, 0.95), (0.95, 0.5), (0.5, 0.5)):
    add("certainty_groups", cf.certainty_groups, certain)(edges=edges)
for given in (certain.expand_dims("model"), certain.where(certain > 0.3), certain.rename(item="part")):
    add("certainty_groups of", cf.certainty_groups, given)()
one = later(lambda: ba.Labels.from_matrix([["x", "y", "x"]], items=["p"], labels=[*"xy"]), "one")
for options in ({"method": "monte_carlo", "correction": "ecdf"}, {"method": "monte_carlo"}, {"method": "exact", "correction": "ecdf"},
                {"method": "monte_carlo", "correction": "ecdf", "by": [0]}, {}):  # fmt: skip
    add(
        "conformalize one item",
        lambda **o: cf.conformalize(one(), three.on_items(np.array(["p"])), seed=1, coverage=0.4, **o).threshold,
    )(**options)
votes = later(lambda: ba.Labels.from_matrix([[*"xyx"], [*"xxx"], [*"yyx"]], items=[*"pqr"], labels=[*"xy"]), "votes")
for folds in (1, 2, 3, 4):
    add("cross_sets", cf.cross_sets, votes, three, seed=1)(folds=folds, coverage=0.5)
sets = later(lambda: cf.conformalize(votes(), three, coverage=0.5, seed=1).predict_set(three), "sets")
for name, change in (("whole", lambda s: s), ("numbers", lambda s: s.astype(int)), ("one model", lambda s: s.isel(model=0)), ("turned", lambda s: s.T),
                     ("some", lambda s: s.isel(item=[0, 2])), ("one label", lambda s: s.isel(category=[0]))):  # fmt: skip
    add(f"set_coverage {name}", lambda s, c: cf.set_coverage(votes(), c(s)), sets, change)()
calibrated = later(lambda: cf.conformalize(MANY(), MANY_SOFT(), coverage=0.7, seed=1), "calibrated")
other = later(lambda: ba.Labels.from_matrix([[*"xy"]] * 14, items=LABELS().items.tolist(), labels=[*"xyw"]), "other")
add("exchangeability_check of other labels", cf.exchangeability_check, calibrated, SOFT)(truth=other)
SCORES = {"own": lambda s: s**2, "whole": lambda s: (10 * s).astype(int), "text": lambda s: s.astype(str), "flat": lambda s: s.max(axis=1),
          "NaN": lambda s: np.where(s > 0.5, np.nan, s), "truth values": lambda s: s > 0.5}  # fmt: skip
for name, score in SCORES.items():
    add(
        f"conformalize by a score {name}",
        lambda f: cf.conformalize(votes(), three, score=f, coverage=0.5, seed=1).threshold,
        score,
    )()
for score in ("lac", "aps"):
    add("conformalize", lambda s: cf.conformalize(votes(), three, score=s, coverage=0.5, seed=1).threshold, score)()

run = add("blind_experiment", bl.blind_experiment, SYSTEMS, gold=SYSTEM_GOLD, crowd=CROWD, draws=10, seed=1)
for calibrate_for in ("each", "f1", "gold"):
    run(methods=("calibrated_majority", "majority"), metrics=("f1", "recall"), calibrate_for=calibrate_for)
for options in ({"metrics": ()}, {"methods": ("none",)}, {"baseline": "none"}, {"metrics": ("none",)}):
    run(**options)
for calibrate_for in ("each", "f1"):
    add(
        "blind_posterior",
        bl.blind_posterior,
        SYSTEMS,
        crowd=CROWD,
        method="calibrated_majority",
        metrics=("f1", "recall"),
        **FEW,
    )(calibrate_for=calibrate_for)
for method in ("majority", "calibrated_majority", "none"):
    add("blind_scores HARD", bl.blind_scores, HARD, crowd=LABELS, seed=1)(method=method, threshold=0.4)
    add("blind_scores SYSTEMS", bl.blind_scores, SYSTEMS, seed=1)(method=method, threshold=0.4)
for data, name in ((HARD, "three labels"), (SYSTEMS, "two labels")):
    for value in (9, 120):
        RUNS[f"blind_posterior {name}: MOST_CELLS = {value}"] = lambda d=data, v=value: within(
            pseudo_gold, {"MOST_CELLS": v}, lambda: bl.blind_posterior(d(), method="sampling", **FEW))  # fmt: skip
silent = later(lambda: ba.Predictions.from_labels({"A": [None, None], "B": [None, None]}, labels=[0, 1]), "silent")
for data in (silent, later(lambda: SYSTEMS().take(np.arange(3), SYSTEMS().items[:3]), "three items")):
    add(f"blind_scores {data.name}", bl.blind_scores, data, seed=1)()
    add(f"jaccard_overlap {data.name}", bl.jaccard_overlap, data)()
for n in (32768,):
    add(
        "blind_scores many labels",
        lambda n: bl.blind_scores(
            ba.Predictions.from_labels({"A": [0, 1], "B": [1, 1]}, labels=list(range(n))), seed=1
        ),
        n,
    )()


def case(gold: str) -> Any:
    """Read a case of which the gold is a table like this."""
    with TemporaryDirectory() as folder:
        for name, text in (("models.csv", "model,item,label\nA,p,x\nA,q,y\nB,p,y\nB,q,y\n"), ("gold.csv", gold)):
            (Path(folder) / name).write_text(text)
        return bl.read_blind_case(Path(folder) / "models.csv", gold=Path(folder) / "gold.csv")


for gold in (
    "item,label\np,x\nq,y\n",
    "item,label\np,x\nq,y\np,y\n",
    "item,label\nq,y\np,x\np,x\n",
    "item,truth\np,x\n",
    "name,label\np,x\n",
):
    add("read_blind_case of gold", case, gold)()

for value in (np.nan, None, "1", True, 1 + 0j, np.float32(2), np.int64(3), [1.5], np.array([1.5, 0.2, 3]), {"a": 1.0}):
    add("dirichlet reliability", lambda v: ba.dirichlet(LABELS(), reliability=v, **FEW), value)()
    add("dirichlet prior", lambda v: ba.dirichlet(LABELS(), prior=v, **FEW), value)()
frame = pd.DataFrame({"item": [1], "annotator": ["a"], "label": ["x"]})
for value in (frame, VERDICTS, SOFT, LEVELS, {"a": 1}):
    add("evaluate ratings of", ba.evaluate, value, SOFT, **FEW)()
    add(
        "group_performance of",
        lambda v: ba.subjective.group_performance(LABELS(), HARD(), annotators=v, by=["age"]),
        value,
    )()
    if value is not LEVELS:
        add("common_agreement of", ba.common_agreement, value, **FEW)()
