"""The sections of a page: numbers of the data as rows of text, and their figures."""

import json
from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree.plausibility.registry import PosteriorRecord
from bayesagree.report.beside import COVERAGE, EPSILON, FurtherVotes, GroupResults, SetResults
from bayesagree.report.data import OPEN, ReportData
from bayesagree.report.figures import bars, certainty_curve
from bayesagree.report.kinds import kind_of
from bayesagree.report.scores import GoldScores, ModelScores
from bayesagree.report.wording import (
    count,
    interval,
    listed,
    metric_meaning,
    metric_name,
    number,
    percent,
    percents,
    probability,
)
from bayesagree.subjective.specification import SpecificationReport

# Items that divide groups; the command `subjective --truth by-group` lists all.
MOST_ITEMS = 20
# Models shown in pairs, the best ones; the table of scores has all of them.
MOST_MODELS = 12
PAIR = ("prob_better", "difference", "lower", "upper")
# Names of coefficients, where they are not those of the table.
COEFFICIENTS = {"phi": "Common agreement Phi", "leave_one_out": "Names what the others put first"}


def agreement(data: Any) -> dict[str, Any]:
    """Show every coefficient that exists, and say why the others do not."""
    table = data.agreement.assign(name=[COEFFICIENTS.get(c) or _named(c) for c in data.agreement["coefficient"]])
    known = table["estimate"].notna()
    missing = [f"{name}: {note}" for name, note in zip(table["name"][~known], table["note"][~known])]
    rows = _rows(table[known], name=str, estimate=number, ends=interval, note=str)
    return {"rows": _with_bars(rows, table.loc[known, ["estimate", "lower", "upper"]]), "missing": missing}


def _with_bars(rows: list[tuple[Any, ...]], values: Any, at: int = 3) -> list[tuple[Any, ...]]:
    """Put a drawing of the value and its ends into each row, before the cell at a place."""
    drawn = bars([tuple(one) for one in np.asarray(values, np.float64).tolist()])
    return [(*row[:at], bar, *row[at:]) for row, bar in zip(rows, drawn)]


def _named(coefficient: str) -> str:
    """Write the name of a coefficient: gwet_ac1 is Gwet AC1."""
    return coefficient.replace("_", " ").capitalize().replace("Icc", "ICC").replace(" ac", " AC")


def certainty(data: ReportData) -> dict[str, Any]:
    """Show the certainty of the items at every reliability."""
    values, levels = data.certainty.values, data.settings.reliability
    rows = [(f"{r:g}", number(float(v.mean())), percent(float((v < OPEN).mean()))) for r, v in zip(levels, values)]
    return {"figure": certainty_curve(levels, values, OPEN), "rows": rows, "limit": OPEN}


def scores(data: ReportData) -> list[dict[str, Any]]:
    """Show each metric: all models at every reliability, and the plug-in metric."""
    return [] if data.scores is None else [_metric(data, name) for name in data.settings.metrics]


def _metric(data: ReportData, metric: str) -> dict[str, Any]:
    if data.scores is None:
        return {}
    levels = data.settings.reliability
    columns = list(_columns(data.scores.table, data.scores.labels_only, levels))
    models, ceiling = _lines(data.scores, metric, levels), _ceiling(data.scores, metric, levels)
    view = {"id": metric, "name": metric_name(metric), "meaning": metric_meaning(metric), "columns": columns}
    lines = [*models, *ceiling]
    view["rows"] = _with_bars([line.row() for line in lines], [line.cells[0] for line in lines], 1)
    ranking = data.scores.ranking[metric]
    view["tiers"] = {
        str(model): f"{row['tier']} (place {row['rank_lower']} to {row['rank_upper']})"
        for model, row in ranking.iterrows()
    }
    return view | {"ceiling": bool(ceiling)} | _comparison(data, metric)


class _Line(NamedTuple):
    """Scores of one model in every column: mean and interval, and the plug-in metric (NaN for none)."""

    name: str
    cells: list[tuple[float, float, float]]
    plug_in: float

    @classmethod
    def of(cls, name: str, found: list[xr.Dataset], plug_in: float = np.nan) -> Self:
        """Read the scores of one model, one Dataset a column."""
        return cls(
            name, [(float(one["score"]), float(one["lower"]), float(one["upper"])) for one in found], plug_in
        )

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


def together(data: ReportData) -> bool:
    """Whether the reliability is the weight of all annotations of an item together."""
    return data.settings.record.name == "prirn"


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


