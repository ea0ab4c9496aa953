"""Labelbox: the JSON Lines of an export of version 2, with the answers of every labeller."""

from typing import Any

from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found


def recognise(file: File) -> bool:
    """Return whether the rows are data rows with their projects."""
    return file.columns >= {"data_row", "projects"}


def read(file: File, question: str | None) -> Found:
    """Read radio buttons, checklists and texts of whole data rows; boxes and other objects are left out."""
    found = Found()
    for row in file.lines():
        item = row["data_row"].get("external_id") or row["data_row"].get("global_key") or row["data_row"]["id"]
        for project in row["projects"].values():
            for label in project.get("labels", []):
                given, who = label["annotations"], label["label_details"]["created_by"]
                found.left_out["objects"] += len(given.get("objects", []))
                for answer in given.get("classifications", []):
                    found.answers.append((answer["name"], item, who, _value(answer)))
    return found


def _value(answer: dict[str, Any]) -> Any:
    if "checklist_answers" in answer:
        return [one["name"] for one in answer["checklist_answers"]]
    return answer["radio_answer"]["name"] if "radio_answer" in answer else answer["text_answer"]["content"]
