"""Published findings of the AUC study, checked on the output of `studies.auc_simulation.auc_study`.

Claims about DGT are checked on its published reading (ties drawn anew for every model). A swap error is *high*
quality below .1, *middle* below .25, else *low*.

Source: Urkullu, Perez, Calvo: On the evaluation and selection of classifier learning algorithms with crowdsourced
data, section 5.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy as sp
import xarray as xr

from studies.auc_simulation import CASES, LEVELS

DGT = "dgt_published"
PUBLISHED = [DGT, "sgt", "pgt"]
HIGH, MIDDLE = 0.1, 0.25
RUN, CELL = "run", ["labels_per_item", "labels_per_annotator"]


class Claim(NamedTuple):
    """One claim: what the paper says, what the study gives, and whether that agrees."""

    claim: str
    paper: str
    ours: str
    holds: bool


def published_grid(tree: xr.DataTree) -> bool:
    """Say whether a study has exactly the published configurations, so that its claims can be checked."""
    study = tree["study"].to_dataset()
    levels = [tuple(study[dim].values.tolist()) for dim in ("case", *CELL)]
    return levels == [tuple(CASES), LEVELS, LEVELS] and study.sizes[RUN] > 1


def study_claims(tree: xr.DataTree) -> pd.DataFrame:
    """Check every claim of the paper's results section on a study with all published configurations.

    Returns
    -------
    DataFrame
        Columns claim, paper, ours, holds; one row per claim.
    """
    study = tree["study"].to_dataset().load()
    return pd.DataFrame([claim(study) for claim in CLAIMS])


def committee_table(tree: xr.DataTree) -> pd.DataFrame:
    """Answer the paper's open question, whether SGT overtakes PGT where few annotators give many labels each.

    Returns
    -------
    DataFrame
        Mean swap errors of sgt and pgt in each configuration, their mean paired difference and its 99 % interval.
    """
    errors = tree["study"].to_dataset().load().swap_error
    difference = _at(errors, "sgt") - _at(errors, "pgt")
    lower, upper = interval(difference)
    columns = {
        "sgt": _at(errors, "sgt").mean(RUN), "pgt": _at(errors, "pgt").mean(RUN),
        "difference": difference.mean(RUN), "lower": lower, "upper": upper,
    }  # fmt: skip
    return xr.Dataset(columns).to_dataframe().reset_index()


def interval(difference: xr.DataArray, prob: float = 0.99) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the t interval of the mean over runs."""
    n = difference.sizes[RUN]
    half = sp.stats.t.ppf((1 + prob) / 2, n - 1) * difference.std(RUN, ddof=1) / np.sqrt(n)
    mean = difference.mean(RUN)
    return mean - half, mean + half


def supervised_quartiles(study: xr.Dataset) -> Claim:
    """Compare the quartiles of the supervised reference over all runs."""
    quartiles = np.quantile(_at(study.swap_error, "supervised"), [0.25, 0.5, 0.75])
    agrees = bool((np.abs(quartiles - [0.0806, 0.0873, 0.0930]) < 0.004).all())
    return Claim("quartiles of the supervised reference", ".0806 .0873 .0930", _numbers(quartiles, 4), agrees)


def difficulty(study: xr.Dataset) -> Claim:
    """Compare the largest relative difference of the true evaluation of neighbouring models."""
    mean, sd = (float(v) * 100 for v in (study.adjacent_difference.mean(), study.adjacent_difference.std()))
    agrees = abs(mean - 1.4) < 0.1 and abs(sd - 0.3) < 0.1
    return Claim(
        "largest difference of neighbouring models", "1.4 %, sd .3 %", f"{mean:.2f} %, sd {sd:.2f} %", agrees
    )


def better_than_chance(study: xr.Dataset) -> Claim:
    """Count the mean swap errors below one half, the expectation of a random ranking."""
    below = (_means(study) < 0.5).values
    ours = f"{below.sum()} of {below.size} mean swap errors below .5"
    return Claim(
        "all methods: better than a random ranking", "almost everywhere", ours, bool(below.mean() > 0.95)
    )


def labels_per_item_help(study: xr.Dataset) -> Claim:
    """Compare mean and standard deviation of the swap error with most and with fewest labels per item."""
    errors = study.swap_error.sel({"auc_method": PUBLISHED})
    gain, calmer = (
        (v.isel(labels_per_item=0) > v.isel(labels_per_item=-1))
        for v in (errors.mean(RUN), errors.std(RUN, ddof=1))
    )
    skilled = calmer.drop_sel(case="extreme").values
    ours = f"mean falls in {gain.values.sum()} of {gain.size}, sd in {skilled.sum()} of {skilled.size} outside extreme"
    holds = bool(gain.all()) and bool(skilled.mean() > 0.95)
    return Claim("labels per item: all methods improve, mean and variance", "yes", ours, holds)


