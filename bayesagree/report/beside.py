"""What stands beside the scores: groups of annotators, prediction sets, replacement, further votes."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree.annotations import Annotations, Labels, Rankings, Ratings
from bayesagree.annotations.groups import Groups
from bayesagree.conformal.coverage import cross_sets, set_coverage
from bayesagree.errors import InputError
from bayesagree.judges.annotator_test import alternative_annotator_test
from bayesagree.planning._decision import Decision, Outlook
from bayesagree.report.settings import Case
from bayesagree.subjective.disagreement import recode
from bayesagree.subjective.group_model import group_posterior, group_summary
from bayesagree.subjective.tables import as_labels

COVERAGE = 0.9
# Annotated items without which no sets are shown: each half calibrates the other, and fewer than nine cannot.
FEWEST = 40
# Annotators with fewer items that others labelled too are not compared: the exact test is a t-test (Calderon et al.,
# 2025).
MIN_ITEMS = 30
# By how much a model may be worse than an annotator and still replace that person: that of experts in the paper.
EPSILON = 0.2
# Items listed to label next.
_NEXT = 15


@dataclass(frozen=True, eq=False)
class FurtherVotes:
    """What further votes do for the choice between the two best models.

    Attributes
    ----------
    models
        The best and the next by the votes alone.
    table
        Columns votes and prob_right of `value_of_votes`, at none, a tenth, half and all of the items where they differ.
    items
        The items of the first votes, columns item and gain of `annotate_next`.
    """

    models: tuple[str, str]
    table: pd.DataFrame
    items: pd.DataFrame


def set_results(case: Case) -> pd.DataFrame | None:
    """Compute `set_coverage`, each half of the items calibrated on the other; None without enough probabilities."""
    if not case.scored_labels or case.models is None or case.models.scores is None:
        return None
    scores = case.models.scores
    if case.voted.items.size < FEWEST or (scores < 0).any() or (np.abs(scores.sum(axis=2) - 1) > 1e-3).any():
        return None
    sets = cross_sets(case.voted, case.models, coverage=COVERAGE, random_seed=case.settings.random_seed)
    return set_coverage(case.voted, sets)


def replacement_results(case: Case) -> pd.DataFrame | None:
    """Test whether each model may replace an annotator; None unless enough named annotators share enough items.

    Of ratings, whose models predict a side of a threshold, the annotators' sides count. Columns model, advantage,
    lower, upper, winning_rate, passes, prob_passes, prob_new_annotator, n_annotators.
    """
    given, models = case.annotations, case.models
    if models is None or not given.annotators_known or given.has_repeats:
        return None
    if _most_shared(given) < MIN_ITEMS or getattr(given, "offered", None) is not None:
        return None
    if (
        models.numbers is not None or models.lacking().any()
    ):  # a model without an answer on some items loses annotators, not fairly
        return None
    if isinstance(given, Ratings):
        given = recode(given, case.settings.threshold)  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # who has too few items is left out, and their number is shown
        how: Any = {"epsilon": EPSILON, "min_items": MIN_ITEMS, "draws": case.settings.draws, "chains": 1}
        found = alternative_annotator_test(given, models, **how, random_seed=case.settings.random_seed)
    names = ["advantage", "lower", "upper", "winning_rate", "passes", "prob_passes", "prob_new_annotator"]
    table = found[names].to_dataframe().reset_index().assign(n_annotators=found.sizes["annotator"])
    return table.sort_values("advantage", ascending=False, ignore_index=True)


def _most_shared(annotations: Annotations) -> int:
    """Return the most items that one annotator shares with another."""
    shared = np.bincount(annotations.item_index, minlength=annotations.items.size)[annotations.item_index] > 1
    names = annotations.annotator_index[shared]
    return int(np.bincount(names, minlength=annotations.annotators.size).max(initial=0))


def further_votes(case: Case) -> FurtherVotes | None:
    """Compute what votes are worth; None unless labels meet two models that differ somewhere."""
    if case.models is None or case.models.models.size < 2 or not isinstance(case.annotations, Labels):
        return None
    chosen = case.settings
    how: Any = {"missing": chosen.missing, "random_seed": chosen.random_seed}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the evaluation has given them
        outlook = Outlook.of(case.annotations, case.models, chosen.plausibility, **how)
    decision = Decision.of(outlook, case.models.models)
    differ = decision.differ.size
    if differ == 0:
        return None
    steps = np.unique([0, -(-differ // 10), -(-differ // 2), differ])
    best, other = map(str, decision.models)
    table = decision.value_of_votes().loc[steps, ["votes", "prob_right"]]
    return FurtherVotes((best, other), table, decision.next_items(min(_NEXT, differ), case.settings.random_seed))


@dataclass(frozen=True, eq=False)
class GroupResults:
    """Groups of annotators and, with models, how well each is served.

    Attributes
    ----------
    by
        What the annotators are grouped by.
    composition
        Number of annotators, annotations and items of each group; index group.
    accuracy
        Posterior ``mean``, ``lower``, ``upper`` (HDI 0.95) of the accuracy (model, group), None without models.
    worst
        One row per model: group served worst, group served best, probability that it is so; None without models.
    """

    by: str
    composition: pd.DataFrame
    accuracy: xr.Dataset | None = None
    worst: pd.DataFrame | None = None


def group_results(case: Case, groups: Groups | None) -> GroupResults | None:
    """Compute who is in each group and how well each model serves it; None without groups.

    Raises
    ------
    InputError
        Rankings, which have no groups.
    """
    if groups is None:
        return None
    if isinstance(case.annotations, Rankings):
        raise InputError(
            "groups of annotators are compared on labels or ratings, not on rankings; leave out the groups"
        )
    labels, chosen = as_labels(case.annotations, case.settings.threshold), case.settings
    composition = groups.composition(labels)
    if case.models is None:
        return GroupResults(groups.by, composition)
    tree = group_posterior(
        labels, case.models, groups, draws=chosen.draws, chains=chosen.chains, random_seed=chosen.random_seed
    )
    accuracy = group_summary(tree)
    return GroupResults(groups.by, composition, accuracy, _worst(accuracy))


def _worst(accuracy: xr.Dataset) -> pd.DataFrame:
    """Name the two groups furthest apart for each model, with the probability of their order."""
    rows = []
    for model in accuracy["model"].values.tolist():
        mean = accuracy["mean"].sel(model=model).values
        low, high = (str(accuracy["group"].values[place]) for place in (np.argmin(mean), np.argmax(mean)))
        order = float(accuracy["prob_worse"].sel(model=model, group=low, other_group=high))
        rows.append({"model": model, "worst": low, "best": high, "probability": order})
    return pd.DataFrame(rows)
