"""What leaves the package for other programs: results as tables, and lists of items for tools that collect labels."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import SAMPLE
from bayesagree.annotations._columns import names_array, pandas_frame
from bayesagree.errors import InputError, place_of, say, shorten, warn
from bayesagree.inference.intervals import column_hdi
from bayesagree.io.files import atomic_path
from bayesagree.io.tables import require_arrow


def write_table(result: Any, path: str | Path, *, group: str = "posterior", ci_prob: float = 0.95) -> None:
    r"""Write a table or a result as CSV, TSV, Parquet or JSON Lines; whole or not at all.

    Parameters
    ----------
    result
        A data frame, a Dataset or DataArray (a row per cell), or a DataTree, of which `summary_table` is written.
    path
        Ends in .csv, .tsv, .parquet or .jsonl, where a number that does not exist is null. In .csv and .tsv an
        apostrophe stands before texts that a spreadsheet would compute (``=...``, ``+...``, ``-...``, ``@...``).
    group
        Of a DataTree: which of its groups.
    ci_prob
        Of a DataTree: probability of the intervals.

    Raises
    ------
    InputError
        Another ending, what is no result, or Parquet without pyarrow.

    Warns
    -----
    UserWarning
        Texts were escaped.

    See Also
    --------
    write_result : all draws, as netCDF.

    Examples
    --------
    >>> import tempfile
    >>> from bayesagree import Labels, dirichlet, io
    >>> path = Path(tempfile.mkdtemp()) / "plausibility.csv"
    >>> write_table(dirichlet(Labels.from_counts([[3, 1]]), draws=10, random_seed=1), path)
    >>> io.read_table(path).columns.tolist()
    ['variable', 'item', 'category', 'value', 'sd', 'lower', 'upper', 'ci_kind', 'ci_prob']
    """
    table, path = _table(result, group, ci_prob), Path(path)
    require_table(path)
    if path.suffix in (".csv", ".tsv"):
        table = _without_formulas(table, path)
    with atomic_path(path) as temporary:
        _WRITERS[path.suffix](table, temporary)


# Beginning of a text that a spreadsheet computes; a sign before a number is none.
FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.,]*([eE][+-]?\d+)?$)")


def _without_formulas(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Put an apostrophe before texts and names of columns that a spreadsheet would compute."""
    found: list[str] = []

    def escaped(cell: Any) -> Any:
        if not isinstance(cell, str) or not FORMULA.match(cell):
            return cell
        found.append(cell)
        return f"'{cell}"

    made = table.rename(columns=escaped)
    for k, kind in enumerate(table.dtypes):
        if kind.kind not in "biufmM":
            made.isetitem(k, table.iloc[:, k].astype(object).map(escaped))
    if not found:
        return table
    warn(
        f"{str(path)!r}: a spreadsheet would compute {shorten(found)}: an apostrophe stands before them; "
        ".parquet and .jsonl files keep them as they are"
    )
    return made


def require_table(path: Path) -> None:
    """Refuse a path that no table can be written to, before anything is computed."""
    if path.suffix not in _WRITERS:
        raise InputError(f"{str(path)!r}: tables are written as {', '.join(_WRITERS)}, not {path.suffix!r}")
    if path.suffix == ".parquet":
        require_arrow(path)


def summary_table(tree: xr.DataTree, *, group: str = "posterior", ci_prob: float = 0.95) -> pd.DataFrame:
    """Tabulate one group of a result, one row per variable and place: mean of the draws, sd, and HDI.

    Parameters
    ----------
    tree
        Any result of the package.
    group
        Which group; the variables of one without draws have their values alone.
    ci_prob
        Probability of the intervals.

    Returns
    -------
    DataFrame
        Columns variable, one per dimension, value, sd, lower, upper, ci_kind, ci_prob.

    Raises
    ------
    InputError
        There is no such group.

    Examples
    --------
    >>> from bayesagree import Labels, dirichlet
    >>> tree = dirichlet(Labels.from_counts([[3, 1]], items=["q"], labels=["no", "yes"]), random_seed=1)
    >>> summary_table(tree)[["item", "category"]].values.tolist()
    [['q', 'no'], ['q', 'yes']]
    """
    if group not in tree.children:
        raise InputError(f"group={group!r} is not in the result; it has {shorten(sorted(tree.children))}")
    values = tree[group].to_dataset().data_vars
    found: Any = pd.concat([_summary(values[name], ci_prob).assign(variable=name) for name in values])
    last = ["value", "sd", "lower", "upper", "ci_kind", "ci_prob"]
    dims = found.columns.difference(["variable", *last], sort=False)
    return found.reindex(columns=["variable", *dims, *last]).reset_index(drop=True)


