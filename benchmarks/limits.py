"""How near the hot paths come to what this machine could do: nanoseconds of one thread, ours and a floor.

    uv run python benchmarks/run.py limits          (needs BAYESAGREE_DATA)
    uv run python benchmarks/run.py guard FILE      (small sizes, seconds: what continuous integration keeps as JSON)

A floor adds up what a path cannot do without - each random number, logarithm and exponential, each byte that comes from
or goes to memory - at the price of that alone, in a loop that does nothing else. What computes the same cannot be
faster; between floor and time lie bookkeeping, rejected proposals, branches that nobody can predict, and waiting for
memory. Writes benchmarks/results/limits.md.
"""

import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from dawid_skene import big_crowd
from stream import LEVELS, RATERS, write

from bayesagree import RatingPatterns, prirn
from bayesagree._numerics.gamma import gamma_draw
from bayesagree.datasets import load
from bayesagree.metrics.auc.concordant_pairs import GradedTruth, ScoreOrder
from bayesagree.plausibility.dawid_skene import _em_kernels as passes
from bayesagree.plausibility.dawid_skene._cells import annotation_cells
from bayesagree.plausibility.dirichlet._kernels import best_of_draws, plausibility_draws, top_label_draws
from bayesagree.plausibility.plackett_luce._cases import read_cases
from bayesagree.plausibility.plackett_luce._gibbs_kernels import sample_item
from bayesagree.plausibility.plackett_luce._sampler import Run, worth_prior
from bayesagree.plausibility.plackett_luce._stages import stages_of

SMALL = 20
"""The guard's problems are so many times smaller: a slowdown shows, and all of it takes seconds."""


class Prices(NamedTuple):
    """Nanoseconds of one operation, or of one byte, on one thread."""

    normal: float
    exponential: float
    uniform: float
    log: float
    exp: float
    byte: float


class HotPath(NamedTuple):
    """One hot path: nanoseconds that a unit of its work takes, and at least must take."""

    name: str
    unit: str
    nanoseconds: float
    floor: float
    floor_is: str


def shortest(work: Callable[[], object], runs: int = 3) -> float:
    """Return the shortest processor time of a few runs, after one that compiles, in nanoseconds."""
    work()
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1e9 * min(times)


def generator(seed: int = 1) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(seed))


def price_of(operation: Callable[[np.random.Generator, int], float], n: int = 10**7) -> float:
    """Return the nanoseconds of one operation in a compiled loop that adds up what it returns."""
    one = numba.njit(operation)

    @numba.njit
    def loop(rng, n):
        total = 0.0
        for k in range(n):
            total += one(rng, k)
        return total

    rng = generator()
    return shortest(lambda: loop(rng, n)) / n


