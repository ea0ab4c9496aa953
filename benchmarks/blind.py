"""Blind evaluation of ten systems on 16,758 items (the size of the TREC 2011 crowdsourcing track), in one run.

    uv run python benchmarks/blind.py

Prints the time of sampling with 1000 pseudo-gold sets and its ratio to plain numpy, which draws one set after the other
and counts its confusion matrices by comparing arrays; then the times of the ten methods of the paper, and of the
Bayesian one. Each is called twice and the second call counts: the first may compile.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesagree.annotations import Labels
from bayesagree.blind.scores import METHODS, WITH_CROWD, blind_scores
from studies.systems import simulated_systems

N_ITEMS, N_CROWD, SETS = 16_758, 1_906, 1_000


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    work()
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def plain_sampling(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Count (true, predicted) of every system against sets that give each item the label of a random system."""
    counts = np.zeros((codes.shape[0], 2, 2))
    items = np.arange(codes.shape[1])
    positive = codes == 1
    for _ in range(SETS):
        gold = positive[rng.integers(codes.shape[0], size=codes.shape[1]), items]
        for true, of_truth in enumerate((~gold, gold)):
            for given, of_system in enumerate((~positive, positive)):
                counts[:, true, given] += (of_truth & of_system).sum(axis=1)
    return np.trace(counts, axis1=1, axis2=2) / counts.sum(axis=(1, 2))


def main() -> None:
    systems = simulated_systems(n_items=N_ITEMS, random_seed=1)
    codes = systems.predictions.hard_labels()
    rng = np.random.default_rng(2)
    chosen = rng.choice(N_ITEMS, N_CROWD, replace=False)
    right = rng.random((N_CROWD, 1)) < 0.85
    crowd = Labels.from_matrix(np.where(right, *(t[chosen, None] for t in (systems.truth, 1 - systems.truth))),
                               items=chosen.tolist())  # fmt: skip

    took, scores = seconds(
        lambda: blind_scores(systems.predictions, method="sampling", sets=SETS, random_seed=3)
    )
    plain, expected = seconds(lambda: plain_sampling(codes, np.random.default_rng(4)))
    print(f"sampling, {SETS} sets, {N_ITEMS} x {codes.shape[0]}: {took:.2f} s; plain numpy {plain:.2f} s; "
          f"ratio {took / plain:.2f}; largest difference {np.abs(scores.values - expected).max():.1e}")  # fmt: skip

    total = 0.0
    for method in METHODS:
        given = {"crowd": crowd} if method in WITH_CROWD else {}
        took, _ = seconds(
            lambda m=method, how=given: blind_scores(systems.predictions, method=m, random_seed=3, **how)
        )
        print(f"{method:20s} {took:6.2f} s")
        total += took if method != "dawid_skene" else 0.0
    print(f"the paper's ten methods: {total:.2f} s")


if __name__ == "__main__":
    main()
