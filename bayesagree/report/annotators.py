"""The annotators in a report: their quality, their levels, and the groups of them that models serve."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree.agreement.annotator_effects import annotator_levels, levels_matter
from bayesagree.agreement.phi import common_agreement
from bayesagree.annotations import Labels, Rankings, Ratings
from bayesagree.annotations.groups import Groups
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import ConvergenceError, InputError
from bayesagree.report.settings import Case, ReportSettings
from bayesagree.subjective.crowd_quality import crowdtruth
from bayesagree.subjective.group_model import group_posterior, group_summary, prob_worse
from bayesagree.subjective.group_truth import group_truth_tables
from bayesagree.subjective.tables import as_labels

# Above this many labels the truth of groups would take longer than the report.
MOST_LABELS = 200_000
_SHOWN = 15
# Draws of each chain of the truth of groups: more would take longer than the rest of the page.
MOST_DRAWS = 500
# Above this many ratings NUTS of the levels takes minutes.
MOST_RATINGS = 1_000
# Annotators of ratings whose levels a page shows; the command `annotators` has all.
MOST_ANNOTATORS = 50


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
    truth
        Tables of `group_truth_tables`; None without votes of two groups, each annotator known, or for predictions per
        annotation.
    """

    by: str
    composition: pd.DataFrame
    accuracy: xr.Dataset | None = None
    worst: pd.DataFrame | None = None
    truth: dict[str, pd.DataFrame] | None = None


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
    tree = group_posterior(labels, case.models, groups, draws=chosen.draws, chains=chosen.chains, seed=chosen.seed)
    accuracy = group_summary(tree)
    worst = _worst(accuracy, prob_worse(tree))
    return GroupResults(groups.by, composition, accuracy, worst, _truth(labels, case.models, groups, chosen))


def _truth(labels: Labels, models: Any, groups: Groups, chosen: ReportSettings) -> dict[str, pd.DataFrame] | None:
    if not isinstance(models, Predictions) or labels.n_annotations > MOST_LABELS:
        return None
    with warnings.catch_warnings():
        # NaN in the tables is the same news.
        warnings.filterwarnings("ignore", "no item has two votes", UserWarning)
        try:
            return group_truth_tables(labels, models, groups, draws=min(chosen.draws, MOST_DRAWS), seed=chosen.seed)
        except InputError:
            return None


def _worst(accuracy: xr.Dataset, worse: xr.DataArray) -> pd.DataFrame:
    """Name the two groups furthest apart for each model, with the probability of their order."""
    rows = []
    for model in accuracy["model"].values.tolist():
        mean = accuracy["mean"].sel(model=model).values
        low, high = (str(accuracy["group"].values[place]) for place in (np.argmin(mean), np.argmax(mean)))
        order = float(worse.sel(model=model, group=low, other_group=high))
        rows.append({"model": model, "worst": low, "best": high, "probability": order})
    return pd.DataFrame(rows)


def level_results(case: Case) -> pd.DataFrame | None:
    """Return the levels of the annotators of ratings, strictest first, None where they explain little or nothing."""
    given = case.annotations
    if not isinstance(given, Ratings) or given.annotators.size > MOST_ANNOTATORS:
        return None
    if given.n_annotations > MOST_RATINGS or not levels_matter(given):
        return None
    effects: dict[str, Any] = {"annotator_effects": "shift", "draws": min(case.settings.draws, 250)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the section on agreement has them
        try:
            return annotator_levels(common_agreement(given, **effects, seed=case.settings.seed))
        except InputError:
            return None


def annotator_results(case: Case) -> pd.DataFrame | None:
    """Compute the CrowdTruth quality of the worst annotators; None unless several known ones share items.

    Columns annotator, wqs and n_items, the number of items that others judged too.
    """
    given = case.annotations
    if not isinstance(given, Labels) or not given.annotators_known:
        return None
    if given.n_annotations > MOST_LABELS or given.annotators.size < 3:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # items that one annotator labelled say nothing about agreement
        try:
            scores = crowdtruth(given)
        except (InputError, ConvergenceError):
            return None
    shared = scores["uqs"].notnull().values[given.item_index]
    pairs = pd.DataFrame({"item": given.item_index[shared], "annotator": given.annotator_index[shared]})
    n_items = pairs.drop_duplicates().groupby("annotator").size()
    table = scores["wqs"].to_dataframe().reset_index().assign(n_items=n_items).dropna()
    return table.sort_values("wqs", kind="stable").astype({"n_items": int}).head(_SHOWN)
