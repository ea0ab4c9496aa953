"""Answers of the commands: tables on the screen, or the same tables as one JSON document.

The document of ``--json`` has one rule for all commands: every table is a list of records under its name, and
``notes`` lists the sentences. The screen shows the first rows of long tables and leaves out the largest ones; the
document has all of them. A number that does not exist is null. Columns ``lower`` and ``upper`` are a highest density
interval of probability 0.95, unless the columns ``ci_kind`` and ``ci_prob`` say otherwise. Nothing but the answer is
ever on stdout.

A command ends with exit code 0; with 2 where an option or the input breaks a rule, or where ``--output`` names a file
that is there already and ``--force`` was not given: nothing is written then; with 130 after an interrupt; with 1 after
a failure of the package itself, and where `check` finds a claim not supported. An output file is whole or not there.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

Records = Sequence[Mapping[str, Any]]


class Table(NamedTuple):
    """A table of an answer.

    Attributes
    ----------
    name
        Its key in the JSON document; empty for another arrangement, for the screen, of a table that has a name.
    rows
        Records, or a data frame of them.
    title
        Heading on the screen.
    most
        Number of rows on the screen, all by default; with none the table is in the document only.
    hidden
        Columns that are in the document only.
    """

    name: str
    rows: "Records | pd.DataFrame"
    title: str = ""
    most: int | None = None
    hidden: Sequence[str] = ()


class Answer(NamedTuple):
    """What a command answers; the option --json prints it as a document.

    Attributes
    ----------
    tables, notes
        What `show` shows.
    keep
        What --output keeps.
    code
        Exit code.
    """

    tables: Sequence[Table]
    notes: Sequence[str] = ()
    keep: Any = None
    code: int = 0


# Answers of commands whose --output keeps a table, or a result of draws: names that are told apart.
type TableAnswer = Answer
type ResultAnswer = Answer


def show(tables: Sequence[Table], *, as_json: bool, notes: Sequence[str] = ()) -> None:
    """Print an answer to stdout: tables and sentences, or one JSON document of them, in which NaN is null."""
    from bayesagree.io.outputs import plain

    if as_json:
        document = {"notes": list(notes)} | {table.name: records(table.rows) for table in tables if table.name}
        sys.stdout.write(json.dumps(plain(document), indent=2, allow_nan=False) + "\n")
        return
    shown = [table for table in tables if table.most != 0 and len(table.rows)]
    for k, table in enumerate(shown):
        rows = [
            {name: value for name, value in row.items() if name not in table.hidden}
            for row in records(table.rows)[: table.most]
        ]
        cut = f" ({len(rows)} of {len(table.rows)})" if len(rows) < len(table.rows) else ""
        _show_table(rows, ("\n" if k else "") + table.title + cut)
    if notes and shown:
        sys.stdout.write("\n")
    sys.stdout.writelines(f"{note}\n" for note in notes)


def records(rows: "Records | pd.DataFrame") -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries."""
    return rows.to_dict("records") if hasattr(rows, "to_dict") else [dict(row) for row in rows]  # type: ignore


def _show_table(rows: Records, title: str) -> None:
    """Print a table: the first column and text stand left, numbers right, and what looks like markup stays text.

    Numbers and names of up to 24 letters are never broken. Columns without a value are left
    out; notes on rows stand below, and so does what all rows share.
    """
    from rich.console import Console
    from rich.table import Table as ScreenTable
    from rich.text import Text

    from bayesagree.io.outputs import plain

    written = {name: [_cell(name, plain(row[name])) for row in rows] for name in rows[0] if name != "note"}
    alike = {name for name, cells in written.items() if len(cells) > 1 and len(set(cells)) == 1}
    shared = [name for name in written if name in alike and name.startswith(_SHARED)]
    shown = {name: cells for name, cells in written.items() if name not in shared and set(cells) != {"-"}}
    first, headings = next(iter(shown)), {name: str(name).replace("_", " ") for name in shown}
    console = Console(width=None if sys.stdout.isatty() else int(os.environ.get("COLUMNS", _WIDTH)))
    whole = sum(max(map(len, [headings[name], *cells])) + 2 for name, cells in shown.items()) - 2
    table = ScreenTable(box=None, pad_edge=False, header_style="bold")
    for name, cells in shown.items():
        numeric = name != first and all(isinstance(plain(row[name]), int | float | None) for row in rows)
        unbroken = [*headings[name].split(), *(cells if numeric or name == first else ())]
        how = {
            "min_width": min(max(map(len, unbroken)), _UNBROKEN),
            "justify": "right" if numeric else "left",
        }
        if numeric and whole > console.width:
            how["width"] = how["min_width"]  # text gives way, and headings
        table.add_column(Text(headings[name]), overflow="fold", **how)
    for cells in zip(*shown.values()):
        table.add_row(*map(Text, cells))
    if title.strip():
        console.print(Text(title, style="italic"))
    console.print(table, crop=False)
    below = [f"{name.replace('_', ' ')} {written[name][0]}" for name in shared]
    if below:
        console.print(Text(", ".join(below) + "."))
    for note in dict.fromkeys(row["note"] for row in rows if row.get("note")):
        names = ", ".join(cell for cell, row in zip(written[first], rows) if row["note"] == note)
        console.print(Text(f"{names}: {note}"))


_UNBROKEN = 24
# Columns that stand below a table, once, where all of its rows have the same value.
_SHARED = ("metric", "reliability", "ci_", "n_")
# Columns where nothing says how many there are.
_WIDTH = 120


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, float):
        return f"{value:g}" if name == "reliability" else f"{value:.3f}"
    return str(value)


def require(path: Path | None, *, result: bool) -> None:
    """Refuse an ending that no table, or no result, is written with, while nothing is computed yet."""
    from bayesagree.io import files, outputs

    if path is not None:
        (files.require_result if result else outputs.require_table)(path)


def keep(kept: Any, path: Path) -> None:
    """Write a table, or a result of draws, in the format of the ending."""
    from bayesagree.io import files, outputs

    (files.write_result if path.suffix == ".nc" else outputs.write_table)(kept, path)


def stderr() -> "Console":
    """Return the console that shows what is going on."""
    from rich.console import Console

    return Console(stderr=True)


# The bar that is on the screen.
_shown: list[Any] = []


@contextmanager
def progress(what: str, total: float | None = None) -> Iterator[Any]:
    """Show a bar with the time left on stderr, where that is a terminal, in place of the one that is there.

    Yields a function that advances it. Both streams stay as they are: what is piped is the answer alone.
    """
    console = stderr()
    if not console.is_terminal:
        yield lambda n=1: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    while _shown:
        _shown.pop().stop()
    with Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as bar:
        _shown.append(bar)
        task = bar.add_task(what, total=total)
        yield lambda n=1: bar.advance(task, n)
