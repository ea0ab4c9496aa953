"""Argilla: records of version 2, flat or nested, and of version 1's feedback datasets."""

from collections.abc import Iterator
from itertools import repeat
from typing import Any

from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found

RESPONSES = ".responses"


def recognise(file: File) -> bool:
    """Return whether records have responses with their users."""
    names = file.fields
    return {"fields", "responses", "suggestions"} <= names or any(
        name.endswith(RESPONSES) and f"{name}.users" in names for name in names
    )


def read(file: File, question: str | None) -> Found:
    """Read submitted responses; drafts and discarded ones are left out. Suggestions are predictions."""
    found = Found()
    for row in file.lines():
        nested = {"fields", "responses"} <= row.keys()
        item = (row.get("id") or row.get("external_id")) if nested else row["id"]
        for name, value, user, status in _nested(row) if nested else _flat(row):
            if status not in ("submitted", None):  # None: written without a server
                found.left_out[f"responses with status {status}"] += 1
            elif isinstance(value, list) and value and isinstance(value[0], dict) and "start" in value[0]:
                found.spans += [(name, item, user, span["start"], span["end"], span["label"]) for span in value]
            else:
                if isinstance(value, int | float):
                    found.ratings.add(name)
                found.answers.append((name, item, user, value))
        for name, value, agent in _suggested(row, nested):
            if question in (None, name) and isinstance(value, str):
                found.outputs.append((str(agent or "suggestion"), item, value, None))
    if marked := {name for name, *_ in found.spans}:  # who marked nothing has answered with an empty list
        readers = [row[:3] for row in found.answers if row[0] in marked]
        found.spans += [(*reader, None, None, None) for reader in readers]
        found.answers = [row for row in found.answers if row[0] not in marked]
    return found


def _nested(row: dict[str, Any]) -> Iterator[tuple[str, Any, Any, Any]]:
    """Question, value, user and state of each response: of version 2 by question, of version 1 by user."""
    if isinstance(row["responses"], dict):
        for name, responses in row["responses"].items():
            yield from ((name, one["value"], one["user_id"], one.get("status")) for one in responses)
    else:
        for one in row["responses"] or ():
            for name, value in (one.get("values") or {}).items():
                yield name, value["value"], one["user_id"], one["status"]


def _flat(row: dict[str, Any]) -> Iterator[tuple[str, Any, Any, Any]]:
    """The same of a table: parallel lists of values, users and states for each question."""
    for key in row:
        if key.endswith(RESPONSES) and row[key] is not None:
            values, users, states = (_list(row.get(key + part)) for part in ("", ".users", ".status"))
            name = key.removesuffix(RESPONSES)
            columns = repeat(name, len(values)), values, users, states or [None] * len(values)
            yield from zip(*columns, strict=True)


def _suggested(row: dict[str, Any], nested: bool) -> Iterator[tuple[str, Any, Any]]:
    """Question, value and agent of each suggestion."""
    if not nested:
        names = [key.removesuffix(RESPONSES) for key in row if key.endswith(RESPONSES)]
        yield from ((n, row.get(f"{n}.suggestion"), row.get(f"{n}.suggestion.agent")) for n in names)
        return
    given = row.get("suggestions") or {}
    named = given.items() if isinstance(given, dict) else ((one.get("question_name"), one) for one in given)
    yield from ((name, one["value"], one.get("agent")) for name, one in named)


def _list(value: Any) -> list[Any]:
    return [] if value is None else list(value)
