"""Every metric against one true label on cifar10h: 10,000 items, four models, 4000 draws.

uv run python benchmarks/metric_speed.py          (needs BAYESAGREE_DATA; writes results/metric_speed.md)

Seconds and peak memory of `evaluate`, draws included, in a process each; kernels are compiled before the clock starts.
The last row calls a Python function of scikit-learn on 100 of the draws.
"""

import multiprocessing
import resource
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import accuracy_score

from bayesagree import Predictions, dirichlet, evaluate, score
from bayesagree.datasets import load

ALL = (
    "accuracy", "balanced_accuracy", "precision_macro", "precision_micro", "precision_weighted", "recall_macro",
    "recall_micro", "recall_weighted", "specificity_macro", "f1_macro", "f1_micro", "f1_weighted", "f2_macro",
    "jaccard_macro", "matthews_corrcoef", "cohen_kappa", "log_loss", "brier", "expected_calibration_error",
    "roc_auc_ovr", "roc_auc_ovo", "average_precision",
)  # fmt: skip
JOBS = {
    "accuracy": ("accuracy",),
    "f1_macro": ("f1_macro",),
    "all of one confusion count": ALL[:16],
    "areas under curves": ALL[-3:],
    f"all {len(ALL)}": ALL,
    "total_variation": ("total_variation",),
}


def run(metrics: tuple[str, ...], queue: "multiprocessing.Queue[tuple[float, float]]") -> None:
    """Measure one job."""
    data = load("cifar10h")
    models = data.predictions
    scores = models.scores[:4].astype(float)
    scores /= scores.sum(axis=-1, keepdims=True)
    names = {"items": models.items.tolist(), "labels": models.categories.tolist()}
    models = Predictions.from_scores(dict(zip(models.models[:4].tolist(), scores)), **names)
    if metrics == ("accuracy_score",):
        truth = dirichlet(data.annotations, draws=25, random_seed=1)
        start = time.perf_counter()
        score(truth, models, accuracy_score)
    else:
        evaluate(data.annotations, models, metrics=metrics, draws=2, random_seed=1)
        start = time.perf_counter()
        evaluate(data.annotations, models, metrics=metrics, draws=1000, random_seed=1)
    seconds = time.perf_counter() - start
    queue.put((seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20))


def main() -> None:
    """Measure every job and write the table."""
    context = multiprocessing.get_context("spawn")
    rows = ["| metrics | seconds | GiB | of accuracy |", "| --- | --- | --- | --- |"]
    first = None
    for name, metrics in {**JOBS, "accuracy_score of scikit-learn, 100 draws": ("accuracy_score",)}.items():
        best, memory = np.inf, 0.0
        for _ in range(3 if len(metrics) == 1 else 1):
            queue: multiprocessing.Queue[tuple[float, float]] = context.Queue()
            process = context.Process(target=run, args=(metrics, queue))
            process.start()
            seconds, memory = queue.get()
            process.join()
            best = min(best, seconds)
        first = first or best
        rows.append(f"| {name} | {best:.2f} | {memory:.2f} | {best / first:.2f} |")
        print(rows[-1], flush=True)
    text = (__doc__ or "").replace("uv run python", "    uv run python")
    Path(__file__).parent.joinpath("results", "metric_speed.md").write_text(
        "# Metrics against one true label, speed\n\n" + text + "\n" + "\n".join(rows) + "\n"
    )


if __name__ == "__main__":
    main()
