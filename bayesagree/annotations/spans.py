"""Spans of text as labels: each candidate span is an item.

"No label" is a label too.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from bayesagree.annotations._columns import column, pandas_frame, values_of
from bayesagree.errors import InputError, as_python

Match = Literal["overlap", "exact"]

NO_LABEL = "no label"
COLUMNS = ("document", "annotator", "start", "end", "label")


class Span(NamedTuple):
    """What one annotator marked in a document: from start up to, not including, end."""

    start: int
    end: int
    label: Any


# Spans by document and annotator; an annotator who marked nothing has an empty list.
Marked = dict[Any, dict[Any, list[Span]]]


def read_spans(frame: Any) -> Marked:
    """Read a table with one row per span; a row without start, end and label stands for nothing marked."""
    table = pandas_frame(frame)
    read = {name: list(values_of(column(table, name, name))) for name in COLUMNS}
    marked: Marked = {}
    for row, (document, annotator, start, end, label) in enumerate(zip(*read.values())):
        if pd.isna(document) or pd.isna(annotator):
            raise InputError(
                f"row {row}: document {document!r}, annotator {annotator!r}: every span names both"
            )
        spans = marked.setdefault(as_python(document), {}).setdefault(as_python(annotator), [])
        missing = [bool(pd.isna(value)) for value in (start, end, label)]
        if all(missing):
            continue
        whole = [isinstance(at, int | float | np.number) and float(at).is_integer() for at in (start, end)]
        if any(missing) or not all(whole) or not 0 <= start < end:
            raise InputError(
                f"row {row}: start={start}, end={end}, label={label!r}: a span has a label and whole numbers "
                "0 <= start < end; leave all three empty where an annotator marked nothing"
            )
        spans.append(Span(int(start), int(end), as_python(label)))
    return marked


def span_rows(frame: Any, match: Match, no_label: str) -> pd.DataFrame:
    """Table of one row per item and annotator of the document: item, annotator, label."""
    rows = []
    for document, by_annotator in read_spans(frame).items():
        ends = sorted({(span.start, span.end) for spans in by_annotator.values() for span in spans})
        for start, end in ends if match == "exact" else _overlapping(ends):
            for annotator, spans in by_annotator.items():
                near = [one for one in spans if match == "overlap" or one[:2] == (start, end)]
                label = _label_of(near, start, end)
                rows.append((f"{document}:{start}-{end}", annotator, no_label if label is None else label))
    return pd.DataFrame(rows, columns=["item", "annotator", "label"])


def _label_of(spans: list[Span], start: int, end: int) -> Any:
    """Label of the span that shares most with a place, the first of equal ones, or None."""
    inside = [span for span in spans if span.start < end and start < span.end]
    best = max(inside, key=lambda span: min(span.end, end) - max(span.start, start), default=None)
    return None if best is None else best.label


def _overlapping(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Candidate spans: the union of spans that overlap, directly or through others."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
