"""All numbers of a report: computed here, written by `bayesagree.report.page`."""

import warnings
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import Advance, Array, Booleans, Named, silent
from bayesagree.agreement.coefficients import agreement_table
from bayesagree.annotations import Annotations, Comparisons, Rankings
from bayesagree.annotations.annotators import Annotators
from bayesagree.annotations.gold import Gold
from bayesagree.annotations.groups import Groups
from bayesagree.annotations.predictions import Predictions
from bayesagree.comparisons.posterior import davidson
from bayesagree.comparisons.tables import effect_table, preference_table
from bayesagree.errors import InputError
from bayesagree.evaluation.scoring import evaluate
from bayesagree.evaluation.tables import OPEN, given_notes, prior_notes
from bayesagree.findings.table import audit
from bayesagree.inference.posterior import Request
from bayesagree.inference.results import settings_of
from bayesagree.planning._pairs import of_pairs
from bayesagree.plausibility.certainty import label_certainty
from bayesagree.plausibility.dawid_skene._results import choice_notes, require_mixed
from bayesagree.report.beside import GroupResults, diagnostics, further_votes, group_results, people_of
from bayesagree.report.kinds import kind_of
from bayesagree.report.scores import ModelScores, model_scores
from bayesagree.report.settings import Case, ReportSettings, ReportSource
from bayesagree.subjective.specification import EvaluationSpecification, SpecificationReport

