"""Checks of annotations with predictions of models; each says nothing, or one finding."""

from typing import Any

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree.errors import shorten
from bayesagree.evaluation.comparison import compare
from bayesagree.evaluation.scoring import evaluate
from bayesagree.findings.case import CHANCE, Case, Finding, Lacking, call, interval, share
from bayesagree.plausibility.independence import SURE, UNSURE, independence

# Share of items without prediction that is critical; annotators of a group that is compared; names in a sentence.
MANY, GROUP, NAMED = 0.05, 5, 5
# Kappa with the votes below which a model is useless; error of stated probabilities that counts.
USELESS, MARGIN = 0.2, 0.05


def knows_votes(case: Case) -> Finding:
    """Models that know the votes they are scored against."""
    found = independence(case.annotations, case.models)
    if not found.seen > UNSURE and not found.dependent.any():
        raise Lacking("more items with several votes")
    # Of independent models .05 have a z above 2 and .004 above 4: two thirds of it are standard deviations; half of it
    # where items are so alike that planted copies do not show.
    part = 2 / 3 if found.seen >= SURE else 1 / 2
    over = np.where(found.uneven, 0.0, (found.z - max(found.votes_z - UNSURE, 0)) * part)
    over, who = np.fmax(over, -found.closeness), found.models[found.dependent].tolist()
    same = [f"; {m} is annotator {a}" for m, a in zip(found.models, found.annotator) if a is not None]
    most = max(np.max(over, initial=0, where=found.dependent), 4 * bool(same))
    return Finding(
        "critical",
        f"{shorten(who)} know the votes: they fit them up to {most:.1f} standard deviations better than an independent "
        f"model{''.join(same[:NAMED])}",
        "ask what they were trained on, and leave them out of the predictions",
        who,
        float(sp.stats.norm.sf(most)) * over.size,
    )


def missing(case: Case) -> Finding:
    """Items that a model predicts nothing for."""
    items, models = case.every_item, case.models
    lacks = models.lacking().sum(axis=1) + items.size - models.items.size
    return Finding(
        "critical" if lacks.max() > MANY * items.size else "warning",
        f"{models.models[lacks.argmax()].item()!r} predicts nothing for {share(lacks.max(), items.size)} of the items",
        f"predict them, or score the items that every model predicts: {call('skip')}",
        models.models[lacks > 0].tolist(),
    )


def unseparated(case: Case) -> Finding:
    """Models that nothing separates from the best."""
    how = {"plausibility": "dirichlet", "missing": "skip", "random_seed": case.random_seed}
    table: Any = compare(evaluate(case.labels, case.models, **how))
    best, first = table.iloc[0], table.index[table["tier"] == 1].tolist()
    return Finding(
        "note",
        f"nothing separates {len(first)} of {len(table)} models from each other; the best, {first[0]!r}, has accuracy "
        f"{interval(best['score'], best['lower'], best['upper'])}",
        f"call none of them the best; how many items and votes would tell them apart: {call('plan')}",
        first if len(first) > 1 else [],
    )


def all_err(case: Case) -> Finding:
    """Items on which all models err alike: the label is wrong, or the item is hard."""
    hard, counts = case.models.hard_labels(), case.labels.counts()
    if len(hard) < 2:
        raise Lacking("two models")
    lead = counts.max(axis=1) - counts[np.arange(len(counts)), hard[0]]
    missed = (hard == hard[0]).all(axis=0) & (hard[0] >= 0) & (lead > 0)
    # Odds of a right answer for a wrong one, of each model and of a vote.
    right = np.append((hard == counts.argmax(axis=1)).mean(axis=1), counts.max(axis=1).sum() / counts.sum())
    *models, vote = sp.special.logit(right.clip(0.01, 0.99)) + np.log(counts.shape[1] - 1)
    wrong = np.where(missed, sp.special.expit(sum(models) - lead * vote), -1.0)
    return Finding(
        "note",
        f"all {len(hard)} models give the same label against the majority of {share(missed.sum(), len(counts))} of the "
        f"items; if models err independently, {(wrong > 0.5).sum()} of these labels are likely wrong",
        "read these items, the first ones first: their label is wrong, or they are hard",
        case.labels.items[np.argsort(-wrong, kind="stable")[: missed.sum()]].tolist(),
    )


