"""Readers of the sets whose annotations are rankings."""

from typing import Any

import numpy as np
import pandas as pd

from bayesagree.annotations import Rankings
from bayesagree.annotations.predictions import Predictions
from bayesagree.datasets._files import Content, by_item, json_content, lines, local_file, table
from bayesagree.io.formats.preflib import read_election


def derm_ddx() -> Content:
    """Read the differential diagnoses; labels are the names of the conditions, `risk` their risk levels."""
    names = lines("derm-ddx/dermatology_conditions.txt")
    risk = [int(level) for level in lines("derm-ddx/dermatology_risks.txt")]
    cases = json_content("derm-ddx/dermatology_selectors.json")
    named = [[[[names[k] for k in block] for block in ranking] for ranking in case] for case in cases]
    rankings = Rankings.from_blocks(named, labels=names)
    return Content(rankings, _derm_models(rankings), extra={"risk": dict(zip(names, risk))})


def _derm_models(rankings: Rankings) -> Predictions | None:
    """Read the paper's models A to D where their files are: one row of probabilities a case, as numpy.savetxt."""
    files = {name: local_file(f"derm-ddx/dermatology_predictions{k}.txt") for k, name in enumerate("ABCD")}
    scores = {name: np.loadtxt(file) for name, file in files.items() if file is not None}
    if not scores:
        return None
    return Predictions.from_scores(scores, items=rankings.items.tolist(), labels=rankings.categories.tolist())


def preflib(path: str) -> Content:
    """Read one PrefLib file: one item, one ranking for each voter; alternatives nobody names rank last."""
    election = read_election(lines(path), path)
    labels = election.alternatives
    true_rank = None
    if "-dots/" in path or "-puzzle/" in path:
        # The names of the alternatives are their numbers of dots or moves: fewer is better.
        true_rank = pd.Series({name: rank for rank, name in enumerate(sorted(labels, key=int), 1)}, name="true_rank")
    return _one_item(election.title or path, election.rankings, labels, true_rank)


def rank_table(name: str) -> Content:
    """Read a table with one complete ranking a row: one column for each label, cells are ranks."""
    rows = table(f"rankings-plackettluce/{name}.csv")
    assessors = list(rows.pop("assessor")) if "assessor" in rows else None
    labels = list(rows.columns)
    orders = rows.to_numpy().argsort(axis=1, kind="stable")
    ranked = [[[labels[k]] for k in order] for order in orders]
    true_rank = None
    if name.startswith("potato"):
        true_rank = by_item(table("rankings-plackettluce/potato_true_ranking.csv"), "true_rank", "potato")
    return _one_item(name, ranked, labels, true_rank, assessors)


def _one_item(
    item: str, rankings: list[Any], labels: list[str], true_rank: pd.Series | None, annotators: list[str] | None = None
) -> Content:
    who = None if annotators is None else [annotators]
    built = Rankings.from_blocks([rankings], labels=labels, items=[item], annotators=who)
    if true_rank is None:
        return Content(built)
    gold = pd.Series([true_rank.idxmin()], index=[item], name="gold")
    return Content(built, None, gold, {"true_rank": true_rank})