# Labels shown of each item, and pairs for the next comparison.
CANDIDATES, NEXT = 4, 5


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
        Label to the models that predict it.
    """

    item: str
    certainty: float
    n_annotations: int
    given: tuple[str, ...]
    candidates: tuple[tuple[str, float], ...]
    predicted: dict[str, list[str]]


@dataclass(frozen=True, eq=False, kw_only=True)
class AnyReport:
    """What reports of annotations and of comparisons share.

    Attributes
    ----------
    source, version
        Where the annotations are from, and which version of the package made the numbers.
    annotations
        The annotations themselves; where predictions inform the truth, on all predicted items; of comparisons what
        annotators say of each pair.
    agreement, findings
        Rows as `agreement_table` and `audit` give them.
    people
        Tables of `people_of`.
    diagnostics
        Worst split r-hat and smallest effective sample size over the items; empty for independent draws.
    warnings
        Warnings of the computations.
    """

    source: ReportSource
    annotations: Annotations
    agreement: pd.DataFrame
    findings: pd.DataFrame
    people: dict[str, pd.DataFrame]
    diagnostics: dict[str, float]
    warnings: tuple[str, ...] = ()
    version: str = field(default_factory=lambda: version("bayesagree"))


@dataclass(frozen=True, eq=False, kw_only=True)
class ReportData(AnyReport):
    """All numbers of a report of annotations.

    Attributes
    ----------
    settings
        How the numbers were made.
    certainty
        Annotation certainty, dims (reliability, item).
    open_items
        The least certain items.
    scores
        None without models.
    groups, specification
        None where they were not requested.
    gold
        The evaluation against gold; None without gold or models.
    further_votes
        What further votes do for the choice between the two best models; None without two models that differ.
    choice, given
        Why the posterior was chosen; what was done with missing predictions and the like.
    """

    settings: ReportSettings
    certainty: xr.DataArray
    open_items: tuple[OpenItem, ...]
    scores: ModelScores | None
    groups: GroupResults | None
    specification: SpecificationReport | None
    gold: xr.DataTree | None
    further_votes: pd.DataFrame | None
    choice: tuple[str, ...]
    given: tuple[str, ...]

    @property
    def is_open(self) -> Booleans:
        """Which items the annotations leave open, at the reference reliability."""
        return self.certainty.isel(reliability=0).values < OPEN


@dataclass(frozen=True, eq=False, kw_only=True)
class ComparisonReport(AnyReport):
    """All numbers of a report of comparisons.

    Attributes
    ----------
    comparisons, result
        Who won against whom, and the result of `davidson`.
    models, effects
        Rows as `preference_table`, as win rates, and `effect_table` give them.
    pairs, worth
        Pairs for the next comparison, and what more comparisons of the two best models show.
    """

    comparisons: Comparisons
    result: xr.DataTree
    models: pd.DataFrame
    effects: pd.DataFrame
    pairs: pd.DataFrame
    worth: pd.DataFrame


def report_data(
    annotations: Annotations | Comparisons,
    predictions: Predictions | None = None,
    *,
    source: ReportSource | None = None,
    groups: Groups | None = None,
    annotators: Annotators | None = None,
    gold: Gold | None = None,
    specification: EvaluationSpecification | None = None,
    progress: Advance = silent,
    random_seed: int = 1,
    **settings: Any,
) -> ReportData | ComparisonReport:
    """Compute everything that a report shows.

    Parameters
    ----------
    annotations
        `Labels`, `Rankings`, `Ratings` or `Comparisons` of models.
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
    random_seed
        Same seed, same numbers.
    settings
        As in `evaluate`: plausibility, metrics, draws, chains, items, missing, risk, allow_unmixed; reliability,
        several weights of an annotation, of which the first leads; threshold: is the mean rating below it (by default
        the middle of the scale) or not; least_certain, how many items to list. What is left out is chosen to fit. Of
        comparisons those of `davidson`.

    Raises
    ------
    InputError
        As `evaluate`; a specification without annotators.

    Examples
    --------
    >>> from bayesagree.datasets.simulate import labelled_test_set
    >>> test_set = labelled_test_set(n_items=40, random_seed=1)
    >>> data = report_data(test_set.labels, test_set.predictions, draws=100)
    >>> list(data.scores.ranking), len(data.open_items)
    (['accuracy'], 40)
    """
    kind = ComparisonReport if isinstance(annotations, Comparisons) else ReportData
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        if isinstance(annotations, Comparisons):
            parts = _compared(annotations, random_seed=random_seed, **settings)
        else:
            asked = ReportSettings(random_seed=random_seed, **settings)
            parts = _evaluated(annotations, predictions, gold, groups, asked, progress)
            parts["specification"] = None
            if specification is not None:
                if annotators is None or isinstance(annotations, Rankings):
                    raise InputError(
                        "a specification needs labels or ratings, and the features of their annotators"
                    )
                parts["specification"] = specification.check(annotations, annotators)
        given = parts["annotations"]
        parts |= {
            "source": source or ReportSource(type(annotations).__name__.lower()),
            "agreement": agreement_table(given, random_seed=random_seed),
            "findings": audit(annotations, predictions, people=annotators, gold=gold, random_seed=random_seed),
            "people": people_of(given, random_seed),
        }
    return kind(**parts, warnings=tuple(dict.fromkeys(str(w.message) for w in caught)))


def _compared(comparisons: Comparisons, *, random_seed: int, **settings: Any) -> Named:
    """Compute what is shown of comparisons alone."""
    result = davidson(comparisons, random_seed=random_seed, **settings)
    outlook = of_pairs(comparisons, result)
    return {
        "comparisons": comparisons,
        "result": result,
        # An annotator who compared a pair twice, such as in both orders, counts once.
        "annotations": comparisons.to_labels("first" if comparisons.annotators.size else "error"),
        "models": preference_table(result, scale="win_rate"),
        "effects": effect_table(result),
        "pairs": outlook.best_first(NEXT, "decision", random_seed),
        "worth": outlook.value(),
        "diagnostics": diagnostics(result),
    }


def _evaluated(
    annotations: Annotations,
    predictions: Predictions | None,
    gold: Gold | None,
    groups: Groups | None,
    settings: ReportSettings,
    progress: Advance,
) -> Named:
    """Compute what is shown of annotations alone."""
    case = Case.of(annotations, predictions, settings)
    settings, record = case.settings, case.settings.record
    scores = seen = against = None
    if case.models is not None:
        scores, seen = model_scores(case, progress)
        if gold is not None:
            shared = settings.options("metrics", "draws", "chains", "random_seed", "items", "missing")
            against = evaluate(case.annotations, case.models, gold=gold, **shared)
    if record.specification.takes_predictions and not record.specification.asks_threshold:
        trees: Any = [seen]  # the evaluation draws the labels that predictions inform
        found = [trees[0]["certainty/label_certainty"]]
    else:
        trees = [_posterior(case, level) for level in settings.reliability]
        exact = record.closed_form
        found = [label_certainty(tree, threshold=settings.threshold, exact=exact) for tree in trees]
    levels = {"reliability": [*settings.reliability], "item": case.annotations.items}
    highest = np.stack([one.max("category").values for one in found])
    notes = given_notes(annotations, predictions, settings.missing)
    notes += prior_notes(scores.made.get("prior_share") if scores is not None else None)
    if predictions is not None and predictions.runs is not None:
        notes.append("Several runs of a model count as one prediction, their mean.")
    return {
        "annotations": case.annotations,
        "settings": settings,
        "certainty": xr.DataArray(highest, levels, tuple(levels), "annotation_certainty"),
        "open_items": _open_items(case, found[0]),
        "scores": scores,
        "gold": against,
        "groups": None if groups is None else group_results(case, groups),
        "further_votes": further_votes(case),
        "choice": tuple(choice_notes(settings_of(trees[0]) | {"choice": settings.choice})),
        "given": tuple(notes),
        "diagnostics": diagnostics(trees[0]),
    }


def _posterior(case: Case, reliability: float) -> xr.DataTree:
    """Draw the posterior at one reliability, the best label of each draw; closed forms need no draws."""
    settings, record = case.settings, case.settings.record
    posterior = record.specification.at(reliability)
    if posterior.takes_predictions:
        posterior = replace(posterior, predictions=case.models)
    size = (1, 1) if record.closed_form else (settings.draws, settings.chains)
    top = None if posterior.asks_threshold else 1
    tree = posterior.draw(case.annotations, Request(*size, settings.random_seed, top_labels=top))
    if posterior.checks_chains and not settings.allow_unmixed:
        require_mixed(tree)
    return tree


def _open_items(case: Case, certainty: xr.DataArray) -> tuple[OpenItem, ...]:
    """List the least certain items, least certain first, by the certainty of each label."""
    annotations, models, settings = case
    probability = certainty.transpose("item", "category").values
    labels = certainty["category"].values.astype(str).tolist()
    rows = []
    said = np.empty((0, len(probability)), str) if models is None else _said(models)
    names = pd.Series([] if models is None else models.models.astype(str), dtype=object)
    for i in np.argsort(probability.max(axis=1), kind="stable")[: settings.least_certain].tolist():
        best = np.argsort(-probability[i], kind="stable")[:CANDIDATES]
        candidates = tuple((labels[k], float(probability[i, k])) for k in best if probability[i, k] > 0)
        predicted = names.groupby(said[:, i], sort=False).agg(list).to_dict()
        lines, n = kind_of(annotations).lines(annotations, i)
        rows.append(OpenItem(str(annotations.items[i]), candidates[0][1], n, lines, candidates, predicted))
    return tuple(rows)


def _said(models: Predictions) -> Array:
    """Return what each model predicts for each item, as text, shape (model, item)."""
    if models.numbers is not None:
        return np.vectorize("{:.3g}".format)(models.points())
    return np.append(models.categories.astype(str), "no label")[models.hard_labels()]  # -1: none
