"""The first sentences of a report: what it found, in words and numbers."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from bayesagree.evaluation.scoring import PROVEN
from bayesagree.evaluation.tables import prior_notes
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

SURE = 0.95
"""A model is called better than another from this probability on."""


def headlines(data: ReportData) -> list[str]:
    """Write the findings, the most important first."""
    return [*_models(data), *_open(data), *_agreement(data), *_reliability(data), *_groups(data), *_size(data)]


def plug_in_truth(data: ReportData) -> str:
    """Name the point estimate that the plug-in metric is computed against."""
    return kind_of(data.annotations).point_estimate_name


def _models(data: ReportData) -> Iterator[str]:
    """Yield the best model and the probability that it is better than the next."""
    if data.scores is None:
        return
    metric = data.settings.metrics[0]
    comparison, plug_in = data.scores.comparison[metric], data.scores.table["plug_in"].sel(metric=metric)
    names = comparison["model"].values.tolist()
    best = names[0]
    if len(names) > 1:
        yield _better(comparison, names[:2], metric_name(metric), shared_truth=bool(data.scores.beside))
    own = comparison.sel(model=best)
    ends = interval(float(own["score_lower"]), float(own["score_upper"]))
    yield (
        f"The {metric_name(metric)} of {best} is {number(float(own['score']))} (95 % interval {ends}) when the "
        f"annotators' uncertainty is taken into account: the {data.scores.target}. Against {plug_in_truth(data)} alone "
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
    first = str(plug_in["model"].values[int(np.argmax(plug_in.values))])
    if float(plug_in.max()) > float(plug_in.sel(model=best)):
        yield f"Scores against {plug_in_truth(data)} alone would have put {first} first."


def _better(comparison: xr.Dataset, pair: list[str], metric: str, *, shared_truth: bool) -> str:
    """Say which of the first two is better, or that it stays open.

    Where each is scored without its own output they meet one truth only in the comparison, which may turn their order.
    """
    if float(comparison["prob_better"].sel(model=pair[0], other_model=pair[1])) < 0.5:
        pair = pair[::-1]
    found = comparison.sel(model=pair[0], other_model=pair[1])
    p, difference, lower, upper = (float(found[k]) for k in ("prob_better", "difference", "lower", "upper"))
    gap = f"{metric} {difference:+.3f}, 95 % interval {interval(lower, upper)}"
    gap += ", against one truth that every model informs" if shared_truth else ""
    if p >= SURE:
        return f"Model {pair[0]} is better than {pair[1]} with probability {probability(p)} ({gap})."
    return (
        f"It stays open whether {pair[0]} or {pair[1]} is the best model: {pair[0]} is better with probability "
        f"{probability(p)} ({gap})."
    )


def _targets(scores: ModelScores, metric: str, model: str) -> Iterator[str]:
    """Yield the score that the annotations prove beside an estimate; that an estimate exists, where votes are few."""
    yield from prior_notes(scores.prior_share)
    if not scores.beside:
        return
    proven = scores.beside["annotations_only"].sel(metric=metric, model=model).isel(reliability=0)
    value, lower, upper = (float(proven[name]) for name in ("score", "lower", "upper"))
    yield (
        f"The {PROVEN} is {number(value)} (95 % interval {interval(lower, upper)}) for {model}. It knows each item by "
        "its own votes alone and counts every doubt that they leave; the estimate is the score to expect if very many "
        "had annotated each item, learnt from votes and predictions together: the difference is what more votes would "
        "be expected to settle."
    )


def _ceiling(scores: ModelScores, metric: str) -> Iterator[str]:
    """Yield what a further annotator would reach."""
    found = scores.ceiling_of(metric)
    if not found:
        return
    line = found["posterior"].isel(reliability=0)
    value, lower, upper = (float(line[name]) for name in ("score", "lower", "upper"))
    yield (
        f"One further annotator, held against the same truth, would reach {number(value)} (95 % interval "
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
        yield kind.headline(*(float(rows.loc[kind.coefficient, name]) for name in ("estimate", "lower", "upper")))


def _reliability(data: ReportData) -> Iterator[str]:
    """Yield whether the best model is the same at every reliability."""
    levels = data.settings.reliability
    if data.scores is None or len(levels) < 2 or data.scores.table.sizes["model"] < 2:
        return
    score = data.scores.table["score"].isel(metric=0)
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
        if row["probability"] >= SURE and row["worst"] != row["best"]:
            yield (
                f"{row['model']} serves the group {row['worst']} worse than {row['best']} with probability "
                f"{probability(row['probability'])} (groups by {data.groups.by})."
            )


def _size(data: ReportData) -> Iterator[str]:
    given = data.annotations
    people = f" by {count(given.annotators.size)} annotators" if given.annotators.size else ""
    yield (
        f"All of this rests on {count(given.n_annotations)} annotations{people} of {count(given.items.size)} items "
        f"({given.n_annotations / given.items.size:.1f} an item), read with the "
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
