"""A hundred million annotations on one machine: Phi, alpha and mean certainty from a file larger than memory.

    uv run python benchmarks/stream.py [ITEMS ...]      (by default 200,000, 2,000,000 and 20,000,000)

Writes a Parquet file of 5 ratings on 5 levels for each item (whole-number ids, sorted by item), then prints, each size
in a process of its own, seconds and peak memory of one pass and of what is computed from its patterns, and the exponent
of the cost.
"""

import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bayesagree import LabelPatterns, agreement_table, annotation_certainty, dirichlet
from bayesagree.io.patterns import RatingPatterns

RATERS, LEVELS, PART = 5, 5, 200_000


def write(path: Path, n_items: int) -> None:
    rng = np.random.default_rng(1)
    schema = pa.schema({"item": pa.int32(), "annotator": pa.int32(), "rating": pa.int8()})
    with pq.ParquetWriter(path, schema) as file:
        for start in range(0, n_items, PART):
            n = min(PART, n_items - start)
            mean = rng.beta(2, 2, n)
            rating = 1 + rng.binomial(LEVELS - 1, np.repeat(mean, RATERS))
            item = np.repeat(np.arange(start, start + n, dtype=np.int32), RATERS)
            annotator = np.argsort(rng.random((n, RATERS)), axis=1).ravel()
            columns = [item, annotator.astype(np.int32), rating.astype(np.int8)]
            file.write_table(pa.Table.from_arrays([pa.array(c) for c in columns], schema=schema))


def analyse(path: Path) -> tuple[dict[str, float], float]:
    """Return seconds by step, and the peak memory of the process in GiB."""
    seconds, start = {}, time.perf_counter()

    def step(name: str) -> None:
        nonlocal start
        seconds[name] = time.perf_counter() - start
        start = time.perf_counter()

    ratings = RatingPatterns.from_file(path, scale=(1, LEVELS), step=1)
    step("patterns of ratings")
    table = agreement_table(ratings, level="interval", seed=1).set_index("coefficient")
    step("Phi, alpha and their intervals")
    labels = LabelPatterns.from_file(path, label="rating", annotator="annotator")
    step("patterns of labels, annotators checked")
    tree = dirichlet(labels.representatives(), draws=1, chains=1, seed=1)
    certainty = float(labels.mean(annotation_certainty(tree, exact=True)))
    step("mean certainty")
    for name in ("phi", "alpha_interval"):
        row = table.loc[name]
        print(f"   {name} {row['estimate']:.5f} [{row['lower']:.5f}, {row['upper']:.5f}]")
    print(f"   mean certainty {certainty:.5f}, {len(labels.weight)} patterns of {labels.n_items} items")
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:]] or [200_000, 2_000_000, 20_000_000]
    total = []
    for n_items in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ratings.parquet"
            write(path, n_items)
            print(f"{n_items * RATERS:,} annotations of {n_items:,} items, {path.stat().st_size / 2**20:.0f} MiB")
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                seconds, peak = pool.apply(analyse, (path,))
        for name, value in seconds.items():
            print(f"   {name}: {value:.2f} s")
        total.append(sum(seconds.values()))
        print(f"   together {total[-1]:.1f} s, peak memory {peak:.2f} GiB", flush=True)
    if len(sizes) > 1:
        exponent = np.polyfit(np.log(sizes), np.log(total), 1)[0]
        print(f"cost grows as items^{exponent:.2f}")


if __name__ == "__main__":
    main()
