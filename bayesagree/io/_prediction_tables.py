"""Layouts of tables of predictions, recognized by the columns that a table has and what stands in them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from bayesagree.annotations._words import named_columns
from bayesagree.annotations.predictions import Predictions
from bayesagree.annotations.ratings import THRESHOLD_LABELS
from bayesagree.annotations.runs import may_be_runs, with_runs
from bayesagree.errors import InputError, say, shorten
from bayesagree.io.formats._guess import is_number, nested, only_key

ROLES = ("model", "item", "label", "score")


def named_by_role(table: pd.DataFrame, **names: str) -> pd.DataFrame:
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


def one_answer_a_row(table: pd.DataFrame, run: str | None) -> tuple[pd.DataFrame, str | None]:
    """Return a table without lists of answers, whose places in the list are the runs, and the column of runs."""
    listed = [name for name in ("label", "score") if name in table.columns and nested(table[name])]
    if not listed or run is not None or "run" in table.columns:
        return table, run
    table = table.reset_index(drop=True).explode(listed)
    return table.assign(run=table.groupby(level=0).cumcount()).infer_objects(), "run"


def one_row_a_run(table: pd.DataFrame, run: str | None) -> tuple[pd.DataFrame, Any]:
    """Return a table whose models are runs, without its column of runs, and the model and run of each; or as it is."""
    if run is not None and run not in table.columns:
        raise InputError(f"no column {run!r} for the run; the table has {shorten(table.columns, 20)}")
    others = may_be_runs(table.columns, ROLES)
    if run is None and (not others or "item" not in table.columns):
        return table, None
    if "model" not in table.columns and "label" in table.columns:
        table = table.assign(model="model")
    if run is not None and not {"model", "item"} <= {*table.columns}:
        raise InputError(
            "runs are read with one row for each model, item and run; name the columns model= and item="
        )
    found = with_runs(table, run, others) if "model" in table.columns else None
    if found is None:
        return table, None
    rows, known = found
    return table.assign(model=rows).drop(
        columns=[name for name in (run, *others) if name in table.columns]
    ), known


def layout(table: pd.DataFrame, labels: Sequence[Any] | None, numbers: bool) -> str:
    """Return the layout of a table, a key of `READERS`."""
    if "label" in table.columns:
        return "scores, one a row" if "score" in table.columns else "hard labels"
    others = [name for name in table.columns if name not in ("model", "item")]
    has_models = "model" in table.columns or "item" not in table.columns or not others
    if numbers and not {*others} & {*THRESHOLD_LABELS}:
        return "numbers" if has_models else "numbers, one column a model"
    if not has_models and labels is None and _hold_labels(table[others]):
        return "hard labels, one column a model"
    values = table[others].to_numpy(float) if not has_models and is_number(table[others]) else np.empty((0, 0))
    values = values[~np.isnan(values).any(axis=1)]
    if (values % 1 != 0).any():
        if {*map(str, labels or ())} >= {*others} or (
            len(others) > 1 and np.allclose(values.sum(axis=1), 1, atol=1e-3)
        ):
            return "scores of one model, one column a label"
        if ((values >= 0) & (values <= 1)).all():
            return "probabilities of the positive label, one column a model"
    if others == ["score"] and (labels is None or list(labels) != others):
        return "probabilities of the positive label"
    return "scores, one column a label"


def _hold_labels(cells: Any) -> bool:
    """Return whether cells are labels, words or whole numbers, and not the scores of one model."""
    if not is_number(cells):
        return True
    values = cells.to_numpy(float)
    return bool((np.nan_to_num(values) % 1 == 0).all() and (np.nansum(values, axis=1) != 1).any())


def _labels_by_row(table: Any, labels: Any, *_: Any) -> Predictions:
    """Hard labels; where only some models have them, the others have columns of scores and would count as wrong."""
    if "model" in table.columns:
        labelled = table["label"].notna().groupby(table["model"], sort=False).any()
        if not labelled.all():
            raise InputError(
                f"model {labelled.idxmin()!r} has no label; hard labels and columns of scores are two tables: read "
                "each alone"
            )
    return Predictions.from_long(table, labels=labels)


def _labels_by_model(table: pd.DataFrame, labels: Any, _: bool) -> Predictions:
    models = _by_model(table)
    values = {name: set(cells.dropna()) for name, cells in models.items()}
    for name, own in values.items():
        others = [other for other in values if other != name]
        if others and all(own.isdisjoint(values[other]) for other in others):
            raise InputError(
                f"column {name!r} shares no value with {shorten(others)}: drop it if it is no model, or name the "
                f"column of the models with {say('model')}"
            )
    return Predictions.from_labels(models, labels=labels)


def _by_model(table: pd.DataFrame) -> dict[Any, Any]:
    """Columns of a table with a row per item, by its items."""
    _require_names(table, "item")
    return dict(table.set_index("item").items())


def _numbers(table: pd.DataFrame, *_: Any) -> Predictions:
    """Numbers, whose columns are levels of quantiles where all of their names are numbers between 0 and 1."""
    tables = _wide_scores(table, None)
    levels: Any = pd.to_numeric(next(iter(tables.values())).columns, errors="coerce")
    if ((levels > 0) & (levels < 1)).all():
        tables = {model: rows.set_axis(levels, axis=1) for model, rows in tables.items()}
    return Predictions.from_numbers(tables)


def _positive(table: pd.DataFrame, labels: Any, probabilities: bool) -> Predictions:
    given = {name: scores["score"] for name, scores in _wide_scores(table, ["score"]).items()}
    return Predictions.from_scores(given, labels=labels, probabilities=probabilities)


def _scores_by_label(table: pd.DataFrame, labels: Any, probabilities: bool) -> Predictions:
    tables = _wide_scores(table, labels)
    if all(rows.index.is_unique for rows in tables.values()):
        known = list(dict.fromkeys(item for rows in tables.values() for item in rows.index))
        tables = {model: rows.reindex(known) for model, rows in tables.items()}
    return Predictions.from_scores(tables, probabilities=probabilities)


def _wide_scores(table: pd.DataFrame, labels: Sequence[Any] | None) -> dict[str, pd.DataFrame]:
    for role in ("model", "item"):
        _require_names(table, role)
    read = (
        [c for c in table.columns if c not in ("model", "item")] if labels is None else [str(k) for k in labels]
    )
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


def _require_names(table: pd.DataFrame, role: str) -> None:
    """Refuse a table without this column, or with a row that it does not name."""
    if role not in table.columns:
        raise InputError(
            f"no column {role!r} for the {role}; the table has {shorten(table.columns, 20)}: "
            f"name the right one with {role}=..."
        )
    if nested(table[role]):
        raise InputError(f"the column of the {role} holds lists or objects; the {role} is a name")
    missing = pd.isna(table[role].to_numpy())
    if missing.any():
        raise InputError(f"row {int(missing.argmax())}: the {role} is missing; every row needs one")


READERS: dict[str, Callable[[pd.DataFrame, Any, bool], Predictions]] = {
    "scores, one a row": lambda table, labels, probabilities: Predictions.from_long(
        table, score="score", labels=labels, probabilities=probabilities
    ),
    "hard labels": _labels_by_row,
    "hard labels, one column a model": _labels_by_model,
    "numbers": _numbers,
    "numbers, one column a model": lambda table, *_: Predictions.from_numbers(_by_model(table)),
    "probabilities of the positive label": _positive,
    "probabilities of the positive label, one column a model": lambda table, labels, probabilities: (
        Predictions.from_scores(_by_model(table), labels=labels, probabilities=probabilities)
    ),
    "scores of one model, one column a label": lambda table, *how: _scores_by_label(
        table.assign(model="model"), *how
    ),
    "scores, one column a label": _scores_by_label,
}
# Layouts of one probability per item, that of the last of two labels.
OF_TWO = tuple(name for name in READERS if name.startswith("probabilities of the positive label"))
