"""One table of ratios: this package against what a user would otherwise pick, each row from one run on one machine.

    uv run --group bench python benchmarks/run.py                 (every page; needs BAYESAGREE_DATA)
    uv run --group bench python benchmarks/run.py ROW ...         (rows of the table of ratios, printed only)
    uv run python benchmarks/run.py scaling [LARGEST]             (cost against size: benchmarks/scaling.py)
    uv run python benchmarks/run.py limits                        (hot paths against the machine: benchmarks/limits.py)
    uv run python benchmarks/run.py commands [RUNS]               (the command line: benchmarks/commands.py)
    uv run python benchmarks/run.py guard FILE                    (hot paths, small, as JSON: continuous integration)

Rows: phi, phi_levels, plackett_luce, prirn, dirichlet, alpha, alpha_nominal, fleiss, em, crowdtruth, auc, import,
warm_start. A row runs in a process of its own after a call that compiles; times are wall seconds, the shortest of a few
runs where that is cheap. A peer that is not installed leaves its cells empty. Peers whose times were measured once and
stand here as numbers are marked "measured before": the published Plackett-Luce sampler takes hours, CrowdTruth needs
pandas 1. Writes table.md, limits.md, scaling.md and commands.md of benchmarks/results, each when it is complete: a run
that is stopped ends its processes and leaves the pages as they were.
"""

import datetime
import importlib.util
import json
import multiprocessing
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

RESULTS = Path(__file__).parent / "results"
PUBLISHED_PL = (6.3 + 1000 * 4.1e-3) * 4.4 / 1000
"""Seconds per effective draw of one case: compilation, 1000 sweeps of 4.1 ms, autocorrelation time 4.4."""
PUBLISHED_CROWDTRUTH = 10.6
"""Seconds of CrowdTruth's `run` on RTE, 8000 judgments."""


class Row(NamedTuple):
    """One line of the table; times in seconds."""

    job: str
    ours: float
    peer_name: str
    peer: float
    note: str = ""


def shortest(work: Callable[[], object], runs: int = 3) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def phi(n_items: int = 7000, n_levels: int | None = None) -> list[Row]:
    import dataclasses

    import pymc as pm

    from bayesagree import common_agreement, common_agreement_model, simulate

    ratings = simulate.ratings(n_items=n_items, phi=0.4, n_levels=n_levels, seed=1).ratings
    if n_levels is None:  # Inside the scale, where NUTS has a plain Beta density.
        ratings = dataclasses.replace(ratings, rating=np.clip(ratings.rating, 1e-6, 1 - 1e-6))
    samplers = ["nutpie"] * installed("nutpie") + ["pymc"]
    rows = []
    for item_mean in ("flat", "hierarchical"):
        common_agreement(ratings, item_mean=item_mean, seed=1)
        ours = shortest(lambda m=item_mean: common_agreement(ratings, item_mean=m, seed=1))
        for sampler in samplers if n_levels is None else samplers[:1]:  # rounded ratings take NUTS minutes
            with common_agreement_model(ratings, item_mean=item_mean):
                options = {"tune": 200, "chains": 2, "cores": 2, "random_seed": 1, "progressbar": False}
                peer = shortest(lambda s=sampler, o=options: pm.sample(200, nuts_sampler=s, **o), 1)
            name = f"NUTS, {'nutpie' if sampler == 'nutpie' else 'PyMC'}"
            scale = "continuous" if n_levels is None else f"{n_levels} levels"
            job = f"Phi, {n_items} x 5 {scale}, {item_mean} item means"
            rows.append(Row(job, ours, name, peer, "2 x (200 + 200) draws, compilation included"))
    return rows


def phi_levels() -> list[Row]:
    return phi(1000, 5)


def plackett_luce() -> list[Row]:
    from bayesagree import plackett_luce
    from bayesagree.datasets import load

    rankings = load("derm-ddx").annotations

    def sample():
        return plackett_luce(rankings, unranked="lumped", chains=4, tune=100, draws=250, top_labels=3, seed=1)

    effective = float(sample()["diagnostics"]["ess"].sum())
    ours = shortest(sample) / effective
    note = f"{effective:.3g} effective draws of 1947 cases; peer measured before"
    return [Row("Plackett-Luce, dermatology, one effective draw", ours, "published sampler", PUBLISHED_PL, note)]


