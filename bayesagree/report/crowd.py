"""Areas under the curve and the quality of the annotators, where labels and predictions allow them."""

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayesagree._inference.streams import Seed
from bayesagree._numerics.intervals import column_hdi
from bayesagree.agreement.annotator_effects import annotator_levels, levels_matter
from bayesagree.agreement.phi import common_agreement
from bayesagree.annotations import Annotations, Labels, Ratings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import ConvergenceError, InputError
from bayesagree.metrics.auc.posterior import auc_posterior
from bayesagree.subjective.crowd_quality.resampling import crowdtruth_posterior, spammers

MOST_LABELS = 200_000
"""Above this many labels the quality of annotators, which resamples items, would take longer than the report."""
_RESAMPLES = 100
"""Most resamples of the items; a tenth of the draws of the report, for each solves for all qualities anew."""
_SHOWN = 15
MOST_RATINGS = 10_000
"""Above this many ratings the sampler of levels takes longer than the rest of the page."""
MOST_ANNOTATORS = 50
"""Annotators of ratings whose levels a page shows; the command `annotators` has all."""


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


def area_results(annotations: Annotations, models: Predictions | None, *, draws: int, seed: Seed) -> AreaResults | None:
    """Compute the areas under the curve; None unless labels of two kinds meet scores."""
    if models is None or models.scores is None or not isinstance(annotations, Labels):
        return None
    if annotations.categories.size != 2 or annotations.has_repeats:
        return None
    voted = annotations.select(np.ones(annotations.item_index.size, bool))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what the labels do not determine is left out below
        tree = auc_posterior(voted, models, against="labels", draws=draws, chains=1, seed=seed)
    posterior = tree["posterior"].to_dataset()
    drawn = posterior["auc"].values.reshape(-1, models.models.size)
    if not np.isfinite(drawn).all():
        return None
    lower, upper = column_hdi(drawn)
    table = pd.DataFrame({"model": models.models, "auc": drawn.mean(axis=0), "lower": lower, "upper": upper})
    table = table.sort_values("auc", ascending=False, ignore_index=True)
    return AreaResults(str(voted.categories[-1]), table, float(posterior["ceiling"].mean()))


def level_results(annotations: Annotations, *, draws: int, seed: Seed) -> pd.DataFrame | None:
    """Return the levels of the annotators of ratings, strictest first, None where they explain little or nothing."""
    if not isinstance(annotations, Ratings) or annotations.annotators.size > MOST_ANNOTATORS:
        return None
    if annotations.n_annotations > MOST_RATINGS or not levels_matter(annotations):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the section on agreement has them
        try:
            tree = common_agreement(annotations, annotator_effects="shift", draws=min(draws, 250), seed=seed)
        except InputError:
            return None
    return annotator_levels(tree)


def annotator_results(annotations: Annotations, *, draws: int, seed: Seed) -> pd.DataFrame | None:
    """Compute the CrowdTruth quality of the most suspicious annotators; None unless several known ones meet on items.

    Rows are those of `spammers`, the annotator as a column.
    """
    if not isinstance(annotations, Labels) or not annotations.annotators_known:
        return None
    if annotations.n_annotations > MOST_LABELS or annotations.annotators.size < 3:
        return None
    resamples = max(2, min(_RESAMPLES, draws // 10))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # items that one annotator labelled say nothing about agreement
        try:
            tree = crowdtruth_posterior(annotations, draws=resamples, chains=1, seed=seed)
        except (InputError, ConvergenceError):
            return None
    return spammers(tree).dropna(subset=["prob_spammer"]).reset_index().head(_SHOWN)
