"""What a report does that depends on the kind of annotations; `words.toml` has the words."""

from typing import Any

import numpy as np
import xarray as xr

from bayesagree.annotations import Annotations, Labels, Rankings, Ratings
from bayesagree.annotations.ratings import THRESHOLD_LABELS
from bayesagree.plausibility.prirn.inverse_ranks import irn
from bayesagree.plausibility.votes import shared_wins


def point_estimate(annotations: Annotations, threshold: float | None) -> xr.DataArray:
    """Return the single truth that plug-in metrics are computed against: the majority vote, and the like."""
    if isinstance(annotations, Ratings):
        return _mean_rating(annotations, threshold)
    return irn(annotations) if isinstance(annotations, Rankings) else shared_wins(annotations)


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


def lines_of(annotations: Annotations, item: int) -> tuple[tuple[str, ...], int]:
    """Return the annotations of an item as lines of text, one for each ranking, else one for all; and their number."""
    if isinstance(annotations, Rankings):
        found = annotations.of_item(item)
        return tuple(" > ".join(map(_block, ranking)) for ranking in found), len(found)
    rows = annotations.item_index == item
    if isinstance(annotations, Labels):
        n = np.bincount(annotations.label_index[rows], annotations.count[rows], annotations.categories.size)
        most = np.argsort(-n, kind="stable")[: (n > 0).sum()]
        said, number = [f"{annotations.categories[k]} ({n[k]:.0f})" for k in most], int(n.sum())
    else:
        said, number = [f"{value:g}" for value in np.sort(annotations.rating[rows])], int(rows.sum())
    return (", ".join(said),) if said else (), number


def _block(block: list[Any]) -> str:
    names = ", ".join(map(str, block))
    return names if len(block) == 1 else f"{{{names}}}"