def prirn() -> list[Row]:
    from bayesagree import annotation_certainty, prirn, simulate, top_k_accuracy
    from bayesagree.datasets import load

    rankings = load("derm-ddx").annotations
    models = simulate.noisy_models(rankings, n_models=4, seed=1)

    def ours(draws: int = 1000) -> None:
        tree = prirn(rankings, reliability=10, draws=draws, chains=1, seed=1, top_labels=1)
        annotation_certainty(tree)
        top_k_accuracy(tree, models, k=3)

    ours(2)
    tree = prirn(rankings, reliability=10, draws=1, chains=1, seed=1, top_labels=1)
    shapes, rng = tree["posterior_parameters"]["concentration"].values, np.random.default_rng(1)
    peer = shortest(lambda: [rng.dirichlet(row, size=1000) for row in shapes], 1)
    why = "the peer draws and stops; ours also ranks every draw and scores four models"
    return [Row("PrIRN, 1947 x 419, 1000 draws, certainty and top-3", shortest(ours), "numpy's draws alone", peer, why)]


def dirichlet() -> list[Row]:
    from bayesagree import evaluate
    from bayesagree.datasets import load

    data = load("cifar10h")
    counts, rng = data.annotations.counts(), np.random.default_rng(1)

    def plain() -> None:
        for row in counts:
            rng.dirichlet(row + 0.1, size=4000).argmax(axis=1)

    rows, peer = [], shortest(plain, 1)
    for metrics in (("top_1_accuracy",), ("top_1_accuracy", "average_overlap_3")):
        evaluate(data.annotations, data.predictions, draws=2, metrics=metrics, seed=1)
        ours = shortest(lambda m=metrics: evaluate(data.annotations, data.predictions, metrics=m, seed=1), 2)
        name = f"evaluate, cifar10h, 4 models, 4 x 1000 draws, {' and '.join(metrics)}"
        why = "ten labels: the peer draws ten gammas and stops; ours also scores four models"
        rows.append(Row(name, ours, "numpy's draws and argmax alone", peer, why))
    return rows


def alpha() -> list[Row]:
    from bayesagree import Ratings, krippendorff_alpha

    units = np.random.default_rng(1).random((600, 2))
    ratings = Ratings.from_matrix(units, scale=(0, 1))
    krippendorff_alpha(ratings, level="interval")
    ours = shortest(lambda: krippendorff_alpha(ratings, level="interval"))
    if not installed("krippendorff"):
        return [Row("interval alpha, 600 continuous units", ours, "krippendorff", np.nan)]
    import krippendorff

    peer = shortest(lambda: krippendorff.alpha(units.T, level_of_measurement="interval"), 1)
    return [Row("interval alpha, 600 continuous units", ours, "krippendorff", peer, "the peer needs 20 GB")]


def alpha_nominal() -> list[Row]:
    from bayesagree import Labels, krippendorff_alpha

    matrix = np.random.default_rng(1).integers(0, 5, (7100, 5))
    labels, rows = Labels.from_matrix(matrix), []
    why = "milliseconds: the peer counts in compiled numpy too, and the table of counts is all there is to do"
    krippendorff_alpha(labels)
    ours = shortest(lambda: krippendorff_alpha(labels), 5)
    if installed("krippendorff"):
        import krippendorff

        peer = shortest(lambda: krippendorff.alpha(matrix.T, level_of_measurement="nominal"), 5)
        rows.append(Row("nominal alpha, 7100 x 5", ours, "krippendorff", peer, why))
    if installed("nltk"):
        from nltk.metrics.agreement import AnnotationTask

        triples = [(str(a), str(i), int(v)) for i, row in enumerate(matrix) for a, v in enumerate(row)]
        rows.append(Row("nominal alpha, 7100 x 5", ours, "nltk", shortest(lambda: AnnotationTask(triples).alpha(), 1)))
    return rows or [Row("nominal alpha, 7100 x 5", ours, "krippendorff", np.nan)]


