"""Seconds of every command of the command line on 500 annotations, and of the first run after an installation.

In an environment of its own: what `pip install bayesagree` installs, with the extra `report`; and in this one, with all
extras, of which xarray imports dask wherever it makes an array.

    uv run python benchmarks/run.py commands             (writes benchmarks/results/commands.md)
    uv run python benchmarks/commands.py commands 1      (one run of each, printed only)
    uv run python benchmarks/commands.py first 1

Each run is a process of its own, and ends the benchmark where it fails. Commands run in turn, so that all of them see
the same changes of the machine. Processor seconds, of all threads and with the imports, hang less on what else it does
than wall seconds. First runs have an empty cache of compiled kernels, second runs the cache that the first left;
the bytecode of the libraries is there.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
import pandas as pd

LABELS = ["a", "b", "c"]
PER_ITEM = 5
N_ITEMS = 100
"""Items of the commands: with PER_ITEM annotations each, 500 annotations."""
N_FIRST = 1000
"""Items of the first report."""
RUNS = 5
MODELS = {"good": 0.9, "fair": 0.75, "poor": 0.6}

COMMANDS = [
    "--help",
    "demo",
    "contents labels.csv",
    "agreement labels.csv",
    "plausibility labels.csv -o truth.nc --force",
    "evaluate labels.csv scores.csv -o scored.nc --force",
    "report labels.csv scores.csv -o page.html --force",
    "evaluate scored.nc",
    "evaluate two.csv chances.csv --metrics auc",
    "blind said.csv --gold gold.csv",
    "annotators labels.csv",
    "judge verdicts.csv --people labels.csv --system system --positive a",
    "subjective labels.csv scores.csv --annotators people.csv --group age",
    "plan labels.csv --n-items 50,100 --n-annotators 3,5 --target 0.9",
    "next labels.csv scores.csv",
]
ROOT = Path(__file__).parents[1]
FIRST = ["demo", "report labels.csv scores.csv -o page.html --force"]


class Seconds(NamedTuple):
    """What one process took."""

    processor: float
    wall: float


def write_inputs(folder: Path, n_items: int) -> None:
    """Write the files that the commands read: annotators right 4 times of 5, models more or less often."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, len(LABELS), n_items)
    items = np.array([f"t{i}" for i in range(n_items)])

    def said(who: str, right: float, rows: np.ndarray) -> pd.DataFrame:
        answer = np.where(rng.random(rows.size) < right, truth[rows], rng.integers(0, len(LABELS), rows.size))
        return pd.DataFrame({"item": items[rows], "who": who, "label": np.array(LABELS)[answer]})

    crowd = np.array([rng.permutation(20)[:PER_ITEM] for _ in items])
    labels = pd.concat([said(f"w{w}", 0.8, np.flatnonzero((crowd == w).any(axis=1))) for w in range(20)])
    labels = labels.rename(columns={"who": "annotator"})
    models = pd.concat([said(m, right, np.arange(n_items)) for m, right in MODELS.items()])
    models = models.rename(columns={"who": "model"})
    shares = models.merge(pd.DataFrame({"of": LABELS}), how="cross")
    shares["score"] = np.where(shares["label"] == shares["of"], 0.6, 0.2)
    verdicts = pd.concat([said(j, 0.8, np.arange(n_items)) for j in ("gpt", "other")]).rename(
        columns={"who": "judge"}
    )
    tables = {
        "labels": labels,
        "two": labels.assign(label=labels["label"].where(labels["label"] == "a", "b")),
        "said": models,
        "scores": shares.drop(columns="label").rename(columns={"of": "label"}),
        "chances": models.assign(score=(rng.random(len(models)) + (models["label"] != "a")) / 2).drop(
            columns="label"
        ),
        "gold": pd.DataFrame({"item": items, "label": np.array(LABELS)[truth]}),
        "ranked": pd.concat(
            [labels.assign(rank=1), labels.assign(rank=2, label=labels["label"].map(following))]
        ),
        "verdicts": verdicts.assign(system="s" + (verdicts["item"].str[1:].astype(int) % 2).astype(str)),
        "people": pd.DataFrame({"annotator": [f"w{w}" for w in range(20)], "age": ["old", "young"] * 10}),
    }
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)


