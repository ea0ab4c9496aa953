"""Tables that people have: one row per annotation, one column per annotator, counts per label, a list in a cell.

Columns of other names than ours are guessed where exactly one fits, and the notes name the guess.
"""

import json
import re
from typing import Any

import numpy as np
import pandas as pd

from bayesagree.annotations import Annotations, Labels, Ratings
from bayesagree.annotations._columns import names_array
from bayesagree.annotations._words import guessed_columns, plain
from bayesagree.errors import InputError, one_of, refuse, say, shorten
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import LISTS, Found, Kind, Wanted, in_levels, naming
from bayesagree.io.formats._guess import Columns, is_number, only_key, vocabulary

LABEL_LISTS = {"annotations", "labels", "label", "votes", "ratings", "answers"}
ANNOTATOR_LISTS = {"annotators", "annotator_ids", "annotator_id", "workers", "worker_ids", "annotator"}
# Columns that tell how many gave a label.
COUNTS = {"count", "counts", "votes", "nvotes", "n"}
# As in Excel; what columns hold is looked up cell by cell, which takes seconds for more.
MOST_COLUMNS = 2**14
LAYOUTS = ("long", "wide", "counts", "lists", "places")
# Between tied labels in a cell of a place.
TIED = " / "


def read(file: File, columns: Columns, wanted: Wanted, layout: str | None) -> tuple[str, Found]:
    """Read a table in one of the layouts, and return which."""
    found, table = Found(), pd.DataFrame(file.table)
    if table.shape[1] > MOST_COLUMNS:
        raise InputError(
            f"{file.name} has {table.shape[1]} columns, more than {MOST_COLUMNS}; write one row per annotation, with "
            "columns item, annotator and label (or rating)"
        )
    table = table.set_axis([str(name) for name in table.columns], axis=1)
    columns = Columns(*guessed_columns(table.columns, found.notes.append, **columns._asdict()))
    has = f"{file.name} has the columns {shorten(table.columns, 20)}"
    if strange := [name for name in (columns.item, *columns[3:]) if name not in {*Columns(), *table.columns}]:
        raise InputError(f"{has}, and no column {strange[0]!r}")
    if wanted.kind is None and wanted.scale and columns.rating not in table and columns.label in table:
        columns = columns._replace(rating=columns.label)
        found.notes.append(f"column {columns.label!r} is taken for the rating, since a scale is given")
    layout = layout or _layout(has, table, columns, wanted)
    if layout != "long" and columns.item not in table.columns and (key := only_key(table)) is not None:
        columns = columns._replace(item=key)
        found.notes.append(f"column {key!r} is taken for the item: it names every row once")
    if layout == "long":
        wanted = wanted._replace(kind=_kind_of(has, table, columns, wanted))
    with naming(file.name, str(wanted.kind) if layout == "long" else layout):
        found.container = _LAYOUTS[layout](table, columns, wanted, found)
    return layout, found


def _layout(has: str, table: Any, columns: Columns, wanted: Wanted) -> str:
    """Return the layout of a table; refuse one whose cells may be counts or labels by one annotator a column."""
    names = set(table.columns)
    if columns.annotator in names and not names & set(columns[2:]) and _places(table):
        return "places"
    one_a_row = columns.annotator in names and not _holds_lists(table[columns.annotator])
    if not one_a_row and _list_column(table, columns) is not None:
        return "lists"
    if names & set(columns[1:]) or len((cells := _cells(table, columns)).columns) < 2:
        return "long"
    if is_number(cells) and wanted.scale is None and wanted.kind != "ratings":
        raise InputError(
            f"{has}, and all of {shorten(cells.columns)} are numbers: pass {say('format', 'counts')} if they are "
            f"labels and the cells counts, {say('format', 'wide')} if they are annotators and the cells labels (with "
            f"{say('scale')}: ratings); in a table with one row per annotation name the column with {say('label')} or "
            f"{say('rating')}"
        )
    return "wide"


def _long(table: Any, columns: Columns, wanted: Wanted, found: Found) -> Annotations:
    kind = one_of(wanted.kind or "labels", "kind", ("labels", "ratings", "rankings"))
    if columns.annotator is None and kind != "labels":
        raise InputError(f"annotator=None is for labels; {kind} need the column that names the annotator")
    counted = [name for name in table.columns if plain(name) in COUNTS and is_number(table[[name]])]
    if columns.annotator is None and len(counted) == 1:
        votes = table[counted[0]].fillna(-1)
        refuse(
            (votes < 0) | (votes % 1 != 0),
            lambda row: (
                f"row {row}, column {counted[0]!r}: {votes[row]:g} is no number of votes; correct or drop it"
            ),
        )
        found.notes.append(f"column {counted[0]!r} is taken for the number of votes of each row")
        table = table.loc[table.index.repeat(votes.astype(int))].reset_index(drop=True)
    return found.made(table, columns, wanted, kind, f", or {say('label', columns.rating)} if they name labels")


