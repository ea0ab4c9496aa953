"""Words of tables: for no answer, known here alone; for one label, in different spellings; for the winner of a pair."""

import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Codes
from bayesagree.annotations._columns import Table, column
from bayesagree.errors import InputError, as_python

# Cells of text tables that are missing; every other word may well be a label.
MISSING_CELLS = ["", "NA", "NaN", "nan"]
_NO_ANSWERS = (
    ". - -- ? n/a n.a. #n/a na <na> nan none null nil missing unknown unanswered skipped no_answer k.a. -99 -999"
)
# Labels, in lower case, that often stand for no answer: kept as labels, but pointed out.
MISSING_WORDS = set(_NO_ANSWERS.split())
# Features of annotators that are missing, as platforms and forms write them: no group of people.
NO_ANSWER = ("DATA_EXPIRED", "CONSENT_REVOKED", "unknown", "Unknown", "n/a", "N/A", "")


def missing_words(labels: Iterable[Any]) -> list[Any]:
    """Labels that often stand for no answer."""
    return [label for label in labels if str(label).strip().casefold() in MISSING_WORDS]


def spelling_key(label: str) -> str:
    """Return what spellings of one label share: "Yes ", "yes"; "1", "1.0"; the two forms of "é" in Unicode."""
    key = " ".join(unicodedata.normalize("NFKC", label).casefold().split())
    try:
        return repr(float(key))
    except ValueError:
        return key


def similar(labels: Iterable[Any]) -> list[list[str]]:
    """Groups of labels that differ in their spelling alone."""
    groups: dict[str, list[str]] = {}
    for label in labels:
        if isinstance(label, str):
            groups.setdefault(spelling_key(label), []).append(label)
    return [group for group in groups.values() if len(group) > 1]


def one_spelling(values: Iterable[Any], labels: Sequence[Any] | None = None) -> dict[str, str]:
    """Name of each spelling: the one that `labels` lists, else the most frequent, of several the first in order."""
    counts = Counter(value for value in values if isinstance(value, str))
    listed = {label for label in labels or () if isinstance(label, str)}
    groups = similar(counts.keys() | listed)
    best = [min(group, key=lambda one: (one not in listed, -counts[one], one)) for group in groups]
    return {label: name for name, group in zip(best, groups) for label in group}


FIRST, SECOND, TIE = range(3)
# Words for the winner, beside the names of the two models.
WORDS = {
    "left": FIRST,
    "model_a": FIRST,
    "first": FIRST,
    "right": SECOND,
    "model_b": SECOND,
    "second": SECOND,
    "tie": TIE,
    "draw": TIE,
    "both_bad": TIE,
    "tie (bothbad)": TIE,
}
# Letters of the sides, where no model has such a name.
LETTERS = {"A": FIRST, "a": FIRST, "B": SECOND, "b": SECOND}
NUMBERS = {1.0: FIRST, 0.0: SECOND, 0.5: TIE}


def outcomes_of(table: Table, name: str, sides: tuple[Codes, Codes], models: NDArray[Any]) -> Codes:
    """Return who wins each row."""
    values = [v if isinstance(v, Hashable) else repr(v) for v in column(table, name, "winner").to_list()]
    known = dict(zip(models.tolist(), range(models.size)))
    letters = {} if known.keys() & LETTERS.keys() else LETTERS
    words: dict[Any, int] = WORDS | letters | NUMBERS
    if models.dtype.kind in "iuf" and any(value not in words and value == value for value in values):
        words = WORDS | letters  # these are names of models
    ambiguous = [word for word in words if word in known and word in values]
    if ambiguous:
        raise InputError(
            f"row {values.index(ambiguous[0])}, column {name!r}: {ambiguous[0]!r} is the name of a model and a word "
            "for the winner; rename the model"
        )
    outcome = np.empty(len(values), np.int32)
    for row, value in enumerate(values):
        left, right = sides[0][row], sides[1][row]
        if value is None or value != value:
            raise InputError(f"row {row}: the winner is missing; write 'tie' if neither won, or drop the row")
        at = known.get(value, -1)
        found = FIRST if at == left else SECOND if at == right else words.get(value)
        if found is None:
            first, second = (as_python(models[side]) for side in (left, right))
            raise InputError(
                f"row {row}: winner {value!r} is neither of the models compared ({first!r}, {second!r}), nor a word "
                "for the outcome ('left', 'right', 'tie'; 'model_a', 'model_b', 'both_bad'; 'A', 'B', 'draw'; 1, 0, "
                "0.5); correct the row"
            )
        outcome[row] = found
    return outcome
