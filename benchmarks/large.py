"""Scores and crowds of files larger than memory: seconds and peak memory as the file grows, in threads and on workers.

    uv run --group bench python benchmarks/large.py [ITEMS ...] [--workers] [--job NAME]

By default 200,000, 2,000,000 and 20,000,000 items and all jobs.

Writes labels (five an item, by 100 annotators who err in their own way, five labels) and hard predictions of two models
as Parquet sorted by item, then runs each job in a process of its own: `evaluate` with 100 draws, with votes
alone and informed by the models (up to 4,000,000 items), `dawid_skene(engine="em")` with ten iterations. With --workers
the jobs of the first size run once more on a `LocalCluster` of one process, and on those of two and four with as many
times the items (weak scaling), and bytes per item that go to workers are printed. Writes nothing: the tables are in
results/large.md.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bayesagree import LabelBatches, Labels, Predictions, read_predictions
from bayesagree.evaluation import evaluate
from bayesagree.plausibility.dawid_skene import dawid_skene

PER_ITEM, ANNOTATORS, LABELS, PART = 5, 100, 5, 200_000
MODELS = {"A": 0.8, "B": 0.75}


def write(folder: Path, n_items: int) -> None:
    """Write labels and predictions."""
    rng = np.random.default_rng(1)
    right = rng.beta(8, 3, ANNOTATORS)
    with (
        pq.ParquetWriter(folder / "labels.parquet", _schema("annotator", pa.int32())) as labels,
        pq.ParquetWriter(folder / "predictions.parquet", _schema("model", pa.string())) as predictions,
    ):
        for start in range(0, n_items, PART):
            n = min(PART, n_items - start)
            item, truth = np.arange(start, start + n, dtype=np.int32), rng.integers(0, LABELS, n)

            def said(chance: np.ndarray, truth: np.ndarray) -> np.ndarray:
                wrong = rng.integers(0, LABELS, chance.size)
                return np.where(rng.random(chance.size) < chance, truth, wrong).astype(np.int8)

            first = rng.integers(0, ANNOTATORS, n)
            who = ((first[:, None] + 17 * np.arange(PER_ITEM)) % ANNOTATORS).astype(np.int32).ravel()
            answer = said(right[who], np.repeat(truth, PER_ITEM))
            labels.write_table(pa.Table.from_arrays([np.repeat(item, PER_ITEM), who, answer], schema=labels.schema))
            names, chance = np.tile(list(MODELS), n), np.tile(list(MODELS.values()), n)
            answer = said(chance, np.repeat(truth, len(MODELS)))
            rows = [np.repeat(item, len(MODELS)), names, answer]
            predictions.write_table(pa.Table.from_arrays(list(map(pa.array, rows)), schema=predictions.schema))


def _schema(who: str, kind: Any) -> pa.Schema:
    return pa.schema({"item": pa.int32(), who: kind, "label": pa.int8()})


def batches(folder: Path) -> LabelBatches:
    return LabelBatches(folder / "labels.parquet", labels=range(LABELS))


def pairs(folder: Path) -> Iterator[tuple[Labels, Predictions]]:
    for labels in batches(folder):
        path = folder / "predictions.parquet"
        yield labels, read_predictions(path, items=labels.items, labels=range(LABELS))


def reading(folder: Path, client: Any) -> None:
    for _ in pairs(folder):
        pass


def votes(folder: Path, client: Any) -> None:
    evaluate(pairs(folder), plausibility="dirichlet", draws=25, seed=1, client=client)


def informed(folder: Path, client: Any) -> None:
    evaluate(pairs(folder), plausibility="informed_dirichlet", draws=25, seed=1, client=client)


def crowd(folder: Path, client: Any) -> None:
    dawid_skene(batches(folder), engine="em", max_iterations=10, tolerance=-1, client=client)


MOST_INFORMED = 2_000_000
JOBS: dict[str, Callable[[Path, Any], None]] = {
    "reading both files": reading,
    "scores, votes alone": votes,
    "scores, informed": informed,
    "EM, ten iterations": crowd,
}


def measure(job: str, folder: Path) -> tuple[float, float]:
    """Run a job; return seconds, and the peak memory of this process in GiB."""
    return _timed(job, folder, None), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def on_workers(job: str, folder: Path, workers: int) -> float:
    """Run a job twice on as many worker processes, the first time to load and compile; return seconds."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        return [_timed(job, folder, client) for _ in range(2)][1]


def bytes_per_item(folder: Path) -> float:
    """Return what a worker needs to know of an item: annotations and predictions as they travel."""
    from distributed.protocol.pickle import dumps

    labels, predictions = next(pairs(folder))
    return len(dumps((labels, predictions))) / labels.items.size


def _timed(job: str, folder: Path, client: Any) -> float:
    start = time.perf_counter()
    JOBS[job](folder, client)
    return time.perf_counter() - start


def rows(n_items: int, workers: int, jobs: list[str]) -> None:
    """Print a row of each job."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(folder, n_items)
        for job in jobs:
            if job == "scores, informed" and n_items > 2 * MOST_INFORMED:
                continue
            if workers:
                taken = on_workers(job, folder, workers)
                print(f"| {n_items * PER_ITEM:,} | {workers} | {job} | {taken:.1f} |", flush=True)
                continue
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                seconds, peak = pool.apply(measure, (job, folder))
            print(f"| {n_items * PER_ITEM:,} | {job} | {seconds:.1f} | {peak:.2f} |", flush=True)
        if workers > 1:
            print(f"\n{bytes_per_item(folder):.0f} bytes an item go to each worker.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("items", nargs="*", type=int, default=[200_000, 2_000_000, 20_000_000])
    parser.add_argument("--workers", action="store_true")
    parser.add_argument("--job", action="append", choices=JOBS, help="only this one, or these")
    arguments = parser.parse_args()
    jobs = arguments.job or list(JOBS)
    warnings.simplefilter("ignore")  # ten iterations do not converge
    print("| annotations | job | seconds | peak memory, GiB |", "| ---: | --- | ---: | ---: |", sep="\n")
    for n_items in arguments.items:
        rows(n_items, 0, jobs)
    if arguments.workers:
        print("\n| annotations | worker processes | job | seconds |", "| ---: | ---: | --- | ---: |", sep="\n")
        for workers in (1, 2, 4):
            rows(workers * arguments.items[0], workers, jobs)


if __name__ == "__main__":
    main()
