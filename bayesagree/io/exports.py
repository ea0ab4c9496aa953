"""Exports of annotation and evaluation tools, with all that they hold beside the annotations."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayesagree.annotations import Annotations, Comparisons, Labels
from bayesagree.annotations._columns import Duplicates
from bayesagree.annotations._words import missing_words, name_key, person_key, similar, spelling_key
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, say, shorten, warn
from bayesagree.io.formats import spreadsheet
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found, Kind, Wanted, naming, spelled_as
from bayesagree.io.formats._guess import Columns, warn_of_gold
from bayesagree.io.formats.registry import Format, format_of, formats

# Kinds of annotations that an option is about: with others it would not be used.
OF_KINDS = {
    "scale": ("ratings",),
    "step": ("ratings",),
    "ordered": ("labels",),
    "labels": ("labels", "rankings"),
    "na_values": ("labels", "ratings", "rankings"),
    "question": (),
}


@dataclass(frozen=True, eq=False)
class Export:
    """Annotations of a file and all else that it holds.

    Attributes
    ----------
    format
        Name of the format: a tool, or the layout of a table.
    annotations
        Those of the chosen question, None where the file holds outputs of models only.
    predictions
        Outputs of models on the same items, None where there are none.
    gold
        Gold label by item.
    spans
        Table of the spans that annotators marked, as `Labels.from_spans` takes it, None where there are none. If a file
        holds nothing else, `annotations` are `Labels.from_spans(spans)`.
    contents
        One row for what was read and for each reason to leave answers out: columns ``what``, ``number``, ``left_out``.
    notes
        Choices of the reader in words, such as a column taken for the annotator.
    """

    format: str
    annotations: Annotations | Comparisons | None
    predictions: Predictions | None
    gold: dict[Any, Any]
    spans: pd.DataFrame | None
    contents: pd.DataFrame
    notes: tuple[str, ...]

    def sentences(self) -> list[str]:
        """Return the choices of the reader, and what it left out, in words."""
        left_out = self.contents.loc[self.contents["left_out"], ["what", "number"]]
        away = [f"left out {number} {what}" for what, number in left_out.itertuples(index=False)]
        return [*self.notes, *away]


def read_annotations(
    path: Any,
    *,
    format: str | None = None,
    question: str | None = None,
    kind: Kind | None = None,
    item: str = "item",
    annotator: str | None = "annotator",
    label: str = "label",
    rating: str = "rating",
    rank: str = "rank",
    scale: tuple[float, float] | None = None,
    step: float | None = None,
    labels: Sequence[Any] | None = None,
    duplicates: Duplicates = "error",
    na_values: Sequence[Any] = (),
    merge_similar: bool = False,
    ordered: bool | None = None,
) -> Annotations | Comparisons:
    r"""Read annotations from a table or an export of an annotation tool.

    Parameters
    ----------
    path
        The file; a folder of files, such as one for each week, read as one; or a table in memory (pandas, polars,
        pyarrow, `datasets.Dataset`).
    format
        ``"label_studio"``, ``"argilla"``, ``"prodigy"``, ``"doccano"``, ``"inspect"``,
        ``"lm_eval"``, ``"promptfoo"``, ``"phoenix"``, ``"langsmith"``, ``"braintrust"``, ``"deepeval"``, ``"preflib"``,
        ``"comparisons"`` (battles of an arena, pairs of MT-Bench, annotations of AlpacaEval, a table of
        left, right and winner), or the layout of a table: ``"long"`` (a row per annotation), ``"wide"`` (a column per
        annotator), ``"counts"`` (a column per label), ``"lists"`` (a list of annotations in a cell), ``"places"``
        (rankings in a row: columns that end in 1, 2, ...). By default the file decides.
    question
        Which question of a file that asks several (control, scorer's key, filter).
    kind
        What the rows are. By default the columns decide: a rank makes rankings, a rating makes ratings, else
        the rows are labels.
    item, annotator, label, rating, rank
        Names of the columns; in an export of Label Studio `item` and `annotator` name fields of a task's data and of
        who completed it. ``annotator=None``: nobody knows who gave which label.
    scale, step
        The scale of ratings, as `Ratings.from_long`; if all ratings are whole numbers, the step is 1 by default.
    labels
        All possible labels in their order.
    duplicates
        As `Labels.from_long`; also for rankings, of which a second one begins where the best rank comes again after
        others. Several choices in one answer are no repeats: they are refused, or all kept.
    na_values
        Labels that stand for no answer, such as ``["n/a"]``; empty cells, NA and NaN of a table in text do unless
        `labels` lists them.
    merge_similar
        Read labels that differ in case, blanks or Unicode form alone as one: the most frequent spelling, or the one
        that `labels` lists; so too annotators, and items that differ in blanks or Unicode form.
    ordered
        Whether labels have an order: that of `labels` or of numbers; as `Labels.from_long`.

    Raises
    ------
    InputError
        A file of no known format, several questions, a project whose annotators were merged, ratings without a scale,
        or annotations that break a rule of their container; the message names the file and the kind.
    FileNotFoundError
        There is no such file.

    Warns
    -----
    UserWarning
        Labels that often stand for no answer or are several in a cell, names that differ in their spelling alone, names
        of summaries such as Total, text that is not UTF-8;
        choices of the reader, such as a column taken for the annotator.

    See Also
    --------
    read_export : all else that the file holds, and what was left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "annotations.csv"
    >>> _ = path.write_text("task,worker,label\n1,a,cat\n1,b,dog\n")
    >>> read_annotations(path, item="task", annotator="worker").labels.tolist()
    ['cat', 'dog']
    """
    export = read_export(**locals())
    if export.notes:
        warn(f"{File(path).name}: {'; '.join(export.notes)}")
    if export.annotations is None:
        raise InputError(
            f"{str(path)!r} ({export.format}) holds no annotations, only outputs of models: read_predictions reads "
            "them, and people's annotations come from another file"
        )
    return export.annotations


def read_export(path: Any, *, format: str | None = None, **options: Any) -> Export:
    r"""Read annotations, predictions and gold from one file of a tool, or a table.

    Parameters
    ----------
    path, format, **options
        As in `read_annotations`.

    Returns
    -------
    Export
        What was read, and in `contents` what was left out and why.

    Raises
    ------
    InputError, FileNotFoundError
        As `read_annotations`.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> def answer(worker, label):
    ...     region = {"from_name": "mood", "type": "choices", "value": {"choices": [label]}}
    ...     return {"completed_by": worker, "was_cancelled": label == "", "result": [region]}
    >>> tasks = [{"id": 1, "data": {}, "annotations": [answer(7, "sad"), answer(8, "glad"), answer(9, "")]}]
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "export.json"
    >>> _ = path.write_text(json.dumps(tasks))
    >>> export = read_export(path)
    >>> export.format, export.annotations.categories.tolist()
    ('label_studio', ['glad', 'sad'])
    >>> export.contents.query("left_out")["what"].tolist()
    ['cancelled annotations']
    """
    columns = Columns(**{name: options.pop(name) for name in Columns._fields if name in options})
    file = File(path, options.get("labels"))
    return export_of(file, columns, Wanted(**options), format, format_of(file, format))


def export_of(file: File, columns: Columns, wanted: Wanted, layout: str | None, known: Format | None) -> Export:
    """Read a file of a known tool; of no tool it is a table in some layout."""
    with naming(file.name, "a table" if known is None else known.title):
        if known is not None:
            file.names = columns
            _require_own_names(columns, known)
            return _export(known.name, known.read(file, wanted.question), wanted, file.name)
        if file.table is None:
            raise InputError(
                f"{file.name} has an unknown format; known are {', '.join(formats())} and tables "
                f"({', '.join(spreadsheet.LAYOUTS)})"
            )
        return _export(*spreadsheet.read(file, columns, wanted, layout), wanted, file.name)


def _require_own_names(columns: Columns, known: Format) -> None:
    """Refuse names of columns where the tool's reader takes none: they would be ignored."""
    for role, name in columns._asdict().items():
        if name != getattr(Columns(), role) and role not in known.names:
            raise InputError(f"{say(role, name)} is not used: the tool itself names the {role}; leave it out")


def _export(name: str, found: Found, wanted: Wanted, source: str) -> Export:
    # Answers of runs are other labels than the verdicts on them.
    annotations = None if wanted.outputs and found.runs else found.annotations(wanted, source)
    if annotations is not None:
        # Answers are those to a question; a table has one.
        asks = bool(found.answers or found.spans)
        _require_used(annotations.kind, wanted._replace(question=None) if asks else wanted)
    _warn_of_names(annotations, wanted, source)
    labels, read, annotated = wanted.labels, {}, ()
    if isinstance(annotations, Labels):
        ours = annotations.categories.tolist()
        if wanted.merge_similar:
            one = spelled_as(ours)
            found.outputs = [(m, i, one(k), s) for m, i, k, s in found.outputs]
        labels = labels or [*ours, *sorted({label for _, _, label, _ in found.outputs} - {*ours}, key=str)]
        stated = wanted.kind is not None or annotations.ordered is not None
        if not stated and len(ours) > 2 and annotations.categories.dtype.kind in "iuf":
            reach = f"the labels are numbers, {min(ours):g} to {max(ours):g}"
            found.notes.append(f"{reach}; if they lie on a scale, name its ends with {say('scale')}")
    if annotations is not None:
        overview = annotations.overview()
        annotated = annotations.items.tolist()
        counted = ("models", "items", "annotations", "comparisons")
        read = {what: number for what in counted if isinstance(number := overview.get(what), int)}
    predictions = None if found.runs and annotations is not None else found.predictions(labels, annotated)
    read |= {} if predictions is None else {"models": predictions.models.size}
    read |= {"items with a gold label": len(found.gold)} if found.gold else {}
    rows = [(*part, away) for parts, away in ((read, False), (+found.left_out, True)) for part in parts.items()]
    contents = pd.DataFrame(rows, columns=["what", "number", "left_out"])
    spans = found.marked(wanted.question)
    return Export(name, annotations, predictions, found.gold, spans, contents, tuple(found.notes))


def _require_used(kind: str, wanted: Wanted) -> None:
    """Refuse another kind than the file holds, and options that would not be used."""
    if wanted.kind not in (None, kind):
        raise InputError(f"it holds {kind}, no {wanted.kind}; leave {say('kind', wanted.kind)} out")
    for name, kinds in OF_KINDS.items():
        value = getattr(wanted, name)
        if value is not Wanted._field_defaults[name] and kind not in kinds:
            raise InputError(f"it holds {kind}, of which {say(name, value)} says nothing; leave it out")


def _warn_of_names(given: Any, wanted: Wanted, name: str) -> None:
    """Point out labels that may be no answer, and names in several spellings; labels that the user listed are right."""
    labels = getattr(given, "models" if isinstance(given, Comparisons) else "categories", None)
    names = [] if labels is None or wanted.labels is not None else labels.tolist()
    if missing := missing_words(names):
        warn(
            f"{name}: {shorten(missing)} may stand for no answer; {say('na_values', missing)} reads such cells as "
            f"missing, and {say('labels')} with all labels keeps them"
        )
    parts = {label: re.split(r"\s*[;|,]\s*", str(label)) for label in names}
    times = Counter(part for label in parts.values() for part in label)
    several = {one for one, of in parts.items() if len(of) > 1 and all(times[part] > 1 for part in of)}
    if joined := [one for one in names if one in several or str(one).startswith(("{", "["))]:
        warn(
            f"{name}: {shorten(joined)} are labels of their own, though they may be several in a cell; if so, write a "
            f"row for each, with {say('duplicates', 'keep')}, else list {say('labels')}"
        )
    for role, key in (("labels", spelling_key), ("annotators", person_key), ("items", name_key)):
        known = names if role == "labels" else getattr(given, role, np.empty(0)).tolist()
        warn_of_gold(known, role.removesuffix("s"), name)
        if groups := similar(known, key):
            warn(
                f"{name}: {role} {shorten(groups[0])} differ in case, blanks or Unicode form alone ({len(groups)} such "
                f"groups in all); {say('merge_similar', True)} reads them as one"
            )
