"""Properties that `Labels`, `Ratings` and `Rankings` share, so that callers need not ask for the type."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree._types import Array, Booleans, Codes
from bayesagree.annotations._columns import Entries, changes
from bayesagree.annotations._display import Displayed, per_item
from bayesagree.errors import InputError, refuse, shorten

Kind = Literal["labels", "ratings", "rankings"]
Level = Literal["nominal", "ordinal", "interval", "ratio"]


class Categorical:
    """Containers with a closed list of labels, `categories`."""

    categories: Array

    @property
    def labels(self) -> Array:
        """Names of the categories; another name of `categories`."""
        return self.categories


def are_numbers(categories: Array) -> bool:
    """Return whether categories are numbers that rise or fall throughout."""
    if categories.dtype.kind not in "iuf":
        return False
    steps = np.diff(categories.astype(float))
    return bool((steps > 0).all() or (steps < 0).all())


@dataclass(frozen=True, eq=False, repr=False)
class Container(Displayed):
    """One entry per annotation, of an item by an annotator."""

    items: Array
    annotators: Array
    item_index: Codes
    annotator_index: Codes

    @property
    def n_annotations(self) -> int:
        """Number of annotations."""
        return self.item_index.size

    def overview(self) -> dict[str, Any]:
        """Sizes and names by what they are."""
        weights = getattr(self, "count", None)
        counts = np.bincount(self.item_index, weights=weights, minlength=self.items.size)
        who: Any = self.annotators.size if self.annotators_known else "unknown"
        found = {"items": self.items.size, "annotators": who, "annotations": self.n_annotations}
        found |= {"annotations per item": per_item(counts)}
        if isinstance(self, Categorical):
            ordered = "ordered " if getattr(self, "ordered", None) else ""
            found[f"{ordered}categories"] = shorten(self.categories)
        return found

    @property
    def annotators_known(self) -> bool:
        """Whether each annotation says who made it."""
        return self.annotators.size > 0

    @property
    def has_repeats(self) -> bool:
        """Whether some annotator annotated an item more than once (kept with ``duplicates="keep"``)."""
        return self.annotators_known and not changes(self.item_index, self.annotator_index).all()


class Values(Container):
    """One value per annotation: labels or ratings."""

    value_fields: ClassVar[tuple[str, ...]]

    def select(self, kept: Booleans) -> Self:
        """Return some of the annotations, shape (row,), and their items; all annotators stay.

        Examples
        --------
        >>> from bayesagree import Labels
        >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "b"]])
        >>> votes.select(votes.item_index == 1).items.tolist()
        [1]
        """
        used, item = np.unique(self.item_index[kept], return_inverse=True)
        rows = {name: getattr(self, name)[kept] for name in ("annotator_index", *self.value_fields)}
        fields: Any = {"items": self.items[used], "item_index": item.astype(np.int32), **rows}
        return replace(self, **fields)  # type: ignore[type-var]


def parts_met(annotator: Array, item: Array) -> Array:
    """Return of each annotator the part of the crowd that meets, directly or through others, on items.

    Examples
    --------
    >>> parts_met(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 2])).tolist()
    [0, 0, 1]
    """
    size = int(annotator.max()) + 1
    nodes = size + int(item.max()) + 1
    graph = sp.sparse.csr_array((np.ones(item.size), (annotator, item + size)), (nodes, nodes))
    return sp.sparse.csgraph.connected_components(graph, directed=False)[1][:size]


def rows_of(container: Any, rows: Any = slice(None)) -> dict[str, Array]:
    """Item and annotator of some rows, by default all, where they are known."""
    names = {
        "item": (container.items, container.item_index),
        "annotator": (container.annotators, container.annotator_index),
    }
    return {role: known[index[rows]] for role, (known, index) in names.items() if known.size}


def wide_frame(container: Any, values: Array, missing: Any) -> pd.DataFrame:
    """One row per item, one column per annotator; refuse what has no such table."""
    if not container.annotators_known:
        raise InputError("the annotators are unknown (counts): there is no column per annotator; use counts()")
    rows = Entries(container.item_index, container.annotator_index, container.items, container.annotators)
    refuse(
        ~changes(*rows[:2]),
        lambda row: f"{rows.place(row)}: several annotations for one cell; use to_long()",
    )
    shape = rows.items.size, rows.annotators.size
    cells = np.full(shape, missing, dtype=object if missing is None else np.float64)
    cells[rows[:2]] = values
    index, columns = pd.Index(rows.items, name="item"), pd.Index(rows.annotators, name="annotator")
    return pd.DataFrame(cells, index, columns, cells.dtype)  # no guess of another kind of text
