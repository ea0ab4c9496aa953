"""Checks of annotations with predictions of models; each says nothing, or one finding."""

from typing import Any

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree.errors import shorten
from bayesagree.evaluation.comparison import compare
from bayesagree.evaluation.scoring import evaluate
from bayesagree.findings.case import Case, Checks, Finding, interval, need, share, surest
from bayesagree.plausibility.independence import SURE, UNSURE, independence

# Share of items without prediction that is critical; annotators of a group that is compared; names in a sentence.
MANY, GROUP, NAMED = 0.05, 5, 5
# Kappa with the votes below which a model is useless; error of stated probabilities that counts.
USELESS, MARGIN = 0.2, 0.05

CHECKS = Checks()


@CHECKS.add("critical", "ask what they were trained on, and leave them out of the predictions")
def knows_votes(case: Case) -> Finding:
    """Models that know the votes they are scored against."""
    found = independence(case.annotations, case.models)
    need(found.seen > UNSURE or found.dependent.any(), "more items with several votes")
    # Of independent models .05 have a z above 2 and .004 above 4: two thirds of it are standard deviations; half of it
    # where items are so alike that planted copies do not show.
    part = 2 / 3 if found.seen >= SURE else 1 / 2
    over = np.where(found.uneven, 0.0, (found.z - max(found.votes_z - UNSURE, 0)) * part)
    over = np.fmax(over, -found.closeness)
    who = found.models[found.dependent].tolist()
    same = [f"; {m} is annotator {a}" for m, a in zip(found.models, found.annotator) if a is not None]
    most = max(np.max(over, initial=0, where=found.dependent), 4 * bool(same))
    chance = float(sp.stats.norm.sf(most)) * over.size
    fit = f"they fit them up to {most:.1f} standard deviations better than an independent model"
    return Finding(who, f"{shorten(who)} know the votes: {fit}{''.join(same[:NAMED])}", chance)


@CHECKS.add("warning", "predict them, or score the items that every model predicts: {skip}")
def missing(case: Case) -> Finding:
    """Items that a model predicts nothing for."""
    items, models = case.every_item, case.models
    lacks = models.lacking().sum(axis=1) + items.size - models.items.size
    worst = models.models[lacks.argmax()].item()
    severity = "critical" if lacks.max() > MANY * items.size else None
    said = f"{worst!r} predicts nothing for {share(lacks.max(), items.size)} of the items"
    return Finding(models.models[lacks > 0].tolist(), said, severity=severity)


@CHECKS.add(
    "warning", "check that its items and labels are those of the votes; its accuracy is that of a common label"
)
def base_rate(case: Case) -> Finding:
    """Models that match the votes no better than their habits do by chance."""
    hard = case.models.hard_labels()
    counts = case.labels.counts()
    counts = counts[some := counts.sum(axis=1) > 0]
    hard = hard[:, some]
    hit = _share(counts, hard)
    chance = (counts.sum(axis=0) / counts.sum())[hard].mean(axis=1)
    kappa, error = (hit.mean(axis=1) - chance, sp.stats.sem(hit, axis=1) + 1e-9) / (1 - chance)
    names, half = case.models.models.tolist(), 1.96 * error

    def say(k: int) -> str:
        found = interval(kappa[k], kappa[k] - half[k], kappa[k] + half[k])
        return f"{names[k]!r} matches the votes hardly better than chance: kappa {found}"

    return surest(names, sp.stats.norm.cdf((kappa - USELESS) / error) * len(names), say)


@CHECKS.add("warning", "score the models for each group: {groups}")
def served_badly(case: Case) -> Finding:
    """Groups of annotators whom a model serves badly.

    Of each annotator the mean of: whether the model gives an answer of his, less the share of all answers to the item
    that it gives.
    """
    people: Any = case.people
    need(people is not None, "features of the annotators (people=)")
    hits = pd.DataFrame(
        (case.models.hard_labels()[:, case.labels.item_index] == case.code).T, columns=case.models.models
    )
    own: Any = (hits - hits.groupby(case.labels.item_index).transform("mean")).groupby(case.who).mean()
    groups, parts = [], []
    for feature in map(str, people.features.columns):
        of = own.groupby(people.values(feature, case.labels.annotators[own.index]))
        part = pd.concat({"mean": of.mean().stack(), "error": of.sem().stack()}, axis=1)
        part["n"] = of.size().reindex(part.index, level=0)
        parts.append(part.query(f"n >= {GROUP}"))
        groups += [f"{feature} {name} by {model}" for name, model in parts[-1].index]
    need(groups, f"groups of {GROUP} annotators")
    mean, error, n = pd.concat(parts).to_numpy().T
    upper = mean + sp.stats.t.ppf(0.975, n - 1) * error
    chance = sp.stats.t.cdf(mean / error, n - 1) * len(groups)
    said = "the model gives their answers less often than those of all"
    return surest(groups, chance, lambda k: f"{groups[k]}: {said}, by {-upper[k]:.2f} or more")


