"""How good the models are: scores across reliabilities, the ordinary metric beside them, and who is better."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bayesagree.annotations import Annotations, Labels, Rankings
from bayesagree.errors import InputError
from bayesagree.evaluation.comparison import compare, hdi
from bayesagree.evaluation.scoring import evaluate
from bayesagree.metrics.registry import RankMetric
from bayesagree.metrics.uncertainty_adjusted import per_item, top_k_accuracy
from bayesagree.plausibility.dirichlet.inverse_rank_normalization import irn
from bayesagree.plausibility.normal_inverse_gamma.posterior import THRESHOLD_LABELS
from bayesagree.plausibility.votes import majority_vote
from bayesagree.predictions import Predictions
from bayesagree.report.settings import Settings


@dataclass(frozen=True, eq=False)
class Scores:
    """How good the models are.

    Attributes
    ----------
    table
        ``score``, ``lower``, ``upper`` (HDI 0.95), dims (metric, reliability, model); ``ordinary`` (metric, model):
        the metric against one point estimate of the truth. Where the items are a sample also ``annotation_share``
        (metric, reliability, model): share of the variance of a score that comes from the annotations.
    comparison
        Metric to the result of `compare` at the reference reliability, models best first.
    """

    table: xr.Dataset
    comparison: dict[str, xr.Dataset]


def model_scores(
    annotations: Annotations, predictions: Predictions, settings: Settings, progress: Callable[[int], None]
) -> tuple[Scores, xr.DataArray]:
    """Score the models at every reliability; returns also the annotation certainty (reliability, item)."""
    options: dict[str, Any] = {} if settings.threshold is None else {"threshold": settings.threshold}
    tree = evaluate(
        annotations, predictions, plausibility=settings.plausibility, reliability=settings.reliability,
        metrics=settings.metrics, draws=settings.draws, chains=settings.chains, seed=settings.seed,
        items=settings.items, progress=progress, **options,
    )  # fmt: skip
    posterior = tree["posterior"].to_dataset()
    names = [str(name) for name in posterior.data_vars]
    draws = np.stack([posterior[m].transpose("reliability", "model", "chain", "draw").values for m in names])
    draws = draws.reshape(*draws.shape[:3], -1)
    ends = np.apply_along_axis(hdi, -1, draws, 0.95)
    estimate = point_estimate(annotations, settings.threshold)
    dims = ("metric", "reliability", "model")
    table = xr.Dataset(
        {
            "score": (dims, draws.mean(axis=-1)),
            "lower": (dims, ends[..., 0]),
            "upper": (dims, ends[..., 1]),
            "ordinary": (("metric", "model"), np.stack([_ordinary(m, estimate, predictions) for m in names])),
        },
        coords={"metric": names, "reliability": list(settings.reliability), "model": predictions.models},
    )
    if "variance" in tree:
        parts = tree["variance"].to_dataset().to_dataarray("metric").transpose("part", *dims)
        table["annotation_share"] = parts.sel(part="annotation", drop=True) / parts.sel(part="total", drop=True)
    comparison = {m: _best_first(compare(tree, metric=m, reliability=settings.reference)) for m in names}
    return Scores(table, comparison), tree["certainty"].to_dataset()["annotation_certainty"]


def point_estimate(annotations: Annotations, threshold: float | None) -> xr.DataArray:
    """Return the single truth of ordinary metrics: majority vote, inverse rank normalisation or mean rating."""
    if isinstance(annotations, Labels):
        return majority_vote(annotations)
    if isinstance(annotations, Rankings):
        return irn(annotations)
    if threshold is None:
        raise InputError("ratings have no labels; pass threshold=c to ask whether the mean is below c or not")
    n = np.bincount(annotations.item_index, minlength=annotations.items.size)
    total = np.bincount(annotations.item_index, annotations.rating, annotations.items.size)
    above = np.where(n > 0, total / np.maximum(n, 1) >= threshold, 0.5)
    coords = {"item": annotations.items, "category": THRESHOLD_LABELS}
    return xr.DataArray(np.stack([1 - above, above], axis=1), coords, ("item", "category"), "mean_rating")


def _best_first(comparison: xr.Dataset) -> xr.Dataset:
    order = np.argsort(-comparison["score"].values, kind="stable")
    return comparison.isel(model=order, other_model=order)


def _ordinary(name: str, estimate: xr.DataArray, predictions: Predictions) -> Any:
    """Score the models against the point estimate, shape (model,); labels tied on top share the point of top-k."""
    metric = RankMetric.named(name)
    if metric.record.one_true_label:
        return top_k_accuracy(estimate, predictions, k=metric.k).values.ravel()
    return per_item(estimate, predictions, metric=metric.name).mean("item").values
