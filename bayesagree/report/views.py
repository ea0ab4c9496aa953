"""The sections of a page: numbers of the data as rows of text, and their figures."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from bayesagree.plausibility.registry import PosteriorRecord
from bayesagree.plots._panels import with_sizes
from bayesagree.report.annotators import GroupResults
from bayesagree.report.data import OPEN, ReportData
from bayesagree.report.figures import Mark, MarkGroup, certainty_curve, interval_plot
from bayesagree.report.kinds import kind_of
from bayesagree.report.models import COVERAGE, EPSILON, AreaResults, FurtherVotes, SetResults
from bayesagree.report.score_views import MOST_MODELS, PAIR, informed, scores
from bayesagree.report.scores import GoldScores
from bayesagree.report.wording import (
    TEXTS,
    count,
    interval,
    listed,
    metric_name,
    number,
    percent,
    percents,
    probability,
)
from bayesagree.subjective.specification import SpecificationReport

# Items that divide groups; the command `subjective --truth by-group` lists all.
MOST_ITEMS = 20


def agreement(data: Any) -> dict[str, Any]:
    """Show every coefficient that exists, and say why the others do not."""
    first = kind_of(data.annotations).coefficient
    marks, rows, missing = [], [], []
    for row in data.agreement.to_dict("records"):
        coefficient, value, lower, upper = (row[key] for key in ("coefficient", "estimate", "lower", "upper"))
        name = TEXTS["coefficients"].get(coefficient, str(coefficient).replace("_", " "))
        if np.isnan(value):
            missing.append(f"{name}: {row['note']}")
            continue
        marks.append(Mark(value, lower, upper, name, "reference" if coefficient == first else "other"))
        rows.append((name, number(value), interval(lower, upper), row["note"]))
    title, axis = "Agreement of the annotators", "agreement, 1 is perfect"
    figure = interval_plot([MarkGroup("", tuple(marks))], title=title, axis=axis, limits=(-np.inf, 1))
    return {"figure": figure, "rows": rows, "missing": missing}


def certainty(data: ReportData) -> dict[str, Any]:
    """Show the certainty of the items at every reliability."""
    values, levels = data.certainty.values, data.settings.reliability
    rows = [(f"{r:g}", number(float(v.mean())), percent(float((v < OPEN).mean()))) for r, v in zip(levels, values)]
    return {"figure": certainty_curve(levels, values, OPEN), "rows": rows, "limit": OPEN}


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
    rows, plots = [], []
    for model in found.accuracy["model"].values.tolist():
        marks = []
        for group in found.accuracy["group"].values.tolist():
            cell = found.accuracy.sel(model=model, group=group)
            value, lower, upper = (float(cell[key]) for key in ("mean", "lower", "upper"))
            marks.append(Mark(value, lower, upper, with_sizes([group], [sizes[group]])[0]))
            rows.append((model, group, count(sizes[group]), number(value), interval(lower, upper)))
        plots.append(MarkGroup(str(model), tuple(marks)))
    worst = _rows(found.worst, model=str, worst=str, best=str, probability=probability)
    title = "Accuracy for each group of annotators"
    figure = interval_plot(plots[:MOST_MODELS], title=title, axis="accuracy", limits=(0, 1))
    truth = {} if found.truth is None else {"truth": _group_truth(found.truth)}
    return view | {"rows": rows, "worst": worst, "figure": figure} | truth


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
    writers = (("coverage", percent, percents), ("majority_coverage", percent, percents), ("size", number, interval))
    rows = []
    for model, part in found.table.groupby("model", sort=False):
        of = part.set_index("quantity")
        cells = [cell for name, one, two in writers for cell in _rows(of.loc[[name]], value=one, ends=two)[0]]
        rows.append((str(model), *cells))
    widest = _rows(found.widest, model=str, item=str, size=count, labels=listed)
    return {"rows": rows, "widest": widest, "coverage": percent(COVERAGE)}


def areas(data: ReportData, found: AreaResults) -> dict[str, Any]:
    """Show the area under the curve of each model against the labels."""
    rows = _rows(found.table, model=str, auc=number, ends=interval)
    return {"rows": rows, "positive": found.positive, "ceiling": number(found.ceiling)}


def gold(data: ReportData, found: GoldScores) -> dict[str, Any]:
    """Show the scores of each model against gold."""
    table = found.table.to_dataframe().reset_index()
    names: dict[str, Any] = {"model": str, "metric": metric_name}
    return {"rows": _rows(table, **names, score=number, ends=interval), "n": count(found.n_gold)}


def annotators(data: ReportData, found: pd.DataFrame) -> dict[str, Any]:
    """Show the annotators whose labels agree least with the others'."""
    rows = _rows(found, annotator=str, wqs=number, n_items=count)
    return {"rows": rows, "all": count(data.annotations.annotators.size)}


def levels(data: ReportData, found: pd.DataFrame) -> dict[str, Any]:
    """Show how much stricter or milder each annotator of ratings is than their average."""
    return {"rows": _rows(found, annotator=str, shift=number, ends=interval, prob_above=probability)}


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
        ("Seed", str(chosen.seed)),
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
        rows.append(("Largest split r-hat", size, "1: the chains agree; above 1.1 they do not"))
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
        pairs = [one[list(PAIR)].to_dataframe().assign(metric=metric) for metric, one in data.scores.comparison.items()]
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
    "settings": settings,
    "diagnostics": diagnostics,
}
# Sections on the fields of the data that have their name, where these were computed.
OPTIONAL: dict[str, Callable[[ReportData, Any], dict[str, Any]]] = {
    "groups": groups,
    "specification": specification,
    "gold": gold,
    "sets": sets,
    "areas": areas,
    "annotators": annotators,
    "levels": levels,
    "replacement": replacement,
    "further_votes": further_votes,
}


def sections(data: ReportData) -> dict[str, Any]:
    """Return what the template knows by which name; a section on what was not computed is empty."""
    found = {name: getattr(data, name) for name in OPTIONAL}
    optional = {name: {} if found[name] is None else view(data, found[name]) for name, view in OPTIONAL.items()}
    return {name: view(data) for name, view in ALWAYS.items()} | optional
