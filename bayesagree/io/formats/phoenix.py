"""Phoenix: span annotations as a table or as the answer of its server; people annotate, models and code predict."""

from bayesagree.errors import warn
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found

NAMES = ("name", "annotation_name")
ITEMS = ("span_id", "context.span_id", "subject_id", "trace_id")


def recognise(file: File) -> bool:
    """Return whether the rows are annotations of spans."""
    fields = file.fields
    return "annotator_kind" in fields and not fields.isdisjoint(NAMES) and not fields.isdisjoint(ITEMS)


def read(file: File, question: str | None) -> Found:
    """Read annotations by people; those by models and code are predictions. The name is the question."""
    found = Found()
    if isinstance(file.json, dict) and file.json.get("next_cursor"):
        warn(
            f"{file.name} is one page of the server's answer and ends before the last annotation: follow next_cursor, "
            "or ask with a larger limit="
        )
    for row in file.lines():
        answer = row.get("result") or row
        label = answer.get("label", row.get("result.label"))
        value = answer.get("score", row.get("result.score")) if label is None else label
        if value is None:
            found.left_out["annotations without label or score"] += 1
            continue
        name, item = (row[next((key for key in keys if key in row), keys[0])] for keys in (NAMES, ITEMS))
        who = row.get("identifier") or row.get("user_id") or row["annotator_kind"]
        if row["annotator_kind"] == "HUMAN":
            if label is None:
                found.ratings.add(name)
            found.answers.append((name, item, who, value))
        elif question in (None, name) and label is not None:
            found.outputs.append((str(who), item, label, None))
    return found
