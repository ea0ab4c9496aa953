"""Checks of annotations; each says nothing, or one finding."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree._types import Array, Floats
from bayesagree.agreement._patterns import pair_counts
from bayesagree.annotations import Labels
from bayesagree.annotations._container import parts_met
from bayesagree.annotations._words import missing_words, name_key, person_key, similar
from bayesagree.annotations.gold import gold_codes
from bayesagree.errors import shorten
from bayesagree.findings.case import CHANCE, ENOUGH, Case, Checks, Finding, interval, need, share, surest

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

CHECKS = Checks()


@CHECKS.add(
    "warning",
    "ask whether they worked together, or read the question alike; if together, leave one of the two out",
)
def copies(case: Case) -> Finding:
    """Annotators who copy each other.

    Two agree by their habits, and beyond these as each does with the others. How far pairs of one crowd are from that,
    of camps or of items of unlike difficulty, sets the scale on which a pair stands out.
    """
    often = np.argsort(case.given.sum(axis=1), kind="stable")[-MOST:]
    cell = case.annotations.item_index.astype(int) * case.given.shape[1] + case.code
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
    scale = np.nan_to_num(sp.stats.median_abs_deviation(z[n > 0], scale="normal"))
    chance = sp.stats.norm.sf(z / max(scale, 1.0)) * max((n > 0).sum(), 1)
    # Who gives one answer copies nobody.
    chance[(match - n * expected <= COPIED * n * (1 - expected)) | (habit[above] >= 0.98)] = 1.0
    names = [tuple(pair) for pair in case.annotations.annotators[often[np.transpose(above)]].tolist()]

    def say(k: int) -> str:
        one, other = names[k]
        return (
            f"{one!r} and {other!r} agree on {share(match[k], n[k])} of their items, expected {expected[k]:.2f}"
        )

    return surest(names, chance, say)


def _met(who: Array, at: Array, often: Array) -> Floats:
    """Count what each two annotators have in common, shape (annotator, annotator), without rows of nobody (-1)."""
    by = pair_counts(who[who >= 0], at[who >= 0], (int(max(who.max(), often.max())) + 1, int(at.max()) + 1))[
        often
    ]
    return (by @ by.T).toarray() * (1 - np.eye(often.size))


@CHECKS.add("warning", "leave these annotators out")
def one_answer(case: Case) -> Finding:
    """Annotators who give every item the same answer."""
    n = case.given.sum(axis=1)
    share_of_answer = case.given.sum(axis=0) / case.given.sum()
    need(share_of_answer.max() < 1, "answers that differ")
    # The root, for the others err, and on his items less than on all.
    chance = share_of_answer[case.given.argmax(axis=1)] ** (n / 2)
    kinds = pd.Series(getattr(case.annotations, "rating", case.code)).groupby(case.who).nunique()
    alike = kinds.reindex(range(n.size)) == 1
    return _annotators(
        case, np.where(alike, chance, 1.0), lambda j: f"gives the same answer to all {n[j]:.0f} items"
    )


@CHECKS.add("warning", "ask how they read the question; leave them out, or weight them: {weigh}")
def careless(case: Case) -> Finding:
    """Annotators who answer at random, or against the others.

    They have less than half of the usual kappa, and either that is certain, or they stand out from the annotators
    around it: those above it tell how far careful ones differ.
    """
    given, agrees = case.given, case.agrees
    mine = given / np.maximum(given.sum(axis=1, keepdims=True), 1)
    # Share of the answers of all that are those which each annotator gives, by his habits.
    by_chance = np.minimum(mine @ given.sum(axis=0) / given.sum(), 0.98)
    n = np.maximum(np.bincount(case.who, ~np.isnan(agrees), len(given)), 1)
    room = 1 - by_chance
    kappa = (np.bincount(case.who, np.nan_to_num(agrees), len(given)) / n - by_chance) / room
    enough = n >= min(ENOUGH, n.max())
    usual = float(np.median(kappa[enough]))
    need(usual >= CROWD, f"annotators who agree: the usual kappa is {usual:.2f}, and {CROWD} is needed")
    # Errors of who has the usual kappa, or half of it.
    error, of_half = (
        np.sqrt((by_chance + room * part) * (1 - part) / (room * n)) for part in (usual, PART * usual)
    )
    above = enough & (kappa >= usual)
    spread = max(np.mean((kappa[above] - usual) ** 2 - error[above] ** 2), (DIFFER * usual) ** 2)
    away = (kappa - usual) / np.sqrt(error**2 + spread), (kappa - PART * usual) / of_half
    chance = np.minimum(*(sp.stats.norm.cdf(z) / weight for z, weight in zip(away, (0.9, 0.1))))
    low, high = kappa - 1.96 * of_half, kappa + 1.96 * of_half
    badly = (given.max(axis=1) < given.sum(axis=1)) & (kappa < PART * usual)

    def say(j: int) -> str:
        how = "against" if high[j] < 0 else "hardly with"
        found = interval(kappa[j], low[j], high[j])
        return f"answers {how} the others: kappa with their majority {found}, usual {usual:.2f}"

    return _annotators(case, np.where(badly, chance, 1.0), say)


def _annotators(case: Case, chance: Floats, say: Callable[[int], str]) -> Finding:
    """Return a finding about annotators of enough answers: who, what is said, and how many are like this."""
    enough = case.given.sum(axis=1) >= ENOUGH
    need(enough.any(), f"an annotator with {ENOUGH} answers")
    names = case.annotations.annotators.tolist()
    chance = np.where(enough, chance * enough.sum(), 1.0)
    return surest(names, chance, lambda j: f"{names[j]!r} {say(j)} ({(chance < CHANCE).sum()} like this)")


@CHECKS.add("warning", "read these items: gold is wrong, or the question is not what gold answers")
def against_gold(case: Case) -> Finding:
    """Gold against which all annotators of an item stand."""
    gold = gold_codes(case.gold, case.labels.items, case.labels.categories)
    counts = case.labels.counts()
    known = np.flatnonzero((gold >= 0) & (counts.sum(axis=1) >= 2))
    need(known.size, "gold (gold=) of items with two answers")
    right = counts[known, gold[known]]
    n = counts[known].sum(axis=1)
    expected = np.sum((1 - right.sum() / n.sum()) ** n)
    missed = known[right == 0]
    chance = float(sp.stats.poisson.sf(missed.size - 1, expected))
    said = f"nobody gives the label of gold on {missed.size} of {known.size} items"
    said = f"{said} ({expected:.1f} expected if annotators err independently)"
    return Finding(case.labels.items[missed].tolist(), said, chance)


@CHECKS.add("warning", "{merge} makes them one; {no_answer} names those that are no answer")
def spelling(case: Case) -> Finding:
    """Names that differ by case, blanks or Unicode form, and labels that stand for no answer."""
    given = case.annotations
    labels = given.categories.tolist() if isinstance(given, Labels) else []
    groups = similar(labels) + similar(given.items, name_key) + similar(given.annotators, person_key)
    found = [*groups, *missing_words(labels)]
    said = "differ in spelling alone" if groups else "often stand for no answer"
    return Finding(found, f"{shorten(found)} {said}", severity="critical" if groups else None)


@CHECKS.add("note", "ask what each understands by the question, and score the models for each: {groups}")
def camps(case: Case) -> Finding:
    """Two camps among the annotators.

    Half of the items show who is alike beyond his habit to agree; on the other half the items tell whether both camps
    agree more within than with each other, which different care alone does not give.
    """
    item = case.annotations.item_index
    often = np.sort(np.argsort(case.given.sum(axis=1), kind="stable")[-MOST:])
    late = np.random.default_rng(SPLIT).random(item.max() + 1)[item] < 0.5
    shape = (item.max() + 1, case.given.shape[1])
    met, same = (_met(np.where(late, -1, case.who), at, often) for at in (item, item * shape[1] + case.code))
    alike = same - met * same.sum() / max(met.sum(), 1)
    alike -= alike.mean(axis=0) + alike.mean(axis=1)[:, None] - alike.mean()
    of = np.full(len(case.given), -1)
    of[often] = np.linalg.eigh(alike)[1][:, -1] > 0
    sides = [late & (of[case.who] == k) for k in (0, 1)]
    first, second = (pair_counts(item[rows], case.code[rows], shape).toarray() for rows in sides)
    z, apart = min(_apart(first, second), _apart(second, first))
    names = [case.annotations.annotators[of == k].tolist() for k in (0, 1)]
    sizes = " and ".join(str(len(camp)) for camp in names)
    said = f"annotators form camps of {sizes}, which agree more within, by {apart:.2f}"
    return Finding(min(names, key=len), said, float(sp.stats.norm.sf(z)), "warning" if apart > FAR else None)


def _apart(one: Floats, other: Floats) -> tuple[float, float]:
    """Return how much more a camp agrees within than with the other, and that in standard errors: (error, more)."""
    n, m = one.sum(axis=1), other.sum(axis=1)
    told = (n > 1) & (m > 0)
    if told.sum() <= ENOUGH:
        return 0.0, 0.0
    one, other, n, m = one[told], other[told], n[told], m[told]
    more = (one * (one - 1)).sum(axis=1) / (n * (n - 1)) - (one * other).sum(axis=1) / (n * m)
    return more.mean() / max(sp.stats.sem(more), 1e-9), more.mean()


@CHECKS.add("warning", "show each pair in both orders, or estimate the effect of the place: {strengths}")
def first_place(case: Case) -> Finding:
    """Judges who prefer the answer that is shown first."""
    need(case.comparisons and case.comparisons.order_known, "comparisons of models whose order is known")
    verdicts: Any = case.verdicts.groupby("who").sum()
    z, say = _beyond(verdicts.reindex(range(len(case.given)), fill_value=0.0))
    return _annotators(case, 2 * sp.stats.norm.sf(np.abs(z)), lambda j: f"names the first in {say(j)}")


@CHECKS.add(
    "warning", "ask whether the judge made the model, or is of its family; if so, leave these comparisons out"
)
def favours(case: Case) -> Finding:
    """Judges who favour a model: with them it wins more often than the strengths say."""
    games = case.comparisons
    need(games and games.annotators.size, "comparisons of models by known judges")
    rows: Any = case.verdicts.copy()
    first_wins = (rows["won"] - rows["expected"]).groupby(rows["who"]).transform("mean")
    rows["expected"] += first_wins
    turned = rows.assign(model=games.second, won=1 - rows["won"], expected=1 - rows["expected"])
    both: Any = pd.concat([rows.assign(model=games.first), turned]).groupby(["who", "model"]).sum()
    both = both.query(f"n >= {ENOUGH}")
    need(len(both), f"a judge with {ENOUGH} comparisons of a model")
    z, say = _beyond(both)
    names = [(games.annotators[who].item(), games.models[model].item()) for who, model in both.index]
    chance = sp.stats.norm.sf(z) * len(both)
    return surest(names, chance, lambda k: f"with {names[k][0]!r}, {names[k][1]!r} wins {say(k)}")


def _beyond(verdicts: pd.DataFrame) -> tuple[Floats, Callable[[int], str]]:
    """Return standard errors between wins and those expected, and what is said of a row: their shares."""
    n, won, expected, variance = verdicts[["n", "won", "expected", "variance"]].to_numpy().T
    z = (won - expected) / np.sqrt(variance.clip(min=1e-9))
    return z, lambda k: f"{share(won[k], n[k])} of the comparisons, expected {expected[k] / n[k]:.2f}"


@CHECKS.add(
    "warning",
    "have some items answered in every group; until then compare annotators and agreement within groups only",
)
def never_meet(case: Case) -> Finding:
    """Annotators who never meet on an item."""
    need(case.comparisons is None, "labels or ratings: the models link those who compare")
    part = parts_met(case.who, case.annotations.item_index)[case.who]
    largest = part == np.bincount(part).argmax()
    who = case.annotations.annotators[np.unique(case.who[~largest])].tolist()
    groups = f"annotators form {np.unique(part).size} groups that never meet on an item"
    return Finding(who, f"{groups}; the largest gives {largest.mean():.2f} of the answers")


@CHECKS.add("warning", "read some of these answers, or leave the annotators out")
def too_fast(case: Case) -> Finding:
    """Annotators who answer too fast."""
    need("time" in case.time, "the seconds of each answer (time=)")
    usual = case.time["time"].median()
    fast = (case.time["time"] < FAST * usual).groupby(case.time["annotator"]).agg(["sum", "count"])
    part, n = fast.reindex(case.annotations.annotators, fill_value=0).to_numpy().T
    chance = sp.stats.binom.sf(part - 1, n, 0.5)
    rule = f"in a third of the usual {usual:.1f} seconds"
    return _annotators(case, chance, lambda j: f"gives {share(part[j], n[j])} of the answers {rule}")


@CHECKS.add("warning", "leave out the later answers, and have fewer given in one go")
def drifts(case: Case) -> Finding:
    """Annotators who agree less with the others the longer they work."""
    need("when" in case.time, "when each answer was given (a column when of time=)")
    given, keys = case.annotations, ["item", "annotator"]
    rows: Any = pd.DataFrame({"item": given.items[given.item_index], "annotator": given.annotators[case.who]})
    rows = rows.astype(str).assign(who=case.who, agrees=case.agrees)
    rows = rows.merge(case.time[[*keys, "when"]].astype(dict.fromkeys(keys, str)), on=keys).dropna()
    need(len(rows), "times of its items and annotators")
    late: Any = (rows.groupby("who")["when"].rank(pct=True) > 0.5).rename("late")
    half: Any = (
        rows.groupby(["who", late])["agrees"].agg(["mean", "size"]).unstack().reindex(range(len(case.given)))
    )
    variance: Any = rows.groupby("who")["agrees"].var() * (1 / half["size"]).sum(axis=1)
    z: Any = half["mean"].diff(axis=1)[True] / np.sqrt(variance.where(variance > 0))
    chance = sp.stats.t.cdf(z.fillna(0.0), half["size"].sum(axis=1).clip(lower=3) - 2)

    def say(j: int) -> str:
        early, late = half["mean"].loc[j]
        return f"agrees with most others in {early:.2f} of the first half of the answers, and in {late:.2f} of the last"

    return _annotators(case, chance, say)


@CHECKS.add("warning", "read these items: the question is unclear there, or the annotators do not read")
def repeats(case: Case) -> Finding:
    """Annotators who give another answer when an item comes again."""
    rows = pd.DataFrame({"item": case.annotations.item_index, "who": case.who, "code": case.code})
    again = rows.groupby(["item", "who"])["code"].agg(["size", "nunique"]).query("size > 1")
    # Several labels of one answer are all different.
    need((again["nunique"] < again["size"]).any(), "items that an annotator answered twice")
    other = again.query("nunique > 1")
    where = case.annotations.items[other.index.unique("item")].tolist()
    changed = share(len(other), len(again))
    said = f"when an item came again, annotators gave another answer in {changed} of the cases"
    return Finding(where, said, float(sp.stats.binom.sf(len(other) - 1, len(again), CHANGED)))


@CHECKS.add("note", "score with the doubt, {score}, and add votes there: {next}")
def few_votes(case: Case) -> Finding:
    """Items whose majority one more vote may tie or turn."""
    counts = np.sort(np.column_stack([case.votes.counts(), np.zeros(case.votes.items.size)]), axis=1)
    turn = counts[:, -1] - counts[:, -2] <= 1
    where = case.votes.items[turn & (turn.mean() > OPEN)].tolist()
    return Finding(
        where, f"one vote more may tie or turn the majority of {share(turn.sum(), turn.size)} of the items"
    )


@CHECKS.add("note", "report a coefficient too that a common label does not lower, such as Gwet's: {agreement}")
def paradox(case: Case) -> Finding:
    """Agreement that is high while kappa is low."""
    counts = case.labels.counts().astype(float)
    n = counts.sum(axis=1)
    usual = counts.sum(axis=0) / counts.sum()
    agreed = (counts * (counts - 1)).sum() / max((n * (n - 1)).sum(), 1)
    kappa = 1 - (1 - agreed) / max(1 - (usual**2).sum(), 1e-9)
    common = case.labels.categories[usual.argmax()].item()
    where = [common] if agreed > HIGH and kappa < LOW else []
    of = f"{usual.max():.2f} of them are {common!r}"
    return Finding(where, f"answers agree in {agreed:.2f} of pairs, yet kappa is {kappa:.2f}: {of}")


@CHECKS.add(
    "note",
    "ask whether they are needed, and read as they are meant: metrics that average over labels count them",
)
def unused(case: Case) -> Finding:
    """Labels that nobody uses, or one annotator alone."""
    names = case.votes.categories
    given = np.column_stack([case.who, case.code])
    few = names[np.bincount(np.unique(given, axis=0)[:, 1], minlength=names.size) < 2].tolist()
    return Finding(few, f"{shorten(few)} are given by one annotator or nobody")
