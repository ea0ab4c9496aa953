"""What a Dask cluster and a result on disk cost, and what they do not change: the draws.

One evaluation of two models on the differential diagnoses of derm-ddx (1947 items, 419 labels, Plackett-Luce, 4 x DRAWS
draws), four times: in threads, on as many worker processes as there are processors, in threads with its state kept on
disk, and as draws streamed to zarr. Results are compared bit by bit.

Run: BAYESAGREE_DATA=<folder> python benchmarks/cluster.py [DRAWS, by default 1000]
"""

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from distributed import Client, LocalCluster

from bayesagree import evaluate, plackett_luce
from bayesagree._inference.streams import n_threads
from bayesagree.datasets import load
from bayesagree.datasets.simulate import noisy_models


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Run once; return the result and seconds."""
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def main() -> None:
    """Print seconds, ratios and whether the results are the same."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    warnings.filterwarnings("ignore", message=".*items have not converged")
    rankings = load("derm-ddx").annotations
    models = noisy_models(rankings, n_models=2, seed=1)
    options: dict[str, Any] = {"plausibility": "plackett_luce", "metrics": ("top_1_accuracy", "average_overlap_3")}
    options |= {"draws": draws, "seed": 1}
    few = options | {"draws": 10}
    evaluate(rankings, models, **few)
    here, alone = timed(lambda: evaluate(rankings, models, **options))
    workers = n_threads()
    print(f"{workers} threads: {alone:.2f} s")
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        evaluate(rankings, models, client=client, **few)
        there, seconds = timed(lambda: evaluate(rankings, models, client=client, **options))
    print(f"{workers} workers: {seconds:.2f} s, {seconds / alone:.2f} of threads; same result: {there.identical(here)}")
    with tempfile.TemporaryDirectory() as folder:
        kept, seconds = timed(lambda: evaluate(rankings, models, to=Path(folder) / "scores.nc", **options))
        same = kept["posterior"].to_dataset().identical(here["posterior"].to_dataset())
        print(f"state on disk: {seconds:.2f} s, {seconds / alone:.2f} of threads; same result: {same}")
        sampling = {"top_labels": 3, "draws": draws, "seed": 1}
        memory, alone = timed(lambda: plackett_luce(rankings, **sampling))
        stored, seconds = timed(lambda: plackett_luce(rankings, to=Path(folder) / "draws.zarr", **sampling))
        same = stored["posterior"].to_dataset().equals(memory["posterior"].to_dataset())
        print(f"draws to zarr: {seconds:.2f} s, {seconds / alone:.2f} of memory ({alone:.2f} s); same result: {same}")


if __name__ == "__main__":
    main()
