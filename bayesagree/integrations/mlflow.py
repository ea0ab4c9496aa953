"""MLflow 3: assessments of traces as annotations and predictions, and results as metrics and tables of a run.

The extra ``bayesagree[mlflow]`` installs what it needs.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import mlflow
import pandas as pd
import xarray as xr

from bayesagree.annotations import Annotations, Labels, Predictions
from bayesagree.annotations._columns import Duplicates
from bayesagree.errors import InputError, one_of, shorten
from bayesagree.evaluation.tables import score_table
from bayesagree.io.formats._found import Found, Wanted


class Assessments(NamedTuple):
    """Assessments of one question by who gave them; items are trace ids.

    Attributes
    ----------
    annotations
        Feedback by people (source ``HUMAN``).
    judges
        Feedback by language models (``LLM_JUDGE``), one annotator per judge as `corrected_rate` takes them, or None.
    predictions
        Feedback by programs (``CODE``), one model per program, or None.
    gold
        Expectations of the same name, by trace id.
    left_out
        Number of assessments left out, by reason.
    """

    annotations: Annotations
    judges: Labels | None
    predictions: Predictions | None
    gold: dict[Any, Any]
    left_out: dict[str, int]


def read_assessments(
    traces: Any,
    *,
    name: str | None = None,
    labels: Any = None,
    scale: tuple[float, float] | None = None,
    step: float | None = None,
    duplicates: Duplicates = "error",
) -> Assessments:
    """Annotations, judges and predictions among the assessments of traces.

    Parameters
    ----------
    traces
        From `mlflow.search_traces`: its data frame, or its list of traces.
    name
        Which assessment, such as ``"correctness"``; needed where the traces have several.
    labels
        All possible labels in their order; by default those found, of people, judges and programs together.
    scale, step
        Read people's feedback as ratings on this scale, as `Ratings.from_long`.
    duplicates
        As `Labels.from_long`.

    Raises
    ------
    InputError
        Several assessments and no `name`, an unknown one, or none by people.

    Examples
    --------
    >>> def by(kind, who, value):
    ...     source = {"source_type": kind, "source_id": who}
    ...     return {"assessment_name": "safe", "source": source, "feedback": {"value": value}}
    >>> first = [by("HUMAN", "ann", "yes"), by("HUMAN", "bob", "no"), by("LLM_JUDGE", "gpt", "no")]
    >>> second = [by("HUMAN", "ann", "yes"), by("LLM_JUDGE", "gpt", "yes")]
    >>> frame = pd.DataFrame({"trace_id": ["t1", "t2"], "assessments": [first, second]})
    >>> found = read_assessments(frame)
    >>> found.annotations.n_annotations, found.judges.annotators.tolist()
    (3, ['gpt'])
    """
    rows, left_out = [], Counter[str]()
    for item, found in _assessments(traces):
        if reason := _unusable(found):
            left_out[reason] += 1
        elif "expectation" in found:
            rows.append(("GOLD", found["assessment_name"], item, "", found["expectation"]["value"]))
        else:
            source = found["source"]
            kind = source["source_type"].replace("AI_JUDGE", "LLM_JUDGE")
            rows.append((kind, found["assessment_name"], item, source["source_id"], found["feedback"]["value"]))
    asked = sorted({question for kind, question, *_ in rows if kind == "HUMAN"})
    if not asked:
        raise InputError("no trace has feedback whose source is HUMAN; people's assessments are needed")
    if name is None and len(asked) > 1:
        raise InputError(f"people assessed {shorten(asked)}; choose one with name=")
    chosen = one_of(asked[0] if name is None else name, "name", asked)
    people, judges, programs, gold = (
        [row[1:] for row in rows if row[:2] == (kind, chosen)]
        for kind in ("HUMAN", "LLM_JUDGE", "CODE", "GOLD")
    )
    if scale is None and labels is None:
        values = {value for *_, value in (*people, *judges, *programs)} - {None}
        labels = sorted(values, key=lambda value: (str(type(value)), value))
    wanted = Wanted(chosen, "labels" if scale is None else "ratings", scale, step, labels, duplicates)
    found = Found(answers=people)
    annotations: Any = found.annotations(wanted, "the traces")
    if annotations is None:
        raise InputError(f"people's feedback on {chosen!r} has no values")
    of_judges: Any = Found(answers=judges).annotations(wanted._replace(kind="labels", scale=None), "the traces")
    outputs = Found(outputs=[(who, item, value, None) for _, item, who, value in programs]).predictions(labels)
    known = {item: value for _, item, _, value in gold}
    return Assessments(annotations, of_judges, outputs, known, dict(left_out + found.left_out))


def log_result(result: xr.DataTree, *, report: str | Path | None = None, prefix: str = "") -> None:
    """Log a result of `evaluate` to the active run: metrics with intervals, their table, and a report.

    Every score becomes the metrics ``<model>/<metric>``, ``.../lower`` and ``.../upper`` (95 % HDI); where an
    evaluation has several reliabilities they stand in the name. The table goes to ``scores.json``, a report beside it.

    Parameters
    ----------
    result
        From `evaluate`.
    report
        An HTML file from `write_report` or ``bayesagree report``, logged as an artifact.
    prefix
        Put before every name, such as ``"test/"``.
    """
    table = score_table(result)
    several = "reliability" in table
    for row in table.to_dict("records"):
        level = f"/reliability {row['reliability']:g}" if several else ""
        name = _allowed(f"{prefix}{row['model']}/{row['metric']}{level}")
        mlflow.log_metrics({name: row["score"], f"{name}/lower": row["lower"], f"{name}/upper": row["upper"]})
    mlflow.log_table(table, f"{_allowed(prefix)}scores.json")
    if report is not None:
        mlflow.log_artifact(str(report))


def _allowed(name: str) -> str:
    """Name with the characters that MLflow allows."""
    return re.sub(r"[^\w\-. /:]", "_", name)


def _assessments(traces: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Trace id and assessment as MLflow's dictionary."""
    if isinstance(traces, pd.DataFrame):
        missing = {"trace_id", "assessments"} - set(traces.columns)
        if missing:
            raise InputError(f"the traces have no column {shorten(sorted(missing))}; see mlflow.search_traces")
        pairs = zip(traces["trace_id"], traces["assessments"])
    else:
        pairs = ((trace.info.trace_id, trace.info.assessments) for trace in traces)
    for item, given in pairs:
        for found in given if given is not None else ():
            yield item, found if isinstance(found, dict) else found.to_dictionary()


def _unusable(found: dict[str, Any]) -> str:
    """Why an assessment is left out, or nothing."""
    if found.get("valid") is False:
        return "assessments that a later one replaced"
    if "expectation" not in found and "feedback" not in found:
        return "assessments that are neither feedback nor expectation"
    if (found.get("feedback") or {}).get("error"):
        return "assessments that ended in an error"
    return ""
