"""Labels of systems, of a crowd and of an expert from files, for a blind experiment of one's own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from bayesagree.annotations import Labels
from bayesagree.errors import InputError
from bayesagree.io.files import read_predictions, read_table
from bayesagree.studies.blind_cases import BlindCase


def read_blind_case(
    systems: str | Path,
    crowd: str | Path | None = None,
    gold: str | Path | None = None,
    *,
    model: str = "model",
    item: str = "item",
    annotator: str = "annotator",
    label: str = "label",
    labels: Sequence[Any] | None = None,
    duplicates: Literal["error", "keep", "first", "last"] = "error",
) -> BlindCase:
    """Read the data of a blind experiment.

    Parameters
    ----------
    systems, crowd, gold
        Tables in any format of `read_table`: labels of the systems, labels of the crowd, gold labels.
    model, item, annotator, label
        Names of their columns. A crowd without the column of the annotator has one label an item.
    labels
        All categories; by default all labels of the files.
    duplicates
        As in `Labels.from_long`, for the crowd.

    Returns
    -------
    BlindCase
        Predictions, and crowd and gold labels where there are files of them.

    Raises
    ------
    InputError
        Gold without these columns, or with two labels for an item; whatever the readers refuse.
    """
    tables = {path: read_table(path) for path in (systems, crowd, gold) if path is not None}
    names = labels
    if names is None and label in tables[systems].columns:
        found = {v for t in tables.values() if label in t.columns for v in t[label].dropna().tolist()}
        names = sorted(found, key=lambda v: (isinstance(v, str), v))
    predictions = read_predictions(systems, model=model, item=item, label=label, labels=names)
    voted = None
    if crowd is not None:
        table = tables[crowd]
        if annotator not in table.columns:  # one label an item: no need of a name
            table = table.assign(**{annotator: "crowd"})
        known = predictions.categories.tolist()
        columns = {"item": item, "annotator": annotator, "label": label}
        voted = Labels.from_long(table, **columns, labels=known, duplicates=duplicates)
    return BlindCase(predictions, voted, None if gold is None else _gold(tables[gold], item, label, gold))


def _gold(table: pd.DataFrame, item: str, label: str, path: str | Path) -> dict[Any, Any]:
    """Return item to label."""
    for name in (item, label):
        if name not in table.columns:
            raise InputError(f"{str(path)!r} has no column {name!r}; it has {', '.join(map(str, table.columns))}")
    items = table[item].tolist()
    truth = dict(zip(items, table[label].tolist()))
    if len(truth) < len(items):
        twice = next(name for name in truth if items.count(name) > 1)
        raise InputError(f"{str(path)!r}: item {twice!r} has more than one row; gold is one label per item")
    return truth
