# ruff: noqa: E501
"""Runs of `bayesagree.report`: every number of the data, and the page."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

import bayesagree as ba
from _runs.recipe import add, later
from _runs.subjective import alone, spec
from _runs.world import (
    AGES,
    ALL_GAMES,
    COUNTS,
    FINE,
    GAMES,
    GAPPY,
    GOLD,
    GROUPS,
    HARD,
    LABELS,
    LEVELS,
    MANY,
    MANY_AGES,
    MANY_GOLD,
    MANY_HARD,
    MANY_SOFT,
    NUMBERS,
    ORDERED,
    RANKED,
    RANKED_SOFT,
    SOFT,
    TWO,
)  # fmt: skip
from bayesagree import report as rp
from bayesagree.report.data import ReportSource

SMALL = {"draws": 12, "chains": 2, "seed": 3}


def page(annotations: Any, predictions: Any = None, settings: dict[str, Any] | None = None, **given: Any) -> Any:
    """Give the data of a report, and its page by sections and figures."""
    found = rp.report_data(annotations, predictions, settings=rp.ReportSettings(**(SMALL | (settings or {}))), **given)
    return [found, cut(rp.render(found))]


def cut(html: str) -> list[str]:
    """Give the text of a page by sections and figures, without days and versions."""
    html = re.sub(r"20\d\d-\d\d-\d\d|\d+ [A-Z][a-z]+ 20\d\d|bayesagree \d[\w.+]*", "#", html)
    return re.split(r"(?=<section|<svg|<table|<details|<style|<script)", html)


run = add("report", page, LABELS)
run()
run(predictions=HARD)
run(
    predictions=SOFT,
    settings={"plausibility": "dirichlet", "reliability": (1.0, 4.0), "metrics": ("f1_macro", "brier")},
)
run(predictions=SOFT, groups=GROUPS, annotators=AGES, source=ReportSource("name", "title", "licence", "cited"))
run(predictions=HARD, settings={"items": "bootstrap", "plausibility": "dirichlet", "least_certain": 3})
run(predictions=HARD, settings={"plausibility": "dawid_skene", "allow_unmixed": True}, gold=GOLD)
run(predictions=GAPPY, settings={"missing": "skip"})
run(predictions=HARD, annotators=AGES, specification=replace(spec, items={}))
run(predictions=HARD, annotators=AGES, specification=alone)
many = add("report MANY", page, MANY)
many(predictions=MANY_SOFT)
many(predictions=MANY_HARD, gold=MANY_GOLD, annotators=MANY_AGES)
add("report COUNTS", page, COUNTS)()
add("report TWO", page, TWO)()
add("report ORDERED", page, ORDERED)(predictions=SOFT)
add("report LEVELS", page, LEVELS)(settings={"threshold": 3.0})
below = later(lambda: ba.Predictions.from_labels(
    {m: pd.Series(np.where(v < c, "below", "at_or_above"), NUMBERS().items)
     for m, v, c in zip("ABC", NUMBERS().numbers[..., 0], (3, 2.6, 3.1))}, labels=["below", "at_or_above"]), "below")  # fmt: skip
add("report LEVELS", page, LEVELS)(settings={"threshold": 3.0}, predictions=below)
add("report FINE", page, FINE)(settings={"threshold": 3.2, "plausibility": "normal_inverse_gamma"}, predictions=below)
add("report RANKED", page, RANKED)()
add("report RANKED", page, RANKED)(predictions=RANKED_SOFT)
add("report RANKED", page, RANKED)(predictions=RANKED_SOFT, settings={"plausibility": "prirn"})


def games(comparisons: Any, **options: Any) -> Any:
    """Give the report of comparisons, and its page."""
    fit = ba.davidson(comparisons, draws=30, chains=2, seed=1, **options)
    found = rp.comparison_report(comparisons, fit, warnings=("one", "two"))
    return [found, cut(rp.render(found, title="Ours"))]


add("report games", games, GAMES)()
add("report games", games, ALL_GAMES)(item_effects=True, ties="annotator", order="annotator")
