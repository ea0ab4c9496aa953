"""Scores of the models across reliabilities or targets, the plug-in metric beside them, and who is better."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree.annotations.gold import Gold
from bayesagree.annotations.missing_predictions import predictions_of
from bayesagree.annotations.predictions import Predictions
from bayesagree.evaluation.comparison import compare, pairwise
from bayesagree.evaluation.gold import gold_notes
from bayesagree.evaluation.scoring import evaluate
from bayesagree.evaluation.tables import score_intervals
from bayesagree.inference.results import settings_of
from bayesagree.metrics._checks import has_one_label
from bayesagree.metrics._scorer import ANOTHER_ANNOTATOR
from bayesagree.metrics.posterior_scores import score
from bayesagree.metrics.registry import Metric
from bayesagree.report.settings import Case

# Draws per chain for the score of another annotator: four chains of them give its mean to a twentieth of its sd.
_CEILING_DRAWS = 100


@dataclass(frozen=True, eq=False)
class ModelScores:
    """Scores and comparisons of the models.

    Attributes
    ----------
    table
        ``score``, ``lower``, ``upper`` (HDI 0.95), dims (metric, reliability, model); ``plug_in`` (metric, model):
        the metric against one point estimate of the truth.
    ranking, comparison
        Metric to the results of `compare` and of `pairwise` at the reference reliability.
    target
        The meaning of the scores, as `evaluate` names it.
    labels_only
        Where predictions inform the truth: scores as in the table, under the posterior from annotations alone. Else
        None.
    left_out
        Models that do not inform that truth: they may have been trained on the annotations.
    prior_share
        Mean weight of the prior in an item at the reference reliability; None where there is no such number.
    ceiling
        Scores of another annotator as in the table, and as in `labels_only`: the best score of anybody who gives one
        label. Without the metrics that one label has no value of; None without any.
    """

    table: xr.Dataset
    ranking: dict[str, pd.DataFrame]
    comparison: dict[str, xr.Dataset]
    target: str
    labels_only: xr.Dataset | None
    left_out: list[str]
    prior_share: float | None
    ceiling: tuple[xr.Dataset, xr.Dataset | None] | None

    def ceiling_of(self, metric: str) -> tuple[xr.Dataset, xr.Dataset | None] | None:
        """Return the scores of another annotator by one metric; None where it has no value of one label."""
        if self.ceiling is None or metric not in self.ceiling[0]["metric"]:
            return None
        where: Any = {"metric": metric, "model": ANOTHER_ANNOTATOR}
        first, alone = self.ceiling
        return first.sel(where), None if alone is None else alone.sel(where)


def model_scores(
    case: Case, truth: xr.DataTree | None, progress: Callable[[int], None]
) -> tuple[ModelScores, xr.DataTree]:
    """Score the models at every reliability; returns also the evaluation.

    `truth` is the posterior at the reference, where it was drawn before: chains that join all items, if it keeps
    plausibilities, run once.
    """
    annotations, models, settings = case.annotations, case.models, case.settings
    if models is None:
        raise ValueError("there are no models to score")
    record, options = settings.record, settings.options()
    if record.checks_chains and truth is not None and "plausibility" in truth["posterior"]:
        del options["allow_unmixed"]
        options["plausibility"] = truth
    of_one_label = [m for m in settings.metrics if not record.asks_threshold and has_one_label(Metric.named(m))]
    # Where all plausibilities make other draws than the best labels alone, models are scored as `evaluate` scores them.
    joint = (
        len(of_one_label) == len(settings.metrics) and not record.closed_form and record.name != "plackett_luce"
    )
    how: Any = {"metrics": settings.metrics, "draws": settings.draws, "another_annotator": joint} | options
    tree = evaluate(annotations, models, progress=progress, **how)
    lines = tree if joint else None
    if of_one_label and not joint:
        lines = _another_annotator(case, of_one_label, options)
    tree = tree.sel(model=models.models)
    table = score_intervals(tree)
    names, shown = table["metric"].values.tolist(), models
    known = case.voted if record.takes_predictions else annotations  # items without votes have no majority
    estimate = case.kind.point_estimate(known, settings.threshold if models.numbers is None else None)
    if record.takes_predictions:
        shown = predictions_of(models, known.items)
    table["plug_in"] = (("metric", "model"), np.stack([_plug_in(m, estimate, shown) for m in names]))
    ranking = {m: compare(tree, m, reliability=settings.reference) for m in names}
    comparison = {m: pairwise(tree, m, reliability=settings.reference) for m in names}
    made, ceiling = settings_of(tree), None
    if lines is not None:
        line = lines.sel(model=[ANOTHER_ANNOTATOR])
        ceiling = score_intervals(line), _labels_only(line)
    informing = made.get("left_out", []), made.get("prior_share")
    return ModelScores(table, ranking, comparison, made["target"], _labels_only(tree), *informing, ceiling), tree


@dataclass(frozen=True, eq=False)
class GoldScores:
    """Scores against gold: ``score``, ``lower``, ``upper`` (metric, model), and how gold and the vote agree.

    `n_gold` items have it; `vote_agrees` is the share of them on which the majority vote is gold, None without votes;
    `contradiction` is the sentence that gold contradicts the annotators, where it does.
    """

    table: xr.Dataset
    n_gold: int
    vote_agrees: float | None
    contradiction: tuple[str, ...] = ()


def gold_scores(case: Case, gold: Gold | None) -> GoldScores | None:
    """Score the models against gold, with the posterior that learns from it; None without models or gold."""
    if gold is None or case.models is None:
        return None
    shared = ("metrics", "draws", "chains", "random_seed", "items", "missing")
    tree = evaluate(
        case.annotations, case.models, gold=gold, **{name: getattr(case.settings, name) for name in shared}
    )
    made = settings_of(tree)
    table, contradiction = score_intervals(tree).isel(reliability=0), tuple(gold_notes(made))
    return GoldScores(table, made["n_gold"], made.get("vote_agrees"), contradiction)


def _another_annotator(case: Case, metrics: list[str], options: dict[str, Any]) -> xr.DataTree:
    """Score another annotator, with few draws and beside one model, since all plausibilities are drawn for it."""
    models: Any = case.models
    rows = {name: getattr(models, name) for name in ("models", "scores", "label_index")}
    one = replace(models, **{name: values if values is None else values[:1] for name, values in rows.items()})
    draws = min(case.settings.draws, _CEILING_DRAWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the evaluation of the models has given them
        return evaluate(case.annotations, one, metrics=metrics, draws=draws, another_annotator=True, **options)


def _labels_only(tree: xr.DataTree) -> xr.Dataset | None:
    """Return the scores by the labels alone, where predictions inform those of the posterior."""
    return score_intervals(tree, group="annotations_only") if "annotations_only" in tree else None


def _plug_in(name: str, estimate: xr.DataArray, predictions: Predictions) -> Any:
    """Score the models against the point estimate, shape (model,)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the page says that it is a plug-in
        return score(estimate, predictions, name, missing="wrong").values.ravel()
