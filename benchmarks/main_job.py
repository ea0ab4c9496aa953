"""The main job against plain numpy Dirichlet draws, in one run.

uv run python benchmarks/main_job.py          (needs BAYESAGREE_DATA)

Prints seconds, peak memory and ratios: cifar10h with four models, three reliabilities and 4 x 1000 draws; derm-ddx by
PrIRN with 1000 draws, certainty and top-3 accuracy, against numpy's draws alone. Each part runs in a process of its
own, so that its peak memory is its own; kernels are compiled (and cached) before the clock starts.
"""

import multiprocessing
import resource
import time
from collections.abc import Callable

import numpy as np

from bayesagree import annotation_certainty, evaluate, prirn, score
from bayesagree.datasets import load
from studies.systems import noisy_models


def ours_cifar10h() -> float:
    data = load("cifar10h")
    warm = {"draws": 2, "metrics": ("accuracy", "average_overlap_3"), "random_seed": 1}
    evaluate(data.annotations, data.predictions, **warm)
    start = time.perf_counter()
    evaluate(
        data.annotations,
        data.predictions,
        plausibility="dirichlet",
        reliability=(0.1, 1, 10),
        **(warm | {"draws": 1000}),
    )
    return time.perf_counter() - start


def numpy_cifar10h() -> float:
    counts = load("cifar10h").annotations.counts()  # type: ignore[union-attr]
    rng, start = np.random.default_rng(1), time.perf_counter()
    for reliability in (0.1, 1, 10):
        for row in counts:
            rng.dirichlet(reliability * row + 0.1, size=4000).argmax(axis=1)
    return time.perf_counter() - start


def ours_dermatology() -> float:
    rankings = load("derm-ddx").annotations
    models = noisy_models(rankings, n_models=4, random_seed=1)  # type: ignore[arg-type]
    prirn(rankings, draws=2, top_labels=1, random_seed=1)  # type: ignore[arg-type]
    start = time.perf_counter()
    tree = prirn(rankings, reliability=10, draws=1000, chains=1, random_seed=1, top_labels=1)  # type: ignore[arg-type]
    annotation_certainty(tree)
    score(tree, models, "top_3_accuracy")
    return time.perf_counter() - start


def numpy_dermatology() -> float:
    rankings = load("derm-ddx").annotations
    tree = prirn(rankings, reliability=10, draws=1, chains=1, random_seed=1, top_labels=1)  # type: ignore[arg-type]
    shapes = tree["posterior_parameters"]["concentration"].values
    rng, start = np.random.default_rng(1), time.perf_counter()
    for row in shapes:
        rng.dirichlet(row, size=1000)
    return time.perf_counter() - start


def measured(work: Callable[[], float]) -> tuple[float, float]:
    """Run in a fresh process; return seconds and its peak memory in GiB."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_with_memory, (work,))


def _with_memory(work: Callable[[], float]) -> tuple[float, float]:
    seconds = work()
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    pairs = {
        "cifar10h, 4 models, 3 reliabilities, 4 x 1000 draws, 2 metrics": (ours_cifar10h, numpy_cifar10h),
        "derm-ddx, PrIRN, 1000 draws, certainty and top-3 accuracy": (ours_dermatology, numpy_dermatology),
    }
    for name, (ours, peer) in pairs.items():
        (t_ours, m_ours), (t_peer, m_peer) = measured(ours), measured(peer)
        print(name)
        print(f"  ours {t_ours:7.2f} s, {m_ours:.2f} GiB;  numpy draws alone {t_peer:7.2f} s, {m_peer:.2f} GiB")
        print(f"  numpy / ours = {t_peer / t_ours:.1f}")


if __name__ == "__main__":
    main()