@CHECKS.add("note", "call none of them the best; how many items and votes would tell them apart: {plan}")
def unseparated(case: Case) -> Finding:
    """Models that nothing separates from the best."""
    how = {"missing": "skip", "random_seed": case.random_seed}
    table: Any = compare(evaluate(case.labels, case.models, plausibility="dirichlet", **how))
    best = table.iloc[0]
    first = table.index[table["tier"] == 1].tolist()
    accuracy = interval(best["score"], best["lower"], best["upper"])
    said = f"nothing separates {len(first)} of {len(table)} models from each other"
    return Finding(first if len(first) > 1 else [], f"{said}; the best, {first[0]!r}, has accuracy {accuracy}")


@CHECKS.add("note", "only their order counts")
def no_probabilities(case: Case) -> Finding:
    """Scores that are no probabilities."""
    scores: Any = case.models.scores
    need(scores is not None, "scores of models")
    wrong = (np.abs(scores.sum(axis=2) - 1) > 0.01).any(axis=1) | (scores < 0).any(axis=(1, 2))
    who = case.models.models[wrong].tolist()
    return Finding(who, f"scores of {shorten(who)} are no probabilities")


@CHECKS.add("note", "calibrate them on other items before models are compared by log loss or Brier score")
def uncalibrated(case: Case) -> Finding:
    """Probabilities that are not calibrated.

    The stated probability of a label lies between how often one vote is that label and how often the majority is.
    """
    names = case.models.models.tolist()
    counts = case.labels.counts()
    need(not no_probabilities(case).where, "probabilities of every model")
    scores: Any = case.models.scores
    counts = counts[some := counts.sum(axis=1) > 2]
    scores = scores[:, some]
    stated, top = scores.max(axis=2), scores.argmax(axis=2)
    over = stated - _share(counts == counts.max(axis=1, keepdims=True), top)
    under = _share(counts, top) - stated
    high = over.mean(axis=1) > under.mean(axis=1)
    gap = np.where(high, over.T, under.T)
    p = sp.stats.norm.sf((gap.mean(axis=0) - MARGIN) / (sp.stats.sem(gap) + 1e-9)) * len(names)
    side = np.where(high, "too high", "too low")
    said = "the probabilities that {!r} states are {}, by {:.2f}"
    return surest(names, p, lambda k: said.format(names[k], side[k], gap[:, k].mean()))


def _share(counts: Any, label: Any) -> Any:
    """Return the share of the counts of each item that its label has, shape (model, item)."""
    return counts[np.arange(len(counts)), label] / counts.sum(axis=1)


@CHECKS.add("note", "read these items, the first ones first: their label is wrong, or they are hard")
def all_err(case: Case) -> Finding:
    """Items on which all models err alike: the label is wrong, or the item is hard."""
    hard = case.models.hard_labels()
    counts = case.labels.counts()
    need(len(hard) > 1, "two models")
    lead = counts.max(axis=1) - counts[np.arange(len(counts)), hard[0]]
    missed = (hard == hard[0]).all(axis=0) & (hard[0] >= 0) & (lead > 0)
    # Odds of a right answer for a wrong one, of each model and of a vote.
    right = np.append((hard == counts.argmax(axis=1)).mean(axis=1), counts.max(axis=1).sum() / counts.sum())
    *models, vote = sp.special.logit(right.clip(0.01, 0.99)) + np.log(counts.shape[1] - 1)
    wrong = np.where(missed, sp.special.expit(sum(models) - lead * vote), -1.0)
    where = case.labels.items[np.argsort(-wrong, kind="stable")[: missed.sum()]].tolist()
    part = f"the majority of {share(missed.sum(), len(counts))} of the items"
    said = f"all {len(hard)} models give the same label against {part}; if models err independently"
    return Finding(where, f"{said}, {(wrong > 0.5).sum()} of these labels are likely wrong")
