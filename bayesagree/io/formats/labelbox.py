"""Labelbox: the JSON Lines of an export of version 2, with the answers of every labeller."""

from collections.abc import Iterator
from typing import Any

from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found


def read(file: File, question: str | None) -> Found:
    """Read radio buttons, checklists and texts of whole data rows, also those below an answer; objects are left out."""
    found = Found()
    for row in file.lines():
        item = row["data_row"].get("external_id") or row["data_row"].get("global_key") or row["data_row"]["id"]
        for project in row["projects"].values():
            for label in project.get("labels", []):
                given, who = label["annotations"], label["label_details"]["created_by"]
                found.left_out["objects"] += len(given.get("objects", []))
                found.left_out["frames of videos"] += len(given.get("frames", []))
                for name, value in _answers(given.get("classifications", [])):
                    found.answers.append((name, item, who, value))
    return found


def _answers(classifications: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Question and answer of each, and of those that its answers have below them: each is a question of its own."""
    for one in classifications:
        if "text_answer" in one:
            yield one["name"], one["text_answer"]["content"]
            continue
        chosen = one["checklist_answers"] if "checklist_answers" in one else [one["radio_answer"]]
        names = [answer["name"] for answer in chosen]
        yield one["name"], names if "checklist_answers" in one else names[0]
        for answer in chosen:
            yield from _answers(answer.get("classifications", []))
