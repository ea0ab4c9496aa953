"""The section on the models: every metric as rows of text, with its figure, and the comparison of pairs."""

from collections.abc import Iterable
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
import xarray as xr

from bayesagree.metrics.registry import Metric
from bayesagree.report.data import ReportData
from bayesagree.report.figures import Mark, MarkGroup, interval_plot
from bayesagree.report.scores import ModelScores
from bayesagree.report.wording import interval, metric_meaning, metric_name, number, probability

# Models shown in figures and pairs, the best ones; the table of scores has all of them.
MOST_MODELS = 12


def scores(data: ReportData) -> list[dict[str, Any]]:
    """Show each metric: all models at every reliability, and the plug-in metric."""
    return [] if data.scores is None else [_metric(data, name) for name in data.settings.metrics]


def _metric(data: ReportData, metric: str) -> dict[str, Any]:
    if data.scores is None:
        return {}
    levels = data.settings.reliability
    columns = list(_columns(data.scores.table, data.scores.labels_only, levels))
    models, ceiling = _lines(data.scores, metric, levels), _ceiling(data.scores, metric, levels)
    name = metric_name(metric)
    title, limits = f"{name.capitalize()} of the models", Metric.named(metric).record.bounds
    marks = [line.marks(columns) for line in [*models[:MOST_MODELS], *ceiling]]
    view = {"id": metric, "name": name, "meaning": metric_meaning(metric), "columns": columns}
    view["figure"] = interval_plot(marks, title=title, axis=name, limits=limits)
    view["rows"] = [line.row() for line in [*models, *ceiling]]
    shown = {"shown": min(len(models), MOST_MODELS), "models": len(models), "ceiling": bool(ceiling)}
    return view | shown | _comparison(data, metric)


class _Line(NamedTuple):
    """Scores of one model in every column: mean and interval, and the plug-in metric (NaN for none)."""

    name: str
    cells: list[tuple[float, float, float]]
    plug_in: float

    @classmethod
    def of(cls, name: str, found: list[xr.Dataset], plug_in: float = np.nan) -> Self:
        """Read the scores of one model, one Dataset a column."""
        return cls(name, [(float(one["score"]), float(one["lower"]), float(one["upper"])) for one in found], plug_in)

    def marks(self, columns: Iterable[str]) -> MarkGroup:
        """Return what the figure shows."""
        kinds = ("reference", *["other"] * len(self.cells))
        cells = zip(self.cells, columns, kinds)
        return MarkGroup(self.name, tuple(Mark(*cell, name.lower(), kind) for cell, name, kind in cells))

    def row(self) -> tuple[str, list[tuple[str, str]], str]:
        """Return what the table shows."""
        return self.name, [(number(s), interval(a, b)) for s, a, b in self.cells], number(self.plug_in)


def _lines(scores: ModelScores, metric: str, levels: tuple[float, ...]) -> list[_Line]:
    """Return the scores of the models, best first."""
    columns, plug_in = _columns(scores.table, scores.labels_only, levels).values(), scores.table["plug_in"]
    at = [{"metric": metric, "model": model} for model in scores.comparison[metric]["model"].values.tolist()]
    return [_Line.of(str(one["model"]), [c.sel(one) for c in columns], float(plug_in.sel(one))) for one in at]


def _ceiling(scores: ModelScores, metric: str, levels: tuple[float, ...]) -> list[_Line]:
    """Return the scores of another annotator; none where the metric has no value of one label."""
    found = scores.ceiling_of(metric)
    return [] if found is None else [_Line.of("Another annotator", list(_columns(*found, levels).values()))]


def _columns(first: xr.Dataset, alone: xr.Dataset | None, levels: tuple[float, ...]) -> dict[str, xr.Dataset]:
    """Return the scores to show by their names, the leading one first: of each reliability, or of each target."""
    if alone is None:
        return {f"Reliability {level:g}": first.sel(reliability=level) for level in levels}
    return {"Estimate": first.isel(reliability=0), "Labels only": alone.isel(reliability=0)}


def informed(data: ReportData) -> bool:
    """Whether predictions inform the truth, so that scores by the labels alone stand beside the estimate."""
    return data.scores is not None and data.scores.labels_only is not None


def _comparison(data: ReportData, metric: str) -> dict[str, Any]:
    """List the pairs of the best models, better one first, and the probability of every place."""
    if data.scores is None or data.scores.table.sizes["model"] < 2:
        return {"pairs": [], "ranks": [], "places": []}
    found = data.scores.comparison[metric].isel(model=slice(MOST_MODELS), other_model=slice(MOST_MODELS))
    models, pairs = found["model"].values.tolist(), []
    for a, b in combinations(models, 2):
        pair = {key: float(found[key].sel(model=a, other_model=b)) for key in PAIR}
        ends = interval(pair["lower"], pair["upper"])
        chance = (probability(pair["prob_better"]), pair["prob_better"])
        pairs.append((a, b, chance, f"{pair['difference']:+.3f}", ends))
    places = found["rank"].values.tolist()[:MOST_MODELS]
    chances = found["rank_probability"].transpose("model", "rank").values
    ranks = [(m, [(float(p), probability(p)) for p in row[: len(places)]]) for m, row in zip(models, chances)]
    return {"pairs": pairs, "ranks": ranks, "places": places}


PAIR = ("prob_better", "difference", "lower", "upper")