def prices(small: int = 1) -> Prices:
    source, target, n = np.ones(2**25 // small), np.ones(2**25 // small), 10**7 // small
    return Prices(
        normal=price_of(lambda rng, k: rng.standard_normal(), n),
        exponential=price_of(lambda rng, k: rng.standard_exponential(), n),
        uniform=price_of(lambda rng, k: rng.random(), n),
        log=price_of(lambda rng, k: math.log(1.0 + k), n),
        exp=price_of(lambda rng, k: math.exp(-1e-6 * k), n),
        byte=shortest(lambda: np.copyto(target, source)) / (16 * source.size),
    )


def random_read(n: int) -> float:
    """Return the nanoseconds of reading one of n numbers in random order: far apart, it is the wait for memory."""
    source, order, target = np.ones(n), generator().permutation(n), np.empty(n)
    return shortest(lambda: np.take(source, order, out=target, mode="clip")) / n


def gammas(price: Prices, shape: np.ndarray) -> float:
    """Return the price of the logarithm of a gamma variable of each shape: those below 1 take another exponential."""
    return shape.size * (price.normal + price.exponential + price.log) + (shape < 1).sum() * price.exponential


def best_of_few(price: Prices, small: int) -> HotPath:
    rng, n_items, n_labels, samples = generator(), 500, 10, 1000 // small
    shape = rng.uniform(1, 30, n_items * n_labels)
    start, label = np.arange(n_items + 1) * n_labels, np.tile(np.arange(n_labels, dtype=np.int32), n_items)
    out = np.empty((n_items, samples, 3), np.int16)
    spent = shortest(lambda: top_label_draws(rng, start, label, shape, 0.1, n_labels, out))
    floor, n = gammas(price, shape) / shape.size, shape.size * samples
    name = "Dirichlet draws, the best three of ten labels, all of them named"
    return HotPath(name, "label", spent / n, floor, "normal, exponential and logarithm: one gamma")


def best_of_many(price: Prices, small: int) -> HotPath:
    samples = 200 // small
    dense = prirn(load("derm-ddx").annotations, reliability=10, draws=1, chains=1, seed=1, top_labels=1)
    table = dense["posterior_parameters"]["concentration"].values
    rest = float(table.min())
    item, label = np.nonzero(table > rest)
    start, shape = np.searchsorted(item, np.arange(len(table) + 1)), table[item, label]
    out, rng = np.empty((len(table), samples, 1), np.int16), generator()
    spent = shortest(lambda: top_label_draws(rng, start, label.astype(np.int32), shape, rest, table.shape[1], out)) / (
        len(table) * samples
    )
    floor = gammas(price, shape) / len(table) + price.exponential
    name = f"PrIRN draws, dermatology, the best of {table.shape[1]} labels, {shape.size / len(table):.1f} of them named"
    return HotPath(name, "item and draw", spent, floor, "gammas of the named labels, one wait for the others")


def full_draws(price: Prices, small: int) -> HotPath:
    rng, n_items, n_labels = generator(), 64, 419
    start, label = np.arange(n_items + 1) * 5, np.tile(np.arange(5, dtype=np.int32), n_items)
    shape, out = rng.uniform(1, 5, 5 * n_items), np.empty((n_items, 100 // small, n_labels))
    spent = shortest(lambda: plausibility_draws(rng, start, label, shape, 0.1, out)) / out.size
    small = np.full(n_labels - 5, 0.1)
    floor = (gammas(price, np.concatenate([np.ones(5), small])) / n_labels) + price.exp + 8 * price.byte
    return HotPath(
        "Dirichlet draws, all plausibilities of 419 labels", "label", spent, floor, "a gamma, an exponential"
    )


def selection(price: Prices, small: int) -> HotPath:
    samples = 200 // small
    values, out = generator().random((samples, 64, 419)), np.empty((64, samples, 3), np.int16)
    spent = shortest(lambda: best_of_draws(values, out)) / values.size
    name = "the best three of 419 plausibilities on record"
    return HotPath(name, "label", spent, 8 * price.byte, "eight bytes from memory")


def gibbs(price: Prices, small: int) -> HotPath:
    cases, rng, sweeps, n_items = read_cases(load("derm-ddx").annotations), generator(), 2000 // small, 100
    prior = worth_prior(cases, None, "lumped")
    stages = stages_of(cases, slice(0, n_items))
    out = [np.empty((1, size + 1)) for size in np.diff(stages.label_start)]

    def sample() -> None:
        for i in range(n_items):
            sample_item(stages, i, prior, Run(1, sweeps - 1, 1, 1), rng, out[i])

    size, repeats = np.diff(stages.tie_label_start), stages.tie_repeats
    single, sums = (stages.singles == 1).sum(), (stages.singles > 1).sum()
    tied_labels, choices = (repeats * size).sum(), (repeats * (size - 1)).sum()
    # Beside the worths: their total, and the factor of the tail.
    worths = sum(o.size for o in out) + 2 * len(out)
    gamma = price_of(lambda rng, k: gamma_draw(rng, 5 / 3, 0.258), 10**7 // small)
    floor = (worths + sums) * gamma + (single + tied_labels) * price.exponential + choices * price.uniform
    n = worths + sums + single + tied_labels
    spent = shortest(sample) / (sweeps * n)
    name = "Gibbs sweep of Plackett-Luce, dermatology"
    return HotPath(
        name, "worth or wait", spent, floor / n, "a gamma for each worth and set at risk, waits and order of ties"
    )


def pairs(price: Prices, small: int) -> HotPath:
    rng, n_items = generator(), 100_000 // small
    scores, truth = rng.random((4, n_items)), rng.random(n_items)
    graded = GradedTruth.of(truth)
    spent = shortest(lambda: ScoreOrder.of(scores).graded(graded)) / scores.size
    floor = shortest(lambda: np.argsort(scores, axis=1)) / scores.size
    name = f"AUC against a graded truth, {n_items:,} items"
    return HotPath(name, "item", spent, floor, "numpy's argsort of the scores")


def em(price: Prices, small: int) -> HotPath:
    crowd = big_crowd(10**6 // small)
    n_labels = crowd.labels.size
    cells = annotation_cells(
        crowd.item_index, crowd.annotator_index, crowd.label_index, n_items=crowd.items.size,
        n_annotators=crowd.annotators.size, n_labels=n_labels, candidates="observed",
    )  # fmt: skip
    log_confusion, weights = np.empty((cells.cell_label.size, 2)).T
    probability, count = np.full(cells.candidate.size, 0.4), np.empty(n_labels)
    log_prevalence, prior = np.full(n_labels, -np.log(n_labels)), np.zeros((n_labels, n_labels))
    passes.expected_counts(cells, probability, weights, count)

    def iterate() -> None:
        passes.maximise_rows(cells, weights, prior, np.zeros(n_labels), log_confusion)
        passes.expect(cells, log_prevalence, np.empty(0), log_confusion, probability, weights, count)

    n, n_cells = cells.cell.size, cells.cell_label.size
    spent = shortest(iterate) / n
    # Of a pair: the cell twice (4 bytes), its log confusion once, its weight read and written (8). Of a cell: weight
    # and log confusion written and read, row and label read.
    bytes_moved = 2 * 4 + 3 * 8 + (4 * 8 + 8 + 4) * n_cells / n
    floor = bytes_moved * price.byte + price.log * n_cells / n + price.exp * cells.candidate.size / n
    size = f"{10**6 // small:,} annotations, {crowd.annotators.size:,} annotators, {n_labels} labels"
    name = f"an iteration of Dawid-Skene EM, {size}"
    return HotPath(name, "annotation and candidate", spent, floor, "bytes, a log per cell, an exp per candidate")


def stream(price: Prices, small: int) -> HotPath:
    with tempfile.TemporaryDirectory() as folder:
        path, n_items = Path(folder) / "ratings.parquet", 2_000_000 // small
        write(path, n_items)

        def decode() -> None:
            sum(b.num_rows for b in pq.ParquetFile(path).iter_batches(columns=["item", "rating"], use_threads=False))

        floor = shortest(decode) / (n_items * RATERS)
        spent = shortest(lambda: RatingPatterns.from_file(path, scale=(1, LEVELS), step=1)) / (n_items * RATERS)
    name = f"patterns of {n_items * RATERS:,} ratings in a Parquet file"
    return HotPath(name, "rating", spent, floor, "pyarrow's decoding of the two columns")


NOTES = """
What lies between: a PrIRN draw asks once, at the price of two exponentials, whether any unnamed label can be the best;
selections, ties and rejections branch where nobody can predict it; a Gibbs sweep of Plackett-Luce adds up worths and
exposures over sets of three labels; the AUC counts pairs in a tree after its sort; EM waits for cells
that lie far apart in memory."""

PATHS = [best_of_few, best_of_many, full_draws, selection, gibbs, pairs, em, stream]
ON_PUBLIC_DATA = (best_of_many, gibbs)


def rows(price: Prices, small: int = 1) -> Iterator[HotPath]:
    """Measure every path for which there are data, on problems that many times smaller."""
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    for path in PATHS:
        if path not in ON_PUBLIC_DATA or "BAYESAGREE_DATA" in os.environ:
            yield path(price, small)


def guard() -> dict[str, object]:
    """Measure small problems: prices of the operations, and each path with its floor and their ratio."""
    price = prices(SMALL)
    return {
        "prices_ns": price._asdict(),
        "paths": [row._asdict() | {"ratio": row.nanoseconds / row.floor} for row in rows(price, SMALL)],
    }


def table() -> list[str]:
    """Print the rows as they come, and return them."""
    price = prices()
    listed = ", ".join(f"{name} {value:.2g}" for name, value in price._asdict().items())
    reads = ", ".join(f"{random_read(10**k):.2g}" for k in range(4, 8))
    lines = [
        f"Prices, in nanoseconds on one thread: {listed}.",
        f"One of 10^4, 10^5, 10^6, 10^7 numbers that are read in random order: {reads}.",
        "",
        "| path | unit | ours, ns | floor, ns | ours / floor | the floor is |",
        "| --- | --- | ---: | ---: | ---: | --- |",
    ]
    print(*lines, sep="\n", flush=True)
    for row in rows(price):
        ratio = row.nanoseconds / row.floor
        lines.append(
            f"| {row.name} | {row.unit} | {row.nanoseconds:.3g} | {row.floor:.3g} | {ratio:.1f} | {row.floor_is} |"
        )
        print(lines[-1], flush=True)
    return lines + NOTES.split("\n")
