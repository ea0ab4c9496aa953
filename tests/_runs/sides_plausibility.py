# ruff: noqa: E501
"""Runs that take the side of a condition that the others leave out: posteriors and their parts."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import xarray as xr

import bayesagree as ba
from _runs.models import densities
from _runs.recipe import FEW, add, later
from _runs.world import (
    AGES,
    COUNTS,
    FINE,
    GOLD,
    GROUPS,
    LABELS,
    LEVELS,
    MANY,
    MANY_AGES,
    MANY_GOLD,
    MANY_HARD,
    MANY_ORDERED,
    MANY_SOFT,
    NUMBERS,
    OFFERED,
    ORDERED,
    RANKED,
    SOFT,
    TWO,
)  # fmt: skip
from bayesagree import plausibility as pl
from bayesagree import predictive as pr
from bayesagree.annotations import Groups
from bayesagree.plausibility.dawid_skene.posterior import DawidSkene

SHORT: dict[str, Any] = {"tune": 4} | FEW
# Crowds: which engine takes what, gold with each variant, items that have one label only.
for engine in ("gibbs", "em"):
    for variant in ("full", "ordered", "votes", "one_coin", "auto"):
        for given in ({}, {"gold": GOLD}, {"predictions": SOFT}):
            add(f"dawid_skene {engine} {variant} {'-'.join(given)}", ba.dawid_skene, ORDERED, engine=engine, variant=variant,
                **given, **(SHORT if engine == "gibbs" else {}))()  # fmt: skip
for variant in ("item_difficulty", "hierarchical", "class_conditional", "mixed_membership"):
    for data, gold in ((TWO, {"t00": "yes", "t03": "no"}), (LABELS, GOLD)):
        for candidates in ("all", "observed"):
            add(f"dawid_skene gold {data.name}", ba.dawid_skene, data, gold=gold, **SHORT)(
                variant=variant, candidates=candidates
            )
missing = later(lambda: ba.Labels.from_matrix(np.full((2, 2), None), labels=["x", "y"]), "missing")
one = later(lambda: ba.Labels.from_matrix([["x", None, "y"]], labels=["x", "y"]), "one item")
alone = later(lambda: ba.Labels.from_matrix([["x"], ["y"], ["x"]], labels=["x", "y"]), "one annotator")
single = later(lambda: ba.Labels.from_matrix([["x", "x"], ["x", None]], labels=["x"]), "one label")
for data in (missing, one, alone, single, COUNTS):
    for name, function in (("dawid_skene", ba.dawid_skene), ("dirichlet", ba.dirichlet)):
        add(f"{name} {data.name}", function, data, **(SHORT if name == "dawid_skene" else FEW))()
add("dawid_skene of batches", ba.dawid_skene, later(lambda: iter([LABELS(), MANY()])), engine="em")()
add("dawid_skene of no batch", ba.dawid_skene, later(lambda: iter([])), engine="em")()
add("dawid_skene of batches of nothing", ba.dawid_skene, later(lambda: iter([missing()])), engine="em")()
for top in (1, 2):
    fit = later(lambda top=top: ba.dawid_skene(LABELS(), variant="full", top_labels=top, **SHORT), f"best {top}")
    add(f"label_probability {fit.name}", pl.label_probability, fit)()
    for weight in (0.0, 1.0, 0.3, -0.01, 1.01):
        add(f"pool_with_votes {fit.name}", pl.pool_with_votes, fit, LABELS, seed=1)(weight=weight)
golden = later(lambda: ba.dawid_skene(LABELS(), variant="full", gold=GOLD(), **SHORT), "golden")
free = later(lambda: ba.dawid_skene(LABELS(), variant="full", **SHORT), "free")
drawn = later(lambda: ba.dirichlet(LABELS(), **FEW), "drawn")
for tree in (golden, free, drawn):
    for gold in (GOLD, {}, {"t02": "x"}, {"none": "x"}):
        add(
            f"calibrate {tree.name} by {len(gold) if isinstance(gold, dict) else 'GOLD'}",
            ba.calibrate,
            tree,
            gold,
            seed=1,
        )()
calibrated = later(lambda: ba.calibrate(drawn(), GOLD(), seed=1), "calibrated")
add("label_probability calibrated", pl.label_probability, calibrated)()
rated = later(lambda: ba.normal_inverse_gamma(LEVELS(), **FEW), "rated")
for function in (pl.label_probability, ba.annotation_certainty, ba.label_certainty):
    add(f"{function.__name__} of ratings", function, rated)()
# Predictions: of few items with votes, of every item, that are all the same.
for voted in (1, 2, 3, 29, 30):
    some = later(lambda voted=voted: MANY().select(MANY().item_index < voted), f"{voted} items")
    add(f"informed_dirichlet {some.name}", ba.informed_dirichlet, some, MANY_SOFT, **FEW)()
    add(f"evaluate auto {some.name}", ba.evaluate, some, MANY_SOFT, metrics=["accuracy"], **FEW)()
flat = later(lambda: ba.Predictions.from_scores(
    {m: pd.DataFrame(np.tile(p, (40, 1)), MANY().items, [*"xyz"]) for m, p in (("A", [0.2, 0.3, 0.5]), ("B", [1.0, 0, 0]))}), "flat")  # fmt: skip
for models in (flat, MANY_HARD):
    for form in ("nominal", "ordered"):
        add(f"informed_dirichlet {models.name}", ba.informed_dirichlet, MANY, models, **FEW)(form=form)
    add(f"dawid_skene {models.name}", ba.dawid_skene, MANY, predictions=models, variant="full", **SHORT)()
    add(
        f"dawid_skene gold {models.name}",
        ba.dawid_skene,
        MANY,
        predictions=models,
        gold=MANY_GOLD,
        variant="full",
        **SHORT,
    )()
add("informed_dirichlet alone", lambda: ba.score(ba.dirichlet(MANY(), **FEW), flat(), "accuracy", seed=1))()
for data, numbers in ((LEVELS, NUMBERS), (FINE, NUMBERS)):
    add(f"informed_normal {data.name}", ba.informed_normal, data, numbers, **FEW)()
    same = later(lambda n=numbers: ba.Predictions.from_numbers({"A": pd.Series(2.5, n().items)}), "same numbers")
    add(f"informed_normal {data.name} {same.name}", ba.informed_normal, data, same, **FEW)()
add("informed_normal of labels", lambda: ba.informed_normal(LEVELS(), SOFT(), **FEW))()
ended = later(
    lambda: ba.Ratings.from_matrix(
        [[1, 1, 1], [1, 1, 5], [1, 1, 1], [5, 1, 1], [1, 1, 1], [1, 2, 1]] * 3, scale=(1, 5), step=1
    ),
    "ended",
)
add("informed_normal at an end", ba.informed_normal, ended, later(
    lambda: ba.Predictions.from_numbers({"A": pd.Series(np.linspace(1, 4, 18), ended().items)})), **FEW)()  # fmt: skip
# Groups: names that are missing, forms, groups without votes.
for given in (
    {"ann": "a", "bob": None, "cyn": "b"},
    {"ann": "a", "bob": float("nan"), "cyn": 3},
    {"nobody": "a"},
    {},
    {"ann": "a"},
):
    add(f"group_dirichlet of {given}", ba.group_dirichlet, LABELS, groups=given, **FEW)()
for form in ("graded", "divided"):
    add("group_dirichlet GROUPS", ba.group_dirichlet, LABELS, groups=GROUPS, **FEW)(form=form)
    both = later(lambda: Groups.by_features(MANY(), MANY_AGES(), ["age", "sex"]), "both")
    add("group_dirichlet both", ba.group_dirichlet, MANY, groups=both, **FEW)(form=form)
    add("group_dirichlet both predictions", ba.group_dirichlet, MANY, groups=both, predictions=MANY_SOFT, **FEW)(
        form=form
    )
add("group_dirichlet counts", ba.group_dirichlet, COUNTS, groups={"ann": "a"}, **FEW)()
add("Groups.by_features counts", Groups.by_features, COUNTS, AGES, ["age"])()
# Rankings: what was on offer, lumped labels, one chain.
for options in ({"unranked": "lumped"}, {"competing": "named"}, {"exponent": 2.0}, {"reliability": 2}, {}):
    for data in (RANKED, OFFERED):
        name = f"plackett_luce {data.name} {options}"
        fit = later(lambda d=data, o=options: ba.plackett_luce(d(), **o, **SHORT), name)
        add(name, lambda of: of, fit)()
        for check in (pr.with_log_likelihood, pr.with_posterior_predictive):
            add(f"{check.__name__} {name}", check, fit, data, seed=1)()
for exponent in (1.0, 0.5):
    add("plackett_luce exponent", ba.plackett_luce, RANKED, **SHORT)(exponent=exponent)


def probabilities(dims: tuple[str, ...]) -> Any:
    """Give plausibilities by named dimensions."""
    return xr.DataArray(np.full((5, 4), 0.25), dims=dims)


for dims in (("item", "category"), ("item", "label"), ("category", "item")):
    add(
        f"plackett_luce_log_likelihood by {dims}",
        lambda d=dims: pl.plackett_luce_log_likelihood(RANKED(), probabilities(d)),
    )()
# A trace as the posterior of numbers, groups that are empty, ids beside names.
trace = later(lambda: ba.normal_inverse_gamma(LEVELS(), **FEW), "trace")
for metric in ("mae", "bias"):
    add("evaluate numbers by a trace", ba.evaluate, LEVELS, NUMBERS, plausibility=trace, metrics=[metric])()
    add("score numbers by a trace", ba.score, trace, NUMBERS, metric, seed=1)()
uneven = later(
    lambda: Groups(np.arange(7), np.array([*"abcde"]), np.array([0, 0, 0, 1, 2, 4, -1], np.int32), "age"), "uneven"
)
for least in (1, 2, 3, 4):
    add("Groups.merged", lambda n: uneven().merged(n), least)()
for left_out in (["d"], ["a", "e"], ["z"]):
    add(f"Groups.without {left_out}", lambda g: uneven().without(g), left_out)()
rows = pa.table({"item": ["i1", "i1", "i2"], "annotator": ["ann", "bob", "ann"], "label": ["x", "y", "x"]})
for function in (ba.dirichlet, ba.common_agreement, ba.prirn, ba.evaluate):
    add(f"{function.__name__} of a table of Arrow", function, rows)()
for labels in (ORDERED, MANY_ORDERED):
    for models in (None, SOFT if labels is ORDERED else MANY_SOFT):
        for variant in ("ordered", "full"):
            add(f"model of {variant} {labels.name} {getattr(models, 'name', None)}", densities, lambda d, p, v=variant: DawidSkene(
                variant=v, predictions=p).model(d), labels, models)()  # fmt: skip
add("model of known truths", densities, lambda r: ba.common_agreement_model(
    r, item_mean={k: 1 + 0.33 * j for j, k in enumerate(r.items.tolist())}, truth_sd=0.4), LEVELS)()  # fmt: skip
compared = [[["a"], ["b"]], [["b"], ["a"]], [["c"], ["d"]], [["d"], ["c"]], [["a"], ["c"]]]
for orders in (compared[:2], compared[:3], compared[:4], compared, [*compared, [["b"], ["d"]], [["a"], ["b"], ["c"]]]):
    add(f"plackett_luce of {len(orders)} choices", ba.plackett_luce, later(
        lambda o=orders: ba.Rankings.from_blocks([o], labels=[*"abcd"])), **SHORT)()  # fmt: skip
crowded = later(
    lambda: ba.Ratings.from_matrix(np.random.default_rng(2).integers(1, 6, (3, 1700)), scale=(1, 5), step=1), "crowded"
)
add("common_agreement crowded", ba.common_agreement, crowded, item_mean="flat", keep_item_means=True, **FEW)()
for numbers in ([3_000_000, 10**400], [2**1023, 2**1024], [-(2**1024), 1], [1, 10**9]):
    add(f"Ratings of {len(str(numbers))} digits", lambda v=numbers: ba.Ratings.from_long(
        pd.DataFrame({"item": [*"ab"], "annotator": [*"uv"], "rating": pd.Series(v, dtype=object)}), scale=(0, 1e10)))()  # fmt: skip
