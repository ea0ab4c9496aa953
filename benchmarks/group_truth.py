"""The truth of each group: simulated crowds and speed: benchmarks/results/group_truth.md.

    BAYESAGREE_DATA=<folder> uv run python benchmarks/group_truth.py [simulation speed] [--runs 10]

Parts that are not named keep their section of the page.

The simulation is that of NUTMEG (Ivey, Gauch, Jurgens, EMNLP 2025), whose published single runs stand beside ours.
"""

import argparse
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesagree import Labels, Predictions, evaluate, group_dirichlet
from bayesagree.plausibility import GroupDirichlet

CELLS = [(0.0, 0.0), (0.0, 0.3), (0.0, 1.0), (0.1, 0.1), (0.25, 0.0), (0.25, 0.3), (0.25, 0.5), (0.25, 1.0)]
"""Spam and divisiveness."""
METHODS = ["NUTMEG", "MACE", "Majority Vote"]


def crowd(spam: float, divisive: float, rng: np.random.Generator) -> tuple[Labels, dict[int, str], np.ndarray]:
    """Simulate 500 items of 5 votes by 150 annotators, 80 : 20; truths (group, item) of the majority and minority."""
    n_items, n_annotators = 500, 150
    minority = np.zeros(n_annotators, bool)
    minority[rng.permutation(n_annotators)[:30]] = True
    spamming = np.zeros(n_annotators) if spam == 0 else rng.beta(spam, 1 - spam, n_annotators)
    truth = np.tile(rng.integers(0, 2, n_items), (2, 1))
    truth[1] ^= rng.random(n_items) < divisive
    rows, left = [], np.full(n_annotators, 20)
    for i in range(n_items):
        for j in rng.choice(np.flatnonzero(left > 0), 5, replace=False):
            left[j] -= 1
            label = rng.integers(0, 2) if rng.random() < spamming[j] else truth[int(minority[j]), i]
            rows.append((i, j, int(label)))
    table = pd.DataFrame(rows, columns=["item", "annotator", "label"])
    members = {j: "minority" if minority[j] else "majority" for j in range(n_annotators)}
    return Labels.from_long(table, labels=[0, 1]), members, truth


def simulation(runs: int) -> list[str]:
    """Return a table of the minority's accuracy and the share of divisive items."""
    data = Path(os.environ["BAYESAGREE_DATA"]) / "nutmeg-figures"
    published = pd.read_csv(data / "exp1_comparison.csv").set_index(
        ["spamming_rate", "divisiveness_rate", "method"]
    )
    estimate = pd.read_csv(data / "disagreement_estimate.csv").set_index(["spamming_rate", "divisiveness_rate"])
    lines = [
        f"{runs} runs per cell. Accuracy of the minority's truths, then the share of divisive items: mean of ours, "
        "mean of the truth, and how "
        "often our 95 % interval holds it; NUTMEG's estimate for its own crowd. Published values are single runs.", "",
        "| spam, divisive | ours (se) | " + " | ".join(METHODS) + " | share: ours | truth | held | NUTMEG |",
        "| --- | " + "--- | " * 8,
    ]  # fmt: skip
    held_of_all = []
    for c, (spam, divisive) in enumerate(CELLS):
        accuracy, share, true, held = [], [], [], []
        for run in range(runs):
            labels, members, truth = crowd(spam, divisive, np.random.default_rng([c, run]))
            how: dict[str, Any] = {"draws": 250, "chains": 2, "random_seed": run}
            drawn = group_dirichlet(labels, groups=members, **how)["posterior"].to_dataset()
            best = drawn["plausibility"].sel(group="minority").mean(("chain", "draw")).values.argmax(axis=1)
            accuracy.append((best == truth[1]).mean())
            draws = drawn["divided"].sel(group="minority").values.ravel()
            share.append(draws.mean())
            true.append((truth[0] != truth[1]).mean())
            low, high = np.quantile(draws, [0.025, 0.975])
            held.append(low <= true[-1] <= high)
        held_of_all += held
        theirs = [f"{published.loc[(spam, divisive, m), 'minority_accuracy']:.3f}" for m in METHODS]
        nutmeg = estimate.loc[(spam, divisive), "estimated_divisiveness"]
        cell = f"{np.mean(accuracy):.3f} ({np.std(accuracy) / np.sqrt(runs):.3f})"
        lines.append(
            f"| {spam}, {divisive} | {cell} | {' | '.join(theirs)} | {np.mean(share):.3f} | {np.mean(true):.3f} | "
            f"{sum(held)} of {runs} | {nutmeg:.3f} |"
        )
        print(lines[-1], flush=True)
    mean = np.mean(held_of_all)
    error = np.sqrt(mean * (1 - mean) / len(held_of_all))
    return [*lines, "", f"Intervals that hold the share of divisive items: {mean:.3f} (error {error:.3f})."]


BESIDE = "two cores"


def _timed(n_items: int) -> tuple[str, float, float]:
    """Return what was evaluated (5 groups of 3 annotators, 5 labels, one model), and seconds of clock and processor."""
    rng = np.random.default_rng(1)
    common = rng.dirichlet(np.full(5, 0.5), n_items)
    label = (rng.random((n_items, 15, 1)) > np.cumsum(common, axis=1)[:, None]).sum(axis=2).clip(0, 4)
    labels = Labels.from_matrix(label, labels=range(5))
    members = {j: f"g{int(j) % 5}" for j in labels.annotators.tolist()}
    models = Predictions.from_scores({"m": common}, labels=range(5))
    start, used = time.perf_counter(), time.process_time()
    evaluate(labels, models, plausibility=GroupDirichlet(members), random_seed=1)
    what = (
        f"{n_items:,} items, 5 groups, 5 labels, {15 * n_items:,} votes, 4 x 1000 draws, accuracy of one model"
    )
    return what, time.perf_counter() - start, time.process_time() - used


def speed(runs: int) -> list[str]:
    """Return seconds of an evaluation of 2,000 items."""
    _timed(100)  # compiles
    what, clock, used = _timed(2_000)
    print(line := f"{what}: {clock:.1f} s, {used:.1f} s of processor time, {BESIDE}.", flush=True)
    return [line]


PARTS = {
    "simulation": ("Simulated crowds", simulation),
    "speed": ("Speed, 2,000 items", speed),
}


def main() -> None:
    """Write the named parts of the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    parser.add_argument("--runs", type=int, default=10)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    path = Path(__file__).parent / "results" / "group_truth.md"
    for name, (title, part) in PARTS.items():
        if name in given.parts:
            section = f"{title}\n\n" + "\n".join(part(given.runs))
            # Parts may run side by side.
            old = path.read_text().split("\n## ")[1:] if path.exists() else []
            page = {text.split("\n")[0]: text.rstrip() for text in old} | {title: section}
            ordered = [page[title] for title, _ in PARTS.values() if title in page]
            head = "# The truth of each group\n\nMade by `benchmarks/group_truth.py`.\n"
            path.write_text(head + "".join(f"\n## {text}\n" for text in ordered))


if __name__ == "__main__":
    main()
