"""Features of annotators: what stands for nothing, and ranges."""

import numpy as np
import pandas as pd
import pytest

from bayesagree.annotations import Annotators, Groups
from bayesagree.errors import InputError


def test_what_platforms_write_for_nothing_is_no_group():
    table = pd.DataFrame({"annotator": ["a", "b", "c"], "sex": ["Female", "DATA_EXPIRED", "CONSENT_REVOKED"]})
    people = Annotators.from_table(table)
    assert people.levels("sex") == ["Female"]
    assert people.values("sex", ["a", "b", "c"]).tolist() == ["Female", "unknown", "unknown"]


def test_small_groups_become_one_and_unknown_stays():
    names = np.array(["a", "b", "c", "unknown"])
    groups = Groups(np.arange(7), names, np.array([0, 0, 0, 1, 2, 3, -1], np.int32), "age")
    merged = groups.merged(3)
    assert dict(zip(merged.names.tolist(), merged.sizes().tolist())) == {"a": 3, "unknown": 1, "fewer than 3 each": 2}
    assert merged.index.tolist() == [0, 0, 0, 2, 2, 1, -1]
    assert groups.merged(1).names.tolist() == names.tolist()


def test_ages_are_ranges_and_few_numbers_are_themselves():
    table = pd.DataFrame({"annotator": range(40), "age": [*range(20, 59), None], "children": [0, 1] * 20})
    people = Annotators.from_table(table)
    assert people.levels("age") == ["20-29", "30-39", "40-48", "49-58"]
    assert people.values("age", [0, 38, 39]).tolist() == ["20-29", "49-58", "unknown"]
    assert people.levels("children") == ["0", "1"]


def test_lists_are_features_that_each_annotator_has_once():
    table = pd.DataFrame({"annotator": ["a", "b", "a"], "race": [["x"], ["x", "y"], ["x"]]})
    assert Annotators.from_table(table).features["race"].tolist() == [["x"], ["x", "y"]]
    with pytest.raises(InputError, match="annotator 'a' has several values of 'race'"):
        Annotators.from_table(table.assign(race=[["x"], ["x"], ["y"]]))
