"""What the calibration tests measure, decisions stated in advance, gathered into benchmarks/results/calibration.md.

A test asks for the fixture `calibration` and calls

    calibration.uniform("dirichlet", "plausibility 0", ranks, n_ranks)     ranks of the truth: 0 .. n_ranks - 1
    calibration.coverage("common_agreement", "phi", held)                  did the interval hold the truth? booleans

Both record and then assert. Records travel as properties of the test's report, so that they arrive from parallel
workers, too. Runs with `-m slow` on this folder,
or on one of its files, add theirs to calibration.json and write the page from all.

Decisions, stated in advance:

* Ranks: chi-square over at most 20 bins of at least 10 expected replications; rejected below 1e-4. With about a hundred
  parameters recorded, a correct package is rejected once in a hundred full runs.
* Coverage: two-sided binomial test of the nominal probability; rejected below 1e-4.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest, chisquare

LEVEL = 1e-4
MOST_BINS, FEWEST_EXPECTED = 20, 10
PROPERTY = "calibration"
STORED_CELLS = 100
"""Ranks are stored as counts of at most so many cells."""


class Recorder:
    """Judges and records the results of one test."""

    def __init__(self, record_property: Callable[[str, object], None]) -> None:
        self.record_property = record_property

    def uniform(self, model: str, parameter: str, ranks: ArrayLike, n_ranks: int) -> None:
        """Ranks of the truth among n_ranks - 1 draws are uniform on 0 .. n_ranks - 1."""
        rank = np.asarray(ranks)
        bins = min(MOST_BINS, n_ranks, rank.size // FEWEST_EXPECTED)
        p_value = float(chisquare(*binned(rank, n_ranks, bins)).pvalue)
        counts = binned(rank, n_ranks, min(n_ranks, STORED_CELLS))[0]
        self._record("ranks", model, parameter, replications=rank.size, counts=counts.tolist(), p_value=p_value)
        assert p_value > LEVEL, f"{model}, {parameter}: ranks {binned(rank, n_ranks, bins)[0]}, p = {p_value:.1e}"

    def coverage(self, model: str, parameter: str, held: ArrayLike, nominal: float = 0.95) -> None:
        """Intervals hold the truth as often as they say."""
        hits = np.ravel(np.asarray(held, dtype=bool))
        p_value = float(binomtest(int(hits.sum()), hits.size, nominal).pvalue)
        share = float(hits.mean())
        self._record("coverage", model, parameter, replications=hits.size, held=share, nominal=nominal, p_value=p_value)
        assert p_value > LEVEL, f"{model}, {parameter}: {share:.3f} of {hits.size} covered, nominal {nominal}"

    def _record(self, kind: str, model: str, parameter: str, **values: Any) -> None:
        self.record_property(PROPERTY, json.dumps({"kind": kind, "model": model, "parameter": parameter} | values))


def binned(rank: np.ndarray, n_ranks: int, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Return observed and expected counts; bins hold as equal numbers of ranks as they can."""
    edges = np.linspace(0, n_ranks, bins + 1).round().astype(int)
    observed = np.histogram(rank, bins=edges - 0.5)[0]
    return observed, rank.size * np.diff(edges) / n_ranks


def merge(stored: Path, records: Iterable[tuple[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Put records (test, record) into the file, each test's in place of its former ones, and return all."""
    new: dict[str, list[Any]] = {}
    for test, record in records:
        new.setdefault(test, []).append(record)
    known = json.loads(stored.read_text()) if stored.exists() else {}
    known |= new
    tests = dict(sorted(known.items()))
    lines = [f"{json.dumps(test)}: {json.dumps(found)}" for test, found in tests.items()]
    stored.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return [{"test": test} | record for test, found in tests.items() for record in found]


def write_page(folder: Path, records: list[dict[str, Any]]) -> None:
    """Write calibration.md and the curves beside it, calibration.png."""
    parts = {kind: [r for r in records if r["kind"] == kind] for kind in ("ranks", "coverage")}
    page = [
        "# Calibration",
        "`uv run pytest -m slow tests/calibration` draws truths from the prior, annotations from the truths, and asks "
        "where the truth lies among the posterior draws; one file of the folder renews its own lines. Stated in "
        "advance: ranks are called uneven when a chi-square test over at most 20 bins gives p < 1e-4, coverage is "
        "called wrong when a two-sided binomial test does.",
    ]
    if parts["ranks"]:
        rows = [
            (r["model"], r["parameter"], r["replications"], f"{largest_gap(r):.3f}", f"{r['p_value']:.2g}", verdict(r))
            for r in parts["ranks"]
        ]
        page += ["## Ranks of the truth", table(("model", "parameter", "replications", "largest gap", "p", ""), rows)]
        page += [
            "![Empirical distribution of the ranks minus the uniform one](calibration.png)",
            "Curves: empirical distribution function of the ranks minus the uniform one; band: where 95 % of the "
            "curves lie wholly inside if the sampler is right (Kolmogorov). An arch: the posterior is shifted; falling "
            "through the middle: too narrow; rising through it: too wide.",
        ]
        plot_ranks(parts["ranks"], folder / "calibration.png")
    if parts["coverage"]:
        rows = [
            (r["model"], r["parameter"], r["replications"], f"{r['nominal']:g}", f"{r['held']:.3f}", verdict(r))
            for r in parts["coverage"]
        ]
        page += ["## Coverage of intervals", table(("model", "quantity", "intervals", "nominal", "held", ""), rows)]
    (folder / "calibration.md").write_text("\n\n".join(page) + "\n")


def verdict(record: Mapping[str, Any]) -> str:
    """Return the decision stated in advance."""
    return "ok" if record["p_value"] > LEVEL else "**rejected**"


def largest_gap(record: Mapping[str, Any]) -> float:
    """Return the largest distance between the distribution of the ranks and the uniform one."""
    return float(np.abs(rank_curve(record)).max())


def rank_curve(record: Mapping[str, Any]) -> np.ndarray:
    """Return the distribution function of the ranks minus the uniform one at the ends of the stored cells."""
    counts = np.asarray(record["counts"])
    return np.append(0.0, np.cumsum(counts) / counts.sum()) - np.linspace(0, 1, counts.size + 1)


def table(heading: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Format a Markdown table."""
    lines = [list(heading)]
    lines += [["---"] * len(lines[0]), *([str(v) for v in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def plot_ranks(records: list[dict[str, Any]], path: Path) -> None:
    """Draw one small panel for each model and test, a curve for each of its parameters."""
    from matplotlib.figure import Figure

    panels: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        panels.setdefault(f"{record['model']} ({record['replications']})", []).append(record)
    columns = min(4, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(3 * columns, 1.9 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True).ravel()
    for axis, (title, found) in zip(axes, panels.items()):
        band = 1.358 / np.sqrt(found[0]["replications"])
        axis.fill_between([0, 1], -band, band, color="0.88", linewidth=0)
        for record in found:
            curve = rank_curve(record)
            axis.plot(np.linspace(0, 1, curve.size), curve, linewidth=0.8)
        axis.set_title(title, fontsize=8)
        axis.tick_params(labelsize=7)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    figure.savefig(path, dpi=80)
