"""Doccano: the ZIP of a project with one file per annotator. A merged project has no annotators, and is refused."""

from pathlib import PurePosixPath

from bayesagree.errors import InputError
from bayesagree.io._json import parse_lines
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found


def recognise(file: File) -> bool:
    """Return whether an archive holds JSON Lines and nothing else."""
    return bool(file.members) and all(name.endswith(".jsonl") for name in file.members)


def read(file: File, question: str | None) -> Found:
    """Read one file per annotator; a row without label is not annotated, or nothing in its text is marked."""
    if [PurePosixPath(name).stem for name in file.members] == ["all"]:
        raise InputError(
            f"{file.name} is a collaborative project: Doccano has merged the labels and lost who gave them; export "
            "with 'share annotations across all users' switched off"
        )
    found = Found()
    for name, text in file.contents(file.members):
        who = PurePosixPath(name).stem
        for row in parse_lines(text.split(b"\n"), f"{file.name}, {name}"):
            labels = row.get("label", row.get("labels", []))
            listed, entities = labels if isinstance(labels, list) else [], row.get("entities", [])
            marked = [tuple(span) for span in listed if isinstance(span, list)]
            marked += [(one["start_offset"], one["end_offset"], one["label"]) for one in entities]
            for start, end, label in marked or [(None, None, None)]:
                found.spans.append(("label", row["id"], who, start, end, label))
            if not labels:
                found.left_out["rows without a label"] += not marked
            elif not marked:
                found.answers.append(("label", row["id"], who, labels))
    return found
