"""Groups of annotators: by features, by combinations of features, or by how often they disagree with the majority."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Array, Codes, Floats, Integers
from bayesagree.annotations import Labels, Ratings
from bayesagree.annotations.annotators import UNKNOWN, Annotators
from bayesagree.errors import InputError, positive_int, shorten


@dataclass(frozen=True, eq=False)
class Groups:
    """Which group each annotator is in.

    Attributes
    ----------
    annotators
        Names of the annotators, shape (annotator,).
    names
        Names of the groups, also of empty ones, shape (group,).
    index
        Group of each annotator, -1 for none, shape (annotator,).
    by
        What they are grouped by, for reports.
    """

    annotators: Array
    names: NDArray[np.str_]
    index: Codes
    by: str

    @classmethod
    def by_features(cls, annotations: Labels | Ratings, annotators: Annotators, by: Sequence[str]) -> Self:
        """Group by one feature, or by combinations of several; unknown annotators are a separate group.

        Combinations that nobody has are empty groups: gaps of the evaluation.

        Examples
        --------
        >>> votes = Labels.from_matrix([["a", "b", "a"]], annotators=["x", "y", "z"])
        >>> people = Annotators.from_table(pd.DataFrame({"annotator": ["x", "y"], "gender": ["f", "m"]}))
        >>> groups = Groups.by_features(votes, people, ["gender"])
        >>> dict(zip(groups.names.tolist(), groups.sizes().tolist()))
        {'f': 1, 'm': 1, 'unknown': 1}
        """
        if annotations.kind == "rankings":
            raise InputError("groups of annotators are compared on labels or ratings, not on rankings")
        if not annotations.annotators_known:
            raise InputError("groups need annotators, and counts have none; read one row per annotation")
        names = [by] if isinstance(by, str) else list(by)
        if not names:
            features = shorten(annotators.features.columns, 20)
            raise InputError(f"name the features to group by; annotators have {features}")
        if not {*annotations.annotators.tolist()} & {*annotators.names.tolist()}:
            raise InputError(
                f"none of the annotators, {shorten(annotations.annotators)}, is in the table of their features or "
                f"groups, which has {shorten(annotators.names)}; give both the same names"
            )
        values = [annotators.values(name, annotations.annotators) for name in names]
        found = [" & ".join(row) for row in zip(*values)]
        possible = [" & ".join(cell) for cell in product(*(annotators.levels(name) for name in names))]
        known = pd.Index([*possible, *sorted({*found} - {*possible})])
        index = known.get_indexer(found).astype(np.int32)
        return cls(annotations.annotators, np.array(known, dtype=str), index, " & ".join(names))

    @classmethod
    def by_annotator(cls, annotations: Labels | Ratings, groups: Mapping[Any, Any] | pd.Series) -> Self:
        """Read the group of each annotator from a mapping or series; those without one are a group, ``"unknown"``.

        Examples
        --------
        >>> votes = Labels.from_matrix([["a", "b", "a"]], annotators=["x", "y", "z"])
        >>> Groups.by_annotator(votes, {"x": "left", "y": "right"}).names.tolist()
        ['left', 'right', 'unknown']
        """
        given: dict[Any, Any] = dict(groups)
        named = [None if pd.isna(group) else str(group) for group in given.values()]
        table = pd.DataFrame({"annotator": list(given), "group": named})
        return cls.by_features(annotations, Annotators.from_table(table), ["group"])

    @classmethod
    def by_disagreement(
        cls, rate: xr.DataArray, *, bins: int = 5, value_range: tuple[float, float] | None = None
    ) -> Self:
        """Group by bins of equal width of the disagreement rate.

        Compute the rate from other items than those on which the model is scored (`disagreement_rate`): otherwise
        annotators who missed the majority by chance seem to be served worse.

        Parameters
        ----------
        rate
            Result of `disagreement_rate`; annotators without a rate are in no group.
        bins
            Number of bins; equal rates are one group.
        value_range
            Lowest and highest rate, by default the full range of the rates. It can change the result much, so it is
            part of the groups' names; annotators outside are in no group.

        Examples
        --------
        >>> rate = xr.DataArray([0.0, 0.1, 0.4], {"annotator": ["x", "y", "z"]}, ("annotator",))
        >>> Groups.by_disagreement(rate, bins=2).names.tolist()
        ['0.000-0.200', '0.200-0.400']
        """
        n, values = positive_int(bins, "bins"), rate.to_numpy()
        if np.isnan(values).all():
            raise InputError("no annotator has a disagreement rate to group by")
        low, high = (float(np.nanmin(values)), float(np.nanmax(values))) if value_range is None else value_range
        if not 0 <= low <= high <= 1:
            raise InputError(
                f"value_range {(low, high)} is not (lowest, highest) with 0 <= lowest <= highest <= 1"
            )
        edges = np.unique(np.linspace(low, high, n + 1))
        inside = (values >= low) & (values <= high)
        index = np.where(inside, np.searchsorted(edges[1:-1], values, side="right"), -1).astype(np.int32)
        return cls(rate["annotator"].to_numpy(), _bin_names(edges), index, "disagreement rate")

    def sizes(self) -> Integers:
        """Return the number of annotators in each group, shape (group,)."""
        return np.bincount(self.index[self.index >= 0], minlength=self.names.size)

    def composition(self, annotations: Labels | Ratings) -> pd.DataFrame:
        """Count annotators, annotations and items of each group; index group, in the order of `names`."""
        rows = pd.DataFrame({"group": self.of_rows(annotations), "items": annotations.item_index})
        found: Any = rows.groupby("group")["items"].agg(annotations="size", items="nunique")
        found = found.reindex(range(self.names.size), fill_value=0).set_axis(pd.Index(self.names, name="group"))
        found.insert(0, "annotators", self.sizes())
        return found

    def of_rows(self, annotations: Labels | Ratings) -> Codes:
        """Return the group of each annotation, -1 for none, shape (row,)."""
        if not np.array_equal(self.annotators, annotations.annotators):
            raise InputError(
                "the groups are of other annotators than the annotations; group these annotations anew"
            )
        return self.index[annotations.annotator_index]

    def merged(self, least: int) -> Self:
        """Return groups of at least `least` annotators: smaller ones are one group, named by its size; unknown stays.

        Examples
        --------
        >>> groups = Groups(np.arange(5), np.array(["a", "b", "c"]), np.array([0, 0, 0, 1, 2], np.int32), "age")
        >>> groups.merged(2).names.tolist()
        ['a', 'fewer than 2 each']
        """
        sizes = self.sizes()
        small = (sizes < positive_int(least, "least")) & (sizes > 0) & ~np.isin(self.names, UNKNOWN)
        if small.sum() < 2:
            return self
        new = np.append(np.where(small, (~small).sum(), np.cumsum(~small) - 1), -1).astype(np.int32)
        names = np.append(self.names[~small], f"fewer than {least} each")
        return type(self)(self.annotators, names, new[self.index], self.by)


def _bin_names(edges: Floats) -> NDArray[np.str_]:
    """Name the bins by their edges, with as many decimals as tell all of them apart, at least three."""
    shown = ([f"{edge:.{decimals}f}" for edge in edges] for decimals in range(3, 18))  # 17 tell all rates apart
    apart = next(names for names in shown if len(set(names)) == edges.size)
    return np.array([f"{a}-{b}" for a, b in pairwise(apart)] or apart)
