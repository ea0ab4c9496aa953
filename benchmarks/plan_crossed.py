"""Predicted widths of Fleiss' kappa where the same annotators return for every item, against a complete matrix.

BAYESAGREE_DATA=<folder> uv run python benchmarks/plan_crossed.py [studies]         (writes results/plan_crossed.md)

dices350: 350 conversations, each labelled safe, unsafe or unsure by the same 123 raters. `plan` predicts widths from
pilots of 100 items with five labels each, by five raters who return (crossed), or by others on each item (separate). A
study takes items with replacement and n raters: the same for all items (crossed), or others on each (separate).
`width` is the mean width of the interval of `agreement_table`, crossed with ``annotators="sample"``, `needed` 3.92
standard deviations of kappa over studies, `covered` the share of studies whose interval holds the kappa of the whole
matrix, and `fixed` the same of intervals about the annotators of the study, which are not made to hold it.
"""

import os
import sys
import warnings
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesagree import Labels, agreement_table, plan

STUDIES, PILOTS, ITEMS, RATERS = 200, 12, (50, 100, 200), (4, 5, 10)
PAGE = Path(__file__).parent / "results" / "plan_crossed.md"


def study(every: NDArray, items: int, raters: int, crossed: bool, rng: np.random.Generator) -> Labels:
    """Draw the labels of some items by some raters."""
    n_items, n_raters = every.shape
    rows = rng.integers(n_items, size=(items, 1))
    if crossed:
        return Labels.from_matrix(every[rows, rng.permutation(n_raters)[:raters]], labels=[0, 1, 2])
    columns = np.argsort(rng.random((items, n_raters)), axis=1)[:, :raters]
    counts = np.stack([(every[rows, columns] == k).sum(axis=1) for k in range(3)], axis=1)
    return Labels.from_counts(counts, labels=[0, 1, 2])


def kappa(labels: Labels, annotators: Literal["fixed", "sample"] = "fixed") -> tuple[float, float, float]:
    """Return Fleiss' kappa and the ends of its interval."""
    row = agreement_table(labels, annotators=annotators, random_seed=0).set_index("coefficient").loc["fleiss_kappa"]
    return float(row["estimate"]), float(row["lower"]), float(row["upper"])


def holds(found: NDArray, true: float) -> str:
    """Return the share of intervals that hold the value, with its error."""
    share = ((found[:, 1] <= true) & (true <= found[:, 2])).mean()
    return f"{share:.3f} ({np.sqrt(share * (1 - share) / len(found)):.3f})"


def main(studies: int) -> None:
    """Compare plans with studies and write the page."""
    warnings.simplefilter("ignore")
    every = np.load(Path(os.environ["BAYESAGREE_DATA"]) / "dices350/dices350.npz")["labels"].astype(int)
    true = kappa(Labels.from_counts(np.stack([(every == k).sum(axis=1) for k in range(3)], axis=1)))[0]
    lines = [f"Kappa of the whole matrix: {true:.3f}. {studies} studies of a design, {PILOTS} pilots.", ""]
    lines += ["| annotators | items | raters | predicted | width | needed | covered | fixed |", "| --- " * 8 + "|"]
    for who in ("separate", "crossed"):
        crossed = who == "crossed"
        design: dict[str, Any] = {"items": ITEMS, "annotators": RATERS, "metric": "fleiss_kappa", "crossed": crossed}
        pilots = [
            study(every, 100, 5, crossed, np.random.default_rng([1, random_seed])) for random_seed in range(PILOTS)
        ]
        plans = [
            plan(pilot, **design, random_seed=random_seed)["width"].values for random_seed, pilot in enumerate(pilots)
        ]
        for (i, items), (r, raters) in product(enumerate(ITEMS), enumerate(RATERS)):
            rngs = [np.random.default_rng([2, random_seed, items, raters, crossed]) for random_seed in range(studies)]
            drawn = [study(every, items, raters, crossed, rng) for rng in rngs]
            found = np.array([kappa(one, "sample" if crossed else "fixed") for one in drawn])
            held = holds(found, true), holds(np.array([kappa(one) for one in drawn]), true) if crossed else ""
            widths = np.mean([one[i, r] for one in plans]), np.mean(found[:, 2] - found[:, 1])
            numbers = " | ".join(f"{width:.3f}" for width in (*widths, 3.92 * found[:, 0].std(ddof=1)))
            lines.append(f"| {who} | {items} | {raters} | {numbers} | {held[0]} | {held[1]} |")
            print(lines[-1], flush=True)
    head, _, text = (__doc__ or "").strip().partition("\n\n")
    command, _, text = text.partition("\n\n")
    PAGE.write_text("\n".join([f"# {head.rstrip('.')}\n\n    {command}\n\n{text}\n", *lines]) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES)