def _rows(table: pd.DataFrame, **columns: Callable[..., Any]) -> list[tuple[Any, ...]]:
    """Write columns of a table as a reader sees them; `ends` writes the columns lower and upper."""
    return [
        tuple(w(row["lower"], row["upper"]) if name == "ends" else w(row[name]) for name, w in columns.items())
        for row in table.to_dict("records")
    ]


def groups(data: ReportData, found: GroupResults) -> dict[str, Any]:
    """Show the groups of annotators and how well each model serves them."""
    sizes = dict(zip(found.composition.index.astype(str), found.composition["annotators"].tolist()))
    composition = [(g, *map(count, row)) for g, row in zip(sizes, found.composition.to_numpy(int).tolist())]
    view = {"by": found.by, "composition": composition}
    if found.accuracy is None or found.worst is None:
        return view
    table = found.accuracy.to_dataframe().reset_index()
    table = table.assign(size=[sizes[group] for group in table["group"].astype(str)])
    rows = _rows(table, model=str, group=str, size=count, mean=number, ends=interval)
    rows = _with_bars(rows, table[["mean", "lower", "upper"]], 5)
    worst = _rows(found.worst, model=str, worst=str, best=str, probability=probability)
    truth = {} if found.truth is None else {"truth": _group_truth(found.truth)}
    return view | {"rows": rows, "worst": worst} | truth


