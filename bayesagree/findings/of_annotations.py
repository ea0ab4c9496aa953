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
from bayesagree.errors import shorten
from bayesagree.findings.case import CHANCE, ENOUGH, Case, Finding, Lacking, call, interval, share, table

# Annotators whose pairs are compared; part of what could agree beyond expectation that does, from which one may copy.
MOST, COPIED = 150, 0.5
# Seed of the halves of the items, another than users choose.
SPLIT = 92_317
# Kappa of the crowd from which a careless annotator shows, the part of it that he reaches at most, and by what part of
# it careful ones differ at least (a standard deviation).
CROWD, PART, DIFFER = 0.1, 0.5, 0.15
# Part of the usual time in which nobody reads; share of items that one vote may turn; of repeated answers that change.
FAST, OPEN, CHANGED = 1 / 3, 0.1, 0.15
# Agreement that camps have more within, from which they are a warning.
FAR = 0.1
# Agreement of pairs from which it is high, kappa below which it is low.
HIGH, LOW = 0.8, 0.4


def copies(case: Case) -> Finding:
    """Annotators who copy each other.

    Two agree by their habits, and beyond these as each does with the others. How far pairs of one crowd are from that,
    of camps or of items of unlike difficulty, sets the scale on which a pair stands out.
    """
    often = np.argsort(case.given.sum(axis=1), kind="stable")[-MOST:]
    cell = case.annotations.item_index.astype(np.int64) * case.given.shape[1] + case.code
    met, same = (_met(case.who, at, often) for at in (case.annotations.item_index, cell))
    rate = (case.given / np.maximum(case.given.sum(axis=1, keepdims=True), 1))[often]
    habit = np.minimum(rate @ rate.T, 0.98)
    beyond = (same - met * habit) / (1 - habit)  # numbers of answers
    of_others = (beyond.sum(axis=1)[:, None] - beyond) / np.maximum(met.sum(axis=1)[:, None] - met, 1)
    usual = max(beyond.sum() / max(met.sum(), 1), 0.02)
    above = np.triu_indices(often.size, 1)
    n, match = met[above], same[above]
    expected = (habit + (1 - habit) * np.clip(of_others * of_others.T / usual, 0, 0.95))[above]
    z = sp.stats.norm.isf(np.clip(sp.stats.binom.sf(match - 1, n, expected), 1e-300, 1 - 1e-16))
    scale = np.median(np.abs(z[n > 0] - np.median(z[n > 0]))) * 1.4826 if n.any() else 1.0
    chance = sp.stats.norm.sf(z / max(scale, 1.0)) * max((n > 0).sum(), 1)
    # Who gives one answer copies nobody.
    chance[(match - n * expected <= COPIED * n * (1 - expected)) | (habit[above] >= 0.98)] = 1.0
    order = np.argsort(chance, kind="stable")[: (chance < CHANCE).sum()]
    first, second = (case.annotations.annotators[often[side[order]]].tolist() for side in above)
    k = order[:1]
    return Finding(
        "warning",
        f"{shorten(first[:1])} and {shorten(second[:1])} agree on {share(match[k].sum(), max(n[k].sum(), 1))} of their "
        f"items, expected {expected[k].sum():.2f}",
        "ask whether they worked together, or read the question alike; if together, leave one of the two out",
        list(zip(first, second)),
        float(chance.min(initial=1.0)),
    )


