"""Predictions in: tables, whose columns and cells tell the layout, and exports of tools."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from bayesagree.annotations._columns import coded, column
from bayesagree.annotations._words import named_columns
from bayesagree.annotations.predictions import Predictions
from bayesagree.annotations.ratings import THRESHOLD_LABELS
from bayesagree.annotations.runs import NAMES, Runs, one_row_a_run
from bayesagree.errors import InputError, say, shorten, warn
from bayesagree.io.exports import export_of
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Wanted, naming, spelled_as
from bayesagree.io.formats._guess import Columns, is_number, nested, only_key, warn_of_gold
from bayesagree.io.formats.registry import format_of
from bayesagree.io.tables import read_table

ROLES = ("model", "item", "label", "score")
# What a table holds.
LONG = "scores, one a row"
LABELS = "hard labels"
NUMBERS = "numbers"
SCORES = "scores"
POSITIVE = "probabilities of the positive label"


def read_predictions(
    path: Any,
    *,
    format: str | None = None,
    question: str | None = None,
    model: str = "model",
    item: str = "item",
    label: str = "label",
    score: str = "score",
    run: str | None = None,
    labels: Sequence[Any] | None = None,
    probabilities: bool = False,
    numbers: bool = False,
) -> Predictions:
    r"""Read predictions from a table, whose columns tell its layout, or from an export of a tool.

    ==========================  ================================================
    columns                     one row is
    ==========================  ================================================
    model, item, label, score   one score
    model, item, label          one hard label
    model, item, and one        the probability of one of two labels: that of its name, or the last, positive one
    model, item, and others     all scores of an item: one column for each label
    item, and others            all hard labels of an item: one column for each model
    item, and probabilities     those of the labels, if they sum to one (of the model "model"), else one probability of
                                the last, positive of two labels for each model
    item, ``A_no A_yes B_no``   and ``B_yes``: those of the labels of each model, if they sum to one
    ==========================  ================================================

    Without a column of items the rows are the items 0, 1, ... A list in the cell of a label or score holds the answers
    of several runs. In .json such rows are objects, or the labels are ``{model: {item: label}}``. The log of Inspect
    has the answers that its first scorer kept, with epochs as runs.

    Parameters
    ----------
    path
        As in `read_annotations`.
    format, question
        As in `read_annotations`, for exports that hold outputs of models.
    model, item, label, score
        Names of the columns.
    run
        Column of the runs of models that answered an item several times; None finds it, as `Predictions.from_long`.
    labels
        All possible labels in their order. In the wide layout: the columns to read, by default all others.
    probabilities
        Declare the scores to be probabilities: they must then sum to one.
    numbers
        Read numbers in the units of ratings, unless the table has labels: one column of them, or several, which are
        samples of a predictive distribution, or its quantiles where their names are levels such as 0.05. Without a
        column of models each column is a model.

    Raises
    ------
    InputError
        A file that cannot be read or breaks a rule of `Predictions`; the message names the file and the layout.
    FileNotFoundError
        There is no such file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "predictions.csv"
    >>> _ = path.write_text("model,item,cat,dog\nA,1,0.7,0.3\nA,2,0.1,0.9\n")
    >>> read_predictions(path).hard_labels().tolist()
    [[0, 1]]
    """
    return read_outputs(**locals())


def read_outputs(
    path: Any,
    *,
    format: str | None = None,
    question: str | None = None,
    run: str | None = None,
    labels: Sequence[Any] | None = None,
    two: Sequence[Any] | None = None,
    probabilities: bool = False,
    numbers: bool = False,
    spelled: Sequence[Any] = (),
    **names: str,
) -> Predictions:
    """Read predictions as `read_predictions`; `two` names the labels of one probability per item.

    Labels that differ from one of `spelled` in case, blanks or Unicode form alone are that one.
    """
    file = File(path, labels or two)
    known = format_of(file, format)
    if format is not None or known is not None:
        wanted = Wanted(question, labels=labels, duplicates="keep", outputs=True)
        found = export_of(file, Columns(), wanted, format, known).predictions
        if found is None:
            raise InputError(f"{file.name} holds no outputs of models")
        return found
    table = read_table(path) if file.table is None else file.table  # an unknown ending names the known ones
    table = _named_by_role(table.set_axis([str(name) for name in table.columns], axis=1), **names)
    if len(spelled):
        table = _spelled_as(table, spelled)
    with naming(file.name, "predictions"):
        table, run = _one_answer_a_row(table, run)
        columns = {name.lower() for name in table.columns}
        # Another column may name the models: then the refusal asks for its name.
        one_model = run is not None or columns & {*NAMES} or columns <= {*ROLES}
        if one_model and "model" not in table.columns and "label" in table.columns:
            table = table.assign(model="model")
        table, runs = one_row_a_run(table, run, "model", "item", ROLES)
    known_labels = [*map(str, labels or two or ())]
    table = _with_other_label(_columns_of_models(table), known_labels)
    table, what, by_model = _layout(table, labels, known_labels, numbers)
    apart = ", one column a model" if by_model else ", one column a label" if what == SCORES else ""
    with naming(file.name, what + apart):
        if by_model or what not in (LONG, LABELS):
            found = _read_wide(table, what, by_model, labels, labels or two, probabilities)
        else:
            _require_labels(table)
            score = "score" if what == LONG else None
            found = Predictions.from_long(table, score=score, labels=labels, probabilities=probabilities)
    warn_of_gold(found.models, "model", file.name)
    return found if runs is None else replace(found, runs=Runs.of(found.models, runs))


def _named_by_role(table: pd.DataFrame, **names: str) -> pd.DataFrame:
    """Return a table whose columns of model, item, label and score have these names.

    A name that the table lacks is that of the only column that fits, by its name or by its cells; without a column for
    any of the first three the rows are the items.
    """
    model, item, label, score = (names.get(role, role) for role in ROLES)
    model, item = named_columns(table.columns, model=model, item=item)
    if not {model, label, item} & {*table.columns}:
        item = only_key(table) or item
    others = [name for name in table.columns if name not in (model, item, score)]
    if len(others) == 1 and {model, item} <= {*table.columns} and not is_number(table[others]):
        label = others[0]
    found = dict(zip((model, item, label, score), ROLES))
    others = [role for name, role in found.items() if name != role and name in table.columns]
    table = table.drop(columns=others, errors="ignore").rename(columns=found)
    return table if {*ROLES[:3]} & {*table.columns} else table.assign(item=range(len(table)))


def _spelled_as(table: pd.DataFrame, labels: Sequence[Any]) -> pd.DataFrame:
    """Return a table in which labels, in cells and as names of columns, are spelled as these."""
    one = spelled_as(labels)
    columns = pd.Index([name if name in ROLES else one(name) for name in table.columns])
    if (twice := columns[columns.duplicated()]).size:
        raise InputError(f"{twice.size + 1} columns are spellings of {twice[0]!r}; leave one of them")
    table = table.set_axis(columns, axis=1)
    texts = [name for name in columns if name not in ("model", "item") and table[name].dtype.kind not in "biuf"]
    return table.assign(**{name: table[name].map(one, na_action="ignore") for name in texts})


def _one_answer_a_row(table: pd.DataFrame, run: str | None) -> tuple[pd.DataFrame, str | None]:
    """Return a table without lists of answers, whose places in the list are the runs, and the column of runs."""
    listed = [name for name in ("label", "score") if name in table.columns and nested(table[name])]
    if not listed or run is not None or "run" in table.columns:
        return table, run
    table = table.reset_index(drop=True)
    cells = table[listed[0]].dropna()
    if isinstance(cells.iloc[0], dict):  # a score for each label
        return table.drop(columns=listed).join(pd.DataFrame([*cells], cells.index)), run
    table = table.explode(listed)
    return table.assign(run=table.groupby(level=0).cumcount()).infer_objects(), "run"


def _columns_of_models(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with one row a model and item, where columns are "model_label" and those of a model sum to one."""
    others = [name for name in table.columns if name not in ("model", "item")]
    split = [name.rpartition("_") for name in others]
    models, labels = ([*dict.fromkeys(part[at] for part in split)] for at in (0, 2))
    product = min(len(models), len(labels)) > 1 and len(models) * len(labels) == len(others)
    if not product or "model" in table.columns or "item" not in table.columns or not is_number(table[others]):
        return table
    parts = [table[[f"{m}_{k}" for k in labels]].set_axis(labels, axis=1).assign(model=m) for m in models]
    long = pd.concat([part.assign(item=table["item"]) for part in parts], ignore_index=True)
    sums = long[labels].sum(axis=1, min_count=1).dropna()
    return long if np.allclose(sums, 1, atol=1e-3) else table


