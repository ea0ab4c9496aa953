"""Coverage of the 95 % intervals of `icc` where ratings are missing.

uv run python benchmarks/icc.py          (writes results/icc.md)

Ratings are normal; items have variance a, annotators b, errors 1, and .3 of the ratings are missing at random. Each
share is over 60 sets: its Monte-Carlo error is .03 at .95. "error" is the mean of the estimate minus the truth.

Kinds 1 take the annotators of every item as drawn anew; here the same ones rate all items, so that their errors are not
independent, and with b = .5 the intervals of 1,1 cover .80 to .90.
"""

import sys
from pathlib import Path

import numpy as np

from bayesagree import Ratings
from bayesagree.agreement import icc

CELLS = [(n, p, a, b) for n, p in ((20, 3), (50, 5)) for a, b in ((0.5, 0.1), (2.0, 0.1), (1.0, 0.5))] + [
    (200, 5, 0.5, 0.1)
]


def main() -> None:
    """Write the table."""
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    kinds = ("1,1", "2,1", "3,1", "1,k", "2,k", "3,k")
    lines = [
        "| items | annotators | a | b | "
        + " | ".join(f"{kind}: coverage (width), error" for kind in kinds)
        + " |"
    ]
    lines.append("| --- " * (4 + len(kinds)) + "|")
    for items, people, a, b in CELLS:
        rng, found = np.random.default_rng(1), {kind: [] for kind in kinds}
        for _ in range(worlds):
            x = np.sqrt(a) * rng.standard_normal((items, 1)) + np.sqrt(b) * rng.standard_normal((1, people))
            x = x + rng.standard_normal((items, people))
            x[rng.random(x.shape) < 0.3] = np.nan
            for row in icc(Ratings.from_matrix(x, scale=(-20, 20)), k=people, random_seed=rng).itertuples():
                noise = (1 + (b if row.kind[0] in "12" else 0)) / row.k
                true = a / (a + noise)
                found[row.kind].append(
                    (row.lower <= true <= row.upper, row.upper - row.lower, row.estimate - true)
                )
        cells = ("{:.2f} ({:.2f}), {:+.3f}".format(*np.mean(found[kind], axis=0)) for kind in kinds)
        lines.append(f"| {items} | {people} | {a} | {b} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    text = f"# Coverage of intraclass correlations\n\n{__doc__.replace('uv run', '    uv run')}\n{worlds} sets.\n\n"
    (Path(__file__).parent / "results" / "icc.md").write_text(text + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
