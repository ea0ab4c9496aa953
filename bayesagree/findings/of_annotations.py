"""Checks of annotations; each says nothing, or one finding."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations._container import parts_met
from bayesagree.annotations._words import missing_words, name_key, similar
from bayesagree.annotations.gold import gold_codes
from bayesagree.comparisons.posterior import davidson
from bayesagree.comparisons.tables import effect_table
from bayesagree.errors import shorten
from bayesagree.findings.case import CHANCE, ENOUGH, Case, Finding, Lacking, call, interval, share, table

# Annotators whose pairs are compared; share of rare answers that two have in common by their abilities or views.
MOST, ALIKE = 150, 0.4
# Seed of the halves of the items, another than users choose.
SPLIT = 92_317
# Kappa of the crowd from which a careless annotator shows, and the part of it that he reaches at most.
CROWD, PART = 0.2, 0.5
# Part of the usual time in which nobody reads; share of items that one vote may turn; of repeated answers that change.
FAST, OPEN, CHANGED = 1 / 3, 0.1, 0.15
# Agreement of pairs from which it is high, kappa below which it is low.
HIGH, LOW = 0.8, 0.4


def copies(case: Case) -> Finding:
    """Annotators who copy each other.

    Of the answers of one that less than half of the others share, those that another gives too. If annotators are
    draws of one crowd, he gives each as often as the others do, whatever the item, or as he gives this answer anywhere.
    """
    (same, rest), often = case.beside, np.argsort(case.given.sum(axis=1), kind="stable")[-MOST:]
    item, alone = case.annotations.item_index, (same < rest / 2).astype(float)
    cell = item.astype(np.int64) * case.given.shape[1] + case.code

    def joint(left: Floats, at: NDArray[Any] = item) -> Floats:
        sides = [sp.sparse.csr_array((x, (case.who, at)))[often] for x in (left, np.ones(at.size))]
        return (sides[0] @ sides[1].T).toarray() * (1 - np.eye(often.size))

    n, usual, match = joint(alone), joint(alone * same / np.maximum(rest, 1)), joint(alone, cell)
    rate = (case.given / np.maximum(case.given.sum(axis=1, keepdims=True), 1))[often]
    habit = sum(joint(alone * (case.code == k)) * rate[:, k] for k in range(rate.shape[1]))
    expected = np.maximum(usual, habit) / np.maximum(n, 1)
    chance = sp.stats.binom.sf(match - 1, n, ALIKE + (1 - ALIKE) * expected) * max((n > 0).sum(), 1)
    order = np.argsort(chance, axis=None, kind="stable")[: (chance < CHANCE).sum()]
    first, second = (case.annotations.annotators[often[k]].tolist() for k in np.divmod(order, often.size))
    k = order[:1]
    part = share(match.flat[k].sum(), max(n.flat[k].sum(), 1))
    return Finding(
        "warning",
        f"{shorten(second[:1])} gives {part} of the answers that {shorten(first[:1])} shares with few, expected "
        f"{expected.flat[k].sum():.2f}",
        "ask whether they worked together, or read the question alike; if together, leave one of the two out",
        list(zip(first, second)),
        float(chance.min()),
    )


def one_answer(case: Case) -> Finding:
    """Annotators who give every item the same answer."""
    n, share_of_answer = case.given.sum(axis=1), case.given.sum(axis=0) / case.given.sum()
    # The root, for the others err, and on his items less than on all.
    chance = share_of_answer[case.given.argmax(axis=1)] ** (n / 2)
    kinds = pd.Series(getattr(case.annotations, "rating", case.code)).groupby(case.who).nunique()
    return _annotators(
        case,
        np.where((kinds.reindex(range(n.size)) == 1) & (share_of_answer.max() < 1), chance, 1.0),
        lambda j: f"gives the same answer to all {n[j]:.0f} items",
        "leave these annotators out",
    )


def careless(case: Case) -> Finding:
    """Annotators who answer at random, or against the others."""
    (same, rest), n = case.beside, np.maximum(case.given.sum(axis=1), 1)
    # Of each annotator the share of answers that half of the others or more give.
    agreed = np.bincount(case.who, same >= np.maximum(rest, 1) / 2, n.size) / n
    chance = case.given @ case.given.sum(axis=0) / n / n.sum()
    room = np.maximum(1 - chance, 0.02)
    kappa, error = (agreed - chance) / room, np.sqrt((agreed * (1 - agreed) + 0.25 / n) / n) / room
    usual = float(np.median(kappa[n >= min(ENOUGH, n.max())]))
    if usual < CROWD:
        raise Lacking(f"annotators who agree: the usual kappa is {usual:.2f}, and {CROWD} is needed")
    low, high = kappa - 1.96 * error, kappa + 1.96 * error
    return _annotators(
        case,
        np.where(case.given.max(axis=1) < n, sp.stats.norm.cdf((kappa - PART * usual) / error), 1.0),
        lambda j: (
            f"answers {'against' if high[j] < 0 else 'hardly with'} the others: kappa with their majority "
            f"{interval(kappa[j], low[j], high[j])}, usual {usual:.2f}"
        ),
        f"ask how they read the question; leave them out, or weight them: {call('weigh')}",
    )


def _annotators(case: Case, chance: Floats, text: Callable[[int], str], way_out: str) -> Finding:
    """Return a finding about the annotators of whom it is sure, the surest first."""
    enough = case.given.sum(axis=1) >= ENOUGH
    if not enough.any():
        raise Lacking(f"an annotator with {ENOUGH} answers")
    chance = np.where(enough, chance * enough.sum(), 1.0)
    order = np.argsort(chance, kind="stable")[: (chance < CHANCE).sum()]
    who = case.annotations.annotators[order].tolist()
    said = f"{who[0]!r} {text(int(order[0]))} ({len(who)} like this)" if who else ""
    return Finding("warning", said, way_out, who, float(chance.min()))


def never_meet(case: Case) -> Finding:
    """Annotators who never meet on an item."""
    part, names = parts_met(case.who, case.annotations.item_index)[case.who], case.annotations.annotators
    groups, largest = np.unique(part), np.bincount(part).argmax()
    return Finding(
        "warning",
        f"annotators form {groups.size} groups that never meet on an item; the largest gives "
        f"{(part == largest).mean():.2f} of the answers",
        "have some items answered in every group; until then compare annotators and agreement within groups only",
        names[np.unique(case.who[part != largest])].tolist(),
    )


def unused(case: Case) -> Finding:
    """Labels that nobody uses, or one annotator alone."""
    if case.comparisons is not None:
        raise Lacking("labels")
    who = np.unique(np.column_stack([case.who, case.labels.label_index]), axis=0)[:, 1]
    few = case.labels.categories[np.bincount(who, minlength=case.labels.categories.size) < 2].tolist()
    way_out = (
        "ask whether they are needed, and read as they are meant: metrics that average over labels count them"
    )
    return Finding("note", f"{shorten(few)} are given by one annotator or nobody", way_out, few)


def spelling(case: Case) -> Finding:
    """Names that differ by case, blanks or Unicode form, and labels that stand for no answer."""
    given = case.annotations
    labels = given.categories.tolist() if isinstance(given, Labels) else []
    groups = similar(labels) + similar(given.items, name_key) + similar(given.annotators, name_key)
    found = [*groups, *missing_words(labels)]
    return Finding(
        "critical" if groups else "warning",
        f"{shorten(found)} " + ("differ in spelling alone" if groups else "often stand for no answer"),
        f"{call('merge')} makes them one; {call('no_answer')} names those that are no answer",
        found,
    )


def few_votes(case: Case) -> Finding:
    """Items whose majority one more vote may tie or turn."""
    counts = np.sort(np.column_stack([case.labels.counts(), np.zeros(case.labels.items.size)]), axis=1)
    turn = counts[:, -1] - counts[:, -2] <= 1
    return Finding(
        "note",
        f"one vote more may tie or turn the majority of {share(turn.sum(), turn.size)} of the items",
        f"score with the doubt, {call('score')}, and add votes there: {call('next')}",
        case.labels.items[turn & (turn.mean() > OPEN)].tolist(),
    )


def against_gold(case: Case) -> Finding:
    """Gold against which all annotators of an item stand."""
    gold, counts = gold_codes(case.gold, case.labels.items, case.labels.categories), case.labels.counts()
    known = np.flatnonzero((gold >= 0) & (counts.sum(axis=1) >= 2))
    if not known.size:
        raise Lacking("gold (gold=) of items with two answers")
    right, n = counts[known, gold[known]], counts[known].sum(axis=1)
    expected = np.sum((1 - right.sum() / n.sum()) ** n)
    missed = known[right == 0]
    return Finding(
        "warning",
        f"nobody gives the label of gold on {missed.size} of {known.size} items ({expected:.1f} expected if annotators "
        "err independently)",
        "read these items: gold is wrong, or the question is not what gold answers",
        case.labels.items[missed].tolist(),
        float(sp.stats.poisson.sf(missed.size - 1, expected)),
    )


def too_fast(case: Case) -> Finding:
    """Annotators who answer too fast."""
    if case.time is None:
        raise Lacking("the seconds of each answer (time=)")
    usual, names = case.time["time"].median(), case.annotations.annotators
    fast = (case.time["time"] < FAST * usual).groupby(case.time["annotator"]).agg(["sum", "count"])
    part, n = fast.reindex(names, fill_value=0).to_numpy().T
    return _annotators(
        case,
        sp.stats.binom.sf(part - 1, n, 0.5),
        lambda j: f"gives {share(part[j], n[j])} of the answers in a third of the usual {usual:.1f} seconds",
        "read some of these answers, or leave the annotators out",
    )


def camps(case: Case) -> Finding:
    """Two camps among the annotators.

    Half of the items show who is alike beyond his habit to agree; on the other half the items tell whether both camps
    agree more within than with each other, which different care alone does not give.
    """
    item, often = case.annotations.item_index, np.sort(np.argsort(case.given.sum(axis=1), kind="stable")[-MOST:])
    cell, late = (
        item * (case.code.max() + 1) + case.code,
        np.random.default_rng(SPLIT).random(item.max() + 1)[item] < 0.5,
    )
    pairs = []
    for at in (cell, item):
        by = table(case.who[~late], at[~late], (case.given.shape[0], int(at.max()) + 1))[often]
        pairs.append((by @ by.T).toarray() * (1 - np.eye(often.size)))
    alike = pairs[0] - pairs[1] * pairs[0].sum() / max(pairs[1].sum(), 1)
    alike -= alike.mean(axis=0) + alike.mean(axis=1)[:, None] - alike.mean()
    of = np.full(case.given.shape[0], -1)
    of[often] = np.linalg.eigh(alike)[1][:, -1] > 0
    first, second = (
        table(item[rows], case.code[rows], (item.max() + 1, case.code.max() + 1)).toarray()
        for rows in (late & (of[case.who] == 0), late & (of[case.who] == 1))
    )
    z, n, m = [], first.sum(axis=1), second.sum(axis=1)
    for one, size, other in ((first, n, m), (second, m, n)):
        told = (size > 1) & (other > 0)
        within = (one * (one - 1)).sum(axis=1)[told] / (size * (size - 1))[told]
        apart = within - (first * second).sum(axis=1)[told] / (n * m)[told]
        z.append(
            (apart.mean(), apart.mean() / max(sp.stats.sem(apart), 1e-9)) if told.sum() > ENOUGH else (0, 0)
        )
    names = [case.annotations.annotators[of == k].tolist() for k in (0, 1)]
    return Finding(
        "warning",
        f"annotators form camps of {len(names[0])} and {len(names[1])}, which agree more within, by {min(z)[0]:.2f}",
        f"ask what each understands by the question, and score the models for each: {call('groups')}",
        min(names, key=len),
        float(sp.stats.norm.sf(min(z)[1])),
    )


def paradox(case: Case) -> Finding:
    """Agreement that is high while kappa is low."""
    counts = case.labels.counts().astype(float)
    n, usual = counts.sum(axis=1), counts.sum(axis=0) / counts.sum()
    agreed = (counts * (counts - 1)).sum() / max((n * (n - 1)).sum(), 1)
    kappa, common = (
        1 - (1 - agreed) / max(1 - (usual**2).sum(), 1e-9),
        case.labels.categories[usual.argmax()].item(),
    )
    return Finding(
        "note",
        f"answers agree in {agreed:.2f} of pairs, yet kappa is {kappa:.2f}: {usual.max():.2f} of them are {common!r}",
        f"report a coefficient too that a common label does not lower, such as Gwet's: {call('agreement')}",
        [common] if agreed > HIGH and kappa < LOW else [],
    )


def repeats(case: Case) -> Finding:
    """Annotators who give another answer when an item comes again."""
    rows = pd.DataFrame({"item": case.annotations.item_index, "who": case.who, "code": case.code})
    again = rows.groupby(["item", "who"])["code"].agg(["size", "nunique"]).query("size > 1")
    if not len(again):
        raise Lacking("items that an annotator answered twice")
    other = again.query("nunique > 1")
    return Finding(
        "warning",
        f"when an item came again, annotators gave another answer in {share(len(other), len(again))} of the cases",
        "read these items: the question is unclear there, or the annotators do not read",
        case.annotations.items[other.index.unique("item")].tolist(),
        float(sp.stats.binom.sf(len(other) - 1, len(again), CHANGED)),
    )


def same_text(case: Case) -> Finding:
    """Items that show the same text."""
    if case.texts is None:
        raise Lacking("what each item shows (texts=)")
    text: Any = pd.Series(case.texts).reindex(case.every_item).dropna().astype(str).map(name_key)
    twice: Any = text[text.duplicated(keep=False)].sort_values(kind="stable")
    return Finding(
        "warning",
        f"{len(twice)} items show {twice.nunique()} texts",
        "keep one item of each text: they count as independent, and are not",
        twice.index.tolist(),
    )


def first_place(case: Case) -> Finding:
    """Judges who prefer the answer that is shown first."""
    if case.comparisons is None or not case.comparisons.order_known:
        raise Lacking("comparisons of models whose order is known")
    found: Any = effect_table(
        davidson(case.comparisons, order="annotator", draws=500, random_seed=case.random_seed)
    )
    found = found[found["effect"] == "first_wins"].set_index("annotator").reindex(case.annotations.annotators)
    away = (found["mean"] - 0.5).to_numpy() / ((found["upper"] - found["lower"]) / 3.92).to_numpy()
    return _annotators(
        case,
        2 * sp.stats.norm.sf(np.abs(np.nan_to_num(away))),
        lambda j: (
            f"lets the first of two equal models win in {interval(*found.iloc[j][['mean', 'lower', 'upper']])}"
        ),
        f"show each pair in both orders, or estimate the effect of the place: {call('strengths')}",
    )


# The checks, those of most worth first.
CHECKS = [
    copies,
    one_answer,
    careless,
    against_gold,
    spelling,
    camps,
    first_place,
    never_meet,
    too_fast,
    repeats,
]
CHECKS += [same_text, few_votes, paradox, unused]
