"""Concordance of many models at once against a loop over `scipy.stats.kendalltau`, in one run.

Run: python benchmarks/auc.py            (all processors)
     taskset -c 0 python benchmarks/auc.py   (one)
"""

import time
from collections.abc import Callable

import numpy as np
from scipy.stats import kendalltau

from bayesagree.inference.streams import n_threads
from bayesagree.metrics import concordance


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the shortest of a few runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def report(name: str, scores: np.ndarray, truth: np.ndarray, repeats: int) -> None:
    """Print one line: ours, scipy and their ratio."""
    concordance(scores[:2], truth)  # compile
    ours = seconds(lambda: concordance(scores, truth), repeats)
    theirs = seconds(lambda: [kendalltau(row, truth) for row in scores], repeats)
    size = f"{scores.shape[0]} x {scores.shape[1]}"
    print(f"{size:<14} {name:<11} ours {ours:.4f}  scipy {theirs:.4f}  ratio {theirs / ours:.1f}")


def main() -> None:
    """Compare two sizes, with and without ties in the truth."""
    rng = np.random.default_rng(0)
    print(f"{n_threads()} threads; models x items, seconds")
    for n_items, repeats in ((1000, 60), (100_000, 3)):
        scores, truth = rng.random((100, n_items)), rng.random(n_items)
        report("continuous", scores, truth, repeats)
        report("46 levels", scores, np.round(truth * 45), repeats)


if __name__ == "__main__":
    main()
