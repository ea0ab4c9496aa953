"""All 1947 dermatology cases through the Plackett-Luce Gibbs sampler, beside the published sampler's measured times.

Run with ``BAYESAGREE_DATA=... uv run python benchmarks/plackett_luce.py [FIGURE.png]``. Prints the wall time of
4 chains x (100 + 250) sweeps with and without compilation (a fresh cache), sweeps and effective draws per second, the
ratio to the published JAX sampler per effective draw, the ratio to one scan around its sweep, and the time of a sweep
against the size of a tied block. The published sampler needs minutes per case, so its times are constants measured once
(2 cores, CPU, float32, google-deepmind/uncertain_ground_truth 98349d8, shape = rate = 1, lumped) and not run here.
"""

import os
import sys
import tempfile
import time

os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp()

import numpy as np

from bayesagree.annotations import Rankings
from bayesagree.datasets import load
from bayesagree.plausibility.plackett_luce._sampler import Problem, Run
from bayesagree.plausibility.plackett_luce.posterior import plackett_luce

CHAINS, TUNE, DRAWS = 4, 100, 250
PUBLISHED_COMPILE, PUBLISHED_SWEEP, PUBLISHED_SCAN = 6.3, 4.1e-3, 0.026e-3  # seconds; the fastest of each range
PUBLISHED_TIME = 4.4  # autocorrelation time in sweeps, median over cases


def seconds(function, repeat: int = 1, clock=time.perf_counter) -> float:
    """Best of several runs; `time.process_time` does not count what else the machine is doing."""
    times = []
    for _ in range(repeat):
        start = clock()
        function()
        times.append(clock() - start)
    return min(times)


def sample(rankings: Rankings):
    return plackett_luce(
        rankings, unranked="lumped", chains=CHAINS, tune=TUNE, draws=DRAWS, top_labels=3, random_seed=1
    )


def block_times(figure: str | None) -> None:
    sizes = np.array([1, 2, 3, 5, 10, 20, 30, 40, 50])
    micro = []
    for size in sizes:
        rankings = Rankings.from_blocks([[[list(range(size))]]], labels=60)
        problem, rng = Problem.of(rankings, unranked="lumped"), np.random.Generator(np.random.SFC64(1))
        run = lambda: problem.draw(slice(0, 1), Run(1, 1999, 1, 1), rng)  # noqa: B023, E731
        run()
        micro.append(seconds(run, 15, time.process_time) / 2000 * 1e6)
    print("\nlabels in the tied block   microseconds a sweep   per label")
    for size, t in zip(sizes, micro):
        print(f"{size:24d}   {t:20.2f}   {t / size:9.3f}")
    print(
        f"from 10 to 50 labels the time grows {micro[-1] / micro[sizes.tolist().index(10)]:.1f} times; linear is 5"
    )
    if figure:
        import matplotlib.pyplot as plt

        plt.plot(sizes, micro, "o-")
        plt.xlabel("labels in the tied block")
        plt.ylabel("microseconds a sweep")
        plt.ylim(0)
        plt.savefig(figure, dpi=150)


def main() -> None:
    rankings = load("derm-ddx").annotations
    assert isinstance(rankings, Rankings)  # noqa: S101
    n_sweeps = rankings.items.size * CHAINS * (TUNE + DRAWS)
    one = Rankings.from_blocks([[[[0], [1, 2]]]], labels=4)
    compiling = seconds(lambda: sample(one))
    wall = seconds(lambda: sample(rankings), 3)
    effective = float(sample(rankings)["diagnostics"]["ess"].sum())
    print(
        f"{rankings.items.size} cases, {rankings.n_annotations} rankings, {CHAINS} chains x ({TUNE} + {DRAWS}) sweeps"
    )
    print(f"compilation {compiling:.1f} s, sampling {wall:.2f} s, {n_sweeps / wall:.3g} sweeps/s")
    print(f"effective draws (worst label of each case) {effective:.3g}: {effective / wall:.3g} a second")
    per_draw, with_compile = wall / effective, (wall + compiling) / effective
    theirs = (PUBLISHED_COMPILE + 1000 * PUBLISHED_SWEEP) * PUBLISHED_TIME / 1000
    print(
        f"published sampler / ours, per effective draw, compilation included on both sides: {theirs / with_compile:.0f}"
    )
    scan = PUBLISHED_SCAN * PUBLISHED_TIME
    print(
        f"one scan around the published sweep / ours, per effective draw, without compilation: {scan / per_draw:.1f}"
    )
    block_times(sys.argv[1] if len(sys.argv) > 1 else None)


if __name__ == "__main__":
    main()
