"""Predicted widths of Fleiss' kappa where the same annotators return for every item, against a complete matrix.

BAYESAGREE_DATA=<folder> uv run python benchmarks/plan_crossed.py [studies]         (writes results/plan_crossed.md)

dices350: 350 conversations, each labelled safe, unsafe or unsure by the same 123 raters. `plan` predicts widths from
pilots of 100 items with three labels each, by three raters who return (crossed), or by others on each item (anonymous).
A study takes items with replacement and n raters: the same for all items (crossed), or others on each (anonymous).
`width` is the mean width of the interval of `agreement_table`, `needed` 3.92 standard deviations of kappa over studies,
`covered` the share of studies whose interval holds the kappa of the whole matrix. The interval is one over items: it
takes the annotators of a study for those that the statement is about.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayesagree import Labels, agreement_table, plan

STUDIES, PILOTS, ITEMS, RATERS = 60, 8, (50, 100, 200), (3, 5, 10)
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


def kappa(labels: Labels, seed: int) -> tuple[float, float, float]:
    """Return Fleiss' kappa and the ends of its interval."""
    row = agreement_table(labels, seed=seed).set_index("coefficient").loc["fleiss_kappa"]
    return float(row["estimate"]), float(row["lower"]), float(row["upper"])


def main(studies: int) -> None:
    """Compare plans with studies and write the page."""
    warnings.simplefilter("ignore")
    every = np.load(Path(os.environ["BAYESAGREE_DATA"]) / "dices350/dices350.npz")["labels"].astype(int)
    true = kappa(Labels.from_counts(np.stack([(every == k).sum(axis=1) for k in range(3)], axis=1)), 0)[0]
    lines = [f"Kappa of the whole matrix: {true:.3f}. {studies} studies of a design, {PILOTS} pilots.", ""]
    lines += ["| annotators | items | raters | predicted | width | needed | covered |", "| --- " * 7 + "|"]
    for crossed in (False, True):
        made = [study(every, 100, 3, crossed, np.random.default_rng([1, seed])) for seed in range(PILOTS)]
        plans = [plan(one, items=ITEMS, annotators=RATERS, metric="fleiss_kappa", seed=seed)["width"].values
                 for seed, one in enumerate(made)]  # fmt: skip
        predicted = np.mean(plans, axis=0)
        for i, items in enumerate(ITEMS):
            for r, raters in enumerate(RATERS):
                rngs = [np.random.default_rng([2, seed, items, raters, crossed]) for seed in range(studies)]
                found = np.array([kappa(study(every, items, raters, crossed, rng), 0) for rng in rngs])
                covered = ((found[:, 1] <= true) & (true <= found[:, 2])).mean()
                error, needed = np.sqrt(covered * (1 - covered) / studies), 3.92 * found[:, 0].std(ddof=1)
                who = "crossed" if crossed else "anonymous"
                lines.append(f"| {who} | {items} | {raters} | {predicted[i, r]:.3f} | "
                             f"{np.mean(found[:, 2] - found[:, 1]):.3f} | {needed:.3f} | "
                             f"{covered:.3f} ({error:.3f}) |")  # fmt: skip
                print(lines[-1], flush=True)
    head, _, text = (__doc__ or "").strip().partition("\n\n")
    command, _, text = text.partition("\n\n")
    PAGE.write_text("\n".join([f"# {head.rstrip('.')}\n\n    {command}\n\n{text}\n", *lines]) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES)
