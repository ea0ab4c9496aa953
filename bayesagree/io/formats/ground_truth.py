"""SageMaker Ground Truth: worker responses, whose content is JSON in a string."""

from typing import Any

from bayesagree.io._json import parse
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found


def read(file: File, question: str | None) -> Found:
    """Read the answer of each worker to each data object."""
    found = Found()
    for entry in file.lines():
        for annotation in entry["annotations"]:
            content = parse(
                annotation["annotationData"]["content"], f"{file.name}, object {entry['datasetObjectId']}"
            )
            if not content:
                found.left_out["responses without an answer"] += 1
            for name, value in content.items():
                answer = (name, entry["datasetObjectId"], annotation["workerId"], _label(value))
                found.answers.append(answer)
    return found


def _label(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    chosen = [name for name, on in value.items() if on is True]
    return value.get("label", value.get("labels", chosen))
