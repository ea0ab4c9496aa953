"""What every command shares: where tables, JSON and files go. Nothing but the answer is ever on stdout."""

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    import pandas as pd

stderr = Console(stderr=True)


def show_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None) -> None:
    """Print a table to stdout; numbers stand right, text left, and text that looks like markup stays text."""
    heading = None if title is None else Text(title)
    table = Table(title=heading, title_justify="left", box=None, pad_edge=False, header_style="bold")
    filled = [list(row) for row in rows]
    for i, name in enumerate(columns):
        numeric = all(isinstance(row[i], int | float) for row in filled)
        table.add_column(Text(str(name)), justify="right" if numeric else "left", overflow="fold")
    for row in filled:
        table.add_row(*(Text(f"{v:.3f}" if isinstance(v, float) else str(v)) for v in row))
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def show_json(answer: Any) -> None:
    """Print one JSON document to stdout; a number that does not exist is null, for JSON has no NaN."""
    sys.stdout.write(json.dumps(_plain(answer), indent=2, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    """Return what JSON knows."""
    tolist = getattr(value, "tolist", None)
    value = tolist() if callable(tolist) else value
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def write_table(table: "pd.DataFrame", path: Path | None) -> None:
    """Write a table as CSV, if it is to be kept."""
    if path is None:
        return
    from bayesagree.io.files import atomic_path

    with atomic_path(path) as temporary:
        table.to_csv(temporary, index=False)


@contextmanager
def progress(what: str, total: float | None) -> Iterator[Any]:
    """Show a bar with the time left on stderr, where that is a terminal; yields a function that advances it."""
    columns = (TextColumn(what), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal)
    with bar:
        task = bar.add_task(what, total=total)
        yield lambda n=1: bar.advance(task, n)
