"""The models in a report, beside their scores: areas, prediction sets, replacement of annotators, further votes."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayesagree._numerics.intervals import column_hdi
from bayesagree.annotations import Annotations, Labels, Ratings
from bayesagree.conformal.coverage import cross_sets, set_coverage, widest_sets
from bayesagree.judges.annotator_test import alternative_annotator_test
from bayesagree.metrics.posterior_auc import auc_posterior
from bayesagree.planning._decision import Decision, Outlook
from bayesagree.report.settings import Case
from bayesagree.subjective.disagreement import recode

COVERAGE = 0.9
# Annotated items without which no sets are shown: each half calibrates the other, and fewer than nine cannot.
FEWEST = 40
_WIDEST = 10
# Annotators with fewer items that others labelled too are not compared: the exact test is a t-test (Calderon et al.,
# 2025).
MIN_ITEMS = 30
# By how much a model may be worse than an annotator and still replace that person: that of experts in the paper.
EPSILON = 0.2
# Items listed that deserve the next vote.
_SHOWN = 15


@dataclass(frozen=True, eq=False)
class SetResults:
    """Conformal sets of the models, each half of the items calibrated on the other: `set_coverage`, `widest_sets`."""

    table: pd.DataFrame
    widest: pd.DataFrame


@dataclass(frozen=True, eq=False)
class AreaResults:
    """Areas under the curve against the labels themselves.

    Attributes
    ----------
    positive
        The positive label.
    table
        Columns model, auc, lower, upper (HDI 0.95), the largest first.
    ceiling
        Area of a model that ranks items by their share of positive labels.
    """

    positive: str
    table: pd.DataFrame
    ceiling: float


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


def set_results(case: Case) -> SetResults | None:
    """Compute prediction sets and their coverage; None unless labels meet probabilities on enough items."""
    if not case.scored_labels or case.models is None or case.models.scores is None:
        return None
    scores = case.models.scores
    if case.voted.items.size < FEWEST or (scores < 0).any() or (np.abs(scores.sum(axis=2) - 1) > 1e-3).any():
        return None
    sets = cross_sets(case.voted, case.models, coverage=COVERAGE, seed=case.settings.seed)
    return SetResults(set_coverage(case.voted, sets), widest_sets(sets, most=_WIDEST))


def area_results(case: Case) -> AreaResults | None:
    """Compute the areas under the curve; None unless labels of two kinds meet scores."""
    if not case.scored_labels or case.models is None:
        return None
    if case.annotations.categories.size != 2 or case.annotations.has_repeats:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what the labels do not determine is left out below
        tree = auc_posterior(
            case.voted, case.models, truth_is="labels", draws=case.settings.draws, chains=1, seed=case.settings.seed
        )
    posterior = tree["posterior"].to_dataset()
    drawn = posterior["auc"].values.reshape(-1, case.models.models.size)
    if not np.isfinite(drawn).all():
        return None
    lower, upper = column_hdi(drawn)
    table = pd.DataFrame({"model": case.models.models, "auc": drawn.mean(axis=0), "lower": lower, "upper": upper})
    table = table.sort_values("auc", ascending=False, ignore_index=True)
    return AreaResults(str(case.voted.categories[-1]), table, float(posterior["ceiling"].mean()))


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
        found = alternative_annotator_test(given, models, **how, seed=case.settings.seed)
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
    outlook = Outlook.of(case.annotations, case.models, "dirichlet", missing=case.settings.missing)
    decision = Decision.of(outlook, case.models.models)
    differ = decision.differ.size
    if differ == 0:
        return None
    steps = np.unique([0, -(-differ // 10), -(-differ // 2), differ])
    best, other = map(str, decision.models)
    table = decision.value_of_votes().loc[steps, ["votes", "prob_right"]]
    return FurtherVotes((best, other), table, decision.next_items(min(_SHOWN, differ), case.settings.seed))