def _with_other_label(table: pd.DataFrame, labels: list[str]) -> pd.DataFrame:
    """Return a table with a column for each of two labels, where it has the probability of one of them."""
    others = [name for name in table.columns if name not in ("model", "item")]
    if len(labels) != 2 or len(others) != 1 or others[0] not in labels or not is_number(table[others]):
        return table
    (other,), chance = {*labels} - {*others}, table[others[0]]
    return table.assign(**{other: 1 - chance}) if chance.dropna().between(0, 1).all() else table


def _layout(
    table: pd.DataFrame, labels: Sequence[Any] | None, names: list[str], numbers: bool
) -> tuple[pd.DataFrame, str, bool]:
    """Return a table, what its cells hold, and whether its columns are models."""
    if "label" in table.columns:
        return table, LONG if "score" in table.columns else LABELS, False
    others = [name for name in table.columns if name not in ("model", "item")]
    cells = table[others]
    by_model = "model" not in table.columns and bool(others)
    if numbers and not {*others} & {*THRESHOLD_LABELS}:
        return table, NUMBERS, by_model
    if by_model and len(others) > 1 and is_number(cells) and {*others} <= {*names}:
        return table.assign(model="model"), SCORES, False
    if by_model and labels is None and _hold_labels(cells):
        return table, LABELS, True
    values = cells.dropna().to_numpy(float) if by_model and is_number(cells) else np.empty((0, 0))
    if (values % 1 != 0).any():
        if len(others) > 1 and np.allclose(values.sum(axis=1), 1, atol=1e-3):
            return table.assign(model="model"), SCORES, False
        if ((values >= 0) & (values <= 1)).all():
            return table, POSITIVE, True
    if len(others) == 1 and is_number(cells) and not {*others} & {*names}:
        return table.rename(columns={others[0]: "score"}), POSITIVE, False
    return table, SCORES, False


