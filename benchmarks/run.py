"""Every page by one command, from one run on one machine: speed, coverage, other packages.

    uv run --group bench python benchmarks/run.py                 (pages of speed; needs BAYESAGREE_DATA)
    uv run --group bench python benchmarks/run.py studies         (all other pages: a night; needs BAYESAGREE_DATA)
    uv run python benchmarks/run.py studies icc span_f1           (these)
    uv run --group bench python benchmarks/run.py ratios ROW ...  (beside what one would otherwise pick: ratios.py)
    uv run python benchmarks/run.py limits [SMALLER]              (hot paths against the machine: limits.py)
    uv run python benchmarks/run.py scaling [LARGEST]             (cost against size: scaling.py)
    uv run python benchmarks/run.py commands [RUNS]               (the command line: commands.py)
    uv run python benchmarks/run.py start [RUNS]                  (first and second calls: start.py)
    uv run python benchmarks/run.py guard FILE                    (hot paths, small, as JSON: continuous integration)

Writes table.md, limits.md, scaling.md, commands.md and start.md of benchmarks/results, each when it is complete: a run
that is stopped ends its processes and leaves the pages as they were. With an argument a page is tried out: fewer rows,
problems so many times smaller, up to a size, fewer runs, all printed only. Times are medians, with the least and the
largest of the runs in parentheses. A study writes its own page, below which this script puts the date, the machine and
the versions; those that failed are named at the end.
"""

import datetime
import importlib
import importlib.metadata
import json
import multiprocessing
import os
import platform
import signal
import subprocess
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

# Scripts of one page each, which need no argument.
STUDIES = [
    "agreement_clusters",
    "agreement_details",
    "agreement_intervals",
    "annotator_levels",
    "arena_judges",
    "auc_intervals",
    "audit",
    "blind_intervals",
    "calibration_votes",
    "comparisons",
    "conformal",
    "crowd_gold",
    "flattery",
    "formats",
    "group_truth",
    "icc",
    "informed_ppi",
    "informed_rankings",
    "informed_shape",
    "interval_coverage",
    "metric_bias",
    "metric_coverage",
    "misfit",
    "number_coverage",
    "ordered",
    "ordered_coverage",
    "other_packages",
    "plan_power",
    "ranking_agreement",
    "reliability",
    "span_f1",
]
MADE = "\nMade anew "


def make(name: str, *arguments: str) -> None:
    """Print a page, and keep it unless it is a trial."""
    page = PAGES[name]
    lines = importlib.import_module(name).table(*map(page.argument, arguments))
    if not arguments:
        measured = f"Measured {today()} by `benchmarks/run.py {name}` on {machine()}."
        write(RESULTS / page.file, "\n".join([f"# {page.title}", "", measured, "", *lines, ""]))


def study(name: str) -> bool:
    """Run the script of a page, and say below the page when and where; return whether it ended well."""
    script, page = Path(__file__).with_name(f"{name}.py"), RESULTS / f"{name}.md"
    paths = os.pathsep.join([str(script.parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, str(script)], env=os.environ | {"PYTHONPATH": paths}, check=False)
    if done.returncode == 0 and page.exists():
        text = page.read_text().split(MADE)[0].rstrip("\n")
        write(page, f"{text}\n{MADE}{today()} by `benchmarks/run.py studies {name}` on {machine()}.\n")
    return done.returncode == 0


def today() -> str:
    return f"{datetime.date.today():%Y-%m-%d}"


def machine() -> str:
    """Return the processors and the versions of what computes."""
    known = [
        f"{name} {importlib.metadata.version(name)}"
        for name in ("bayesagree", "numpy", "scipy", "numba", "pymc")
    ]
    return f"{os.cpu_count()} processors, {processor()}, Python {platform.python_version()}, {', '.join(known)}"


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
    if asked == "studies":
        failed = [name for name in arguments or STUDIES if not study(name)]
        sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
    for name in PAGES if asked == "all" else [asked]:
        make(name, *arguments)


if __name__ == "__main__":
    main()