def fleiss() -> list[Row]:
    from bayesagree import Labels, agreement_table

    matrix = np.random.default_rng(1).integers(0, 5, (7100, 5))
    labels = Labels.from_matrix(matrix)
    agreement_table(labels, seed=1)
    ours = shortest(lambda: agreement_table(labels, seed=1))
    job = "every coefficient with its interval, 7100 x 5"
    if not installed("statsmodels"):
        return [Row(job, ours, "statsmodels", np.nan)]
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    rng = np.random.default_rng(1)

    def bootstrap() -> None:
        for _ in range(2000):
            fleiss_kappa(aggregate_raters(matrix[rng.integers(0, 7100, 7100)])[0])

    peer = shortest(bootstrap, 1)
    return [
        Row("every coefficient with its interval, 7100 x 5", ours, "statsmodels, Fleiss' kappa in a bootstrap", peer)
    ]


def em() -> list[Row]:
    import pandas as pd

    from bayesagree.plausibility.dawid_skene.em import dawid_skene_em
    from bayesagree.simulate import crowd_labels

    labels = crowd_labels(n_items=100_000, n_annotators=1000, n_labels=10, labels_per_item=5, seed=1).labels
    triple = (labels.item_index, labels.annotator_index, labels.label_index)
    sizes = {"n_items": 100_000, "n_annotators": 1000, "n_labels": 10}
    dawid_skene_em(*(a[:100] for a in triple), **sizes, max_iterations=2)
    ours = shortest(lambda: dawid_skene_em(*triple, **sizes, max_iterations=20, tolerance=-1))
    job = "Dawid-Skene EM, 500,000 labels, 10 classes, 20 iterations"
    if not installed("crowdkit"):
        return [Row(job, ours, "crowd-kit", np.nan)]
    from crowdkit.aggregation import DawidSkene

    table = pd.DataFrame(dict(zip(("item", "worker", "label"), triple))).rename(columns={"item": "task"})
    why = "the same 20 passes over the labels; the peer's are group-bys of pandas, compiled too"
    return [Row(job, ours, "crowd-kit", shortest(lambda: DawidSkene(n_iter=20, tol=-1).fit(table), 2), why)]


def crowdtruth() -> list[Row]:
    from bayesagree import crowdtruth
    from bayesagree.datasets import load

    labels = load("crowdtruth/rte").annotations
    crowdtruth(labels)
    ours = shortest(lambda: crowdtruth(labels), 5)
    note = "peer measured before; benchmarks/crowdtruth.py runs both"
    return [Row("CrowdTruth scores, RTE, 8000 judgments", ours, "CrowdTruth", PUBLISHED_CROWDTRUTH, note)]


def auc() -> list[Row]:
    from scipy.stats import kendalltau
    from sklearn.metrics import roc_auc_score

    from bayesagree import concordance

    rng, rows = np.random.default_rng(0), []
    for n in (1000, 100_000):
        scores, truth, binary = rng.random((100, n)), rng.random(n), rng.random(n) > 0.5
        concordance(scores[:2], truth)
        ours = shortest(lambda s=scores, t=truth: concordance(s, t), 5)
        job, why = f"AUC of 100 models x {n} items", "the peer is compiled too; both sort"
        peer = shortest(lambda s=scores, t=truth: [kendalltau(row, t) for row in s], 2)
        rows.append(Row(f"{job}, graded truth", ours, "scipy.stats.kendalltau", peer, why))
        ours = shortest(lambda s=scores, t=binary: concordance(s, t.astype(float)), 5)
        peer = shortest(lambda s=scores, t=binary: [roc_auc_score(t, row) for row in s], 2)
        rows.append(Row(f"{job}, two labels", ours, "scikit-learn", peer, why))
    return rows


