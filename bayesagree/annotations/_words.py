"""Words that stand for no answer, known here alone, and different spellings of one label."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

# Cells of text tables that are missing; every other word may well be a label.
MISSING_CELLS = ["", "NA", "NaN", "nan"]
# Labels, in lower case, that often stand for no answer: kept as labels, but pointed out.
_NO_ANSWERS = (
    ". - -- ? n/a n.a. #n/a na <na> nan none null nil missing unknown unanswered skipped no_answer k.a. -99 -999"
)
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
