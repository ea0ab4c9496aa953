"""What stands beside the scores: annotators and their groups, further votes, how well chains mixed."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree.agreement.annotator_effects import annotator_levels
from bayesagree.agreement.coefficients import agreement_table
from bayesagree.agreement.details import Detail
from bayesagree.annotations import Annotations, Labels, Rankings, Ratings
from bayesagree.annotations.groups import Groups
from bayesagree.errors import InputError
from bayesagree.planning._decision import Decision, Outlook
from bayesagree.plausibility.normal_inverse_gamma.posterior import normal_inverse_gamma
from bayesagree.report.settings import Case
from bayesagree.subjective.group_model import group_posterior, group_summary
from bayesagree.subjective.tables import as_labels

# Items listed to label next.
_NEXT = 15
# Annotators whose pairs are shown.
MOST_PEOPLE = 20


@dataclass(frozen=True, eq=False)
class FurtherVotes:
    """What further votes do for the choice between the two best models.

    Attributes
    ----------
    models
        The best and the next by the votes alone.
    table
        Columns votes and prob_right of `value_of_votes`, at none, a tenth, half and all of the items where they differ.
    items
        The items of the first votes, columns item and gain of `annotate_next`.
    """

    models: tuple[str, str]
    table: pd.DataFrame
    items: pd.DataFrame


def further_votes(case: Case) -> FurtherVotes | None:
    """Compute what votes are worth; None unless labels meet two models that differ somewhere."""
    if case.models is None or case.models.models.size < 2 or not isinstance(case.annotations, Labels):
        return None
    chosen = case.settings
    how: Any = {"missing": chosen.missing, "random_seed": chosen.random_seed}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the evaluation has given them
        outlook = Outlook.of(case.annotations, case.models, chosen.plausibility, **how)
    decision = Decision.of(outlook, case.models.models)
    differ = decision.differ.size
    if differ == 0:
        return None
    steps = np.unique([0, -(-differ // 10), -(-differ // 2), differ])
    best, other = map(str, decision.models)
    table = decision.value_of_votes().loc[steps, ["votes", "prob_right"]]
    return FurtherVotes((best, other), table, decision.next_items(min(_NEXT, differ), case.settings.random_seed))


@dataclass(frozen=True, eq=False)
class GroupResults:
    """Groups of annotators and, with models, how well each is served.

    Attributes
    ----------
    by
        What the annotators are grouped by.
    composition
        Number of annotators, annotations and items of each group; index group.
    accuracy
        Posterior ``mean``, ``lower``, ``upper`` (HDI 0.95) of the accuracy (model, group), None without models.
    worst
        One row per model: group served worst, group served best, probability that it is so; None without models.
    """

    by: str
    composition: pd.DataFrame
    accuracy: xr.Dataset | None = None
    worst: pd.DataFrame | None = None


def group_results(case: Case, groups: Groups | None) -> GroupResults | None:
    """Compute who is in each group and how well each model serves it; None without groups.

    Raises
    ------
    InputError
        Rankings, which have no groups.
    """
    if groups is None:
        return None
    if isinstance(case.annotations, Rankings):
        raise InputError(
            "groups of annotators are compared on labels or ratings, not on rankings; leave out the groups"
        )
    labels, chosen = as_labels(case.annotations, case.settings.threshold), case.settings
    composition = groups.composition(labels)
    if case.models is None:
        return GroupResults(groups.by, composition)
    tree = group_posterior(
        labels, case.models, groups, draws=chosen.draws, chains=chosen.chains, random_seed=chosen.random_seed
    )
    accuracy = group_summary(tree)
    return GroupResults(groups.by, composition, accuracy, _worst(accuracy))


def _worst(accuracy: xr.Dataset) -> pd.DataFrame:
    """Name the two groups furthest apart for each model, with the probability of their order."""
    rows = []
    for model in accuracy["model"].values.tolist():
        mean = accuracy["mean"].sel(model=model).values
        low, high = (str(accuracy["group"].values[place]) for place in (np.argmin(mean), np.argmax(mean)))
        order = float(accuracy["prob_worse"].sel(model=model, group=low, other_group=high))
        rows.append({"model": model, "worst": low, "best": high, "probability": order})
    return pd.DataFrame(rows)


def people_of(annotations: Annotations, random_seed: int) -> dict[str, pd.DataFrame]:
    """Return tables of few annotators: agreement of each with the others, of each pair, levels of raters of numbers."""
    few = 2 < annotations.annotators.size <= MOST_PEOPLE
    if not few or isinstance(annotations, Rankings) or annotations.has_repeats:
        return {}
    details: dict[str, Detail] = {"annotators": "annotator", "annotator_pairs": "pair"}
    found = {name: agreement_table(annotations, by=by, random_seed=random_seed) for name, by in details.items()}
    if isinstance(annotations, Ratings):
        tree = normal_inverse_gamma(annotations, annotator_effects="shift", random_seed=random_seed)
        found |= {"levels": annotator_levels(tree)} if "annotator_shift" in tree["posterior"] else {}
    return {name: table for name, table in found.items() if len(table)}


def diagnostics(tree: xr.DataTree) -> dict[str, float]:
    """Return how well Markov chains mixed; exact engines draw independently and have nothing to diagnose."""
    if "diagnostics" not in tree:
        return {}
    stats = tree["diagnostics"].to_dataset()
    worst: dict[str, Callable[[Any], Any]] = {"r_hat": np.nanmax, "ess": np.nanmin}
    known = {
        name: stats[name].values for name in worst if name in stats and np.isfinite(stats[name].values).any()
    }
    return {name: float(worst[name](values)) for name, values in known.items()}
