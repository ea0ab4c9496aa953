"""Scores of the models across reliabilities or targets, and the plug-in metric beside them."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import Advance, Named
from bayesagree.annotations import Rankings
from bayesagree.annotations.predictions import Predictions
from bayesagree.evaluation.comparison import compare
from bayesagree.evaluation.scoring import evaluate, scores_another_annotator
from bayesagree.evaluation.tables import score_intervals
from bayesagree.inference.results import settings_of
from bayesagree.metrics.posterior_scores import score
from bayesagree.report.kinds import kind_of
from bayesagree.report.settings import Case, ReportSettings


@dataclass(frozen=True, eq=False)
class ModelScores:
    """Scores of the models, and of another annotator where `evaluate` scores one.

    Attributes
    ----------
    table
        ``score``, ``lower``, ``upper`` (HDI 0.95), dims (metric, reliability, model).
    labels_only
        Where predictions inform the truth: the same under the posterior from annotations alone. Else None.
    plug_in
        The metric against one point estimate of the truth, dims (metric, model).
    ranking
        Metric to the result of `compare` at the reference reliability.
    made
        Settings of the evaluation.
    """

    table: xr.Dataset
    labels_only: xr.Dataset | None
    plug_in: xr.DataArray
    ranking: dict[str, pd.DataFrame]
    made: Named

    def first_at(self) -> dict[float, str]:
        """Return the best model by the first metric at each reliability."""
        found = self._first(self.table["score"])
        return dict(zip(found["reliability"].values.tolist(), found.values.tolist()))

    def first_by_plug_in(self) -> str:
        """Return the best model by the first plug-in metric, of equal ones that of the ranking."""
        return self._first(self.plug_in).item()

    def _first(self, scores: xr.DataArray) -> xr.DataArray:
        ranking = next(iter(self.ranking.values()))
        found = scores.isel(metric=0).sel(model=ranking.index)
        best = ranking.attrs.get("best")
        sign = 1 if ranking.attrs["higher_is_better"] else -1
        return (sign * found if best is None else -np.abs(found - best)).idxmax("model")


def model_scores(case: Case, progress: Advance) -> tuple[ModelScores, xr.DataTree]:
    """Score the models at every reliability; returns also the evaluation."""
    models: Any = case.models
    settings = case.settings
    metrics = settings.metrics
    options = settings.options(
        "plausibility", "reliability", "metrics", "draws", "chains", "random_seed", "items", "missing", "risk"
    )
    if settings.threshold is not None:
        options["threshold"] = settings.threshold
    if settings.record.specification.checks_chains:
        options["allow_unmixed"] = settings.allow_unmixed
    options["another_annotator"] = scores_another_annotator(settings.record.specification, metrics)
    tree = evaluate(case.annotations, models, progress=progress, **options)
    ranked = tree.sel(model=models.models)
    ranking = {m: compare(ranked, m, reliability=settings.reliability[0]) for m in metrics}
    alone = score_intervals(tree, group="annotations_only") if "annotations_only" in tree else None
    plug_in = _plug_in(case.annotations, models, settings)
    return ModelScores(score_intervals(tree), alone, plug_in, ranking, settings_of(tree)), tree


def _plug_in(annotations: Any, models: Predictions, settings: ReportSettings) -> xr.DataArray:
    """Score the models against the point estimate of the truth."""
    shown = models
    if settings.record.specification.takes_predictions:  # items without votes have no majority
        if not isinstance(annotations, Rankings):
            annotations = annotations.select(np.ones(annotations.item_index.size, bool))
        shown = models.on_items(annotations.items).aligned(annotations.items, models.categories)
    limit = settings.threshold if models.numbers is None else None
    estimate = kind_of(annotations).point_estimate(annotations, limit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the page says that it is a plug-in
        parts = [score(estimate, shown, name, missing="wrong").values.ravel() for name in settings.metrics]
    coords = {"metric": list(settings.metrics), "model": models.models}
    return xr.DataArray(np.stack(parts), coords, ("metric", "model"))
