"""Facts of a report that depend on the kind of annotations, one record for each kind."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bayesagree.annotations import Annotations, Labels, Rankings, Ratings
from bayesagree.annotations.ratings import THRESHOLD_LABELS
from bayesagree.plausibility.prirn.inverse_ranks import irn
from bayesagree.plausibility.votes import shared_wins
from bayesagree.report.wording import CHECCO, KRIPPENDORFF, RUBIN

# Annotations of an item as lines of text, and their number.
Lines = tuple[tuple[str, ...], int]


@dataclass(frozen=True)
class AnnotationKind:
    """Facts about one kind of annotations.

    Attributes
    ----------
    title
        Name for readers.
    point_estimate, point_estimate_name
        Single truth that plug-in metrics are computed against, from the annotations and a threshold; its name.
    coefficient, coefficient_name, scale
        The coefficient of the first screen, its name, and what its values mean.
    method
        Sentence of the methods section about agreement.
    lines
        Annotations of the item at a position.
    """

    title: str
    point_estimate: Callable[[Any, float | None], xr.DataArray]
    point_estimate_name: str
    coefficient: str
    coefficient_name: str
    scale: str
    method: str
    lines: Callable[[Any, int], Lines]


def kind_of(annotations: Annotations) -> AnnotationKind:
    """Return the record of the annotations' kind."""
    return _KINDS[annotations.kind]


def _mean_rating(ratings: Ratings, threshold: Any) -> xr.DataArray:
    """Return the mean rating of each item, or the side of a threshold on which it is; one half without ratings."""
    size = ratings.items.size
    n = np.bincount(ratings.item_index, minlength=size)
    total = np.bincount(ratings.item_index, ratings.rating, size)
    if threshold is None:
        return xr.DataArray(total / n, {"item": ratings.items}, ("item",), "mean_rating")
    above = np.where(n > 0, total / np.maximum(n, 1) >= threshold, 0.5)
    coords = {"item": ratings.items, "category": THRESHOLD_LABELS}
    return xr.DataArray(np.stack([1 - above, above], axis=1), coords, ("item", "category"), "mean_rating")


def _labels_of(labels: Labels, item: int) -> Lines:
    votes: Counter[str] = Counter()
    for row in np.flatnonzero(labels.item_index == item):
        votes[str(labels.categories[labels.label_index[row]])] += int(labels.count[row])
    return (", ".join(f"{name} ({n})" for name, n in votes.most_common()),) if votes else (), votes.total()


def _ratings_of(ratings: Ratings, item: int) -> Lines:
    values = np.sort(ratings.rating[ratings.item_index == item])
    return (", ".join(f"{value:g}" for value in values),) if values.size else (), values.size


def _rankings_of(rankings: Rankings, item: int) -> Lines:
    found = rankings.of_item(item)
    return tuple(" > ".join(map(_block, ranking)) for ranking in found), len(found)


def _block(block: list[Any]) -> str:
    names = ", ".join(map(str, block))
    return names if len(block) == 1 else f"{{{names}}}"


_SCALE = "0 is the agreement of chance, 1 is perfect agreement"
_BOOTSTRAP = (
    f"among them Krippendorff's alpha ({KRIPPENDORFF.key}), have the shortest 95 % intervals of a Bayesian bootstrap "
    f"over items ({RUBIN.key}) with two pseudo-items."
)
_KINDS = {
    "labels": AnnotationKind(
        title="single labels",
        point_estimate=lambda labels, threshold: shared_wins(labels),
        point_estimate_name="the majority vote",
        coefficient="alpha_nominal",
        coefficient_name="Krippendorff's alpha.",
        scale=f"{_SCALE}.",
        method=f"Agreement: the chance-corrected coefficients, {_BOOTSTRAP}",
        lines=_labels_of,
    ),
    "ratings": AnnotationKind(
        title="ratings",
        point_estimate=_mean_rating,
        point_estimate_name="the mean rating",
        coefficient="phi",
        coefficient_name="Common agreement Phi.",
        scale=f"{_SCALE}, -1 is two camps.",
        method=f"Agreement: Phi ({CHECCO.key}) has a 95 % highest density interval; the chance-corrected coefficients, "
        f"{_BOOTSTRAP}",
        lines=_ratings_of,
    ),
    "rankings": AnnotationKind(
        title="partial rankings",
        point_estimate=lambda rankings, threshold: irn(rankings),
        point_estimate_name="the averaged ranking",
        coefficient="tau_b",
        coefficient_name="Kendall's tau-b of two annotators.",
        scale=f"{_SCALE}.",
        method="Agreement: the mean tau-b of two annotators of an item, and the other coefficients, have the shortest "
        f"95 % intervals of a Bayesian bootstrap over items ({RUBIN.key}) with two pseudo-items.",
        lines=_rankings_of,
    ),
}
