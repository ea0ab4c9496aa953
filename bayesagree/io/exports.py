"""Exports of annotation and evaluation tools, with all that they hold beside the annotations."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from bayesagree.annotations import Annotations, Annotators, Comparisons, Labels, Rankings
from bayesagree.annotations._columns import Duplicates, names_array
from bayesagree.annotations._words import missing_words, name_key, similar, spelling_key
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, say, shorten, warn
from bayesagree.io.formats import spreadsheet
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found, Kind, Wanted, naming
from bayesagree.io.formats._guess import Columns
from bayesagree.io.formats.registry import Format, format_of, formats


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
    annotators
        Features of the annotators, None where there are none.
    system
        System whose output an item is, by item (logs of evaluations).
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
    annotators: Annotators | None
    system: dict[Any, str]
    spans: pd.DataFrame | None
    contents: pd.DataFrame
    notes: tuple[str, ...]

    def sentences(self) -> list[str]:
        """Return the choices of the reader, and what it left out, in words."""
        left_out = self.contents.loc[self.contents["left_out"], ["what", "number"]]
        return [*self.notes, *(f"left out {number} {what}" for what, number in left_out.itertuples(index=False))]


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
    labels: Sequence[Any] | int | None = None,
    duplicates: Duplicates = "error",
    na_values: Sequence[Any] = (),
    merge_similar: bool = False,
    ordered: bool | None = None,
) -> Annotations | Comparisons:
    r"""Read annotations from a table or an export of an annotation tool, or rankings from nested blocks (.json).

    Parameters
    ----------
    path
        The file; or a table in memory (pandas, polars, pyarrow, `datasets.Dataset`). Nested blocks are JSON with
        ``cases[item][annotator]`` = list of blocks, a block = list of tied labels, best first; or an object with
        ``cases`` and, where known, ``labels`` and ``items``.
    format
        ``"label_studio"``, ``"argilla"``, ``"prodigy"``, ``"doccano"``, ``"cvat"``, ``"conll"``, ``"inspect"``,
        ``"lm_eval"``, ``"promptfoo"``, ``"phoenix"``, ``"langsmith"``, ``"braintrust"``, ``"deepeval"``, ``"preflib"``,
        ``"snorkel"``, ``"comparisons"`` (battles of an arena, pairs of MT-Bench, annotations of AlpacaEval, a table of
        left, right and winner), or the layout of a table: ``"long"`` (a row per annotation), ``"wide"`` (a column per
        annotator), ``"counts"`` (a column per label), ``"lists"`` (a list of annotations in a cell), ``"places"``
        (rankings in a row: columns that end in 1, 2, ...). By default the file decides.
    question
        Which question of a file that asks several (control, scorer's key, filter).
    kind
        What the rows are. By default the columns decide: a rank makes rankings, a rating makes ratings, else
        the rows are labels. ``"comparisons"``: the pairs of each ranking.
    item, annotator, label, rating, rank
        Names of the columns; in an export of Label Studio `item` and `annotator` name fields of a task's data and of
        who completed it. ``annotator=None``: nobody knows who gave which label.
    scale, step
        The scale of ratings, as `Ratings.from_long`; if all ratings are whole numbers, the step is 1 by default.
    labels
        All possible labels in their order; for blocks that hold ids 0, 1, ... also their number. Blocks of ids
        take the names at these positions.
    duplicates
        As `Labels.from_long`; also for rankings, of which a second one begins where the best rank comes again after
        others. Several choices in one answer are no repeats: they are refused, or all kept.
    na_values
        Labels that stand for no answer, such as ``["n/a"]``.
    merge_similar
        Read labels that differ in case, blanks or Unicode form alone as one: the most frequent spelling, or the one
        that `labels` lists; so too items and annotators that differ in blanks or Unicode form.
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
        Labels that often stand for no answer, names that differ in their spelling alone, text that is not UTF-8;
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
    r"""Read annotations, predictions, gold and features of annotators from one file of a tool, or a table.

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
    file = File(path)
    return export_of(file, columns, Wanted(**options), format, format_of(file, format))


def export_of(file: File, columns: Columns, wanted: Wanted, layout: str | None, known: Format | None) -> Export:
    """Read a file of a known tool; of no tool it is a table in some layout, or nested blocks."""
    what = "a table" if known is None else known.title
    with naming(file.name, what):
        if known is not None:
            file.names = columns
            _require_own_names(columns, known)
            return _export(known.name, known.read(file, wanted.question), wanted, file)
        if file.json is not None and layout is None:
            return _export("blocks", Found(container=_blocks(file, wanted)), wanted, file)
        if file.table is None:
            raise InputError(
                f"{file.name} has an unknown format; known are {', '.join(formats())} and tables "
                f"({', '.join(spreadsheet.LAYOUTS)})"
            )
        found = spreadsheet.read(file, columns, wanted, layout)
        return _export(found.layout, found, wanted, file)


def _require_own_names(columns: Columns, known: Format) -> None:
    """Refuse names of columns where the tool's reader takes none: they would be ignored."""
    for role, name in columns._asdict().items():
        if name != getattr(Columns(), role) and role not in known.names:
            raise InputError(f"{say(role, name)} is not used: the tool itself names the {role}; leave it out")


def _export(name: str, found: Found, wanted: Wanted, file: File) -> Export:
    # Answers of runs are other labels than the verdicts on them.
    annotations = None if wanted.outputs and found.runs else found.annotations(wanted, file.name)
    if wanted.kind == "comparisons" and isinstance(annotations, Rankings):
        annotations = Comparisons.from_rankings(annotations)
    _warn_of_names(annotations, wanted, file.name)
    labels = wanted.labels
    if isinstance(annotations, Labels) and found.outputs:
        ours = annotations.categories.tolist()
        if wanted.merge_similar:
            known = {spelling_key(str(label)): label for label in ours}
            found.outputs = [
                (m, i, known.get(spelling_key(str(k)), k), score) for m, i, k, score in found.outputs
            ]
        labels = labels or [*ours, *sorted({label for _, _, label, _ in found.outputs} - {*ours}, key=str)]
    compared = isinstance(annotations, Comparisons)
    annotated = () if compared or annotations is None else annotations.items.tolist()
    predictions = None if found.runs and annotations is not None else found.predictions(labels, annotated)
    counted = ("models", "comparisons") if compared else ("items", "annotations")
    read = {} if annotations is None else {what: annotations.overview()[what] for what in counted}
    read |= {} if predictions is None else {"models": predictions.models.size}
    read |= {"items with a gold label": len(found.gold)} if found.gold else {}
    if isinstance(annotations, Labels) and wanted.kind is None and _graded(annotations):
        ends = annotations.categories.min().item(), annotations.categories.max().item()
        found.notes.append(
            f"the labels are numbers; if they lie on a scale, read them with {say('scale', ends)}"
        )
    rows = [
        (what, n, away) for part, away in ((read, False), (+found.left_out, True)) for what, n in part.items()
    ]
    contents = pd.DataFrame(rows, columns=["what", "number", "left_out"])
    people, spans, notes = found.annotators(), found.marked(wanted.question), tuple(found.notes)
    return Export(name, annotations, predictions, found.gold, people, found.system, spans, contents, notes)


def _warn_of_names(given: Any, wanted: Wanted, name: str) -> None:
    """Point out labels that may be no answer, and names in several spellings; labels that the user listed are right."""
    labels = getattr(given, "models" if isinstance(given, Comparisons) else "categories", None)
    names = [] if labels is None or wanted.labels is not None else labels.tolist()
    if missing := missing_words(names):
        warn(
            f"{name}: {shorten(missing)} may stand for no answer; {say('na_values', missing)} reads such cells as "
            f"missing, and {say('labels')} with all labels keeps them"
        )
    roles = [("labels", names, spelling_key)]
    roles += [(role, getattr(given, role, np.empty(0)).tolist(), name_key) for role in ("annotators", "items")]
    for role, known, key in roles:
        if groups := similar(known, key):
            warn(
                f"{name}: {role} {shorten(groups[0])} differ in case, blanks or Unicode form alone ({len(groups)} such "
                f"groups in all); {say('merge_similar', True)} reads them as one"
            )


def _graded(labels: Labels) -> bool:
    """Return whether labels look like grades: three or more numbers whose order is not stated."""
    return labels.ordered is None and labels.categories.dtype.kind in "iuf" and labels.categories.size > 2


def _blocks(file: File, wanted: Wanted) -> Rankings:
    with naming(file.name, "rankings (nested blocks)"):
        if wanted.kind not in (None, "rankings", "comparisons"):
            raise InputError(
                f"{say('kind', wanted.kind)}: a .json file holds rankings; tables end in .csv, .tsv, .parquet or .jsonl"
            )
        content = {"cases": file.json} if isinstance(file.json, list) else file.json
        if "cases" not in content:
            raise InputError(
                "expected a list of cases or an object with 'cases' (nested blocks), or the export of a tool"
            )
        cases, known = content["cases"], wanted.labels or content.get("labels")
        if known is None:
            raise InputError(
                f"the labels are not known; pass {say('labels')}, or their number for ids 0, 1, ..."
            )
        names, size = None, known
        if not isinstance(known, int) and not any(isinstance(name, int) for name in known):
            used = {type(one) for case in cases for ranking in case for block in ranking for one in block}
            names, size = (known, len(known)) if used == {int} else (None, known)
        made = Rankings.from_blocks(cases, labels=size, items=content.get("items"))
        return made if names is None else replace(made, categories=names_array(names, "label"))
