"""How often the gates `bayesagree check` pass, where the true difference of the two models on the items is known.

    NUMBA_NUM_THREADS=1 uv run python benchmarks/gates.py [POSTERIOR ... | looks RUNS]

Simulated: plausibilities of three labels are Dirichlet(.3), three votes per item are drawn from them. The old model is
right (names the most plausible label) on 80 % of the items; errors are more likely where the plausibilities are split.
The new model differs from it on 10 % of the items: on as many it is right instead of wrong as the other way round, but
for the stated true difference, so that the difference is exact and no sampling of items is left in it. The rest of the
items are predicted alike. Rows: posterior, items, true difference; columns: share of runs in which each gate passes.
"""

import sys
import time

import numpy as np
from numpy.typing import NDArray

from bayesagree import Labels, Predictions, evaluate
from bayesagree.evaluation.gates import claim_of, required_probability

VOTES, LABELS, ACCURACY, CHANGED = 3, 3, 0.8, 0.1
RUNS = 200
SIZES = {"dirichlet": (300, 1000, 3000), "informed_dirichlet": (300, 1000, 3000)}
GATES = {"better": 0.0, "not worse by .01": -0.01, "not worse by .03": -0.03}


def other(label: NDArray, rng: np.random.Generator) -> NDArray:
    """Another label than each of these, at random."""
    return (label + rng.integers(1, LABELS, label.size)) % LABELS


def case(n_items: int, difference: float, random_seed: list[int]) -> tuple[Labels, Predictions]:
    """Votes, and two models whose accuracies differ by exactly so much."""
    rng = np.random.default_rng(random_seed)
    truth = rng.dirichlet(np.full(LABELS, 0.3), n_items)
    top = truth.argmax(axis=1)
    # Items in an order that puts split ones first, but not strictly.
    order = np.argsort(truth.max(axis=1) + rng.normal(0, 0.3, n_items))
    wrong = order[: round((1 - ACCURACY) * n_items)]
    old = top.copy()
    old[wrong] = other(top[wrong], rng)
    new = old.copy()
    gained, lost = (round((CHANGED + sign * difference) / 2 * n_items) for sign in (1, -1))
    mended = rng.choice(wrong, gained, replace=False)
    new[mended] = top[mended]
    # New errors as split as old ones: right items next in the same order.
    spoilt = rng.choice(order[wrong.size : 2 * wrong.size], lost, replace=False)
    new[spoilt] = other(top[spoilt], rng)
    votes = Labels.from_counts(rng.multinomial(VOTES, truth), labels=list(range(LABELS)))
    return votes, Predictions.from_labels({"new": new, "old": old}, labels=list(range(LABELS)))


def row(plausibility: str, n_items: int, difference: float) -> dict[str, str | int | float]:
    """Shares of runs in which each gate passes, with Monte-Carlo errors."""
    passed = dict.fromkeys(GATES, 0)
    for run in range(RUNS):
        labels, models = case(n_items, difference, [n_items, round(1000 * difference) + 1000, run])
        tree = evaluate(labels, models, plausibility=plausibility, draws=250, random_seed=run)
        for name, margin in GATES.items():
            passed[name] += claim_of(tree, "new", "old", 0.95, margin, "accuracy").supported
    shares = {name: count / RUNS for name, count in passed.items()}
    columns = {name: f"{p:.3f} ({np.sqrt(p * (1 - p) / RUNS):.3f})" for name, p in shares.items()}
    return {"posterior": plausibility, "items": n_items, "true difference": difference, "runs": RUNS} | columns


def looks(runs: int, number: int = 10, batch: int = 100) -> None:
    """Print how often equal models pass at least once in several looks at a growing set of labels alone."""
    passed = np.zeros((runs, number, 2), bool)
    for run in range(runs):
        labels, models = case(number * batch, 0.0, [5, run])
        order = np.random.default_rng([6, run]).permutation(number * batch)
        for look in range(number):
            seen = labels.select(np.isin(labels.item_index, order[: (look + 1) * batch]))
            tree = evaluate(
                seen, models.on_items(seen.items), plausibility="dirichlet", draws=250, random_seed=run
            )
            for k, required in enumerate((0.95, required_probability(0.95, number))):
                passed[run, look, k] = claim_of(tree, "new", "old", required, 0.0, "accuracy").supported
    share = passed.any(axis=1).mean(axis=0)
    print(
        f"equal models pass one of {number} looks: {share[0]:.3f}; with looks={number}: {share[1]:.3f}; {runs} runs"
    )


def main() -> None:
    if sys.argv[1:2] == ["looks"]:
        return looks(int(sys.argv[2]))
    began = time.process_time()
    print("| posterior | items | true difference | runs | " + " | ".join(GATES) + " |")
    print("| --- " * (4 + len(GATES)) + "|")
    for plausibility in sys.argv[1:] or SIZES:
        for n_items in SIZES[plausibility]:
            for difference in (0.0, -0.03):
                print(
                    "| " + " | ".join(map(str, row(plausibility, n_items, difference).values())) + " |",
                    flush=True,
                )
    print(f"\n{time.process_time() - began:.0f} s of processor time.")


if __name__ == "__main__":
    main()
