"""Coverage of the 95 % intervals of span F1 over documents.

uv run python benchmarks/span_f1.py [sets]          (writes results/span_f1.md)

A document has 1 + Poisson(3) true spans; in a third of the documents three annotators mark each with probability .6,
in the others with .9, and each marks Poisson(.5) others. The true value is that of 20,000 documents of the same world.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from bayesagree.agreement import span_f1

COLUMNS = ["document", "annotator", "start", "end", "label"]


def world(rng, n):
    rows = []
    for d in range(n):
        true, found = 1 + rng.poisson(3), 0.6 if rng.random() < 1 / 3 else 0.9
        for who in ("ann", "bob", "cy"):
            rows.append((d, who, None, None, None))
            rows += [(d, who, 10 * k, 10 * k + 5, "X") for k in range(true) if rng.random() < found]
            rows += [(d, who, at, at + 3, "X") for at in rng.integers(1000, 10**6, rng.poisson(0.5))]
    return pd.DataFrame(rows, columns=COLUMNS)


def main(sets):
    rng = np.random.default_rng(7)
    true = float(span_f1(world(rng, 20_000), random_seed=1)["f1"].iloc[0])
    lines = ["# Span F1: coverage of the interval over documents", "", *(__doc__ or "").splitlines()[4:], ""]
    lines += [
        f"True F1 {true:.3f}; {sets} sets a row.",
        "",
        "| documents | covered | error | width |",
        "| --- " * 4 + "|",
    ]
    for n in (10, 30, 100):
        found = [span_f1(world(rng, n), random_seed=k).iloc[0] for k in range(sets)]
        inside = np.mean([row["lower"] <= true <= row["upper"] for row in found])
        width = np.mean([row["upper"] - row["lower"] for row in found])
        lines.append(f"| {n} | {inside:.3f} | {np.sqrt(inside * (1 - inside) / sets):.3f} | {width:.3f} |")
    text = "\n".join(lines) + "\n"
    Path(__file__).with_name("results").joinpath("span_f1.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
