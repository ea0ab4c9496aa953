"""Tables of the recovery and false-claim studies of Phi.

    python benchmarks/phi_study.py run recovery.csv recovery 200 [1/2]      (20 minutes of processor time)
    python benchmarks/phi_study.py run random.csv random 1000 [1/2]         (45 minutes)
    python benchmarks/phi_study.py recovery.csv random.csv > benchmarks/results/phi.md

A run appends one line per finished cell and skips the cells it finds there; 1/2 and 2/2 are halves for two processes.

Prints coverage of the 95 % HDI and bias of the posterior mean in each cell and pooled, and how often uniform random
answers are called agreement, with flat and with hierarchical item means (figure 3 of the paper).
"""

import csv
import itertools
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from calibration.test_phi import Cell, run

SCALES = {(3, 5): "3 x 5", (5, 5): "5 x 5", (5, 11): "5 x 11", (10, 5): "10 x 5", (5, 0): "5 x continuous"}
PHI = (-0.6, -0.3, 0.0, 0.3, 0.5, 0.8, 0.95)
CELLS = [Cell(phi, shape, *scale) for scale, shape, phi in itertools.product(SCALES, (1.0, 2.0), PHI)]
RANDOM = [
    Cell(0.0, np.inf, r, k, n, prior)
    for prior, n, r, k in itertools.product(("hierarchical", "flat"), (100, 1000), (3, 5, 10), (5, 11))
]
MEANS = {1.0: "U(0, 1)", 2.0: "Beta(2, 2)"}


def table(frame, *, index=True):
    """Return a frame as a table of Markdown."""
    rows = frame.reset_index() if index else frame
    lines = ["| " + " | ".join(map(str, rows.columns)) + " |", "| --- " * rows.shape[1] + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows.to_numpy()])


def recovery(rows):
    """Print coverage and bias by cell."""
    rows = rows.assign(
        data=[SCALES[int(r), int(k)] for r, k in zip(rows["raters"], rows["levels"])],
        means=[MEANS[shape] for shape in rows["shape"]],
        cell=[f"{c:.3f}, {b:+.4f}" for c, b in zip(rows["coverage"], rows["bias"])],
    )
    n = int(rows["repetitions"].iloc[0])
    print(f"## Recovery: {len(rows)} cells x {n} data sets of {int(rows['items'].iloc[0])} items\n")
    print(
        "Hierarchical item means. Each cell: share of 95 % HDIs that hold the true Phi, bias of the posterior mean."
    )
    print("Rows: raters x levels, distribution of the true item means; columns: true Phi.\n")
    order = {name: i for i, name in enumerate(SCALES.values())}
    wide = rows.pivot_table(
        index=["data", "means"], columns="phi", values="cell", aggfunc="first", fill_value=""
    )
    print(table(wide.sort_index(key=lambda level: [order.get(name, name) for name in level])), "\n")
    low, far = rows["coverage"].min(), rows.loc[rows["bias"].abs().idxmax(), "bias"]
    print(
        f"Pooled: coverage {rows['coverage'].mean():.4f} (asked: .943 to .957), bias {rows['bias'].mean():+.5f} (asked:"
    )
    print(f"under .005). Least coverage of a cell {low:.3f} (asked: .89), largest bias of a cell {far:+.4f}.")
    print(f"{rows['seconds'].sum() / 60:.0f} minutes of processor time.\n")


def random(rows):
    """Print the share of false claims by cell."""
    rows = rows.assign(claim=[f"{100 * c:.1f} %" for c in rows["claims"]])
    n = int(rows["repetitions"].iloc[0])
    print(f"## Uniform random answers called agreement: {len(rows)} cells x {n} data sets\n")
    print("Share of data sets whose 95 % HDI lies above 0. Asked of hierarchical means: at most 6.5 %.\n")
    wide = rows.pivot_table(
        index=["items", "raters", "levels"], columns="item_mean", values="claim", aggfunc="first"
    ).rename(index=int)
    print(table(wide[["flat", "hierarchical"]]), "\n")
    worst = rows.loc[rows["item_mean"] == "hierarchical", "claims"].max()
    print(
        f"Most with hierarchical means: {100 * worst:.1f} %. Flat means, the paper's, take few raters' chance for"
    )
    print(
        f"agreement, the more so the more items there are. {rows['seconds'].sum() / 60:.0f} minutes of processor time."
    )


def study(path, cells, repetitions):
    """Run the cells that the file does not have yet; return the rows of all."""
    names = [*Cell._fields, "repetitions", "coverage", "bias", "claims", "seconds"]
    if not path.exists():
        path.write_text(",".join(names) + "\n")
    for number, cell in enumerate(cells):
        if (cell, repetitions) in read(path):
            continue
        start = time.process_time()
        covered, bias, claims = run(cell, repetitions)
        row = [
            *cell,
            repetitions,
            covered.mean(),
            bias.mean(),
            claims.mean(),
            round(time.process_time() - start, 1),
        ]
        with path.open("a") as file:
            csv.writer(file).writerow(row)
        sys.stderr.write(
            f"{number + 1}/{len(cells)} {cell} covered {covered.mean():.3f} bias {bias.mean():+.4f}\n"
        )
    found = read(path)
    return [found[cell, repetitions] for cell in cells]


def read(path):
    """Return the finished cells: (cell, repetitions) -> row."""
    found = {}
    for row in csv.DictReader(path.read_text().splitlines()):
        prior = row.pop("item_mean")
        values = {name: float(value) for name, value in row.items()}
        cell = Cell(*(values[name] for name in Cell._fields[:-1]), prior)
        found[cell, values["repetitions"]] = values
    return found


def main():
    """Run the cells of a study, or print the tables of two."""
    if sys.argv[1] == "run":
        file, kind, count = Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
        part, parts = map(int, sys.argv[5].split("/")) if len(sys.argv) > 5 else (1, 1)
        study(file, {"recovery": CELLS, "random": RANDOM}[kind][part - 1 :: parts], count)
        return
    print("# Does the interval of Phi hold what it promises?\n")
    print("Made on 2026-11-21 by `benchmarks/phi_study.py` (seeds 0, 1, ...).\n")
    recovery(pd.read_csv(sys.argv[1]))
    random(pd.read_csv(sys.argv[2]))


if __name__ == "__main__":
    main()
