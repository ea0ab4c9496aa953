"""Groups of items: slices to report, clusters to resample, systems whose outputs the items are."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree.errors import InputError, as_python, shorten

type ItemGroup = Mapping[Any, Any] | pd.Series | xr.DataArray | Sequence[Any] | NDArray[Any]
"""Group of each item: a mapping, a series indexed by item, a DataArray with dim item, or one value per item."""


def group_of_each(given: ItemGroup, items: NDArray[Any], name: str) -> pd.Series:
    """Group of each item, in their order, shape (item,).

    Raises
    ------
    InputError
        An item without a group or named twice, or a sequence of another length. `name` is that of the argument.

    Examples
    --------
    >>> import numpy as np
    >>> group_of_each({"q2": "b", "q1": "a"}, np.array(["q1", "q2"]), "by").tolist()
    ['a', 'b']
    """
    if isinstance(given, xr.DataArray):
        if given.dims != ("item",):
            raise InputError(f"{name}= has dims {given.dims}; it names the group of each item, dims ('item',)")
        given = pd.Series(given.values, index=pd.Index(given["item"].values))
    if isinstance(given, pd.Series) and given.index.has_duplicates:
        twice = as_python(given.index[given.index.duplicated()][0])
        raise InputError(f"{name}= names item {twice!r} twice; give each item one group")
    if isinstance(given, Mapping | pd.Series):
        table = dict(given.items())
        found = [as_python(table.get(item)) for item in items.tolist()]
    else:
        found = [as_python(value) for value in given]
        if len(found) != items.size:
            raise InputError(f"{name}= has {len(found)} values for {items.size} items")
    groups = pd.Series(found, dtype=object)
    if groups.isna().any():
        missing = shorten(items[groups.isna().to_numpy()])
        raise InputError(f"{name}= names no group for the items {missing}; name one for each item")
    return groups
