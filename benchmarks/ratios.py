"""Rows of the table of ratios: this package against what a user would otherwise pick.

`benchmarks/run.py` runs each row in a process of its own, after a call that compiles. Times are wall seconds, medians
of a few runs where that is cheap. A peer that is not installed leaves its cells empty. Peers whose times were measured
once and stand here as numbers are marked "measured before": the published Plackett-Luce sampler takes hours, CrowdTruth
needs pandas 1.
"""

import importlib.util
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np
from timing import Spread, timed

PUBLISHED_PL = Spread.of([(6.3 + 1000 * 4.1e-3) * 4.4 / 1000])
"""Seconds per effective draw of one case: compilation, 1000 sweeps of 4.1 ms, autocorrelation time 4.4."""
PUBLISHED_CROWDTRUTH = Spread.of([10.6])
"""Seconds of CrowdTruth's `run` on RTE, 8000 judgments."""


class Row(NamedTuple):
    """One line of the table; seconds, of the peer None where it is not installed."""

    job: str
    ours: Spread
    peer_name: str
    peer: Spread | None
    note: str = ""

    def __str__(self) -> str:
        """Return the line; the ratio is that of the medians."""
        peer, ratio = "", ""
        if self.peer is not None:
            peer, ratio = str(self.peer), f"{self.peer.median / self.ours.median:,.3g}"
        return f"| {self.job} | {self.ours} | {self.peer_name} | {peer} | {ratio} | {self.note} |"


def installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def phi(n_items: int = 7000, n_levels: int | None = None) -> list[Row]:
    import dataclasses

    import pymc as pm

    from bayesagree import common_agreement, simulate
    from bayesagree.agreement.phi import common_agreement_model

    ratings = simulate.ratings(n_items=n_items, phi=0.4, n_levels=n_levels, random_seed=1).ratings
    if n_levels is None:  # Inside the scale, where NUTS has a plain Beta density.
        ratings = dataclasses.replace(ratings, rating=np.clip(ratings.rating, 1e-6, 1 - 1e-6))
    samplers = ["nutpie"] * installed("nutpie") + ["pymc"]
    rows = []
    for item_mean in ("flat", "hierarchical"):
        common_agreement(ratings, item_mean=item_mean, random_seed=1)
        ours = timed(lambda m=item_mean: common_agreement(ratings, item_mean=m, random_seed=1))
        for sampler in samplers if n_levels is None else samplers[:1]:  # rounded ratings take NUTS minutes
            with common_agreement_model(ratings, item_mean=item_mean):
                options = {"tune": 200, "chains": 2, "cores": 2, "random_seed": 1, "progressbar": False}
                peer = timed(lambda s=sampler, o=options: pm.sample(200, nuts_sampler=s, **o), 1)
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
        return plackett_luce(
            rankings, unranked="lumped", chains=4, tune=100, draws=250, top_labels=3, random_seed=1
        )

    effective = float(sample()["diagnostics"]["ess"].sum())
    ours = timed(sample).per(effective)
    note = f"{effective:.3g} effective draws of 1947 cases; peer measured before"
    return [
        Row("Plackett-Luce, dermatology, one effective draw", ours, "published sampler", PUBLISHED_PL, note)
    ]


def prirn() -> list[Row]:
    from bayesagree import annotation_certainty, prirn, score
    from bayesagree.datasets import load
    from studies.systems import noisy_models

    rankings = load("derm-ddx").annotations
    models = noisy_models(rankings, n_models=4, random_seed=1)

    def ours(draws: int = 1000) -> None:
        tree = prirn(rankings, reliability=10, draws=draws, chains=1, random_seed=1, top_labels=1)
        annotation_certainty(tree)
        score(tree, models, "top_3_accuracy")

    ours(2)
    tree = prirn(rankings, reliability=10, draws=1, chains=1, random_seed=1, top_labels=1)
    shapes, rng = tree["posterior_parameters"]["concentration"].values, np.random.default_rng(1)
    peer = timed(lambda: [rng.dirichlet(row, size=1000) for row in shapes], 1)
    why = "the peer draws and stops; ours also ranks every draw and scores four models"
    return [
        Row("PrIRN, 1947 x 419, 1000 draws, certainty and top-3", timed(ours), "numpy's draws alone", peer, why)
    ]


