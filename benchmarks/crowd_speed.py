"""Processor time per effective draw of `dawid_skene` in two checkouts, as a ratio; a table in Markdown.

    BAYESAGREE_DATA=<folder> uv run --group bench python benchmarks/crowd_speed.py OLD [--sets rte ...]

OLD is another checkout, say a `git worktree` of an earlier commit. One chain on one thread, 200 sweeps and then 250
kept draws with the variant's own thinning, after a first fit that compiles. An effective draw is the least bulk ESS
among prevalence, up to 50 annotators' accuracies and the probability of the most voted label of up to 50 items. The
ESS of one such chain is uncertain by a third and more: the median over the sets is the figure, and the second ratio,
of time alone, the steadier one. About ten minutes for all sets.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from crowd_sets import SETS, read
from pandas import DataFrame

HERE = Path(__file__).parent.parent
WATCHED = ("prevalence", "accuracy", "label_probability")


def measure(name: str, variant: str) -> dict[str, float]:
    """Fit in this process: processor seconds and the least effective number of draws."""
    from bayesagree.plausibility.dawid_skene.posterior import dawid_skene

    warnings.simplefilter("ignore")  # one chain is too short to converge; it is compared, not believed
    labels, _ = read(name, Path(os.environ["BAYESAGREE_DATA"]))
    dawid_skene(labels, variant=variant, draws=8, chains=1, tune=1, random_seed=1)  # type: ignore[arg-type]
    begun = time.process_time()
    tree = dawid_skene(labels, variant=variant, draws=250, chains=1, tune=200, random_seed=1)  # type: ignore[arg-type]
    seconds = time.process_time() - begun
    found = tree["diagnostics"].to_dataset()
    watched = [str(parameter).startswith(WATCHED) for parameter in found["parameter"].values]
    return {"seconds": seconds, "ess": float(np.nanmin(found["ess"].values[watched]))}


def measured_in(checkout: Path, name: str, variant: str) -> dict[str, float]:
    """Fit with the package of a checkout, in a process of its own."""
    one = {v: "1" for v in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    cache = {"PYTHONPATH": str(checkout), "NUMBA_CACHE_DIR": str(checkout / ".numba_cache")}
    call = [sys.executable, __file__, "--measure", name, variant]
    done = subprocess.run(call, env=os.environ | one | cache, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path, nargs="?")
    parser.add_argument("--measure", nargs=2)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--variants", nargs="*", default=("full", "hierarchical", "mixed_membership"))
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(*arguments.measure)))
        return
    from crowd_gold import _markdown  # of this checkout; what is measured may be older

    rows = []
    for name in arguments.sets:
        for variant in arguments.variants:
            old, new = (measured_in(place, name, variant) for place in (arguments.old.resolve(), HERE))
            row = {"set": name, "variant": variant}
            row |= {f"{k} {when}": v for when, got in (("old", old), ("new", new)) for k, v in got.items()}
            row["ratio"] = (old["seconds"] / old["ess"]) / (new["seconds"] / new["ess"])
            row["ratio of time"] = old["seconds"] / new["seconds"]
            rows.append(row)
            print(json.dumps(row), file=sys.stderr, flush=True)
    table = DataFrame(rows)
    print(_markdown(table.set_index(["set", "variant"])))
    print("\nMedian ratio:", table.groupby("variant")[["ratio", "ratio of time"]].median().round(2).to_dict())


if __name__ == "__main__":
    main()
