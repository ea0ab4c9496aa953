"""How often each annotator disagrees with the majority: the average disagreement rate (ADR).

ADR_j is the share of j's labels that differ from the majority vote of their items. It finds people who think alike,
and people who think unlike most, without asking who they are.

Source: Balayn and Bozzon, "Designing evaluations of machine learning models for subjective inference" (2019).
"""

from collections.abc import Hashable, Iterable
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import Booleans
from bayesagree.annotations import Labels, Ratings
from bayesagree.errors import InputError, as_python, one_of, refuse, shorten, warn
from bayesagree.io.doors import as_annotations
from bayesagree.metrics.concordant_pairs import ratio

# What annotators answer.
Answers = Labels | Ratings


def disagreement_rate(
    labels: Labels,
    *,
    ties: Literal["full", "exclude"] = "full",
    own_vote: bool = True,
    items: Iterable[Any] | None = None,
) -> xr.DataArray:
    """Compute the share of each annotator's labels that differ from the majority vote of their items.

    Parameters
    ----------
    labels
        One label per (item, annotator); turn ratings into labels with `recode`.
    ties
        An item with several modes, of the votes that count: a label that is one of them agrees (``"full"``), or the
        item does not count (``"exclude"``).
    own_vote
        Whether the majority includes the annotator's own label, as in the paper. Without it the rate is not biased
        towards agreement on items with few labels.
    items
        Names of the items that count, by default all. A rate from the very labels that a model is scored on sorts
        annotators by chance too: whoever happened to miss the majority is then served worse by construction. Take the
        rate from some items and score the model on the others (`without_items`).

    Returns
    -------
    DataArray
        Rates in [0, 1], dim annotator.

    Raises
    ------
    InputError
        Labels without annotators, repeated (item, annotator) pairs, or an item that does not exist.

    Warns
    -----
    UserWarning
        Annotators none of whose items counts: their rate is NaN.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "b"]], annotators=["x", "y", "z"])
    >>> disagreement_rate(votes).values.tolist()
    [0.0, 0.0, 0.5]
    >>> disagreement_rate(votes, items=[0]).values.tolist()
    [0.0, 0.0, 1.0]

    References
    ----------
    Balayn and Bozzon, section "Illustration of the specifications", point 1.
    """
    labels = as_annotations(labels, (Labels,), "labels")
    one_of(ties, "ties", ("full", "exclude"))
    require_one_each(labels, "the disagreement rate")
    counts, item = labels.counts(), labels.item_index
    mine = counts[item, labels.label_index] - (not own_vote)
    others = counts[item]
    others[np.arange(item.size), labels.label_index] = 0
    second, largest = np.sort(np.pad(others, ((0, 0), (1, 0))), axis=1)[:, -2:].T
    counted = (np.maximum(mine, largest) > 0) & _counts(labels, items)[item]
    if ties == "exclude":
        counted &= (mine > largest) | ((largest > mine) & (largest > second))
    n = np.bincount(labels.annotator_index[counted], minlength=labels.annotators.size)
    differs = np.bincount(labels.annotator_index[counted], (mine < largest)[counted], labels.annotators.size)
    if (n == 0).any():
        nobody = labels.annotators[n == 0]
        warn(
            f"{nobody.size} annotators have no item with a majority to differ from, their rate is NaN: "
            f"{shorten(nobody)}"
        )
    rate = ratio(differs, n)
    attrs = {"ties": ties, "own_vote": int(own_vote)}
    return xr.DataArray(rate, {"annotator": labels.annotators}, ("annotator",), "disagreement_rate", attrs)


def recode(ratings: Ratings, threshold: float) -> Labels:
    """Turn ratings into labels, "below" and "at_or_above" a threshold.

    Examples
    --------
    >>> labels = recode(Ratings.from_matrix([[-2, 0, 1]], scale=(-2, 2), step=1), 0)
    >>> labels.labels[labels.label_index].tolist()
    ['below', 'at_or_above', 'at_or_above']
    """
    ratings = as_annotations(ratings, (Ratings,), "ratings")
    rows = ratings.items, ratings.annotators, ratings.item_index, ratings.annotator_index
    codes = (ratings.rating >= threshold).astype(np.int32)
    return Labels(*rows, ratings.categories, codes, np.broadcast_to(np.int64(1), codes.shape))


def without_items[A: Answers](annotations: A, items: Iterable[Any]) -> A:
    """Return the annotations of all other items; the annotators stay, so that groups of them stay valid.

    Raises
    ------
    InputError
        An item that does not exist, or nothing left.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "b"]])
    >>> without_items(votes, [0]).items.tolist()
    [1]
    """
    left = ~_counts(annotations, items)
    if not left.any():
        raise InputError(f"without {left.size} items none is left; leave out fewer")
    return annotations.select(left[annotations.item_index])


def _counts(annotations: Answers, items: Iterable[Any] | None) -> Booleans:
    """Return which items are among those named, shape (item,)."""
    if items is None:
        return np.ones(annotations.items.size, bool)
    requested = list(items)
    if bad := [item for item in requested if not isinstance(item, Hashable)]:
        raise InputError(f"items= holds {bad[0]!r}, which names no item")
    position = pd.Index(annotations.items).get_indexer(pd.Index(requested))
    refuse(position < 0, lambda k: f"item {as_python(requested[k])!r} has no annotation")
    chosen = np.zeros(annotations.items.size, bool)
    chosen[position] = True
    return chosen


def require_one_each(annotations: Answers, what: str) -> None:
    """Refuse annotations whose annotators are unknown or annotated an item twice."""
    if not annotations.annotators_known:
        raise InputError(
            f"{what} needs to know who gave each label; use from_long or from_matrix instead of counts"
        )
    if annotations.has_repeats:
        raise InputError(
            f"{what} needs one annotation per (item, annotator); pass duplicates='first' or 'last'"
        )
