"""Results about groups of annotators as tables, and predictions from files."""

from pathlib import Path
from typing import Any, cast

import pandas as pd
import xarray as xr

from bayesagree._types import SAMPLE
from bayesagree.annotations import Labels
from bayesagree.annotations.groups import Groups
from bayesagree.errors import InputError
from bayesagree.inference.intervals import column_hdi
from bayesagree.inference.streams import Seed
from bayesagree.io.predictions import read_predictions
from bayesagree.io.tables import read_table
from bayesagree.subjective.disagreement import Answers, recode
from bayesagree.subjective.group_model import group_posterior
from bayesagree.subjective.performance import ModelPredictions, dispersion_draws


def as_labels(annotations: Answers, threshold: float | None) -> Labels:
    """Labels themselves, or ratings recoded by a threshold.

    Raises
    ------
    InputError
        Ratings without a threshold.
    """
    if isinstance(annotations, Labels):
        return annotations
    if threshold is None:
        raise InputError(
            "accuracy and the disagreement rate are of labels, and these are ratings: pass threshold=c, such as the "
            "middle of the scale"
        )
    return recode(annotations, threshold)


def performance_draws(
    scored: Answers,
    models: ModelPredictions,
    groups: Groups,
    performance: xr.Dataset,
    *,
    draws: int = 1000,
    random_seed: Seed = None,
) -> xr.Dataset:
    """Draw performance (draw, model, group) and dispersion: accuracy from its posterior, others by bootstrap."""
    if performance.attrs["metric"] != "accuracy":
        return dispersion_draws(performance, draws=4 * draws, random_seed=random_seed)
    # Ratings have no accuracy.
    tree = group_posterior(cast(Labels, scored), models, groups, draws=draws, random_seed=random_seed)
    joined = tree["posterior"].to_dataset().stack(sample=SAMPLE).reset_index("sample", drop=True)
    return joined.rename(sample="draw").reindex(group=performance["group"]).transpose("draw", "model", "group")


def group_table(performance: xr.Dataset, drawn: xr.Dataset) -> pd.DataFrame:
    """Return raw and estimated performance of every model for every group; NaN for groups without data.

    Parameters
    ----------
    performance
        Result of `group_performance`.
    drawn
        Result of `performance_draws`.

    Returns
    -------
    DataFrame
        Columns model, group, annotators, annotations, raw_mean, posterior_mean, lower, upper (HDI 0.95).
    """
    draws = drawn["performance"].sel(model=performance["model"]).transpose("draw", "model", "group")
    dims = ("model", "group")
    lower, upper = (xr.DataArray(end, dims=dims) for end in column_hdi(draws.values))
    names = {"n_annotators": "annotators", "n_annotations": "annotations", "performance": "raw_mean"}
    found = performance[[*names]].rename(names)
    found = found.assign(posterior_mean=draws.mean("draw"), lower=lower, upper=upper)
    table: Any = found.to_dataframe(dim_order=dims).reset_index()
    return table[[*dims, *names.values(), "posterior_mean", "lower", "upper"]]


def dispersion_table(performance: xr.Dataset, drawn: xr.Dataset) -> pd.DataFrame:
    """Return mean and dispersion over groups of every model.

    Parameters
    ----------
    performance, drawn
        As in `group_table`.

    Returns
    -------
    DataFrame
        Columns model, mean, raw_dispersion, dispersion, lower, upper (HDI 0.95).
    """
    draws = drawn["dispersion"].sel(model=performance["model"]).transpose("draw", "model").values
    lower, upper = column_hdi(draws)
    names = {"model": "model", "mean_performance": "mean", "dispersion": "raw_dispersion"}
    table = pd.DataFrame({new: performance[old].values for old, new in names.items()})
    return table.assign(dispersion=draws.mean(axis=0), lower=lower, upper=upper)


def read_model_predictions(
    path: str | Path,
    annotations: Answers,
    *,
    model: str = "model",
    item: str = "item",
    annotator: str = "annotator",
    label: str = "label",
    rating: str = "rating",
) -> ModelPredictions:
    """Read predictions per item, or per (item, annotator) where the table has a column for the annotator.

    Parameters
    ----------
    path
        Table in any format of `read_table`.
    annotations
        Annotations to compare with: labels are predicted in the column `label`, ratings in the column `rating`.
    model, item, annotator, label, rating
        Names of the columns.

    Raises
    ------
    InputError
        A missing column.
    """
    table = read_table(path)
    index = [item, annotator] if annotator in table.columns else item
    if isinstance(annotations, Labels) and index == item:
        found = read_predictions(path, model=model, item=item, label=label)
        return found.on_items(annotations.items).aligned(annotations.items, found.categories)
    column = label if isinstance(annotations, Labels) else rating
    missing = [name for name in (model, item, column) if name not in table.columns]
    if missing:
        raise InputError(f"{path}: no column {missing[0]!r}; these predictions need {model}, {item}, {column}")
    return {str(m): pd.Series(part.set_index(index)[column]) for m, part in table.groupby(model)}