def _wide(table: Any, columns: Columns, wanted: Wanted, found: Found) -> Annotations:
    """One column per annotator: the values of all columns are of one kind."""
    others = _others(table, columns)
    cells = _cells(table, columns)
    if len(cells.columns) < 2:  # the layout is certain
        cells = others
    elif away := [name for name in others.columns if name not in cells.columns]:
        found.notes.append(f"not read, since they share few values with the others: {shorten(away)}")
        if len(away) > 1 and set(_places(table)) & set(cells.columns):
            found.notes.append(
                f"columns {shorten(_places(table))} may be places of rankings: name the columns of items and "
                f"annotators, {say('item')} and {say('annotator')}"
            )
    axes: Any = {"items": _items(table, columns), "annotators": cells.columns.tolist()}
    values = wanted.cleaned(cells.to_numpy(dtype=object).ravel()).reshape(cells.shape)
    if wanted.scale is None and wanted.kind != "ratings":
        return Labels.from_matrix(values, **axes, labels=wanted.labels, ordered=wanted.ordered)
    scale = wanted.scale_of(values.ravel(), "")
    return in_levels(Ratings.from_matrix(values, **axes, scale=scale, step=wanted.step), found.notes)


def _counts(table: Any, columns: Columns, wanted: Wanted, found: Found) -> Annotations:
    """One column per label; annotators are unknown."""
    others = _others(table, columns)
    cells = others.select_dtypes("number")
    filled = cells.dropna(axis=1, how="all").columns
    names = [*filled] if wanted.labels is None else [*map(str, names_array(wanted.labels, "label"))]
    if not names or not {*names} <= {*cells.columns}:
        what = f"counts, one for each of the labels {shorten(names)}" if names else "counts"
        raise InputError(f"no column holds {what}; the table has {shorten(table.columns, 20)}")
    if away := [name for name in others.columns if name not in names]:
        found.notes.append(f"not read, since they are no counts: {shorten(away)}")
    counts = cells[names].fillna(0).set_axis(_items(table, columns), axis=0)
    return Labels.from_counts(counts, labels=wanted.labels, ordered=wanted.ordered)


def _lists(table: Any, columns: Columns, wanted: Wanted, found: Found) -> Annotations:
    """A list of annotations in a cell, and perhaps the list of annotators in another."""
    name = _list_column(table, columns)
    if name is None:
        raise InputError(f"no column holds lists; the table has {shorten(table.columns, 20)}")
    by_case = {c.lower(): c for c in table.columns}
    known = next((by_case[n] for n in sorted(ANNOTATOR_LISTS) if n in by_case and by_case[n] != name), None)
    columns_of = {"label": name} | ({} if known is None else {"who": known})
    cells = {role: [_as_list(cell) or [None] for cell in table[of]] for role, of in columns_of.items()}
    rows: Any = pd.DataFrame({"item": _items(table, columns)} | cells)
    sizes = rows[[*cells]].map(len).to_numpy()
    refuse(
        sizes[:, 0] != sizes[:, -1],
        lambda row: (
            f"row {row}: {sizes[row, 0]} annotations in {name!r} and {sizes[row, -1]} annotators in {known!r}; they "
            "must be parallel lists"
        ),
    )
    if known is not None:
        away = np.array([who == label == [None] for who, label in zip(cells["who"], cells["label"])])
        rows, found.left_out["items without an annotation"] = rows[~away], int(away.sum())
    rows = rows.explode([*cells], ignore_index=True)
    if known is None:
        found.notes.append("no column names the annotators: the votes per item are counted")
        return _long(rows, Columns(annotator=None), wanted._replace(kind="labels"), found)
    kind = wanted.kind or ("labels" if wanted.scale is None else "ratings")
    return _long(rows, Columns(annotator="who", rating="label"), wanted._replace(kind=kind), found)


