"""Labels of which an annotator may choose several for an item (``duplicates="keep"``): sets, single labels."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from bayesagree._types import Booleans
from bayesagree.annotations._columns import Entries, changes
from bayesagree.annotations.labels import Labels
from bayesagree.errors import InputError, shorten

# Between the labels in the name of a set.
JOIN = " + "


def sets_and_members(labels: Labels) -> tuple[Labels, list[frozenset[Any]]]:
    """Return the set of labels that each annotator chose for each item as one label, and the labels of each set.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"item": [1, 1, 1], "annotator": ["ann", "ann", "bob"], "label": ["fear", "anger", "fear"]})
    >>> sets_and_members(Labels.from_long(rows, duplicates="keep"))[0].to_matrix().values.tolist()
    [['anger + fear', 'fear']]
    """
    answers, chosen = _memberships(labels)
    sets, code = np.unique(chosen, axis=0, return_inverse=True)
    members = [labels.categories[row] for row in sets]
    names = np.array([JOIN.join(row.astype(str)) for row in members])
    return Labels._of(answers, code.ravel(), names, None), [frozenset(row.tolist()) for row in members]


def chosen_labels(labels: Labels, label: Hashable) -> Labels:
    """Return whether each annotator chose one label for each item: categories ``"no"`` and ``"yes"``.

    A posterior of one label among several that an item may have is the posterior of these answers.

    Parameters
    ----------
    labels
        Read with ``duplicates="keep"``: a row for each label that an annotator chose. `krippendorff_alpha` compares
        the sets of such labels by its ``distance=``.
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
    answers, chosen = _memberships(labels)
    return Labels._of(answers, chosen[:, at[0]].astype(np.int32), np.array(["no", "yes"]), None)


def _memberships(labels: Labels) -> tuple[Entries, Booleans]:
    """Item and annotator of each answer, and which labels it chose, shape (answer, category)."""
    if not labels.annotators_known:
        raise InputError(
            "annotators are unknown, so repeats by one person cannot be found; name them (annotator=)"
        )
    new = changes(labels.item_index, labels.annotator_index)
    chosen = np.zeros((new.sum(), labels.categories.size), np.bool_)
    chosen[np.cumsum(new) - 1, labels.label_index] = True
    codes = labels.item_index[new], labels.annotator_index[new]
    return Entries(*codes, labels.items, labels.annotators), chosen
