"""All numbers of a report: computed here, written by `bayesagree.report.page`."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree.annotations import Annotations, Comparisons, Rankings
from bayesagree.annotations.annotators import Annotators
from bayesagree.annotations.gold import Gold
from bayesagree.annotations.groups import Groups
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.evaluation.tables import OPEN, given_notes, prior_notes
from bayesagree.findings.table import audit
from bayesagree.inference.posterior import Request
from bayesagree.inference.results import settings_of
from bayesagree.plausibility.certainty import label_certainty
from bayesagree.plausibility.dawid_skene._results import choice_notes, require_mixed
from bayesagree.report.beside import (
    FurtherVotes,
    GroupResults,
    diagnostics,
    further_votes,
    group_results,
    people_of,
)
from bayesagree.report.scores import GoldScores, ModelScores, gold_scores, model_scores
from bayesagree.report.settings import Case, ReportSettings, ReportSource
from bayesagree.subjective.specification import EvaluationSpecification, SpecificationReport

if TYPE_CHECKING:
    from bayesagree.report.comparisons import ComparisonReport

# Plausibilities of the draws that models are scored on are kept whole up to this size.
MAX_BYTES = 2**30


# Labels shown of each item.
CANDIDATES = 4


class OpenItem(NamedTuple):
    """One item.

    Attributes
    ----------
    item
        Its name.
    certainty
        Annotation certainty.
    n_annotations
        Number of annotations.
    given
        The annotations as lines of text: one for each ranking, else one for all.
    candidates
        Pairs (label, probability that it is the most plausible one), best first.
    predicted
        Pairs (label, the models that predict it).
    """

    item: str
    certainty: float
    n_annotations: int
    given: tuple[str, ...]
    candidates: tuple[tuple[str, float], ...]
    predicted: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, eq=False)
class ReportData:
    """All numbers of a report.

    Attributes
    ----------
    source, settings, version
        Where the annotations are from, how the numbers were made, and by which version of the package.
    annotations
        The annotations themselves; where predictions inform the truth, on all predicted items.
    agreement
        Rows as `agreement_table` gives them.
    certainty
        Annotation certainty, dims (reliability, item).
    open_items
        The least certain items.
    findings
        Rows of `audit`.
    scores
        None without models.
    groups, specification
        None where they were not requested.
    gold
        Scores against gold; None without gold or models.
    further_votes
        What further votes do for the choice between the two best models; None without two models that differ.
    people
        Tables of `people_of`.
    diagnostics
        Worst split r-hat and smallest effective sample size over the items; empty for independent draws.
    choice, given
        Why the posterior was chosen; what was done with missing predictions and the like.
    warnings
        Warnings of the computations.
    """

    source: ReportSource
    settings: ReportSettings
    annotations: Annotations
    agreement: pd.DataFrame
    findings: pd.DataFrame
    certainty: xr.DataArray
    open_items: tuple[OpenItem, ...]
    scores: ModelScores | None
    groups: GroupResults | None
    specification: SpecificationReport | None
    gold: GoldScores | None = None
    further_votes: FurtherVotes | None = None
    people: dict[str, pd.DataFrame] = field(default_factory=dict)
    diagnostics: dict[str, float] = field(default_factory=dict)
    choice: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    version: str = field(default_factory=lambda: version("bayesagree"))

    @property
    def is_open(self) -> NDArray[np.bool_]:
        """Which items the annotations leave open, at the reference reliability."""
        return self.certainty.isel(reliability=0).values < OPEN


def report_data(
    annotations: Annotations | Comparisons,
    predictions: Predictions | None = None,
    *,
    source: ReportSource | None = None,
    groups: Groups | None = None,
    annotators: Annotators | None = None,
    gold: Gold | None = None,
    specification: EvaluationSpecification | None = None,
    progress: Callable[[int], None] = lambda items: None,
    **settings: Any,
) -> "ReportData | ComparisonReport":
    """Compute everything that a report shows.

    Parameters
    ----------
    annotations
        `Labels`, `Rankings`, `Ratings` (which need a ``threshold``) or `Comparisons` of models.
    predictions
        Models on the same items and labels; without them the report is about the annotations alone.
    source
        Name and origin of the annotations.
    groups
        Groups of annotators.
    gold
        The true label of some items, as in `evaluate`: models are scored against it too.
    annotators, specification
        Features of the annotators and what was declared about the evaluation; both or neither.
    progress
        Called with the number of items done.
    settings
        As in `evaluate`: plausibility, metrics, draws, chains, random_seed, items, missing, allow_unmixed; reliability,
        several weights of an annotation, of which the first leads; threshold: is the mean rating below it or not;
        least_certain, how many items to list. What is left out is chosen to fit. Of comparisons those of `davidson`.

    Raises
    ------
    InputError
        As `evaluate`; ratings without a threshold; a specification without annotators.

    Examples
    --------
    >>> from bayesagree.datasets.simulate import labelled_test_set
    >>> test_set = labelled_test_set(n_items=40, random_seed=1)
    >>> data = report_data(test_set.labels, test_set.predictions, draws=100)
    >>> list(data.scores.comparison), len(data.open_items)
    (['accuracy'], 40)
    """
    if isinstance(annotations, Comparisons):
        from bayesagree.report.comparisons import comparison_report

        return comparison_report(annotations, source=source, **settings)
    case = Case.of(annotations, predictions, ReportSettings(**settings))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        # The evaluation draws what is learnt from predictions, and says all that is shown of it.
        tree: Any = None if case.learns_from_models else _posterior(case, case.settings.reference)
        scores, seen = (None, None) if case.models is None else model_scores(case, tree, progress)
        if tree is None:
            tree = seen
            by_label = tree["certainty"].to_dataset()["label_certainty"]
        else:
            by_label = _label_certainty(case, tree)
        share = None if scores is None else scores.prior_share
        runs = predictions is not None and predictions.runs is not None
        pooled = ["Several runs of a model count as one prediction, their mean."] if runs else []
        return ReportData(
            source=source or ReportSource("annotations"),
            settings=case.settings,
            annotations=case.annotations,
            agreement=case.kind.agreement(case.annotations, case.settings.random_seed),
            findings=audit(
                annotations, predictions, people=annotators, gold=gold, random_seed=case.settings.random_seed
            ),
            certainty=_certainty(case, by_label, seen),
            open_items=open_items(case, by_label),
            scores=scores,
            groups=group_results(case, groups),
            specification=_specification(case, annotators, specification),
            gold=gold_scores(case, gold),
            further_votes=further_votes(case),
            people=people_of(case.annotations, case.settings.random_seed),
            diagnostics=diagnostics(tree),
            choice=tuple(choice_notes(settings_of(tree) | {"choice": case.settings.choice})),
            given=(*given_notes(annotations, predictions, case.settings.missing), *prior_notes(share), *pooled),
            warnings=tuple(dict.fromkeys(str(w.message) for w in caught)),
        )


def _posterior(case: Case, reliability: float) -> xr.DataTree:
    """Draw the posterior at one reliability, the best label of each draw; closed forms need no draws.

    Of chains that join all items, plausibilities are kept where they fit into memory: models are scored on them.
    """
    settings, chosen = case.settings, case.settings.record
    size = (1, 1) if chosen.closed_form else (settings.draws, settings.chains)
    numbers = case.annotations.items.size * case.annotations.categories.size * settings.draws * settings.chains
    whole = chosen.asks_threshold or (
        chosen.checks_chains and case.models is not None and 8 * numbers <= MAX_BYTES
    )
    request = Request(*size, settings.random_seed, top_labels=None if whole else 1)
    posterior: Any = chosen.specification.at(reliability)
    if chosen.takes_predictions:
        posterior = replace(posterior, predictions=case.models)
    tree = posterior.draw(case.annotations, request)
    if chosen.checks_chains and not settings.allow_unmixed:
        require_mixed(tree)
    return tree


def _label_certainty(case: Case, tree: xr.DataTree) -> xr.DataArray:
    return label_certainty(tree, threshold=case.settings.threshold, exact=case.settings.record.closed_form)


def _certainty(case: Case, reference: xr.DataArray, seen: xr.DataTree | None) -> xr.DataArray:
    """Return the annotation certainty at every reliability.

    That of the labels at the reference is known, and what was seen while scoring models is used for the others, but
    closed forms are better than that.
    """
    rows = [reference.max("category").values]
    for k, level in enumerate(case.settings.reliability[1:], 1):
        if seen is None or case.settings.record.closed_form:
            rows.append(_label_certainty(case, _posterior(case, level)).max("category").values)
        else:
            rows.append(seen["certainty"].to_dataset()["annotation_certainty"].isel(reliability=k).values)
    coords = {"reliability": list(case.settings.reliability), "item": case.annotations.items}
    return xr.DataArray(np.stack(rows), coords, ("reliability", "item"), "annotation_certainty")


def _specification(
    case: Case, annotators: Annotators | None, declared: EvaluationSpecification | None
) -> SpecificationReport | None:
    if declared is None:
        return None
    if annotators is None or isinstance(case.annotations, Rankings):
        raise InputError(
            "a specification is compared with labels or ratings and the features of their annotators"
        )
    return declared.check(case.annotations, annotators)


def open_items(case: Case, certainty: xr.DataArray) -> tuple[OpenItem, ...]:
    """List the least certain items, least certain first.

    Parameters
    ----------
    case
        The annotations and models.
    certainty
        `label_certainty` of the posterior, dims (item, category).
    """
    annotations, predictions = case.annotations, case.models
    probability = certainty.transpose("item", "category").values
    at = np.argsort(probability.max(axis=1), kind="stable")[: case.settings.least_certain]
    labels = np.asarray(certainty["category"])
    rows = []
    for i in at:
        best = np.argsort(-probability[i], kind="stable")[:CANDIDATES]
        candidates = tuple((str(labels[k]), float(probability[i, k])) for k in best if probability[i, k] > 0)
        given, n = case.kind.lines(annotations, int(i))
        predicted = () if predictions is None else _predicted(predictions, i)
        rows.append(OpenItem(str(annotations.items[i]), candidates[0][1], n, given, candidates, predicted))
    return tuple(rows)


def _predicted(predictions: Predictions, item: int) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if predictions.numbers is None:
        hard = predictions.hard_labels()[:, item]
        shown = ["no label" if k < 0 else str(predictions.categories[k]) for k in hard]
    else:
        shown = [f"{point:.3g}" for point in predictions.points()[:, item]]
    models_of: dict[str, list[str]] = {}
    for model, text in zip(predictions.models, shown):
        models_of.setdefault(text, []).append(str(model))
    return tuple((label, tuple(models)) for label, models in models_of.items())
