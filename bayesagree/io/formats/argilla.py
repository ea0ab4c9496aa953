"""Argilla 2: records as `dataset.records.to_list(flatten=True)` gives them, in JSON, JSON Lines or a table."""

from typing import Any

from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found

RESPONSES = ".responses"


def recognise(file: File) -> bool:
    """Return whether there is a question with parallel lists of responses and users."""
    names = set(file.first) | file.columns
    return any(name.endswith(RESPONSES) and f"{name}.users" in names for name in names)


def read(file: File, question: str | None) -> Found:
    """Read submitted responses; drafts and discarded ones are left out. Suggestions are predictions."""
    found = Found()
    for row in file.json if file.json is not None else file.lines():
        for name in (key.removesuffix(RESPONSES) for key in row if key.endswith(RESPONSES)):
            _read_question(name, row, found, wanted=question in (None, name))
    return found


def _read_question(name: str, row: dict[str, Any], found: Found, *, wanted: bool) -> None:
    item, values = row["id"], _list(row.get(name + RESPONSES))
    users = _list(row.get(f"{name}{RESPONSES}.users"))
    statuses = _list(row.get(f"{name}{RESPONSES}.status")) or ["submitted"] * len(values)
    for value, user, status in zip(values, users, statuses, strict=True):
        if status != "submitted":
            found.left_out[f"responses with status {status}"] += 1
            continue
        if isinstance(value, int | float):
            found.ratings.add(name)
        found.answers.append((name, item, user, value))
    suggestion = row.get(f"{name}.suggestion")
    if wanted and isinstance(suggestion, str):
        found.outputs.append((str(row.get(f"{name}.suggestion.agent") or "suggestion"), item, suggestion, None))


def _list(value: Any) -> list[Any]:
    return [] if value is None else list(value)