def _ranked(table: Any, columns: Columns, wanted: Wanted, found: Found) -> Annotations:
    """A ranking in a row: the best label in the first of numbered columns."""
    places = _places(table)
    if not places:
        raise InputError(f"no columns end in 1, 2, ...; the table has {shorten(table.columns, 20)}")
    found.notes.append(f"columns {shorten(places)} are taken for the places of rankings, {TIED!r} for a tie")
    names = [places.index(name) + 1 if name in places else name for name in table.columns]
    table = table.reset_index(drop=True).set_axis(names, axis=1)
    keys = [columns.item, columns.annotator]
    ranks = [*range(1, len(places) + 1)]
    rows = (
        table.melt(keys, ranks, columns.rank, columns.label, ignore_index=False)
        .sort_index(kind="stable")
        .dropna(subset=columns.label)
    )
    cells = rows[columns.label]
    rows[columns.label] = [cell.split(TIED) if isinstance(cell, str) else [cell] for cell in cells]
    return found.made(rows.explode(columns.label, ignore_index=True), columns, wanted, "rankings")


def _places(table: Any) -> list[str]:
    """Columns of one name that end in 1, 2, ..., in this order; none where several names do."""
    found: dict[str, dict[int, str]] = {}
    for name in table.columns:
        if numbered := re.fullmatch(r"(.*?\D)[ _.-]*(\d+)", name):
            found.setdefault(numbered[1], {})[int(numbered[2])] = name
    whole = [of for of in found.values() if len(of) > 1 and sorted(of) == [*range(1, len(of) + 1)]]
    return [whole[0][place] for place in sorted(whole[0])] if len(whole) == 1 else []


def _kind_of(has: str, table: Any, columns: Columns, wanted: Wanted) -> Kind:
    """Return what the rows are."""
    kind = wanted.kind
    roles = {role for role in columns._fields[2:] if getattr(columns, role) in table.columns}
    if kind == "comparisons":
        raise InputError(
            f"{has}: comparisons are rows of left, right and winner (or model_a, model_b, winner); "
            "Comparisons.from_long(table, first=..., second=..., winner=...) reads columns of other names"
        )
    if kind is wanted.scale is None and roles >= {"rank", "label"}:
        return "rankings"
    if kind is wanted.scale is None and roles >= {"rating", "label"}:
        if columns.label == columns.rating:
            return "labels"
        raise InputError(
            f"{has}: both a label column {columns.label!r} and a rating column {columns.rating!r}; "
            f"pass {say('kind', 'labels')} or {say('kind', 'ratings')} with {say('scale')}"
        )
    if kind is not None or roles & {"rating", "label"}:
        return kind or ("ratings" if "rating" in roles else "labels")
    raise InputError(
        f"{has}: no label ({columns.label!r}) and no rating "
        f"({columns.rating!r}); name the right one with {say('label')} or {say('rating')}, or say "
        f"{say('format', 'wide')} for one column per annotator, {say('format', 'counts')} for one column per label"
    )


def _others(table: Any, columns: Columns) -> Any:
    """All columns but that of the items."""
    return table.drop(columns=columns.item, errors="ignore")


def _cells(table: Any, columns: Columns) -> Any:
    """Columns of annotators or labels: those that share their values."""
    item = columns.item if columns.item in table.columns else only_key(table)
    others = table.drop(columns=[item], errors="ignore")
    return others[vocabulary(others)]


def _items(table: Any, columns: Columns) -> Any:
    """Names of the items, each once; without a column of them, the numbers of the rows."""
    known = columns.item in table.columns
    return names_array(table[columns.item].tolist(), "item") if known else np.arange(len(table))


def _list_column(table: Any, columns: Columns) -> str | None:
    """Name of the column of lists: by its name, else the only one there is."""
    lists = [name for name in table.columns if _holds_lists(table[name])]
    named = [name for name in lists if name.lower() in LABEL_LISTS | {columns.label, columns.rating}]
    others = [name for name in lists if name.lower() not in ANNOTATOR_LISTS]
    return named[0] if named else others[0] if len(others) == 1 else None


def _holds_lists(cells: Any) -> bool:
    """Return whether the first cell that is not missing is a list."""
    return any(_as_list(cell, strict=False) is not None for cell in cells.dropna()[:1])


def _as_list(cell: Any, *, strict: bool = True) -> Any:
    if type(cell) in LISTS:
        return cell if type(cell) is list else list(cell)
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            return list(json.loads(cell if '"' in cell or "'" not in cell else cell.replace("'", '"')))
        except json.JSONDecodeError:
            pass
    if strict:
        raise InputError(f'{cell!r} is not a list; every cell of the column must be one, such as ["a", "b"]')
    return None


_LAYOUTS = {"long": _long, "wide": _wide, "counts": _counts, "lists": _lists, "places": _ranked}