def _group_truth(found: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """Show scores against the truth of each group, how far groups differ, and the items that divide them."""
    scores = found["scores"].assign(score_ends=lambda t: [interval(*ends) for ends in zip(t["lower"], t["upper"])])
    scores = scores.assign(lower=scores["difference_lower"], upper=scores["difference_upper"])
    names: dict[str, Any] = {"model": str, "group": str, "mean": number, "score_ends": str, "difference": number}
    apart = _rows(found["groups"], group=str, votes=count, divided=percent, ends=percents, p_value=probability)
    items = _rows(found["items"].head(MOST_ITEMS), group=str, item=str, prob_different=probability)
    rows = _rows(scores, **names, ends=interval, worst_served=probability)
    return {"scores": rows, "groups": apart, "dividing": items, "number": count(len(found["items"]))}


def sets(data: ReportData, found: SetResults) -> dict[str, Any]:
    """Show what the prediction sets of each model cover, how large they are, and where they are widest."""
    writers = (
        ("coverage", percent, percents),
        ("majority_coverage", percent, percents),
        ("size", number, interval),
    )
    rows = []
    for model, part in found.table.groupby("model", sort=False):
        of = part.set_index("quantity")
        cells = [cell for name, one, two in writers for cell in _rows(of.loc[[name]], value=one, ends=two)[0]]
        rows.append((str(model), *cells))
    widest = _rows(found.widest, model=str, item=str, size=count, labels=listed)
    return {"rows": rows, "widest": widest, "coverage": percent(COVERAGE)}


def gold(data: ReportData, found: GoldScores) -> dict[str, Any]:
    """Show the scores of each model against gold."""
    table = found.table.to_dataframe().reset_index()
    names: dict[str, Any] = {"model": str, "metric": metric_name}
    return {"rows": _rows(table, **names, score=number, ends=interval), "n": count(found.n_gold)}


def replacement(data: ReportData, found: pd.DataFrame) -> dict[str, Any]:
    """Show which models may replace an annotator."""
    chances: dict[str, Any] = {"prob_passes": probability, "prob_new_annotator": probability}
    passes = {"passes": lambda passed: "yes" if passed else "no"}
    rows = _rows(found, model=str, advantage=percent, ends=percents, winning_rate=percent, **passes, **chances)
    return {"rows": rows, "n": count(int(found["n_annotators"].iloc[0])), "epsilon": percent(EPSILON)}


def further_votes(data: ReportData, found: FurtherVotes) -> dict[str, Any]:
    """Show what further votes would settle, and the items of the first ones."""
    rows = _rows(found.table.astype({"votes": int}), votes=count, prob_right=probability)
    return {"models": found.models, "rows": rows, "items": [str(name) for name in found.items["item"]]}


def specification(data: ReportData, found: SpecificationReport) -> dict[str, Any]:
    """Show what was declared, the gaps, and the shares beside their targets."""
    names: dict[str, Any] = dict.fromkeys(("kind", "feature", "value"), str)
    shares = _rows(found.distributions, **names, target=percent, actual=percent, n=count)
    declared = [
        ("What would be a bias", found.declared.bias_definition),
        ("Fairness", found.declared.fairness),
        ("Metrics", ", ".join(found.declared.metrics)),
        ("Protected features", ", ".join(found.declared.protected) or "none"),
        ("How annotations were collected", found.declared.collection or "not stated"),
    ]
    return {"declared": declared, "gaps": list(found.gaps), "shares": shares}


def settings(data: ReportData) -> list[tuple[str, str]]:
    """List how the numbers were made."""
    chosen, given = data.settings, data.annotations
    kind = kind_of(given).title
    weights = f"{chosen.reference:g} (reference)" + "".join(f", {r:g}" for r in chosen.reliability[1:])
    rows = [
        ("Annotations", f"{kind}: {count(given.n_annotations)} of {count(given.items.size)} items"),
        ("Annotators", count(given.annotators.size) if given.annotators.size else "not named"),
        ("Model of the truth", chosen.record.title),
        ("Reliability", _weights(chosen.record, weights)),
        ("Draws", f"{chosen.chains} chains of {chosen.draws}"),
        ("Seed", str(chosen.random_seed)),
        ("Version", f"bayesagree {data.version}"),
    ]
    rows[3:3] = [("Chosen", note) for note in data.choice]
    if data.scores is not None:
        rows.insert(3, ("Score", data.scores.target))
        rows.insert(5, ("Metrics", listed([metric_name(m) for m in chosen.metrics])))
        rows.insert(6, ("Items", "this test set" if chosen.items == "fixed" else "a sample (Bayesian bootstrap)"))
    if chosen.threshold is not None:
        rows.insert(3, ("Threshold", f"{chosen.threshold:g}"))
    return rows


def _weights(record: PosteriorRecord, weights: str) -> str:
    if record.reference is None:
        return "as that model has it"
    if record.takes_predictions:
        return "annotators count as exchangeable"
    return "learnt for each annotator" if record.learns_reliability else weights


def diagnostics(data: Any) -> list[tuple[str, str, str]]:
    """Show the convergence of the Markov chains, or that there are none."""
    if not data.diagnostics:
        return [("Draws", "independent", "exact posterior, no Markov chain to diagnose")]
    rows = []
    if "r_hat" in data.diagnostics:
        size = number(data.diagnostics["r_hat"])
        rows.append(("Largest split r-hat", size, "1: the chains agree; wanted below 1.01 of a printed number"))
    if "ess" in data.diagnostics:
        size = f"{data.diagnostics['ess']:.0f}"
        rows.append(("Smallest effective sample size", size, "independent draws that are as precise as the chains"))
    return rows


def numbers(data: ReportData) -> dict[str, list[dict[str, Any]]]:
    """Return the numbers of the page with all digits, as records by table: what a reader loads into another program."""
    tables = {"agreement": data.agreement, "certainty": data.certainty.to_dataframe().reset_index()}
    if data.scores is not None:
        groups = {"posterior": data.scores.table, "annotations_only": data.scores.labels_only}
        scores = [
            one[["score", "lower", "upper"]].to_dataframe().assign(group=name)
            for name, one in groups.items()
            if one is not None
        ]
        pairs = [
            one[list(PAIR)].to_dataframe().assign(metric=metric) for metric, one in data.scores.comparison.items()
        ]
        plug_in = data.scores.table["plug_in"].to_dataframe()
        tables |= {"scores": pd.concat(scores), "pairs": pd.concat(pairs), "point_estimate": plug_in}
        tables = {name: table.reset_index() for name, table in tables.items()}
        tables["pairs"] = tables["pairs"].dropna()
    if data.groups is not None and data.groups.accuracy is not None:
        tables["groups"] = data.groups.accuracy.to_dataframe().reset_index()
    return {name: json.loads(str(table.to_json(orient="records"))) for name, table in tables.items()}


ALWAYS: dict[str, Callable[[ReportData], Any]] = {
    "agreement": agreement,
    "certainty": certainty,
    "metrics": scores,
    "informed": informed,
    "together": together,
    "settings": settings,
    "diagnostics": diagnostics,
}
# Sections on the fields of the data that have their name, where these were computed.
OPTIONAL: dict[str, Callable[[ReportData, Any], dict[str, Any]]] = {
    "groups": groups,
    "specification": specification,
    "gold": gold,
    "sets": sets,
    "replacement": replacement,
    "further_votes": further_votes,
}


def sections(data: ReportData) -> dict[str, Any]:
    """Return what the template knows by which name; a section on what was not computed is empty."""
    found = {name: getattr(data, name) for name in OPTIONAL}
    optional = {name: {} if found[name] is None else view(data, found[name]) for name, view in OPTIONAL.items()}
    return {name: view(data) for name, view in ALWAYS.items()} | optional
