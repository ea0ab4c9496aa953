"""Which column of a table is which, where its names are not ours: by name."""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayesagree.annotations._words import missing_words, plain, spelling_key
from bayesagree.errors import warn

# Distinct values of labels; more are texts or names.
MOST_LABELS = 30
# Names of columns that hold the truth, without case and marks.
_GOLD = (
    "gold goldlabel goldstandard truth truelabel ytrue groundtruth majority adjudicated consensus finallabel"
)
GOLD = {*_GOLD.split()}
# Names of rows and columns of a spreadsheet that summarise the others.
TOTALS = {"mean", "average", "avg", "total", "grandtotal", "sum", "median"}


class Columns(NamedTuple):
    """Names of the columns, ours by default."""

    item: str = "item"
    annotator: str | None = "annotator"
    label: str = "label"
    rating: str = "rating"
    rank: str = "rank"


def vocabulary(table: Any) -> list[str]:
    """Columns whose values are those of another column too, as annotators' and counts are and texts are not.

    Labels that one annotator alone gave are rare: most values are shared, and they are few. Words that stand for no
    answer and other spellings of a label do not tell annotators apart.
    """
    values = {name: _vocabulary_of(table[name]) for name in table.columns if not nested(table[name])}
    times = Counter(value for column in values.values() for value in column)
    shared = {name: sum(times[value] > 1 for value in column) for name, column in values.items()}
    found = [
        name
        for name, column in values.items()
        if column
        and (shared[name] == len(column) or (len(column) <= MOST_LABELS and 2 * shared[name] > len(column)))
    ]
    return found if len(found) > 1 else []


def _vocabulary_of(cells: Any) -> set[Any]:
    known = cells.dropna().unique().tolist()
    away = set(map(str, missing_words(known)))
    kept = [value for value in known if str(value) not in away]
    return {spelling_key(value) if isinstance(value, str) else value for value in kept}


def nested(cells: Any) -> bool:
    """Return whether a column holds lists or objects."""
    first = cells.dropna() if cells.dtype == object else ()
    return len(first) > 0 and isinstance(first.iloc[0], list | tuple | dict | np.ndarray)


def warn_of_gold(names: Any, role: str, file: str) -> None:
    """Point out what is named as the truth is, or as a summary is."""
    for name in names:
        if (word := plain(name) if isinstance(name, str) else "") in GOLD:
            warn(
                f"{file}: {role} {name!s} is named as the truth is; if it is, give it a file of its own (gold)"
            )
        elif word in TOTALS:
            warn(f"{file}: {role} {name!s} is named as a summary of the others is; if it is, take it out")


def only_key(table: Any) -> str | None:
    """First column that names every row once, in a table with a row per item."""
    for name in table.columns:
        cells = table[name]
        if not nested(cells) and cells.dtype.kind != "f" and cells.notna().all() and cells.is_unique:
            return str(name)
    return None


def is_number(cells: Any) -> bool:
    """Return whether all columns hold numbers."""
    return all(pd.api.types.is_numeric_dtype(kind) for kind in cells.dtypes)
