"""The group of each item, however it is given."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesagree import InputError
from bayesagree.annotations.gold import group_of_each

ITEMS = np.array(["q1", "q2", "q3"])
TABLE = {"q3": 1, "q1": 2, "q2": 1, "other": 5}


@pytest.mark.parametrize(
    "given",
    [TABLE, pd.Series(TABLE), xr.DataArray([1, 2, 1], {"item": ["q3", "q1", "q2"]}, ("item",)), [2, 1, 1]],
    ids=["mapping", "series", "array", "in order"],
)
def test_groups_are_found_by_item(given):
    assert group_of_each(given, ITEMS, "by").tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"q1": 1, "q2": None}, "by= names no group for the items 'q2', 'q3'; name one for each item"),
        (pd.Series([1, 2, 3], index=["q1", "q2", "q1"]), "by= names item 'q1' twice"),
        ([1, 2], "by= has 2 values for 3 items"),
        (xr.DataArray([1, 2], dims=("task",)), "by= has dims"),
    ],
    ids=["missing", "twice", "length", "dims"],
)
def test_groups_that_fit_no_items_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        group_of_each(given, ITEMS, "by")
