"""Annotations of any kind as the agreement coefficients need them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats
from bayesagree.agreement._exact.patterns import RatingCounts, collapse_codes, collapsed
from bayesagree.annotations import Labels, Ratings
from bayesagree.io.patterns.patterns import LabelPatterns, RatingPatterns

type AgreementData = Labels | Ratings | LabelPatterns | RatingPatterns

MOST_VALUES = 150
"""With more distinct values than this the table holds only the coefficients of the interval level: those of the others
multiply every replicate by a table of pairs of values."""


@dataclass(frozen=True)
class Items:
    """Annotations as the coefficients need them.

    Attributes
    ----------
    item, annotator, code
        One row per annotation: positions of item, annotator (-1: unknown) and value; no rows for patterns.
    values
        Distinct values in their order, shape (value,); positions where the labels are no numbers.
    numeric
        Whether the values are numbers.
    patterns
        Distinct items.
    rated
        The annotations themselves where they are ratings on a bounded scale, one for each annotator and item.
    """

    item: NDArray[Any]
    annotator: NDArray[Any]
    code: NDArray[Any]
    values: Floats
    numeric: bool
    patterns: RatingCounts
    rated: Ratings | RatingPatterns | None

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

    def moments(self) -> Floats:
        """Return n, sum x, sum x^2 of every pattern, x centred at the mean of the values, shape (pattern, 3)."""
        centred = self.values - self.values.mean()
        return self.patterns.counts @ np.stack([np.ones_like(centred), centred, centred**2], axis=1)

    @property
    def repeated(self) -> bool:
        """Whether an annotator annotated an item more than once."""
        same = (self.item[1:] == self.item[:-1]) & (self.annotator[1:] == self.annotator[:-1])
        return bool(same.any())

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the distinct pairs of values of two annotators, and the pair of each item, -1 where not both are."""
        both = np.flatnonzero(self.item[1:] == self.item[:-1])
        codes = np.stack([self.code[both], self.code[both + 1]], axis=1).astype(np.int64)
        pairs, number = np.unique(codes, axis=0, return_inverse=True)
        unit = np.full(self.patterns.pattern_of_item.size, -1, np.int64)
        unit[self.item[both]] = number
        return pairs, unit

    def complete_matrix(self) -> Floats | None:
        """Return the (item, annotator) matrix of centred values if every cell is filled exactly once."""
        n_items = self.patterns.n_items
        if self.code.size != n_items * self.n_annotators or self.repeated:
            return None
        return (self.values[self.code] - self.values.mean()).reshape(n_items, self.n_annotators)


def items_of(annotations: AgreementData) -> Items:
    """Return the annotations item by item, or pattern by pattern."""
    none: Any = np.empty(0, np.int64)
    match annotations:
        case RatingPatterns():
            values: Any = annotations.scale[0] + annotations.step * np.arange(annotations.n_levels)
            return Items(none, none, none, values, True, collapsed(annotations), annotations)
        case LabelPatterns():
            return Items(none, none, none, *_label_values(annotations.categories), collapsed(annotations), None)
        case Ratings():
            values, code = _rating_values(annotations)
            numeric, count, rated = True, none, None if annotations.has_repeats else annotations
        case Labels():
            values, numeric = _label_values(annotations.categories)
            code, count, rated = annotations.label_index, annotations.count, None
    item, annotator = annotations.item_index, annotations.annotator_index
    if count.max(initial=1) > 1:
        item, annotator, code = (np.repeat(column, count) for column in (item, annotator, code))
    patterns = collapse_codes(item, code, values, annotations.items.size)
    return Items(item, annotator, code, values, numeric, patterns, rated)


def _rating_values(ratings: Ratings) -> tuple[Floats, NDArray[Any]]:
    """Return the distinct values, of short scales all levels, and the position of each rating's."""
    if ratings.n_levels is None or ratings.n_levels > MOST_VALUES:
        return np.unique(ratings.rating, return_inverse=True)
    return (ratings.scale[0] + (ratings.step or 1.0) * np.arange(ratings.n_levels)).astype(float), ratings.levels()


def _label_values(labels: NDArray[Any]) -> tuple[Floats, bool]:
    """Return labels that are numbers as they are, others as their positions."""
    numeric = labels.dtype.kind in "if"
    return labels.astype(float) if numeric else np.arange(labels.size, dtype=float), numeric
