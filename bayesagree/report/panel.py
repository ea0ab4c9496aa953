"""The first screen of a report: at most four questions, each with one number, its interval and a short sentence."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from markupsafe import Markup

from bayesagree.annotations import Rankings
from bayesagree.evaluation.tables import ITEMS_ARE, MOST_PRIOR
from bayesagree.report.data import OPEN, ReportData
from bayesagree.report.kinds import kind_of
from bayesagree.report.scores import ModelScores
from bayesagree.report.wording import count, interval, listed, metric_name, named, number, percent, probability

# Probability from which on a model is called better than another; with a lower one the sentence says so.
DECIDED = 0.95

# Groups of annotators with a line in the panel, those served worst; the section on groups has all.
MOST_GROUPS = 4


@dataclass(frozen=True)
class Answer:
    """One question with its answer.

    Attributes
    ----------
    question
        What the number is about.
    number, ends
        The number, and its interval or what it counts.
    sentences
        What follows from it, at most three.
    method
        How it was computed.
    beside
        Other numbers of the same quantity: name, number, interval.
    """

    question: Markup
    number: str
    ends: str
    sentences: tuple[Markup, ...]
    method: Markup
    beside: tuple[tuple[str, str, str], ...] = ()

    def __str__(self) -> str:
        beside = [f" {name}: {value}{f' ({ends})' if ends else ''}." for name, value, ends in self.beside]
        question, text = self.question.striptags(), Markup(" ").join([*self.sentences, self.method]).striptags()
        return f"{question} {self.number} ({self.ends}). {text}{''.join(beside)}"


def panel(data: ReportData) -> list[Answer]:
    """Answer the questions, the most important first."""
    models = [] if data.scores is None else [*_choice(data, data.scores), _score(data, data.scores)]
    return [*models, *agreement_answer(data), _open(data)]


def notes(data: ReportData) -> list[Markup]:
    """Write what qualifies the numbers of the panel."""
    models = [] if data.scores is None else _model_notes(data, data.scores)
    served = None if data.groups is None else data.groups.worst
    groups = [] if served is None else _served_worse(data, *served["model"])
    return [
        *models,
        *_gold(data),
        *_reliability(data),
        *groups,
        *(text("{}", note) for note in data.given),
    ]


def _choice(data: ReportData, scores: ModelScores) -> Iterator[Answer]:
    """Yield which of the two best models is better, or that this is open."""
    metric, comparison = data.settings.metrics[0], scores.comparison[data.settings.metrics[0]]
    best, *rivals = contenders(comparison)
    for rival in rivals:
        found = comparison.sel(model=best, other_model=rival)
        p, difference, lower, upper = (float(found[k]) for k in ("prob_better", "difference", "lower", "upper"))
        sentence = text("{} is better than {} with probability {}.", named(best), named(rival), probability(p))
        sentences = [sentence if p >= DECIDED else text("Which of the two is better is undecided: {}", sentence)]
        sign, plug_in = _sign(comparison), scores.table["plug_in"].sel(metric=metric)
        first = str(plug_in["model"].values[int(np.argmax(sign * plug_in.values))])
        if float(plug_in.sel(model=first)) != float(plug_in.sel(model=best)):
            sentences.append(text("Against {} alone {} would come first.", _estimate(data), named(first)))
        informed = "one truth that {} informs".format("not every model" if scores.left_out else "every model")
        truth = "the same draws of the truth" if scores.labels_only is None else informed
        what, where = metric_name(metric).capitalize(), ITEMS_ARE[data.settings.items]
        method = text("{} of {} minus {} {}, both against {}.", what, named(best), named(rival), where, truth)
        question, ends = text("Which model is best?"), interval(lower, upper)
        yield Answer(question, f"{difference:+.3f}", ends, tuple(sentences), method)


def contenders(comparison: xr.Dataset) -> list[str]:
    """Return the two models that are most likely the best, the better one first."""
    names, chance = comparison["model"].values, comparison["rank_probability"].sel(rank=1).values
    first = names[np.argsort(-chance, kind="stable")[:2]].tolist()
    if len(first) == 2 and float(comparison["prob_better"].sel(model=first[0], other_model=first[1])) < 0.5:
        return first[::-1]
    return first


def _score(data: ReportData, scores: ModelScores) -> Answer:
    """Write how good the best model is, beside another annotator, the votes alone and the groups."""
    metric = data.settings.metrics[0]
    best = contenders(scores.comparison[metric])[0]
    own = scores.table.sel(metric=metric, model=best).isel(reliability=0)
    sentences = []
    if line := scores.ceiling_of(metric):
        other = float(line[0]["score"].isel(reliability=0))
        sentences.append(text("Another annotator would score {} against the same truth.", number(other)))
    beside = []
    if scores.labels_only is not None:
        question = "How good is {} against many annotators?"
        method = "Estimated from labels and predictions together."
        alone = scores.labels_only.sel(metric=metric, model=best).isel(reliability=0)
        beside.append(("From the labels alone", *_value(alone, "score")))
    else:
        question = f"How good is {{}}, given these {data.annotations.kind}?"
        method = f"The {scores.target}, under the {data.settings.record.title} model."
        if isinstance(data.annotations, Rankings):
            sentences.append(text("This is conditional on these rankings alone, no estimate for many readers."))
        if (scores.prior_share or 0) >= MOST_PRIOR:
            sentences.append(text("Votes are few: this is not an estimate of the score against many annotators."))
    beside.append((f"Against {_estimate(data)}", number(float(own["plug_in"])), ""))
    if data.gold is not None:
        against = data.gold.table.sel(metric=metric, model=best)
        beside.append((f"Against gold ({count(data.gold.n_gold)} items)", *_value(against, "score")))
    beside += _of_groups(data, best)
    sentences += _served_worse(data, best)
    described = text("{}. {}", metric_name(metric).capitalize(), method)
    return Answer(text(question, named(best)), *_value(own, "score"), tuple(sentences), described, tuple(beside))


def _of_groups(data: ReportData, model: str) -> Iterator[tuple[str, str, str]]:
    """Yield the accuracy of a model on the labels of each group, the worst first."""
    if data.groups is None or data.groups.accuracy is None:
        return
    found = data.groups.accuracy.sel(model=model)
    for place in np.argsort(found["mean"].values, kind="stable")[:MOST_GROUPS]:
        one = found.isel(group=int(place))
        yield f"Accuracy for {one['group'].item()}", *_value(one, "mean")


def _served_worse(data: ReportData, *models: str) -> Iterator[Markup]:
    """Yield which group each model certainly serves worse than which other."""
    if data.groups is None or data.groups.worst is None:
        return
    for row in data.groups.worst.to_dict("records"):
        if row["probability"] >= DECIDED and row["worst"] != row["best"] and row["model"] in models:
            names = [named(row[key]) for key in ("model", "worst", "best")]
            yield text("{} serves {} worse than {} with probability {}.", *names, probability(row["probability"]))


def agreement_answer(data: Any) -> Iterator[Answer]:
    """Yield how far annotators agree, where the coefficient of their kind exists."""
    kind, rows = kind_of(data.annotations), data.agreement.set_index("coefficient")
    if kind.coefficient not in rows.index or np.isnan(rows.loc[kind.coefficient, "estimate"]):
        return
    row: Any = rows.loc[kind.coefficient]
    write, ends = kind.written
    note = f" Note: {row['note']}." if row["note"] else ""
    question, method = text("How far do annotators agree?"), text("{}.{}", kind.coefficient_name, note)
    yield Answer(question, write(row["estimate"]), ends(row["lower"], row["upper"]), (text(kind.scale),), method)


def _open(data: ReportData) -> Answer:
    """Write how many items the annotations leave open, and whether more votes would change the choice of model."""
    n, size = int((data.certainty.isel(reliability=0) < OPEN).sum()), data.certainty.sizes["item"]
    sentence = "More annotations could still change the answer for these items."
    decided = f"On every item one label is the most plausible with probability {OPEN} or more."
    sentences = [text(sentence if n else decided)]
    if data.further_votes is not None:
        table = data.further_votes.table
        votes, now, then = (
            count(int(table["votes"].iloc[-1])),
            *map(probability, table["prob_right"].iloc[[0, -1]]),
        )
        sentence = "{} more votes would raise the probability of choosing the right model {}."
        if now == then:
            sentence = "{} more votes would not change the choice of model, which is right {}."
        sentences.append(
            text(sentence, votes, f"with probability {now}" if now == then else f"from {now} to {then}")
        )
    informed = data.settings.record.takes_predictions
    who = "labels and predictions" if informed else data.annotations.kind
    method = text(f"Items on which no label is the most plausible with probability {OPEN} or more, by {who}.")
    number_of, all_of = percent(n / size), f"{count(n)} of {count(size)} items"
    return Answer(text("How much is undecided?"), number_of, all_of, tuple(sentences), method)


def _model_notes(data: ReportData, scores: ModelScores) -> Iterator[Markup]:
    metric = data.settings.metrics[0]
    comparison = scores.comparison[metric]
    best = contenders(comparison)[0]
    if data.settings.items == "fixed":
        yield text("These figures describe this test set. To generalise to similar items, add --items bootstrap.")
    if "annotation_share" in scores.table:
        share = float(scores.table["annotation_share"].sel(metric=metric, model=best).isel(reliability=0))
        sentence = (
            "Items are a sample: {} of the variance of the score comes from the annotations, the rest from the "
        )
        yield text(f"{sentence}number of items.", percent(share))
    if scores.unsure:
        yield text(
            "These annotations are too few to tell whether {} are independent of them: each interval also holds the "
            "score under a truth that does not learn from them.",
            listed(scores.unsure),
        )
    if scores.labels_only is not None:
        yield text("The estimate is the score to expect if very many people had annotated each item.")
        yield text("With few votes, the score from the labels alone comes out too low.")


def _gold(data: ReportData) -> Iterator[Markup]:
    if data.gold is not None and data.gold.vote_agrees is not None:
        yield text("The majority vote is gold on {} of the items that have it.", percent(data.gold.vote_agrees))


def _reliability(data: ReportData) -> Iterator[Markup]:
    """Yield whether the same model is the best at every reliability."""
    levels = data.settings.reliability
    if data.scores is None or len(levels) < 2 or data.scores.table.sizes["model"] < 2:
        return
    score = _sign(data.scores.comparison[data.settings.metrics[0]]) * data.scores.table["score"].isel(metric=0)
    models, best = score["model"].values.tolist(), score.transpose("reliability", "model").values.argmax(axis=1)
    if len(set(best.tolist())) == 1:
        ordered = listed([f"{level:g}" for level in sorted(levels)])
        yield text(
            "{} comes first at every weight of an annotation (reliability {}).", named(models[best[0]]), ordered
        )
        return
    by_level = [text("{} at reliability {}", named(models[m]), f"{level:g}") for m, level in zip(best, levels)]
    yield text("Which model comes first depends on the weight of an annotation: {}.", Markup(", ").join(by_level))


def basis(data: ReportData) -> str:
    """Write what all numbers rest on."""
    given = data.annotations
    people = f" by {count(given.annotators.size)} annotators" if given.annotators.size else ""
    return (
        f"{count(given.n_annotations)} annotations{people} of {count(given.items.size)} items "
        f"({given.n_annotations / given.items.size:.1f} per item); {data.settings.record.title} model."
    )


def text(sentence: str, *values: str) -> Markup:
    """Fill in a sentence of this module; what is filled in is escaped unless it is Markup."""
    return Markup(sentence).format(*values)


def _estimate(data: ReportData) -> str:
    return kind_of(data.annotations).point_estimate_name


def _sign(comparison: xr.Dataset) -> int:
    return 1 if comparison.attrs["higher_is_better"] else -1


def _value(found: xr.Dataset, name: str) -> tuple[str, str]:
    return number(float(found[name])), interval(float(found["lower"]), float(found["upper"]))
