"""Argilla: records of version 2, flat or nested, and of version 1's feedback datasets."""

from typing import Any

from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found

RESPONSES = ".responses"


def recognise(file: File) -> bool:
    """Return whether records have responses with their users."""
    names = set(file.first) | file.columns
    return {"fields", "responses", "suggestions"} <= names or any(
        name.endswith(RESPONSES) and f"{name}.users" in names for name in names
    )


def read(file: File, question: str | None) -> Found:
    """Read submitted responses; drafts and discarded ones are left out. Suggestions are predictions."""
    found = Found()
    for row in map(_flat, file.json if file.json is not None else file.lines()):
        for name in (key.removesuffix(RESPONSES) for key in row if key.endswith(RESPONSES)):
            _read_question(name, row, found, wanted=question in (None, name))
    if marked := {name for name, *_ in found.spans}:  # who marked nothing has answered with an empty list
        found.spans += [
            (name, item, who, None, None, None) for name, item, who, _ in found.answers if name in marked
        ]
        found.answers = [row for row in found.answers if row[0] not in marked]
    return found


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return a record as version 2 writes it flat: parallel lists of values, users and states for each question."""
    if not {"fields", "responses"} <= row.keys():
        return row
    given: list[tuple[str, Any, Any, str | None]] = []
    if isinstance(row["responses"], dict):  # version 2: lists by question
        for name, responses in row["responses"].items():
            given += [(name, one["value"], one["user_id"], one.get("status")) for one in responses]
    else:  # version 1: one response per user, with a value for each question
        for one in row["responses"] or ():
            values = one.get("values") or {}
            given += [(name, value["value"], one["user_id"], one["status"]) for name, value in values.items()]
    suggested = row.get("suggestions") or {}
    if not isinstance(suggested, dict):
        suggested = {one.get("question_name"): one for one in suggested}
    flat: dict[str, Any] = {"id": row.get("id") or row.get("external_id")}
    for name, value, user, status in given:
        for key, part in (("", value), (".users", user), (".status", status)):
            flat.setdefault(f"{name}{RESPONSES}{key}", []).append(part)
    for name, one in suggested.items():
        flat |= {f"{name}.suggestion": one["value"], f"{name}.suggestion.agent": one.get("agent")}
    return flat


def _read_question(name: str, row: dict[str, Any], found: Found, *, wanted: bool) -> None:
    item, values = row["id"], _list(row.get(name + RESPONSES))
    users = _list(row.get(f"{name}{RESPONSES}.users"))
    statuses = _list(row.get(f"{name}{RESPONSES}.status")) or ["submitted"] * len(values)
    for value, user, status in zip(values, users, statuses, strict=True):
        if status not in ("submitted", None):  # None: written without a server
            found.left_out[f"responses with status {status}"] += 1
            continue
        if isinstance(value, list) and value and isinstance(value[0], dict) and "start" in value[0]:
            found.spans += [(name, item, user, span["start"], span["end"], span["label"]) for span in value]
            continue
        if isinstance(value, int | float):
            found.ratings.add(name)
        found.answers.append((name, item, user, value))
    suggestion = row.get(f"{name}.suggestion")
    if wanted and isinstance(suggestion, str):
        found.outputs.append((str(row.get(f"{name}.suggestion.agent") or "suggestion"), item, suggestion, None))


def _list(value: Any) -> list[Any]:
    return [] if value is None else list(value)
