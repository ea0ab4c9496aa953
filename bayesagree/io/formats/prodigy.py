"""Prodigy: JSON Lines of `prodigy db-out`: choices, binary decisions, spans of text, and text that was typed."""

from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found

# Views in which annotators mark spans; in others (`ner`, `spans`) the model marks them and people accept or reject.
MANUAL = ("ner_manual", "spans_manual", "pos_manual")
# Views of marks that are no spans of text: their rows are read as accepted or rejected.
SHAPES = ("image_manual", "audio_manual", "relations")


def read(file: File, question: str | None) -> Found:
    """Read accepted choices, spans and texts by input, and binary decisions by task; ignored examples are left out.

    A view of blocks can hold several of them.
    """
    found = Found()
    for row in file.lines():
        if row["answer"] == "ignore":
            found.left_out["ignored examples"] += 1
            continue
        who = row.get("_annotator_id") or row.get("_session_id")
        item = row["_input_hash"]
        view = row.get("_view_id", "")
        chosen = row.get("accept", []) if view == "choice" or "accept" in row else None
        marked = row.get("spans", []) if view in MANUAL or (view == "blocks" and "spans" in row) else None
        typed = row.get("user_input") if view in ("text_input", "blocks") else None
        if chosen is marked is typed is None:
            found.answers.append(("answer", row["_task_hash"], who, row["answer"]))
            if view in SHAPES:
                found.left_out[f"marks in the view {view!r}"] += 1
        elif row["answer"] == "reject":
            found.left_out["rejected choices" if marked is None else "rejected spans"] += 1
        else:
            if chosen is not None:
                found.answers.append(("choice", item, who, chosen[0] if len(chosen) == 1 else list(chosen)))
            if typed is not None:
                found.answers.append(("user_input", item, who, typed))
            for span in [] if marked is None else marked or [{}]:
                found.spans.append(("spans", item, who, span.get("start"), span.get("end"), span.get("label")))
    return found
