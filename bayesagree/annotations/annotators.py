"""Who the annotators are: a table of features, one row per annotator."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from bayesagree._types import Array
from bayesagree.annotations._columns import coded, pandas_frame
from bayesagree.annotations._display import Displayed
from bayesagree.annotations._words import NO_ANSWER
from bayesagree.errors import InputError, as_python, place_of, refuse, shorten

# Group of the annotators of whom a feature is not known.
UNKNOWN = "unknown"

# Kinds of numbers that are groups of their own, such as levels of education; more are made ranges.
MOST_VALUES = 12


@dataclass(frozen=True, eq=False, repr=False)
class Annotators(Displayed):
    """Features of annotators; missing features stay missing.

    Attributes
    ----------
    names
        Name of each annotator, shape (annotator,).
    features
        Any columns, one row per annotator in the order of `names`.
    """

    names: Array
    features: pd.DataFrame

    @classmethod
    def from_table(cls, frame: Any, *, annotator: str = "annotator") -> Self:
        """Read a table with one row per annotator, or with the features repeated on each of their annotations.

        Parameters
        ----------
        frame
            pandas, polars or pyarrow table; every other column is a feature. ``DATA_EXPIRED``, ``CONSENT_REVOKED``
            (as platforms write them), ``unknown`` and ``n/a`` are missing.
        annotator
            Column that names the annotator, or the name of the index of a pandas frame.

        Raises
        ------
        InputError
            No such column, a row without annotator, or an annotator with two values of a feature.

        Examples
        --------
        >>> table = pd.DataFrame({"annotator": ["a", "b"], "age": ["18-24", None]})
        >>> Annotators.from_table(table).values("age", ["a", "b", "c"]).tolist()
        ['18-24', 'unknown', 'unknown']
        """
        if isinstance(frame, pd.DataFrame) and annotator not in frame.columns and frame.index.name == annotator:
            frame = frame.reset_index()
        table = pandas_frame(frame)
        codes, names = coded(table, annotator, "annotator")
        features = table.drop(columns=annotator).set_axis(codes, axis=0)
        features = features.mask(features.isin(NO_ANSWER))
        several: Any = features.astype(str).groupby(level=0).nunique(dropna=False).to_numpy() > 1

        def text(who: int) -> str:
            which = features.columns[several[who].argmax()]
            given = f"several values of {which!r} ({shorten(features.loc[[who], which].tolist())})"
            return f"{place_of(annotator=names[who])} has {given}; give every annotator one"

        refuse(several.any(axis=1), text)
        once: Any = features[~features.index.duplicated()].sort_index()
        return cls(names, once.set_axis(pd.Index(names, name="annotator"), axis=0))

    def overview(self) -> dict[str, Any]:
        """Number of annotators and names of the features."""
        return {"annotators": self.names.size, "features": shorten(self.features.columns)}

    def values(self, feature: str, annotators: Sequence[Any] | Array) -> Array:
        """Return one feature of the given annotators as text, `UNKNOWN` if it is missing.

        Numbers of more than `MOST_VALUES` kinds, such as ages, are quarters of the annotators: "18-27", "28-35", ...

        Raises
        ------
        InputError
            A feature that the table does not have.
        """
        if feature not in self.features:
            raise InputError(
                f"annotators have no feature {feature!r}; they have {shorten(self.features.columns, 20)}"
            )
        known = _in_quarters(self.features[feature]).astype(object).reindex(list(annotators))
        return np.array([UNKNOWN if pd.isna(v) else str(as_python(v)) for v in known], dtype=str)

    def levels(self, feature: str) -> list[str]:
        """Return the known values of a feature as text: declared categories in their order, else sorted."""
        values = _in_quarters(self.features[feature])
        if isinstance(values.dtype, pd.CategoricalDtype):
            return [str(v) for v in values.cat.categories]
        return [str(as_python(v)) for v in sorted(set(values.dropna().tolist()))]


def _in_quarters(values: Any) -> pd.Series:
    """Return a feature of many numbers as four ranges with about as many annotators each; others as they are."""
    if not pd.api.types.is_numeric_dtype(values) or values.dtype.kind == "b" or values.nunique() <= MOST_VALUES:
        return values
    quarter = pd.Series(pd.qcut(values, 4, labels=False, duplicates="drop"), index=values.index)
    ends = values.groupby(quarter).agg(["min", "max"])
    names = [f"{low:g}-{high:g}" if low < high else f"{low:g}" for low, high in ends.to_numpy()]
    return quarter.map(dict(zip(ends.index, names))).astype(pd.CategoricalDtype(names, ordered=True))
