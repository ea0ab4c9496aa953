"""The first screen of a report: the answer, at most five findings of the audit, what to do next."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from markupsafe import Markup

from bayesagree.evaluation.tables import ITEMS_ARE
from bayesagree.report.data import OPEN, ReportData
from bayesagree.report.kinds import kind_of
from bayesagree.report.scores import ModelScores
from bayesagree.report.wording import count, interval, listed, metric_name, named, percent, probability

# Probability from which on a model is called better than another; with a lower one the sentence says so.
DECIDED = 0.95
# Findings on the first screen; the section on findings has all.
MOST_FINDINGS = 5


@dataclass(frozen=True)
class Fact:
    """A question with a number, its interval or what it counts, and what it means."""

    question: str
    number: str
    ends: str
    sentence: Markup

    def __str__(self) -> str:
        return f"{self.question} {self.number} ({self.ends}). {self.sentence.striptags()}"


def answer(data: ReportData) -> Iterator[Markup]:
    """Yield which of the two best models is better, or that this is open; what gold and groups say against it."""
    if data.gold is not None:
        yield from (text("{}", sentence) for sentence in data.gold.contradiction)
    if data.scores is not None:
        yield from _choice(data, data.scores)
    if data.groups is not None and data.groups.worst is not None:
        for row in data.groups.worst.to_dict("records"):
            if row["probability"] >= DECIDED and row["worst"] != row["best"]:
                names = [named(row[key]) for key in ("model", "worst", "best")]
                chance = probability(row["probability"])
                yield text(
                    "{} matches the labels of {} less often than those of {}, with probability {}.",
                    *names,
                    chance,
                )


def _choice(data: ReportData, scores: ModelScores) -> Iterator[Markup]:
    metric = data.settings.metrics[0]
    comparison, plug_in = scores.comparison[metric], scores.table["plug_in"].sel(metric=metric)
    best, *rivals = contenders(comparison)
    for rival in rivals:
        found = comparison.sel(model=best, other_model=rival)
        p, *ends = (float(found[k]) for k in ("prob_better", "lower", "upper"))
        sentence = "{} is better than {} with probability {}."
        if p < DECIDED:
            sentence = f"Which of the two is better is undecided: {sentence}"
        yield text(sentence, named(best), named(rival), probability(p))
        what, difference = metric_name(metric).capitalize(), f"{float(found['difference']):+.3f}"
        where = ITEMS_ARE[data.settings.items]
        yield text("{} {} differs by {} ({}).", what, where, difference, interval(*ends))
        sign = 1 if comparison.attrs["higher_is_better"] else -1
        first = str(plug_in["model"].values[int(np.argmax(sign * plug_in.values))])
        if float(plug_in.sel(model=first)) != float(plug_in.sel(model=best)):
            yield text(
                "Against {} alone {} would come first.",
                kind_of(data.annotations).point_estimate_name,
                named(first),
            )


def contenders(comparison: xr.Dataset) -> list[str]:
    """Return the two models that are most likely the best, the better one first."""
    names, chance = comparison["model"].values, comparison["rank_probability"].sel(rank=1).values
    first = names[np.argsort(-chance, kind="stable")[:2]].tolist()
    if len(first) == 2 and float(comparison["prob_better"].sel(model=first[0], other_model=first[1])) < 0.5:
        return first[::-1]
    return first


def facts(data: ReportData) -> list[Fact]:
    """Return how far annotators agree, and how much is undecided."""
    n, size = int(data.is_open.sum()), data.is_open.size
    sentence = f"On every item one label is the most plausible with probability {OPEN} or more."
    if n:
        sentence = (
            f"For so many no label is the most plausible with probability {OPEN}: more votes could change it."
        )
    undecided = Fact(
        "How much is undecided?", percent(n / size), f"{count(n)} of {count(size)} items", text(sentence)
    )
    return [*agreement_fact(data), undecided]


def agreement_fact(data: Any) -> Iterator[Fact]:
    """Yield how far annotators agree, where the coefficient of their kind exists."""
    kind, rows = kind_of(data.annotations), data.agreement.set_index("coefficient")
    if kind.coefficient not in rows.index or np.isnan(rows.loc[kind.coefficient, "estimate"]):
        return
    row: Any = rows.loc[kind.coefficient]
    write, ends = kind.written
    note = f"Note: {row['note']}." if row["note"] else ""
    sentence = text("{}", " ".join(part for part in (kind.scale, kind.coefficient_name, note) if part))
    yield Fact(
        "How far do annotators agree?", write(row["estimate"]), ends(row["lower"], row["upper"]), sentence
    )


def findings(table: pd.DataFrame) -> list[dict[str, str]]:
    """Return the worst findings of the audit."""
    found: Any = table[table["severity"].isin(["critical", "warning", "note"])].head(MOST_FINDINGS)
    return [{str(key): sentence(value) for key, value in row.items()} for row in found.to_dict("records")]


def sentence(words: str) -> str:
    """Write words with a capital letter and a full stop."""
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def steps(data: ReportData) -> Iterator[Markup]:
    """Yield what to do next."""
    if (found := data.further_votes) is not None:
        votes, right = (
            count(int(found.table["votes"].iloc[-1])),
            found.table["prob_right"].iloc[[0, -1]].tolist(),
        )
        now, then = map(probability, right)
        words = "{} more votes would raise the probability of choosing the right model from {now} to {then}."
        if now == then:
            words = "{} more votes would not change the choice of model, which is right with probability {now}."
        yield text(words, votes, now=now, then=then)
        if right[0] < DECIDED:
            yield text("Items to label next: {}.", listed(found.items["item"].tolist()))
    if data.scores is None:
        return
    if data.settings.items == "fixed":
        yield text(
            "These figures describe this test set. To generalise to similar items, add --items bootstrap."
        )
    if data.gold is None and data.annotations.kind == "labels":
        yield text(
            "If annotators share a mistake, only gold labels reveal it: have 50 items labelled by an expert."
        )
    yield from _by_reliability(data, data.scores)


def _by_reliability(data: ReportData, scores: ModelScores) -> Iterator[Markup]:
    """Yield whether the same model is the best at every reliability."""
    levels, found = data.settings.reliability, scores.table["score"].isel(metric=0)
    if len(levels) < 2 or found.sizes["model"] < 2:
        return
    up = scores.comparison[data.settings.metrics[0]].attrs["higher_is_better"]
    best = (found if up else -found).idxmax("model").to_series()
    if best.nunique() == 1:
        values = listed([f"{level:g}" for level in sorted(levels)])
        yield text(
            "{} comes first at every weight of an annotation (reliability {}).", named(best.iloc[0]), values
        )
        return
    by_level = [text("{} at reliability {}", named(model), f"{level:g}") for level, model in best.items()]
    yield text(
        "Which model comes first depends on the weight of an annotation: {}.", Markup(", ").join(by_level)
    )


def basis(data: ReportData) -> str:
    """Write what all numbers rest on, and what was left out."""
    given = data.annotations
    people = f" by {count(given.annotators.size)} annotators" if given.annotators.size else ""
    left_out = f" Left out: {'; '.join(data.source.left_out)}." if data.source.left_out else ""
    return (
        f"{count(given.n_annotations)} annotations{people} of {count(given.items.size)} items "
        f"({given.n_annotations / given.items.size:.1f} per item); {data.settings.record.title} model.{left_out}"
    )


def text(sentence: str, *values: str, **named_values: str) -> Markup:
    """Fill in a sentence of this module; what is filled in is escaped unless it is Markup."""
    return Markup(sentence).format(*values, **named_values)