def following(label: str) -> str:
    return LABELS[(LABELS.index(label) + 1) % len(LABELS)]


def plain_environment(folder: Path) -> str:
    """Install the package with the extra `report` into an environment of its own; return its Python."""
    python = str(folder / "bin" / "python")
    subprocess.run(["uv", "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
    install = ["uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", python, f"{ROOT}[report]"]
    subprocess.run(install, check=True)
    return python


def seconds(command: str, folder: Path, cache: Path, python: str = sys.executable) -> Seconds:
    """Return what one process of a command takes, or end with what it says."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    call = [python, "-c", "from bayesagree.cli import main; main()", *command.split()]
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(
        call,
        cwd=folder,
        env=environment | {"NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    wall, after = time.perf_counter() - start, os.times()
    if done.returncode:
        sys.exit(f"bayesagree {command} ended with {done.returncode}:\n{done.stderr}")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return Seconds(used, wall)


def spread(values: list[float]) -> str:
    """Return minimum, median and maximum as cells of a table."""
    return " | ".join(f"{value:.2f}" for value in (min(values), median(values), max(values)))


def commands(runs: int = RUNS) -> Iterator[str]:
    """Yield the table of all commands from a warm cache."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        write_inputs(where, N_ITEMS)
        pythons = [plain_environment(where / "plain"), sys.executable]
        caches = [where / "plain_cache", where / "cache"]
        of_runs = []
        for _ in range(runs + 1):  # the first one compiles
            of_runs.append([[seconds(c, where, *each) for each in zip(caches, pythons)] for c in COMMANDS])
    yield f"Every command on {N_ITEMS * PER_ITEM} annotations from a warm cache, {runs} runs, in processor seconds:\n"
    yield "| command | min | median | max | median of wall seconds | the same with all extras |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for at, command in enumerate(COMMANDS):
        plain, full = zip(*(one[at] for one in of_runs[1:]))
        walls = " | ".join(f"{median(one.wall for one in found):.2f}" for found in (plain, full))
        yield f"| `bayesagree {command}` | {spread([one.processor for one in plain])} | {walls} |"


def first_and_second(command: str, runs: int, python: str) -> dict[str, list[Seconds]]:
    """Return what a command takes with an empty cache, and with the one that this run left."""
    found: dict[str, list[Seconds]] = {"first": [], "second": []}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            where = Path(folder)
            write_inputs(where, N_FIRST)
            for run in found.values():
                run.append(seconds(command, where, where / "cache", python))
    return found


def first(runs: int = RUNS) -> Iterator[str]:
    """Yield the table of first runs, which compile, and second ones."""
    yield f"The first run after an installation, which compiles, and the second, {runs} times, in processor seconds:\n"
    yield "| command | run | min | median | max | median of wall seconds |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    with tempfile.TemporaryDirectory() as plain:
        python = plain_environment(Path(plain))
        for command in FIRST:
            found = first_and_second(command, runs, python)
            for name, run in found.items():
                wall = median(one.wall for one in run)
                yield f"| `bayesagree {command}` | {name} | {spread([one.processor for one in run])} | {wall:.2f} |"
    yield f"\nThe report is that of {N_FIRST} items with {PER_ITEM} annotations each."


def table(runs: int = RUNS) -> list[str]:
    """Print both tables as they come, and return their lines."""
    lines = []
    for part in (commands(runs), ["\n"], first(runs)):
        for line in part:
            print(line, flush=True)
            lines.append(line)
    return lines


MODES: dict[str, Callable[[int], Iterator[str]]] = {"commands": commands, "first": first}

if __name__ == "__main__":
    for row in MODES[sys.argv[1]](*map(int, sys.argv[2:])):
        print(row, flush=True)
