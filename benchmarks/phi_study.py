"""Tables of the recovery and false-claim studies of Phi.

    python tests/calibration/test_phi.py recovery.csv recovery 200      (20 minutes of processor time)
    python tests/calibration/test_phi.py random.csv random 1000         (45 minutes)
    python benchmarks/phi_study.py recovery.csv random.csv > benchmarks/results/phi.md

Prints coverage of the 95 % HDI and bias of the posterior mean in each cell and pooled, and how often uniform random
answers are called agreement, with flat and with hierarchical item means (figure 3 of the paper).
"""

import sys

import pandas as pd

SCALES = {(3, 5): "3 x 5", (5, 5): "5 x 5", (5, 11): "5 x 11", (10, 5): "10 x 5", (5, 0): "5 x continuous"}
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
    print("Hierarchical item means. Each cell: share of 95 % HDIs that hold the true Phi, bias of the posterior mean.")
    print("Rows: raters x levels, distribution of the true item means; columns: true Phi.\n")
    order = {name: i for i, name in enumerate(SCALES.values())}
    wide = rows.pivot_table(index=["data", "means"], columns="phi", values="cell", aggfunc="first", fill_value="")
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
    print(f"Most with hierarchical means: {100 * worst:.1f} %. Flat means, the paper's, take few raters' chance for")
    print(
        f"agreement, the more so the more items there are. {rows['seconds'].sum() / 60:.0f} minutes of processor time."
    )


if __name__ == "__main__":
    print("# Does the interval of Phi hold what it promises?\n")
    print("Made on 2026-11-21 by `tests/calibration/test_phi.py` and `benchmarks/phi_study.py` (seeds 0, 1, ...).\n")
    recovery(pd.read_csv(sys.argv[1]))
    random(pd.read_csv(sys.argv[2]))