def pgt_lowest(study: xr.Dataset) -> Claim:
    """Count the configurations in which PGT has the lowest mean swap error."""
    means = _means(study)
    overall = means.mean(["case", *CELL])
    lowest = (means.argmin("auc_method") == PUBLISHED.index("pgt")).values
    ours = f"{lowest.sum()} of {lowest.size} configurations; means {_by_method(overall)}"
    holds = bool(overall.argmin("auc_method") == PUBLISHED.index("pgt")) and bool(lowest.mean() > 0.5)
    return Claim("PGT: lowest mean swap error in general", "in general", ours, holds)


def dgt_never_better(study: xr.Dataset) -> Claim:
    """Count the configurations in which DGT is better than PGT beyond a paired 99 % interval."""
    ours, better = [], []
    for method in (DGT, "dgt"):
        lower, upper = interval(_at(study.swap_error, method) - _at(study.swap_error, "pgt"))
        better.append(int((upper < 0).sum()))
        ours.append(f"{method}: better in {better[-1]}, worse in {int((lower > 0).sum())} of {lower.size}")
    return Claim(
        "DGT: never better than PGT (paired 99 %)", "in no configuration", "; ".join(ours), better[0] == 0
    )


def only_sgt_improves(study: xr.Dataset) -> Claim:
    """Compare the mean swap error with most and with fewest labels per annotator."""
    means = _means(study)
    gain = means.isel(labels_per_annotator=0) - means.isel(labels_per_annotator=-1)
    mean = gain.mean(["case", "labels_per_item"])
    rows = _at(gain, "sgt").drop_sel(case="extreme").values
    ours = f"mean gain {_by_method(mean)}; SGT gains in {(rows > 0).sum()} of {rows.size} rows outside extreme"
    others = float(np.abs(mean.drop_sel({"auc_method": "sgt"})).max())
    holds = bool((rows > 0).all()) and float(_at(mean, "sgt")) > 5 * others
    return Claim("labels per annotator: SGT improves, only SGT", "effectively only SGT", ours, holds)


def sgt_most_variable(study: xr.Dataset) -> Claim:
    """Compare the standard deviations of the swap errors, with few and with many labels per annotator."""
    deviation = study.swap_error.sel({"auc_method": PUBLISHED}).std(RUN, ddof=1)
    few = deviation.sel({"labels_per_annotator": slice(None, 15)}).mean(["case", *CELL])
    many = deviation.sel({"labels_per_annotator": slice(16, None)}).mean(["case", *CELL])
    ours = f"mean sd up to 15 {_by_method(few)}, above {_by_method(many)}"
    lead = [float(_at(d, "sgt") - d.drop_sel({"auc_method": "sgt"}).max()) for d in (few, many)]
    return Claim("SGT: most variable, above all up to 15 labels", "yes", ours, lead[0] > max(lead[1], 0))


def extreme_quality(study: xr.Dataset) -> Claim:
    """Compare the qualities of all solutions of the extreme case."""
    return _ranges(study, "extreme", {"all": ("low", "low")})


def bad_quality(study: xr.Dataset) -> Claim:
    """Compare the qualities of the bad case."""
    return _ranges(study, "bad", {DGT: ("middle", "low"), "sgt": ("high", "low"), "pgt": ("high", "low")})


def bad_pgt_beats_supervised(study: xr.Dataset) -> Claim:
    """Compare PGT with the supervised reference at 45 labels per item in the bad case."""
    return _beats(study, "bad", "pgt", 45, 1.0)


def average_quality(study: xr.Dataset) -> Claim:
    """Compare the qualities of the average case."""
    return _ranges(study, "average", {DGT: ("high", "low"), "sgt": ("high", "low"), "pgt": ("high", "middle")})


def average_pgt_beats_supervised(study: xr.Dataset) -> Claim:
    """Compare PGT with the supervised reference from 15 labels per item in the average case."""
    return _beats(study, "average", "pgt", 15, 1.0)


def average_sgt_beats_supervised(study: xr.Dataset) -> Claim:
    """Compare SGT with the supervised reference from 15 labels per item in the average case."""
    return _beats(study, "average", "sgt", 15, 11 / 18)


def good_quality(study: xr.Dataset) -> Claim:
    """Compare the qualities of the good case."""
    return _ranges(study, "good", {"all": ("high", "middle")})


def good_pgt_beats_supervised(study: xr.Dataset) -> Claim:
    """Compare PGT with the supervised reference from 5 labels per item in the good case."""
    return _beats(study, "good", "pgt", 5, 1.0)


