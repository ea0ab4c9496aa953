"""Label Studio: tasks as JSON, with the annotations, predictions and gold of each (schema of version 1.13)."""

from typing import Any

from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found

VALUES = ("choices", "rating", "taxonomy", "text", "number", "ranker", "pairwise")
"""Kinds of answers to a whole task, by the key that holds them; regions (boxes, spans) have other keys."""


def recognise(file: File) -> bool:
    """Return whether these are tasks: objects with a list of annotations."""
    return isinstance(file.first.get("annotations"), list) and "data" in file.first


def read(file: File, question: str | None) -> Found:
    """Read tasks; cancelled and empty annotations are left out, ground-truth annotations are gold."""
    found = Found()
    for task in file.json:
        item = task["id"]
        for annotation in task.get("annotations", []):
            if annotation.get("was_cancelled"):
                found.left_out["cancelled annotations"] += 1
                continue
            who, answers = _name(annotation.get("completed_by")), _answers(annotation, found)
            if not answers:
                found.left_out["annotations without an answer to the whole task"] += 1
            for name, value in answers:
                if annotation.get("ground_truth") and isinstance(value, list) and question in (None, name):
                    found.gold[item] = value[0]
                found.answers.append((name, item, who, value))
        for prediction in task.get("predictions", []):
            model = str(prediction.get("model_version") or "model")
            for name, value in _answers(prediction, found):
                if question in (None, name) and isinstance(value, list):
                    found.outputs.append((model, item, value[0], None))
    return found


def _name(who: Any) -> Any:
    return who.get("id", who.get("email")) if isinstance(who, dict) else who


def _answers(annotation: Any, found: Found) -> list[tuple[str, Any]]:
    answers = []
    for region in annotation.get("result", []):
        kind = next((key for key in VALUES if key in region.get("value", {})), None)
        if kind is None:
            found.left_out[f"regions of type {region.get('type')!r}"] += 1
            continue
        value = region["value"][kind]
        if kind == "taxonomy":
            value = [" / ".join(path) for path in value]
        if kind in ("rating", "number"):
            found.ratings.add(region["from_name"])
        answers.append((region["from_name"], value))
    return answers
