"""Accuracy for groups of annotators, and whether groups differ by more than chance."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._inference.streams import Seed
from bayesagree.annotations import Annotations
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.report.kinds import kind_of
from bayesagree.subjective.dispersion import dispersion_null
from bayesagree.subjective.group_model import group_posterior, group_summary, prob_worse
from bayesagree.subjective.groups import Groups
from bayesagree.subjective.performance import group_performance


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
        One row per model: group served worst, group served best, probability that it is so, p-value of the spread
        over groups against chance; None without models.
    """

    by: str
    composition: pd.DataFrame
    accuracy: xr.Dataset | None
    worst: pd.DataFrame | None


def group_results(
    annotations: Annotations,
    predictions: Predictions | None,
    groups: Groups,
    *,
    threshold: float | None,
    draws: int,
    chains: int,
    seed: Seed,
) -> GroupResults:
    """Compute what the report says about groups.

    Raises
    ------
    InputError
        Rankings, which have no groups.
    """
    as_labels = kind_of(annotations).as_labels
    if as_labels is None:
        raise InputError(
            "groups of annotators are compared on labels or ratings, not on rankings; leave out the groups"
        )
    labels = as_labels(annotations, threshold)
    composition = groups.composition(labels)
    if predictions is None:
        return GroupResults(groups.by, composition, None, None)
    tree = group_posterior(labels, predictions, groups, draws=draws, chains=chains, seed=seed)
    null = dispersion_null(group_performance(labels, predictions, groups), seed=seed)
    accuracy = group_summary(tree)
    return GroupResults(groups.by, composition, accuracy, _worst(accuracy, prob_worse(tree), null))


def _worst(accuracy: xr.Dataset, worse: xr.DataArray, null: xr.Dataset) -> pd.DataFrame:
    """Name the two groups furthest apart for each model, and how sure their order is."""
    rows = []
    for model in accuracy["model"].values.tolist():
        mean = accuracy["mean"].sel(model=model).values
        low, high = (str(accuracy["group"].values[place]) for place in (np.argmin(mean), np.argmax(mean)))
        sure = float(worse.sel(model=model, group=low, other_group=high))
        p_value = float(null["p_value"].sel(model=model))
        rows.append({"model": model, "worst": low, "best": high, "probability": sure, "p_value": p_value})
    return pd.DataFrame(rows)
