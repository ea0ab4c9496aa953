"""Prodigy: JSON Lines of `prodigy db-out`, choices and binary decisions."""

from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found

FIELDS = {"_input_hash", "_task_hash", "answer"}


def recognise(file: File) -> bool:
    """Return whether the rows have Prodigy's hashes and answer."""
    return file.columns >= FIELDS


def read(file: File, question: str | None) -> Found:
    """Read accepted choices by input and binary decisions by task; ignored examples are left out."""
    found = Found()
    for row in file.lines():
        if row["answer"] == "ignore":
            found.left_out["ignored examples"] += 1
            continue
        who = row.get("_annotator_id") or row.get("_session_id")
        if row.get("_view_id") == "choice" or "accept" in row:
            if row["answer"] == "reject":
                found.left_out["rejected choices"] += 1
                continue
            name, item, value = "choice", row["_input_hash"], list(row.get("accept", []))
        else:
            name, item, value = "answer", row["_task_hash"], row["answer"]
        found.answers.append((name, item, who, value))
    return found
