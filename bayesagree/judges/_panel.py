"""Verdicts as numbers, and the regression that they make of people's votes."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayesagree._types import Array, Booleans, Floats, Integers
from bayesagree.annotations import Labels, Ratings
from bayesagree.annotations.gold import ItemGroup, group_of_each
from bayesagree.errors import InputError, as_python, refuse, shorten, warn
from bayesagree.inference.cells import cell_sums
from bayesagree.io.doors import as_annotations
from bayesagree.judges.prior import CorrectedRatePrior
from bayesagree.metrics.concordant_pairs import ratio

# Answers from which a judge who always gives the same one is named.
FEWEST = 10
# System of every item where none is named.
ALL = "all"
# Standard deviation of numbers up to about 10 that are the same but for their rounding.
SAME = 1e-9


Verdicts = Labels | Ratings
# Groupings of the items by name, and the inclusion probability of each item.
By = Mapping[str, ItemGroup] | pd.DataFrame | None
Inclusion = Mapping[Hashable, float] | pd.Series | None


class Factor(NamedTuple):
    """A grouping of the items: its name, its levels, and the level of each item."""

    name: str
    levels: Array
    code: Integers


@dataclass(frozen=True, eq=False)
class Panel:
    """Verdicts of judges on all items, and people's votes on some."""

    items: Array
    judges: Array
    verdict: Floats  # from 0 (negative) to 1 (positive), mean over repeats, NaN where a judge gave none: (item, judge)
    factors: tuple[Factor, ...]  # groupings of the items, the systems first
    votes: Integers  # number of people who voted on each item, (item,)
    positive: Floats  # number of positive ones among them, those of one person averaged, (item,)
    # Probability with which each item was chosen for people; None where verdicts, systems and features decided.
    inclusion: Floats | None = None

    @property
    def system(self) -> Factor:
        """The systems."""
        return self.factors[0]

    @property
    def seen(self) -> Booleans:
        """Items with at least one vote."""
        return self.votes > 0


class Regression(NamedTuple):
    """Predictors of every item, and the prior of their coefficients."""

    # In units of the known standard deviation of their coefficients, (item, coefficient).
    columns: Floats
    names: list[str]  # name of each coefficient
    scale_index: Integers  # scale of each coefficient's prior, -1 where its standard deviation is 1
    scale_prior: Floats  # standard deviation of the half-normal prior of each scale, (scale,)


# Five strata leave a tenth of the bias (Cochran, "The effectiveness of adjustment by subclassification", Biometrics 24,
# 1968); the slope of the logarithm takes most of the rest.
STRATA = 5
# Inclusion probabilities below are this one: such an item is never seen.
LEAST_INCLUSION = 1e-6


def panel_of(
    verdicts: Verdicts,
    people: Labels,
    system: ItemGroup | None,
    positive: Hashable,
    by: By,
    inclusion: Inclusion = None,
) -> Panel:
    """Join verdicts and votes by item, checked."""
    verdicts = as_annotations(verdicts, (Labels, Ratings), "verdicts")
    people = as_annotations(people, (Labels,), "people")
    if not verdicts.annotators_known:
        raise InputError("the judges are unknown; name them as the annotators of the verdicts")
    items = verdicts.items
    place = pd.Index(items).get_indexer(people.items)
    if (place < 0).any():
        raise InputError(
            f"people labelled items on which there is no verdict: {shorten(people.items[place < 0])}; verdicts are on "
            f"{shorten(items)}: name items alike, leave the others out, or have them judged"
        )
    counts = people.counts()
    number = counts.sum(axis=1)
    yes = counts[:, _code(people, positive)]
    if people.has_repeats:  # what a person answers again is no other person's vote
        of_person = verdict_values(people, positive)
        number = np.isfinite(of_person).sum(axis=1)
        yes = np.nansum(of_person, axis=1)
    votes = np.zeros(items.size, int)
    agree = np.zeros(items.size)
    votes[place], agree[place] = number, yes
    everything = np.full(items.size, ALL) if system is None else system
    groupings = {"system": everything, **(dict(by.items()) if by is not None else {})}
    factors = [_factor(str(name), groups, items) for name, groups in groupings.items()]
    chance = None if inclusion is None else inclusion_of(inclusion, items, votes > 0)
    if chance is not None:
        factors.append(_strata(chance))
    return Panel(
        items, verdicts.annotators, verdict_values(verdicts, positive), tuple(factors), votes, agree, chance
    )


def warn_of_one_answer(judges: Array, answers: Array) -> None:
    """Warn of judges whose answers, numbers or codes of labels, shape (item, judge), are all the same."""
    used = pd.DataFrame(np.where(answers == -1, np.nan, answers) if answers.dtype.kind == "i" else answers)
    if (alone := ((used.nunique() == 1) & (used.count() >= FEWEST)).to_numpy()).any():
        warn(
            f"judges {shorten(judges[alone])} give one answer to all items: their numbers show how often it is "
            "right, and nothing of how well they judge"
        )


