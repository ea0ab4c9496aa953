"""Coverage of the intervals of `agreement_table` by pair, annotator and category.

uv run python benchmarks/agreement_details.py [sets]          (writes results/agreement_details.md)

Three annotators who are right with probability .9, .75 and .6; two labels, of which one has .6 of the items. True
values are those of 20,000 items. The intervals of one set count as one value of the Monte-Carlo error.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesagree import Labels, agreement_table

PAGE = Path(__file__).parent / "results" / "agreement_details.md"
RIGHT, BATCHES = [0.9, 0.75, 0.6], 5


def table(n: int, by: Any, rng: np.random.Generator) -> pd.DataFrame:
    """Return the table of n items."""
    truth = (rng.random((n, 1)) < 0.6).astype(int)
    answers = np.where(rng.random((n, 3)) < RIGHT, truth, 1 - truth)
    return agreement_table(Labels.from_matrix(answers, labels=[0, 1]), by=by, random_seed=rng)


def main(sets: int) -> None:
    """Write the page."""
    lines = ["| by | items | sets | covered | width |", "| --- " * 5 + "|"]
    for by in ("pair", "annotator", "category"):
        rng = np.random.default_rng(0)
        true = np.mean([table(4000, by, rng)["estimate"] for _ in range(BATCHES)], axis=0)
        for n in (20, 50, 200):
            found = [table(n, by, np.random.default_rng([1, n, s])) for s in range(sets)]
            held = np.array([((one["lower"] <= true) & (true <= one["upper"])).mean() for one in found])
            width = np.mean([(one["upper"] - one["lower"]).mean() for one in found])
            error = held.std(ddof=1) / np.sqrt(sets)
            lines.append(f"| {by} | {n} | {sets} | {held.mean():.3f} ({error:.3f}) | {width:.3f} |")
            print(lines[-1], flush=True)
    head, _, text = (__doc__ or "").strip().partition("\n\n")
    PAGE.write_text(f"# {head.rstrip('.')}\n\n    {text}\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
