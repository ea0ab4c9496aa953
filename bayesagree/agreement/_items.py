"""Annotations of any kind as the agreement coefficients need them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bayesagree._types import Array, Floats, Integers
from bayesagree.agreement._patterns import RatingCounts, collapse_codes
from bayesagree.annotations import Labels, Ratings
from bayesagree.errors import require

AgreementData = Labels | Ratings

# Items that the base measure of the intervals counts for, pseudo-items that stand for it, and their seed. With a mass
# of 1 the intervals of 10 items are too short. More pseudo-items cost time. With this seed, of 3000, the values drawn
# for 2 to 5 annotators are most like chance: of 2 to 5 values they agree as often, within a sixth, and their intraclass
# correlation is within .09 of 0.
PSEUDO_MASS, PSEUDO_ITEMS, PSEUDO_SEED = 2.0, 24, 1749
NUMBERS = "the labels are numbers and taken as ordered; ordered=False if they are codes of classes"
# With more distinct values than this the table holds only the coefficients of the interval level: those of the others
# multiply every replicate by a table of pairs of values.
MOST_VALUES = 150


@dataclass(frozen=True)
class Items:
    """Annotations as the coefficients need them.

    Attributes
    ----------
    item, annotator, code
        One row per annotation: positions of item, annotator (-1: unknown) and value.
    n_named
        Number of items; those from this number on are the pseudo-items, if any item has two annotations.
    values
        Distinct values in their order, shape (value,); positions where the labels are no numbers.
    numeric
        Whether the values are numbers, in the order of their size.
    has_order
        Whether the values have an order.
    order_note
        Note for coefficients that use an order which nobody stated.
    patterns
        Distinct items; those of pseudo-items have the weight 0.
    rated
        The annotations themselves where they are ratings on a bounded scale, one for each annotator and item.
    """

    item: Array
    annotator: Array
    code: Array
    n_named: int
    values: Floats
    numeric: bool
    has_order: bool
    order_note: str
    patterns: RatingCounts
    rated: Ratings | None

    def counts(self) -> Floats:
        """Return the dense (pattern, value) counts."""
        return self.patterns.counts.toarray()

    @cached_property
    def n_annotators(self) -> int:
        """Number of annotators, 0 if unknown."""
        return int(np.count_nonzero(np.bincount(self.annotator[self.annotator >= 0])))

    @property
    def n_annotations(self) -> int:
        """Number of annotations."""
        return round(float(self.patterns.weight @ self.patterns.size))

    @property
    def repeated(self) -> bool:
        """Whether an annotator annotated an item more than once."""
        return bool(((np.diff(self.item) == 0) & (np.diff(self.annotator) == 0)).any())

    def each(self) -> tuple[Floats, Integers]:
        """Return items with an annotation as units: their weight, 0 of pseudo-items, and the unit of each item."""
        rated = np.unique(self.item)
        unit = np.full(self.patterns.pattern_of_item.size, -1, int)
        unit[rated] = np.arange(rated.size)
        return (rated < self.n_named).astype(float), unit


def items_of(annotations: AgreementData) -> Items:
    """Return the annotations item by item, and the pseudo-items beside them."""
    require(annotations, (Labels, Ratings), "annotations")
    rated, has_order, order_note = None, True, ""
    item = annotations.item_index
    annotator = annotations.annotator_index
    if isinstance(annotations, Ratings):
        if (n_levels := annotations.n_levels) is None or n_levels > MOST_VALUES:
            values, code = np.unique(annotations.rating, return_inverse=True)
        else:
            values = annotations.scale[0] + (annotations.step or 1.0) * np.arange(float(n_levels))
            code = annotations.levels()
        numeric = True
        rated = None if annotations.has_repeats else annotations
    else:
        known = annotations.categories
        numeric = annotations.numeric
        values = known.astype(float) if numeric else np.arange(known.size, dtype=float)
        code = annotations.label_index
        has_order = annotations.has_order
        several = annotations.categories.size > 2  # two classes have the same coefficients in either order
        order_note = NUMBERS if annotations.ordered is None and has_order and several else ""
        if annotations.count.max(initial=1) > 1:
            row = annotations.row_of_each()
            item = item[row]
            annotator = annotator[row]
            code = code[row]
    n_items = annotations.items.size
    item, annotator, code = with_pseudo_items((item, annotator, code), n_items, values.size)
    patterns = collapse_codes(item, code, values, max(n_items, item.max(initial=-1) + 1))
    known = patterns.pattern_of_item[:n_items]
    weight = np.bincount(known[known >= 0], minlength=patterns.weight.size).astype(float)
    rows = item, annotator, code, n_items
    return Items(*rows, values, numeric, has_order, order_note, replace(patterns, weight=weight), rated)


Rows = Sequence[Array]


def with_pseudo_items(rows: Rows, n_items: int, n_values: int) -> Rows:
    """Return rows of (item, annotator, code) with those of the pseudo-items, if any item has two annotations.

    Their annotators are those of an item: their numbers of annotations are spread as those of items with two or more.
    """
    item, annotator, code = rows
    size = np.bincount(item, minlength=n_items)
    half = PSEUDO_ITEMS // 2
    several = np.flatnonzero(size >= 2)
    if not several.size:
        return rows
    by_size = several[np.argsort(size[several], kind="stable")]
    template = by_size[((np.arange(half) + 0.5) / half * several.size).astype(int)]
    begin, n = np.searchsorted(item, template), size[template]
    of = np.concatenate([annotator[b : b + k] for b, k in zip(begin, n)])
    new_item = n_items + np.repeat(np.arange(2 * half), np.tile(n, 2))
    new = new_item, np.concatenate([of, of]), pseudo_codes(n, np.bincount(code, minlength=n_values))
    return [np.concatenate(both) for both in zip(rows, new)]


def pseudo_codes(size: Integers, given: Array) -> Integers:
    """Return the values of `PSEUDO_ITEMS` items, one row per annotation, from the number of annotations of one half.

    In the first half each annotation has a value of its own, in the second all those of an item have the same. A value
    is drawn by its share among those `given`, shape (value,), or, as often, evenly from all: a rare value then counts,
    and a scale of 101 levels of which people use one most looks like what they do.
    """
    middle = (np.arange(size.size) + 0.5) / size.size
    # Of each annotation in turn, the values of all pseudo-items are spread evenly (a Latin hypercube).
    rng = np.random.default_rng(PSEUDO_SEED)  # they are a function of the annotations
    u = rng.permuted(np.tile(middle, (int(size.max()), 1)), axis=1)
    chance = [u[:n, k] for k, n in enumerate(size)]
    share = (given / given.sum() + 1 / given.size) / 2
    at = np.concatenate([*chance, np.repeat(rng.permutation(middle), size)])
    return np.minimum(np.searchsorted(np.cumsum(share), at), given.size - 1)
