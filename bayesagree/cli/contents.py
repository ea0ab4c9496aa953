"""`bayesagree contents FILE`, or `bayesagree FILE` alone: what a file holds and which commands fit."""

import shlex
import sys
from typing import Any

from bayesagree.cli._options import Source
from bayesagree.cli._output import Answer, Table
from bayesagree.errors import InputError


def contents(source: Source) -> Answer:
    """Show what a file holds: annotations, predictions, gold, answers left out; and the commands that fit.

    Example: bayesagree contents export.json
    """
    if source.annotations is None:
        raise InputError("name a file: it is read and its contents are shown")
    export = source.found
    rows = [{"what": "format", "value": export.format}]
    for part in (export.annotations, export.predictions):
        if part is not None:
            overview = {"read as": type(part).__name__} | part.overview()
            rows += [{"what": name, "value": str(value)} for name, value in overview.items()]
    if export.gold:
        rows.append({"what": "items with a gold label", "value": str(len(export.gold))})
    left_out = export.contents.loc[export.contents["left_out"], ["what", "number"]]
    typed = shlex.join(word for word in sys.argv[1:] if word not in ("contents", "--json"))
    commands = [{"command": f"bayesagree {words}"} for words in _fitting(typed, export.annotations)]
    tables = [
        Table("contents", rows),
        Table("left_out", left_out, "Left out"),
        Table("commands", commands, "Commands that fit"),
    ]
    return Answer(tables, export.notes)


def _fitting(file: str, annotations: Any) -> list[str]:
    """Return the commands that answer a question with these annotations."""
    if annotations is None:
        return [f"evaluate ANNOTATIONS {file}"]
    if annotations.kind == "comparisons":
        return [f"{command} {file}" for command in ("preferences", "agreement", "report", "next", "plan")]
    middle = f" --threshold {sum(annotations.scale) / 2:g}" if annotations.kind == "ratings" else ""
    people = [f"annotators {file}"] if annotations.kind == "labels" and annotations.annotators_known else []
    return [f"agreement {file}", f"plausibility {file}{middle}", *people, f"report {file}"]
