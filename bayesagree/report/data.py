"""Everything that a report says, as numbers: computed here, written by `bayesagree.report.page`."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree.agreement.coefficients import agreement_table
from bayesagree.agreement.leave_one_out import annotator_agreement
from bayesagree.annotations import Annotations, Rankings, Ratings
from bayesagree.annotations.annotators import Annotators
from bayesagree.certainty import label_certainty
from bayesagree.errors import InputError
from bayesagree.plausibility.normal_inverse_gamma.posterior import THRESHOLD_LABELS
from bayesagree.plausibility.registry import POSTERIORS, posterior_for
from bayesagree.predictions import Predictions
from bayesagree.report.groups import GroupResults, group_results
from bayesagree.report.items import OpenItem, open_items
from bayesagree.report.scores import Scores, model_scores
from bayesagree.report.settings import Settings
from bayesagree.subjective.groups import Groups
from bayesagree.subjective.specification import EvaluationSpecification, SpecificationReport
from bayesagree.subjective.specification_check import check_specification

OPEN = 0.95
"""Items whose annotation certainty is below this are called open."""


@dataclass(frozen=True)
class Source:
    """Where the annotations are from."""

    name: str
    title: str = ""
    licence: str = ""
    citation: str = ""


@dataclass(frozen=True, eq=False)
class ReportData:
    """Everything that a report says.

    Attributes
    ----------
    source, settings, version
        Where the annotations are from, how the numbers were made, and by which version of the package.
    annotations
        The annotations themselves.
    agreement
        Rows as `agreement_table` gives them.
    certainty
        Annotation certainty, dims (reliability, item).
    open_items
        The least certain items.
    scores
        None without models.
    groups, specification
        None where nobody asked for them.
    diagnostics
        Worst split r-hat and smallest effective sample size over the items; empty for independent draws.
    warnings
        What the computations warned of.
    """

    source: Source
    settings: Settings
    annotations: Annotations
    agreement: pd.DataFrame
    certainty: xr.DataArray
    open_items: tuple[OpenItem, ...]
    scores: Scores | None
    groups: GroupResults | None
    specification: SpecificationReport | None
    diagnostics: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    version: str = field(default_factory=lambda: version("bayesagree"))

    @property
    def open_share(self) -> float:
        """Share of items that the annotations leave open, at the reference reliability."""
        return float((self.certainty.isel(reliability=0) < OPEN).mean())


def report_data(
    annotations: Annotations,
    predictions: Predictions | None = None,
    *,
    settings: Settings | None = None,
    source: Source | None = None,
    groups: Groups | None = None,
    annotators: Annotators | None = None,
    specification: EvaluationSpecification | None = None,
    progress: Callable[[int], None] = lambda items: None,
) -> ReportData:
    """Compute everything that a report says.

    Parameters
    ----------
    annotations
        `Labels`, `Rankings` or `Ratings` (which need ``settings.threshold``).
    predictions
        Models on the same items and labels; without them the report is about the annotations alone.
    settings
        What is left empty in them is chosen to fit: the first plausibility for this kind of annotations, its
        reliabilities and metrics, see `Settings.fitting`.
    source
        Name and origin of the annotations.
    groups
        Groups of annotators.
    annotators, specification
        Features of the annotators and what was declared about the evaluation; both or neither.
    progress
        Called with the number of items done.

    Raises
    ------
    InputError
        As `evaluate`; ratings without a threshold; a specification without annotators.

    Examples
    --------
    >>> from bayesagree.simulate import labelled_test_set
    >>> test_set = labelled_test_set(n_items=40, seed=1)
    >>> data = report_data(test_set.labels, test_set.predictions, settings=Settings(draws=100))
    >>> list(data.scores.comparison), len(data.open_items)
    (['top_1_accuracy'], 40)
    """
    chosen = (settings or Settings()).fitting(annotations, predictions)
    labels = THRESHOLD_LABELS if isinstance(annotations, Ratings) else annotations.categories
    models = None if predictions is None else predictions.aligned(annotations.items, labels)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        tree = posterior(annotations, chosen, chosen.reference)
        sure = _label_certainty(tree, chosen)
        scores, seen = (None, None) if models is None else model_scores(annotations, models, chosen, progress)
        return ReportData(
            source=source or Source("annotations"),
            settings=chosen,
            annotations=annotations,
            agreement=_agreement(annotations, chosen.seed),
            certainty=_certainty(annotations, chosen, sure, seen),
            open_items=open_items(annotations, tree, sure, models, most=chosen.least_certain),
            scores=scores,
            groups=_groups(annotations, models, groups, chosen),
            specification=_specification(annotations, annotators, specification),
            diagnostics=_diagnostics(tree),
            warnings=tuple(dict.fromkeys(str(w.message) for w in caught)),
        )


def posterior(annotations: Annotations, settings: Settings, reliability: float) -> xr.DataTree:
    """Draw the posterior at one reliability, the best label of each draw; closed forms need no draws."""
    chosen = posterior_for(annotations, settings.plausibility)
    options: dict[str, Any] = {} if isinstance(annotations, Ratings) else {"top_labels": 1}
    if not chosen.learns_reliability:
        options["reliability"] = int(reliability) if float(reliability).is_integer() else reliability
    size = (1, 1) if POSTERIORS[settings.plausibility].closed_form else (settings.draws, settings.chains)
    return chosen.posterior(annotations, draws=size[0], chains=size[1], seed=settings.seed, **options)


def _label_certainty(tree: xr.DataTree, settings: Settings) -> xr.DataArray:
    return label_certainty(tree, threshold=settings.threshold, exact=POSTERIORS[settings.plausibility].closed_form)


def _certainty(
    annotations: Annotations, settings: Settings, reference: xr.DataArray, seen: xr.DataArray | None
) -> xr.DataArray:
    """Return the annotation certainty at every reliability.

    That of the labels at the reference is known, and what was seen while scoring models is used for the others, but
    closed forms are better than that.
    """
    rows = [reference.max("category").values]
    for k, level in enumerate(settings.reliability[1:], 1):
        if seen is None or POSTERIORS[settings.plausibility].closed_form:
            certainty = _label_certainty(posterior(annotations, settings, level), settings)
            rows.append(certainty.max("category").values)
        else:
            rows.append(seen.isel(reliability=k).values)
    coords = {"reliability": list(settings.reliability), "item": annotations.items}
    return xr.DataArray(np.stack(rows), coords, ("reliability", "item"), "annotation_certainty")


def _agreement(annotations: Annotations, seed: int) -> pd.DataFrame:
    if not isinstance(annotations, Rankings):
        level = "interval" if isinstance(annotations, Ratings) else "nominal"
        return agreement_table(annotations, level=level, seed=seed)
    values = annotator_agreement(annotations).dropna("item").values
    mean = float(values.mean()) if values.size else np.nan
    half = 1.96 * float(values.std(ddof=1)) / np.sqrt(values.size) if values.size > 1 else np.nan
    row = {"coefficient": "leave_one_out", "estimate": mean, "lower": mean - half, "upper": mean + half}
    size = {"n_items": values.size, "n_annotators": annotations.annotators.size or pd.NA}
    kind = {"ci_kind": "normal", "ci_prob": 0.95, "n_annotations": annotations.n_annotations}
    note = "" if values.size else "no item has two rankings"
    return pd.DataFrame([row | size | kind | {"note": note}])


def _groups(
    annotations: Annotations, predictions: Predictions | None, groups: Groups | None, settings: Settings
) -> GroupResults | None:
    if groups is None:
        return None
    return group_results(
        annotations, predictions, groups, threshold=settings.threshold, draws=settings.draws, chains=settings.chains,
        seed=settings.seed,
    )  # fmt: skip


def _specification(
    annotations: Annotations, annotators: Annotators | None, declared: EvaluationSpecification | None
) -> SpecificationReport | None:
    if declared is None:
        return None
    if annotators is None or isinstance(annotations, Rankings):
        raise InputError("a specification is compared with labels or ratings and the features of their annotators")
    return check_specification(declared, annotations, annotators)


def _diagnostics(tree: xr.DataTree) -> dict[str, float]:
    """Return how well Markov chains mixed; exact engines draw independently and have nothing to diagnose."""
    if "sample_stats" not in tree:
        return {}
    stats = tree["sample_stats"].to_dataset()
    worst: dict[str, Callable[[Any], Any]] = {"r_hat": np.nanmax, "ess": np.nanmin}
    known = {name: stats[name].values for name in worst if name in stats and np.isfinite(stats[name].values).any()}
    return {name: float(worst[name](values)) for name, values in known.items()}
