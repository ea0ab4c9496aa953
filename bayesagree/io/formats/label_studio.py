"""Label Studio: tasks as JSON with annotations, predictions and gold (schema of version 1.13), or JSON-MIN."""

from typing import Any

import pandas as pd

from bayesagree.annotations._words import sides_of
from bayesagree.errors import InputError, say, shorten
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found

# Kinds of answers to a whole task, by the key that holds them; regions (boxes) have other keys.
VALUES = ("choices", "rating", "taxonomy", "text", "number", "ranker", "pairwise", "selected")

NOTHING = "annotations without an answer to the whole task"

# Answers to which of two is better; the task's data name the two models.
PAIRWISE, NEITHER = ("left", "right", "none"), {"none": "tie"}


def recognise(file: File) -> bool:
    """Return whether these are tasks: objects with a list of annotations."""
    return isinstance(file.first.get("annotations"), list) and "data" in file.first


def read(file: File, question: str | None) -> Found:
    """Read tasks; cancelled and empty annotations are left out, ground-truth annotations are gold."""
    found, readers, data = Found(), {}, {}
    for task in file.json:
        field = file.names.item
        item = task["id"] if field == "item" else _named(task["data"], field, "item")
        data[item] = task.get("data", {})
        for annotation in task.get("annotations", ()):
            if annotation.get("was_cancelled"):
                found.left_out["cancelled annotations"] += 1
                continue
            who = _name(annotation.get("completed_by"), file.names.annotator)
            readers[item, who] = None
            answers, spans = _answers(annotation, found)
            if spans:
                found.spans += [(name, item, who, *span) for name, *span in spans]
            elif not answers:
                found.left_out[NOTHING] += 1
            for name, value in answers:
                if annotation.get("ground_truth") and isinstance(value, list) and question in (None, name):
                    found.gold[item] = value[0]
                one = value[0] if isinstance(value, list) and len(value) == 1 else value
                found.answers.append((name, item, who, one))
        for prediction in task.get("predictions", ()):
            model = str(prediction.get("model_version") or "model")
            for name, value in _answers(prediction, found)[0]:
                if question in (None, name) and isinstance(value, list):
                    found.outputs.append((model, item, value[0], None))
    if found.spans:
        del found.left_out[NOTHING]  # they marked nothing
        marked = {row[1:3] for row in found.spans}
        found.spans += [("", *who, None, None, None) for who in readers if who not in marked]
    seen = [(data[row[1]], row[1:]) for row in found.answers]
    games = [shown | dict(zip(("item", "annotator", "winner"), row)) for shown, row in seen]
    if games and all(sides_of(game) and game["winner"] in PAIRWISE for game in games):
        table = pd.DataFrame(games).replace({"winner": NEITHER})
        found.games = table, {"annotator": "annotator", "item": "item"}
    return found


def _name(who: Any, field: str | None) -> Any:
    if field == "annotator":
        return who.get("id", who.get("email")) if isinstance(who, dict) else who
    return _named(who if isinstance(who, dict) else {}, field, "annotator")


def _named(fields: dict[str, Any], name: str | None, role: str) -> Any:
    if name not in fields:
        known = shorten(fields) if fields else "none"
        raise InputError(
            f"{say(role, name)}: a task has no such field of its {role}, it has {known}; leave it out, or name another"
        )
    return fields[name]


def _answers(annotation: Any, found: Found) -> tuple[list[tuple[str, Any]], list[tuple[Any, ...]]]:
    """Answers by control, and spans with the control's name first."""
    answers, spans = [], []
    for region in annotation.get("result", ()):
        kind, value = region.get("type"), region.get("value", {})
        if kind == "labels" and {"start", "end", "labels"} <= value.keys():
            spans += [(region["from_name"], value["start"], value["end"], label) for label in value["labels"]]
            continue
        if kind not in VALUES or kind not in value:
            kind = next((key for key in VALUES if key in value), None)
        if kind is None:
            found.left_out[f"regions of type {region.get('type')!r}"] += 1
            continue
        answer = [" / ".join(path) for path in value[kind]] if kind == "taxonomy" else value[kind]
        if kind in ("rating", "number"):
            found.ratings.add(region["from_name"])
        answers.append((region["from_name"], answer))
    return answers, spans