def regression(panel: Panel, prior: CorrectedRatePrior) -> Regression:
    """Regress on standardised verdicts: intercept and slopes, their deviations by group, the groups' mean verdict.

    A group's mean verdict is a predictor of its intercept (Mundlak): judges say positive more often of a better
    system, and without it partial pooling would draw every system to the mean. So is the number of judges who say
    positive, each with an intercept of its own: where judges err together, unanimous ones may know less than nearly
    unanimous ones, which no sum over judges can say.
    """
    scaled = _standardised(panel.verdict)
    n_judges = panel.judges.size
    scales = []
    base = np.column_stack([np.ones(panel.items.size), scaled])
    called = ["all", *map(str, panel.judges)]
    sizes = [prior.intercept_sd] + [prior.slope_sd] * n_judges
    parts = [(base * sizes, [-1] * (1 + n_judges), called)]
    several = [factor for factor in panel.factors if factor.levels.size > 1]
    for factor in several if n_judges else ():
        mean = _standardised(np.bincount(factor.code, scaled.mean(axis=1)) / np.bincount(factor.code))
        parts.append((prior.slope_sd * mean[factor.code], [-1], [f"mean verdict by {factor.name}"]))
    if panel.inclusion is not None:
        log_inclusion = _standardised(np.log(np.maximum(panel.inclusion, LEAST_INCLUSION)))
        parts.append((prior.slope_sd * log_inclusion, [-1], ["log inclusion probability"]))
    if n_judges > 1:
        # How many judges say positive of each item, by their mean verdict.
        number = np.rint(pd.DataFrame(panel.verdict).mean(axis=1).fillna(0.0) * n_judges)
        levels, code = np.unique(number, return_inverse=True)
        names = [f"{level:.0f} judges positive" for level in levels]
        parts.append((np.eye(levels.size)[code], [0] * levels.size, names))
        scales.append(prior.system_sd)
    for factor in several:
        scale_index = [len(scales)] + [len(scales) + 1] * n_judges
        scales += [prior.system_sd, prior.leniency_sd][: 1 + (n_judges > 0)]
        for level, name in enumerate(factor.levels):
            names = [f"{factor.name} {name}: {column}" for column in called]
            parts.append((base * (factor.code == level)[:, None], scale_index, names))
    blocks, index, names = zip(*parts)
    return Regression(np.hstack(blocks), [*chain(*names)], np.concatenate(index), np.array(scales, float))


def inclusion_of(given: Mapping[Hashable, float] | pd.Series, items: Array, seen: Booleans) -> Floats:
    """Return the inclusion probability of every item."""
    numbers: Any = pd.to_numeric(pd.Series(dict(given.items())), errors="coerce")
    known = numbers.reindex(items.tolist()).to_numpy(float)
    rule = "every item needs a number from 0 to 1"
    refuse(
        ~((known >= 0) & (known <= 1)),
        lambda i: f"inclusion= gives item {as_python(items[i])!r} {known[i]}; {rule}",
    )
    if (impossible := seen & (known == 0)).any():
        raise InputError(f"people labelled items of inclusion probability 0: {shorten(items[impossible])}")
    return known


def _strata(inclusion: Floats) -> Factor:
    """Group the items by inclusion probability, about as many labels expected in each stratum."""
    order = np.argsort(inclusion, kind="stable")
    before = np.cumsum(inclusion[order]) - inclusion[order] / 2
    stratum = np.empty(inclusion.size, int)
    stratum[order] = np.minimum(before / inclusion.sum() * STRATA, STRATA - 1).astype(int)
    # Equal probabilities belong together, in the stratum where the first of them is.
    _, first, back = np.unique(inclusion[order], return_index=True, return_inverse=True)
    stratum[order] = stratum[order][first][back]
    levels, code = np.unique(stratum, return_inverse=True)
    return Factor("inclusion", levels.astype(str), code.astype(int))


def _standardised(verdict: Floats) -> Floats:
    """Return each judge's verdicts, (item, judge), with mean 0 and sd 1; a missing verdict is the mean."""
    table = pd.DataFrame(verdict)
    centred = (table - table.mean()).fillna(0.0).to_numpy()
    spread = np.sqrt((centred**2).mean(axis=0))
    return centred / np.where(spread > SAME, spread, 1.0)


def verdict_values(verdicts: Verdicts, positive: Hashable) -> Floats:
    """Return verdicts between 0 and 1, (item, judge): is it the positive label, or where on the scale is it."""
    if isinstance(verdicts, Labels):
        value = (verdicts.label_index == _code(verdicts, positive)).astype(float)
        weight = verdicts.count
    else:
        low, high = verdicts.scale
        value = (verdicts.rating - low) / (high - low)
        weight = np.ones(value.size)
    shape = (verdicts.items.size, verdicts.annotators.size)
    cell = verdicts.item_index, verdicts.annotator_index
    return ratio(cell_sums(shape, *cell, weight=value * weight), cell_sums(shape, *cell, weight=weight))


def verdict_codes(judges: Labels) -> Integers:
    """Return the category that each judge gave each item, the first of repeated ones, -1 for none: (item, judge)."""
    codes = np.full((judges.items.size, judges.annotators.size), -1, int)
    codes[judges.item_index[::-1], judges.annotator_index[::-1]] = judges.label_index[::-1]
    return codes


def _code(labels: Labels, positive: Hashable) -> int:
    found = np.flatnonzero(labels.categories == positive)
    if found.size != 1:
        raise InputError(
            f"positive={as_python(positive)!r} is not one of the labels ({shorten(labels.categories)}); name the label "
            "that counts as positive, and list all labels with labels=[...] when reading"
        )
    return int(found[0])


def _factor(name: str, groups: ItemGroup, items: Array) -> Factor:
    code, levels = pd.factorize(group_of_each(groups, items, name).astype(str), sort=True)
    return Factor(name, np.asarray(levels, str), code.astype(int))
