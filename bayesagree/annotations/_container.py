"""Properties that `Labels`, `Ratings` and `Rankings` share, so that callers need not ask for the type."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Codes
from bayesagree.annotations._display import Displayed, per_item
from bayesagree.errors import InputError, shorten

type Kind = Literal["labels", "ratings", "rankings"]
type Level = Literal["nominal", "ordinal", "interval", "ratio"]


class Categorical:
    """Containers with a closed list of labels, `categories`."""

    categories: NDArray[Any]

    @property
    def labels(self) -> NDArray[Any]:
        """Names of the categories; another name of `categories`."""
        return self.categories


class OrderedCategories(Categorical):
    """Labels of which the user may say whether they have an order."""

    ordered: bool | None

    @property
    def has_order(self) -> bool:
        """Whether the categories have an order: a stated one, else that of numbers which rise or fall throughout."""
        return self.numeric if self.ordered is None else self.ordered

    @property
    def numeric(self) -> bool:
        """Whether the categories are numbers that rise or fall throughout: others stand for something else."""
        return are_numbers(self.categories)

    @property
    def level(self) -> Level:
        """Level of measurement: ordinal where the order is stated; numbers alone may be codes of classes."""
        return "ordinal" if self.ordered else "nominal"


def are_numbers(categories: NDArray[Any]) -> bool:
    """Return whether categories are numbers that rise or fall throughout."""
    if categories.dtype.kind not in "iuf":
        return False
    steps = np.diff(categories.astype(float))
    return bool((steps > 0).all() or (steps < 0).all())


def checked_order(ordered: bool | None, labels: Sequence[Any] | None, known: NDArray[Any]) -> bool | None:
    """Return whether the labels are ordered; names have an order only where `labels` states it."""
    if ordered and labels is None and known.dtype.kind not in "iufb":
        raise InputError(
            f"ordered=True: the order of the labels {shorten(known)} is not known; pass labels=[...], lowest first"
        )
    return ordered


class Container(Displayed):
    """One entry per annotation, of an item by an annotator."""

    items: NDArray[Any]
    annotators: NDArray[Any]
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
        return found | {"annotations per item": per_item(counts)}

    @property
    def annotators_known(self) -> bool:
        """Whether each annotation says who made it."""
        return self.annotators.size > 0

    @property
    def has_repeats(self) -> bool:
        """Whether some annotator annotated an item more than once (kept with ``duplicates="keep"``)."""
        item, annotator = self.item_index, self.annotator_index
        return self.annotators_known and bool(((item[1:] == item[:-1]) & (annotator[1:] == annotator[:-1])).any())


class Values(Container):
    """One value per annotation: labels or ratings."""

    value_fields: ClassVar[tuple[str, ...]]

    def select(self, kept: NDArray[np.bool_]) -> Self:
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
