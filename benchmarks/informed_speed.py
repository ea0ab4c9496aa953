"""Time and memory of the informed posterior: `informed_dirichlet(top_labels=1)` on simulated test sets.

    uv run python benchmarks/informed_speed.py [items labels models]...

Each size runs in this process, smallest first; the first run compiles or loads the kernels.
"""

import resource
import sys
import time

from bayesagree import Predictions, informed_dirichlet
from bayesagree.simulate import labelled_test_set

SIZES = ((1_000, 10, 5), (10_000, 10, 5), (100_000, 10, 5), (2_000, 419, 5))


def main() -> None:
    asked = [int(a) for a in sys.argv[1:]]
    sizes = list(zip(*[iter(asked)] * 3)) or SIZES
    print("| items | labels | models | seconds | peak GB |\n| --- | --- | --- | --- | --- |")
    for n_items, n_labels, n_models in ((200, 3, 2), *sizes):
        noise = [2.0 + 0.2 * m for m in range(n_models)]
        data = labelled_test_set(n_items=n_items, n_labels=n_labels, per_item=3, noise=noise, seed=1)
        models = Predictions.from_scores(
            dict(zip(data.predictions.models, data.predictions.scores.astype("float32"))), items=data.labels.items
        )
        start = time.perf_counter()
        informed_dirichlet(data.labels, models, top_labels=1, max_bytes=2**31, seed=1)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        if n_items > 200:
            print(
                f"| {n_items} | {n_labels} | {n_models} | {time.perf_counter() - start:.1f} | {peak:.2f} |", flush=True
            )


if __name__ == "__main__":
    main()
