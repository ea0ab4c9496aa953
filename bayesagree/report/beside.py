"""What stands beside the scores: annotators and their groups, further votes, how well chains mixed."""

import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree.agreement.annotator_effects import annotator_levels
from bayesagree.agreement.coefficients import agreement_table
from bayesagree.annotations import Annotations, Labels, Rankings, Ratings
from bayesagree.annotations.groups import Groups
from bayesagree.errors import InputError
from bayesagree.planning._items import outlook_of
from bayesagree.plausibility.normal_inverse_gamma.posterior import normal_inverse_gamma
from bayesagree.report.settings import Case
from bayesagree.subjective.group_model import group_posterior, group_summary
from bayesagree.subjective.tables import as_labels

# Items listed to label next.
_NEXT = 15
# Annotators whose pairs are shown.
MOST_PEOPLE = 20


def further_votes(case: Case) -> pd.DataFrame | None:
    """Compute what votes are worth for the choice between the two best models by the votes alone.

    The result is that of `value_of_votes`; ``attrs["items"]`` names the items of the first votes. None unless labels
    meet two models that differ somewhere.
    """
    annotations, models, settings = case
    if models is None or models.models.size < 2 or not isinstance(annotations, Labels):
        return None
    how = settings.options("plausibility", "missing", "random_seed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the evaluation has given them
        outlook = outlook_of(annotations, models, **how)
    table = outlook.value()
    if len(table) == 1:  # they differ nowhere
        return None
    first = outlook.best_first(min(_NEXT, len(table) - 1), "decision", settings.random_seed)
    table.attrs["items"] = first["item"].tolist()
    return table


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
        Result of `group_summary`; None without models.
    """

    by: str
    composition: pd.DataFrame
    accuracy: xr.Dataset | None


def group_results(case: Case, groups: Groups) -> GroupResults:
    """Compute who is in each group and how well each model serves it."""
    annotations, models, settings = case
    labels = as_labels(cast(Any, annotations), settings.threshold)
    accuracy = None
    if models is not None:
        how = settings.options("draws", "chains", "random_seed")
        accuracy = group_summary(group_posterior(labels, models, groups, **how))
    return GroupResults(groups.by, groups.composition(labels), accuracy)


def people_of(annotations: Annotations, random_seed: int) -> dict[str, pd.DataFrame]:
    """Return tables of few annotators: agreement of each with the others, of each pair, levels of raters of numbers."""
    few = 2 < annotations.annotators.size <= MOST_PEOPLE
    if not few or isinstance(annotations, Rankings) or annotations.has_repeats:
        return {}
    details: Any = {"annotators": "annotator", "annotator_pairs": "pair"}
    found = {name: agreement_table(annotations, by=by, random_seed=random_seed) for name, by in details.items()}
    if isinstance(annotations, Ratings):
        with suppress(InputError):  # too few ratings of each to know levels
            tree = normal_inverse_gamma(annotations, annotator_effects="shift", random_seed=random_seed)
            found["levels"] = annotator_levels(tree)
    return {name: table for name, table in found.items() if len(table)}


def diagnostics(tree: xr.DataTree) -> dict[str, float]:
    """Return how well Markov chains mixed; exact engines draw independently and have nothing to diagnose."""
    if "diagnostics" not in tree:
        return {}
    stats = tree["diagnostics"].to_dataset()
    worst = {"r_hat": np.nanmax, "ess": np.nanmin}
    known = {name: stats[name].values for name in worst if name in stats}
    return {name: float(worst[name](v)) for name, v in known.items() if np.isfinite(v).any()}
