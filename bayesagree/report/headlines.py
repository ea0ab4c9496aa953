"""The first sentences of a report: what it found, in words and numbers."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from bayesagree.draws.posterior import OF_ANNOTATIONS
from bayesagree.evaluation.tables import ITEMS_ARE, prior_notes
from bayesagree.report.data import OPEN, ReportData
from bayesagree.report.kinds import kind_of
from bayesagree.report.scores import ModelScores
from bayesagree.report.wording import (
    count,
    interval,
    listed,
    metric_name,
    number,
    percent,
    probability,
)

DECIDED = 0.95
"""Probability from which on a model is called better than another; with a lower one the sentence says so more often."""


def headlines(data: ReportData) -> list[str]:
    """Write the findings, the most important first."""
    return [*_models(data), *_open(data), *_agreement(data), *_reliability(data), *_groups(data), *_size(data)]


def _models(data: ReportData) -> Iterator[str]:
    """Yield the best model and the probability that it is better than the next."""
    if data.scores is None:
        return
    metric = data.settings.metrics[0]
    comparison, plug_in = data.scores.comparison[metric], data.scores.table["plug_in"].sel(metric=metric)
    estimate_name = kind_of(data.annotations).point_estimate_name
    best, *rival = _contenders(comparison)
    if rival:
        shared_truth, items = bool(data.scores.beside), data.settings.items
        yield _better(comparison, best, rival[0], metric_name(metric), ITEMS_ARE[items], shared_truth=shared_truth)
        if items == "fixed":
            yield "The question is which model is better on these items; for items like these, use --items bootstrap."
    own = comparison.sel(model=best)
    ends = interval(float(own["score_lower"]), float(own["score_upper"]))
    yield (
        f"The {metric_name(metric)} of {best} is {number(float(own['score']))} (95 % interval {ends}) when the "
        f"annotators' uncertainty is taken into account: the {data.scores.target}. Against {estimate_name} alone "
        f"it is {number(float(plug_in.sel(model=best)))}."
    )
    yield from _targets(data.scores, metric, best)
    yield from _ceiling(data.scores, metric)
    if "annotation_share" in data.scores.table:
        share = float(data.scores.table["annotation_share"].sel(metric=metric, model=best).isel(reliability=0))
        yield (
            f"The items are taken as a sample: {percent(share)} of the variance of that score comes from the "
            "annotations, the rest from the number of items."
        )
    sign = 1 if comparison.attrs["higher_is_better"] else -1
    largest = comparison["model"].values[int(np.argmax(sign * comparison["score"].values))]
    if data.scores.beside and largest != best:
        yield (
            f"Each scored without its own output, {largest} has the best estimate: that order is not the one above, "
            "which is against one truth that every model informs."
        )
    first = str(plug_in["model"].values[int(np.argmax(sign * plug_in.values))])
    if float(plug_in.sel(model=first)) != float(plug_in.sel(model=best)):
        yield f"Scores against {estimate_name} alone would have put {first} first."


def _contenders(comparison: xr.Dataset) -> list[str]:
    """Return the two models that are most likely the best, the better one first.

    Where each is scored without its own output, order, rival and probability come from the posterior that compares all
    models on one truth; the order of the scores may be another.
    """
    names, chance = comparison["model"].values, comparison["rank_probability"].sel(rank=1).values
    first = names[np.argsort(-chance, kind="stable")[:2]].tolist()
    if len(first) == 2 and float(comparison["prob_better"].sel(model=first[0], other_model=first[1])) < 0.5:
        return first[::-1]
    return first


def _better(comparison: xr.Dataset, best: str, rival: str, metric: str, where: str, *, shared_truth: bool) -> str:
    """Write which of the first two is better, or that this stays open."""
    found = comparison.sel(model=best, other_model=rival)
    p, difference, lower, upper = (float(found[k]) for k in ("prob_better", "difference", "lower", "upper"))
    gap = f"{metric} {difference:+.3f}, 95 % interval {interval(lower, upper)}"
    gap += ", against one truth that every model informs" if shared_truth else ""
    if p >= DECIDED:
        return f"Model {best} is better than {rival} {where} with probability {probability(p)} ({gap})."
    return (
        f"It stays open whether {best} or {rival} is the best model {where}: {best} is better with probability "
        f"{probability(p)} ({gap})."
    )


def _targets(scores: ModelScores, metric: str, model: str) -> Iterator[str]:
    """Yield the score that the annotations prove, beside an estimate; where votes are few, that an estimate exists."""
    yield from prior_notes(scores.prior_share)
    if not scores.beside:
        return
    proven = scores.beside["annotations_only"].sel(metric=metric, model=model).isel(reliability=0)
    value, lower, upper = (float(proven[name]) for name in ("score", "lower", "upper"))
    yield (
        f"The {OF_ANNOTATIONS} is {number(value)} (95 % interval {interval(lower, upper)}) for {model}. It uses the "
        "votes of each item alone and counts all of the doubt that they leave. The estimate is the score to expect if "
        "very many people had annotated each item, learnt from votes and predictions together: the difference is what "
        "more votes are expected to settle."
    )


def _ceiling(scores: ModelScores, metric: str) -> Iterator[str]:
    """Yield the score of another annotator."""
    found = scores.ceiling_of(metric)
    if not found:
        return
    line = found["posterior"].isel(reliability=0)
    value, lower, upper = (float(line[name]) for name in ("score", "lower", "upper"))
    yield (
        f"Another annotator, scored against the same truth, would have {number(value)} (95 % interval "
        f"{interval(lower, upper)})."
    )


def _open(data: ReportData) -> Iterator[str]:
    n = int((data.certainty.isel(reliability=0) < OPEN).sum())
    informed = data.settings.record.takes_predictions
    who = "annotators and models together" if informed else "annotators"
    if n == 0:
        yield (
            f"The {who} leave no answer open: on every item one label is the most plausible one with a probability "
            f"of {OPEN} or more."
        )
        return
    yield (
        f"On {percent(data.open_share)} of the items ({count(n)} of {count(data.certainty.sizes['item'])}) the "
        f"{who} leave the answer open: no label is the most plausible one with a probability of {OPEN} or more."
    )


def _agreement(data: ReportData) -> Iterator[str]:
    kind, rows = kind_of(data.annotations), data.agreement.set_index("coefficient")
    if kind.coefficient in rows.index and not np.isnan(rows.loc[kind.coefficient, "estimate"]):
        said = kind.headline(*(float(rows.loc[kind.coefficient, name]) for name in ("estimate", "lower", "upper")))
        note = rows.loc[kind.coefficient, "note"]
        yield f"{said} Note: {note}." if note else said


def _reliability(data: ReportData) -> Iterator[str]:
    """Yield whether the same model is the best at every reliability."""
    levels = data.settings.reliability
    if data.scores is None or len(levels) < 2 or data.scores.table.sizes["model"] < 2:
        return
    sign = 1 if data.scores.comparison[data.settings.metrics[0]].attrs["higher_is_better"] else -1
    score = sign * data.scores.table["score"].isel(metric=0)
    models, best = score["model"].values.tolist(), score.transpose("reliability", "model").values.argmax(axis=1)
    if len(set(best.tolist())) == 1:
        yield f"{models[best[0]]} comes first whatever the weight of an annotation (reliability {_levels(levels)})."
        return
    by_level = [f"{models[m]} at reliability {level:g}" for m, level in zip(best, levels)]
    yield f"Which model comes first depends on the weight of an annotation: {listed(by_level)}."


def _groups(data: ReportData) -> Iterator[str]:
    if data.groups is None or data.groups.worst is None:
        return
    for row in data.groups.worst.to_dict("records"):
        if row["probability"] >= DECIDED and row["worst"] != row["best"]:
            yield (
                f"{row['model']} serves the group {row['worst']} worse than {row['best']} with probability "
                f"{probability(row['probability'])} (groups by {data.groups.by})."
            )


def _size(data: ReportData) -> Iterator[str]:
    given = data.annotations
    people = f" by {count(given.annotators.size)} annotators" if given.annotators.size else ""
    yield (
        f"All of this rests on {count(given.n_annotations)} annotations{people} of {count(given.items.size)} items "
        f"({given.n_annotations / given.items.size:.1f} per item), under the "
        f"{data.settings.record.title} model."
    )
    informed = data.settings.record.takes_predictions
    bare = given.items.size - np.unique(given.item_index).size if informed else 0  # type: ignore[union-attr]
    if bare:
        yield f"{count(bare)} of these items have predictions and no annotations; the plug-in metric leaves them out."
    if data.warnings:
        several = "1 warning" if len(data.warnings) == 1 else f"{len(data.warnings)} warnings"
        yield f"The computation gave {several}; see Warnings below before you rely on the numbers."


def _levels(levels: tuple[float, ...]) -> str:
    return listed([f"{level:g}" for level in sorted(levels)])
