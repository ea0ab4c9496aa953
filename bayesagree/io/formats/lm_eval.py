"""lm-evaluation-harness: samples of one task and model as JSON Lines. They hold outputs and targets, no annotators."""

from typing import Any

from bayesagree.errors import InputError, shorten
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found


def read(file: File, question: str | None) -> Found:
    """Read the filtered response to each document, and the target as gold; `question` chooses a filter."""
    found = Found()
    rows = list(file.lines())
    filters = list(dict.fromkeys(str(row.get("filter", "none")) for row in rows))
    if question is None and len(filters) > 1:
        raise InputError(f"{file.name} holds the filters {shorten(filters)}; choose one with question=")
    chosen = filters[0] if question is None else question
    path = (file.parts or [file])[0].path
    model = path.parent.name if path is not None else "model"
    for row in rows:
        if str(row.get("filter", "none")) != chosen:
            found.left_out[f"responses of another filter than {chosen!r}"] += 1
            continue
        item = row["doc_id"]
        found.gold[item] = _plain(row["target"])
        found.outputs += [(model, item, label, score) for label, score in _response(row)]
    found.notes.append(f"the model is {model!r}, the folder of the file: samples do not name it")
    return found


def _response(row: dict[str, Any]) -> list[tuple[Any, float | None]]:
    """Labels of a response with their scores: the log likelihood of each choice, or one answer without score.

    Choices are numbers, or their texts where the target is a text too.
    """
    response = list(row["filtered_resps"])
    if len(response) > 1 and all(isinstance(choice, list | tuple) for choice in response):
        given, names = row.get("arguments"), range(len(response))
        if isinstance(row["target"], str) and isinstance(given, dict) and len(given) == len(response):
            names = [_plain(one["arg_1"]) for one in given.values()]
        return [(name, float(choice[0])) for name, choice in zip(names, response)]
    return [(_plain(response[0]), None)]


def _plain(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value
