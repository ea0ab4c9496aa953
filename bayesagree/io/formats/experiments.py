"""Experiments of LangSmith, Braintrust and DeepEval: outputs with a score of each evaluator, and feedback of people."""

import re
from collections.abc import Iterable
from typing import Any

from bayesagree.io._json import parse
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found

# A field of the source of LangSmith's feedback in a cell, written as JSON or as Python writes it.
SOURCE = re.compile(r"""['"](\w+)['"]: *(?:UUID\()?['"]([^'"]*)""")


def recognise_langsmith(file: File) -> bool:
    """Return whether rows are feedback on runs, or runs with a column for each feedback."""
    names = file.fields
    in_columns = "execution_time" in names and bool(_after("feedback.", names))
    return in_columns or {"run_id", "key", "score"} <= names


def read_langsmith(file: File, question: str | None) -> Found:
    """Read each column of feedback as a judge of the runs of an experiment; or rows of feedback by their keys.

    Rows by people are annotations, and those by models predictions. Where a row of a key has a score alone, the scores
    of all its rows are read, else the values.
    """
    found, rows = Found(), list(file.lines())
    examples = [row.get("example_id") for row in rows]
    item = "id" if None in examples or len(set(examples)) < len(rows) else "example_id"
    unnamed: set[Any] = {row["key"] for row in rows if "key" in row and row.get("value") is None}
    for row in rows:
        for name, key in _after("feedback.", row).items():
            found.answers.append(("feedback", row[item], name, row[key]))
        if "key" in row:
            source = row.get("feedback_source") or {}
            source = source if isinstance(source, dict) else dict(SOURCE.findall(source))
            who = source.get("user_name") or source.get("user_id") or source.get("type")
            value = row.get("score" if row["key"] in unnamed else "value")
            if source.get("type") != "model":
                found.answers.append((row["key"], row["run_id"], who, value))
            elif question in (None, row["key"]) and value is not None:
                found.outputs.append((str(who), row["run_id"], value, None))
    return found


def recognise_braintrust(file: File) -> bool:
    """Return whether rows are events with scores."""
    names = file.fields
    return not names.isdisjoint({"scores", *_after("scores.", names).values()}) and (
        "span_id" in names or {"input", "output"} <= names
    )


def read_braintrust(file: File, question: str | None) -> Found:
    """Read each score of an event as that of a judge; scores by reviewers answer a question of that name.

    What reviewers scored has their mean among the scores of the event, which is not read.
    """
    found, judged = Found(), []
    for number, row in enumerate(file.lines()):
        apart = {name: row.get(key) for name, key in _after("scores.", row).items()}
        scores = _object(row.get("scores"), file) or apart
        about = _object(row.get("span_attributes"), file)
        if about.get("type") == "review":
            parent, *_ = _object(row["span_parents"], file)
            found.answers += [(name, parent, about["name"], score) for name, score in scores.items()]
        else:
            item = row.get("span_id", row.get("id", number))
            judged += [("scores", item, name, score) for name, score in scores.items()]
    reviewed = {name for name, *_ in found.answers}
    found.answers += [row for row in judged if row[2] not in reviewed]
    return found


def read_deepeval(file: File, question: str | None) -> Found:
    """Read whether each metric passes each test case; metrics that failed to run are left out."""
    found = Found()
    for case in [*file.json["testCases"], *file.json.get("conversationalTestCases", ())]:
        for metric in case.get("metricsData") or ():
            if metric.get("success") is None:
                found.left_out["metrics with an error"] += 1
            else:
                verdict = "pass" if metric["success"] else "fail"
                found.answers.append(("pass", case["name"], metric["name"], verdict))
    return found


def _after(prefix: str, names: Iterable[str]) -> dict[str, str]:
    """Names that begin with a prefix, by what follows it."""
    return {name.removeprefix(prefix): name for name in names if name.startswith(prefix)}


def _object(cell: Any, file: File) -> Any:
    return parse(cell, f"{file.name}, cell {cell[:40]!r}") if isinstance(cell, str) else cell or {}