def _met(who: NDArray[Any], at: NDArray[Any], often: NDArray[Any]) -> Floats:
    """Count what each two annotators have in common, shape (annotator, annotator), without rows of nobody (-1)."""
    by = table(who[who >= 0], at[who >= 0], (int(max(who.max(), often.max())) + 1, int(at.max()) + 1))[often]
    return (by @ by.T).toarray() * (1 - np.eye(often.size))


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
    """Annotators who answer at random, or against the others.

    They have less than half of the usual kappa, and either that is certain, or they stand out from the annotators
    around it: those above it tell how far careful ones differ.
    """
    kappa, n = case.kappa, np.maximum(case.told, 1)
    enough = n >= min(ENOUGH, n.max())
    usual = float(np.median(kappa[enough]))
    if usual < CROWD:
        raise Lacking(f"annotators who agree: the usual kappa is {usual:.2f}, and {CROWD} is needed")
    room = 1 - case.by_chance
    # Errors of who has the usual kappa, or half of it.
    error, of_half = (
        np.sqrt((case.by_chance + room * part) * (1 - part) / (room * n)) for part in (usual, PART * usual)
    )
    above = enough & (kappa >= usual)
    spread = max(np.mean((kappa[above] - usual) ** 2 - error[above] ** 2), (DIFFER * usual) ** 2)
    away = (kappa - usual) / np.sqrt(error**2 + spread), (kappa - PART * usual) / of_half
    chance = np.minimum(*(sp.stats.norm.cdf(z) / weight for z, weight in zip(away, (0.9, 0.1))))
    low, high = kappa - 1.96 * of_half, kappa + 1.96 * of_half
    return _annotators(
        case,
        np.where((case.given.max(axis=1) < case.given.sum(axis=1)) & (kappa < PART * usual), chance, 1.0),
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
    if case.comparisons is not None:
        raise Lacking("labels or ratings: the models link those who compare")
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
    if case.time is None or "time" not in case.time:
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


def drifts(case: Case) -> Finding:
    """Annotators who agree less with the others the longer they work."""
    if case.time is None or "when" not in case.time:
        raise Lacking("when each answer was given (a column when of time=)")
    given, keys = case.annotations, ["item", "annotator"]
    rows: Any = pd.DataFrame({"item": given.items[given.item_index], "annotator": given.annotators[case.who]})
    rows = rows.astype(str).assign(who=case.who, agrees=case.agrees)
    rows = rows.merge(case.time[[*keys, "when"]].astype(dict.fromkeys(keys, str)), on=keys).dropna()
    if not len(rows):
        raise Lacking("times of its items and annotators")
    late: Any = (rows.groupby("who")["when"].rank(pct=True) > 0.5).rename("late")
    half: Any = (
        rows.groupby(["who", late])["agrees"].agg(["mean", "size"]).unstack().reindex(range(len(case.given)))
    )
    variance: Any = rows.groupby("who")["agrees"].var() * (1 / half["size"]).sum(axis=1)
    z: Any = half["mean"].diff(axis=1)[True] / np.sqrt(variance.where(variance > 0))
    return _annotators(
        case,
        sp.stats.t.cdf(z.fillna(0.0), half["size"].sum(axis=1).clip(lower=3) - 2),
        lambda j: (
            "agrees with most others in {:.2f} of the first half of the answers, and in {:.2f} of the last".format(
                *half["mean"].loc[j]
            )
        ),
        "leave out the later answers, and have fewer given in one go",
    )


def camps(case: Case) -> Finding:
    """Two camps among the annotators.

    Half of the items show who is alike beyond his habit to agree; on the other half the items tell whether both camps
    agree more within than with each other, which different care alone does not give.
    """
    item, often = case.annotations.item_index, np.sort(np.argsort(case.given.sum(axis=1), kind="stable")[-MOST:])
    late, shape = (
        np.random.default_rng(SPLIT).random(item.max() + 1)[item] < 0.5,
        (item.max() + 1, case.given.shape[1]),
    )
    met, same = (_met(np.where(late, -1, case.who), at, often) for at in (item, item * shape[1] + case.code))
    alike = same - met * same.sum() / max(met.sum(), 1)
    alike -= alike.mean(axis=0) + alike.mean(axis=1)[:, None] - alike.mean()
    of = np.full(len(case.given), -1)
    of[often] = np.linalg.eigh(alike)[1][:, -1] > 0
    sides = [late & (of[case.who] == k) for k in (0, 1)]
    first, second = (table(item[rows], case.code[rows], shape).toarray() for rows in sides)
    z, apart = min(_apart(first, second), _apart(second, first))
    names = [case.annotations.annotators[of == k].tolist() for k in (0, 1)]
    return Finding(
        "warning" if apart > FAR else "note",
        f"annotators form camps of {len(names[0])} and {len(names[1])}, which agree more within, by {apart:.2f}",
        f"ask what each understands by the question, and score the models for each: {call('groups')}",
        min(names, key=len),
        float(sp.stats.norm.sf(z)),
    )


def _apart(one: Floats, other: Floats) -> tuple[float, float]:
    """Return how much more a camp agrees within than with the other, and that in standard errors: (error, more)."""
    n, m = one.sum(axis=1), other.sum(axis=1)
    told = (n > 1) & (m > 0)
    if told.sum() <= ENOUGH:
        return 0.0, 0.0
    one, other, n, m = one[told], other[told], n[told], m[told]
    more = (one * (one - 1)).sum(axis=1) / (n * (n - 1)) - (one * other).sum(axis=1) / (n * m)
    return more.mean() / max(sp.stats.sem(more), 1e-9), more.mean()


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
    again: Any = rows.groupby(["item", "who"])["code"].agg(["size", "nunique"]).query("size > 1")
    if not (again["nunique"] < again["size"]).any():  # several labels of one answer are all different
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
    verdicts: Any = case.verdicts.groupby("who").sum()
    found = verdicts.reindex(range(len(case.given)), fill_value=0.0)
    z = (found["won"] - found["expected"]) / np.sqrt(found["variance"].clip(lower=1e-9))
    return _annotators(
        case,
        2 * sp.stats.norm.sf(np.abs(z)),
        lambda j: (
            f"names the first in {share(found['won'][j], found['n'][j])} of the comparisons, expected "
            f"{found['expected'][j] / found['n'][j]:.2f}"
        ),
        f"show each pair in both orders, or estimate the effect of the place: {call('strengths')}",
    )


def favours(case: Case) -> Finding:
    """Judges who favour a model: with them it wins more often than the strengths say."""
    games = case.comparisons
    if games is None or not games.annotators.size:
        raise Lacking("comparisons of models by known judges")
    rows: Any = case.verdicts
    rows["expected"] += (
        (rows["won"] - rows["expected"]).groupby(rows["who"]).transform("mean")
    )  # the first place
    turned = rows.assign(model=games.second, won=1 - rows["won"], expected=1 - rows["expected"])
    found: Any = pd.concat([rows.assign(model=games.first), turned]).groupby(["who", "model"]).sum()
    found = found.query(f"n >= {ENOUGH}")
    if not len(found):
        raise Lacking(f"a judge with {ENOUGH} comparisons of a model")
    z = (found["won"] - found["expected"]) / np.sqrt(found["variance"].clip(lower=1e-9))
    found = found.assign(chance=sp.stats.norm.sf(z) * len(found)).sort_values("chance", kind="stable")
    names = [(games.annotators[who].item(), games.models[model].item()) for who, model in found.index]
    n, won, expected, _, chance = found.iloc[0]
    return Finding(
        "warning",
        f"with {names[0][0]!r}, {names[0][1]!r} wins {share(won, n)} of its comparisons, expected {expected / n:.2f}",
        "ask whether the judge made the model, or is of its family; if so, leave these comparisons out",
        names[: (found["chance"] < CHANCE).sum()],
        float(chance),
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
    favours,
    never_meet,
    too_fast,
]
CHECKS += [drifts, repeats, same_text, few_votes, paradox, unused]