def dirichlet() -> list[Row]:
    from bayesagree import evaluate
    from bayesagree.datasets import load

    data = load("cifar10h")
    counts, rng = data.annotations.counts(), np.random.default_rng(1)

    def plain() -> None:
        for row in counts:
            rng.dirichlet(row + 0.1, size=4000).argmax(axis=1)

    rows, peer = [], timed(plain, 1)
    for metrics in (("accuracy",), ("accuracy", "average_overlap_3")):
        evaluate(data.annotations, data.predictions, draws=2, metrics=metrics, random_seed=1)
        ours = timed(
            lambda m=metrics: evaluate(data.annotations, data.predictions, metrics=m, random_seed=1), 2
        )
        name = f"evaluate, cifar10h, 4 models, 4 x 1000 draws, {' and '.join(metrics)}"
        why = "ten labels: the peer draws ten gammas and stops; ours also scores four models"
        rows.append(Row(name, ours, "numpy's draws and argmax alone", peer, why))
    return rows


def alpha() -> list[Row]:
    from bayesagree import Ratings, krippendorff_alpha

    units = np.random.default_rng(1).random((600, 2))
    ratings = Ratings.from_matrix(units, scale=(0, 1))
    krippendorff_alpha(ratings, level="interval")
    ours = timed(lambda: krippendorff_alpha(ratings, level="interval"))
    if not installed("krippendorff"):
        return [Row("interval alpha, 600 continuous units", ours, "krippendorff", None)]
    import krippendorff

    peer = timed(lambda: krippendorff.alpha(units.T, level_of_measurement="interval"), 1)
    return [Row("interval alpha, 600 continuous units", ours, "krippendorff", peer, "the peer needs 20 GB")]


def alpha_nominal() -> list[Row]:
    from bayesagree import Labels, krippendorff_alpha

    matrix = np.random.default_rng(1).integers(0, 5, (7100, 5))
    labels, rows = Labels.from_matrix(matrix), []
    why = "milliseconds: the peer counts in compiled numpy too, and the table of counts is all there is to do"
    krippendorff_alpha(labels)
    ours = timed(lambda: krippendorff_alpha(labels), 5)
    if installed("krippendorff"):
        import krippendorff

        peer = timed(lambda: krippendorff.alpha(matrix.T, level_of_measurement="nominal"), 5)
        rows.append(Row("nominal alpha, 7100 x 5", ours, "krippendorff", peer, why))
    if installed("nltk"):
        from nltk.metrics.agreement import AnnotationTask

        triples = [(str(a), str(i), int(v)) for i, row in enumerate(matrix) for a, v in enumerate(row)]
        rows.append(
            Row("nominal alpha, 7100 x 5", ours, "nltk", timed(lambda: AnnotationTask(triples).alpha(), 1))
        )
    return rows or [Row("nominal alpha, 7100 x 5", ours, "krippendorff", None)]


def fleiss() -> list[Row]:
    from bayesagree import Labels, agreement_table

    matrix = np.random.default_rng(1).integers(0, 5, (7100, 5))
    labels = Labels.from_matrix(matrix)
    agreement_table(labels, random_seed=1)
    ours = timed(lambda: agreement_table(labels, random_seed=1))
    job = "every coefficient with its interval, 7100 x 5"
    if not installed("statsmodels"):
        return [Row(job, ours, "statsmodels", None)]
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    rng = np.random.default_rng(1)

    def bootstrap() -> None:
        for _ in range(2000):
            fleiss_kappa(aggregate_raters(matrix[rng.integers(0, 7100, 7100)])[0])

    peer = timed(bootstrap, 1)
    return [
        Row(
            "every coefficient with its interval, 7100 x 5",
            ours,
            "statsmodels, Fleiss' kappa in a bootstrap",
            peer,
        )
    ]


