"""How near the hot paths come to what this machine could do: nanoseconds of one thread, ours and a floor.

    uv run python benchmarks/run.py limits [SMALLER]   (needs BAYESAGREE_DATA; problems so many times smaller: a trial)
    uv run python benchmarks/run.py guard FILE         (small sizes, seconds: what continuous integration keeps as JSON)

A floor adds up what a path cannot do without - each random number, logarithm and exponential, each byte that comes from
or goes to memory - at the price of that alone, in a loop that does nothing else. What computes the same cannot be
faster; between floor and time lie bookkeeping, rejected proposals, branches that nobody can predict, and waiting for
memory. Times are processor times, medians of five runs, the least and the largest in parentheses. Writes
benchmarks/results/limits.md.
"""

import os
from collections.abc import Iterator

import pyarrow as pa
from hot_paths import ON_PUBLIC_DATA, PATHS, HotPath
from prices import prices, random_read

SMALL = 20
"""The guard's problems are so many times smaller: a slowdown shows, and all of it takes seconds."""

NOTES = """
What lies between: selections,
ties and rejections branch where nobody can predict it; a Gibbs sweep of Plackett-Luce adds up worths and exposures over
sets of three labels; the AUC against a graded truth is SciPy's Kendall tau."""


def rows(small: int = 1) -> Iterator[HotPath]:
    """Measure every path for which there are data, on problems that many times smaller.

    Each has the prices of its own minute: the machine is not always as fast.
    """
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    for path in PATHS:
        if path not in ON_PUBLIC_DATA or "BAYESAGREE_DATA" in os.environ:
            yield path(prices(small), small)


def guard() -> dict[str, object]:
    """Measure small problems: prices of the operations, and each path with its floor and their ratio."""
    return {
        "prices_ns": prices(SMALL)._asdict(),
        "paths": [
            row._asdict() | {"nanoseconds": row.nanoseconds._asdict(), "ratio": row.ratio}
            for row in rows(SMALL)
        ],
    }


def table(small: int = 1) -> list[str]:
    """Print the rows as they come, and return them."""
    listed = ", ".join(f"{name} {value:.2g}" for name, value in prices(small)._asdict().items())
    reads = ", ".join(f"{random_read(10**k):.2g}" for k in range(4, 8))
    lines = [
        f"Prices before the first path, in nanoseconds on one thread: {listed}.",
        f"One of 10^4, 10^5, 10^6, 10^7 numbers that are read in random order: {reads}.",
        "",
        "| path | unit | ours, ns | floor, ns | ours / floor | the floor is |",
        "| --- | --- | ---: | ---: | ---: | --- |",
    ]
    print(*lines, sep="\n", flush=True)
    for row in rows(small):
        lines.append(
            f"| {row.name} | {row.unit} | {row.nanoseconds} | {row.floor:.3g} | {row.ratio:.1f} | {row.floor_is} |"
        )
        print(lines[-1], flush=True)
    return lines + NOTES.split("\n")
