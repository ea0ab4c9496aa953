"""Coverage of the accuracies of systems without gold, where systems err independently and where they do not.

uv run python benchmarks/blind_intervals.py [sets [shape]]          (writes results/blind_intervals.md)

Systems of two or three labels, accuracies from .6 to .9, true labels alike often, wrong labels too; `blind_posterior`
with its default method and ``items="fixed"``, 2 x 250 draws. `independent`: errors have nothing to do with each other.
`difficulty`: the log odds of being right are 1.3 times those of the accuracy plus a normal difficulty of the item, with
standard deviation 1.5, the same for all systems. `alike`: all systems err on the same 8 % of the items. True value: the
accuracy on these items. `without difficulty` is `dawid_skene` (variant "full") on the same data. `warned` is the share
of sets with a warning, `check` that with p < .05 in `independence_check`. A shape such as "4, 150, 2" runs its rows
alone, beside the others as they stand.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import scipy as sp

from bayesagree import Labels, Predictions, dawid_skene
from bayesagree.blind import blind_posterior, independence_check
from bayesagree.inference.intervals import column_hdi

SETS, KINDS = 40, ("independent", "difficulty", "alike")
SHAPES = ((4, 150, 2), (8, 300, 2), (4, 150, 3), (8, 300, 3))
PAGE = Path(__file__).parent / "results" / "blind_intervals.md"


def world(
    kind: str, systems: int, items: int, labels: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return labels (item, system) and the accuracies on these items."""
    accuracy, truth = np.linspace(0.6, 0.9, systems), rng.integers(labels, size=(items, 1))
    right = np.tile(accuracy, (items, 1))
    if kind == "difficulty":
        right = sp.special.expit(1.3 * sp.special.logit(accuracy) + 1.5 * rng.normal(size=(items, 1)))
    elif kind == "alike":
        right[rng.random(items) < 0.08] = 0
    is_right = rng.random(right.shape) < right
    return np.where(is_right, truth, (truth + rng.integers(1, labels, right.shape)) % labels), is_right.mean(
        axis=0
    )


def one(kind: str, systems: int, items: int, labels: int, random_seed: int) -> list[float]:
    """Return coverage, bias, width, coverage and width without difficulty, and whether either alarm was raised."""
    said, true = world(kind, systems, items, labels, np.random.default_rng([random_seed, systems, items]))
    models = Predictions.from_labels(
        {f"s{j}": column for j, column in enumerate(said.T)}, labels=list(range(labels))
    )
    run = {"draws": 250, "chains": 2, "random_seed": random_seed}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        drawn = blind_posterior(models, metrics=("accuracy",), items="fixed", **run)["posterior"][
            "accuracy"
        ].values
        warned = any("same items" in str(warning.message) for warning in caught)
        plain = dawid_skene(
            Labels.from_matrix(said, labels=list(range(labels))), variant="full", top_labels=1, **run
        )
        check = (
            float(independence_check(models, draws=100, chains=2, random_seed=random_seed)["p_value"]) < 0.05
        )
    top = plain["posterior"]["top_label"].values.reshape(-1, items)
    without = np.stack([(top == column).mean(axis=1) for column in said.T], axis=1)
    found = []
    for scores in (drawn.reshape(-1, systems), without):
        lower, upper = column_hdi(scores)
        found += [np.mean((lower <= true + 1e-9) & (true <= upper + 1e-9)), (upper - lower).mean()]
    return [*found, drawn.mean() - true.mean(), warned, check]


def main(sets: int, only: str) -> None:
    """Run all worlds, or those of one shape beside the others as they stand, and write the page."""
    head = "systems, items, labels | world | covered | bias | width | without difficulty | its width | warned | check"
    lines = [f"| {head} |", "| --- " * 9 + "|"]
    written = PAGE.read_text().splitlines() if PAGE.exists() else []
    for shape in SHAPES:
        words = ", ".join(map(str, shape))
        for kind in KINDS:
            stored = [line for line in written if line.startswith(f"| {words} | {kind} |")]
            if only not in f"{words}, {kind}" and stored:
                lines += stored
                continue
            found = np.array([one(kind, *shape, random_seed) for random_seed in range(sets)], float)
            held, width, old, old_width, bias, warned, check = found.mean(axis=0)
            error = found[:, 0].std(ddof=1) / np.sqrt(sets)
            lines.append(f"| {words} | {kind} | {held:.3f} ({error:.3f}) | {bias:+.3f} | {width:.3f} | "
                         f"{old:.3f} | {old_width:.3f} | {warned:.2f} | {check:.2f} |")  # fmt: skip
            print(lines[-1], flush=True)
    head, _, text = (__doc__ or "").strip().partition("\n\n")
    command, _, text = text.partition("\n\n")
    PAGE.write_text("\n".join([f"# {head.rstrip('.')}\n\n    {command}\n\n{text}\n", *lines]) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SETS, sys.argv[2] if len(sys.argv) > 2 else "")
