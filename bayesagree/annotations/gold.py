"""Values per item: gold, the known true labels of some items, and groups of items (slices, clusters, systems)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import Array, Integers
from bayesagree.annotations._columns import encode
from bayesagree.errors import InputError, as_python, place_of, refuse, shorten

# True label of each item: a mapping, a series indexed by item, or a DataArray with dim item.
Gold = Mapping[Any, Any] | pd.Series | xr.DataArray


def gold_codes(gold: Gold | None, items: Array, categories: Array) -> Integers:
    """Position of each item's gold label among the categories, -1 where there is none, shape (item,).

    Missing labels (None, NaN) are no gold.

    Raises
    ------
    InputError
        A gold item that is not among the items, a gold label that is not among the categories, or an item twice.

    Examples
    --------
    >>> gold_codes({"q2": "no"}, np.array(["q1", "q2"]), np.array(["no", "yes"])).tolist()
    [-1, 0]
    """
    known = _by_item({} if gold is None else gold, "gold").dropna()
    place = pd.Index(items).get_indexer(pd.Index(known.index))
    refuse(
        place < 0,
        lambda at: (
            f"gold {place_of(item=known.index[at])} is not among the {items.size} items; drop it from gold"
        ),
    )
    codes, of_gold = np.full(items.size, -1, np.int64), lambda at: f"gold {place_of(item=known.index[at])}"
    codes[place], _ = encode(known.to_numpy(), "label", categories, of_gold)
    return codes


# Group of each item: a mapping, a series indexed by item, a DataArray with dim item, or one value per item.
ItemGroup = Mapping[Any, Any] | pd.Series | xr.DataArray | Sequence[Any] | Array


def group_of_each(given: ItemGroup, items: Array, name: str) -> pd.Series:
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
    if isinstance(given, Mapping | pd.Series | xr.DataArray):
        given = _by_item(given, name).reindex(items)
    found = list(map(as_python, given))
    if len(found) != items.size:
        raise InputError(f"{name}= has {len(found)} values for {items.size} items")
    groups = pd.Series(found, dtype=object)
    if groups.isna().any():
        missing = shorten(items[groups.isna().to_numpy()])
        raise InputError(f"{name}= names no group for the items {missing}; name one for each item")
    return groups


def _by_item(given: Any, name: str) -> pd.Series:
    """Return a mapping, a series or a DataArray as a series by item."""
    if isinstance(given, xr.DataArray):
        if given.dims != ("item",):
            raise InputError(f"{name}= has dims {given.dims}; it says something of each item, dims ('item',)")
        given = given.to_series()
    table = (given if isinstance(given, pd.Series) else pd.Series(dict(given), dtype=object)).astype(object)
    refuse(
        table.index.duplicated(),
        lambda at: f"{name}= names {place_of(item=table.index[at])} twice; name every item once",
    )
    return table
