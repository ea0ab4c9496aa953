"""CrowdTruth qualities of RTE (8000 judgments, 164 annotators) against the CrowdTruth package.

The package needs platform columns for every judgment and parses their dates; its loading is measured apart from
its scores. It is not on the package index in a version that runs on current pandas: install its repository (Apache-2.0)
into an environment of its own. Without it only our times are printed.

Run: BAYESAGREE_DATA=<folder> python benchmarks/crowdtruth.py
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from scaling import crowd

from bayesagree.datasets import load
from bayesagree.subjective import crowdtruth

REPEATS = 5


def seconds(function, *args, **kwargs) -> float:
    """Return the shortest of several wall times."""
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        function(*args, **kwargs)
        times.append(perf_counter() - start)
    return min(times)


def peer(labels) -> tuple[float, float, pd.DataFrame]:
    """Return the peer's time to load, its time to run, and its units."""
    import crowdtruth as package
    from crowdtruth.configuration import DefaultConfig

    columns = {
        "inputColumns": ["item"],
        "outputColumns": ["label"],
        "customPlatformColumns": ["judgment", "unit", "worker", "started", "submitted"],
        "open_ended_task": False,
        "annotation_vector": [str(label) for label in labels.categories],
        "processJudgments": lambda self, judgments: judgments,
    }
    config_class = type("Config", (DefaultConfig,), columns)
    rows = pd.DataFrame(
        {
            "judgment": np.arange(labels.n_annotations),
            "unit": labels.items[labels.item_index],
            "worker": labels.annotators[labels.annotator_index],
            "started": "2020-01-01 00:00:00",
            "submitted": "2020-01-01 00:01:00",
            "item": labels.items[labels.item_index],
            "category": labels.categories[labels.label_index].astype(str),
        }
    )
    start = perf_counter()
    data, config = package.load(data_frame=rows, config=config_class())
    loaded = perf_counter() - start
    start = perf_counter()
    results = package.run(data, config)
    return loaded, perf_counter() - start, results["units"]


def main() -> None:
    """Print our times, and the ratio to the peer's where it is installed."""
    start = perf_counter()
    labels = load("crowdtruth/rte").annotations
    loading = perf_counter() - start
    scoring = seconds(crowdtruth, labels)
    print(f"ours: load {loading:.3f} s, scores {scoring:.4f} s")
    million = crowd(n_items=200_000, n_annotators=2000)
    start = process_time()
    rounds = crowdtruth(million).attrs["n_iterations"]
    print(f"a million judgments, {rounds} iterations: {process_time() - start:.2f} s of processor time")
    # This script has the package's name, and its folder is where Python looks first.
    sys.path = [folder for folder in sys.path if Path(folder).resolve() != Path(__file__).resolve().parent]
    if find_spec("crowdtruth") is None:
        print("the package crowdtruth is not installed: no comparison")
        return
    loaded, ran, units = peer(labels)
    ours = crowdtruth(labels)["uqs"].sel(item=[type(labels.items[0].item())(u) for u in units.index])
    print(
        f"peer: load {loaded:.1f} s, scores {ran:.1f} s; ours is {ran / scoring:.0f} times as fast at the scores"
    )
    print(f"largest difference of UQS {np.abs(ours.values - units['uqs'].to_numpy()).max():.1e}")


if __name__ == "__main__":
    main()
