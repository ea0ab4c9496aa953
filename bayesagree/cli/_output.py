"""What every command shares: where tables, JSON and files go. Nothing but the answer is ever on stdout."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

stderr = Console(stderr=True)


def show_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None) -> None:
    """Print a table to stdout; numbers stand right, text left."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    filled = [list(row) for row in rows]
    for i, name in enumerate(columns):
        numeric = all(isinstance(row[i], int | float) for row in filled)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in filled:
        table.add_row(*(f"{v:.3f}" if isinstance(v, float) else str(v) for v in row))
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def show_json(answer: Any) -> None:
    """Print one JSON document to stdout."""
    sys.stdout.write(json.dumps(answer, indent=2, default=_plain) + "\n")


def _plain(value: Any) -> Any:
    tolist = getattr(value, "tolist", None)
    return tolist() if callable(tolist) else str(value)


@contextmanager
def progress(what: str, total: float | None) -> Iterator[Any]:
    """Show a bar with the time left on stderr; yields a function that advances it."""
    bar = Progress(
        TextColumn(what), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn(), console=stderr, transient=True
    )
    with bar:
        task = bar.add_task(what, total=total)
        yield lambda n=1: bar.advance(task, n)
