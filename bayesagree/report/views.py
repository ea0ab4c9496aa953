"""The sections of a page: numbers of the data as rows of text, and their figures."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesagree.plausibility.registry import PosteriorRecord
from bayesagree.plots._panels import with_sizes
from bayesagree.report.data import OPEN, ReportData
from bayesagree.report.figures import Mark, MarkGroup, certainty_curve, interval_plot
from bayesagree.report.kinds import kind_of
from bayesagree.report.next_steps import EPSILON
from bayesagree.report.score_views import MOST_MODELS, scores, target
from bayesagree.report.sets import COVERAGE
from bayesagree.report.wording import (
    count,
    interval,
    listed,
    metric_name,
    number,
    percent,
    probability,
)

COEFFICIENTS = {
    "phi": "common agreement Phi",
    "leave_one_out": "names what the others put first",
    "percent_agreement": "percent agreement",
    "cohen_kappa": "Cohen's kappa",
    "scott_pi": "Scott's pi",
    "conger_kappa": "Conger's kappa",
    "fleiss_kappa": "Fleiss' kappa",
    "alpha_nominal": "Krippendorff, nominal",
    "alpha_ordinal": "Krippendorff, ordinal",
    "alpha_interval": "Krippendorff, interval",
    "alpha_ratio": "Krippendorff, ratio",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2": "Gwet's AC2",
    "brennan_prediger": "Brennan-Prediger",
    "icc_one_way": "ICC, one way",
    "icc_agreement": "ICC, agreement",
    "icc_consistency": "ICC, consistency",
    "icc_polychoric": "ICC, polychoric",
}


def agreement(data: ReportData) -> dict[str, Any]:
    """Show every coefficient that exists, and say why the others do not."""
    first = kind_of(data.annotations).coefficient
    marks, rows, missing = [], [], []
    for row in data.agreement.to_dict("records"):
        coefficient, value, lower, upper = (row[key] for key in ("coefficient", "estimate", "lower", "upper"))
        name = COEFFICIENTS.get(coefficient, str(coefficient).replace("_", " "))
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


def groups(data: ReportData) -> dict[str, Any]:
    """Show the groups of annotators and how well each model serves them."""
    found = data.groups
    if found is None:
        return {}
    sizes = dict(zip(found.composition.index.astype(str), found.composition["annotators"].tolist()))
    view: dict[str, Any] = {
        "by": found.by,
        "composition": [(g, *map(count, row)) for g, row in zip(sizes, found.composition.to_numpy(int).tolist())],
    }
    if found.accuracy is None or found.worst is None:
        return view
    rows, plots = [], []
    for model in found.accuracy["model"].values.tolist():
        marks = []
        for group in found.accuracy["group"].values.tolist():
            cell = found.accuracy.sel(model=model, group=group)
            value, lower, upper = (float(cell[key]) for key in ("mean", "lower", "upper"))
            marks.append(Mark(value, lower, upper, with_sizes([group], [sizes[group]])[0]))
            rows.append((model, group, sizes[group], number(value), interval(lower, upper)))
        plots.append(MarkGroup(str(model), tuple(marks)))
    worst = [
        (row["model"], row["worst"], row["best"], probability(row["probability"]), probability(row["p_value"]))
        for row in found.worst.to_dict("records")
    ]
    figure = interval_plot(
        plots[:MOST_MODELS], title="Accuracy for each group of annotators", axis="accuracy", limits=(0, 1)
    )
    return view | {"rows": rows, "worst": worst, "figure": figure}


def sets(data: ReportData) -> dict[str, Any]:
    """Show what the prediction sets of each model cover, how large they are, and where they are widest."""
    found = data.sets
    if found is None:
        return {}
    rows = []
    for model, part in found.table.groupby("model", sort=False):
        of = {row["quantity"]: row for row in part.to_dict("records")}
        cells = [
            (write(of[name]["value"]), f"{write(of[name]['lower'])} to {write(of[name]['upper'])}")
            for name, write in (("coverage", percent), ("majority_coverage", percent), ("size", number))
        ]
        rows.append((str(model), cells))
    widest = [
        (str(row["model"]), str(row["item"]), row["size"], listed([str(label) for label in row["labels"]]))
        for row in found.widest.to_dict("records")
    ]
    return {"rows": rows, "widest": widest, "coverage": percent(COVERAGE)}


def areas(data: ReportData) -> dict[str, Any]:
    """Show the area under the curve of each model against the labels."""
    if data.areas is None:
        return {}
    rows = [
        (str(r["model"]), number(r["auc"]), interval(r["lower"], r["upper"]))
        for r in data.areas.table.to_dict("records")
    ]
    return {"rows": rows, "positive": data.areas.positive, "ceiling": number(data.areas.ceiling)}


def annotators(data: ReportData) -> dict[str, Any]:
    """Show the annotators whose labels are nearest to chance."""
    if data.annotators is None:
        return {}
    rows = [
        (str(r["annotator"]), number(r["wqs"]), interval(r["lower"], r["upper"]), probability(r["prob_spammer"]),
         count(r["n_items"]))
        for r in data.annotators.to_dict("records")
    ]  # fmt: skip
    return {"rows": rows, "all": count(data.annotations.annotators.size)}


def levels(data: ReportData) -> dict[str, Any]:
    """Show how much stricter or milder each annotator of ratings is than their average."""
    if data.levels is None:
        return {}
    rows = [
        (str(r["annotator"]), number(r["shift"]), interval(r["lower"], r["upper"]), probability(r["prob_above"]))
        for r in data.levels.to_dict("records")
    ]
    return {"rows": rows}


def replacement(data: ReportData) -> dict[str, Any]:
    """Show which models may replace an annotator."""
    if data.replacement is None:
        return {}
    rows = [
        (str(r["model"]), percent(r["advantage"]), f"{percent(r['lower'])} to {percent(r['upper'])}",
         percent(r["winning_rate"]), "yes" if r["passes"] else "no", probability(r["prob_passes"]),
         probability(r["prob_new_annotator"]))
        for r in data.replacement.to_dict("records")
    ]  # fmt: skip
    return {"rows": rows, "n": count(int(data.replacement["n_annotators"].iloc[0])), "epsilon": percent(EPSILON)}


def further_votes(data: ReportData) -> dict[str, Any]:
    """Show what further votes would settle, and the items of the first ones."""
    found = data.further_votes
    if found is None:
        return {}
    rows = [(count(int(r["votes"])), probability(r["prob_right"])) for r in found.table.to_dict("records")]
    return {"models": found.models, "rows": rows, "items": [str(name) for name in found.items["item"]]}


def specification(data: ReportData) -> dict[str, Any]:
    """Show what was declared, the gaps, and the shares beside their targets."""
    report = data.specification
    if report is None:
        return {}
    declared = report.declared
    table = report.distributions.to_dict("records")
    names = ("kind", "feature", "value")
    shares = [(*(r[k] for k in names), *(percent(float(r[k])) for k in ("target", "actual")), r["n"]) for r in table]
    told = [
        ("What would be a bias", declared.bias_definition),
        ("Fairness", declared.fairness),
        ("Metrics", ", ".join(declared.metrics)),
        ("Protected features", ", ".join(declared.protected) or "none"),
        ("How annotations were collected", declared.collection or "not stated"),
    ]
    return {"told": told, "gaps": list(report.gaps), "shares": shares}


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


def diagnostics(data: ReportData) -> list[tuple[str, str, str]]:
    """Show the convergence of the Markov chains, or that there are none."""
    if not data.diagnostics:
        return [("Draws", "independent", "exact posterior, no Markov chain to diagnose")]
    rows = []
    if "r_hat" in data.diagnostics:
        rows.append(("Largest split r-hat", number(data.diagnostics["r_hat"]), "1 is mixed; above 1.1 it is not"))
    if "ess" in data.diagnostics:
        size = f"{data.diagnostics['ess']:.0f}"
        rows.append(("Smallest effective sample size", size, "independent draws that the chains are worth"))
    return rows


SECTIONS: dict[str, Callable[[ReportData], Any]] = {
    "agreement": agreement,
    "certainty": certainty,
    "metrics": scores,
    "target": target,
    "groups": groups,
    "specification": specification,
    "sets": sets,
    "areas": areas,
    "annotators": annotators,
    "levels": levels,
    "replacement": replacement,
    "further_votes": further_votes,
    "settings": settings,
    "diagnostics": diagnostics,
}
"""What the template knows by which name."""