def import_() -> list[Row]:
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    peers = ["pymc", "pymc, arviz"] + ["crowdkit.aggregation"] * installed("crowdkit")
    every = "from bayesagree import *"  # `import bayesagree` itself loads nothing
    seconds = dict.fromkeys([every, "xarray, numba", *peers], np.inf)
    for _ in range(9):  # in turn: the machine is not always as fast
        for name in seconds:
            start = time.perf_counter()
            code = name if name == every else f"import {name}"
            subprocess.run([sys.executable, "-c", code], check=True, env=compiled)
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    why = f"both load compiled libraries; xarray and numba alone take {seconds['xarray, numba']:.2f} s"
    return [Row("import of every name", seconds[every], f"import {peer}", seconds[peer], why) for peer in peers]


def warm_start() -> list[Row]:
    """Run the demonstration in a first process, which compiles, and again in further ones, which read its cache."""
    demo = [sys.executable, "-c", "from bayesagree.cli import main; main()", "demo"]
    with tempfile.TemporaryDirectory() as cache:

        def run() -> None:
            subprocess.run(demo, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"NUMBA_CACHE_DIR": cache})

        cold = shortest(run, 1)
        warm = shortest(run)
    why = "what compiling costs once; the rest is the work itself, and imports"
    return [Row("bayesagree demo, second process", warm, "the first process, nothing compiled", cold, why)]


ROWS = {
    "phi": phi, "phi_levels": phi_levels, "plackett_luce": plackett_luce, "prirn": prirn, "dirichlet": dirichlet,
    "alpha": alpha, "alpha_nominal": alpha_nominal, "fleiss": fleiss, "em": em, "crowdtruth": crowdtruth, "auc": auc,
    "import": import_, "warm_start": warm_start,
}  # fmt: skip


def line(row: Row) -> str:
    peer, ratio = ("", "") if np.isnan(row.peer) else (f"{row.peer:.3g}", f"{row.peer / row.ours:,.3g}")
    return f"| {row.job} | {row.ours:.3g} | {row.peer_name} | {peer} | {ratio} | {row.note} |"


def keep(name: str, title: str, command: str, lines: list[str]) -> None:
    machine = f"{os.cpu_count()} processors, {platform.machine()}, Python {platform.python_version()}"
    head = f"# {title}\n\nMeasured {datetime.date.today():%Y-%m-%d} by `{command}` on {machine}.\n\n"
    write(RESULTS / name, head + "\n".join(lines) + "\n")


def write(file: Path, text: str) -> None:
    """Write a whole file or nothing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(text)
    part.replace(file)


def stop(number: int, _: object) -> None:
    """End the processes of rows that run, then this one, by which its open files and folders close."""
    for process in multiprocessing.active_children():
        process.terminate()
    sys.exit(128 + number)


def scaling(largest: str = "inf") -> None:
    import scaling

    lines = scaling.table(float(largest))
    if largest == "inf":
        keep("scaling.md", "Cost against size", "benchmarks/run.py scaling", lines)


def limits() -> None:
    import limits

    keep("limits.md", "Hot paths against the machine", "benchmarks/run.py limits", limits.table())


def commands(runs: str = "") -> None:
    import commands

    if runs:  # few runs are a trial
        commands.table(int(runs))
    else:
        keep("commands.md", "Seconds of the commands", "benchmarks/run.py commands", commands.table())


def guard(file: str) -> None:
    import limits

    write(Path(file), json.dumps(limits.guard(), indent=1) + "\n")


def ratios(*chosen: str) -> None:
    lines = ["| job | seconds | peer | seconds | peer / ours | note |", "| --- | ---: | --- | ---: | ---: | --- |"]
    print(*lines, sep="\n", flush=True)
    for name in chosen or ROWS:
        # Samplers start processes of their own, which the workers of a multiprocessing pool may not.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            new = [line(row) for row in pool.submit(ROWS[name]).result()]
        print(*new, sep="\n", flush=True)
        lines += new
    if not chosen:
        keep("table.md", "Ratios to what one would otherwise pick", "benchmarks/run.py", lines)


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    pages = {"scaling": scaling, "limits": limits, "commands": commands, "guard": guard}
    if sys.argv[1:] and sys.argv[1] in pages:
        pages[sys.argv[1]](*sys.argv[2:])
        return
    ratios(*sys.argv[1:])
    if not sys.argv[1:]:
        limits()
        scaling()
        commands()


if __name__ == "__main__":
    main()