def _hold_labels(cells: Any) -> bool:
    """Return whether cells are labels, words or whole numbers, and not the scores of one model."""
    if not is_number(cells):
        return True
    values = cells.to_numpy(float)
    return bool((np.nan_to_num(values) % 1 == 0).all() and (np.nansum(values, axis=1) != 1).any())


def _require_labels(table: Any) -> None:
    """Refuse models without a label: where they have columns of scores, all their labels would count as wrong."""
    labelled = table["label"].notna().groupby(column(table, "model", "model"), sort=False).any()
    if not labelled.all():
        raise InputError(
            f"model {labelled.idxmin()!r} has no label; hard labels and columns of scores are two tables: "
            "read each alone"
        )


def _read_wide(
    table: pd.DataFrame, what: str, by_model: bool, labels: Any, two: Any, probabilities: bool
) -> Predictions:
    """Read a table whose columns are models, or the labels of a model in a row; `two` are those of a probability."""
    for role in ("item",) if by_model else ("model", "item"):
        coded(table, role, role)  # refuses rows without it
    if by_model:
        given: dict[Any, Any] = dict(table.set_index("item").items())
    else:
        given = _by_model(table, None if what == NUMBERS else ["score"] if what == POSITIVE else labels)
    if what == LABELS:
        _require_shared(given)
        return Predictions.from_labels(given, labels=labels)
    if what == NUMBERS:
        levels: Any = [] if by_model else pd.to_numeric(next(iter(given.values())).columns, errors="coerce")
        if len(levels) and ((levels > 0) & (levels < 1)).all():  # names of quantiles
            given = {model: rows.set_axis(levels, axis=1) for model, rows in given.items()}
        return Predictions.from_numbers(given)
    if what == POSITIVE:
        given = given if by_model else {name: rows["score"] for name, rows in given.items()}
        if two and not labels:
            warn(f"pass labels in their order; numbers are read as probabilities of the last, {two[-1]!r}")
        return Predictions.from_scores(given, labels=two, probabilities=probabilities)
    if all(rows.index.is_unique for rows in given.values()):
        known = list(dict.fromkeys(item for rows in given.values() for item in rows.index))
        given = {model: rows.reindex(known) for model, rows in given.items()}
    return Predictions.from_scores(given, probabilities=probabilities)


def _require_shared(models: dict[Any, Any]) -> None:
    """Refuse a column that has no value in common with the others: it is no model."""
    values = {name: set(cells.dropna()) for name, cells in models.items()}
    for name, own in values.items():
        others = [other for other in values if other != name]
        if others and all(own.isdisjoint(values[other]) for other in others):
            raise InputError(
                f"column {name!r} shares no value with {shorten(others)}: drop it if it is no model, or name the "
                f"column of the models with {say('model')}"
            )


def _by_model(table: pd.DataFrame, labels: Sequence[Any] | None) -> dict[str, pd.DataFrame]:
    """Return the columns of some labels, by default all, of each model by its items."""
    read = [c for c in table.columns if c not in ("model", "item")] if labels is None else [*map(str, labels)]
    absent = [c for c in read if c not in table.columns]
    if absent or not read:
        raise InputError(
            f"no column for the labels {shorten(absent) if absent else '(there are none)'}; "
            f"the table has {shorten(table.columns, 20)}"
        )
    names: list[Any] = read if labels is None else list(labels)
    if labels is None and all(c.isdecimal() for c in read):
        names = [int(c) for c in read]
    by_model = table.set_index("item").groupby("model")
    return {str(m): pd.DataFrame(rows[read]).set_axis(names, axis=1) for m, rows in by_model}