def write_items(
    items: Any,
    path: str | Path,
    *,
    contents: Any = None,
    item: str = "item",
    n: int | None = None,
) -> None:
    r"""Write a list of items as a file that a labelling tool imports: what `annotate_next` or a certainty points at.

    Parameters
    ----------
    items
        The table of `annotate_next`, any other table with a column of items, or a DataArray (item), such as that of
        `annotation_certainty`: then least first.
    path
        .json: tasks of Label Studio, what is seen in ``data`` and the rest in ``meta``; else as `write_table`, such as
        JSON Lines for other tools.
    contents
        Table of what annotators see, a row per item: texts, addresses of images. Without it they see the item's name.
    item
        Column of `contents` that names the item.
    n
        Write the first n only.

    Raises
    ------
    InputError
        No list of items, an item without a row in `contents`, or an ending that no table has.

    Examples
    --------
    >>> import tempfile
    >>> from bayesagree import Labels, annotate_next
    >>> votes = Labels.from_counts([[3, 0], [1, 1]], items=["p1", "p2"])
    >>> texts = pd.DataFrame({"item": ["p1", "p2"], "text": ["fine", "so so"]})
    >>> path = Path(tempfile.mkdtemp()) / "tasks.json"
    >>> write_items(annotate_next(votes, n=1, random_seed=1), path, contents=texts)
    >>> json.loads(path.read_text())[0]["data"]
    {'item': 'p2', 'text': 'so so'}
    """
    path = Path(path)
    known: Any = _items(items).iloc[:n]
    seen = pd.DataFrame({"item": known["item"]}) if contents is None else _seen(contents, item, known["item"])
    if path.suffix != ".json":
        write_table(known if contents is None else seen.merge(known, on="item", sort=False), path)
        return
    more = _records(known.drop(columns="item"))
    rows = [{"data": data, "meta": meta} for data, meta in zip(_records(seen), more)]
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(rows, indent=1, allow_nan=False), encoding="utf-8")


def _items(items: Any) -> pd.DataFrame:
    if isinstance(items, xr.DataArray) and items.dims == ("item",):
        name = str(items.name or "value")
        return items.rename(name).to_dataframe().reset_index().sort_values([name, "item"], kind="stable")
    if isinstance(items, pd.DataFrame) and "item" in items.columns:
        names_array(items["item"], "item")  # refuses repeats
        return items
    raise InputError(
        f"expected a table with a column 'item' (annotate_next) or a DataArray (item), got {type(items).__name__}"
    )


def _seen(contents: Any, item: str, wanted: pd.Series) -> pd.DataFrame:
    """Rows of the contents in the order of the items, the name of the item first."""
    table = pandas_frame(contents)
    if item not in table.columns:
        raise InputError(
            f"contents has no column {item!r}; it has {shorten(table.columns)}: name it with {say('item')}"
        )
    rows = table.rename(columns={item: "item"}).set_index("item")
    number: Any = rows.index.value_counts().reindex(wanted, fill_value=0)
    if (number != 1).any():
        what = number.index[number != 1][0]
        raise InputError(f"{place_of(item=what)} has {number[what]} rows in contents; an item has one")
    return rows.loc[wanted.tolist()].reset_index()


def _table(result: Any, group: str, ci_prob: float) -> pd.DataFrame:
    if isinstance(result, xr.DataTree):
        return summary_table(result, group=group, ci_prob=ci_prob)
    if isinstance(result, xr.DataArray):
        result = result.to_dataset(name=str(result.name or "value"))
    if isinstance(result, xr.Dataset):
        return cells(result)
    if not isinstance(result, pd.DataFrame):
        raise InputError(f"expected a table or a result of xarray, got {type(result).__name__}")
    return result.reset_index() if any(name is not None for name in result.index.names) else result


def cells(values: xr.Dataset) -> pd.DataFrame:
    """Return a row per cell: its place on each dimension, and its values."""
    if values.dims:
        return values.to_dataframe().reset_index()
    return values.expand_dims("row").to_dataframe().reset_index(drop=True)  # xarray makes no table of a number


def _summary(values: xr.DataArray, prob: float) -> pd.DataFrame:
    """Return values without draws as they are, and of others the mean, standard deviation and interval."""
    values = values.reset_coords(drop=True)
    if not {"chain", "draw"} <= set(values.dims) or values.dtype.kind not in "fiub":
        return cells(values.to_dataset(name="value")).assign(ci_kind=None)
    draws = values.stack(sample=SAMPLE).transpose("sample", ...).astype(float)
    mean = draws.mean("sample")
    ends = column_hdi(draws.values.reshape(len(draws), -1), prob)
    lower, upper = (mean.copy(data=end.reshape(mean.shape)) for end in ends)
    sd = draws.std("sample", ddof=1) if len(draws) > 1 else np.nan
    found = xr.Dataset({"value": mean, "sd": sd, "lower": lower, "upper": upper})
    return cells(found).assign(ci_kind="hdi", ci_prob=prob)


def _records(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Rows in the types of JSON: numbers as they are, what is missing null, all else text."""
    for row in table.astype(object).to_dict("records"):
        yield {str(name): plain(value) for name, value in row.items()}


def plain(value: Any) -> Any:
    """Return a value as JSON has it: arrays as lists; missing numbers, and those that are not finite, as None."""
    value = value.tolist() if callable(getattr(value, "tolist", None)) else value
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if pd.isna(value) or value in (np.inf, -np.inf):
        return None
    return value if isinstance(value, bool | int | float | str) else str(value)


def _lines(table: pd.DataFrame) -> str:
    return "".join(json.dumps(row, allow_nan=False, ensure_ascii=False) + "\n" for row in _records(table))


_WRITERS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    ".csv": lambda table, path: table.to_csv(path, index=False),
    ".tsv": lambda table, path: table.to_csv(path, index=False, sep="\t"),
    ".parquet": lambda table, path: table.to_parquet(path, index=False),
    ".jsonl": lambda table, path: path.write_text(_lines(table), encoding="utf-8"),
}
