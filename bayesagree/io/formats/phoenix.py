"""Phoenix: span annotations as a table; people annotate, models and code predict."""

from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found

FIELDS = {"name", "label", "annotator_kind"}
ITEMS = ("span_id", "context.span_id", "subject_id", "trace_id")


def recognise(file: File) -> bool:
    """Return whether the rows are annotations of spans."""
    return file.columns >= FIELDS and any(name in file.columns for name in ITEMS)


def read(file: File, question: str | None) -> Found:
    """Read annotations by people; those by models and code are predictions. The name is the question."""
    found = Found()
    key = next(name for name in ITEMS if name in file.columns)
    for row in file.lines():
        label, score = row.get("label"), row.get("score")
        value = score if label is None else label
        if value is None:
            found.left_out["annotations without label or score"] += 1
            continue
        name, who = row["name"], row.get("identifier") or row["annotator_kind"]
        if row["annotator_kind"] == "HUMAN":
            if label is None:
                found.ratings.add(name)
            found.answers.append((name, row[key], who, value))
        elif question in (None, name) and label is not None:
            found.outputs.append((str(who), row[key], label, None))
    return found
