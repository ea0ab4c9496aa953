"""Coding of gold: mappings, series and arrays say the same; what cannot be coded is refused by name."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesagree.annotations.gold import gold_codes
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


@pytest.mark.parametrize("gold", [None, {}, pd.Series(dtype=object)])
def test_no_gold(gold):
    assert gold_codes(gold, ITEMS, LABELS).tolist() == [-1, -1, -1]


def test_truth_values_and_numbers():
    assert gold_codes({1: True, 0: False}, np.arange(3), np.array([False, True])).tolist() == [0, 1, -1]
    assert gold_codes({np.int64(2): 4.0}, np.arange(3), np.array([3, 4])).tolist() == [-1, -1, 1]


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ({"q9": "no"}, "gold item 'q9' is not among the 3 items"),
        ({"q1": "maybe"}, "gold item 'q1': label 'maybe' is not one of the labels"),
        ({"q1": "no", "q9": "no"}, "gold item 'q9' is not among the 3 items"),
        ({"q1": "no", "q2": "maybe", "q3": "sure"}, "gold item 'q2': label 'maybe' is not one of the labels"),
        (pd.Series(["no", "yes", "no"], index=["q1", "q2", "q2"]), "gold item 'q2' has several labels"),
        (pd.Series(["no", "yes"], index=["q1", "q1"]), "gold item 'q1' has several labels"),
    ],
)
def test_gold_that_cannot_be_coded(gold, message):
    with pytest.raises(InputError, match=message):
        gold_codes(gold, ITEMS, LABELS)
