"""What a person waits for, as ratios to `import pymc, arviz` in the same environment and run.

    uv run python benchmarks/run.py start        (writes benchmarks/results/start.md)
    uv run python benchmarks/run.py start 1      (one run of each, printed only)

Every run is a process of its own, without kept bytecode of the package (`PYTHONDONTWRITEBYTECODE=1`). The first has an
empty cache of compiled kernels, the second the cache that the first left. Jobs run in turn, so that all of them see the
same changes of the machine; a ratio divides wall times of one turn, and the median of the turns is printed.
"""

import os
import subprocess
import sys
import tempfile
import time
from statistics import median
from typing import NamedTuple

RUNS = 3
UNIT = "import pymc, arviz"
CROWD = """
import numpy as np, bayesagree as ba
rng = np.random.default_rng(1)
truth = rng.integers(0, 3, 200)
said = np.where(rng.random((200, 5)) < 0.8, truth[:, None], rng.integers(0, 3, (200, 5)))
labels = ba.Labels.from_matrix(said, labels=[0, 1, 2])
"""
RATED = """
import bayesagree as ba
ratings = ba.simulate.ratings(n_items=20, random_seed=1).ratings
"""
EXAMPLE = """
import bayesagree as ba
test_set = ba.simulate.labelled_test_set(n_items=300, random_seed=1)
print(ba.compare(ba.evaluate(test_set.labels, test_set.predictions, metrics="accuracy", random_seed=1)))
"""
COMMAND = "import sys; sys.argv[1:] = {}; from bayesagree.cli import main; main()"


class Job(NamedTuple):
    """A program, and the ratios that it may take the first time and later."""

    code: str
    first: float | None
    warm: float | None


JOBS = {
    "import bayesagree": Job("import bayesagree", 0.1, 0.1),
    "README's Python example": Job(EXAMPLE, 2, 1),
    "bayesagree demo": Job(COMMAND.format(["demo"]), 2, 1),
    "common_agreement, 20 items": Job(RATED + "ba.common_agreement(ratings, random_seed=1)", 1, 1),
    "agreement_table, 20 items": Job(RATED + "ba.agreement_table(ratings)", 1, 1),
    "dawid_skene, 1,000 votes": Job(CROWD + "ba.dawid_skene(labels, random_seed=1)", 1.5, 1),
    "informed_dirichlet, 1,000 items x 3 models x 3 labels": Job(
        "import bayesagree as ba\ngiven = ba.simulate.labelled_test_set(n_items=1000, random_seed=1)\n"
        "ba.informed_dirichlet(given.labels, given.predictions, random_seed=1)",
        1.5,
        0.6,
    ),
    "plackett_luce, 100 rankings": Job(
        "import bayesagree as ba\ngiven = ba.simulate.rankings(n_items=20, random_seed=1)\n"
        "ba.plackett_luce(given.rankings, random_seed=1)",
        2,
        1,
    ),
}


def seconds(code: str, cache: str) -> float:
    """Return the wall seconds of a fresh interpreter; a program that fails ends the benchmark."""
    kept = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": cache}
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], env=kept, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{code}\n{done.stderr}")
    return time.perf_counter() - start


def turn() -> dict[str, tuple[float, float]]:
    """Run every job twice beside the unit, and return both ratios."""
    found = {}
    with tempfile.TemporaryDirectory() as cache:
        unit = min(seconds(UNIT, cache) for _ in range(2))
        for name, job in JOBS.items():
            with tempfile.TemporaryDirectory() as own:
                found[name] = seconds(job.code, own) / unit, seconds(job.code, own) / unit
    return found


def table(runs: int = RUNS) -> list[str]:
    """Return the lines of the page."""
    turns = [turn() for _ in range(runs)]
    head = ["| job | first | asked | second | asked |", "| --- | ---: | ---: | ---: | ---: |"]
    rows = [
        f"| {name} | {median(t[name][0] for t in turns):.2f} | {job.first} | "
        f"{median(t[name][1] for t in turns):.2f} | {job.warm} |"
        for name, job in JOBS.items()
    ]
    print(*head, *rows, sep="\n")
    return [f"Wall time divided by that of `{UNIT}`; medians of {runs} turns.", "", *head, *rows]