def good_sgt_beats_supervised(study: xr.Dataset) -> Claim:
    """Compare SGT with the supervised reference from 5 labels per item in the good case."""
    return _beats(study, "good", "sgt", 5, 0.7)


def good_all_beat_supervised(study: xr.Dataset) -> Claim:
    """Compare all methods with the supervised reference at 45 labels per item in the good case."""
    return _beats(study, "good", PUBLISHED, 45, 1.0)


def outstanding_quality(study: xr.Dataset) -> Claim:
    """Compare the qualities of the outstanding case."""
    return _ranges(study, "outstanding", {"all": ("high", "middle")})


def outstanding_pgt_beats_supervised(study: xr.Dataset) -> Claim:
    """Compare PGT with the supervised reference in the outstanding case."""
    return _beats(study, "outstanding", "pgt", 3, 1.0)


def outstanding_sgt_beats_supervised(study: xr.Dataset) -> Claim:
    """Compare SGT with the supervised reference: always from 15 labels per item, not always below."""
    return _beats_from(study, "outstanding", "sgt", 15)


def outstanding_dgt_beats_supervised(study: xr.Dataset) -> Claim:
    """Compare DGT with the supervised reference: always from 27 labels per item, not always below."""
    return _beats_from(study, "outstanding", DGT, 27)


CLAIMS: tuple[Callable[[xr.Dataset], Claim], ...] = (
    supervised_quartiles, difficulty, better_than_chance, labels_per_item_help, pgt_lowest, dgt_never_better,
    only_sgt_improves, sgt_most_variable, extreme_quality, bad_quality, bad_pgt_beats_supervised, average_quality,
    average_pgt_beats_supervised, average_sgt_beats_supervised, good_quality, good_pgt_beats_supervised,
    good_sgt_beats_supervised, good_all_beat_supervised, outstanding_quality, outstanding_pgt_beats_supervised,
    outstanding_sgt_beats_supervised, outstanding_dgt_beats_supervised,
)  # fmt: skip


def _at(array: xr.DataArray, method: str) -> xr.DataArray:
    return array.sel({"auc_method": method}, drop=True)


def _means(study: xr.Dataset) -> xr.DataArray:
    return study.swap_error.sel({"auc_method": PUBLISHED}).mean(RUN)


def _beaten(study: xr.Dataset, case: str, method: str | list[str], labels_per_item: slice) -> np.ndarray:
    """Return for each cell whether the mean swap error is below that of the supervised reference."""
    reference = float(_at(study.swap_error, "supervised").mean())
    chosen = {"case": case, "auc_method": method, "labels_per_item": labels_per_item}
    return (study.swap_error.sel(chosen).mean(RUN) < reference).values


def _beats(study: xr.Dataset, case: str, method: str | list[str], least: int, share: float) -> Claim:
    beaten = _beaten(study, case, method, slice(least, None))
    name = method if isinstance(method, str) else "all"
    claim = f"{case}: {name} beats supervised from {least} labels per item"
    ours = f"{beaten.mean():.2%} ({beaten.sum()} of {beaten.size} cells)"
    return Claim(claim, f"{share:.2%}", ours, abs(float(beaten.mean()) - share) < 0.5 / beaten.size)


def _beats_from(study: xr.Dataset, case: str, method: str, least: int) -> Claim:
    above, below = (_beaten(study, case, method, s) for s in (slice(least, None), slice(None, least - 1)))
    ours = f"{above.sum()} of {above.size} cells from there, {below.sum()} of {below.size} below"
    claim = f"{case}: {method} always beats supervised from {least} labels per item, not below"
    return Claim(claim, f"from {least}", ours, bool(above.all() and not below.all()))


def _ranges(study: xr.Dataset, case: str, published: dict[str, tuple[str, str]]) -> Claim:
    means = _means(study).sel({"case": case})
    values = {m: means.values if m == "all" else _at(means, m).values for m in published}
    found = {m: (_quality(v.min()), _quality(v.max())) for m, v in values.items()}
    ours = "; ".join(
        f"{m} {a} to {b} ({values[m].min():.3f}-{values[m].max():.3f})" for m, (a, b) in found.items()
    )
    paper = "; ".join(f"{m} {a} to {b}" for m, (a, b) in published.items())
    return Claim(f"{case}: best and worst quality of a configuration", paper, ours, found == published)


def _quality(swap_error: float) -> str:
    return "high" if swap_error < HIGH else "middle" if swap_error < MIDDLE else "low"


def _by_method(values: xr.DataArray) -> str:
    return ", ".join(f"{m} {float(v):.3f}" for m, v in zip(values["auc_method"].values, values))


def _numbers(values: np.ndarray, digits: int) -> str:
    return " ".join(f"{v:.{digits}f}" for v in values)
