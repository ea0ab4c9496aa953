"""Speed and calibration of Dawid-Skene against crowd-kit, each pair in one run.

    uv run --group bench python benchmarks/dawid_skene.py em
    uv run --group bench python benchmarks/dawid_skene.py calibration
    BAYESAGREE_DATA=<folder> uv run python benchmarks/dawid_skene.py gibbs
    uv run python benchmarks/dawid_skene.py scale

``em``: 500,000 labels of 100,000 items by 1000 annotators, 10 classes, 20 iterations. ``calibration``: 20 simulated
crowds of 2000 items, 3 labels each of 40 annotators, 4 classes, rows Dirichlet(1 + c_j on the diagonal), c_j ~ U(1, 8).
``gibbs``: the full model of crowd-gold/adult2, 4 chains of 250 kept draws. ``scale``: 10^5, 10^6 and 10^7 annotations
(20 iterations of EM; 20 Gibbs sweeps up to 10^6), 20 labels, 5 annotations an item, 100 an annotator, each size in a
process of its own. Times exclude compilation.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from bayesagree.annotations import Labels
from bayesagree.datasets.simulate import crowd_labels
from bayesagree.plausibility.calibration import label_probability
from bayesagree.plausibility.dawid_skene._crowd import Crowd
from bayesagree.plausibility.dawid_skene.em import dawid_skene_em
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene


def em() -> None:
    from crowdkit.aggregation import DawidSkene

    labels = crowd_labels(
        n_items=100_000, n_annotators=1000, n_labels=10, labels_per_item=5, random_seed=1
    ).labels
    table = pd.DataFrame(
        {"task": labels.item_index, "worker": labels.annotator_index, "label": labels.label_index}
    )
    dawid_skene_em(Crowd.of_labels(labels), max_iterations=2)
    ours, theirs = [], []
    for _ in range(3):
        start = time.perf_counter()
        dawid_skene_em(Crowd.of_labels(labels), max_iterations=20, tolerance=-1)
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        DawidSkene(n_iter=20, tol=-1).fit(table)
        theirs.append(time.perf_counter() - start)
    print(f"ours {min(ours):.2f} s, crowd-kit {min(theirs):.2f} s: {min(theirs) / min(ours):.1f} times faster")


def calibration() -> None:
    from crowdkit.aggregation import DawidSkene

    claims: dict[str, list] = {"full": [], "hierarchical": [], "EM": [], "crowd-kit EM": []}
    for random_seed in range(20):
        crowd = crowd_labels(random_seed=random_seed)
        labels = crowd.labels
        table = pd.DataFrame(
            {"task": labels.item_index, "worker": labels.annotator_index, "label": labels.label_index}
        )
        fitted = {
            "EM": label_probability(dawid_skene(labels, engine="em")).values,
            "crowd-kit EM": DawidSkene(n_iter=100)
            .fit_predict_proba(table)[list(range(4))]
            .sort_index()
            .to_numpy(),
        }
        for variant in ("full", "hierarchical"):
            tree = dawid_skene(
                labels, variant=variant, draws=250, top_labels=1, confusion=False, random_seed=random_seed
            )
            fitted[variant] = label_probability(tree).values
        for name, p in fitted.items():
            claims[name].append(np.stack([p.max(axis=1), p.argmax(axis=1) == crowd.truth]))
    for name, pairs in claims.items():
        claim, right = np.concatenate(pairs, axis=1)
        sure = claim > 0.99
        print(
            f"{name}: accuracy {right.mean():.4f}, claim {claim.mean():.4f}, gap {claim.mean() - right.mean():+.4f}; "
            f"above .99 ({sure.mean():.2f} of items): gap {claim[sure].mean() - right[sure].mean():+.4f}"
        )


def gibbs() -> None:
    import os
    from pathlib import Path

    path = Path(os.environ["BAYESAGREE_DATA"]) / "crowd-gold" / "adult2_labels.csv.gz"
    labels = Labels.from_long(pd.read_csv(path), annotator="worker", duplicates="keep")
    dawid_skene(labels, draws=4, tune=1, random_seed=1)
    start, work = time.perf_counter(), time.process_time()
    tree = dawid_skene(labels, draws=250, random_seed=1)
    seconds, work = time.perf_counter() - start, time.process_time() - work
    stats = tree["diagnostics"].to_dataset()
    print(
        f"{labels.n_annotations} labels, 4 x (500 + 250) sweeps: {seconds:.1f} s, {work:.1f} s of processor; "
        f"r-hat at most {float(stats['r_hat'].max()):.3f}, ess at least {float(stats['ess'].min()):.0f}"
    )


def scale() -> None:
    for engine, n in (("em", 10**5), ("em", 10**6), ("em", 10**7), ("gibbs", 10**5), ("gibbs", 10**6)):
        subprocess.run([sys.executable, __file__, f"scale_{engine}", str(n)], check=True)


def big_crowd(n: int) -> Labels:
    """Simulate n annotations: a label is right with the annotator's probability, else any of the hundred."""
    rng = np.random.default_rng(1)
    n_items, n_annotators, n_labels = n // 5, n // 100, 20
    item = np.repeat(np.arange(n_items, dtype=np.int32), 5)
    annotator = rng.integers(0, n_annotators, n, dtype=np.int32)
    truth = rng.integers(0, n_labels, n_items, dtype=np.int32)
    right = rng.random(n, dtype=np.float32) < rng.uniform(0.3, 0.9, n_annotators)[annotator]
    label = np.where(right, truth[item], rng.integers(0, n_labels, n, dtype=np.int32))
    once = np.broadcast_to(np.int64(1), item.shape)
    return Labels(
        np.arange(n_items), np.arange(n_annotators), item, annotator, np.arange(n_labels), label, once
    )  # fmt: skip


def scale_em(n: int) -> None:
    def fit(n: int) -> None:
        dawid_skene_em(Crowd.of_labels(big_crowd(n)), max_iterations=20, tolerance=-1)

    report_scale("EM, 20 iterations", n, fit)


def scale_gibbs(n: int) -> None:
    def fit(n: int) -> None:
        dawid_skene(
            big_crowd(n),
            draws=10,
            tune=10,
            chains=1,
            top_labels=1,
            confusion=False,
            random_seed=1,
        )

    report_scale("Gibbs, 20 sweeps", n, fit)


def report_scale(name: str, n: int, fit: Callable[[int], None]) -> None:
    fit(1000)
    start, work = time.perf_counter(), time.process_time()
    fit(n)
    seconds, work = time.perf_counter() - start, time.process_time() - work
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{name}: {n:.0e} annotations {seconds:.1f} s, {work:.1f} s of processor, {1e6 * work / n:.2f} us each, "
        f"peak {memory:.2f} GiB"
    )


if __name__ == "__main__":
    task = sys.argv[1] if len(sys.argv) > 1 else "em"
    sizes = [int(argument) for argument in sys.argv[2:]]
    tasks = {
        "em": em, "calibration": calibration, "gibbs": gibbs, "scale": scale, "scale_em": scale_em,
        "scale_gibbs": scale_gibbs,
    }  # fmt: skip
    tasks[task](*sizes)
