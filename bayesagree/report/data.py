"""All numbers of a report: computed here, written by `bayesagree.report.page`."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree.annotations import Annotations, Rankings
from bayesagree.annotations.annotators import Annotators
from bayesagree.annotations.gold import Gold
from bayesagree.annotations.groups import Groups
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.evaluation.tables import OPEN, given_notes
from bayesagree.inference.posterior import Request
from bayesagree.inference.results import concentration_of, settings_of
from bayesagree.inference.top_labels import plausibility_block
from bayesagree.plausibility.certainty import label_certainty
from bayesagree.plausibility.dawid_skene._results import choice_notes, require_mixed
from bayesagree.plausibility.plackett_luce.posterior import plackett_luce
from bayesagree.report.beside import (
    FurtherVotes,
    GroupResults,
    SetResults,
    further_votes,
    group_results,
    replacement_results,
    set_results,
)
from bayesagree.report.scores import GoldScores, ModelScores, gold_scores, model_scores
from bayesagree.report.settings import Case, ReportSettings
from bayesagree.subjective.specification import EvaluationSpecification, SpecificationReport

# Plausibilities of the draws that models are scored on are kept whole up to this size.
MAX_BYTES = 2**30


# Labels shown of each item.
CANDIDATES = 4
_ITEMS_AT_ONCE = 20


class Candidate(NamedTuple):
    """A label that may be the right one.

    Attributes
    ----------
    label
        Its name.
    probability
        Probability that it is the most plausible label of the item.
    plausibility
        Posterior mean of its plausibility: the expected share among ever more annotators. NaN for ratings.
    """

    label: str
    probability: float
    plausibility: float


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
        The most probable labels, best first.
    predicted
        Pairs (label, the models that predict it).
    """

    item: str
    certainty: float
    n_annotations: int
    given: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    predicted: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class ReportSource:
    """Where the annotations are from, and what was left out or chosen when they were read, in words."""

    name: str
    title: str = ""
    licence: str = ""
    citation: str = ""
    left_out: tuple[str, ...] = ()


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
    scores
        None without models.
    groups, specification
        None where they were not requested.
    sets
        Prediction sets; None without models, or where these give no probabilities.
    replacement
        Whether each model may replace an annotator; None unless some named annotators share enough items.
    gold
        Scores against gold; None without gold or models.
    further_votes
        What further votes do for the choice between the two best models; None without two models that differ.
    diagnostics
        Worst split r-hat and smallest effective sample size over the items; empty for independent draws.
    choice, given
        Why the posterior was chosen; what was done with missing predictions, equal models, unused labels, and items of
        one annotation.
    warnings
        Warnings of the computations.
    """

    source: ReportSource
    settings: ReportSettings
    annotations: Annotations
    agreement: pd.DataFrame
    certainty: xr.DataArray
    open_items: tuple[OpenItem, ...]
    scores: ModelScores | None
    groups: GroupResults | None
    specification: SpecificationReport | None
    gold: GoldScores | None = None
    sets: SetResults | None = None
    replacement: pd.DataFrame | None = None
    further_votes: FurtherVotes | None = None
    diagnostics: dict[str, float] = field(default_factory=dict)
    choice: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
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
    settings: ReportSettings | None = None,
    source: ReportSource | None = None,
    groups: Groups | None = None,
    annotators: Annotators | None = None,
    gold: Gold | None = None,
    specification: EvaluationSpecification | None = None,
    progress: Callable[[int], None] = lambda items: None,
) -> ReportData:
    """Compute everything that a report shows.

    Parameters
    ----------
    annotations
        `Labels`, `Rankings` or `Ratings` (which need ``settings.threshold``).
    predictions
        Models on the same items and labels; without them the report is about the annotations alone.
    settings
        What is left empty in them is chosen to fit: the first plausibility for this kind of annotations, its
        reliabilities and metrics, see `ReportSettings.fitting`.
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

    Raises
    ------
    InputError
        As `evaluate`; ratings without a threshold; a specification without annotators.

    Examples
    --------
    >>> from bayesagree.datasets.simulate import labelled_test_set
    >>> test_set = labelled_test_set(n_items=40, random_seed=1)
    >>> data = report_data(test_set.labels, test_set.predictions, settings=ReportSettings(draws=100))
    >>> list(data.scores.comparison), len(data.open_items)
    (['accuracy'], 40)
    """
    case = Case.of(annotations, predictions, settings or ReportSettings())
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
        return ReportData(
            source=source or ReportSource("annotations"),
            settings=case.settings,
            annotations=case.annotations,
            agreement=case.kind.agreement(case.annotations, case.settings.random_seed),
            certainty=_certainty(case, by_label, seen),
            open_items=open_items(case, tree, by_label),
            scores=scores,
            groups=group_results(case, groups),
            specification=_specification(case, annotators, specification),
            gold=gold_scores(case, gold),
            sets=set_results(case),
            replacement=replacement_results(case),
            further_votes=further_votes(case),
            diagnostics=_diagnostics(tree),
            choice=tuple(choice_notes(settings_of(tree) | {"choice": case.settings.choice})),
            given=tuple(given_notes(annotations, predictions, case.settings.missing)),
            warnings=tuple(dict.fromkeys(str(w.message) for w in caught)),
        )


def _posterior(case: Case, reliability: float) -> xr.DataTree:
    """Draw the posterior at one reliability, the best label of each draw; closed forms need no draws.

    Of chains that join all items, plausibilities are kept where they fit into memory: models are scored on them.
    """
    settings, chosen = case.settings, case.settings.record
    size = (1, 1) if chosen.closed_form else (settings.draws, settings.chains)
    numbers = case.annotations.items.size * case.annotations.categories.size * settings.draws * settings.chains
    whole = chosen.asks_threshold or (chosen.checks_chains and case.models is not None and 8 * numbers <= MAX_BYTES)
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
        raise InputError("a specification is compared with labels or ratings and the features of their annotators")
    return declared.check(case.annotations, annotators)


def _diagnostics(tree: xr.DataTree) -> dict[str, float]:
    """Return how well Markov chains mixed; exact engines draw independently and have nothing to diagnose."""
    if "diagnostics" not in tree:
        return {}
    stats = tree["diagnostics"].to_dataset()
    worst: dict[str, Callable[[Any], Any]] = {"r_hat": np.nanmax, "ess": np.nanmin}
    known = {name: stats[name].values for name in worst if name in stats and np.isfinite(stats[name].values).any()}
    return {name: float(worst[name](values)) for name, values in known.items()}


def open_items(case: Case, tree: xr.DataTree, certainty: xr.DataArray) -> tuple[OpenItem, ...]:
    """List the least certain items, least certain first.

    Parameters
    ----------
    case
        The annotations and models.
    tree
        The posterior of the annotations.
    certainty
        `label_certainty` of the tree, dims (item, category).
    """
    annotations, predictions = case.annotations, case.models
    probability = certainty.transpose("item", "category").values
    at = np.argsort(probability.max(axis=1), kind="stable")[: case.settings.least_certain]
    labels = np.asarray(certainty["category"])
    plausibility = _mean_plausibility(annotations, tree, at, labels.size)
    rows = []
    for row, i in enumerate(at):
        best = np.argsort(-probability[i], kind="stable")[:CANDIDATES]
        shown = [k for k in best if probability[i, k] > 0]
        candidates = [
            Candidate(str(labels[k]), float(probability[i, k]), float(plausibility[row, k])) for k in shown
        ]
        given, n = case.kind.lines(annotations, int(i))
        predicted = () if predictions is None else _predicted(predictions, i)
        name, certain = str(annotations.items[i]), candidates[0].probability
        rows.append(OpenItem(name, certain, n, given, tuple(candidates), predicted))
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


def _mean_plausibility(
    annotations: Annotations, tree: xr.DataTree, at: NDArray[np.intp], n_labels: int
) -> NDArray[np.float64]:
    """Return the posterior mean of the plausibilities of some items, shape (item, category)."""
    if (concentration := concentration_of(tree)) is not None:
        shape = concentration.values[at]
        return shape / shape.sum(axis=1, keepdims=True)
    if "plausibility" in tree["posterior"]:
        means = [plausibility_block(tree, slice(i, i + 1)).mean(axis=(0, 1)) for i in at]
        return np.concatenate([np.empty((0, n_labels)), *means])
    if "derived" in tree:
        return tree["derived"]["label_probability"].transpose("item", "category").values[at]
    if isinstance(annotations, Rankings):
        return _plackett_luce_means(annotations, tree, at)
    return np.full((at.size, n_labels), np.nan)


def _plackett_luce_means(rankings: Rankings, tree: xr.DataTree, at: NDArray[np.intp]) -> NDArray[np.float64]:
    """Draw plausibilities of these items from rankings alone: the posterior of all items keeps the best labels only."""
    means = []
    for start in range(0, at.size, _ITEMS_AT_ONCE):
        cases = [rankings.of_item(int(i)) for i in at[start : start + _ITEMS_AT_ONCE]]
        few = Rankings.from_blocks(cases, labels=rankings.categories.tolist())
        times = int(settings_of(tree).get("reliability", 1))
        drawn = plackett_luce(few, reliability=times, draws=250, random_seed=start)
        means.append(
            drawn["posterior"]["plausibility"].mean(("chain", "draw")).transpose("item", "category").values
        )
    return np.concatenate(means)
