"""Comparisons of two models: battles of an arena, pairs of MT-Bench, annotations of AlpacaEval, tables of such rows."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from bayesagree.annotations import Comparisons
from bayesagree.annotations._words import SIDES, WINNERS, sides_of
from bayesagree.errors import InputError
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found
from bayesagree.io.formats._guess import is_number

ANNOTATORS = ("annotator", "worker", "judge", "user", "annotator_id")
ITEMS = ("item", "prompt", "question_id", "instruction")
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
    (first, second), winner = sides_of(names) or SIDES[0], _one_of(WINNERS, names)
    texts = len({*table[first], *table[second]}) if first == "response_a" else 0
    if 2 * texts > len(table):
        raise InputError(
            f"columns {first!r} and {second!r} hold {texts} texts in {len(table)} rows; the models that wrote them are "
            "compared: name theirs in columns model_a and model_b"
        )
    found, who, what = Found(), _one_of(ANNOTATORS, names), _one_of(ITEMS, names)
    rows: Any = pd.DataFrame({"left": table[first], "right": table[second], "winner": table[str(winner)]})
    for role, name in (("annotator", who), ("item", what)):
        absent = 0 if name is None else int(table[name].isna().sum())
        if absent:
            found.notes.append(
                f"{absent} rows have no {name!r}: the {role} counts as unknown; fill them in or drop them"
            )
        elif name is not None:
            rows[role] = [
                " ".join(map(str, cell)) if isinstance(cell, list | tuple) else cell for cell in table[name]
            ]
    if "item" in rows and "turn" in names:
        rows["item"] = [f"{item}, turn {turn}" for item, turn in zip(rows["item"], table["turn"])]
    if winner == "g1_winner":
        first_game, second_game = (
            table[game]
            .mask(table[game] == "model_1", table[first])
            .mask(table[game] == "model_2", table[second])
            for game in ("g1_winner", "g2_winner")
        )
        other = rows.assign(left=rows["right"], right=rows["left"], winner=second_game)
        rows = pd.concat([rows.assign(winner=first_game), other], ignore_index=True)
    weighted = winner == "preference" and is_number(table[[winner]])
    order_known = not weighted or ORDERS in names
    if weighted:
        rows["winner"] = [_of_weight(weight, row) for row, weight in enumerate(rows["winner"])]
        if ORDERS in names:
            turned = table[ORDERS].fillna(value=False).astype(bool).to_numpy()
            rows.loc[turned, ["left", "right"]] = rows.loc[turned, ["right", "left"]].to_numpy()
            rows.loc[turned, "winner"] = rows.loc[turned, "winner"].replace({"left": "right", "right": "left"})
        found.notes.append("preferences between 1 and 2 are read as the output that they are nearer to")
    broken: Any = rows["winner"].isna() | (rows["winner"].astype(str) == "error")
    if broken.any():
        found.left_out["comparisons without a verdict"] += int(broken.sum())
        rows = rows[~broken].reset_index(drop=True)
    known = {role: role for role in ("annotator", "item") if role in rows}
    found.container = Comparisons.from_long(rows, **known, order_known=order_known)
    return found


def _one_of(wanted: tuple[str, ...], names: Iterable[Any]) -> str | None:
    return next((name for name in wanted if name in names), None)


def _of_weight(weight: Any, row: int) -> Any:
    """Return who wins by a preference of AlpacaEval: 1, 2, a weight between them, or 0 for a tie."""
    if not isinstance(weight, int | float) or weight != weight:
        return None
    if weight != 0 and not 1 <= weight <= 2:
        raise InputError(
            f"row {row}: preference {weight!r} is neither 0 (a tie) nor from 1 to 2; correct or drop the row"
        )
    return "tie" if weight == 0 or abs(weight - 1.5) < TIE_WIDTH else "left" if weight < 1.5 else "right"
