"""Labels of which an annotator may choose several for an item (``duplicates="keep"``): sets, single labels."""

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Codes
from bayesagree.annotations.labels import Labels
from bayesagree.errors import InputError, shorten

# Between the labels in the name of a set.
JOIN = " + "


def label_sets(labels: Labels) -> Labels:
    """Return the set of labels that each annotator chose for each item, as one label.

    Parameters
    ----------
    labels
        Read with ``duplicates="keep"``: a row for each label that an annotator chose.

    Returns
    -------
    Labels
        One annotation per item and annotator; its categories name the sets that occur, such as ``"anger + fear"``.

    Raises
    ------
    InputError
        Unknown annotators: nobody knows which labels were chosen together.

    See Also
    --------
    chosen_labels : yes or no for one label.
    bayesagree.krippendorff_alpha : its ``distance=`` compares such sets.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"item": [1, 1, 1], "annotator": ["ann", "ann", "bob"], "label": ["fear", "anger", "fear"]})
    >>> label_sets(Labels.from_long(rows, duplicates="keep")).to_matrix().values.tolist()
    [['anger + fear', 'fear']]
    """
    return sets_and_members(labels)[0]


def sets_and_members(labels: Labels) -> tuple[Labels, list[frozenset[Any]]]:
    """Return the result of `label_sets`, and the labels of each of its categories."""
    item, annotator, chosen = _memberships(labels)
    sets, code = np.unique(chosen, axis=0, return_inverse=True)
    members = [labels.categories[row] for row in sets]
    names = np.array([JOIN.join(row.astype(str)) for row in members])
    made = Labels._sorted(labels.items, labels.annotators, names, (item, annotator, code.ravel()), None)
    return made, [frozenset(row.tolist()) for row in members]


def chosen_labels(labels: Labels, label: Hashable) -> Labels:
    """Return whether each annotator chose one label for each item: categories ``"no"`` and ``"yes"``.

    A posterior of one label among several that an item may have is the posterior of these answers.

    Parameters
    ----------
    labels
        As in `label_sets`.
    label
        One of its categories.

    Raises
    ------
    InputError
        A label that nobody could choose, or unknown annotators.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"item": [1, 1, 1], "annotator": ["ann", "ann", "bob"], "label": ["fear", "anger", "fear"]})
    >>> chosen_labels(Labels.from_long(rows, duplicates="keep"), "anger").counts().tolist()
    [[1, 1]]
    """
    at = np.flatnonzero(labels.categories == label)
    if not at.size:
        raise InputError(f"label={label!r} is not one of the categories, {shorten(labels.categories)}")
    item, annotator, chosen = _memberships(labels)
    rows = item, annotator, chosen[:, at[0]].astype(np.int32)
    return Labels._sorted(labels.items, labels.annotators, np.array(["no", "yes"]), rows, None)


def _memberships(labels: Labels) -> tuple[Codes, Codes, NDArray[np.bool_]]:
    """Item and annotator of each answer, and which labels it chose, shape (answer, category)."""
    _require_annotators(labels)
    _, first, pair = np.unique(_pairs(labels), return_index=True, return_inverse=True)
    chosen = np.zeros((first.size, labels.categories.size), np.bool_)
    chosen[pair, labels.label_index] = True
    return labels.item_index[first], labels.annotator_index[first], chosen


def _pairs(labels: Labels) -> NDArray[np.int64]:
    """Number of the (item, annotator) of each row."""
    return labels.item_index.astype(np.int64) * labels.annotators.size + labels.annotator_index


def _require_annotators(labels: Labels) -> None:
    if not labels.annotators_known:
        raise InputError("annotators are unknown, so repeats by one person cannot be found; name them (annotator=)")
