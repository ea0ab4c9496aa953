"""Results of an evaluation in the arrangement that readers see: the command line, the report and the figures share it.

Functions
---------
score_intervals
    Means and intervals of all scores.
slice_table
    The same of slices of the items and their differences to the rest.
score_table, pair_table
    What `compare` and `pairwise` say of all scores, as records, best model first.
sensitivity_table
    Scores under each posterior of an informed evaluation.
prior_notes
    What readers must know where votes are few.
given_notes
    What was done with missing predictions, equal models, unused labels, and items of one annotation.
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import SAMPLE
from bayesagree.annotations import Annotations, Labels, Rankings
from bayesagree.annotations.missing_predictions import Missing
from bayesagree.annotations.predictions import Predictions
from bayesagree.annotations.rankings import who_competed
from bayesagree.errors import shorten
from bayesagree.evaluation._truths import WITHOUT_UNSURE
from bayesagree.evaluation.comparison import compare, pairwise
from bayesagree.inference.intervals import hdi
from bayesagree.inference.results import settings_of

# Annotation certainty below which an item counts as open: the level of the intervals everywhere else.
OPEN = 0.95

# What scores and comparisons are about, for each value of ``items=`` of `evaluate`.
ITEMS_ARE = {"fixed": "on these items", "bootstrap": "on items like these"}

# Weight of the prior in an average item from which the score from annotations alone is no estimate of the score
# against a well-annotated truth. In benchmarks/results/informed.md the bias of the first, taken as the second, is 1.7
# times half the width of its 95 % interval or more in every cell of every set: 3, 5 and 10 votes per item, weights of
# 1/4, 1/6 and 1/11. Smaller weights were not measured.
MOST_PRIOR = 0.09


def score_intervals(result: xr.DataTree, *, group: str = "posterior", ci_prob: float = 0.95) -> xr.Dataset:
    """Mean and highest density interval of every score in a group, in an evaluation that of both of its truths.

    Returns
    -------
    Dataset
        ``score``, ``lower``, ``upper`` (metric, reliability, model).
    """
    draws = result[group].to_dataset()
    if "reliability" not in draws.dims:
        draws = draws.expand_dims(reliability=[settings_of(result).get("reliability", 1.0)])
    found = intervals_of(draws, ci_prob).transpose("metric", "reliability", "model")
    if group == "posterior" and WITHOUT_UNSURE in result:
        other = score_intervals(result, group=WITHOUT_UNSURE, ci_prob=ci_prob).reindex_like(found)
        found["lower"] = np.fmin(found["lower"], other["lower"])
        found["upper"] = np.fmax(found["upper"], other["upper"])
    return found


def intervals_of(draws: xr.Dataset, ci_prob: float) -> xr.Dataset:
    """Return mean and highest density interval of each variable, (metric, ...)."""
    flat = draws.to_dataarray("metric").stack(sample=SAMPLE).transpose("sample", ...)
    mean = flat.mean("sample")
    columns = flat.values.reshape(len(flat), -1).T
    known = [hdi(own, ci_prob) if (own := one[~np.isnan(one)]).size else (np.nan, np.nan) for one in columns]
    ends = (mean.copy(data=np.reshape(end, mean.shape)) for end in zip(*known))
    return xr.Dataset(dict(zip(("score", "lower", "upper"), (mean, *ends))))


def slice_table(result: xr.DataTree) -> pd.DataFrame:
    """Scores of slices of the items as records.

    Parameters
    ----------
    result
        Result of `evaluate` with ``by=``.
    ci_prob
        Probability of the highest density intervals.

    Returns
    -------
    DataFrame
        Columns metric, reliability, the name of the slices, side (slice, rest, difference), model, mean, lower, upper.
    """
    found = intervals_of(result["slices"].to_dataset(), 0.95).rename(score="mean")
    return found.to_dataframe([*map(str, found["mean"].dims)]).reset_index()


def score_table(result: xr.DataTree) -> pd.DataFrame:
    """Scores as records, best model first: `compare`, with columns metric, reliability (of several) and model."""
    return _at_each(result, lambda *at: compare(result, at[0], reliability=at[1]).reset_index())


def pair_table(result: xr.DataTree) -> pd.DataFrame:
    """Ordered pairs of models as records: `pairwise`, with columns metric and reliability (of several)."""

    def pairs(metric: str, level: float | None) -> pd.DataFrame:
        found = pairwise(result, metric, reliability=level)[["prob_better", "difference", "lower", "upper"]]
        return found.to_dataframe().reset_index().query("model != other_model")

    return _at_each(result, pairs)


def _at_each(result: xr.DataTree, table: Callable[[str, float | None], pd.DataFrame]) -> pd.DataFrame:
    """Join tables of every metric, and of every reliability where there are several."""
    parts = []
    for metric, scores in result["posterior"].data_vars.items():
        several = scores.sizes.get("reliability", 1) > 1
        for level in scores["reliability"].values.tolist() if several else [None]:
            one = table(str(metric), level)
            one.insert(0, "metric", str(metric))
            if several:
                one.insert(1, "reliability", level)
            parts.append(one)
    return pd.concat(parts, ignore_index=True)


def sensitivity_table(result: xr.DataTree) -> pd.DataFrame:
    """Mean scores under each posterior of an evaluation that predictions or gold inform.

    Returns
    -------
    DataFrame
        Columns metric, model, ``estimate`` (against a well-annotated truth, or against gold), and of those that the
        evaluation has: ``on_gold_items``, ``on_other_items``, ``annotations_only``.
    """
    groups = {"estimate": "posterior", "on_gold_items": "gold_items", "on_other_items": "other_items"}
    groups["annotations_only"] = "annotations_only"
    means = {
        name: {
            (metric, model): mean
            for metric, scores in result[group].data_vars.items()
            for model, mean in zip(scores["model"].values.tolist(), scores.values.mean(axis=(0, 1)).tolist())
        }
        for name, group in groups.items()
        if group in result
    }
    return pd.DataFrame(means).rename_axis(["metric", "model"]).reset_index()


def prior_notes(prior_share: float | None) -> list[str]:
    """Sentence for a score that rests on few votes; none from enough votes, or where no such weight is known.

    Examples
    --------
    >>> prior_notes(0.05)
    []
    >>> prior_notes(0.25)[0].split(",")[0]
    'Votes are few: the prior has 25 % of the weight in an average item'
    """
    if prior_share is None or prior_share < MOST_PRIOR:
        return []
    return [
        f"Votes are few: the prior has {100 * prior_share:.0f} % of the weight in an average item, and the interval of "
        "a score from so few annotations alone rarely held the score against a well-annotated truth where many votes "
        "made that known; --plausibility informed_dirichlet estimates it."
    ]


def given_notes(annotations: Annotations, predictions: Predictions | None, missing: Missing) -> list[str]:
    """Sentences about data that a reader of the scores would not expect.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> votes = Labels.from_counts([[1, 0], [0, 1]], labels=["no", "yes"])
    >>> models = Predictions.from_labels({"A": ["no", None], "B": ["no", "no"]}, labels=["no", "yes"])
    >>> for note in given_notes(votes, models, "skip"):
    ...     print(note)
    No item has two annotations: how far annotators disagree is not known from them.
    1 of 2 items are left out: a model predicts nothing for them.
    """
    notes = []
    if isinstance(annotations, Rankings) and predictions is not None:
        notes.append(who_competed(annotations)[0])
    if np.bincount(annotations.item_index, getattr(annotations, "count", None)).max(initial=0) == 1:
        notes.append("No item has two annotations: how far annotators disagree is not known from them.")
    if predictions is None:
        return notes
    lacks = predictions.lacking()
    every = pd.Index(annotations.items).union(predictions.items, sort=False)
    left_out = every.size - (~lacks.any(axis=0)).sum()
    if missing == "skip" and left_out:
        notes.append(f"{left_out} of {every.size} items are left out: a model predicts nothing for them.")
    elif lacks.any():
        notes.append(f"{lacks.sum()} missing predictions count as wrong.")
    if predictions.numbers is None:
        hard = predictions.hard_labels()
        names = predictions.models.tolist()
        same = [(a, b) for a, b in combinations(range(len(names)), 2) if (hard[a] == hard[b]).all()]
        notes += [f"{names[a]} and {names[b]} predict the same label for every item." for a, b in same[:3]]
        if isinstance(annotations, Labels):
            used = np.isin(annotations.categories, predictions.categories[np.unique(hard[hard >= 0])])
            used[np.unique(annotations.label_index)] = True
            if not used.all():
                unused = shorten(annotations.categories[~used])
                notes.append(
                    f"Labels that nobody gave and no model predicts: {unused}. They count as possible truths."
                )
    return notes
