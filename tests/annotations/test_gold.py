"""Gold and groups of items: mappings, series and arrays say the same; what cannot be coded is refused by name."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesagree.annotations.gold import gold_codes, group_of_each
from bayesagree.errors import InputError

ITEMS, LABELS = np.array(["q1", "q2", "q3"]), np.array(["no", "yes"])


@pytest.mark.parametrize(
    "gold",
    [
        {"q3": "no", "q1": "yes"},
        {"q3": "no", "q1": "yes", "q2": None},
        pd.Series({"q3": "no", "q1": "yes"}),
        xr.DataArray(["no", "yes"], {"item": ["q3", "q1"]}, ("item",)),
    ],
)
def test_every_form_of_gold_has_the_same_codes(gold):
    assert gold_codes(gold, ITEMS, LABELS).tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ({"q9": "no"}, "gold item 'q9' is not among the 3 items"),
        ({"q1": "maybe"}, "gold item 'q1': label 'maybe' is not one of the 2 known"),
        (pd.Series(["no", "yes", "no"], index=["q1", "q2", "q2"]), "gold= names item 'q2' twice"),
    ],
)
def test_gold_that_cannot_be_coded(gold, message):
    with pytest.raises(InputError, match=message):
        gold_codes(gold, ITEMS, LABELS)


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
