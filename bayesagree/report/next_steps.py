"""What to do next: which models may replace an annotator, and what further votes would settle."""

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayesagree._inference.streams import Seed
from bayesagree.annotations import Annotations, Labels, Ratings
from bayesagree.annotations.predictions import Predictions
from bayesagree.annotations.ratings import THRESHOLD_LABELS
from bayesagree.judges.annotator_test import alternative_annotator_test
from bayesagree.planning._decision import Decision

MIN_ITEMS = 30
"""Annotators with fewer items that others labelled too are not compared: the exact test is a t-test (Calderon et al.,
2025)."""
EPSILON = 0.2
"""By how much a model may be worse than an annotator and still replace him: that of experts, as in the paper."""
_SHOWN = 15
"""Items listed that deserve the next vote."""


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


def replacement_results(
    annotations: Annotations, models: Predictions | None, *, threshold: float | None, draws: int, seed: Seed
) -> pd.DataFrame | None:
    """Test whether each model may replace an annotator; None unless enough named annotators share enough items.

    Of ratings, whose models say on which side of a threshold an item lies, the annotators' sides count. Columns model,
    advantage, lower, upper, winning_rate, passes, prob_passes, prob_new_annotator, n_annotators.
    """
    if models is None or not annotations.annotators_known or annotations.has_repeats:
        return None
    if _most_shared(annotations) < MIN_ITEMS or getattr(annotations, "offered", None) is not None:
        return None
    if (models.hard_labels() < 0).any():  # a model without an answer on some items loses annotators, not fairly
        return None
    said = annotations
    if isinstance(annotations, Ratings):
        if threshold is None:
            return None
        said = _sides(annotations, threshold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # who has too few items is left out, and their number is shown
        found = alternative_annotator_test(
            said, models, epsilon=EPSILON, min_items=MIN_ITEMS, draws=draws, chains=1, seed=seed
        )
    names = ["advantage", "lower", "upper", "winning_rate", "passes", "prob_passes", "prob_new_annotator"]
    table = found[names].to_dataframe().reset_index().assign(n_annotators=found.sizes["annotator"])
    return table.sort_values("advantage", ascending=False, ignore_index=True)


def further_votes(annotations: Annotations, models: Predictions | None, *, seed: Seed) -> FurtherVotes | None:
    """Ask what votes are worth; None unless labels meet two models that differ somewhere."""
    if models is None or models.models.size < 2 or not isinstance(annotations, Labels):
        return None
    decision = Decision.of(annotations, models)
    differ = decision.differ.size
    if differ == 0:
        return None
    rungs = np.unique([0, -(-differ // 10), -(-differ // 2), differ])
    best, other = map(str, decision.models)
    table = decision.value_of_votes().loc[rungs, ["votes", "prob_right"]]
    return FurtherVotes((best, other), table, decision.next_items(min(_SHOWN, differ), seed))


def _sides(ratings: Ratings, threshold: float) -> Labels:
    """Return on which side of the threshold each rating lies."""
    sides = THRESHOLD_LABELS[(ratings.rating >= threshold).astype(int)]
    return Labels.from_long(ratings.to_long().assign(label=sides), labels=THRESHOLD_LABELS.tolist())


def _most_shared(annotations: Annotations) -> int:
    """Return the most items that one annotator shares with another."""
    shared = np.bincount(annotations.item_index, minlength=annotations.items.size)[annotations.item_index] > 1
    names = annotations.annotator_index[shared]
    return int(np.bincount(names, minlength=annotations.annotators.size).max(initial=0))
