"""Time and memory of `informed_dirichlet` on simulated test sets; a table in Markdown.

    uv run python benchmarks/informed_speed.py [items labels models]...      (all: writes results/informed_speed.md)

Five models, three votes an item, 4 x 1000 draws, of which the best label is kept. Each row is a process of its own,
after a small problem that loads the compiled kernels: seconds of the clock, seconds of all processors, largest resident
memory, what the result takes. `evaluate` with M models fits M + 1 such posteriors. With two free processors the clock
shows about half of the seconds of all processors; more than that says that the machine was busy.
"""

import multiprocessing
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bayesagree import Labels, Predictions, informed_dirichlet
from bayesagree.datasets.simulate import labelled_test_set


class Size(NamedTuple):
    """Size of a problem."""

    n_items: int
    n_labels: int
    n_models: int


SMALL = Size(200, 3, 2)
SIZES = (Size(10_000, 10, 5), Size(100_000, 10, 5), Size(2_000, 419, 5))


def test_set(size: Size) -> tuple[Labels, Predictions]:
    noise = [2.0 + 0.2 * m for m in range(size.n_models)]
    data = labelled_test_set(n_items=size.n_items, n_labels=size.n_labels, per_item=3, noise=noise, random_seed=1)
    models = dict(zip(data.predictions.models, data.predictions.scores.astype(np.float32)))
    return data.labels, Predictions.from_scores(models, items=data.labels.items)


def draw(size: Size) -> int:
    """Draw the posterior; return the size of its draws in bytes."""
    labels, models = test_set(size)
    return informed_dirichlet(labels, models, top_labels=1, random_seed=1)["posterior"].nbytes


def row(size: Size) -> str:
    """Measure one size in this process."""
    draw(SMALL)
    clock, processor = time.perf_counter(), time.process_time()
    result = draw(size)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return (
        f"| {size.n_items:,} | {size.n_labels} | {size.n_models} | {clock:.1f} | {processor:.1f} | {peak:.2f} "
        f"| {result / 2**30:.2f} |"
    )


def main() -> None:
    asked = [Size(*map(int, size)) for size in zip(*[iter(sys.argv[1:])] * 3)]
    lines = [
        "| items | labels | models | seconds | of all processors | peak GB | result GB |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    print("\n".join(lines))
    new = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=new, max_tasks_per_child=1) as pool:
        for line in pool.map(row, asked or SIZES):
            print(line, flush=True)
            lines.append(line)
    if not asked:
        text = (
            "# Time and memory of the informed posterior\n\n" + (__doc__ or "") + "\n" + "\n".join(lines) + "\n"
        )
        Path(__file__).parent.joinpath("results", "informed_speed.md").write_text(text)


if __name__ == "__main__":
    main()