def served_badly(case: Case) -> Finding:
    """Groups of annotators whom a model serves badly.

    Of each annotator the mean of: whether the model gives an answer of his, less the share of all answers to the item
    that it gives.
    """
    if case.people is None:
        raise Lacking("features of the annotators (people=)")
    hits = pd.DataFrame(
        (case.models.hard_labels()[:, case.labels.item_index] == case.code).T, columns=case.models.models
    )
    own: Any = (hits - hits.groupby(case.labels.item_index).transform("mean")).groupby(case.who).mean()
    found = []
    for feature in map(str, case.people.features.columns):
        group = own.groupby(case.people.values(feature, case.labels.annotators[own.index]))
        for name, mean in group.mean()[group.size() >= GROUP].iterrows():
            error, n = group.sem().loc[name], group.size()[name]
            upper = mean + sp.stats.t.ppf(0.975, n - 1) * error
            found += zip(sp.stats.t.cdf(mean / error, n - 1), upper, [f"{feature} {name} by {m}" for m in own])
    if not found:
        raise Lacking(f"groups of {GROUP} annotators")
    found.sort()
    chance, upper, group = found[0]
    return Finding(
        "warning",
        f"{group}: the model gives their answers less often than those of all, by {-upper:.2f} or more",
        f"score the models for each group: {call('groups')}",
        [one[2] for one in found if one[0] * len(found) < CHANCE],
        float(chance) * len(found),
    )


def base_rate(case: Case) -> Finding:
    """Models that match the votes no better than their habits do by chance."""
    hard, counts = case.models.hard_labels(), case.labels.counts()
    counts, hard = counts[some := counts.sum(axis=1) > 0], hard[:, some]
    hit, chance = _share(counts, hard), (counts.sum(axis=0) / counts.sum())[hard].mean(axis=1)
    kappa, error = (hit.mean(axis=1) - chance, sp.stats.sem(hit, axis=1) + 1e-9) / (1 - chance)
    p = sp.stats.norm.cdf((kappa - USELESS) / error) * len(hard)
    k = p.argmin()
    ends = interval(kappa[k], kappa[k] - 1.96 * error[k], kappa[k] + 1.96 * error[k])
    return Finding(
        "warning",
        f"{case.models.models[k].item()!r} matches the votes hardly better than chance: kappa {ends}",
        "check that its items and labels are those of the votes; its accuracy is that of a common label",
        case.models.models[p < CHANCE].tolist(),
        float(p[k]),
    )


def uncalibrated(case: Case) -> Finding:
    """Probabilities that are not calibrated, or that do not sum to one.

    The stated probability of a label lies between how often one vote is that label and how often the majority is.
    """
    scores, counts, names = case.models.scores, case.labels.counts(), case.models.models
    if scores is None:
        raise Lacking("probabilities of models")
    if wrong := names[
        (np.abs(scores.sum(axis=2) - 1) > 0.01).any(axis=1) | (scores < 0).any(axis=(1, 2))
    ].tolist():
        return Finding(
            "note", f"scores of {shorten(wrong)} are no probabilities", "only their order counts", wrong
        )
    counts, scores = counts[some := counts.sum(axis=1) > 2], scores[:, some]
    stated, top = scores.max(axis=2), scores.argmax(axis=2)
    over, under = stated - _share(counts == counts.max(axis=1, keepdims=True), top), _share(counts, top) - stated
    gap = np.where(over.mean(axis=1) > under.mean(axis=1), over.T, under.T)
    p = sp.stats.norm.sf((gap.mean(axis=0) - MARGIN) / (sp.stats.sem(gap) + 1e-9)) * names.size
    k = p.argmin()
    how = "too high" if over[k].mean() > under[k].mean() else "too low"
    return Finding(
        "note",
        f"the probabilities that {names[k].item()!r} states are {how}, by {gap[:, k].mean():.2f}",
        "calibrate them on other items before models are compared by log loss or Brier score",
        names[p < CHANCE].tolist(),
        float(p[k]),
    )


def _share(counts: Any, label: Any) -> Any:
    """Return the share of the counts of each item that its label has, shape (model, item)."""
    return counts[np.arange(len(counts)), label] / counts.sum(axis=1)


# The checks, those of most worth first.
CHECKS = [knows_votes, missing, base_rate, served_badly, unseparated, uncalibrated, all_err]
