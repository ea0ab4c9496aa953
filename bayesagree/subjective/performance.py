"""How well a model predicts the answer of each annotator, and whether it does so equally well for all groups.

A model predicts one value per item for everybody, or one per (item, annotator). Its performance is computed on each
annotator's own annotations, averaged within groups, and summarised over groups by the pair

    (mean over groups,  dispersion = 1 - standard deviation over groups),

groups weighing equally (ddof = 0). Dispersion 1 means equal performance. The pair hides which group is served worse and
how little may be known about it, so the values of every group always come with their counts.

Source: Balayn and Bozzon, "Designing evaluations of machine learning models for subjective inference" (2019).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import Array, Floats, Integers
from bayesagree.annotations import Labels, Ratings
from bayesagree.annotations._columns import names_array
from bayesagree.annotations.annotators import UNKNOWN, Annotators
from bayesagree.annotations.groups import Groups
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, as_python, positive_int, shorten, warn
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations, as_annotators, as_predictions, is_data
from bayesagree.metrics.concordant_pairs import ratio
from bayesagree.subjective.disagreement import Answers, require_one_each

ModelPredictions = Predictions | Mapping[str, pd.Series]
METRICS = {"labels": "accuracy", "ratings": "absolute_error"}


def group_performance(
    annotations: Answers,
    predictions: ModelPredictions,
    annotators: Annotators | Groups,
    by: Sequence[str] = (),
) -> xr.Dataset:
    """Compute the performance of every model for each group of annotators, with its mean and dispersion.

    Parameters
    ----------
    annotations
        Labels or ratings, one per (item, annotator).
    predictions
        `Predictions` (one label per item), or model -> series of labels or ratings, whose index names the items or the
        pairs (item, annotator). Missing predictions are counted and left out.
    annotators, by
        Features of the annotators and which of them to group by; or ready `Groups`, such as bins of disagreement.

    Returns
    -------
    Dataset
        ``performance`` (model, group): the accuracy, of ratings the mean absolute error, on each annotator's own
        annotations; mean over the annotators of the group, NaN for an empty one;
        ``mean_performance`` and ``dispersion`` (model) over the groups that have a value;
        ``annotator_performance`` (model, annotator), ``n_scored`` (model, group): annotators with a value;
        ``n_annotators`` and ``n_annotations`` (group); ``group_of`` (annotator): position of the group, -1 for none.

    Raises
    ------
    InputError
        Unknown features or annotators; repeated annotations; predictions of other items.

    Warns
    -----
    UserWarning
        Groups without annotators, annotations or predictions; they are in the table and not in mean and dispersion.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a"], ["b", "a"]], annotators=["x", "y"])
    >>> people = Annotators.from_table(pd.DataFrame({"annotator": ["x", "y"], "gender": ["f", "m"]}))
    >>> model = Predictions.from_labels({"A": ["a", "b"]}, labels=["a", "b"])
    >>> result = group_performance(votes, model, people, by=["gender"])
    >>> result["performance"].values.tolist(), float(result["dispersion"][0])
    ([[1.0, 0.5]], 0.75)

    References
    ----------
    Balayn and Bozzon, section "Illustration of the specifications", point 1, and table 2.
    """
    annotations = as_annotations(annotations, (Labels, Ratings))
    groups = as_groups(annotations, annotators, by)
    models, score, n = annotator_scores(annotations, predictions)
    coords = {"model": models, "annotator": annotations.annotators}
    attrs = {"metric": METRICS[annotations.kind]}
    per_annotator = xr.DataArray(ratio(score, n), coords, ("model", "annotator"), attrs=attrs)
    by_group: Any = pd.DataFrame(per_annotator.to_numpy().T).groupby(groups.index)
    of_each = range(groups.names.size)
    means = by_group.mean().reindex(of_each).to_numpy().T
    scored = by_group.count().reindex(of_each, fill_value=0).to_numpy().T
    composition = groups.composition(annotations)
    empty = groups.names[(scored == 0).any(axis=0)]
    if empty.size:
        warn(
            f"{empty.size} of {groups.names.size} groups have no annotator with a value, so their performance is NaN "
            f"and mean and dispersion leave them out: {shorten(empty)}"
        )
    both = ("model", "group")
    found = {"performance": (both, means), "n_scored": (both, scored), "annotator_performance": per_annotator}
    counts = {f"n_{name}": ("group", composition[name].to_numpy()) for name in ("annotators", "annotations")}
    found |= counts | {"group_of": ("annotator", groups.index)}
    dataset = xr.Dataset(found, {"group": groups.names}, per_annotator.attrs | {"by": groups.by})
    return dataset.assign(summarise(dataset["performance"]))


def summarise(performance: xr.DataArray) -> xr.Dataset:
    """Return mean and dispersion = 1 - standard deviation (ddof = 0) over the groups that have a value."""
    return xr.Dataset(
        {"mean_performance": performance.mean("group"), "dispersion": 1 - performance.std("group")}
    )


def dispersion_draws(result: xr.Dataset, *, draws: int = 1000, random_seed: Seed = None) -> xr.Dataset:
    """Draw performance, mean and dispersion of all models together under a Bayesian bootstrap over annotators.

    The same weights serve every model, so that differences between models of the same annotators are sharper than
    their separate intervals: Pr(A more biased than B) is the share of draws in which A has the lower dispersion. Holds
    for every metric; unlike `group_posterior` it does not take the sampling noise out of the spread.

    Parameters
    ----------
    result
        Result of `group_performance`.
    draws
        Number of draws.
    random_seed
        Same seed, same draws.

    Returns
    -------
    Dataset
        ``performance`` (draw, model, group), NaN for a group of fewer than two annotators with a value for every
        model, about whose spread nothing is known; ``mean_performance`` and ``dispersion`` (draw, model), over all
        groups with an annotator.

    Examples
    --------
    >>> values = [[0.9] * 20 + [0.6] * 20, [0.9] * 40]
    >>> result = xr.Dataset(
    ...     {"annotator_performance": (("model", "annotator"), values), "group_of": ("annotator", [0] * 20 + [1] * 20)},
    ...     {"model": ["A", "B"], "group": ["f", "m"]},
    ... )
    >>> dispersion = dispersion_draws(result, draws=10, random_seed=1)["dispersion"]
    >>> bool((dispersion.sel(model="A") < dispersion.sel(model="B")).all())
    True
    """
    rng = np.random.default_rng(seed_sequence(random_seed))
    group = result["group_of"].to_numpy()
    values = result["annotator_performance"].to_numpy()
    kept = (group >= 0) & ~np.isnan(values).any(axis=0)
    n = np.bincount(group[kept], minlength=result.sizes["group"])
    weight = rng.exponential(size=(positive_int(draws, "draws"), int(kept.sum())))
    member = (group[kept][:, None] == np.flatnonzero(n)[None, :]).astype(float)
    means = (
        np.stack([(weight * value[kept]) @ member for value in values], axis=1) / (weight @ member)[:, None, :]
    )
    performance = np.full((*means.shape[:2], n.size), np.nan)
    performance[..., n > 1] = means[..., n[n > 0] > 1]
    table = {"performance": (("draw", "model", "group"), performance)}
    table |= {"mean_performance": (("draw", "model"), means.mean(axis=-1))}
    table |= {"dispersion": (("draw", "model"), 1 - means.std(axis=-1))}
    return xr.Dataset(table, {"model": result["model"], "group": result["group"]})


def left_out(result: xr.Dataset) -> xr.Dataset:
    """Compute mean and dispersion anew without each group: does a model look biased because of one group.

    Returns
    -------
    Dataset
        ``mean_performance`` and ``dispersion``, dims (left_out, model).

    Examples
    --------
    >>> performance = xr.DataArray([[0.9, 0.9, 0.3]], {"group": ["f", "m", "x"]}, ("model", "group"))
    >>> left_out(performance.to_dataset(name="performance"))["dispersion"].sel(left_out="x").values.tolist()
    [1.0]
    """
    groups = result["group"].to_numpy()
    without = [summarise(result["performance"].isel(group=groups != g)) for g in groups]
    return xr.concat(without, "left_out").assign_coords(left_out=groups)


def as_groups(annotations: Answers, annotators: Annotators | Groups, by: Sequence[str]) -> Groups:
    """Return ready groups, or group the annotators by features."""
    annotators = as_annotators(annotators)
    if isinstance(annotators, Groups):
        if by:
            raise InputError(
                f"the annotators are grouped already (by {annotators.by}); leave out by={list(by)!r}"
            )
        annotators.of_rows(annotations)
        return annotators
    return Groups.by_features(annotations, annotators, by)


def annotator_scores(annotations: Answers, predictions: ModelPredictions) -> tuple[Array, Floats, Integers]:
    """Return models, sums of what each scores on the annotations of each annotator, and their number, as (model, who).

    Of a label it is 1 where the model gives it, else 0; of a rating the distance from it.
    """
    require_one_each(annotations, "the performance per annotator")
    hit = annotations.kind == "labels"
    predictions = as_predictions(predictions, annotations) if is_data(predictions) else predictions
    if isinstance(predictions, Predictions):
        if not hit:
            raise InputError("ratings need predicted ratings: pass {model: series of numbers, indexed by item}")
        aligned = predictions.aligned(annotations.items, annotations.categories)
        models = aligned.models
        predicted = aligned.hard_labels()[:, annotations.item_index]
        present = predicted >= 0
    else:
        if not predictions:
            raise InputError("there is no model: pass {name: series}")
        models = names_array(list(predictions), "model")
        by_row = [_one_per_row(annotations, series, model) for model, series in predictions.items()]
        present = np.stack([v.notna().to_numpy() for v in by_row])
        known = pd.Index(getattr(annotations, "categories", ()))
        predicted = np.stack([
            known.get_indexer(pd.Index(v)) if hit else v.astype(float) for v in by_row
        ])  # fmt: skip
        if (unknown := np.argwhere(present & (predicted < 0) & hit)).size:
            m, row = unknown[0]
            raise InputError(
                f"model {as_python(models[m])!r} predicts {by_row[m].iloc[row]!r}, which is no label of the "
                f"annotations ({shorten(known)})"
            )
    score = predicted == annotations.label_index if hit else np.abs(predicted - annotations.rating)
    who, size = annotations.annotator_index, annotations.annotators.size
    sums = [np.bincount(who, np.where(p, one, 0.0), size) for p, one in zip(present, score)]
    return models, np.stack(sums), np.stack([np.bincount(who[p], minlength=size) for p in present])


def _one_per_row(annotations: Answers, series: pd.Series, model: str) -> pd.Series:
    """Look up the prediction of each annotation by its item, or by its (item, annotator)."""
    if not isinstance(series, pd.Series):
        raise InputError(
            f"model {model!r}: expected a pandas series indexed by item or (item, annotator), "
            f"got {type(series).__name__}"
        )
    if series.index.has_duplicates:
        repeated = series.index[series.index.duplicated()][0]
        raise InputError(f"model {model!r} predicts {as_python(repeated)!r} twice; give one prediction each")
    items = annotations.items[annotations.item_index]
    if series.index.nlevels == 1:
        missing = np.setdiff1d(annotations.items, series.index.to_numpy())
        if missing.size:
            raise InputError(f"model {model!r} has no prediction for {missing.size} items: {shorten(missing)}")
        return series.reindex(pd.Index(items))
    rows = pd.MultiIndex.from_arrays([items, annotations.annotators[annotations.annotator_index]])
    return series.reindex(rows)


def individual_unfairness(
    annotators: Annotators, performance: xr.DataArray, similarity: Sequence[str]
) -> xr.DataArray:
    """Compute the mean difference in performance between similar annotators, per model.

    Two annotators are similar when all similarity features are known for both and equal.

    Returns
    -------
    DataArray
        Mean absolute difference over all similar pairs, dim model; 0 is individual fairness, NaN without such a pair.
    """
    if not similarity:
        raise InputError("name the features by which annotators are similar")
    columns = [annotators.values(feature, performance["annotator"].to_numpy()) for feature in similarity]
    same = np.all([(c[:, None] == c) & (c != UNKNOWN)[:, None] for c in columns], axis=0)
    first, second = np.nonzero(np.triu(same, 1))
    of_each = performance.drop_vars("annotator")
    gaps = abs(of_each.isel(annotator=first) - of_each.isel(annotator=second))
    return gaps.mean("annotator").rename("individual_unfairness")