def em() -> list[Row]:
    import pandas as pd

    from bayesagree.datasets.simulate import crowd_labels
    from bayesagree.plausibility.dawid_skene._crowd import Crowd
    from bayesagree.plausibility.dawid_skene.em import dawid_skene_em

    labels = crowd_labels(
        n_items=100_000, n_annotators=1000, n_labels=10, labels_per_item=5, random_seed=1
    ).labels
    ours = timed(lambda: dawid_skene_em(Crowd.of_labels(labels), max_iterations=20, tolerance=-1))
    job = "Dawid-Skene EM, 500,000 labels, 10 classes, 20 iterations"
    if not installed("crowdkit"):
        return [Row(job, ours, "crowd-kit", None)]
    from crowdkit.aggregation import DawidSkene

    triple = {"task": labels.item_index, "worker": labels.annotator_index, "label": labels.label_index}
    table = pd.DataFrame(triple)
    why = "the same 20 passes over the labels; the peer's are group-bys of pandas, compiled too"
    return [Row(job, ours, "crowd-kit", timed(lambda: DawidSkene(n_iter=20, tol=-1).fit(table), 2), why)]


def crowdtruth() -> list[Row]:
    from bayesagree.datasets import load
    from bayesagree.subjective import crowdtruth

    labels = load("crowdtruth/rte").annotations
    crowdtruth(labels)
    ours = timed(lambda: crowdtruth(labels), 5)
    note = "peer measured before; benchmarks/crowdtruth.py runs both"
    return [Row("CrowdTruth scores, RTE, 8000 judgments", ours, "CrowdTruth", PUBLISHED_CROWDTRUTH, note)]


def auc() -> list[Row]:
    from scipy.stats import kendalltau
    from sklearn.metrics import roc_auc_score

    from bayesagree.metrics import concordance

    rng, rows = np.random.default_rng(0), []
    for n in (1000, 100_000):
        scores, truth, binary = rng.random((100, n)), rng.random(n), rng.random(n) > 0.5
        concordance(scores[:2], truth)
        ours = timed(lambda s=scores, t=truth: concordance(s, t), 5)
        job, why = f"AUC of 100 models x {n} items", "the peer is compiled too; both sort"
        peer = timed(lambda s=scores, t=truth: [kendalltau(row, t) for row in s], 2)
        rows.append(Row(f"{job}, graded truth", ours, "scipy.stats.kendalltau", peer, why))
        ours = timed(lambda s=scores, t=binary: concordance(s, t.astype(float)), 5)
        peer = timed(lambda s=scores, t=binary: [roc_auc_score(t, row) for row in s], 2)
        rows.append(Row(f"{job}, two labels", ours, "scikit-learn", peer, why))
    return rows


def import_() -> list[Row]:
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    peers = ["pymc", "pymc, arviz"] + ["crowdkit.aggregation"] * installed("crowdkit")
    every = "from bayesagree import *"  # `import bayesagree` itself loads nothing
    times: dict[str, list[float]] = {name: [] for name in (every, "xarray, numba", *peers)}
    for _ in range(9):  # in turn: the machine is not always as fast
        for name, found in times.items():
            code = [sys.executable, "-c", name if name == every else f"import {name}"]
            found.append(timed(lambda c=code: subprocess.run(c, check=True, env=compiled), 1).median)
    seconds = {name: Spread.of(found) for name, found in times.items()}
    why = f"both load compiled libraries; xarray and numba alone take {seconds['xarray, numba'].median:.2f} s"
    return [Row("import of every name", seconds[every], f"import {peer}", seconds[peer], why) for peer in peers]


ROWS = {
    "phi": phi, "phi_levels": phi_levels, "plackett_luce": plackett_luce, "prirn": prirn, "dirichlet": dirichlet,
    "alpha": alpha, "alpha_nominal": alpha_nominal, "fleiss": fleiss, "em": em, "crowdtruth": crowdtruth, "auc": auc,
    "import": import_,
}  # fmt: skip


def table(*chosen: str) -> list[str]:
    """Print rows as they come, all unless some are chosen, and return the table."""
    lines = [
        "| job | seconds | peer | seconds | peer / ours | note |",
        "| --- | ---: | --- | ---: | ---: | --- |",
    ]
    print(*lines, sep="\n", flush=True)
    for name in chosen or ROWS:
        # Samplers start processes of their own, which the workers of a multiprocessing pool may not.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            new = [str(row) for row in pool.submit(ROWS[name]).result()]
        print(*new, sep="\n", flush=True)
        lines += new
    return lines
