"""Ten million labels by 100,000 annotators into the container, beside plain pandas doing the same checks.

Run with ``uv run python benchmarks/annotations.py [ROWS]`` (default 10 million rows). For names that are whole
numbers and names that are text it prints the processor seconds and the peak of memory above the table of
`Labels.from_long` and of pandas (factorize three columns, refuse repeated pairs, sort), and their ratios. Processor
seconds, because they do not depend on what else the machine is doing. Each measurement has a process of its own.
"""

import multiprocessing
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from bayesagree.annotations import Labels

GIB = 2**20  # ru_maxrss is in KiB


def with_bayesagree(table: pd.DataFrame) -> object:
    return Labels.from_long(table)


def with_pandas(table: pd.DataFrame) -> object:
    if table.duplicated(["item", "annotator"]).any():
        raise ValueError("repeated annotation")
    columns = {name: pd.factorize(table[name], sort=True)[0].astype(np.int32) for name in table}
    return pd.DataFrame(columns).sort_values(["item", "annotator", "label"])


def table_of(rows: int, text: bool) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    annotators, items = 100_000, max(rows // 4, 1)
    pair = np.unique(rng.integers(0, annotators * items, int(rows * 1.01) + 10))[:rows]
    rng.shuffle(pair)
    item, annotator = np.divmod(pair, annotators)
    label = rng.integers(0, 5, rows)
    if not text:
        return pd.DataFrame({"item": item, "annotator": annotator, "label": label})
    names = {"item": "item ", "annotator": "annotator ", "label": "label "}
    return pd.DataFrame(
        {n: p + pd.Series(c).astype(str) for (n, p), c in zip(names.items(), (item, annotator, label))}
    )


def measured(work: Callable[[pd.DataFrame], object], table: pd.DataFrame) -> tuple[float, float]:
    """Run in a forked process: processor seconds, and GiB above what the table takes."""

    def run(answer: object) -> None:
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        work(table)
        seconds = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        answer.send((seconds, (peak - before) / GIB))  # type: ignore[attr-defined]

    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=run, args=(there,))
    process.start()
    result = here.recv()
    process.join()
    return result


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    print(f"{rows} labels, 100000 annotators, {max(rows // 4, 1)} items, 5 labels")
    for text in (False, True):
        table = table_of(rows, text)
        size = table.memory_usage(deep=True).sum() / 2**30
        ours, peer = measured(with_bayesagree, table), measured(with_pandas, table)
        print(f"names: {'text' if text else 'whole numbers'} (table {size:.2f} GiB)")
        print(f"  bayesagree {ours[0]:6.1f} s  {ours[1]:5.2f} GiB above the table")
        print(f"  pandas     {peer[0]:6.1f} s  {peer[1]:5.2f} GiB above the table")
        print(f"  ratio      {ours[0] / peer[0]:6.2f}    {ours[1] / peer[1]:5.2f}")


if __name__ == "__main__":
    main()
