"""Ratings: one number on a bounded scale per annotation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from bayesagree._types import Booleans, Floats, Integers
from bayesagree.annotations._columns import Duplicates, Entries, float_column, float_values
from bayesagree.annotations._container import Level, Values, rows_of, wide_frame
from bayesagree.errors import InputError, refuse, say

# Labels of an item by which side of a threshold its mean is on.
THRESHOLD_LABELS = np.array(["below", "at_or_above"])


@dataclass(frozen=True, eq=False, repr=False)
class Ratings(Values):
    """One number on a bounded scale per annotation.

    Attributes
    ----------
    items, annotators
        Names on each axis.
    item_index, annotator_index
        Positions in those names, one row per rating, shape (row,).
    rating
        The ratings in the units of the scale, shape (row,).
    scale
        Lowest and highest possible rating.
    step
        Distance between neighbouring levels (low, low + step, ..., high), or None for a continuous scale.
    categories
        Sides of a threshold (`THRESHOLD_LABELS`): the labels of an item once a threshold is chosen.
    """

    kind: ClassVar[Literal["ratings"]] = "ratings"
    level: ClassVar[Level] = "interval"
    value_fields = ("rating",)
    categories: ClassVar[NDArray[np.str_]] = THRESHOLD_LABELS

    rating: Floats
    scale: tuple[float, float]
    step: float | None

    @classmethod
    def from_long(
        cls,
        frame: Any,
        *,
        scale: tuple[float, float],
        step: float | None = None,
        item: str = "item",
        annotator: str = "annotator",
        rating: str = "rating",
        duplicates: Duplicates = "error",
    ) -> Self:
        """Read a table with one row per rating; a row without a rating is missing, its item stays.

        Raises
        ------
        InputError
            As `Labels.from_long`; and a rating outside the scale or off the step, with its item and annotator.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"item": [1, 1], "annotator": ["a", "b"], "rating": [2, 5]})
        >>> Ratings.from_long(table, scale=(1, 5), step=1).levels().tolist()
        [1, 4]
        """
        entries, table, rating = Entries.of_table(frame, item, annotator, rating=rating)
        return cls._of(entries, float_column(table, rating, "rating"), scale, step, duplicates)

    @classmethod
    def from_matrix(
        cls,
        array: ArrayLike,
        *,
        scale: tuple[float, float],
        step: float | None = None,
        items: Sequence[Any] | None = None,
        annotators: Sequence[Any] | None = None,
    ) -> Self:
        """Read an (item, annotator) matrix of ratings, or a wide data frame; NaN and None are missing.

        A data frame names the annotators by its columns, a pandas frame also the items by its index.

        Raises
        ------
        InputError
            As `from_long`.

        Examples
        --------
        >>> Ratings.from_matrix([[0.5, None], [0.25, 1.0]], scale=(0, 1)).unit().tolist()
        [0.5, 0.25, 1.0]
        """
        entries, cells = Entries.of_matrix(array, items, annotators)
        return cls._of(entries, float_values(cells, entries.place, "rating"), scale, step)

    @classmethod
    def _of(
        cls,
        entries: Entries,
        rating: Floats,
        scale: tuple[float, float],
        step: float | None,
        duplicates: Duplicates = "error",
    ) -> Self:
        low, high = checked_scale(scale, step)
        rows = entries.kept(~np.isnan(rating), duplicates, "rating")
        rows = rows[np.lexsort((rating[rows], entries.annotator[rows], entries.item[rows]))]
        rating = rating[rows]

        def require(good: Booleans, rule: str) -> None:
            such = f"{rule} ({int((~good).sum())} such ratings in all)"
            refuse(~good, lambda row: f"{entries.place(rows[row])}: rating {rating[row]:g} {such}")

        require(np.isfinite(rating), "is not finite; correct it or drop the row")
        inside = (rating >= low) & (rating <= high)
        ends = [int(end) if end % 1 == 0 else end for end in (low, *np.unique(rating[~inside]).tolist(), high)]
        wide = min(ends), max(ends)
        is_code = len(ends) < 5 and (np.ptp(wide) > 2 * (high - low) or wide[0] < 0 <= low)  # such as 99
        way_out = f"read them with {say('na_values', ends[1:-1])}" if is_code else f"pass {say('scale', wide)}"
        require(inside, f"is outside the scale ({low:g}, {high:g}); {way_out} or drop the row")
        if step is not None:
            level = (rating - low) / step
            require(
                np.abs(level - np.round(level)) <= 1e-6,
                f"is off the step: levels are {low:g}, {low + step:g}, ..., {high:g}; "
                "pass step=None for a continuous scale or correct the row",
            )
        item, annotator = (code[rows].astype(np.int32) for code in entries[:2])
        return cls(*entries[2:], item, annotator, rating, (low, high), step)

    def overview(self) -> dict[str, Any]:
        """Sizes and names by what they are."""
        low, high = self.scale
        levels = "continuous" if self.n_levels is None else f"{self.n_levels} levels"
        return super().overview() | {"scale": f"{low:g} to {high:g}, {levels}"}

    @property
    def n_levels(self) -> int | None:
        """Number of levels of a discrete scale, or None for a continuous one."""
        return None if self.step is None else round((self.scale[1] - self.scale[0]) / self.step) + 1

    def text(self) -> NDArray[np.str_]:
        """Rating of each row as text, shape (row,)."""
        return np.array([f"{value:g}" for value in self.rating], dtype=str)

    def to_long(self) -> pd.DataFrame:
        """Table of one row per rating: item, annotator, rating; an item without ratings has no row.

        Examples
        --------
        >>> Ratings.from_matrix([[1, 5], [2, np.nan]], scale=(1, 5)).to_long()["rating"].tolist()
        [1.0, 5.0, 2.0]
        """
        return pd.DataFrame(rows_of(self) | {"rating": self.rating})

    def to_matrix(self) -> pd.DataFrame:
        """Table of one row per item and one column per annotator; a missing rating is NaN.

        Raises
        ------
        InputError
            An annotator who rated an item twice.

        Examples
        --------
        >>> Ratings.from_matrix([[1, 5], [2, np.nan]], scale=(1, 5)).to_matrix().values.tolist()
        [[1.0, 5.0], [2.0, nan]]
        """
        return wide_frame(self, self.rating, np.nan)

    def unit(self) -> Floats:
        """Ratings mapped to [0, 1], shape (row,)."""
        low, high = self.scale
        return (self.rating - low) / (high - low)

    def levels(self) -> Integers:
        """Level 0, 1, ..., M - 1 of every rating on a discrete scale, shape (row,)."""
        if self.step is None:
            raise InputError("a continuous scale has no levels; pass step= when building the ratings")
        return np.round((self.rating - self.scale[0]) / self.step).astype(np.int64)


def checked_scale(scale: tuple[float, float], step: float | None) -> tuple[float, float]:
    """Return the ends of a scale as numbers, if they and the step make one."""
    try:
        low, high = map(float, scale)
    except (TypeError, ValueError):
        low = high = np.nan
    if not -np.inf < low < high < np.inf:
        raise InputError(f"scale {scale!r} is not (lowest, highest), two numbers with lowest < highest")
    if step is not None:
        n = (high - low) / step if isinstance(step, int | float | np.number) and step > 0 else np.nan
        if not abs(n - np.round(n)) <= 1e-6:  # also where it is no number
            raise InputError(f"step {step!r} does not divide the scale ({low:g}, {high:g}) into whole levels")
    return low, high
