"""Groups by disagreement rate have names and ranges of their own."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesagree import InputError, Labels, Rankings
from bayesagree.annotations import Annotators
from bayesagree.annotations.groups import Groups
from bayesagree.subjective.disagreement import disagreement_rate


@pytest.mark.parametrize("rates", [[0.0, 0.0, 0.0], [0.3, 0.3, 0.3], [0.5, 0.5001, 0.5002]])
def test_groups_of_nearly_equal_rates_have_names_of_their_own(rates):
    rate = xr.DataArray(rates, {"annotator": list("xyz")}, ("annotator",))
    groups = Groups.by_disagreement(rate, bins=5)
    assert np.unique(groups.names).size == groups.names.size
    assert groups.sizes().sum() == 3
    assert groups.names.size == (5 if np.ptp(rates) else 1)


def test_names_of_groups_have_no_more_decimals_than_tell_them_apart():
    rate = xr.DataArray([1 / 3, 1 / 3 + 1e-4, 1 / 3 + 2e-4], {"annotator": list("xyz")}, ("annotator",))
    assert Groups.by_disagreement(rate, bins=2).names.tolist() == ["0.3333-0.3334", "0.3334-0.3335"]


def test_bins_of_disagreement_have_a_stated_range():
    labels = Labels.from_matrix(
        [["a", "a", "a", "b"], ["a", "a", "b", "b"], ["a", "a", "b", "b"], ["a", "a", "a", "b"]]
    )
    rate = disagreement_rate(labels, own_vote=True)
    assert rate.values.tolist() == [0, 0, 0, 0.5]
    groups = Groups.by_disagreement(rate, bins=2)
    assert groups.sizes().tolist() == [3, 1]
    table = groups.composition(labels)
    assert (table.index.name, table.index.tolist()) == ("group", groups.names.tolist())
    assert table.to_dict("list") == {"annotators": [3, 1], "annotations": [12, 4], "items": [4, 4]}
    narrow = Groups.by_disagreement(rate, bins=2, value_range=(0, 0.2))
    assert narrow.index.tolist() == [0, 0, 0, -1]


VOTES = Labels.from_matrix([["a", "b", "a"]], annotators=["x", "y", "z"])
PEOPLE = Annotators.from_table(pd.DataFrame({"annotator": ["x", "y"], "sex": ["f", "m"], "age": ["old", None]}))


@pytest.mark.parametrize(
    ("annotations", "by", "message"),
    [
        (Rankings.from_blocks([[[["a"]]]], labels=["a"]), ["sex"], "compared on labels or ratings, not on rankings"),
        (Labels.from_counts([[1, 2]]), ["sex"], "groups need annotators, and counts have none"),
        (VOTES, [], "name the features to group by; annotators have 'sex', 'age'"),
        (VOTES, ["race"], "annotators have no feature 'race'; they have 'sex', 'age'"),
        (Labels.from_matrix([["a"]], annotators=["q"]), ["sex"], "none of the annotators, 'q', is in the table of"),
    ],
)
def test_features_that_make_no_groups(annotations, by, message):
    with pytest.raises(InputError, match=message):
        Groups.by_features(annotations, PEOPLE, by)


def test_groups_of_two_features_are_all_their_combinations():
    """Combinations of known values that nobody has are gaps, those with an unknown value only where somebody is."""
    groups = Groups.by_features(VOTES, PEOPLE, ["sex", "age"])
    assert groups.by == "sex & age"
    assert dict(zip(groups.names.tolist(), groups.sizes().tolist())) == {
        "f & old": 1, "m & old": 0, "m & unknown": 1, "unknown & unknown": 1
    }  # fmt: skip
    assert Groups.by_features(VOTES, PEOPLE, "sex").by == "sex"
    given = Groups.by_annotator(VOTES, {"x": 1, "y": None})
    assert given.names[given.index].tolist() == ["1", "unknown", "unknown"]


@pytest.mark.parametrize("value_range", [(-0.1, 0.5), (0.5, 0.2), (0.0, 1.1), (np.nan, 1.0)])
def test_a_range_of_rates_is_between_0_and_1(value_range):
    rate = xr.DataArray([0.0, 1.0], {"annotator": ["x", "y"]}, ("annotator",))
    with pytest.raises(InputError, match=r"is not \(lowest, highest\) with 0 <= lowest <= highest <= 1"):
        Groups.by_disagreement(rate, value_range=value_range)
    assert Groups.by_disagreement(rate, bins=2, value_range=(0, 1)).index.tolist() == [0, 1]
    with pytest.raises(InputError, match="no annotator has a disagreement rate to group by"):
        Groups.by_disagreement(rate * np.nan)


def test_groups_are_of_the_annotators_of_the_annotations():
    groups = Groups.by_features(VOTES, PEOPLE, ["sex"])
    assert groups.of_rows(VOTES).tolist() == groups.index[VOTES.annotator_index].tolist()
    with pytest.raises(InputError, match="the groups are of other annotators than the annotations; group these anno"):
        groups.of_rows(Labels.from_matrix([["a", "b"]], annotators=["x", "y"]))
