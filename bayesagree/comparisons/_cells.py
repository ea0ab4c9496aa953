"""Comparisons as counts per cell, and the probabilities of outcomes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayesagree._types import Codes, Floats, Integers, Triple
from bayesagree.annotations.comparisons import Comparisons
from bayesagree.errors import InputError

# Strengths of models on items: the time of a start grows with the cube, and is minutes beyond.
MOST_ENTRIES = 3000


@dataclass(frozen=True, eq=False)
class Cells:
    """Comparisons that differ in nothing but their outcome, counted."""

    first: Integers  # entry of strength, (cell,)
    second: Integers
    annotator: Integers  # 0 where annotators are unknown or alike
    n_annotators: int  # number of annotators that are told apart
    counts: Floats  # (outcome, cell): first wins, second wins, tie; comparisons made again weigh less than 1
    entry_model: Codes  # model of each entry of strength, (entry,)


def cells_of(comparisons: Comparisons, *, oriented: bool, by_item: bool, by_annotator: bool = True) -> Cells:
    """Count comparisons; where the order has no effect both orders of a pair are one cell."""
    c = comparisons
    entry_model = np.arange(c.models.size, dtype=np.int32)
    first, second = c.first, c.second
    if by_item:
        key = c.item_index.astype(int) * c.models.size
        used, entry = np.unique(np.concatenate([key + first, key + second]), return_inverse=True)
        if used.size > MOST_ENTRIES:
            raise InputError(
                f"item_effects=True: {used.size} strengths of a model on an item, more than {MOST_ENTRIES}, whose "
                "joint curvature is a full matrix; leave item_effects out, or take a part of the items"
            )
        entry_model = (used % c.models.size).astype(np.int32)
        first, second = np.split(entry.astype(np.int32), 2)
    outcome = c.outcome
    if not oriented:
        turned = first > second
        first, second = np.where(turned, second, first), np.where(turned, first, second)
        outcome = np.where(turned & (outcome < 2), 1 - outcome, outcome)
    who = np.maximum(c.annotator_index, 0) if by_annotator else np.zeros_like(first)
    table: Any = pd.DataFrame({"who": who, "first": first, "second": second, "outcome": outcome})
    table["weight"] = 1.0 if by_item else weights_of_passes(c)
    cells: Any = table.groupby(["who", "first", "second", "outcome"])["weight"].sum()
    cells = cells.unstack(fill_value=0.0).reindex(columns=range(3), fill_value=0.0)
    of = cells.index.to_frame(index=False)
    n_annotators = max(c.annotators.size, 1) if by_annotator else 1
    first, second, who = (of[name].to_numpy() for name in ("first", "second", "who"))
    return Cells(first, second, who, n_annotators, cells.to_numpy(float).T, entry_model)


def weights_of_passes(c: Comparisons) -> Floats:
    """Weigh the m comparisons of one annotator of one pair in one order on one item by 1 / (1 + (m - 1) kappa).

    This is their design effect (Kish, "Survey Sampling", 1965, 5.4). Kappa sets how often two outcomes of a question
    agree against two of the same pair on different items.
    """
    names = ["first", "second", "who", "item"]
    table = pd.DataFrame(dict(zip(names, (c.first, c.second, c.annotator_index, c.item_index))))
    given: Any = pd.crosstab([table[name] for name in names], c.outcome)
    m = given.sum(axis=1)
    if m.max() == 1 or not c.items.size or not c.annotators.size:
        return np.ones(c.first.size)
    of_pair: Any = given.groupby(["first", "second"]).sum()
    same = (given**2).to_numpy().sum()
    alike = (of_pair**2).to_numpy().sum()
    others = (of_pair.sum(axis=1) ** 2).sum() - (m**2).sum()
    expected = (alike - same) / others if others else 1.0
    observed = (same - m.sum()) / (m * (m - 1)).sum()
    kappa = 1.0 if expected == 1 else float(np.clip((observed - expected) / (1 - expected), 0, 1))
    return 1 / (1 + (table.groupby(names)["item"].transform("size").to_numpy() - 1) * kappa)


def outcome_probabilities(distance: Floats, odds: Floats) -> Triple:
    """Return the probabilities that the first wins, that the second wins, and of a tie."""
    small = np.exp(-np.abs(distance) / 2)
    total = 1 + small**2 + odds * small
    high, low = 1 / total, small**2 / total
    return np.where(distance > 0, high, low), np.where(distance > 0, low, high), odds * small / total


def slopes_by_distance(p: Floats) -> Floats:
    """Return the slope of the log probability of each outcome by the distance, shape of p, (outcome, ...)."""
    return np.reshape([0.5, -0.5, 0.0], (3,) + (1,) * (p.ndim - 1)) - (p[0] - p[1]) / 2
