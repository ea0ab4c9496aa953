"""Comparisons of two models: battles of an arena, pairs of MT-Bench, annotations of AlpacaEval, tables of such rows."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from bayesagree._types import Array, Floats
from bayesagree.annotations._words import SIDES, WINNERS, sides_of
from bayesagree.errors import InputError, refuse
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found
from bayesagree.io.formats._guess import is_number

ANNOTATORS = ("annotator", "worker", "judge", "user", "annotator_id")
ITEMS = ("item", "prompt", "question_id", "instruction")
NO_VERDICT = "comparisons without a verdict"
# Whether AlpacaEval showed the second output first.
ORDERS = "is_switched_output_1_output_2"
# AlpacaEval writes weights between 1 (the first) and 2: nearer to 1.5 than this is a tie.
TIE_WIDTH = 0.01


def recognise(file: File) -> bool:
    """Return whether rows name two models and who won."""
    names = file.fields
    return sides_of(names) is not None and _one_of(WINNERS, names) is not None


def read(file: File, question: str | None) -> Found:
    """Read one comparison per row; a row of the pairs of MT-Bench has two games, one in either order."""
    table: Any = file.table
    names = list(map(str, table.columns))
    (first, second), winner = sides_of(names) or SIDES[0], str(_one_of(WINNERS, names))
    texts = len({*table[first], *table[second]}) if first == "response_a" else 0
    if 2 * texts > len(table):
        raise InputError(
            f"columns {first!r} and {second!r} hold {texts} texts in {len(table)} rows; the models that wrote them are "
            "compared: name theirs in columns model_a and model_b"
        )
    found, who = Found(), pd.DataFrame(index=table.index)
    for role, known in (("annotator", ANNOTATORS), ("item", ITEMS)):
        name = _one_of(known, names)
        if name is not None and (absent := int(table[name].isna().sum())):
            found.notes.append(f"{absent} rows have no {name!r}: the {role} counts as unknown; fill it in")
        elif name is not None:
            who[role] = [" ".join(map(str, cell)) if isinstance(cell, list) else cell for cell in table[name]]
    if "item" in who and "turn" in names:
        who["item"] = [f"{item}, turn {turn}" for item, turn in zip(who["item"], table["turn"])]
    sides = [table[first].to_numpy(object), table[second].to_numpy(object)]
    order_known = True
    if winner == "preference" and is_number(table[[winner]]):
        order_known = ORDERS in names
        turned = table[ORDERS].fillna(value=False).astype(bool) if order_known else np.zeros(len(table), bool)
        table = table.assign(preference=_by_weight(table["preference"].to_numpy(float), *sides))
        sides = [np.where(turned, *sides[::-1]), np.where(turned, *sides)]
        found.notes.append("preferences between 1 and 2 are read as the output that they are nearer to")
    rows = who.assign(left=sides[0], right=sides[1], winner=table[winner])
    if winner == "g1_winner":
        other = table["g2_winner"].replace({"model_1": "model_2", "model_2": "model_1"})
        rows = pd.concat([rows, rows.assign(left=sides[1], right=sides[0], winner=other)])
    rows, found.left_out[NO_VERDICT] = with_verdict(rows, "winner")
    found.games = rows, {name: name for name in who} | {"order_known": order_known}
    return found


def with_verdict(rows: Any, winner: str | None) -> tuple[Any, int]:
    """Return the comparisons that someone decided, their rows named as before, and the number of the others."""
    name = winner or _one_of(WINNERS, rows.columns)
    if name not in rows.columns:
        return rows, 0
    broken = rows[name].isna() | (rows[name].astype(str) == "error")
    return rows[~broken], int(broken.sum())


def _one_of(wanted: tuple[str, ...], names: Iterable[Any]) -> str | None:
    return next((name for name in wanted if name in names), None)


def _by_weight(weight: Floats, first: Array, second: Array) -> Array:
    """Return who wins by preferences of AlpacaEval: 1, 2, a weight between them, or 0 for a tie."""
    refuse(
        (weight != 0) & ((weight < 1) | (weight > 2)),
        lambda row: (
            f"row {row}: preference {weight[row]:g} is neither 0 (a tie) nor from 1 to 2; correct or drop the row"
        ),
    )
    tie = (weight == 0) | (np.abs(weight - 1.5) < TIE_WIDTH)
    winner = np.where(weight < 1.5, first, second)
    winner[tie], winner[np.isnan(weight)] = "tie", None
    return winner
