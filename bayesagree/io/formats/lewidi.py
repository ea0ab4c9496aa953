"""Learning With Disagreements (Le-Wi-Di) data sets: JSON objects by item, editions of 2023 and 2025."""

from typing import Any

from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found


def recognise(file: File) -> bool:
    """Return whether the objects of the file list annotations and annotators."""
    content = file.json
    first = next(iter(content.values()), None) if isinstance(content, dict) else None
    return isinstance(first, dict) and {"annotations", "annotators"} <= first.keys()


def read(file: File, question: str | None) -> Found:
    """Read the annotation of each annotator, and hard labels as gold."""
    found = Found()
    for item, entry in file.json.items():
        answers = entry["annotations"]
        if isinstance(answers, dict):
            pairs = answers.items()
        else:
            pairs = zip(_split(entry["annotators"]), _split(answers), strict=True)
        for who, value in pairs:
            if value == "":
                found.left_out["annotators without an annotation"] += 1
                continue
            found.answers.append(("annotation", item, who, _number(value)))
        if str(entry.get("hard_label", "")) != "":
            found.gold[item] = _number(entry["hard_label"])
    return found


def _split(text: Any) -> list[str]:
    return [part.strip() for part in text.split(",")] if isinstance(text, str) else list(text)


def _number(value: Any) -> Any:
    """Whole numbers are codes of labels in some files and text in others: numbers here."""
    return int(value) if isinstance(value, str) and value.lstrip("-").isdigit() else value
