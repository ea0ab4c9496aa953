"""Runs of `bayesagree.conformal`."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import xarray as xr

import bayesagree as ba
from _runs.recipe import FEW, add, later
from _runs.world import LABELS, MANY, MANY_PAGES, MANY_SOFT, PARTS, SOFT
from bayesagree import conformal as cf

drawn = later(lambda: ba.dirichlet(MANY(), **FEW), "drawn")
small = later(lambda: ba.dirichlet(LABELS(), **FEW), "small")


def sets(truth, predictions, **options):
    """Calibrate, and give the sets of new predictions and their p-values."""
    found = cf.conformalize(truth, predictions, **({"seed": 1, "coverage": 0.7} | options))
    return _of(found, truth, predictions, options.get("by"))


def _of(found, truth, predictions, by):
    given = {} if by is None else {"by": by}
    return [found.threshold, found.coverage_range, found.predict_set(predictions, **given),
            found.p_values(predictions, **given), found.calibration]  # fmt: skip


for truth in (MANY, drawn):
    run = add(f"conformalize {truth.name}", sets, truth, MANY_SOFT)
    run()
    for method in ("exact", "monte_carlo", "majority"):
        run(method=method, score="margin")
        run(method=method, by=MANY_PAGES)
    for score in ("probability", "aps", "raps"):
        run(score=score, coverage=0.85)
    run(method="monte_carlo", repeats=3, correction="ecdf")
add("conformalize small", sets, LABELS, SOFT)(by=PARTS)
add("conformalize small", sets, small, SOFT)(coverage=0.5)


def mass(truth, predictions, **options):
    """The same of sets that hold a mass."""
    found = cf.conformalize_mass(truth, predictions, **options)
    return _of(found, truth, predictions, options.get("by"))


run = add("conformalize_mass", mass, drawn, MANY_SOFT)
run(coverage=0.7)
run(mass=0.6, coverage=0.8, score="aps")
run(by=MANY_PAGES, coverage=0.6)
add("conformalize_mass MANY", mass, MANY, MANY_SOFT)(coverage=0.7)
run = add("cross_sets", cf.cross_sets, MANY, MANY_SOFT, seed=1)
run()
run(folds=5, coverage=0.7, score="raps")
run(folds=3, by=MANY_PAGES, coverage=0.5)
calibrated = later(lambda: cf.conformalize(MANY(), MANY_SOFT(), coverage=0.7, seed=1), "sets")
grouped = later(lambda: cf.conformalize(MANY(), MANY_SOFT(), coverage=0.7, seed=1, by=MANY_PAGES()), "grouped")
for truth in (None, LABELS, small):
    add("exchangeability_check", cf.exchangeability_check, calibrated, SOFT)(truth=truth)
chosen = later(lambda: calibrated().predict_set(MANY_SOFT()), "chosen")
for truth in (MANY, drawn):
    run = add(f"set_coverage {truth.name}", cf.set_coverage, truth, chosen)
    run()
    run(mass=0.6, ci_prob=0.5)
    run(by=MANY_PAGES)
add("widest_sets", cf.widest_sets, chosen)()
add("widest_sets", cf.widest_sets, chosen)(most=3)
certain = later(lambda: ba.annotation_certainty(drawn()), "certain")
add("certainty_groups", cf.certainty_groups, certain)()
add("certainty_groups", cf.certainty_groups, certain)(edges=(0.4, 0.6))
rows = np.random.default_rng(2).dirichlet(np.ones(6), 5)
for name in ("aps", "margin", "probability", "raps"):
    add(name, getattr(cf, name), rows)()
add("raps", cf.raps, rows)(penalty=0.05, free=2)


def shares():
    """Plausibilities of all items."""
    values = np.random.default_rng(4).dirichlet(np.ones(3), 40)
    return xr.DataArray(values, dims=("item", "category"), coords={"item": MANY().items, "category": [*"xyz"]})


def regions(truth, predictions, **options):
    """Calibrate regions, and ask what they contain."""
    found = cf.plausibility_regions(truth, predictions, **options)
    return [found.radius, found.contains(predictions, shares()), found.labels(predictions)]


for distance in ("tv", "kl", "wasserstein", "inner"):
    add("plausibility_regions", regions, drawn, MANY_SOFT)(distance=distance, coverage=0.7)
    add("plausibility_regions MANY", regions, MANY, MANY_SOFT)(distance=distance)


def kept(which):
    """Write sets to a file and read them."""
    with TemporaryDirectory() as folder:
        which.save(Path(folder) / "sets.nc")
        return cf.read_sets(Path(folder) / "sets.nc")


add("read_sets", kept, calibrated)()
add("read_sets grouped", kept, grouped)()
