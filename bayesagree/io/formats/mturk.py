"""Amazon Mechanical Turk: results of a batch as CSV."""

from itertools import repeat
from typing import Any

import pandas as pd

from bayesagree.errors import InputError
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found


def read(file: File, question: str | None) -> Found:
    """Read answers of assignments that were not rejected. An item is its input: repeated batches have new HITs."""
    table: Any = file.table
    found = Found()
    if table is None:
        raise InputError(f"{file.name} is not a table; download the results of the batch as CSV")
    rejected = table["AssignmentStatus"] == "Rejected"
    if rejected.any():
        found.left_out["rejected assignments"] = int(rejected.sum())
    table = table[~rejected]
    item, where = _items(table)
    found.notes.append(f"items are {where}")
    for name, value in _questions(table).items():
        answered = value.notna()
        if not answered.all():
            found.left_out[f"assignments without an answer to {name!r}"] = int((~answered).sum())
        columns = (column[answered].tolist() for column in (item, table["WorkerId"], value))
        found.answers += zip(repeat(name), *columns)
    return found


def _items(table: Any) -> tuple[Any, str]:
    inputs = [name for name in table.columns if name.startswith("Input.")]
    named = [name for name in inputs if name.lower().split(".", 1)[1] in ("id", "item", "item_id", "task_id")]
    if named or len(inputs) == 1:
        name = (named or inputs)[0]
        return table[name], f"the values of {name}"
    return table["HITId"], "HITs, since no single input names them"


def _questions(table: Any) -> dict[str, Any]:
    """Answers by question: one column, or one column of true and false for each value."""
    names = [name.removeprefix("Answer.") for name in table.columns if name.startswith("Answer.")]
    of_question: dict[str, list[str]] = {}
    for name in names:
        of_question.setdefault(name.split(".")[0], []).append(name)
    found = {}
    for question, columns in of_question.items():
        if columns == [question]:
            found[question] = table[f"Answer.{question}"]
            continue
        flags: Any = pd.DataFrame(
            {c.split(".", 1)[1]: table[f"Answer.{c}"].astype(str).str.lower() for c in columns}
        )
        chosen = flags == "true"
        found[question] = chosen.idxmax(axis=1).where(chosen.any(axis=1))
    return found
