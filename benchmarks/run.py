"""Every page of measured speed by one command, from one run on one machine.

    uv run --group bench python benchmarks/run.py                 (every page; needs BAYESAGREE_DATA)
    uv run --group bench python benchmarks/run.py ratios ROW ...  (beside what one would otherwise pick: ratios.py)
    uv run python benchmarks/run.py limits [SMALLER]              (hot paths against the machine: limits.py)
    uv run python benchmarks/run.py scaling [LARGEST]             (cost against size: scaling.py)
    uv run python benchmarks/run.py commands [RUNS]               (the command line: commands.py)
    uv run python benchmarks/run.py start [RUNS]                  (first and second calls: start.py)
    uv run python benchmarks/run.py guard FILE                    (hot paths, small, as JSON: continuous integration)

Writes table.md, limits.md, scaling.md, commands.md and start.md of benchmarks/results, each when it is complete: a run
that is stopped ends its processes and leaves the pages as they were. With an argument a page is tried out: fewer rows,
problems so many times smaller, up to a size, fewer runs, all printed only. Times are medians, with the least and the
largest of the runs in parentheses.
"""

import datetime
import importlib
import json
import multiprocessing
import os
import platform
import signal
import sys
from pathlib import Path
from typing import NamedTuple

RESULTS = Path(__file__).parent / "results"


class Page(NamedTuple):
    """A page of results: the module whose `table` makes it, and what its arguments are."""

    file: str
    title: str
    argument: type = str


PAGES = {
    "ratios": Page("table.md", "Ratios to what one would otherwise pick"),
    "limits": Page("limits.md", "Hot paths against the machine", int),
    "scaling": Page("scaling.md", "Cost against size", float),
    "commands": Page("commands.md", "Seconds of the commands", int),
    "start": Page("start.md", "What a person waits for", int),
}


def make(name: str, *arguments: str) -> None:
    """Print a page, and keep it unless it is a trial."""
    page = PAGES[name]
    lines = importlib.import_module(name).table(*map(page.argument, arguments))
    if not arguments:
        machine = f"{os.cpu_count()} processors, {processor()}, Python {platform.python_version()}"
        measured = f"Measured {datetime.date.today():%Y-%m-%d} by `benchmarks/run.py {name}` on {machine}."
        write(RESULTS / page.file, "\n".join([f"# {page.title}", "", measured, "", *lines, ""]))


def processor() -> str:
    """Return the name of the processor: numpy's sorts and searches hang on its instructions."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text().splitlines() if known.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{platform.machine()}, {names[0]}" if names else platform.machine()


def guard(file: str) -> None:
    import limits

    write(Path(file), json.dumps(limits.guard(), indent=1) + "\n")


def write(file: Path, text: str) -> None:
    """Write a whole file or nothing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(text)
    part.replace(file)


def stop(number: int, _: object) -> None:
    """End the processes of rows that run, then this one, by which its open files and folders close."""
    for process in multiprocessing.active_children():
        process.terminate()
    sys.exit(128 + number)


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    asked, *arguments = sys.argv[1:] or ["all"]
    if asked == "guard":
        guard(*arguments)
        return
    for name in PAGES if asked == "all" else [asked]:
        make(name, *arguments)


if __name__ == "__main__":
    main()
